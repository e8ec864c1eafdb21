"""Elements from one place to another: the kernel behind every op that only moves."""

from ..kernel import WIDTHS, inline, kernel

_TILE = 16


@inline
def _tiles(x, out, s, d, rows, columns, x_row, x_column, out_row, out_column):
    """Squares of `_TILE` rows and columns, so that neither side jumps at every element."""
    top = 0
    while top < rows:
        bottom = min(top + _TILE, rows)
        left = 0
        while left < columns:
            right = min(left + _TILE, columns)
            for row in range(top, bottom):
                source = s + row * x_row + left * x_column
                target = d + row * out_row + left * out_column
                for _ in range(left, right):
                    out[target] = x[source]
                    source += x_column
                    target += out_column
            left = right
        top = bottom


@kernel("x:T1 out:T1 geometry:int64[2] x_start:i out_start:i", T=WIDTHS)
def move(x, out, geometry, x_start, out_start, first, last, fault):
    """out[out_start + i . out_strides] = x[x_start + i . x_strides] for each index i below shape.

    `geometry` has the rows shape, x_strides, out_strides; an item is everything but the last
    dimension.
    """
    rank = geometry.shape[1]
    rows, columns = geometry[0, rank - 2], geometry[0, rank - 1]
    x_row, x_column = geometry[1, rank - 2], geometry[1, rank - 1]
    out_row, out_column = geometry[2, rank - 2], geometry[2, rank - 1]
    item = first
    while item < last:
        plane = item // rows
        row = item - plane * rows
        count = min(rows - row, last - item)
        item += count
        s, d = x_start + row * x_row, out_start + row * out_row
        k = rank - 3
        while k >= 0:
            rest = plane // geometry[0, k]
            i = plane - rest * geometry[0, k]
            s += i * geometry[1, k]
            d += i * geometry[2, k]
            plane = rest
            k -= 1
        if out_column == 1 and x_column == 1:
            for r in range(count):
                source, target = x[s + r * x_row :], out[d + r * out_row :]
                for c in range(columns):
                    target[c] = source[c]
        elif out_column == 1 and x_column == 0:
            for r in range(count):
                value, target = x[s + r * x_row], out[d + r * out_row :]
                for c in range(columns):
                    target[c] = value
        else:
            _tiles(x, out, s, d, count, columns, x_row, x_column, out_row, out_column)
