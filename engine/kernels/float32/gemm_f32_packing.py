"""Weights in the order tiles read them: panels of 32 columns, a row of bias, then the rows.

What a panel has beyond the last column is 0.
"""

from numba import float32

from ...build.kernel import inline, kernel
from ...tiling import PANEL

_RUN = 16  # rows of a panel written at a time: both sides stay in the nearest cache


@inline
def put_bias(bias, column, target):
    """The first row of a panel."""
    for j in range(PANEL):
        target[j] = bias[column + j] if column + j < bias.size else float32(0.0)


@kernel("weights:float32[batch,n,k] bias:float32[*,n] out:float32[batch,panels,*,32]")
def columns(weights, bias, out, first, last, fault):
    """Packs matrices whose columns are contiguous. An item is a panel."""
    panels, n, depth = out.shape[1], weights.shape[1], weights.shape[2]
    for item in range(first, last):
        batch = item // panels
        panel = item - batch * panels
        target, start = out[batch, panel], panel * PANEL
        put_bias(bias[batch if bias.shape[0] > 1 else 0], start, target[0])
        row = 0
        while row < depth:
            count = min(_RUN, depth - row)
            for j in range(PANEL):
                if start + j < n:
                    source = weights[batch, start + j]
                    for i in range(count):
                        target[1 + row + i, j] = source[row + i]
                else:
                    for i in range(count):
                        target[1 + row + i, j] = float32(0.0)
            row += count


@kernel("weights:float32[batch,k,n] bias:float32[*,n] out:float32[batch,panels,*,32]")
def rows(weights, bias, out, first, last, fault):
    """Packs matrices whose rows are contiguous. An item is a panel."""
    panels, depth, n = out.shape[1], weights.shape[1], weights.shape[2]
    for item in range(first, last):
        batch = item // panels
        panel = item - batch * panels
        target, start = out[batch, panel], panel * PANEL
        put_bias(bias[batch if bias.shape[0] > 1 else 0], start, target[0])
        count = min(PANEL, n - start)
        for k in range(depth):
            source, row = weights[batch, k, start : start + count], target[1 + k]
            for j in range(count):
                row[j] = source[j]
            for j in range(count, PANEL):
                row[j] = float32(0.0)


@kernel("x:float32[*,*] out:float32[*,*]")
def widen(x, out, first, last, fault):
    """Copies rows to rows that lie further apart. An item is a row."""
    for i in range(first, last):
        source, target = x[i], out[i]
        for j in range(source.size):
            target[j] = source[j]


@kernel("x:float32[batch,*,*] out:float32[batch,*,*] top:i left:i")
def pad(x, out, top, left, first, last, fault):
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
            target[j] = float32(0.0)
        if end > begin:
            source, middle = x[batch, y], target[begin:end]
            for j in range(source.size):
                middle[j] = source[j]
        for j in range(end, target.size):
            target[j] = float32(0.0)
