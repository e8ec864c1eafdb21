"""Elements from one place to another: the kernel behind every op that only moves."""

from llvmlite import ir
from numba import types

from ...build.kernel import WIDTHS, address, inline, kernel, microkernel
from ...build.vector import BYTE, INT, WORD, Writer
from .._transposed import transposed

_TILE = 16
_SHAPE, _X_STRIDES, _OUT_STRIDES = range(3)  # the rows of a geometry
_HEIGHTS = {1: 16, 2: 16, 4: 8}
"""Bytes of an element -> rows of the target that are written side by side: lines of few at once."""
_MAX_SIZE = max(_HEIGHTS)


def block(size):
    """The microkernel that turns `_TILE` rows of `_HEIGHTS[size]` elements of `size` bytes.

    Rows of the source are `pitch` bytes apart, those of the target `out_pitch`. It is done in
    squares as wide as a vector, where that is less.
    """

    def emit(builder, simd, x, out, pitch, out_pitch):
        w, height = Writer(builder, simd), _HEIGHTS[size]
        source, target, n = w.pointer(x), w.pointer(out), min(_TILE, w.bytes // size)
        n_columns = min(n, height)
        for column in range(0, height, n_columns):  # then a line of the target is written at once
            for row in range(0, _TILE, n):
                begin = w.move(w.move(source, w.mul(pitch, row)), column * size)
                end = w.move(w.move(target, w.mul(out_pitch, column)), row * size)
                kind = ir.VectorType(ir.IntType(8 * size), n)
                _turn(w, begin, end, pitch, out_pitch, kind, n_columns)

    emit.__name__ = f"block_{size}"
    return microkernel(types.void(*[types.int64] * 4))(emit)


def _turn(w, source, target, pitch, out_pitch, kind, n_columns):
    """Turns rows of `n_columns`, as many as a vector of the target has elements."""
    rows = [_row(w, source, pitch, row, kind, n_columns) for row in range(n_columns)]
    for column, line in transposed(w.builder, rows):
        w.builder.store(line, w.move(target, w.mul(out_pitch, column))).align = 1


def _row(w, source, pitch, row, kind, n_columns):
    """A vector of a row, or of this and others `n_columns` rows further."""
    row_kind, parts = ir.VectorType(kind.element, n_columns), []
    for other in range(row, kind.count, n_columns):
        part = w.builder.load(w.move(source, w.mul(pitch, other)), typ=row_kind)
        part.align = 1
        parts.append(part)
    if len(parts) == 1:
        return parts[0]
    return w.builder.shuffle_vector(
        *parts, ir.Constant(ir.VectorType(INT, kind.count), [*range(kind.count)])
    )


block_1, block_2, block_4 = (block(size) for size in _HEIGHTS)


@microkernel(types.void(*[types.int64] * 6))
def copy_rows(builder, simd, x, out, pitch, out_pitch, rows, nbytes):
    """Copies rows of `nbytes` bytes, which are `pitch` and `out_pitch` bytes apart.

    The last bytes of a row are copied with those before them.
    """
    w = Writer(builder, simd)
    source, target = w.pointer(x), w.pointer(out)

    def each_row(size):
        kind = ir.VectorType(BYTE, size)
        last = builder.sub(nbytes, WORD(size))
        with w.loop(0, rows, 1, [source, target]) as (_, row):

            def copy(at):
                value = builder.load(w.move(row[0], at), typ=kind)
                value.align = 1
                builder.store(value, w.move(row[1], at)).align = 1

            with w.loop(0, last, size) as (at, _):
                copy(at)
            copy(last)
            row[:] = [w.move(row[0], pitch), w.move(row[1], out_pitch)]

    def for_sizes(size, *smaller):
        if not smaller:
            each_row(size)
            return
        is_enough = builder.icmp_signed(">=", nbytes, WORD(size))
        with builder.if_else(is_enough) as (enough, too_few):
            with enough:
                each_row(size)
            with too_few:
                for_sizes(*smaller)

    for_sizes(*(size for size in (64, 32, 16, 8, 4, 2, 1) if size <= w.bytes))


@inline
def _transpose_block(x, out, s, d, x_column, out_row):
    """The block whose first elements are x[s] and out[d]; its columns are rows of `x`."""
    size = x.itemsize
    source, target = address(x) + s * size, address(out) + d * size
    if size == 1:
        block_1(source, target, x_column, out_row)
    elif size == 2:
        block_2(source, target, 2 * x_column, 2 * out_row)
    else:
        block_4(source, target, 4 * x_column, 4 * out_row)


@inline
def _tiles(x, out, s, d, rows, columns, x_row, x_column, out_row, out_column):
    """Blocks of `_TILE` columns and half as many rows, or as many, so that neither side jumps at
    every element.
    """
    height = _TILE // 2 if x.itemsize == _MAX_SIZE else _TILE
    first_row = 0
    while first_row < rows:
        end_row = min(first_row + height, rows)
        first_column = 0
        while first_column < columns:
            end_column = min(first_column + _TILE, columns)
            is_full = end_row - first_row == height and end_column - first_column == _TILE
            if is_full and x_row == 1 and out_column == 1 and x.itemsize <= _MAX_SIZE:
                source = s + first_row + first_column * x_column
                target = d + first_row * out_row + first_column
                _transpose_block(x, out, source, target, x_column, out_row)
            else:
                for row in range(first_row, end_row):
                    source = s + row * x_row + first_column * x_column
                    target = d + row * out_row + first_column * out_column
                    for _ in range(first_column, end_column):
                        out[target] = x[source]
                        source += x_column
                        target += out_column
            first_column = end_column
        first_row = end_row


@kernel("x:T1 out:T1 geometry:int64[2] x_start:i out_start:i", T=WIDTHS)
def move(x, out, geometry, x_start, out_start, first, last, fault):
    """out[out_start + i . out_strides] = x[x_start + i . x_strides] for each index i below shape.

    These are the rows of `geometry`; an item is everything but the last dimension.
    """
    rank = geometry.shape[1]
    rows, columns = geometry[_SHAPE, rank - 2], geometry[_SHAPE, rank - 1]
    x_row, x_column = geometry[_X_STRIDES, rank - 2], geometry[_X_STRIDES, rank - 1]
    out_row, out_column = geometry[_OUT_STRIDES, rank - 2], geometry[_OUT_STRIDES, rank - 1]
    item = first
    while item < last:
        plane = item // rows
        row = item - plane * rows
        count = min(rows - row, last - item)
        item += count
        s, d = x_start + row * x_row, out_start + row * out_row
        k = rank - 3
        while k >= 0:
            outer_plane = plane // geometry[_SHAPE, k]
            i = plane - outer_plane * geometry[_SHAPE, k]
            s += i * geometry[_X_STRIDES, k]
            d += i * geometry[_OUT_STRIDES, k]
            plane = outer_plane
            k -= 1
        if out_column == 1 and x_column == 1:
            size = x.itemsize
            source, target = address(x) + s * size, address(out) + d * size
            copy_rows(source, target, x_row * size, out_row * size, count, columns * size)
        elif out_column == 1 and x_column == -1:
            for r in range(count):
                source, target = x[s + r * x_row - columns + 1 :], out[d + r * out_row :]
                for c in range(columns):
                    target[c] = source[columns - 1 - c]
        elif out_column == 1 and x_column == 0:
            for r in range(count):
                value, target = x[s + r * x_row], out[d + r * out_row :]
                for c in range(columns):
                    target[c] = value
        else:
            _tiles(x, out, s, d, count, columns, x_row, x_column, out_row, out_column)
