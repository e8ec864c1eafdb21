"""Elements from one place to another: the kernel behind every op that only moves."""

from llvmlite import ir
from numba import types

from ...build.kernel import WIDTHS, address, choose, inline, kernel, microkernel, stack_buffer
from ...build.vector import BYTE, INT, WORD, Writer
from .._transposed import transposed

_TILE = 16
_SHAPE, _X_STRIDES, _OUT_STRIDES = range(3)  # the rows of a geometry
_HALF = _TILE // 2
_SIZES = 1, 2, 4
"""Bytes of the elements that are turned in registers."""
_CACHE_WAY = 4096
"""Bytes between rows whose lines share one set of the cache: they drive each other out."""
_STRIP, _STRIP_PITCH = 128, 576
"""Columns of such rows that are turned elsewhere first, and the bytes between their rows there."""
_strip_buffer = stack_buffer(_TILE * _STRIP_PITCH)
_MIN_ROW, _MIN_ROWS = 1 << 12, 1 << 15
"""Bytes of a row, and of all rows, from which libc is faster: it reads no lines it only writes."""


def block(size, height):
    """The microkernel that turns `_TILE` rows of `height` elements of `size` bytes.

    Rows of the source are `pitch` bytes apart, those of the target `out_pitch`. It is done in
    squares as wide as a vector, where that is less.
    """

    def emit(builder, simd, x, out, pitch, out_pitch):
        w = Writer(builder, simd)
        source, target, n = w.pointer(x), w.pointer(out), min(_TILE, w.bytes // size)
        n_columns = min(n, height)
        for column in range(0, height, n_columns):  # then a line of the target is written at once
            for row in range(0, _TILE, n):
                begin = w.move(w.move(source, w.mul(pitch, row)), column * size)
                end = w.move(w.move(target, w.mul(out_pitch, column)), row * size)
                kind = ir.VectorType(ir.IntType(8 * size), n)
                _turn(w, begin, end, pitch, out_pitch, kind, n_columns)

    emit.__name__ = f"block_{size}_{height}"
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


_block = choose(*(block(size, _TILE) for size in _SIZES))
_half_block = choose(*(block(size, _HALF) for size in _SIZES[1:]))


def _with_widest(builder, nbytes, size, emit):
    """Writes emit(size) for the widest vectors, of at most `size` bytes, that `nbytes` fill."""
    if size == 1:
        emit(size)
        return
    is_enough = builder.icmp_signed(">=", nbytes, WORD(size))
    with builder.if_else(is_enough) as (enough, too_few):
        with enough:
            emit(size)
        with too_few:
            _with_widest(builder, nbytes, size // 2, emit)


@microkernel(types.void(*[types.int64] * 6))
def copy_short_rows(builder, simd, x, out, pitch, out_pitch, rows, nbytes):
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

    _with_widest(builder, nbytes, w.bytes, each_row)


@microkernel(types.void(*[types.int64] * 6))
def copy_long_rows(builder, simd, x, out, pitch, out_pitch, rows, nbytes):
    """Copies rows as `copy_short_rows` does, by libc."""
    w = Writer(builder, simd)
    is_volatile = ir.Constant(ir.IntType(1), 0)
    with w.loop(0, rows, 1, [w.pointer(x), w.pointer(out)]) as (_, row):
        w.call("llvm.memcpy.p0.p0.i64", ir.VoidType(), [row[1], row[0], nbytes, is_volatile])
        row[:] = [w.move(row[0], pitch), w.move(row[1], out_pitch)]


@inline
def copy_rows(x, out, pitch, out_pitch, rows, nbytes):
    """Copies rows of `nbytes` bytes; source and target do not overlap."""
    if nbytes >= _MIN_ROW and nbytes * rows >= _MIN_ROWS:
        copy_long_rows(x, out, pitch, out_pitch, rows, nbytes)
    else:
        copy_short_rows(x, out, pitch, out_pitch, rows, nbytes)


@inline
def _transpose(source, target, rows, columns, size, pitch, out_pitch):
    """Whole blocks: rows of the target, a multiple of `_HALF`, and columns, one of `_TILE`."""
    is_crowded, buffer = out_pitch % _CACHE_WAY == 0, _strip_buffer()
    width = min(columns, _STRIP) if is_crowded else columns
    first = 0
    while first < columns:
        count = min(width, columns - first)
        for row in range(0, rows, _TILE):
            begin, end = source + first * pitch + row * size, target + row * out_pitch
            end += first * size
            block_target, block_pitch = (buffer, _STRIP_PITCH) if is_crowded else (end, out_pitch)
            height = min(_TILE, rows - row)
            for column in range(0, count, _TILE):
                x, out = begin + column * pitch, block_target + column * size
                if height == _TILE:
                    _block(size >> 1, x, out, pitch, block_pitch)
                else:
                    _half_block(size >> 2, x, out, pitch, block_pitch)
            if is_crowded:
                copy_short_rows(buffer, end, _STRIP_PITCH, out_pitch, height, count * size)
        first += count


@inline
def _tiles(x, out, s, d, rows, columns, x_row, x_column, out_row, out_column):
    """Blocks in registers; else tiles, so that neither side jumps at every element."""
    size = x.itemsize
    turned_rows = turned_columns = 0
    if x_row == 1 and out_column == 1 and size <= max(_SIZES):
        height = _TILE if size == 1 else _HALF
        turned_rows, turned_columns = rows & -height, columns & -_TILE
        source, target = address(x) + s * size, address(out) + d * size
        pitch, out_pitch = x_column * size, out_row * size
        _transpose(source, target, turned_rows, turned_columns, size, pitch, out_pitch)
    first_row = 0
    while first_row < rows:
        limit = turned_rows if first_row < turned_rows else rows
        end_row = min(first_row + _TILE, limit)
        first_column = turned_columns if first_row < turned_rows else 0
        while first_column < columns:
            end_column = min(first_column + _TILE, columns)
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


@microkernel(types.void(*[types.int64] * 3))
def shift_row(builder, simd, x, out, nbytes):
    """Moves `nbytes` bytes, also to where they overlap with what is moved.

    Those at the far end, fewer than a vector, are moved with those before them: read first.
    """
    w = Writer(builder, simd)
    source, target = w.pointer(x), w.pointer(out)

    def with_vectors(size, last, is_down):
        kind = ir.VectorType(BYTE, size)

        def read(at):
            value = builder.load(w.move(source, at), typ=kind)
            value.align = 1
            return value

        def write(value, at):
            builder.store(value, w.move(target, at)).align = 1

        far_end = last if is_down else WORD(0)
        value = read(far_end)
        with w.loop(0, last, size) as (at, _):
            at = at if is_down else builder.sub(last, at)
            write(read(at), at)
        write(value, far_end)

    def either_way(size):
        last = builder.sub(nbytes, WORD(size))
        is_down = builder.icmp_unsigned("<", out, x)
        with builder.if_else(is_down) as (down, up):
            with down:
                with_vectors(size, last, True)
            with up:
                with_vectors(size, last, False)

    _with_widest(builder, nbytes, w.bytes, either_way)


@kernel("inout:T1 geometry:int64[2] x_start:i out_start:i", T=WIDTHS)
def shift(inout, geometry, x_start, out_start, first, last, fault):
    """inout[out_start + i . strides] = inout[x_start + i . strides] for each index i below shape.

    These are rows of `geometry`, largest strides first; the last one is 1. An item is an index of
    the first dimension, whose elements are apart from those of others.
    """
    rank, size = geometry.shape[1], inout.itemsize
    rows, columns = 1, geometry[_SHAPE, rank - 1]
    for k in range(1, rank - 1):
        rows *= geometry[_SHAPE, k]
    for item in range(first, last):
        for i in range(rows):
            row = i if out_start < x_start else rows - 1 - i  # none is written before it is read
            start = item * geometry[_X_STRIDES, 0]
            k = rank - 2
            while k >= 1:
                outer_row = row // geometry[_SHAPE, k]
                start += (row - outer_row * geometry[_SHAPE, k]) * geometry[_X_STRIDES, k]
                row = outer_row
                k -= 1
            source, target = (x_start + start) * size, (out_start + start) * size
            shift_row(address(inout) + source, address(inout) + target, columns * size)
