"""Weights in the order they are read: panels of 32 columns, a row of bias, then the rows.

The rows of each `width` columns follow one another: of whole panels, or of tiles. What a panel has
beyond the last column is 0.
"""

from numba import float32

from ...build.kernel import inline
from ...tiling import PANEL

_RUN = 16  # rows of a panel written at a time: both sides stay in the nearest cache


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
            while row < depth:
                count = min(_RUN, depth - row)
                part = target[begin : begin + count * width]
                for j in range(width):
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
            for k in range(depth):
                source, row = weights[batch, k, start : start + count], target[begin:]
                for j in range(count):
                    row[j] = source[j]
                for j in range(count, width):
                    row[j] = float32(0.0)
                begin += width
            start += width
