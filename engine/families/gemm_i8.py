"""Matrix products and convolutions of int8 and uint8 in tiles (kernels/int8/gemm_i8.py).

`fits...` says whether the kernels support what quantized_gemm.py would do with plain ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant
from ..records import ConvGeometry, Int8Epilogue, Int8Packing
from ..tiling import (
    AMX_DEPTH,
    BLOCK_BYTES,
    CHANNEL_BLOCK,
    NARROW_COLUMNS,
    NARROW_DEPTH,
    NARROW_VECTORS,
    PANEL,
    TABLES,
    TILE_HEADERS,
)
from .convolutions import copy_padded, pad_input, phases, reads_runs
from .multipliers import largest_size, requantize_terms_i8, value_of
from .partition import DOT_LENGTH, amx_pitch, amx_rows, partition_int8
from .quantization import Hybrid, Int8Operand, Quantized, Scheme, row_numbers

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Sliding

_INT8_DTYPES = {np.dtype(np.int8), np.dtype(np.uint8)}
_MAX_DEPTH = BLOCK_BYTES // 2 - 2 * AMX_DEPTH
"""Products of a row, which has to fit in a block as int16 (kernels/int8/_gemm_i8_block.py)."""
_MIN_NARROW_ROWS = 7
"""Rows from which narrow tiles pay: they have no forms for a part of their rows."""
_MAX_IN_PLACE_PITCH = 512
"""Bytes of a row up to which AMX reads the rows where they lie."""


def fits(x: Buffer, weights: Buffer, bias: Buffer | None, out: Buffer, scheme: Scheme) -> bool:
    """Whether these are int8 or uint8 with int32 accumulators, or float32 to be quantized."""
    if (
        weights.dtype not in _INT8_DTYPES
        or scheme.accumulator is not np.int32
        or not (x.size and out.size)
    ):
        return False
    if isinstance(scheme, Hybrid):
        return weights.dtype == np.int8 and (bias is None or bias.is_constant)
    pairs = zip((x, weights), scheme.zero_points, strict=False)
    zero_points_fit = all(
        -128 <= zero_point - _flip(operand.dtype) <= 127 for operand, zero_point in pairs
    )
    return zero_points_fit and {x.dtype, out.dtype} <= _INT8_DTYPES and _stays_int32(scheme)


def _stays_int32(scheme: Quantized) -> bool:
    """Whether no int32 sum leaves int32 when it is scaled and rounded in float64."""
    return (
        scheme.rounding != "exact"
        or float(np.maximum.reduce(scheme.scales, axis=None, initial=0)) < 1
    )


def fits_matmul(a: Buffer, b: Buffer, bias: Buffer | None, out: Buffer, scheme: Scheme) -> bool:
    """Whether tiles can do the product."""
    return a.shape[-1] <= _MAX_DEPTH and fits(a, b, bias, out, scheme)


def fits_convolution(
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    scheme: Scheme,
    runs: bool = False,
) -> bool:
    """Whether tiles can do the convolution with filters [n, height, width, channels].

    With `runs`, which `reads_runs` says, the taps of a row are one.
    """
    taps, depth = prod(weights.shape[1:3]), weights.shape[3]
    if runs:
        taps, depth = weights.shape[1], depth * weights.shape[2]
    fits_block = taps <= TABLES - TILE_HEADERS and taps * (depth + DOT_LENGTH) <= _MAX_DEPTH
    return fits_block and fits(x, weights, bias, out, scheme)


def _with_prefix(program: Program, values: Buffer, depth: int) -> Buffer:
    """`values`, after as many unused bytes as a kernel may read if `depth` is below DOT_LENGTH."""
    if depth >= DOT_LENGTH:
        return values
    out = arena((DOT_LENGTH + values.size,), np.int8).part(DOT_LENGTH, values.size)
    program.call("copy.copy", values.ravel(), out, split=values.size)
    return out.reshape(values.shape)


class _PackedWeights:
    """Weights [batch, n, k] packed, each column in `segments`, for `rows` `pitch` bytes apart.

    There are bias and scales for `n` columns of each of `groups`.

    Attributes:
        panels: the weights, [batch, panels, rows, 128].
        terms: what requantizes the sums, for each group.
        numbers: others that go with the terms.
    """

    __slots__ = ("numbers", "panels", "terms")

    def __init__(
        self,
        program: Program,
        x: Int8Operand,
        weights: Buffer,
        bias: Buffer | None,
        out: Buffer,
        scheme: Scheme,
        *,
        rows: int,
        pitch: int,
        groups: int = 1,
        segments: int = 1,
        in_place: bool = False,
    ) -> None:
        _, n, count = weights.shape
        n_vectors = 0 if pitch else narrow_vectors(rows, count // segments, n, in_place)
        flip = _flip(weights.dtype)
        zero_point = -flip if isinstance(scheme, Hybrid) else scheme.zero_points[1] - flip
        if bias is None:
            bias = constant(
                np.zeros(groups * n, np.float32 if isinstance(scheme, Hybrid) else np.int32)
            )
        bias = bias.reshape((groups, n))
        start = constant(np.zeros((1, n), np.int32)) if isinstance(scheme, Hybrid) else bias
        x_zero = -1 if x.zero_point is None else x.zero_point
        self.panels = _pack(
            program, weights, start, segments, pitch > 0,
            flip=flip, zero_point=zero_point, x_zero=x_zero, n_vectors=n_vectors,
            to_float32=int(isinstance(scheme, Hybrid)),
        )  # fmt: skip
        zeros = x_zero, zero_point
        self.terms, numbers = result_terms(scheme, bias, groups, n, out.dtype, zeros, count)
        self.numbers = {
            "packing": Int8Packing(pitch, n_vectors, zero_point),
            **numbers,
        }


def result_terms(
    scheme: Scheme,
    bias: Buffer,
    groups: int,
    n: int,
    dtype: np.dtype,
    zeros: tuple[int, int],
    count: int,
) -> tuple[Buffer, Mapping[str, float | Int8Epilogue]]:
    """What makes results of sums of `count` products: terms, and the numbers that go with them.

    `zeros` are the zero points of inputs and weights.
    """
    if isinstance(scheme, Hybrid):
        return _dequantize_terms(scheme, bias, groups, n)
    largest = None
    if bias.is_constant:
        largest = _reach(zeros[0]) * _reach(zeros[1]) * count
        largest += largest_size(value_of(bias))
    terms, epilogue = _requantize_terms(scheme, groups, n, dtype, largest)
    return terms, {"epilogue": epilogue}


def _pack(
    program: Program, weights: Buffer, start: Buffer, segments: int, for_amx: bool, **numbers: int
) -> Buffer:
    batch, n, count = weights.shape
    depth = count // segments
    rows = amx_rows(segments, depth) if for_amx else segments * ceil(depth / DOT_LENGTH)
    if numbers["n_vectors"]:
        rows = segments * ceil(depth / NARROW_DEPTH) * (NARROW_DEPTH // DOT_LENGTH)
    out = arena((batch, ceil(n / PANEL), 1 + rows, 4 * PANEL), weights.dtype)
    program.call(
        "gemm_i8.pack",
        weights,
        start,
        out,
        split=batch * out.shape[1],
        segments=segments,
        for_amx=int(for_amx),
        **numbers,
    )
    return out.view(np.int8)


def _by_block(values: np.ndarray, groups: int, n: int) -> np.ndarray:
    """Values of the channels by [groups, blocks, CHANNEL_BLOCK], padded to whole blocks."""
    blocks = ceil(n / CHANNEL_BLOCK)
    if values.size == groups * blocks * CHANNEL_BLOCK:
        return values.reshape(groups, blocks, CHANNEL_BLOCK)
    out = np.zeros((groups, blocks * CHANNEL_BLOCK), values.dtype)
    out[:, :n] = values if values.size == 1 else values.reshape(groups, n)
    return out.reshape(groups, blocks, CHANNEL_BLOCK)


def _requantize_terms(
    scheme: Quantized, groups: int, n: int, dtype: np.dtype, largest: int | None
) -> tuple[Buffer, Int8Epilogue]:
    """Terms of results for `n` channels of each group, and the numbers that go with them."""
    scales = _by_block(scheme.scales, groups, n)
    terms, epilogue = requantize_terms_i8(
        scales.ravel(),
        scales.size,
        scheme.zero_points[2],
        scheme.limits,
        dtype,
        largest=largest,
        exact=scheme.rounding == "exact",
    )
    return terms.reshape((*scales.shape[:2], terms.shape[1])), epilogue


def _dequantize_terms(
    scheme: Hybrid, bias: Buffer, groups: int, n: int
) -> tuple[Buffer, dict[str, float]]:
    """`_requantize_terms` for results in float32."""
    rows = (scheme.scales.astype(np.float32), value_of(bias).ravel())
    terms = np.concatenate([_by_block(row, groups, n) for row in rows], 2)
    return constant(terms), {"low": scheme.clamp[0], "high": scheme.clamp[1]}


def narrow_vectors(rows: int, depth: int, n: int, in_place: bool) -> int:
    """Vectors of columns of narrow tiles (kernels/int8/_gemm_i8_narrow.py); 0 for other tiles.

    `depth` is the products in a segment. Beyond the end of those that lie `in_place` others may be
    read, if not as many as there are.
    """
    missing = -depth % NARROW_DEPTH
    vectors = ceil(n / NARROW_COLUMNS)
    fits = rows >= _MIN_NARROW_ROWS and missing < (depth if in_place else 1)
    return vectors if fits and vectors <= NARROW_VECTORS else 0


def _flip(dtype: np.dtype) -> int:
    """The offset of the zero point when the sign bit of uint8 is flipped."""
    return 128 if dtype == np.uint8 else 0


def _reach(zero_point: int) -> int:
    """How far an int8 is from its zero point, at most."""
    return max(127 - zero_point, zero_point + 128)


def matmul(
    program: Program,
    a: Buffer,
    b: Buffer,
    bias: Buffer | None,
    a_of: Buffer,
    b_of: Buffer,
    out: Buffer,
    scheme: Scheme,
    *,
    scale_per_matrix: bool = False,
) -> None:
    """out[i] = a[a_of[i]] @ b[b_of[i]].T + bias, of matrices in three dimensions.

    Rows of float32 are quantized separately, or, with `scale_per_matrix`, all rows of a matrix as
    one.
    """
    batch, height, n = out.shape
    depth = a.shape[2]
    pitch = amx_pitch(height, 1, depth)
    if scale_per_matrix:
        x = scheme.int8_input(program, a, a.shape[0], 1)
    else:
        x = scheme.int8_input(program, a, a.size // depth, 1, pitch)
    width = x.values.size * depth // a.size
    if pitch and width == depth <= _MAX_IN_PLACE_PITCH and depth % AMX_DEPTH == 0:
        pitch = depth
    packed = _PackedWeights(program, x, b, bias, out, scheme, rows=height, pitch=pitch)
    item_size, items = partition_int8(program, height, depth, n, pitch > 0)
    program.call(
        "gemm_i8.matmul_float32" if isinstance(scheme, Hybrid) else "gemm_i8.matmul",
        _with_prefix(program, x.values, depth).reshape((*a.shape[:2], width)),
        packed.panels,
        packed.terms.reshape(packed.terms.shape[1:]),
        *x.row_terms[:2],
        a_of,
        b_of,
        out,
        split=batch * items,
        depth=depth,
        item_size=item_size,
        **packed.numbers,
    )


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
    n, *taps, depth = weights.shape
    filters = weights.reshape((groups, n // groups, weights.size // n))
    counts, window, padding = out.shape[1:3], (out.shape[1:3], taps, sliding), sliding.before
    runs, hybrid = reads_runs(weights, sliding, groups), isinstance(scheme, Hybrid)
    padded = sliding.reached(x.shape, counts, taps)
    if runs:
        taps, depth = (taps[0], 1), taps[1] * depth
    # Gathering all windows, as is done else, copies each pixel as often as there are taps.
    in_place = prod(taps) > 1 and (hybrid or scheme.zero_points[1] == _flip(weights.dtype))
    in_place = in_place and not amx_pitch(prod(out.shape[:3]), prod(taps), depth)
    if runs or in_place:
        sliding = sliding._replace(before=(0, 0))
    geometry = sliding.geometry(counts)
    for image, result in _images(x, out, scheme):
        if in_place and isinstance(scheme, Hybrid):
            shape = image.shape[0], *padded[1:]
            operand, values = _rounded_as_tiles_read(program, image, shape, padding, depth, scheme)
        else:
            if runs and hybrid:
                image = pad_input(program, image, *window)
            operand = scheme.int8_input(program, image, 1, DOT_LENGTH + depth)
            values, zero = operand.values.reshape(image.shape), operand.zero_point or 0
            if in_place:
                values = _as_tiles_read(program, values, padded, padding, zero)
            elif runs and not hybrid:
                values = pad_input(program, values, *window, zero)
            if not in_place:
                values = _with_prefix(program, values, depth)
        _windows(
            program, operand, values, filters, bias, result, scheme,
            taps=taps, depth=depth, geometry=geometry, in_place=in_place,
        )  # fmt: skip


def _as_tiles_read(
    program: Program, x: Buffer, shape: tuple[int, ...], before: Sequence[int], zero: int
) -> Buffer:
    """A padded copy whose runs tiles read where they lie, with some bytes before and after."""
    copy = _amid_bytes(shape)
    copy_padded(program, "gemm_i8.pad", x, copy, before, zero=zero)
    return copy


def _rounded_as_tiles_read(
    program: Program,
    x: Buffer,
    shape: tuple[int, ...],
    before: Sequence[int],
    depth: int,
    scheme: Hybrid,
) -> tuple[Int8Operand, Buffer]:
    """An image quantized to int8, and `_as_tiles_read` of that; `depth` is as there."""
    terms, inverses = row_numbers(program, x, 1, DOT_LENGTH + depth, scheme.asymmetric)
    copy, (_, height, width, channels) = _amid_bytes(shape), x.shape
    program.call(
        "gemm_i8.pad_rounded",
        x.reshape((1, height, width * channels)),
        inverses,
        terms[1],
        copy.reshape((1, shape[1], shape[2] * channels)),
        split=shape[1],
        top=before[0],
        left=before[1] * channels,
        asymmetric=int(scheme.asymmetric),
    )
    return Int8Operand(copy, row_terms=terms), copy


def _amid_bytes(shape: tuple[int, ...]) -> Buffer:
    """Room for int8 with a few bytes more before and after, which tiles may read."""
    size = prod(shape)
    return arena((size + 2 * NARROW_DEPTH,), np.int8).part(NARROW_DEPTH, size).reshape(shape)


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
    fill = 0 if isinstance(scheme, Hybrid) else scheme.zero_points[1]
    phase_filters = [*phases(program, weights, out, sliding, fill)]
    for image, result in _images(x, out, scheme):
        operand = scheme.int8_input(program, image, 1, DOT_LENGTH + x.shape[3])
        values = _with_prefix(program, operand.values.reshape(image.shape), x.shape[3])
        for phase_filter, geometry in phase_filters:
            filters = phase_filter.reshape(
                (1, phase_filter.shape[0], phase_filter.size // phase_filter.shape[0])
            )
            _windows(
                program, operand, values, filters, bias, result, scheme,
                taps=phase_filter.shape[1:3], depth=phase_filter.shape[3], geometry=geometry,
            )  # fmt: skip


def _images(x: Buffer, out: Buffer, scheme: Scheme) -> Iterable[tuple[Buffer, Buffer]]:
    """Pairs of input and result: all images at once, or each that has a scale of its own."""
    if not isinstance(scheme, Hybrid) or x.shape[0] == 1:
        return [(x, out)]
    return zip(_split_batch(x), _split_batch(out), strict=True)


def _split_batch(images: Buffer) -> list[Buffer]:
    size = images.nbytes // images.shape[0]
    shape = (1, *images.shape[1:])
    starts = range(images.offset, images.offset + images.nbytes, size)
    return [Buffer(images.dtype, shape, images.storage, start) for start in starts]


def _windows(
    program: Program,
    x: Int8Operand,
    values: Buffer,
    filters: Buffer,
    bias: Buffer | None,
    out: Buffer,
    scheme: Scheme,
    *,
    taps: Sequence[int],
    depth: int,
    geometry: ConvGeometry,
    in_place: bool = False,
) -> None:
    """Appends the instructions for filters [groups, n, taps * depth].

    `in_place` says that the values are of `_as_tiles_read`.
    """
    groups, n, _ = filters.shape
    pixels, segments = values.shape[0] * prod(geometry.counts), prod(taps)
    pitch = amx_pitch(pixels, segments, depth)
    packed = _PackedWeights(
        program, x, filters, bias, out, scheme,
        rows=pixels, pitch=pitch, groups=groups, segments=segments, in_place=in_place,
    )  # fmt: skip
    item_size, items = partition_int8(program, pixels, depth * segments, n, pitch > 0)
    if x.zero_point is not None:
        padding = constant(np.full(DOT_LENGTH + depth, x.zero_point, np.int8))
    else:
        padding = x.row_terms[2].ravel()
    program.call(
        "gemm_i8.convolution_float32" if isinstance(scheme, Hybrid) else "gemm_i8.convolution",
        values,
        packed.panels,
        packed.terms,
        *x.row_terms[:2],
        padding.part(DOT_LENGTH, depth),
        constant(np.array(geometry, np.int64)),
        out,
        split=groups * items,
        taps_h=taps[0],
        taps_w=taps[1],
        n=n,
        item_size=item_size,
        in_place=int(in_place),
        **packed.numbers,
    )
