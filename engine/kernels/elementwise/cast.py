"""Numbers of one type as numbers of another."""

import numpy as np
from numba import float32, float64, uint8, uint16, uint32

from ...build.kernel import WIDTHS, inline, kernel

SMALL = ("int8", "uint8", "int16", "uint16")
INTEGERS = (*SMALL, "int32", "uint32", "int64")
FLOATS = ("float32", "float64")


@inline
def convert(x, out, first, last):
    """out = x, as numba converts between the types"""
    for i in range(first, last):
        out[i] = x[i]


@kernel("x:S1 out~x:T1", S=(*SMALL, "uint32"), T=("int32", "int64"))
def widen(x, out, first, last, fault):
    """out = x, an integer of at least as many bits"""
    convert(x, out, first, last)


@kernel("x:S1 out~x:T1", S=("int32", "int64"), T=WIDTHS)
def wrap(x, out, first, last, fault):
    """The lowest bits of x, or x with the sign spread to more"""
    for i in range(first, last):
        out[i] = x[i]


@kernel("x:S1 out~x:T1", S=(*INTEGERS, *FLOATS), T=FLOATS)
def to_float(x, out, first, last, fault):
    """out = x, rounded to nearest"""
    convert(x, out, first, last)


@kernel("x:S1 out~x:T1 low:i high:i", S=FLOATS, T=INTEGERS)
def to_integer(x, out, low, high, first, last, fault):
    """x without its fraction, within [low, high], the limits of the type; nan gives the highest."""
    bottom, top, integer = float64(low), float64(high), out.dtype.type
    for i in range(first, last):
        value = float64(x[i])
        is_within = bottom < value < top
        number = integer(value if is_within else 0.0)
        limit = low if value <= bottom else high
        out[i] = number if is_within else integer(limit)


@kernel("x:T1 out~x:bool[1]", T=(*WIDTHS, *FLOATS))
def to_bool(x, out, first, last, fault):
    """out = x != 0"""
    for i in range(first, last):
        out[i] = x[i] != 0


@kernel("x:uint16[1] out~x:float32[1]")
def from_half(x, out, first, last, fault):
    """The float16 with the bits x; exact"""
    scale = float32(2.0**112)
    for i in range(first, last):
        bits = uint32(x[i])
        magnitude = uint32((bits & uint32(0x7FFF)) << uint32(13))
        if magnitude >= uint32(0x0F800000):  # inf and nan
            value = np.uint32(magnitude | uint32(0x7F800000)).view(np.float32)
        else:
            value = np.uint32(magnitude).view(np.float32) * scale
        out[i] = -value if bits & uint32(0x8000) else value


@kernel("x:float32[1] out~x:uint16[1]")
def to_half(x, out, first, last, fault):
    """The bits of x as a float16, rounded to nearest even"""
    for i in range(first, last):
        bits = np.float32(x[i]).view(np.uint32)
        sign = (bits >> uint32(16)) & uint32(0x8000)
        magnitude = bits & uint32(0x7FFFFFFF)
        if magnitude > uint32(0x7F800000):
            half = uint32(0x7E00)
        elif magnitude >= uint32(0x477FF000):  # rounds to 65536 or more
            half = uint32(0x7C00)
        elif magnitude < uint32(0x38800000):  # subnormal: the sum aligns and rounds
            half = np.float32(abs(x[i]) + float32(0.5)).view(np.uint32) - uint32(0x3F000000)
        else:
            odd = (magnitude >> uint32(13)) & uint32(1)
            half = (magnitude - uint32(0x38000000) + uint32(0xFFF) + odd) >> uint32(13)
        out[i] = uint16(sign | half)


@kernel("x:uint16[1] out~x:float32[1]")
def from_bfloat16(x, out, first, last, fault):
    """The bfloat16 with the bits x; exact"""
    for i in range(first, last):
        out[i] = np.uint32(uint32(x[i]) << uint32(16)).view(np.float32)


@kernel("x:float32[1] out~x:uint16[1]")
def to_bfloat16(x, out, first, last, fault):
    """The bits of x as a bfloat16, rounded to nearest even"""
    for i in range(first, last):
        bits = np.float32(x[i]).view(np.uint32)
        if bits & uint32(0x7FFFFFFF) > uint32(0x7F800000):  # nan
            out[i] = uint16((bits >> uint32(16)) | uint32(0x40))
        else:
            odd = (bits >> uint32(16)) & uint32(1)
            out[i] = uint16((bits + uint32(0x7FFF) + odd) >> uint32(16))


def from_float8(mantissa, bias, infinity, nan):
    """out = the float of 8 bits x; exact

    It has `mantissa` bits of its fraction and the exponent's `bias`; magnitudes from `infinity` on
    are infinite, from `nan` on they are nan.
    """
    fraction, step = 23 - mantissa, float32(2.0 ** (1 - bias - mantissa))

    def run(x, out, first, last, fault):
        for i in range(first, last):
            magnitude = uint32(x[i] & 0x7F)
            if magnitude >= infinity:
                special = uint32(0x7F800000) if magnitude < nan else uint32(0x7FC00000)
                value = np.uint32(special).view(np.float32)
            elif magnitude >> uint32(mantissa):
                bits = uint32(magnitude << uint32(fraction)) + uint32((127 - bias) << 23)
                value = np.uint32(bits).view(np.float32)
            else:
                value = float32(magnitude) * step
            out[i] = -value if x[i] & 0x80 else value

    return run


def to_float8(mantissa, bias, above, nan):
    """out = the bits of x as a float of 8 bits, rounded to nearest even

    Magnitudes from `above` on are `above`.
    """
    drop = 23 - mantissa
    least, offset = (128 - bias) << 23, (127 - bias) << mantissa  # of normal numbers
    unit = float32(2.0 ** (24 - bias - mantissa))  # in it a step of subnormal ones is the last bit

    def run(x, out, first, last, fault):
        unit_bits = np.float32(unit).view(np.uint32)
        for i in range(first, last):
            bits = np.float32(x[i]).view(np.uint32)
            magnitude = bits & uint32(0x7FFFFFFF)
            if magnitude > uint32(0x7F800000):
                rounded = uint32(nan)
            else:
                if magnitude < uint32(least):
                    rounded = np.float32(abs(x[i]) + unit).view(np.uint32) - unit_bits
                else:
                    odd = (magnitude >> uint32(drop)) & uint32(1)
                    half = uint32((1 << (drop - 1)) - 1)
                    rounded = ((magnitude + half + odd) >> uint32(drop)) - uint32(offset)
                rounded = min(rounded, uint32(above))
            out[i] = uint8(((bits >> uint32(24)) & uint32(0x80)) | rounded)

    return run


for _name, _mantissa, _bias, _above, _nan in (
    ("float8_e4m3fn", 3, 7, 0x7F, 0x7F),  # there is no infinity
    ("float8_e5m2", 2, 15, 0x7C, 0x7E),
):
    kernel("x:uint8[1] out~x:float32[1]", name=f"from_{_name}")(
        from_float8(_mantissa, _bias, _above, min(_above + 1, 0x7F))
    )
    kernel("x:float32[1] out~x:uint8[1]", name=f"to_{_name}")(
        to_float8(_mantissa, _bias, _above, _nan)
    )
