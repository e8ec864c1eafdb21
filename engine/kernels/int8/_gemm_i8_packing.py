"""Weights of bytes in the order tiles read them (_gemm_i8_tile.py).

A panel of 32 columns has a row of what sums start from, then for each four products a row of four
bytes for each column; that of narrow tiles has eight bytes of as many columns as there are
(_gemm_i8_narrow.py). `flip` turns bits of the weights over: 0x80 makes signed bytes of unsigned
ones.
"""

from llvmlite import ir
from numba import int32, int64, types

from ...build.kernel import address, inline, microkernel
from ...build.vector import INT, WORD, Writer
from ...tiling import NARROW_COLUMNS, NARROW_DEPTH, PANEL
from .._int32 import SHORT, Integers
from ._gemm_i8_amx import has_amx
from ._gemm_i8_narrow import copy_eights, has_narrow, place_of
from ._gemm_i8_tile import input_offset

_ROW = 4 * PANEL
_ADDED = 128  # bytes that a sum of 16 bits has room for


@microkernel(types.void(*[types.int64] * 5), inline=True)
def copy_fours(builder, simd, source, target, step, count, flip):
    """Copies `count` times four bytes to places `step` bytes apart, bits turned over."""
    w = Writer(builder, simd)
    source, flip = w.pointer(source), builder.trunc(w.mul(flip, 0x01010101), INT)
    with w.loop(0, count, 1, [w.pointer(target)]) as (i, values):
        four = builder.load(w.move(source, w.mul(i, 4)), typ=INT)
        four.align = 1
        w.store(builder.xor(four, flip), values[0])
        values[0] = w.move(values[0], step)


@microkernel(types.int64(), inline=True)
def columns_at_once(builder, simd):
    """How many columns `transpose_fours` does at once."""
    return WORD(simd.width)


@microkernel(types.void(*[types.int64] * 5))
def transpose_fours(builder, simd, source, pitch, target, count, flip):
    """Writes `count` rows of a panel: four bytes of each column, bits turned over.

    The columns lie `pitch` bytes apart. `count` is a multiple of their number.
    """
    w = Integers(builder, simd)
    source, target = w.pointer(source), w.pointer(target)
    flip = w.splat(builder.trunc(w.mul(flip, 0x01010101), INT))
    with w.loop(0, w.mul(count, 4), 4 * w.width) as (at, _):
        starts = [w.add(at, w.mul(pitch, column)) for column in range(w.width)]
        rows = _transposed(w, [w.read(source, start, w.i32_vector) for start in starts])
        panel_offset = w.mul(at, PANEL)
        for i, row in enumerate(rows):
            w.write(builder.xor(row, flip), target, w.add(panel_offset, _ROW * i))


@microkernel(types.void(*[types.int64] * 2))
def part_pairs(builder, simd, target, count):
    """Puts the first pairs of each vector of fours before the others, in `count` rows of a panel.

    Nothing where bytes are multiplied.
    """
    if simd.dots:
        return
    w = Integers(builder, simd)
    target, n_pairs = w.pointer(target), 2 * w.width
    order = [*range(0, n_pairs, 2), *range(1, n_pairs, 2)]
    with w.loop(0, w.mul(count, _ROW), w.bytes) as (at, _):
        fours = w.read(target, at, w.i16_pairs)
        w.write(w.shuffle(fours, fours, order), target, at)


def _transposed(w, rows):
    """The columns of the square matrix that vectors are the rows of."""
    n, rows, half = len(rows), list(rows), 1
    low = {d: [n + k - d if k & d else k for k in range(n)] for d in (1, 2, 4, 8)}
    high = {d: [n + k if k & d else k + d for k in range(n)] for d in (1, 2, 4, 8)}
    while half < n:
        for i in range(n):
            if not i & half:
                a, b = rows[i], rows[i + half]
                rows[i], rows[i + half] = w.shuffle(a, b, low[half]), w.shuffle(a, b, high[half])
        half *= 2
    return rows


@microkernel(types.int64(*[types.int64] * 3))
def sum_bytes(builder, simd, source, count, flip):
    """The sum of `count` unsigned bytes, bits turned over; `count` is a multiple of 64."""
    w = Integers(builder, simd)
    source, end = w.pointer(source), count
    shorts = ir.VectorType(SHORT, 2 * w.width)
    flip = w.splat(builder.trunc(w.mul(flip, 0x0101), SHORT), SHORT, 2 * w.width)
    none, eight, low = (w.splat(value, SHORT, 2 * w.width) for value in (0, 8, 0xFF))
    with w.loop(0, end, _ADDED * w.bytes, [w.splat(0)]) as (begin, totals):
        stop = w.add(begin, _ADDED * w.bytes)
        stop = builder.select(builder.icmp_signed("<", stop, end), stop, end)
        with w.loop(begin, stop, w.bytes, [none, none]) as (at, sums):
            value = builder.xor(w.read(source, at, shorts), flip)
            sums[0] = builder.add(sums[0], builder.and_(value, low))
            sums[1] = builder.add(sums[1], builder.lshr(value, eight))
        for part in [builder.bitcast(part, w.i32_vector) for part in w.results]:
            totals[0] = builder.add(totals[0], builder.and_(part, w.splat(0xFFFF)))
            totals[0] = builder.add(totals[0], builder.lshr(part, w.splat(16)))
    name = f"llvm.vector.reduce.add.v{w.width}i32"
    return builder.zext(w.call(name, INT, [w.results[0]]), WORD)


@inline
def put_columns(weights, segments, depth, flip, column, target):
    """As many columns of a panel as are turned at once, but for the end of each segment.

    `weights` are theirs. Gives how many products of each segment are done.
    """
    n_fours = depth // 4 // columns_at_once() * columns_at_once()
    for segment in range(segments):
        source, row = address(weights) + segment * depth, segment * ((depth + 3) // 4)
        begin = address(target) + _ROW * row + 4 * column
        transpose_fours(source, weights.shape[1], begin, n_fours, flip)
    return 4 * n_fours


@inline
def put_column(weights, segments, depth, flip, column, target, n_done):
    """A column of a panel, where `n_done` products of each segment are there already."""
    rows, n_fours = (depth + 3) // 4, depth // 4
    for segment in range(segments):
        source, row = address(weights) + segment * depth, segment * rows
        begin = address(target) + _ROW * (row + n_done // 4) + 4 * column
        copy_fours(source + n_done, begin, _ROW, n_fours - n_done // 4, flip)
        if rows > n_fours:
            for i in range(4):
                target[row + n_fours, 4 * column + i] = 0
            for i in range(4 * n_fours, depth):
                value = weights[segment * depth + i] ^ flip
                target[row + n_fours, 4 * column + i - 4 * n_fours] = value


@inline
def sum_of(weights, flip):
    """The sum of the weights as signed bytes."""
    vector_end = weights.size // 64 * 64
    total = sum_bytes(address(weights), vector_end, flip)
    for i in range(vector_end, weights.size):
        total += int64(weights[i] ^ flip)
    return total - 128 * weights.size


@inline
def put_int(row, j, value):
    """Writes an int32 as four bytes of a row."""
    value = int64(int32(value))
    for i in range(4):
        row[4 * j + i] = value >> (8 * i)


@inline
def put_narrow(weights, segments, depth, flip, n_vectors, target):
    """The columns of a panel for narrow tiles of so many vectors; segments end in zeros."""
    row_bytes, whole = NARROW_COLUMNS * NARROW_DEPTH * n_vectors, depth // NARROW_DEPTH
    rows = (depth + NARROW_DEPTH - 1) // NARROW_DEPTH
    for j in range(NARROW_COLUMNS * n_vectors):
        source = weights[min(j, weights.shape[0] - 1)]  # columns beyond are not written
        for segment in range(segments):
            begin = segment * rows * row_bytes + NARROW_DEPTH * place_of(j, n_vectors)
            first, end = segment * depth, begin + whole * row_bytes
            copy_eights(address(source) + first, address(target) + begin, row_bytes, whole, flip)
            if rows > whole:
                last, at = target[end // _ROW], end % _ROW
                for i in range(NARROW_DEPTH):
                    last[at + i] = 0
                for i in range(depth - whole * NARROW_DEPTH):
                    last[at + i] = source[first + whole * NARROW_DEPTH + i] ^ flip


@inline
def pack(
    weights, bias, out, segments, flip, zero_point, x_zero, for_amx, n_vectors, to_float32, first,
    last,
):  # fmt: skip
    """Packs panels; gemm_i8.pack says what."""
    n_vectors *= has_narrow()
    is_offset = not (to_float32 or (for_amx and has_amx()))
    offset = input_offset() if is_offset else 0
    panels, n, depth = out.shape[1], weights.shape[1], weights.shape[2] // segments
    for item in range(first, last):
        batch = item // panels
        panel = item - batch * panels
        target, n_done = out[batch, panel], int64(0)
        if n_vectors:
            put_narrow(weights[batch], segments, depth, flip, n_vectors, target[1:])
        for j in range(PANEL):
            column, start = panel * PANEL + j, int64(0)
            if j % columns_at_once() == 0 and not n_vectors:
                n_done, end = int64(0), column + columns_at_once()
                if end <= n:
                    columns = weights[batch, column:end]
                    n_done = put_columns(columns, segments, depth, flip, j, target[1:])
            if column < n:
                column_weights = weights[batch, column]
                start = int64(bias[batch if bias.shape[0] > 1 else 0, column])
                total = sum_of(column_weights, 0x80 ^ flip)
                start -= x_zero * (total - zero_point * column_weights.size) + offset * total
                if not n_vectors:
                    put_column(column_weights, segments, depth, flip, j, target[1:], n_done)
            elif not n_vectors:
                for row in range(1, out.shape[2]):
                    for i in range(4):
                        target[row, 4 * j + i] = 0
            put_int(target[0], j, start)
        if not n_vectors:
            part_pairs(address(target[1:]), target.shape[0] - 1)
