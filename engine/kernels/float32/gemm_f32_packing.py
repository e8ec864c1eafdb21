"""Copies of matrices for products: panels of 32 columns for one row, rows apart, padded images."""

from numba import float32

from ...build.kernel import kernel
from ...tiling import PANEL
from ._panels import pack_columns


@kernel("weights:float32[batch,n,k] bias:float32[*,n] out:float32[batch,panels,*]")
def columns(weights, bias, out, first, last, fault):
    """Packs matrices whose columns are contiguous in rows of whole panels. An item is a panel."""
    pack_columns(weights, bias, out, PANEL, first, last)


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
