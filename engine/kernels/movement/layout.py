"""Elements from one place to another: the kernel behind every op that only moves."""

from llvmlite import ir
from numba import types

from ...build.kernel import WIDTHS, address, inline, kernel, microkernel
from ...build.vector import INT, Writer

_TILE = 16
_SHAPE, _X_STRIDES, _OUT_STRIDES = range(3)  # the rows of a geometry
_MAX_SQUARE = 4  # bytes of an element of which a square fits registers


def square(size):
    """The microkernel that turns a square of `_TILE` rows and columns of elements of `size` bytes.

    Rows of the source are `pitch` bytes apart, those of the target `out_pitch`. Four times the rows
    of the lower and the upper half are interleaved.
    """

    def emit(builder, simd, x, out, pitch, out_pitch):
        w, kind = Writer(builder, simd), ir.VectorType(ir.IntType(8 * size), _TILE)
        source, target, lines, half = w.pointer(x), w.pointer(out), [], _TILE // 2
        for _ in range(_TILE):
            lines.append(builder.load(source, typ=kind))
            lines[-1].align = 1
            source = w.move(source, pitch)
        for _ in range(_TILE.bit_length() - 1):
            interleaved = []
            for first, second in zip(lines[:half], lines[half:], strict=True):
                for start in (0, half):
                    lanes = [start + i // 2 + _TILE * (i % 2) for i in range(_TILE)]
                    order = ir.Constant(ir.VectorType(INT, _TILE), lanes)
                    interleaved.append(builder.shuffle_vector(first, second, order))
            lines = interleaved
        for line in lines:
            builder.store(line, target).align = 1
            target = w.move(target, out_pitch)

    emit.__name__ = f"square_{size}"
    return microkernel(types.void(*[types.int64] * 4))(emit)


square_1, square_2, square_4 = (square(size) for size in (1, 2, _MAX_SQUARE))


@inline
def _transpose_square(x, out, s, d, x_column, out_row):
    """The square whose first elements are x[s] and out[d]; its columns are rows of `x`."""
    size = x.itemsize
    source, target = address(x) + s * size, address(out) + d * size
    if size == 1:
        square_1(source, target, x_column, out_row)
    elif size == 2:
        square_2(source, target, 2 * x_column, 2 * out_row)
    else:
        square_4(source, target, 4 * x_column, 4 * out_row)


@inline
def _tiles(x, out, s, d, rows, columns, x_row, x_column, out_row, out_column):
    """Squares of `_TILE` rows and columns, so that neither side jumps at every element."""
    first_row = 0
    while first_row < rows:
        end_row = min(first_row + _TILE, rows)
        first_column = 0
        while first_column < columns:
            end_column = min(first_column + _TILE, columns)
            is_full = end_row - first_row == _TILE and end_column - first_column == _TILE
            if is_full and x_row == 1 and out_column == 1 and x.itemsize <= _MAX_SQUARE:
                source = s + first_row + first_column * x_column
                target = d + first_row * out_row + first_column
                _transpose_square(x, out, source, target, x_column, out_row)
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
            for r in range(count):
                source, target = x[s + r * x_row :], out[d + r * out_row :]
                for c in range(columns):
                    target[c] = source[c]
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
