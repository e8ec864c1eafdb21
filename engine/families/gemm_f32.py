"""Matrix products and convolutions of float32 in tiles (kernels/float32/gemm_f32.py).

`fits...` says whether the kernels support it, and whether they are worth packing the weights for.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant, zeros
from ..records import ConvGeometry
from ..tiling import CHAIN, DEPTHWISE_TAPS, DOT_PANELS, DOT_ROWS, PANEL, TABLES
from .convolutions import pad_input, phases
from .partition import partition

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Clamp, Sliding

_PAGE = 4096  # rows that many bytes apart lie in the same few places of the nearest cache
_LINE = 16  # elements rows are moved further apart
_CACHED_BYTES = 1 << 20  # bytes of weights that are still in a near cache when they are read again
_MAX_DEPTH = 1024  # products in a row whose sum in float32 is good enough
_MIN_LINE, _MAX_STRIP = 8, 192  # pixels of a line, and products of a result, that strips are for
_MIN_PARTS, _MIN_PART = 16, 64  # of few lines for threads to share, and pixels of each
_MIN_ROWS = 4  # rows of a result for which it pays to pack weights anew in every run
SHALLOW = 16  # channels below which a row of taps is read as one run


def pack(
    program: Program, weights: Buffer, bias: Buffer | None, by_columns: bool, for_rows: bool = False
) -> Buffer:
    """Weights [batch, n, k] (`by_columns`) or [batch, k, n] in panels, the bias in their first row.

    Panels are for tiles, or with `for_rows` (and `by_columns`) for products of one row. Done once
    when the weights are constant.
    """
    batch, *sizes = weights.shape
    n, depth = sizes if by_columns else sizes[::-1]
    out = arena((batch, ceil(n / PANEL), depth + 1, PANEL), np.float32)
    bias = zeros((n,), np.float32) if bias is None else bias
    module = "gemm_f32_packing" if for_rows else "gemm_f32"
    program.call(
        f"{module}.columns" if by_columns else f"{module}.rows",
        weights,
        bias.reshape((bias.size // n, n)),
        out.reshape((*out.shape[:2], (depth + 1) * PANEL)),
        split=batch * out.shape[1],
    )
    return out


def fits_dots(a: Buffer) -> bool:
    """Whether each matrix `a` is one row: its weights are then read once, so packing costs more."""
    return a.shape[-2] == 1 and a.shape[-1] > 0


def dot_products(
    program: Program,
    a: Buffer,
    b: Buffer,
    bias: Buffer | None,
    a_of: Buffer,
    b_of: Buffer,
    out: Buffer,
    clamp: Clamp,
) -> None:
    """out[i] = clamp(a[a_of[i]] @ b[b_of[i]].T + bias) for matrices `a` of one row each."""
    batch, _, n = out.shape
    program.call(
        "dots.rows",
        a.reshape(a.shape[::2]),
        b,
        zeros((n,), np.float32) if bias is None else bias.ravel(),
        a_of,
        b_of,
        out.reshape((batch, n)),
        split=batch * ceil(n / DOT_ROWS),
        low=clamp[0],
        high=clamp[1],
    )


def fits_packed_dots(b: Buffer) -> bool:
    """Whether weights [.., n, k] stay in a near cache from run to run: then they are packed."""
    n, depth = b.shape[-2:]
    return b.is_constant and b.nbytes <= _CACHED_BYTES and n >= 2 * PANEL and depth <= _MAX_DEPTH


def packed_dot_products(
    program: Program,
    a: Buffer,
    panels: Buffer,
    a_of: Buffer,
    b_of: Buffer,
    out: Buffer,
    clamp: Clamp,
) -> None:
    """out[i] = clamp(a[a_of[i]] @ panels[b_of[i]] + bias) for matrices `a` of one row each."""
    batch, _, n = out.shape
    items = batch * ceil(panels.shape[1] / DOT_PANELS)
    program.call(
        "dots.packed",
        a.reshape(a.shape[::2]),
        panels,
        a_of,
        b_of,
        out.reshape((batch, n)),
        arena((items, DOT_PANELS * PANEL), np.float32),
        split=items,
        low=clamp[0],
        high=clamp[1],
    )


def fits_matmul(a: Buffer, b: Buffer, out: Buffer) -> bool:
    """Whether the product of these pays for packing `b`."""
    return a.shape[-1] > 0 and (b.is_constant or out.shape[-2] >= _MIN_ROWS)


def matmul(
    program: Program,
    a: Buffer,
    panels: Buffer,
    a_of: Buffer,
    b_of: Buffer,
    out: Buffer,
    clamp: Clamp,
) -> None:
    """out[i] = clamp(a[a_of[i]] @ panels[b_of[i]] + bias)."""
    batch, height, n = out.shape
    depth = a.shape[2]
    if 4 * depth % _PAGE == 0 and a.shape[0] * height > 1:
        a = _widen_rows(program, a)
    item_size, items = partition(program, height, depth, n)
    program.call(
        "gemm_f32.matmul",
        a,
        panels,
        a_of,
        b_of,
        out,
        split=batch * items,
        depth=depth,
        item_size=item_size,
        low=clamp[0],
        high=clamp[1],
    )


def _widen_rows(program: Program, a: Buffer) -> Buffer:
    """The same matrices with rows a little further apart.

    The copies take 0.1 % of MobileNetV1 and 0.4 % of ResNet50. Rows that are further apart from the
    start would save a part of that, and keep elementwise instructions from running on whole
    tensors.
    """
    batch, height, depth = a.shape
    out = arena((batch, height, depth + _LINE), np.float32)
    rows = batch * height
    program.call(
        "gemm_f32_packing.widen",
        a.reshape((rows, depth)),
        out.reshape((rows, depth + _LINE)),
        split=rows,
    )
    return out


def fits_convolution(weights: Buffer, out: Buffer, runs: bool = False) -> bool:
    """Whether filters [n, height, width, channels] have as many taps as there is room for.

    With `runs`, which `reads_runs` says, those of a row are one.
    """
    taps = weights.shape[1] if runs else prod(weights.shape[1:3])
    return bool(out.size and weights.size) and taps < TABLES


def reads_runs(taps_w: int, depth: int, sliding: Sliding, groups: int) -> bool:
    """Whether the input under a row of taps is read as one run, which pads it."""
    return groups == 1 and sliding.dilation[1] == 1 and depth < SHALLOW and taps_w > 1


def _fits_lines(x: Buffer, out: Buffer, taps: Sequence[int], sliding: Sliding, groups: int) -> bool:
    """Whether the filter is so small that strips of pixels are done before their tables are."""
    products = prod(taps) * x.shape[3]
    is_line = groups == 1 and sliding.dilation[1] == 1 and out.shape[2] >= _MIN_LINE
    run = x.shape[3] if taps[0] == 1 else taps[1] * x.shape[3]
    return is_line and run <= CHAIN and products <= _MAX_STRIP


def convolution(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    *,
    groups: int,
    clamp: Clamp,
    n_last: bool = False,
) -> None:
    """`gemm.conv2d`; with `n_last` weights are [height, width, channels, n], of one group."""
    if n_last:
        height, width, depth, n = weights.shape
        filters = weights.reshape((1, height * width * depth, n))
    else:
        n, height, width, depth = weights.shape
        filters = weights.reshape((groups, n // groups, height * width * depth))
    panels = pack(program, filters, bias, by_columns=not n_last)
    taps = (height, width)
    if _fits_lines(x, out, taps, sliding, groups):
        n_lines = out.shape[0] * out.shape[1]
        parts = max(1, min(_MIN_PARTS // n_lines, out.shape[2] // _MIN_PART))
        program.call(
            "gemm_f32.lines",
            x,
            panels,
            out,
            split=n_lines * parts,
            parts=parts,
            taps_h=height,
            taps_w=width,
            window=sliding.window,
            low=clamp[0],
            high=clamp[1],
        )
        return
    if reads_runs(width, depth, sliding, groups):
        x = pad_input(program, x, out.shape[1:3], taps, sliding)
        sliding, taps, depth = sliding._replace(before=(0, 0)), (height, 1), width * depth
    windows(
        program,
        x,
        panels,
        out,
        n=n // groups,
        depth=depth,
        taps=taps,
        geometry=sliding.geometry(out.shape[1:3]),
        clamp=clamp,
    )


def transposed_convolution(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    clamp: Clamp,
) -> None:
    """`gemm.transpose_conv2d`."""
    n, *_, depth = weights.shape
    for phase_filter, geometry in phases(program, weights, out, sliding, 0):
        filters = phase_filter.reshape((1, n, phase_filter.size // n))
        windows(
            program,
            x,
            pack(program, filters, bias, by_columns=True),
            out,
            n=n,
            depth=depth,
            taps=phase_filter.shape[1:3],
            geometry=geometry,
            clamp=clamp,
        )


def windows(
    program: Program,
    x: Buffer,
    panels: Buffer,
    out: Buffer,
    *,
    n: int,
    depth: int,
    taps: Sequence[int],
    geometry: ConvGeometry,
    clamp: Clamp,
) -> None:
    """Appends the instruction for packed filters of `taps` over `x`."""
    total = x.shape[0] * prod(geometry.counts)
    item_size, items = partition(program, total, depth * prod(taps), n)
    program.call(
        "gemm_f32.convolution",
        x,
        panels,
        zeros((depth,), np.float32),
        constant(np.array(geometry, np.int64)),
        out,
        split=panels.shape[0] * items,
        taps_h=taps[0],
        taps_w=taps[1],
        n=n,
        item_size=item_size,
        low=clamp[0],
        high=clamp[1],
    )


def fits_depthwise(x: Buffer, weights: Buffer) -> bool:
    """Whether the filter has as many taps as there is room for."""
    return x.size > 0 and 0 < prod(weights.shape[:2]) <= DEPTHWISE_TAPS


def depthwise(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    clamp: Clamp,
) -> None:
    """`gemm.depthwise` with a depth multiplier of 1."""
    n, taps = out.shape[3], weights.shape[1]
    step, is_dense = sliding.stride[1], sliding.dilation[1] == 1
    specialized = taps in (3, 5) and step in (1, 2) and is_dense
    program.call(
        "depthwise_f32.depthwise",
        x,
        weights,
        zeros((n,), np.float32) if bias is None else bias.ravel(),
        zeros((n,), np.float32),
        out,
        split=out.shape[0] * out.shape[1],
        kind=10 * taps + step if specialized else 0,
        window=sliding.window,
        low=clamp[0],
        high=clamp[1],
    )
