"""Weights of bytes in the order tiles read them (_byte_tile.py).

A panel of 32 columns has a row of what sums start from, then for each four products a row of four
bytes for each column. `flip` turns bits of the weights over: 0x80 makes signed bytes of unsigned
ones.
"""

from numba import int32, int64, types

from ..kernel import address, inline, piece
from ..vector import INT, Writer
from ._byte_tile import weights_flip
from ._matrix_tile import has_matrices

_PANEL = 32
_ROW = 4 * _PANEL


@piece(types.void(*[types.int64] * 5), inline=True)
def copy_fours(builder, lanes, source, target, step, count, flip):
    """Copies `count` times four bytes to places `step` bytes apart, bits turned over."""
    w = Writer(builder, lanes)
    source, flip = w.pointer(source), builder.trunc(w.mul(flip, 0x01010101), INT)
    with w.loop(0, count, 1, [w.pointer(target)]) as (i, values):
        four = builder.load(w.move(source, w.mul(i, 4)), typ=INT)
        four.align = 1
        w.store(builder.xor(four, flip), values[0])
        values[0] = w.move(values[0], step)


@inline
def put_column(weights, segments, depth, flip, column, target):
    """A column of a panel."""
    rows, whole = (depth + 3) // 4, depth // 4
    for segment in range(segments):
        source, row = address(weights) + segment * depth, segment * rows
        begin = address(target) + _ROW * row + 4 * column
        copy_fours(source, begin, _ROW, whole, flip)
        if rows > whole:
            for i in range(4):
                target[row + whole, 4 * column + i] = 0
            for i in range(4 * whole, depth):
                value = weights[segment * depth + i] ^ flip
                target[row + whole, 4 * column + i - 4 * whole] = value


@inline
def sum_of(weights, flip):
    """The sum of the weights as signed bytes."""
    total = int64(0)
    for i in range(weights.size):
        total += int64(weights[i] ^ flip)
    return total - 128 * weights.size


@inline
def put_int(row, j, value):
    """Writes an int32 as four bytes of a row."""
    value = int64(int32(value))
    for i in range(4):
        row[4 * j + i] = value >> (8 * i)


@inline
def pack(weights, bias, out, segments, flip, zero_point, x_zero, matrices, first, last):
    """Packs panels; byte_product.pack says what."""
    turn = flip if matrices and has_matrices() else flip ^ weights_flip()
    panels, n, depth = out.shape[1], weights.shape[1], weights.shape[2] // segments
    for item in range(first, last):
        batch = item // panels
        panel = item - batch * panels
        target = out[batch, panel]
        for j in range(_PANEL):
            column, start = panel * _PANEL + j, int64(0)
            if column < n:
                own = weights[batch, column]
                start = int64(bias[batch if bias.shape[0] > 1 else 0, column])
                start -= x_zero * (sum_of(own, 0x80 ^ flip) - zero_point * own.size)
                put_column(own, segments, depth, turn, j, target[1:])
            else:
                for row in range(1, out.shape[2]):
                    for i in range(4):
                        target[row, 4 * j + i] = 0
            put_int(target[0], j, start)
