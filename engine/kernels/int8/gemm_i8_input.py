"""Small integers as tiles want them: signed, with what counts as zero around them."""

from numba import int64

from ...build.kernel import kernel
from ._padding import pad_rows


@kernel("x:uint8[1] out~x:int8[1]")
def signed(x, out, first, last, fault):
    """out = x - 128"""
    for i in range(first, last):
        out[i] = int64(x[i]) - 128


@kernel("x:T[batch,*,*] out:T[batch,*,*] top:i left:i zero:i", T=("int8", "int16"))
def pad(x, out, top, left, zero, first, last, fault):
    """`x` amid zeros, `top` rows and `left` elements from the start. An item is a row."""
    pad_rows(x, out, top, left, zero, 0, first, last)
