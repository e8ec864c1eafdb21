"""A sum of two int8 operands as one line, where that gives what scaling each by itself gives.

    out = (a * p + b * q + c) >> s  within limits, in int32

is what every pair of bytes rounds to unless the exact sum lies next to a half: a few dozen pairs of
65536. `fit` finds p, q and c for which these come out right too, goes through all pairs, and says
whether there are such numbers. Where there are not, the vectors that have no such pair go by the
line, as long as these are few.
"""

from numba import int64

from ...build.kernel import inline, kernel
from ...tiling import AWAY_SUM_FORM, CRITICAL_PAIRS, FORM, NEAR_SUM_FORM, SUM_FORM
from ._rescaling import HIGH, LOW, exact

_REACH = 1  # how far p and q are moved
_OFFSETS, _OFFSET = 8, 16  # how often and by what c is moved to each side
_MARGIN = 256 * 2 * _REACH + _OFFSETS * _OFFSET
_LEAST_AWAY, _MOST_AWAY = 128, 4096  # how far halves and what is near them go away from 0
_P, _Q, _C, _S = range(4)  # what a line has; `guess` goes on with zero points
_A_ZERO, _B_ZERO, _A_SIGN, _B_SIGN, _ERROR = range(4, 9)
_MOST_NEAR = 1024  # pairs of 65536 that a line may not be sure of
_A, _B = range(2)  # the rows of contributions


@inline
def _fits(critical, n, p, q, c, s, low, high):
    """Whether the line is right for all of `n` critical pairs."""
    for i in range(n):
        value = (critical[3 * i] * p + critical[3 * i + 1] * q + c) >> s
        if min(max(value, low), high) != critical[3 * i + 2]:
            return False
    return True


@inline
def _fit_away(contributions, rescaling, guess, out_line):
    """The numbers of the second form in `out_line`, and AWAY_SUM_FORM if they are right."""
    p, q, s = guess[_P], guess[_Q], guess[_S]
    low, high = rescaling[LOW], rescaling[HIGH]
    pivot = guess[_C] + guess[_A_ZERO] * p + guess[_B_ZERO] * q
    away = int64(_LEAST_AWAY)
    while away <= _MOST_AWAY:
        c, zero, less, n_wrong, i = guess[_C] + away, pivot + away, 2 * away, int64(0), 0
        while i < 256 and n_wrong == 0:
            begin, a_term = (i - 128) * p + c, contributions[_A, i]
            for j in range(256):
                total = begin + (j - 128) * q
                value = (total - (less if total < zero else 0)) >> s
                fitted = min(max(value, low), high)
                n_wrong += fitted != exact(a_term + contributions[_B, j], rescaling)
            i += 1
        if n_wrong == 0:
            out_line[_P], out_line[_Q], out_line[_C], out_line[_S] = p, q, c, s
            out_line[FORM], out_line[FORM + 1] = AWAY_SUM_FORM, zero
            out_line[FORM + 2] = less
            return
        away *= 2
    _fit_near(guess, out_line)


@inline
def _fit_near(guess, out_line):
    """The numbers of the last form in `out_line`, and NEAR_SUM_FORM if it is sure of most pairs."""
    p, q, s = guess[_P], guess[_Q], guess[_S]
    c, unsure, mask = guess[_C] + guess[_ERROR], 2 * guess[_ERROR], (int64(1) << s) - 1
    n = int64(0)
    for i in range(256):
        begin = (i - 128) * p + c
        for j in range(256):
            n += ((begin + (j - 128) * q) & mask) < unsure
    if n <= _MOST_NEAR:
        out_line[_P], out_line[_Q], out_line[_C], out_line[_S] = p, q, c, s
        out_line[FORM] = NEAR_SUM_FORM
        out_line[FORM + 1] = unsure << (32 - s)
        out_line[FORM + 2], out_line[FORM + 3] = guess[_A_SIGN], guess[_B_SIGN]


@kernel(
    "contributions:int64[*,*] rescaling:int64[*] guess:int64[*] terms:int64[*] scratch:int64[*]"
    " out_line:int64[*]"
)
def fit(contributions, rescaling, guess, terms, scratch, out_line, first, last, fault):
    """p, q, c, s, the limits, and SUM_FORM if that is right for all pairs, else another form or 0.

    `contributions` are the terms a total is the sum of, for each a and each b from -128 on.
    `rescaling` is what makes it a result: multiplier, start, shift, the limit below which it is
    negative, and those of the result. `guess` is where to begin: p, q, c, s, then the zero points
    of a and b, their signs in the total as 0 or -1, and what a line may be off by. `terms` are
    those of rescaled_simd.py.
    """
    p, q, c, s = guess[_P], guess[_Q], guess[_C], guess[_S]
    low, high, n = rescaling[LOW], rescaling[HIGH], 0
    mask, half = (int64(1) << s) - 1, int64(1) << (s - 1)
    for i in range(terms.size):
        out_line[FORM + 4 + i] = terms[i]
    for i in range(FORM + 4):
        out_line[i] = rescaling[min(i, HIGH)] if LOW <= i <= HIGH else 0
    for i in range(256):
        n_critical, n_wrong = int64(0), int64(0)
        begin, a_term = (i - 128) * p + c, contributions[_A, i]
        for j in range(256):
            value = begin + (j - 128) * q
            near_half = int64(abs((value & mask) - half) >= half - _MARGIN)
            fitted = min(max(value >> s, low), high)
            differs = int64(fitted != exact(a_term + contributions[_B, j], rescaling))
            n_critical += near_half
            n_wrong += differs & (1 - near_half)
        if n_wrong or n + n_critical > CRITICAL_PAIRS:
            _fit_away(contributions, rescaling, guess, out_line)
            return
        for j in range(256 if n_critical else 0):
            value = begin + (j - 128) * q
            if abs((value & mask) - half) >= half - _MARGIN:
                scratch[3 * n], scratch[3 * n + 1] = i - 128, j - 128
                scratch[3 * n + 2] = exact(a_term + contributions[_B, j], rescaling)
                n += 1
    for k in range(2 * _OFFSETS + 1):
        offset = c + _OFFSET * ((k + 1) // 2) * (1 - 2 * (k % 2))
        for i in range(-_REACH, _REACH + 1):
            for j in range(-_REACH, _REACH + 1):
                constant = offset - i * guess[_A_ZERO] - j * guess[_B_ZERO]
                if _fits(scratch, n, p + i, q + j, constant, s, low, high):
                    out_line[_P], out_line[_Q] = p + i, q + j
                    out_line[_C], out_line[_S], out_line[FORM] = constant, s, SUM_FORM
                    return
    _fit_away(contributions, rescaling, guess, out_line)
