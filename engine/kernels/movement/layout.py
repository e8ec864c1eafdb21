"""Elements from one place to another: the kernel behind every op that only moves."""

from llvmlite import ir
from numba import types

from ...build.kernel import WIDTHS, address, inline, kernel, microkernel
from ...build.vector import BYTE, INT, WORD, Writer

_TILE = 16
_LANE = 16  # bytes of a vector that are moved among themselves in one step
_SHAPE, _X_STRIDES, _OUT_STRIDES = range(3)  # the rows of a geometry
_MAX_SQUARE = 4  # bytes of an element of which a square fits registers


def square(size):
    """The microkernel that turns a square of `_TILE` rows and columns of elements of `size` bytes.

    Rows of the source are `pitch` bytes apart, those of the target `out_pitch`. It is done in
    squares as wide as a vector, where that is less.
    """

    def emit(builder, simd, x, out, pitch, out_pitch):
        w = Writer(builder, simd)
        source, target, n = w.pointer(x), w.pointer(out), min(_TILE, w.bytes // size)
        for column in range(0, _TILE, n):  # then a line of the target is written at once
            for row in range(0, _TILE, n):
                begin = w.move(w.move(source, w.mul(pitch, row)), column * size)
                end = w.move(w.move(target, w.mul(out_pitch, column)), row * size)
                _turn(w, begin, end, pitch, out_pitch, ir.VectorType(ir.IntType(8 * size), n))

    emit.__name__ = f"square_{size}"
    return microkernel(types.void(*[types.int64] * 4))(emit)


def _turn(w, source, target, pitch, out_pitch, kind):
    """Turns a square whose rows are vectors: in each lane of 16 bytes by itself, then the lanes."""
    builder, n = w.builder, kind.count
    in_lane = _LANE // (kind.element.width // 8)
    lanes, groups = n // in_lane, []
    for row in range(n):
        line = builder.load(w.move(source, w.mul(pitch, row)), typ=kind)
        line.align = 1
        if row % in_lane == 0:
            groups.append([])
        groups[-1].append(line)
    turned = [_interleaved(builder, lines, n, in_lane, 1) for lines in groups]
    for column, lines in enumerate(zip(*turned, strict=True)):
        for lane, line in enumerate(_interleaved(builder, lines, n, lanes, in_lane)):
            at = w.mul(out_pitch, lane * in_lane + column)
            builder.store(line, w.move(target, at)).align = 1


def _interleaved(builder, lines, n, count, unit):
    """`count` vectors of `n` elements turned, where as many units of elements are side by side.

    Those of the lower and the upper half of the vectors are interleaved, as often as that halves
    their number.
    """
    half = count // 2
    for _ in range(count.bit_length() - 1):
        pairs, lines = zip(lines[:half], lines[half:], strict=True), []
        for pair in pairs:
            for start in (0, half):
                order = [
                    begin + (start + i // 2) * unit + n * (i % 2) + k
                    for begin in range(0, n, count * unit)
                    for i in range(count)
                    for k in range(unit)
                ]
                order = ir.Constant(ir.VectorType(INT, n), order)
                lines.append(builder.shuffle_vector(*pair, order))
    return lines


square_1, square_2, square_4 = (square(size) for size in (1, 2, _MAX_SQUARE))


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
