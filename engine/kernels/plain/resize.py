"""Images of another size, with the rounding of TFLite's reference kernels."""

import numpy as np
from numba import float32, int64, types

from ...build.kernel import WIDTHS, address, inline, kernel, microkernel
from ...build.vector import INT, WORD
from .._int32 import Integers

INTEGERS = ("int8", "int16")
_UNIT = 1 << 10


@inline
def round_half_away(value):
    """`value` rounded to nearest, halves away from zero."""
    return np.floor(value + float32(0.5)) if value >= 0 else np.ceil(value - float32(0.5))


@inline
def nearest_of(i, scale, offset, align_corners, size):
    """The input position nearest to output position `i`."""
    value = (float32(i) + offset) * scale
    position = int64(round_half_away(value) if align_corners else np.floor(value))
    return max(min(position, size - 1), 0)


@kernel(
    "x:T[b,*,*,c] out:T[b,*,*,c] scale_h:float32 scale_w:float32 offset:float32 align_corners:i",
    T=WIDTHS,
)
def nearest(x, out, scale_h, scale_w, offset, align_corners, first, last, fault):
    """The nearest pixel of x for each of out; an item is a row of the result."""
    rows, columns = out.shape[1], out.shape[2]
    for item in range(first, last):
        b = item // rows
        i = item - b * rows
        source = nearest_of(i, scale_h, offset, align_corners, x.shape[1])
        for j in range(columns):
            k = nearest_of(j, scale_w, offset, align_corners, x.shape[2])
            for c in range(out.shape[3]):
                out[b, i, j, c] = x[b, source, k, c]


@inline
def between(i, scale, half, size):
    """Where output position `i` falls in the input, and the positions around it."""
    value = float32(i) * scale
    if half:
        value = (float32(i) + float32(0.5)) * scale - float32(0.5)
    low = min(max(int64(np.floor(value)), 0), size - 1)
    return value, low, min(int64(np.ceil(value)), size - 1)


@kernel(
    "x:T[b,*,*,c] out:T[b,*,*,c] scale_h:float32 scale_w:float32 half:i rounding:float32",
    T=("float32", "uint8"),
)
def bilinear(x, out, scale_h, scale_w, half, rounding, first, last, fault):
    """The mean of the four pixels around, weighted by nearness; an item is a row of the result.

    Integers lose their fraction after `rounding` is added.
    """
    one = float32(1)
    rows, columns = out.shape[1], out.shape[2]
    for item in range(first, last):
        b = item // rows
        i = item - b * rows
        y, y0, y1 = between(i, scale_h, half, x.shape[1])
        lower_weight = y - float32(y0)
        for j in range(columns):
            z, x0, x1 = between(j, scale_w, half, x.shape[2])
            right_weight = z - float32(x0)
            for c in range(out.shape[3]):
                total = float32(x[b, y0, x0, c]) * (one - lower_weight) * (one - right_weight)
                total += float32(x[b, y1, x0, c]) * lower_weight * (one - right_weight)
                total += float32(x[b, y0, x1, c]) * (one - lower_weight) * right_weight
                total += float32(x[b, y1, x1, c]) * lower_weight * right_weight
                out[b, i, j, c] = total + rounding


@inline
def quotient(a, b):
    """a / b rounded towards zero, of a positive b."""
    return a // b if a >= 0 else -(-a // b)


@inline
def between_integers(i, scale, half, size):
    """Like `between`, in steps of 1 / 1024; a rounded scale may lead behind the last position."""
    value = i * scale
    if half:
        value += quotient(scale, 2) - (_UNIT >> 1)
    low = min(max(quotient(value, _UNIT), 0), size - 1)
    return value, low, min(quotient(value + _UNIT - 1, _UNIT), size - 1)


@kernel(
    "x:T[b,*,*,c] out:T[b,*,*,c] scale_h:i scale_w:i half:i",
    T=INTEGERS,
)
def bilinear_integer(x, out, scale_h, scale_w, half, first, last, fault):
    """Like `bilinear`, with weights in steps of 1 / 1024."""
    rows, columns = out.shape[1], out.shape[2]
    for item in range(first, last):
        b = item // rows
        i = item - b * rows
        y, y0, y1 = between_integers(i, scale_h, half, x.shape[1])
        lower_weight = y - _UNIT * y0
        for j in range(columns):
            z, x0, x1 = between_integers(j, scale_w, half, x.shape[2])
            right_weight = z - _UNIT * x0
            first_pixel, second, third, fourth = (
                x[b, y0, x0],
                x[b, y1, x0],
                x[b, y0, x1],
                x[b, y1, x1],
            )
            first_weight = (_UNIT - lower_weight) * (_UNIT - right_weight)
            second_weight = lower_weight * (_UNIT - right_weight)
            third_weight = (_UNIT - lower_weight) * right_weight
            fourth_weight = lower_weight * right_weight
            target = out[b, i, j]
            for c in range(target.size):
                total = first_pixel[c] * first_weight + second[c] * second_weight
                total += third[c] * third_weight + fourth[c] * fourth_weight
                total += (1 << 19) if total > 0 else -(1 << 19)
                target[c] = (total + ((total >> 63) & ((1 << 20) - 1))) >> 20


@microkernel(types.void(*[types.int64] * 10))
def mix(builder, simd, first, second, third, fourth, out, channels, *weights):
    """out = the sum of four pixels of int8 times their weights, in steps of 1 / 2**20.

    Rounded to nearest, halves away from zero.
    """
    w = Integers(builder, simd)
    pixels, out = [w.pointer(p) for p in (first, second, third, fourth)], w.pointer(out)
    weights = [w.splat(builder.trunc(weight, INT)) for weight in weights]
    half, zero = w.splat(1 << 19), w.splat(0)

    def vector(at, mask):
        total = zero
        for pixel, weight in zip(pixels, weights, strict=True):
            value = w.read_masked(w.move(pixel, at), w.i8_vector, mask)
            total = builder.add(total, builder.mul(builder.sext(value, w.i32_vector), weight))
        positive = builder.icmp_signed(">", total, zero)
        total = builder.add(total, builder.select(positive, half, builder.neg(half)))
        negative_offset = builder.lshr(builder.ashr(total, w.splat(31)), w.splat(32 - 20))
        value = builder.ashr(builder.add(total, negative_offset), w.splat(20))
        w.write_masked(builder.trunc(value, w.i8_vector), w.move(out, at), mask)

    vector_end = builder.and_(channels, WORD(-w.width))
    with w.loop(0, vector_end, w.width) as (at, _):
        vector(at, None)
    n_channels = builder.sub(channels, vector_end)
    with builder.if_then(builder.icmp_signed(">", n_channels, WORD(0))):
        vector(vector_end, w.mask(n_channels))


@kernel("x:int8[b,*,*,c] out:int8[b,*,*,c] scale_h:i scale_w:i half:i")
def bilinear_int8(x, out, scale_h, scale_w, half, first, last, fault):
    """What `bilinear_integer` does, in vectors."""
    rows, columns, c = out.shape[1], out.shape[2], out.shape[3]
    for item in range(first, last):
        b = item // rows
        i = item - b * rows
        y, y0, y1 = between_integers(i, scale_h, half, x.shape[1])
        lower_weight = y - _UNIT * y0
        upper = address(x) + (b * x.shape[1] + y0) * x.shape[2] * c
        lower = address(x) + (b * x.shape[1] + y1) * x.shape[2] * c
        for j in range(columns):
            z, x0, x1 = between_integers(j, scale_w, half, x.shape[2])
            right_weight = z - _UNIT * x0
            mix(
                upper + x0 * c, lower + x0 * c, upper + x1 * c, lower + x1 * c,
                address(out) + (item * columns + j) * c, c,
                (_UNIT - lower_weight) * (_UNIT - right_weight),
                lower_weight * (_UNIT - right_weight),
                (_UNIT - lower_weight) * right_weight, lower_weight * right_weight,
            )  # fmt: skip
