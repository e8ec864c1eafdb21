"""Products and convolutions of int16 with bytes in tiles: rows for kernels/gemm_i16.py.

`fits...` says whether the kernels can do what quantized_gemm.py would do with plain ones. Where
results are not rounded from int64 with fixed-point numbers, the kernels make sums, and
`scheme.finish` makes results of them.
"""

from __future__ import annotations

from math import ceil, prod

import numpy as np

from ..plan.buffer import arena, constant, zeros
from ..tiling import BLOCK_ROWS, CHANNEL_BLOCK, PANEL, TABLES
from .gemm_f32 import HALF_TILE, framed, phases
from .gemm_i8 import in_runs, matrix_pitch, matrix_rows
from .multipliers import MOST_LEFT, fixed_scales, parity_terms, wide_terms

_LARGEST = 1 << 31
_DEEP = 64
"""Products of a sum for which it pays to multiply matrices."""
_PRODUCT = 1 << 22  # what the size of a product does not exceed
_TILE = 2 * HALF_TILE
_ROWS, _MOST_ROWS = 168, 160  # of an item, without and with matrices
_ITEMS = 8  # that a row should have at least, to be dealt out


def fits(x, weights, bias, out, scheme):
    """Whether these are int16 and bytes without zero points."""
    stored = not scheme.real and x.dtype == np.int16 and weights.dtype == np.int8
    if not (stored and x.size and out.size and weights.size):
        return False
    known = scheme.zero_points[:2] == (0, 0) and (bias is None or bias.is_constant)
    if scheme.rounding != "wide":
        return known
    return known and int(fixed_scales(scheme.scales)[1].max()) <= MOST_LEFT


fits_matmul = fits


def fits_convolution(x, weights, bias, out, scheme):
    """Whether tiles can do the convolution with filters [n, height, width, channels]."""
    return prod(weights.shape[1:3]) < TABLES and fits(x, weights, bias, out, scheme)


def _pitch(rows, segments, depth):
    """The kernels' number of that name."""
    return matrix_pitch(rows, segments, depth, 2) if segments * depth >= _DEEP else 0


def _items(program, n, groups, height, pitch):
    """(rows of an item, columns of an item, how many items).

    What comes once for the rows of an item is done by each: one thread is better off with few
    items, and if there are few rows threads should have them all.
    """
    if pitch:
        pairs = ceil(height / (2 * BLOCK_ROWS))
        if pairs > 2 and program.threads > 1:
            pairs = ceil(pairs / _ITEMS)
        rows = min(_MOST_ROWS, pairs * 2 * BLOCK_ROWS)
    else:  # as many as in the other items: they are dealt out in runs
        rows = max(_TILE, _TILE * ceil(height / max(1, ceil(height / _ROWS)) / _TILE))
    blocks, panels = groups * ceil(height / rows), ceil(n / PANEL)
    wanted = 1 if program.threads == 1 else _ITEMS
    columns = PANEL * ceil(panels / min(panels, ceil(wanted / blocks)))
    return rows, columns, blocks * ceil(n / columns)


def _packed(program, weights, segments, pitch):
    """Weights [batch, n, k] in panels, each column cut in `segments`, and how far sums reach."""
    batch, n, count = weights.shape
    depth = count // segments
    rows = matrix_rows(segments, depth) if pitch else ceil(segments * ceil(depth / 2) / 2)
    out = arena((batch, ceil(n / PANEL), rows, 4 * PANEL), np.int8)
    reach = arena(out.shape[:2], np.int64)
    program.call(
        "gemm_i16.pack",
        weights,
        out,
        reach,
        split=reach.size,
        segments=segments,
        matrices=int(pitch > 0),
    )
    return out, reach


def _terms(scheme, bias, groups, n, depth):
    """Terms for `n` channels of each of `groups`, and the numbers that go with them."""
    own = np.zeros(groups * n, np.int64) if bias is None else bias.value.ravel().astype(np.int64)
    if scheme.rounding != "wide":
        rows, numbers = np.stack([0 * own, own, 0 * own]), {"quick": 0, "low": 0, "high": 0}
    else:
        rows = wide_terms(scheme.scales, own, scheme.zero_points[2])
        factors, starts, places = rows.astype(object)
        largest = (min(depth * _PRODUCT, _LARGEST) * factors + abs(starts)) >> places
        quick = int(largest.max() < _LARGEST)
        numbers = {"quick": quick, "low": scheme.limits[0], "high": scheme.limits[1]}
    blocks = ceil(n / CHANNEL_BLOCK)
    padded = np.zeros((3, groups, blocks * CHANNEL_BLOCK), np.int64)
    padded[:, :, :n] = rows.reshape(3, groups, n)
    terms = parity_terms(padded.reshape(3, -1))
    return constant(terms.reshape(groups, blocks, -1)), numbers


def _sums(out, scheme):
    """Where the kernels put what they make: results, or sums."""
    return out if scheme.rounding == "wide" else arena(out.shape, scheme.sums)


def _finish(program, sums, out, scheme):
    if sums is not out:
        scheme.finish(program, sums, None, None, out)


def matmul(program, a, b, bias, a_of, b_of, out, scheme):
    """out[i] = a[a_of[i]] @ b[b_of[i]].T + bias, of matrices in three dimensions."""
    batch, height, n = out.shape
    terms, numbers = _terms(scheme, bias, 1, n, a.shape[2])
    sums, pitch = _sums(out, scheme), _pitch(height, 1, a.shape[2])
    rows, columns, items = _items(program, n, batch, height, pitch)
    program.call(
        "gemm_i16.matmul",
        a,
        *_packed(program, b, 1, pitch),
        terms.reshape(terms.shape[1:]),
        a_of,
        b_of,
        sums,
        split=items,
        depth=a.shape[2],
        pitch=pitch,
        rows=rows,
        columns=columns,
        **numbers,
    )
    _finish(program, sums, out, scheme)


def convolution(program, x, weights, bias, out, *, scheme, stride, before, dilation, groups):
    """`integers.conv2d`."""
    n, *taps, depth = weights.shape
    filters = weights.reshape((groups, n // groups, weights.size // n))
    if in_runs(weights, dilation, groups):
        x = framed(program, x, out.shape[1:3], taps, stride, before, dilation)
        before, taps, depth = (0, 0), (taps[0], 1), taps[1] * depth
    geometry = (out.shape[1:3], stride, dilation, before, (1, 1), (0, 0))
    sums, terms = _sums(out, scheme), _terms(scheme, bias, groups, n // groups, prod(taps) * depth)
    _windows(program, x, filters, terms, sums, taps=taps, depth=depth, geometry=geometry)
    _finish(program, sums, out, scheme)


def transposed_convolution(program, x, weights, bias, out, *, scheme, stride, before):
    """`integers.transpose_conv2d`."""
    n, *taps, depth = weights.shape
    sums, terms = _sums(out, scheme), _terms(scheme, bias, 1, n, prod(taps) * depth)
    for own, geometry in phases(program, weights, out, stride, before, 0):
        filters, taps = own.reshape((1, n, own.size // n)), own.shape[1:3]
        _windows(program, x, filters, terms, sums, taps=taps, depth=depth, geometry=geometry)
    _finish(program, sums, out, scheme)


def _windows(program, x, filters, terms, out, *, taps, depth, geometry):
    """Adds the rows for filters [groups, n, taps * depth]; kernels/gemm_f32.py says `geometry`."""
    groups, n, _ = filters.shape
    total = x.shape[0] * prod(geometry[0])
    terms, numbers = terms
    pitch = _pitch(total, prod(taps), depth)
    rows, columns, items = _items(program, n, groups, total, pitch)
    program.call(
        "gemm_i16.convolution",
        x,
        *_packed(program, filters, prod(taps), pitch),
        terms,
        zeros((depth,), np.int16),
        constant(np.array(geometry, np.int64)),
        out,
        split=items,
        taps_h=taps[0],
        taps_w=taps[1],
        n=n,
        pixels=rows,
        columns=columns,
        pitch=pitch,
        **numbers,
    )
