"""Different elements, in as much room as there are elements."""

from numba import int64

from ...build.kernel import kernel

INDICES = ("int32", "int64")
_MIX = 0x9E3779B97F4A7C1


@kernel("x:I[n] scratch:int64[*] out:I[n] out_places:J[n] none:i", I=INDICES, J=INDICES)
def unique(x, scratch, out, out_places, none, first, last, fault):
    """out = the different elements in the order they come, then `none`; x[i] = out[out_places[i]].

    `scratch` is a power of two of places, twice as many as elements at least.
    """
    mask, n = int64(scratch.size - 1), int64(0)
    for i in range(scratch.size):
        scratch[i] = -1
    for i in range(x.size):
        value = int64(x[i])
        mixed = value * int64(_MIX)
        slot = (mixed ^ (mixed >> 29)) & mask
        while scratch[slot] >= 0 and out[scratch[slot]] != x[i]:
            slot = (slot + 1) & mask
        if scratch[slot] < 0:
            scratch[slot] = n
            out[n] = x[i]
            n += 1
        out_places[i] = scratch[slot]
    for i in range(n, x.size):
        out[i] = none
