"""A sum of two int8 operands as one line, where that gives what scaling each by itself gives.

    out = (a * p + b * q + c) >> s  within limits, in int32

is what every pair of bytes rounds to unless the exact sum lies next to a half: usually a few dozen
pairs of 65536, and vectors that have no such pair go by the line. Where halves abound, `fit` looks
for one that takes them away from zero, goes through all pairs, and says whether it is right.
"""

from numba import int64

from ...build.fixedpoint import scaled
from ...build.kernel import inline, kernel
from ...tiling import AWAY_SUM_FORM, FORM, NEAR_SUM_FORM
from ._rescaling import HIGH, LOW, RESCALING, exact

_AWAY = (0, 8, 64)  # by how much more what is near halves goes away from 0, in units of 2 ** -16
_P, _Q, _C, _S = range(4)  # what a line has; `guess` goes on with zero points
_A_ZERO, _B_ZERO, _ERROR, _SIGNS = range(4, 8)
_A_COARSE, _B_COARSE, _A_FINE, _B_FINE, _CONSTANT, _UNSURE = range(9, 15)
_LEFT, _MULTIPLIER, _SHIFT = range(15, 18)
_TERMS = RESCALING + 18
_FEW_NEAR, _MOST_NEAR = 128, 1024  # pairs of 65536 that a line is not sure of


@inline
def _contributions_of_b(guess, b_terms):
    """What each b from -128 on adds to a total."""
    for j in range(256):
        value = (j - 128 - guess[_B_ZERO]) << guess[_LEFT]
        value = scaled(value, guess[_MULTIPLIER], guess[_SHIFT])
        b_terms[j] = -value if guess[_SIGNS + 1] else value


@inline
def _fine_total(guess, i, j):
    """What _fine_totals of _rescaled_sum.py makes of i and j, by the same steps."""
    coarse = i * guess[_A_COARSE] + j * guess[_B_COARSE]
    fine = i * guess[_A_FINE] + j * guess[_B_FINE]
    return (coarse << 8) + (fine >> 7) + guess[_CONSTANT]


@inline
def _fits_away(rescaling, guess, b_terms, out_line):
    """Whether the first form is right, whose numbers then are in `out_line`."""
    low, high = rescaling[LOW], rescaling[HIGH]
    pivot = _fine_total(guess, guess[_A_ZERO], guess[_B_ZERO])
    for more in _AWAY:
        less, n_wrong, i = guess[_UNSURE] + 2 * more, int64(0), 0
        while i < 256 and n_wrong == 0:
            a_term = (i - 128) << (guess[_LEFT] - 1)
            a_term = -a_term if guess[_SIGNS] else a_term
            for j in range(256):
                total = _fine_total(guess, i - 128, j - 128)
                value = (total + more - (less if total < pivot else 0)) >> 16
                fitted = min(max(value, low), high)
                n_wrong += fitted != exact(a_term + b_terms[j], rescaling)
            i += 1
        if n_wrong == 0:
            _fine_numbers(guess, out_line)
            out_line[FORM], out_line[FORM + 3] = AWAY_SUM_FORM, pivot + more
            out_line[FORM + 6] += more
            out_line[FORM + 7] = less
            return True
    return False


@inline
def _n_near(guess):
    """How many pairs of 65536 the second form is not sure of."""
    n = int64(0)
    for i in range(-128, 128):
        for j in range(-128, 128):
            n += (_fine_total(guess, i, j) & 0xFFFF) < guess[_UNSURE]
    return n


@inline
def _near(guess, out_line):
    """The numbers of the second form, in `out_line`."""
    out_line[_P], out_line[_Q], out_line[_S] = guess[_P], guess[_Q], guess[_S]
    out_line[_C] = guess[_C] + guess[_ERROR]
    out_line[FORM], out_line[FORM + 1] = NEAR_SUM_FORM, 2 * guess[_ERROR] << (32 - guess[_S])
    for i in range(2):
        out_line[FORM + 2 + i] = guess[_SIGNS + i]
    _fine_numbers(guess, out_line)
    out_line[FORM + 7] = guess[_UNSURE]


@inline
def _fine_numbers(guess, out_line):
    """The factors of fine totals, and what these add, in `out_line`."""
    for i in range(2):
        a, b = guess[_A_COARSE + 2 * i], guess[_B_COARSE + 2 * i]
        out_line[FORM + 4 + i] = (b << 16) | (a & 0xFFFF)
    out_line[FORM + 6] = guess[_CONSTANT]


@kernel("parameters:int64[lines,*] scratch:int64[*] out_lines:int64[lines,*]")
def fit(parameters, scratch, out_lines, first, last, fault):
    """The numbers of lines and their forms, 0 where none is right.

    Each of `parameters` begins with what makes a total a result: multiplier, start, shift, the
    limit below which it is negative, and those of the result. Then it has p, q, c, s, the zero
    points of a and b, what a line may be off by, the signs of both in the total as 0 or -1, what
    _near_blocks multiplies both by, twice, adds, and is not sure below; how far b is shifted to the
    left, a one less, and by what b is scaled then. The others are the terms of rescaled_simd.py.
    There is scratch for all b.
    """
    for line in range(parameters.shape[0]):
        numbers, out_line = parameters[line], out_lines[line]
        rescaling, guess = numbers[:RESCALING], numbers[RESCALING:_TERMS]
        for i in range(FORM + 8):
            out_line[i] = rescaling[min(i, HIGH)] if LOW <= i <= HIGH else 0
        for i in range(_TERMS, numbers.size):
            out_line[FORM + 8 + i - _TERMS] = numbers[i]
        n_near, is_right = _n_near(guess), False
        if n_near > _FEW_NEAR:
            _contributions_of_b(guess, scratch)
            is_right = _fits_away(rescaling, guess, scratch, out_line)
        if n_near <= _MOST_NEAR and not is_right:
            _near(guess, out_line)
