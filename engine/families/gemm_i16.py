"""Matrix products and convolutions of int16 with int8 weights in tiles (kernels/int16/gemm_i16.py).

`fits...` says whether the kernels support what quantized_gemm.py would do with plain ones. Where
results are not rounded from int64 with fixed-point numbers, the kernels make sums, and
`scheme.requantize` makes results of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant, zeros
from ..records import ConvGeometry, Int16Epilogue, ItemSize
from ..tiling import BLOCK_ROWS, CHANNEL_BLOCK, PANEL, TABLES
from .convolutions import pad_input, phases, reads_runs
from .multipliers import (
    fits_int32,
    parity_terms,
    requantize_terms_i16,
    value_of,
)
from .partition import HALF_TILE, amx_pitch, amx_rows
from .quantization import Hybrid, Quantized, Scheme

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Sliding

_INT32_END = 1 << 31
_MIN_AMX_DEPTH = 64
"""Products of a sum for which AMX pays."""
_MAX_PRODUCT = 1 << 22  # bound of the absolute value of a product
_TILE = 2 * HALF_TILE
_ROWS, _MAX_AMX_ROWS = 168, 160  # of an item, without and with AMX
_MIN_ITEMS = 8  # of an instruction that threads share


def fits(x: Buffer, weights: Buffer, bias: Buffer | None, out: Buffer, scheme: Scheme) -> bool:
    """Whether these are int16 and int8 weights, both without zero points."""
    if isinstance(scheme, Hybrid) or x.dtype != np.int16 or weights.dtype != np.int8:
        return False
    if not (x.size and out.size and weights.size):
        return False
    symmetric = scheme.zero_points[:2] == (0, 0) and (bias is None or bias.is_constant)
    if scheme.rounding != "round_int64_half_up":
        return symmetric
    return symmetric and fits_int32(scheme.scales, weights.size // out.shape[-1], bias)


fits_matmul = fits


def fits_convolution(
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    scheme: Scheme,
    runs: bool = False,
) -> bool:
    """Whether tiles can do the convolution with filters [n, height, width, channels]."""
    return prod(weights.shape[1:3]) < TABLES and fits(x, weights, bias, out, scheme)


def _pitch(rows: int, segments: int, depth: int) -> int:
    """`pitch` of the kernels: bytes between rows for AMX, or 0."""
    return amx_pitch(rows, segments, depth, 2) if segments * depth >= _MIN_AMX_DEPTH else 0


def _partition(
    program: Program, n: int, groups: int, height: int, pitch: int
) -> tuple[ItemSize, int]:
    """The size of an item, and how many items there are.

    The work done once for the rows of an item is repeated by each: one thread is better off with
    few items, and several threads should each have all rows where those are few.
    """
    if pitch:
        pairs = ceil(height / (2 * BLOCK_ROWS))
        if pairs > 2 and program.threads > 1:
            pairs = ceil(pairs / _MIN_ITEMS)
        rows = min(_MAX_AMX_ROWS, pairs * 2 * BLOCK_ROWS)
    else:  # as many as in the other items: threads take runs of them
        rows = max(_TILE, _TILE * ceil(height / max(1, ceil(height / _ROWS)) / _TILE))
    blocks, panels = groups * ceil(height / rows), ceil(n / PANEL)
    min_items = 1 if program.threads == 1 else _MIN_ITEMS
    columns = PANEL * ceil(panels / min(panels, ceil(min_items / blocks)))
    return ItemSize(rows, columns), blocks * ceil(n / columns)


def _pack(program: Program, weights: Buffer, segments: int, pitch: int) -> tuple[Buffer, Buffer]:
    """Weights [batch, n, k] in panels, each column in `segments`, and bounds of the sums."""
    batch, n, count = weights.shape
    depth = count // segments
    rows = amx_rows(segments, depth) if pitch else ceil(segments * ceil(depth / 2) / 2)
    out = arena((batch, ceil(n / PANEL), rows, 4 * PANEL), np.int8)
    abs_sums = arena(out.shape[:2], np.int64)
    program.call(
        "gemm_i16.pack",
        weights,
        out,
        abs_sums,
        split=abs_sums.size,
        segments=segments,
        for_amx=int(pitch > 0),
    )
    return out, abs_sums


def _terms(
    scheme: Quantized, bias: Buffer | None, groups: int, n: int, depth: int
) -> tuple[Buffer, Int16Epilogue]:
    """Terms for `n` channels of each of `groups`, and the numbers that go with them."""
    offsets = np.zeros(groups * n, np.int64)
    if bias is not None:
        offsets = value_of(bias).ravel().astype(np.int64)
    if scheme.rounding != "round_int64_half_up":
        rows = np.stack([0 * offsets, offsets, 0 * offsets])
        epilogue = Int16Epilogue(0, 0, 0)
    else:
        rows = requantize_terms_i16(scheme.scales, offsets, scheme.zero_points[2])
        factors, starts, right_shifts = rows.astype(np.uint64)
        starts = np.minimum(starts, -starts)  # the absolute values, of the lowest int64 as well
        largest = (min(depth * _MAX_PRODUCT, _INT32_END) * factors + starts) >> right_shifts
        quick = int(largest.max() < _INT32_END)
        epilogue = Int16Epilogue(quick, *scheme.limits)
    blocks = ceil(n / CHANNEL_BLOCK)
    padded = np.zeros((3, groups, blocks * CHANNEL_BLOCK), np.int64)
    padded[:, :, :n] = rows.reshape(3, groups, n)
    terms = parity_terms(padded.reshape(3, -1))
    return constant(terms.reshape(groups, blocks, -1)), epilogue


def _sums(out: Buffer, scheme: Quantized) -> Buffer:
    """What the kernels write: the results, or sums."""
    return out if scheme.rounding == "round_int64_half_up" else arena(out.shape, scheme.accumulator)


def _requantize(program: Program, sums: Buffer, out: Buffer, scheme: Quantized) -> None:
    if sums is not out:
        scheme.requantize(program, sums, None, None, out)


def matmul(
    program: Program,
    a: Buffer,
    b: Buffer,
    bias: Buffer | None,
    a_of: Buffer,
    b_of: Buffer,
    out: Buffer,
    scheme: Scheme,
) -> None:
    """out[i] = a[a_of[i]] @ b[b_of[i]].T + bias, of matrices in three dimensions."""
    assert isinstance(scheme, Quantized)
    batch, height, n = out.shape
    terms, epilogue = _terms(scheme, bias, 1, n, a.shape[2])
    sums, pitch = _sums(out, scheme), _pitch(height, 1, a.shape[2])
    item_size, items = _partition(program, n, batch, height, pitch)
    program.call(
        "gemm_i16.matmul",
        a,
        *_pack(program, b, 1, pitch),
        terms.reshape(terms.shape[1:]),
        a_of,
        b_of,
        sums,
        split=items,
        depth=a.shape[2],
        pitch=pitch,
        item_size=item_size,
        epilogue=epilogue,
    )
    _requantize(program, sums, out, scheme)


def convolution(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    *,
    scheme: Scheme,
    groups: int,
) -> None:
    """`quantized_gemm.conv2d`."""
    assert isinstance(scheme, Quantized)
    n, *taps, depth = weights.shape
    filters = weights.reshape((groups, n // groups, weights.size // n))
    if reads_runs(weights, sliding, groups):
        x = pad_input(program, x, out.shape[1:3], taps, sliding)
        sliding, taps, depth = sliding._replace(before=(0, 0)), (taps[0], 1), taps[1] * depth
    geometry = sliding.geometry(out.shape[1:3])
    sums, terms = _sums(out, scheme), _terms(scheme, bias, groups, n // groups, prod(taps) * depth)
    _windows(program, x, filters, terms, sums, taps=taps, depth=depth, geometry=geometry)
    _requantize(program, sums, out, scheme)


def transposed_convolution(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    *,
    scheme: Scheme,
) -> None:
    """`quantized_gemm.transpose_conv2d`."""
    assert isinstance(scheme, Quantized)
    n, *taps, depth = weights.shape
    sums, terms = _sums(out, scheme), _terms(scheme, bias, 1, n, prod(taps) * depth)
    for phase_filter, geometry in phases(program, weights, out, sliding, 0):
        taps = phase_filter.shape[1:3]
        filters = phase_filter.reshape((1, n, phase_filter.size // n))
        _windows(program, x, filters, terms, sums, taps=taps, depth=depth, geometry=geometry)
    _requantize(program, sums, out, scheme)


def _windows(
    program: Program,
    x: Buffer,
    filters: Buffer,
    requantization: tuple[Buffer, Int16Epilogue],
    out: Buffer,
    *,
    taps: Sequence[int],
    depth: int,
    geometry: ConvGeometry,
) -> None:
    """Appends the instructions for filters [groups, n, taps * depth]."""
    groups, n, _ = filters.shape
    total = x.shape[0] * prod(geometry.counts)
    terms, epilogue = requantization
    pitch = _pitch(total, prod(taps), depth)
    item_size, items = _partition(program, n, groups, total, pitch)
    program.call(
        "gemm_i16.convolution",
        x,
        *_pack(program, filters, prod(taps), pitch),
        terms,
        zeros((depth,), np.int16),
        constant(np.array(geometry, np.int64)),
        out,
        split=items,
        taps_h=taps[0],
        taps_w=taps[1],
        n=n,
        item_size=item_size,
        pitch=pitch,
        epilogue=epilogue,
    )
