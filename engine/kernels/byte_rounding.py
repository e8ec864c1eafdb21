"""Rows of reals as bytes, each row with a scale of its own, as TFLite's dynamic range has it.

A row is cut in parts, which are items: first `extremes`, then `symmetric` or `asymmetric`.
`out_nothing` gets what stands for 0.
"""

import math

from llvmlite import ir
from numba import float32, float64, int64, types

from ..kernel import address, inline, kernel, piece
from ..vector import BYTE, FLOAT, INT, WORD
from ._integers import Integers

_TOGETHER = 4  # vectors at a time
_OUT = "out:int8[rows,k] out_scales:float32[rows] out_zeros:int32[rows] out_nothing:int8[rows,*]"


@piece(types.void(types.int64, types.int64, types.int64))
def extremes_of(builder, lanes, x, count, out):
    """out[0], out[1] = the least and the greatest of `count` float32 and 0; nan does not count."""
    w = Integers(builder, lanes)
    x, out, end = w.pointer(x), w.pointer(out), w.mul(count, 4)

    def lower(a, b):
        return builder.select(builder.fcmp_ordered("<", b, a), b, a)

    def higher(a, b):
        return builder.select(builder.fcmp_ordered(">", b, a), b, a)

    several = builder.and_(end, WORD(-_TOGETHER * w.bytes))
    with w.loop(0, several, _TOGETHER * w.bytes, [w.zero()] * 2 * _TOGETHER) as (at, values):
        for i in range(_TOGETHER):
            own = w.load(x, w.add(at, i * w.bytes))
            values[2 * i : 2 * i + 2] = lower(values[2 * i], own), higher(values[2 * i + 1], own)
    least, greatest = w.results[:2]
    for other_least, other_greatest in zip(w.results[2::2], w.results[3::2], strict=True):
        least, greatest = lower(least, other_least), higher(greatest, other_greatest)
    with w.loop(several, end, w.bytes, [least, greatest]) as (at, values):
        own = w.load_some(x, w.mask(builder.lshr(builder.sub(end, at), WORD(2))), at)
        values[:] = lower(values[0], own), higher(values[1], own)
    (least, greatest), n = w.results, w.width
    while n > 1:
        n //= 2
        least, greatest = _halved(builder, least, lower, n), _halved(builder, greatest, higher, n)
    for i, value in enumerate((least, greatest)):
        w.store(builder.extract_element(value, INT(0)), out, 4 * i)


def _halved(builder, value, join, n):
    """Two halves of a vector joined into one of `n` elements."""
    nothing = ir.Constant(value.type, ir.Undefined)
    orders = (ir.Constant(ir.VectorType(INT, n), [*range(i, i + n)]) for i in (0, n))
    return join(*(builder.shuffle_vector(value, nothing, order) for order in orders))


@piece(types.void(*[types.int64] * 3, types.float32, types.float32, types.int64))
def rounded(builder, lanes, x, out, count, inverse, zero, low):
    """out = x * inverse + zero as bytes from `low` to 127, halves away from zero."""
    w = Integers(builder, lanes)
    x, out, low = w.pointer(x), w.pointer(out), builder.trunc(low, INT)

    def bytes_of(value):
        n = value.type.count
        ints = ir.VectorType(INT, n)
        value = builder.fmul(value, w.all(inverse, FLOAT, n))
        value = builder.fadd(w.all(zero, FLOAT, n), value)
        below_half = ir.Constant(value.type, [0.5 - 2.0**-25] * n)  # .49999997 must not round up
        half = w.call(f"llvm.copysign.v{n}f32", value.type, [below_half, value])
        whole = builder.fptosi(builder.fadd(value, half), ints)
        whole = w.hold(whole, w.all(low, INT, n), w.all(127, INT, n))
        return builder.trunc(whole, ir.VectorType(BYTE, n))

    several = _TOGETHER * w.width
    whole = builder.and_(count, WORD(-several))
    with w.loop(0, whole, several) as (at, _):
        w.write(bytes_of(w.load(x, w.mul(at, 4), ir.VectorType(FLOAT, several))), out, at)
    with w.loop(whole, count, w.width) as (at, _):
        mask = w.mask(builder.sub(count, at))
        w.write_some(bytes_of(w.load_some(x, mask, w.mul(at, 4))), w.move(out, at), mask)


@inline
def part_of(item, parts, count):
    """(row, part, start, end) of an item."""
    row = item // parts
    part = item - row * parts
    return row, part, count * part // parts, count * (part + 1) // parts


@kernel("x:float32[rows,k] out:float32[rows,parts,2]")
def extremes(x, out, first, last, fault):
    """The least and the greatest of each part of a row, and 0."""
    parts = out.shape[1]
    for item in range(first, last):
        row, _, start, end = part_of(item, parts, x.shape[1])
        extremes_of(address(x) + 4 * (row * x.shape[1] + start), end - start,
                    address(out) + 8 * item)  # fmt: skip


@inline
def least_and_greatest(found, row):
    """Those of a whole row."""
    low, high = found[row, 0, 0], found[row, 0, 1]
    for part in range(1, found.shape[1]):
        low, high = min(low, found[row, part, 0]), max(high, found[row, part, 1])
    return low, high


@inline
def put(row, scale, zero, scales, zeros, nothing):
    """What holds for a whole row."""
    scales[row], zeros[row] = scale, zero
    for i in range(nothing.shape[1]):
        nothing[row, i] = zero


@kernel(f"x:float32[rows,k] found:float32[rows,*,2] {_OUT}")
def symmetric(x, found, out, out_scales, out_zeros, out_nothing, first, last, fault):
    """out[r] = round(127 * x[r] / max |x[r]|)"""
    parts, count = found.shape[1], x.shape[1]
    for item in range(first, last):
        row, part, start, end = part_of(item, parts, count)
        low, high = least_and_greatest(found, row)
        reach, scale, inverse = max(-low, high), float32(1.0), float32(0.0)
        if reach > float32(0.0):
            scale, inverse = reach / float32(127.0), float32(127.0) / reach
        at = row * count + start
        rounded(address(x) + 4 * at, address(out) + at, end - start, inverse, float32(0.0), -127)
        if part == 0:
            put(row, scale, 0, out_scales, out_zeros, out_nothing)


@inline
def nearest(value):
    """`value` rounded to nearest, halves away from zero."""
    return int64(math.trunc(value + math.copysign(0.5, value)))


@kernel(f"x:float32[rows,k] found:float32[rows,*,2] {_OUT}")
def asymmetric(x, found, out, out_scales, out_zeros, out_nothing, first, last, fault):
    """out[r] = round(x[r] / scale + zero) with 256 steps between the extremes of x[r]"""
    parts, count = found.shape[1], x.shape[1]
    for item in range(first, last):
        row, part, start, end = part_of(item, parts, count)
        least, greatest = least_and_greatest(found, row)
        low, high = float64(least), float64(greatest)
        scale = (high - low) / 255.0 if low != high else 1.0
        from_low, from_high = -128.0 - low / scale, 127.0 - high / scale
        low_error, high_error = 128.0 + abs(low / scale), 127.0 + abs(high / scale)
        zero = nearest(from_low if low_error < high_error else from_high)
        zero = min(max(zero, -128), 127)
        inverse, at = float32(1.0) / float32(scale), row * count + start
        rounded(address(x) + 4 * at, address(out) + at, end - start, inverse, float32(zero), -128)
        if part == 0:
            put(row, float32(scale), zero, out_scales, out_zeros, out_nothing)


@kernel("x:int8[rows,k] zeros:int32[rows] out:int16[rows,k] parts:i")
def centred(x, zeros, out, parts, first, last, fault):
    """out = x - zero of its row; each row is cut in `parts`, which are items."""
    for item in range(first, last):
        row, _, start, end = part_of(item, parts, x.shape[1])
        source, target, zero = x[row, start:end], out[row, start:end], int64(zeros[row])
        for i in range(target.size):
            target[i] = source[i] - zero
