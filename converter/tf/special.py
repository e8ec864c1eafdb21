"""Special functions as formulas of builtins, and a few products of vectors.

lgamma and digamma are Lanczos' approximation (g = 7, 9 terms) with the reflection formula, as XLA
has them; Bessel functions are the polynomials 9.8.1 to 9.8.4 of Abramowitz and Stegun.
"""

import math

import numpy as np

from ..lowering import formulas
from ..lowering.moves import dimension, int32s, like, transposed
from .registry import lower

LANCZOS = 7.0
FIRST = 0.99999999999980993227684700473478
TERMS = (
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
)
NEAR = 3.75
"""Where the polynomials of Bessel functions change."""
BESSEL = {
    0: (
        (0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1.0),
        (0.00392377, -0.01647633, 0.02635537, -0.02057706, 0.00916281, -0.00157565, 0.00225319,
         0.01328592, 0.39894228),
    ),
    1: (
        (0.00032411, 0.00301532, 0.02658733, 0.15084934, 0.51498869, 0.87890594, 0.5),
        (-0.00420059, 0.01787654, -0.02895312, 0.02282967, -0.01031555, 0.00163801, -0.00362018,
         -0.03988024, 0.39894228),
    ),
}  # fmt: skip
"""Coefficients below and above NEAR, highest power first, by order."""


class _Series:
    """Lanczos' series at max(x, 1 - x) - 1 for each element of `x`."""

    def __init__(self, node, b):
        (self.x,) = node.inputs
        node.require(self.x.dtype == np.float32, "only float32 is supported")
        self.b, x = b, self.x
        self.is_reflected = b.LESS(x, like(x, 0.5, b))
        self.z = b.SELECT_V2(self.is_reflected, b.NEG(x), b.SUB(x, like(x, 1, b)))
        self.sum, self.slope = like(x, FIRST, b), like(x, 0, b)
        for i, term in enumerate(TERMS, 1):
            shifted = b.ADD(self.z, like(x, i, b))
            part = b.DIV(like(x, term, b), shifted)
            self.sum = b.ADD(self.sum, part)
            self.slope = b.SUB(self.slope, b.DIV(part, shifted))
        self.t = b.ADD(self.z, like(x, LANCZOS + 0.5, b))
        self.log_t = b.LOG(self.t)


@lower("Lgamma")
def lgamma(node, b):
    """The logarithm of |gamma(x)|: log(pi / |sin(pi x)|) less that of 1 - x for small x."""
    s = _Series(node, b)
    x = s.x
    steps = b.SUB(b.ADD(s.z, like(x, 0.5, b)), b.DIV(s.t, s.log_t))
    constant = b.ADD(b.LOG(s.sum), like(x, math.log(2 * math.pi) / 2, b))
    value = b.ADD(b.MUL(steps, s.log_t), constant)
    size = b.ABS(x)
    part = b.SUB(size, b.FLOOR(size))
    near = b.MINIMUM(part, b.SUB(like(x, 1, b), part))
    sine = b.SIN(b.MUL(near, like(x, math.pi, b)))
    reflected = b.SUB(b.SUB(like(x, math.log(math.pi), b), b.LOG(sine)), value)
    is_infinite = b.EQUAL(size, like(x, np.inf, b))
    result = b.SELECT_V2(s.is_reflected, reflected, value)
    return b.SELECT_V2(is_infinite, size, result)


@lower("Digamma")
def digamma(node, b):
    """The slope of lgamma; undefined at 0, -1, -2, ..."""
    s = _Series(node, b)
    x = s.x
    value = b.SUB(b.ADD(s.log_t, b.DIV(s.slope, s.sum)), b.DIV(like(x, LANCZOS, b), s.t))
    from_whole = b.SUB(x, b.FLOOR(b.ADD(x, like(x, 0.5, b))))
    angle = b.MUL(from_whole, like(x, math.pi, b))
    cotangent = b.DIV(b.MUL(b.COS(angle), like(x, math.pi, b)), b.SIN(angle))
    reflected = b.SUB(value, cotangent)
    is_pole = b.LOGICAL_AND(b.LESS_EQUAL(x, like(x, 0, b)), b.EQUAL(x, b.FLOOR(x)))
    reflected = b.SELECT_V2(is_pole, like(x, np.nan, b), reflected)
    return b.SELECT_V2(s.is_reflected, reflected, value)


@lower("BesselI0", "BesselI0e", "BesselI1", "BesselI1e")
def bessel(node, b):
    """The modified Bessel function of an order, times exp(-|x|) where its name ends in e."""
    (x,) = node.inputs
    node.require(x.dtype == np.float32, "only float32 is supported")
    order, is_scaled = int(node.type[7]), node.type.endswith("e")
    size = b.ABS(x)
    below = b.MINIMUM(size, like(x, NEAR, b))
    above = b.MAXIMUM(size, like(x, NEAR, b))
    square = b.SQUARE(b.MUL(below, like(x, 1 / NEAR, b)))
    inverse = b.DIV(like(x, NEAR, b), above)
    near = formulas.polynomial(b, square, BESSEL[order][0])
    near = b.MUL(near, below) if order else near
    far = b.MUL(formulas.polynomial(b, inverse, BESSEL[order][1]), b.RSQRT(above))
    if is_scaled:
        near = b.MUL(near, b.EXP(b.NEG(below)))
    else:
        far = b.MUL(far, b.EXP(above))
    value = b.SELECT_V2(b.LESS(size, like(x, NEAR, b)), near, far)
    return b.MUL(value, b.SIGN(x)) if order else value


@lower("CumulativeLogsumexp")
def cumulative_logsumexp(node, b):
    """log(sum of exp(x)) up to each element, by a table of the elements that each one sees."""
    x = node.inputs[0]
    node.require(x.dtype == np.float32, "only float32 is supported")
    axis = node.axis(node.constant(1))
    node.require(not node.attr("exclusive"), "exclusive sums are not supported")
    last = x.rank - 1
    order = [i for i in range(x.rank) if i != axis] + [axis]
    rows = transposed(x, order, b)
    positions = b.RANGE(np.int32(0), dimension(x, axis, b), np.int32(1))
    compare = b.GREATER_EQUAL if node.attr("reverse") else b.LESS_EQUAL
    is_seen = compare(positions, b.EXPAND_DIMS(positions, np.int32(1)))
    lowest = like(x, np.finfo(np.float32).min / 2, b)
    table = b.SELECT_V2(is_seen, b.EXPAND_DIMS(rows, np.int32(last)), lowest)
    high = b.REDUCE_MAX(table, int32s([last + 1]), keep_dims=True)
    sums = b.SUM(b.EXP(b.SUB(table, high)), int32s([last + 1]))
    out = b.ADD(b.LOG(sums), b.SQUEEZE(high, squeeze_dims=int32s([last + 1])))
    return transposed(out, np.argsort(order), b)


@lower("Cross")
def cross(node, b):
    """The cross product of vectors of three numbers."""
    x, y = node.inputs
    axis = x.rank - 1
    (x1, x2), (y1, y2) = (
        tuple(b.GATHER(z, int32s(order), axis=axis) for order in ([1, 2, 0], [2, 0, 1]))
        for z in (x, y)
    )
    return b.SUB(b.MUL(x1, y2), b.MUL(x2, y1))


@lower("BatchNormWithGlobalNormalization")
def batch_norm_with_global_normalization(node, b):
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta; gamma only where asked for."""
    x, mean, variance, beta, gamma = node.inputs
    ratio = b.RSQRT(b.ADD(variance, like(variance, node.attr("variance_epsilon"), b)))
    if node.attr("scale_after_normalization"):
        ratio = b.MUL(ratio, gamma)
    return b.ADD(b.MUL(b.SUB(x, mean), ratio), beta)


@lower("NextAfter")
def next_after(node, b):
    """The next float32 after x on the way to y: the bits of those of one sign count upwards."""
    x, y = node.inputs
    node.require(x.dtype == np.float32, f"its inputs must be float32, got {x.dtype}")
    zero, unit = like(x, 0, b), np.int32(1)
    is_away = b.EQUAL(b.GREATER(y, x), b.GREATER(x, zero))
    bits = b.BITCAST(x, dtype=np.int32)
    stepped = b.BITCAST(b.ADD(bits, b.SELECT_V2(is_away, unit, np.int32(-1))), dtype=np.float32)
    least = np.float32(np.finfo(np.float32).smallest_subnormal)
    from_zero = b.SELECT_V2(b.GREATER(y, zero), least, -least)
    stepped = b.SELECT_V2(b.EQUAL(x, zero), from_zero, stepped)
    return b.SELECT_V2(b.EQUAL(b.SUB(x, y), zero), y, stepped)
