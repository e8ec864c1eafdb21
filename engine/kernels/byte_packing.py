"""Weights of bytes in the order tiles read them (_byte_tile.py), and bytes as tiles want them.

A panel of 32 columns has a row of what sums start from, then for each four products a row of four
bytes for each column. `flip` turns bits of the weights over: 0x80 makes signed bytes of unsigned
ones.
"""

from numba import int32, int64, types

from ..declaration import Widths
from ..kernel import address, inline, kernel, piece
from ..vector import INT, Writer
from ._byte_tile import weights_flip
from ._matrix_tile import has_matrices

_BYTE = Widths(("uint8",))
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


@kernel(
    "weights:T[batch,n,k] bias:int32[*,n] out:T[batch,panels,*,128] segments:i flip:i "
    "zero_point:i x_zero:i matrices:i",
    T=_BYTE,
)
def columns(weights, bias, out, segments, flip, zero_point, x_zero, matrices, first, last, fault):
    """Packs matrices whose columns lie in one piece each, cut in `segments`. An item is a panel.

    Sums start from bias - x_zero * sum of (weights - zero_point). `matrices` says whether they
    are for matrices where these can be multiplied.
    """
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


@kernel("x:uint8[1] out:int8[1]")
def signed(x, out, first, last, fault):
    """out = x - 128"""
    for i in range(first, last):
        out[i] = int64(x[i]) - 128


@kernel("x:int8[batch,*,*] out:int8[batch,*,*] top:i left:i zero:i")
def frame(x, out, top, left, zero, first, last, fault):
    """`x` amid zeros, `top` rows and `left` elements from the start. An item is a row."""
    rows = out.shape[1]
    for item in range(first, last):
        batch = item // rows
        row = item - batch * rows
        target, y = out[batch, row], row - top
        begin, end = left, left + x.shape[2]
        if y < 0 or y >= x.shape[1]:
            begin = end = 0
        for j in range(begin):
            target[j] = zero
        if end > begin:
            source, middle = x[batch, y], target[begin:end]
            for j in range(source.size):
                middle[j] = source[j]
        for j in range(end, target.size):
            target[j] = zero
