"""A sum of two int8 operands as one line, where that gives what scaling each by itself gives.

    out = (a * p + b * q + c) >> s  within limits, in int32

is what every pair of bytes rounds to unless the exact sum lies next to a half: a few dozen pairs of
65536. `fit` finds p, q and c for which these come out right too, goes through all pairs, and says
whether there are such numbers.
"""

from numba import int64

from ...build.kernel import inline, kernel
from ...tiling import CRITICAL_PAIRS

_REACH = 1  # how far p and q are moved
_OFFSETS, _OFFSET = 8, 16  # how often and by what c is moved to each side
_MARGIN = 256 * 2 * _REACH + _OFFSETS * _OFFSET


@inline
def _exact(total, how):
    """The result of a total; `how` has multiplier, start, shift, limit, low and high."""
    value = ((2 * total * how[0] + how[1]) >> 32) - int64(total < how[3])
    return min(max(value >> how[2], how[4]), how[5])


@inline
def _fits(critical, n, p, q, c, s, low, high):
    """Whether the line is right for all of `n` critical pairs."""
    for i in range(n):
        value = (critical[3 * i] * p + critical[3 * i + 1] * q + c) >> s
        if min(max(value, low), high) != critical[3 * i + 2]:
            return False
    return True


@kernel("sides:int64[*,*] how:int64[*] guess:int64[*] scratch:int64[*] out_numbers:int64[*]")
def fit(sides, how, guess, scratch, out_numbers, first, last, fault):
    """p, q, c, s, the limits, and 1 if that is right for all pairs, else 0.

    `sides` are the terms a total is the sum of, for each a and each b from -128 on. `how` is what
    makes it a result: multiplier, start, shift, the limit below which it is negative, and those of
    the result. `guess` is where to begin: p, q, c, s and the zero points of a and b.
    """
    p, q, c, s = guess[0], guess[1], guess[2], guess[3]
    low, high, n = how[4], how[5], 0
    mask, half = (int64(1) << s) - 1, int64(1) << (s - 1)
    for i in range(7):
        out_numbers[i] = how[min(i, 5)] if 4 <= i <= 5 else 0
    for i in range(256):
        near, wrong = int64(0), int64(0)
        begin, left = (i - 128) * p + c, sides[0, i]
        for j in range(256):
            value = begin + (j - 128) * q
            away = abs((value & mask) - half)
            close = int64(away >= half - _MARGIN)
            other = int64(min(max(value >> s, low), high) != _exact(left + sides[1, j], how))
            near += close
            wrong += other & (1 - close)
        if wrong or n + near > CRITICAL_PAIRS:
            return
        for j in range(256 if near else 0):
            value = begin + (j - 128) * q
            if abs((value & mask) - half) >= half - _MARGIN:
                scratch[3 * n], scratch[3 * n + 1] = i - 128, j - 128
                scratch[3 * n + 2] = _exact(left + sides[1, j], how)
                n += 1
    for k in range(2 * _OFFSETS + 1):
        offset = c + _OFFSET * ((k + 1) // 2) * (1 - 2 * (k % 2))
        for i in range(-_REACH, _REACH + 1):
            for j in range(-_REACH, _REACH + 1):
                moved = offset - i * guess[4] - j * guess[5]
                if _fits(scratch, n, p + i, q + j, moved, s, low, high):
                    out_numbers[0], out_numbers[1] = p + i, q + j
                    out_numbers[2], out_numbers[3], out_numbers[6] = moved, s, 1
                    return
