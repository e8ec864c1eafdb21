"""exp, log and their like of float32, as formulas of vectors (_formula.py).

Each result is off by at most 4 units in the last place, denormals included; one of 100,000 of gelu
is off by 5.
"""

import math

from ...build.vector import BIT

_TO_WHOLE, _TO_WHOLE_64 = 1.5 * 2.0**23, 1.5 * 2.0**52
"""What is added to these is rounded to a whole number in the low bits."""
_WHOLE_BITS = 0x4B400000  # of _TO_WHOLE
_TO_SCALE = _TO_WHOLE + 127 + 64
"""The same, where the low bits are then the exponent of 2 ** (n + 64)."""
_FRACTION = 2.0**-64  # what makes 2 ** n of that, rounded once where it is denormal
_LN_2 = math.log(2)
_LOG2_E, _LOG2_E_LOW = 1.4426950216293335, 1.925963033500e-8  # a float32, and what it lacks
_LN_2_HIGH, _LN_2_LOW = 0.693359375, -2.12194440e-4  # few bits, and what they lack
_UNDERFLOW, _OVERFLOW = -104.0, 89.0  # where exp is 0 and infinite
_NEGLIGIBLE = 20.0  # where 1 + exp(x) is exp(x)
_EXP = (0.16666520483, 0.041666387147, 0.0083687415462, 0.0013941993130)
"""exp(r) = 1 + r + r^2 / 2 + r^3 (_EXP[0] + r _EXP[1] ...) between -log(2) / 2 and log(2) / 2."""
_LOG = (
    0.33333331708,
    -0.25000821036,
    0.20001226865,
    -0.16623357298,
    0.14201758234,
    -0.13160183063,
    0.12761575644,
    -0.076344930241,
)
"""log(1 + f) = f - f^2 / 2 + f^3 (_LOG[0] + f _LOG[1] ...) from sqrt(1 / 2) to sqrt(2)."""
_SIN = (-0.16666654517, 0.0083321547656, -0.00019514453903)
_COS = (0.041666645519, -0.0013887308117, 2.4432209499e-5)
"""sin(r) = r + r^3 (_SIN[0] + ...), cos(r) = 1 - r^2 / 2 + r^4 (_COS[0] + ...) below pi / 4."""
_TAIL_NUMERATOR = (0.5, 0.44520116, 0.18820322, 0.04227422, 0.004352244)
_TAIL_DENOMINATOR = (1.0, 1.6882874, 1.2234589, 0.4825718, 0.105968066, 0.010909492)
_HALF_LOG2_E = _LOG2_E / 2
"""P(normal variable > a) = 2^(-a^2 _HALF_LOG2_E) (_TAIL_NUMERATOR[0] + ...) /
(_TAIL_DENOMINATOR[0] + ...), where _HALF_LOG2_E is the float32 next to it."""
_FARTHEST, _FARTHEST_TANH = 15.0, 11.0
"""Where the normal distribution, and its approximation by tanh, end in float32."""
_CUBE = 0.044715 * math.sqrt(8 / math.pi) / math.log(2)
_GELU_SCALE, _GELU_SCALE_LOW = 0.10294324159622192, -1.9585535e-8
_GELU_OFFSET, _GELU_OFFSET_LOW = 22.36328125, 1 / 0.044715 - 22.36328125
"""exp(-2 u) of gelu_tanh is 2 ** (-a _GELU_SCALE (a^2 + _GELU_OFFSET)) of exact numbers: these are
what float32 has of them, the offset in few bits, and what they lack, relative to the scale."""
_LOG2 = (2.885390081790067, 0.9617966733561144, 0.5770835825312217, 0.41167286017, 0.34072750854)
"""log2((1 + s) / (1 - s)) = s (_LOG2[0] + s^2 _LOG2[1] ...) from sqrt(1 / 2) to sqrt(2)."""
_EXP2 = (
    1.000000000554167,
    0.6931472057372604,
    0.24022646890618932,
    0.05550328776976097,
    0.009618488958756874,
    0.0013399931215685578,
    0.0001534581156039167,
)
_EXP2_SHORT = (
    1.0,
    0.69314724,
    0.24022655,
    0.055502724,
    0.009617063,
    0.0013418201,
    0.00015820558,
)
"""2^r = _EXP2[0] + r _EXP2[1] ... between -1 / 2 and 1 / 2, of float64 and of float32."""
_HALF_PI, _HALF_PI_LOW = 1.5707963267341256, 6.077100506506192e-11  # 33 bits, and those after
MAX_ANGLE = 1e6  # beyond which sin and cos know too little of the angle


def _times_power(value, power):
    """value * 2 ** n, where `power` is n + _TO_WHOLE and |n| < 250; denormals are rounded once."""
    builder = value.builder
    n = builder.sub(power.bits(), value.splat_int(_WHOLE_BITS))
    part = builder.ashr(n, value.splat_int(1))
    for exponent in (part, builder.sub(n, part)):
        value = value * _power_of_2(value, exponent, 127)
    return value


def _power_of_2(value, exponent, bias):
    builder = value.builder
    exponent = builder.add(exponent, value.splat_int(bias))
    return value.of_bits(builder.shl(exponent, value.splat_int(23)))


def _scale(power):
    """2 ** (n + 64), where `power` is n + _TO_SCALE and n from -190 to 63."""
    return power.of_bits(power.builder.shl(power.bits(), power.splat_int(23)))


def _exponent(x, offset):
    """n + offset and 2 ** r, where exp(x) = 2 ** (n + r) and |r| is at most 1 / 2."""
    power = x.fma(_LOG2_E, offset)
    r = x.fma(_LOG2_E_LOW, x.fms(_LOG2_E, power - offset))
    return power, r.polynomial(*_EXP2_SHORT)


def exp(x):
    """The exponential."""
    power, y = _exponent(x.maximum(_UNDERFLOW).minimum(_OVERFLOW), _TO_WHOLE)
    return _times_power(y, power)


def expm1(x):
    """exp(x) - 1, of x within [-88, 88]."""
    power = x.fma(_LOG2_E, _TO_WHOLE)
    n = power - _TO_WHOLE
    r = n.fma(-_LN_2_LOW, n.fma(-_LN_2_HIGH, x))
    small = (r * r).fma(r.polynomial(0.5, *_EXP), r)
    scale = _power_of_2(x, power.bits(), 127 - _WHOLE_BITS)
    return scale.fma(small, scale - 1.0)


def exp_nonpositive(x):
    """The exponential of what is not positive."""
    power, y = _exponent(x.maximum(_UNDERFLOW), _TO_SCALE)
    return y * _scale(power) * _FRACTION


def logistic(x):
    """e / (1 + e), where e = exp(x); e is 2 ** 64 too large until the end"""
    power, y = _exponent(x.maximum(_UNDERFLOW).minimum(_NEGLIGIBLE), _TO_SCALE)
    y = y * _scale(power)
    return y.approx_div(y.fma(_FRACTION, 1.0)) * _FRACTION


def tanh(x):
    """t / (t + 2) with the sign of x, where t = exp(2 |x|) - 1"""
    t = expm1(2.0 * x.abs().minimum(10.0))
    return t.approx_div(t + 2.0).copysign(x)


def elu(x):
    """x, or exp(x) - 1 where x is negative"""
    return expm1(x.maximum(-20.0)).where(x.compare("<", 0.0), x)


def gelu(x):
    """max(x, 0) - a * P(normal variable > a), where a = |x|; the product is 2 ** 64 too large"""
    a = x.abs().minimum(_FARTHEST)
    square, error = a.square()
    power = square.fma(-_HALF_LOG2_E, _TO_SCALE)
    r = error.fma(-_HALF_LOG2_E, square.fms(-_HALF_LOG2_E, power - _TO_SCALE))
    ratio = _estrin(a, _TAIL_NUMERATOR).approx_div(_estrin(a, _TAIL_DENOMINATOR))
    part = a * _scale(power) * ratio
    part = part.fma(r * r.polynomial(*_EXP2_SHORT[1:]), part)
    return part.fma(-_FRACTION, _rectified(x))


def _estrin(x, coefficients):
    """The polynomial of x by Estrin's scheme, which rounds less on the way."""
    pairs = [x.polynomial(*coefficients[i : i + 2]) for i in range(0, len(coefficients), 2)]
    return (x * x).polynomial(*pairs)


def gelu_tanh(x):
    """x * (1 + tanh(u)) / 2 = max(x, 0) - a / (1 + exp(2 |u|)), where a = |x|

    u is sqrt(2 / pi) * (x + 0.044715 x^3).
    """
    a = x.abs().minimum(_FARTHEST_TANH)
    power, r = _cubic(a)
    y = r.polynomial(*_EXP2_SHORT) * _scale(power)
    part = (a * y).approx_div(y.fma(_FRACTION, 1.0))
    return part.fma(-_FRACTION, _rectified(x))


def _cubic(a):
    """n + _TO_SCALE and r, where exp(-2 u) of gelu_tanh is 2 ** (n + r), of a from 0 to 11."""
    if not a.w.simd.fused:
        a64 = a.to_float64()
        u = a64 * (a64 * a64).fma(-_CUBE, -_CUBE / 0.044715)
        n = u + _TO_WHOLE_64 - _TO_WHOLE_64
        return n.to_float32() + _TO_SCALE, (u - n).to_float32()
    high = a.fma(a, _GELU_OFFSET)
    low = a.fma(a, _GELU_OFFSET - high) + _GELU_OFFSET_LOW
    scaled = a * -_GELU_SCALE
    power = scaled.fma(high, _TO_SCALE)
    n = power - _TO_SCALE
    r = a.fma(-_GELU_SCALE, -scaled).fma(high, scaled.fma(low, scaled.fma(high, -n)))
    return power, n.fma(_GELU_SCALE_LOW, r)


def _rectified(x):
    """max(x, 0); nan for negative infinity, where TFLite's GELU multiplies it by 0."""
    return x.fma(0.5, x.abs() * 0.5)


def _split(x):
    """The whole n and the m from sqrt(1 / 2) to sqrt(2) with x = m * 2 ** n, of normal numbers."""
    builder, bits = x.builder, x.bits()
    n = builder.ashr(builder.sub(bits, x.splat_int(0x3F3504F3)), x.splat_int(23))
    m = x.of_bits(builder.sub(bits, builder.shl(n, x.splat_int(23))))
    return type(x)(x.w, builder.sitofp(n, x.value.type)), m


def log(x):
    """The natural logarithm."""
    small = x.compare("<", 2.0**-126)
    n, m = _split((x * 2.0**25).where(small, x))
    n = (n - 25.0).where(small, n)
    f = m - 1.0
    square = f * f
    y = (square * f).fma(f.polynomial(*_LOG), n * _LN_2_LOW)
    y = n.fma(_LN_2_HIGH, f + square.fma(-0.5, y))
    y = y.where(x.compare("<", math.inf), x)
    y = (x * math.nan).where(x.compare("<", 0.0), y)
    return (x - math.inf).where(x.compare("==", 0.0), y)


def power(x, y):
    """x ** y, of normal and finite x above 0 and of finite y."""
    n, m = _split(x)
    m = m.to_float64()
    s = (m - 1.0) / (m + 1.0)
    logarithm = s.fma((s * s).polynomial(*_LOG2), n.to_float64())
    exponent = (y.to_float64() * logarithm).maximum(-400.0).minimum(400.0)
    rounded = exponent + _TO_WHOLE_64
    result = (exponent - (rounded - _TO_WHOLE_64)).polynomial(*_EXP2)
    bits = x.builder.add(result.bits(), x.builder.shl(rounded.bits(), result.splat_int(52)))
    return result.of_bits(bits).to_float32()


def _shifted_sin(x, quarters):
    """sin(x + quarters * pi / 2) for |x| <= MAX_ANGLE"""
    x64, builder = x.to_float64(), x.builder
    power = x64.fma(2 / math.pi, _TO_WHOLE_64)
    n = power - _TO_WHOLE_64
    r = n.fma(-_HALF_PI_LOW, n.fma(-_HALF_PI, x64)).to_float32()
    square = r * r
    sin = (square * r).fma(square.polynomial(*_SIN), r)
    cos = (square * square).fma(square.polynomial(*_COS), square.fma(-0.5, 1.0))
    kind = x.bits().type
    quarter_turns = builder.add(builder.trunc(power.bits(), kind), x.splat_int(quarters))
    odd = builder.trunc(quarter_turns, type(kind)(BIT, kind.count))
    sign = builder.shl(builder.and_(quarter_turns, x.splat_int(2)), x.splat_int(30))
    return x.of_bits(builder.xor(cos.where(odd, sin).bits(), sign))


def sin(x):
    """The sine, of |x| <= MAX_ANGLE."""
    return _shifted_sin(x, 0)


def cos(x):
    """The cosine, of |x| <= MAX_ANGLE."""
    return _shifted_sin(x, 1)


def rsqrt(x):
    """1 / sqrt(x)"""
    return x.rsqrt()
