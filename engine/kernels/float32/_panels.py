"""Weights in the order they are read: panels of 32 columns, a row of bias, then the rows.

The rows of each `width` columns follow one another: of whole panels, or of tiles. What a panel has
beyond the last column is 0.
"""

from llvmlite import ir
from numba import float32, types

from ...build.kernel import address, inline, microkernel
from ...build.vector import INT, Writer
from ...tiling import PANEL

_RUN = 16  # rows of a panel written at a time: both sides stay in the nearest cache
_GROUP = 4  # float32 that instructions on two vectors shuffle in each of their parts


@microkernel(types.void(*[types.int64] * 6))
def transpose(builder, simd, x, pitch, out, out_pitch, rows, columns):
    """out[j, i] = x[i, j], rows that many bytes apart; their numbers are multiples of the width."""
    w = Writer(builder, simd)
    x, out, n = w.pointer(x), w.pointer(out), simd.width
    with w.loop(0, columns, n) as (column, _), w.loop(0, rows, n) as (row, _):
        source = w.move(x, w.add(w.mul(row, pitch), w.mul(column, 4)))
        target = w.move(out, w.add(w.mul(column, out_pitch), w.mul(row, 4)))
        vectors = [w.load(source, w.mul(pitch, i)) for i in range(n)]
        for i, vector in enumerate(_transposed(w, vectors)):
            w.store(vector, target, w.mul(out_pitch, i))


@microkernel(types.void(*[types.int64] * 5))
def copy_rows(builder, simd, x, pitch, out, nbytes, rows):
    """Writes rows of `nbytes`, which are `pitch` bytes apart, one after the other."""
    w = Writer(builder, simd)
    x, out = w.pointer(x), w.pointer(out)
    step = 2 * w.bytes
    with w.loop(0, rows, 1, [x, out]) as (_, ends):
        with w.loop(0, nbytes, step) as (at, _):
            for i in (0, w.bytes):
                w.store(w.load(ends[0], w.add(at, i)), ends[1], w.add(at, i))
        ends[:] = [w.move(ends[0], pitch), w.move(ends[1], nbytes)]


def _transposed(w, rows):
    """The columns of as many vectors as they have elements."""
    n_groups = w.width // _GROUP
    quads = [_in_groups(w, rows[i : i + _GROUP]) for i in range(0, w.width, _GROUP)]
    columns = [None] * w.width
    for k in range(_GROUP):
        vectors, size = [quad[k] for quad in quads], n_groups // 2
        while size:  # blocks of groups beside the diagonal change places
            for i in [i for i in range(n_groups) if not i & size]:
                pair = vectors[i], vectors[i + size]
                vectors[i], vectors[i + size] = _exchanged(w, *pair, size * _GROUP)
            size //= 2
        columns[k::_GROUP] = vectors
    return columns


def _in_groups(w, rows):
    """Four vectors whose groups of four are transposed."""
    halves = [_merged(w, *rows[i : i + 2], [0, w.width, 1, w.width + 1], 2) for i in (0, 2)]
    return [
        vector
        for a, b in zip(*halves, strict=True)
        for vector in _merged(w, a, b, [0, 1, w.width, w.width + 1], 2)
    ]


def _merged(w, a, b, order, step):
    """Of each group the lanes `order` of two vectors, and those `step` further."""
    starts = range(0, w.width, _GROUP)
    return [_lanes(w, a, b, [g + i + k for g in starts for i in order]) for k in (0, step)]


def _exchanged(w, a, b, length):
    """The even blocks of `length` lanes of two vectors in turn, and the odd ones."""
    starts = range(0, w.width, 2 * length)
    even = [
        first + i for start in starts for first in (start, w.width + start) for i in range(length)
    ]
    return _lanes(w, a, b, even), _lanes(w, a, b, [lane + length for lane in even])


def _lanes(w, a, b, lanes):
    order = ir.Constant(ir.VectorType(INT, len(lanes)), lanes)
    return w.builder.shuffle_vector(a, b, order)


@inline
def put_bias(bias, column, target):
    """The first row of a panel."""
    for j in range(PANEL):
        target[j] = bias[column + j] if column + j < bias.size else float32(0.0)


@inline
def pack_columns(weights, bias, out, width, first, last):
    """Packs matrices whose columns are contiguous. An item is a panel."""
    panels, n, depth = out.shape[1], weights.shape[1], weights.shape[2]
    for item in range(first, last):
        batch = item // panels
        panel = item - batch * panels
        target, start = out[batch, panel], panel * PANEL
        put_bias(bias[batch if bias.shape[0] > 1 else 0], start, target)
        begin = PANEL
        while begin < target.size:
            row = 0
            if start >= n:
                row = depth
                for i in range(begin, begin + depth * width):
                    target[i] = float32(0.0)
                begin += depth * width
            while row < depth:
                count = min(_RUN, depth - row)
                part = target[begin : begin + count * width]
                is_whole = count == _RUN and start + width <= n
                if is_whole:
                    source = address(weights[batch, start, row:])
                    transpose(source, 4 * depth, address(part), 4 * width, width, count)
                for j in range(0 if is_whole else width):
                    if start + j < n:
                        source = weights[batch, start + j]
                        for i in range(count):
                            part[i * width + j] = source[row + i]
                    else:
                        for i in range(count):
                            part[i * width + j] = float32(0.0)
                row += count
                begin += count * width
            start += width


@inline
def pack_rows(weights, bias, out, width, first, last):
    """Packs matrices whose rows are contiguous. An item is a panel."""
    panels, depth, n = out.shape[1], weights.shape[1], weights.shape[2]
    for item in range(first, last):
        batch = item // panels
        panel = item - batch * panels
        target, start = out[batch, panel], panel * PANEL
        put_bias(bias[batch if bias.shape[0] > 1 else 0], start, target)
        begin = PANEL
        while begin < target.size:
            count = max(0, min(width, n - start))
            if count == width:
                copy_rows(address(weights[batch, 0, start:]), 4 * n, address(target[begin:]),
                          4 * width, depth)  # fmt: skip
                begin += depth * width
            for k in range(0 if count == width else depth):
                source, row = weights[batch, k, start : start + count], target[begin:]
                for j in range(count):
                    row[j] = source[j]
                for j in range(count, width):
                    row[j] = float32(0.0)
                begin += width
            start += width
