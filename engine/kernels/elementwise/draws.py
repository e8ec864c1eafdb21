"""Random numbers of a Philox 4x32 stream: engine/philox.py says what they are."""

import math

from numba import float32, float64, uint32, uint64

from ...build.kernel import inline, kernel, set_fault
from ...run.faults import VALUE_OUT_OF_RANGE

LOW = 0xFFFFFFFF
RESERVED = 256
"""Counters of a group of four numbers of which some may be drawn again."""
LIMIT = float32(2.0)
"""Standard deviations beyond which they are."""


@inline
def multiplied(a, b):
    """The two halves of a * b for words of 32 bits in 64."""
    product = a * b
    return product >> uint64(32), product & uint64(LOW)


@inline
def words_at(stream, position):
    """The four words at the counter `position` behind where the stream stands."""
    lower = stream[1] + position
    upper = stream[2] + (uint64(1) if lower < position else uint64(0))
    a, b = lower & uint64(LOW), lower >> uint64(32)
    c, d = upper & uint64(LOW), upper >> uint64(32)
    key, other_key = stream[0] & uint64(LOW), stream[0] >> uint64(32)
    for _ in range(10):
        high, low = multiplied(uint64(0xD2511F53), a)
        other_high, other_low = multiplied(uint64(0xCD9E8D57), c)
        a, b = other_high ^ b ^ key, other_low
        c, d = high ^ d ^ other_key, low
        key = (key + uint64(0x9E3779B9)) & uint64(LOW)
        other_key = (other_key + uint64(0xBB67AE85)) & uint64(LOW)
    return a, b, c, d


@inline
def fraction(word):
    """A number in [0, 1) of 23 bits."""
    return float32(uint32(word & uint64(0x7FFFFF))) * float32(2.0**-23)


@inline
def normal_pair(first, second):
    """Two normal numbers of two words, by the method of Box and Muller."""
    radius = max(fraction(first), float32(1e-7))
    angle = float64(float32(2 * math.pi) * fraction(second))
    length = float32(math.sqrt(float64(float32(-2.0) * float32(math.log(float64(radius))))))
    return float32(math.sin(angle)) * length, float32(math.cos(angle)) * length


@kernel("stream:uint64[1] out:float32[n]")
def uniform(stream, out, first, last, fault):
    """out = numbers in [0, 1); an item is four of them"""
    n = out.size
    for group in range(first, last):
        a, b, c, d = words_at(stream, uint64(group))
        i = 4 * group
        if i + 4 <= n:
            out[i] = fraction(a)
            out[i + 1] = fraction(b)
            out[i + 2] = fraction(c)
            out[i + 3] = fraction(d)
        else:
            out[i] = fraction(a)
            if i + 1 < n:
                out[i + 1] = fraction(b)
            if i + 2 < n:
                out[i + 2] = fraction(c)


@kernel("stream:uint64[1] out:float32[n]")
def normal(stream, out, first, last, fault):
    """out = normal numbers; an item is four of them"""
    n = out.size
    for group in range(first, last):
        a, b, c, d = words_at(stream, uint64(group))
        i = 4 * group
        x, y = normal_pair(a, b)
        out[i] = x
        if i + 1 < n:
            out[i + 1] = y
        if i + 2 < n:
            x, y = normal_pair(c, d)
            out[i + 2] = x
            if i + 3 < n:
                out[i + 3] = y


@kernel("stream:uint64[1] out:float32[n]")
def truncated(stream, out, first, last, fault):
    """out = normal numbers within two standard deviations; an item is four of them"""
    n = out.size
    for group in range(first, last):
        position, i, stop = uint64(group * RESERVED), 4 * group, min(4 * group + 4, n)
        while i < stop:
            a, b, c, d = words_at(stream, position)
            position += uint64(1)
            first_pair, second_pair = normal_pair(a, b), normal_pair(c, d)
            for x in (first_pair[0], first_pair[1], second_pair[0], second_pair[1]):
                if i < stop and abs(x) < LIMIT:
                    out[i] = x
                    i += 1


@kernel("stream:uint64[1] low:I[1] high:I[1] out:I[n]", I=("int32", "int64"))
def integers(stream, low, high, out, first, last, fault):
    """out = whole numbers in [low, high); an item is those of one counter: four, or two of int64"""
    if low[0] >= high[0]:
        set_fault(fault, VALUE_OUT_OF_RANGE, 0, low[0], high[0])
        return
    start = uint64(low[0])
    span = uint64(high[0]) - start
    n, per_item = out.size, 16 // out.itemsize
    for item in range(first, last):
        a, b, c, d = words_at(stream, uint64(item))
        i = item * per_item
        if per_item == 2:
            out[i] = start + (a | b << uint64(32)) % span
            if i + 1 < n:
                out[i + 1] = start + (c | d << uint64(32)) % span
        else:
            out[i] = start + a % span
            if i + 1 < n:
                out[i + 1] = start + b % span
            if i + 2 < n:
                out[i + 2] = start + c % span
            if i + 3 < n:
                out[i + 3] = start + d % span


@kernel("inout_stream:uint64[1] counters:i")
def skip(inout_stream, counters, first, last, fault):
    """The stream stands so many counters further on."""
    lower = inout_stream[1] + uint64(counters)
    if lower < uint64(counters):
        inout_stream[2] += uint64(1)
    inout_stream[1] = lower
