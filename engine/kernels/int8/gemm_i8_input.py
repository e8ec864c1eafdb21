"""Small integers as tiles want them: signed, with what counts as zero around them."""

from numba import int64

from ...build.kernel import kernel


@kernel("x:uint8[1] out~x:int8[1]")
def signed(x, out, first, last, fault):
    """out = x - 128"""
    for i in range(first, last):
        out[i] = int64(x[i]) - 128


@kernel("x:T[batch,*,*] out:T[batch,*,*] top:i left:i zero:i", T=("int8", "int16"))
def pad(x, out, top, left, zero, first, last, fault):
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
