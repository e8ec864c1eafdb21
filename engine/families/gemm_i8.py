"""Products and convolutions of 8-bit integers in tiles: rows for kernels/gemm_i8.py.

`fits...` says whether the kernels can do what quantized_gemm.py would do with plain ones.
"""

from __future__ import annotations

from math import ceil, prod

import numpy as np

from ..build.target import matrices
from ..plan.buffer import Buffer, arena, constant
from ..tiling import AMX_DEPTH, BLOCK_BYTES, BLOCK_ROWS, CHANNEL_BLOCK, PANEL, TABLES, TILE_HEADERS
from .gemm_f32 import HALF_TILE, SHALLOW, by_rows, framed, phases
from .multipliers import byte_terms

_BYTES = {np.dtype(np.int8), np.dtype(np.uint8)}
_AT_ONCE = 4
"""Products added at once. Inputs are read so, the last of a row with those before them."""
_LONGEST = BLOCK_BYTES // 2 - 2 * AMX_DEPTH
"""Products of a row, which has to fit in a block as int16 (kernels/_gemm_i8_widening.py)."""
_ROWS_OF_MATRIX, _DEEP = 6, 16
"""Rows, and products of a sum, for which it pays to multiply matrices."""
_PART = 1 << 13
"""Reals of a row that are rounded at a time: the nearest cache holds them."""
_NEAR = 512
"""Bytes of rows up to which matrices are multiplied from where the rows lie."""


class Signed:
    """Bytes to multiply: signed ones, with a zero point.

    Attributes:
        values: int8.
        zero_point: of all of them; None when each row has its own.
        rows: scales, zero points and what stands for 0 of each row, when each has its own.
    """

    __slots__ = ("rows", "values", "zero_point")

    def __init__(self, values, zero_point=None, rows=()):
        self.values, self.zero_point, self.rows = values, zero_point, rows


def fits(x, weights, bias, out, scheme):
    """Whether these are bytes whose sums are int32, or reals that can be rounded to bytes."""
    if weights.dtype not in _BYTES or scheme.sums is not np.int32 or not (x.size and out.size):
        return False
    if scheme.real:
        return weights.dtype == np.int8 and (bias is None or bias.is_constant)
    pairs = zip((x, weights), scheme.zero_points, strict=False)
    stored = all(-128 <= zero_point - _flip(b.dtype) <= 127 for b, zero_point in pairs)
    return stored and {x.dtype, out.dtype} <= _BYTES


def fits_matmul(a, b, bias, out, scheme):
    """Whether tiles can do the product."""
    return a.shape[-1] <= _LONGEST and fits(a, b, bias, out, scheme)


def fits_convolution(x, weights, bias, out, scheme):
    """Whether tiles can do the convolution with filters [n, height, width, channels]."""
    taps = prod(weights.shape[1:3])
    few = taps <= TABLES - TILE_HEADERS and taps * (weights.shape[3] + _AT_ONCE) <= _LONGEST
    return few and fits(x, weights, bias, out, scheme)


def in_runs(weights, dilation, groups):
    """Whether the input under a row of taps is read as one run."""
    _, _, width, depth = weights.shape
    return groups == 1 and dilation[1] == 1 and depth < SHALLOW and width > 1


def signed(program, x, zero_point):
    """Stored bytes as signed ones."""
    if x.dtype == np.int8:
        return Signed(x, zero_point)
    out = arena(x.shape, np.int8)
    program.call("gemm_i8_input.signed", x.ravel(), out.ravel(), split=x.size)
    return Signed(out, zero_point - 128)


def _led(program, values, depth):
    """`values`, with others before them if rows have a `depth` of fewer than _AT_ONCE bytes."""
    if depth >= _AT_ONCE:
        return values
    out = arena((_AT_ONCE + values.size,), np.int8).part(_AT_ONCE, values.size)
    program.call("copy.copy", values.ravel(), out, split=values.size)
    return out.reshape(values.shape)


def rounded(program, x, rows, depth, asymmetric, pitch=0):
    """Reals as signed bytes, each of `rows` parts by itself; `depth` of them may stand for 0.

    The parts begin `pitch` bytes apart if that is not 0.
    """
    count = x.size // rows
    cut = ceil(count / _PART)
    x, found = x.reshape((rows, count)), arena((rows, cut, 2), np.float32)
    program.call("quantize_rows.extremes", x, found, split=rows * cut)
    scales, inverses = (arena((rows,), np.float32) for _ in range(2))
    own = zeros, nothing = arena((rows,), np.int32), arena((rows, depth), np.int8)
    name = "asymmetric" if asymmetric else "symmetric"
    program.call(f"quantize_rows.{name}", found, scales, inverses, *own, split=rows)
    out = arena((rows, pitch or count), np.int8)
    program.call(
        "quantize_rows.rounded",
        x,
        inverses,
        zeros,
        out,
        split=rows * cut,
        low=-128 if asymmetric else -127,
        parts=cut,
    )
    return Signed(out, rows=(scales, zeros, nothing))


def centred(program, x, rows, asymmetric):
    """Reals as int16 without zero points, rounded as `rounded` does it, and their scales."""
    made = rounded(program, x, rows, 0, asymmetric)
    scales, zeros, _ = made.rows
    out, cut = arena(x.shape, np.int16), ceil(x.size // rows / _PART)
    values = out.reshape(made.values.shape)
    program.call(
        "quantize_rows.subtract_zero_point", made.values, zeros, values, split=rows * cut, parts=cut
    )
    return out, scales


class _Product:
    """Weights [batch, n, k] packed, each column cut in `segments`, to go with rows `pitch` apart.

    There are bias and scales for `n` columns of each of `groups`.

    Attributes:
        panels: the weights, [batch, panels, rows, 128].
        terms: what turns sums into results, for each group.
        numbers: others that go with the terms.
    """

    __slots__ = ("numbers", "panels", "terms")

    def __init__(self, program, x, weights, bias, out, scheme, *, pitch, groups=1, segments=1):
        _, n, count = weights.shape
        flip = _flip(weights.dtype)
        zero_point = -flip if scheme.real else scheme.zero_points[1] - flip
        if bias is None:
            bias = constant(np.zeros(groups * n, np.float32 if scheme.real else np.int32))
        bias = bias.reshape((groups, n))
        start = constant(np.zeros((1, n), np.int32)) if scheme.real else bias
        x_zero = -1 if x.zero_point is None else x.zero_point
        self.panels = _packed(
            program, weights, start, segments, pitch > 0,
            flip=flip, zero_point=zero_point, x_zero=x_zero,
        )  # fmt: skip
        if scheme.real:
            self.terms, numbers = _real_terms(scheme, bias, groups, n)
        else:
            largest = None
            if bias.value is not None:
                largest = _reach(x_zero) * _reach(zero_point) * count
                largest += int(np.abs(bias.value.astype(np.int64)).max())
            self.terms, numbers = _stored_terms(scheme, groups, n, out.dtype, largest)
        self.numbers = {"pitch": pitch, "weights_zero": zero_point, **numbers}


def _packed(program, weights, start, segments, for_matrices, **zeros):
    batch, n, count = weights.shape
    depth = count // segments
    rows = matrix_rows(segments, depth) if for_matrices else segments * ceil(depth / _AT_ONCE)
    out = arena((batch, ceil(n / PANEL), 1 + rows, 4 * PANEL), weights.dtype)
    program.call(
        "gemm_i8.pack",
        weights,
        start,
        out,
        split=batch * out.shape[1],
        segments=segments,
        matrices=int(for_matrices),
        **zeros,
    )
    return out.view(np.int8)


def _by_block(values, groups, n):
    """Numbers of channels by [groups, blocks, CHANNEL_BLOCK], each group filled up to blocks."""
    out = np.zeros((groups, ceil(n / CHANNEL_BLOCK) * CHANNEL_BLOCK), values.dtype)
    out[:, :n] = np.broadcast_to(values, (groups * n,)).reshape(groups, n)
    return out.reshape(groups, -1, CHANNEL_BLOCK)


def _stored_terms(scheme, groups, n, dtype, largest):
    """Terms of results for `n` channels of each group, and the numbers that go with them."""
    scales = _by_block(scheme.scales, groups, n)
    terms, numbers = byte_terms(
        scales.ravel(),
        scales.size,
        scheme.zero_points[2],
        scheme.limits,
        dtype,
        largest=largest,
        real=scheme.rounding == "exact",
    )
    return terms.reshape((*scales.shape[:2], terms.shape[1])), numbers


def _real_terms(scheme, bias, groups, n):
    """`_stored_terms` for results that are reals."""
    rows = (scheme.scales.astype(np.float32), bias.value.ravel())
    terms = np.concatenate([_by_block(row, groups, n) for row in rows], 2)
    return constant(terms), {"low": scheme.clamp[0], "high": scheme.clamp[1]}


def matrix_pitch(rows, segments, depth, planes=1):
    """Bytes between rows of inputs where matrices are multiplied; 0 where they are not to be.

    `planes` are the bytes of an input.
    """
    count = segments * ceil(depth / _AT_ONCE) * _AT_ONCE
    if not matrices() or rows < _ROWS_OF_MATRIX or count < _DEEP:
        return 0
    steps = ceil(count / AMX_DEPTH)
    pitch = AMX_DEPTH * ((steps + 1) | 1)  # odd: rows lie in different places of the nearest cache
    return pitch if BLOCK_ROWS * planes * pitch <= BLOCK_BYTES else 0


def matrix_rows(segments, depth):
    """Rows of four products in a panel for matrices."""
    return AMX_DEPTH // _AT_ONCE * ceil(segments * ceil(depth / _AT_ONCE) * _AT_ONCE / AMX_DEPTH)


def _dealt(program, height, depth, n, pitch):
    """(rows of an item, its columns, how many items `height` rows of `n` results are).

    What comes once for the rows of an item is done by all that have some of its columns.
    """
    step = BLOCK_ROWS if pitch else HALF_TILE
    own, panels = ceil(height / program.threads), ceil(n / PANEL)
    if by_rows(program, height, depth, n, step):
        rows = min(step * ceil(own / step), 2 * BLOCK_ROWS if pitch else 4 * HALF_TILE)
        columns = PANEL * panels
    else:
        rows, columns = height, PANEL * ceil(panels / program.threads)
    return rows, columns, ceil(height / rows) * ceil(n / columns)


def _flip(dtype):
    """What makes bytes signed ones when their bits are turned over."""
    return 128 if dtype == np.uint8 else 0


def _reach(zero_point):
    """How far a signed byte is from its zero point, at most."""
    return max(127 - zero_point, zero_point + 128)


def matmul(program, a, b, bias, a_of, b_of, out, scheme):
    """out[i] = a[a_of[i]] @ b[b_of[i]].T + bias, of matrices in three dimensions."""
    batch, height, n = out.shape
    depth = a.shape[2]
    pitch = matrix_pitch(height, 1, depth)
    x = scheme.signed(program, a, a.size // depth, 1, pitch)
    width = x.values.size * depth // a.size
    if pitch and width == depth <= _NEAR and depth % AMX_DEPTH == 0:
        pitch = depth
    made = _Product(program, x, b, bias, out, scheme, pitch=pitch)
    rows, columns, items = _dealt(program, height, depth, n, pitch)
    program.call(
        "gemm_i8.matmul_float32" if scheme.real else "gemm_i8.matmul",
        _led(program, x.values, depth).reshape((*a.shape[:2], width)),
        made.panels,
        made.terms.reshape(made.terms.shape[1:]),
        *x.rows[:2],
        a_of,
        b_of,
        out,
        split=batch * items,
        depth=depth,
        rows=rows,
        columns=columns,
        **made.numbers,
    )


def convolution(program, x, weights, bias, out, *, scheme, stride, before, dilation, groups):
    """`integers.conv2d`."""
    n, *taps, depth = weights.shape
    filters = weights.reshape((groups, n // groups, weights.size // n))
    runs, frame = in_runs(weights, dilation, groups), (taps, stride, before, dilation)
    if runs:
        before, taps, depth = (0, 0), (taps[0], 1), taps[1] * depth
    geometry = (out.shape[1:3], stride, dilation, before, (1, 1), (0, 0))
    for image, result in _images(x, out, scheme):
        if runs and scheme.real:
            image = framed(program, image, out.shape[1:3], *frame)
        made = scheme.signed(program, image, 1, _AT_ONCE + depth)
        values = made.values.reshape(image.shape)
        if runs and not scheme.real:
            values = framed(program, values, out.shape[1:3], *frame, made.zero_point)
        values = _led(program, values, depth)
        _windows(
            program, made, values, filters, bias, result, scheme,
            taps=taps, depth=depth, geometry=geometry,
        )  # fmt: skip


def transposed_convolution(program, x, weights, bias, out, *, scheme, stride, before):
    """`integers.transpose_conv2d`."""
    nothing = 0 if scheme.real else scheme.zero_points[1]
    phased = [*phases(program, weights, out, stride, before, nothing)]
    for image, result in _images(x, out, scheme):
        made = scheme.signed(program, image, 1, _AT_ONCE + x.shape[3])
        values = _led(program, made.values.reshape(image.shape), x.shape[3])
        for own, geometry in phased:
            filters = own.reshape((1, own.shape[0], own.size // own.shape[0]))
            _windows(
                program, made, values, filters, bias, result, scheme,
                taps=own.shape[1:3], depth=own.shape[3], geometry=geometry,
            )  # fmt: skip


def _images(x, out, scheme):
    """Pairs of input and result: all images at once, or each by itself if it is so rounded."""
    if not scheme.real or x.shape[0] == 1:
        return [(x, out)]
    return zip(_one_by_one(x), _one_by_one(out), strict=True)


def _one_by_one(images):
    size = images.nbytes // images.shape[0]
    shape = (1, *images.shape[1:])
    starts = range(images.offset, images.offset + images.nbytes, size)
    return [Buffer(images.dtype, shape, images.storage, start) for start in starts]


def _windows(program, x, values, filters, bias, out, scheme, *, taps, depth, geometry):
    """Adds the rows for filters [groups, n, taps * depth]; kernels/gemm_f32.py says `geometry`."""
    groups, n, _ = filters.shape
    pixels, segments = values.shape[0] * prod(geometry[0]), prod(taps)
    pitch = matrix_pitch(pixels, segments, depth)
    made = _Product(
        program, x, filters, bias, out, scheme, pitch=pitch, groups=groups, segments=segments
    )
    rows, columns, items = _dealt(program, pixels, depth * segments, n, pitch)
    if x.zero_point is not None:
        nothing = constant(np.full(_AT_ONCE + depth, x.zero_point, np.int8))
    else:
        nothing = x.rows[2].ravel()
    program.call(
        "gemm_i8.convolution_float32" if scheme.real else "gemm_i8.convolution",
        values,
        made.panels,
        made.terms,
        *x.rows[:2],
        nothing.part(_AT_ONCE, depth),
        constant(np.array(geometry, np.int64)),
        out,
        split=groups * items,
        taps_h=taps[0],
        taps_w=taps[1],
        n=n,
        pixels=rows,
        columns=columns,
        **made.numbers,
    )
