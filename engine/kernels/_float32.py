"""exp, log and their like of float32, as formulas of vectors (_formula.py).

Each result is off by at most 4 units in the last place, denormals included.
"""

import math

from ..vector import BIT

_TO_WHOLE, _TO_WHOLE_64 = 1.5 * 2.0**23, 1.5 * 2.0**52
"""What is added to these is rounded to a whole number in the low bits."""
_WHOLE_BITS = 0x4B400000  # of _TO_WHOLE
_LOG2_E, _LN_2 = 1 / math.log(2), math.log(2)
_LN_2_SHORT, _LN_2_REST = 0.693359375, -2.12194440e-4  # few bits, and what is missing
_LEAST, _MOST = -104.0, 89.0  # where exp is 0 and infinite
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
_TAIL = (
    0.221970613,
    0.329158971,
    0.34619884,
    0.222082684,
    0.0290565244,
    -0.0775515829,
    -0.0364608564,
    0.0359164295,
    0.0196358209,
    -0.0206286609,
)
_TAIL_SCALE = 0.3
"""P(normal variable > a) = exp(-a^2 / 2) t (_TAIL[0] + v _TAIL[1] ...), v = t - 1 / 2, where
t = 1 / (1 + 0.3 a)."""
_FARTHEST, _FARTHEST_TANH = 15.0, 11.0
"""Where the normal distribution, and its approximation by tanh, end in float32."""
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
"""2^r = _EXP2[0] + r _EXP2[1] ... between -1 / 2 and 1 / 2."""
_GELU = math.sqrt(8 / math.pi)
_QUARTER, _QUARTER_REST = 1.5707963267341256, 6.077100506506192e-11  # 33 bits, and the rest
TURNS = 1e6  # beyond which sin and cos know too little of the angle


def _times_power(value, power):
    """value * 2 ** n, where `power` is n + _TO_WHOLE and |n| < 250; denormals are rounded once."""
    builder = value.builder
    n = builder.sub(power.bits(), value.whole(_WHOLE_BITS))
    part = builder.ashr(n, value.whole(1))
    for exponent in (part, builder.sub(n, part)):
        value = value * _power_of_2(value, exponent, 127)
    return value


def _times_fraction(value, power):
    """The same for n from -180 to 60."""
    return value * _power_of_2(value, power.bits(), 127 + 64 - _WHOLE_BITS) * 2.0**-64


def _power_of_2(value, exponent, bias):
    builder = value.builder
    exponent = builder.add(exponent, value.whole(bias))
    return value.of_bits(builder.shl(exponent, value.whole(23)))


def _rest(x, power):
    """x - n * log(2), where `power` is n + _TO_WHOLE."""
    n = power - _TO_WHOLE
    return n.fma(-_LN_2_REST, n.fma(-_LN_2_SHORT, x))


def _expm1_of_rest(r):
    """exp(r) - 1 for small r"""
    return (r * r).fma(r.polynomial(0.5, *_EXP), r)


def exp(x):
    """The exponential."""
    x = x.above(_LEAST).below(_MOST)
    power = x.fma(_LOG2_E, _TO_WHOLE)
    return _times_power(_expm1_of_rest(_rest(x, power)) + 1.0, power)


def expm1(x):
    """exp(x) - 1, of x within [-88, 88]."""
    power = x.fma(_LOG2_E, _TO_WHOLE)
    small = _expm1_of_rest(_rest(x, power))
    scale = _power_of_2(x, power.bits(), 127 - _WHOLE_BITS)
    return scale.fma(small, scale - 1.0)


def fading(x):
    """The exponential of what is not positive."""
    x = x.above(_LEAST)
    power = x.fma(_LOG2_E, _TO_WHOLE)
    return _times_fraction(_expm1_of_rest(_rest(x, power)) + 1.0, power)


def logistic(x):
    """1 / (1 + exp(-x))"""
    e = fading(-x.size())
    return e.where(x.is_("<", 0.0), 1.0) / (e + 1.0)


def tanh(x):
    """t / (t + 2) with the sign of x, where t = exp(2 |x|) - 1"""
    t = expm1(2.0 * x.size().below(10.0))
    return (t / (t + 2.0)).signed_like(x)


def elu(x):
    """x, or exp(x) - 1 where x is negative"""
    return expm1(x.above(-20.0)).where(x.is_("<", 0.0), x)


def gelu(x):
    """x * P(normal variable < x)"""
    a = x.size().below(_FARTHEST)
    scaled = a * _TAIL_SCALE
    t = 1.0 / (scaled + 1.0)
    t = t.fma((-scaled).fma(t, 1.0 - t), t)  # what the division has rounded off
    square, more = a.square()
    half_square = square * -0.5
    power = half_square.fma(_LOG2_E, _TO_WHOLE)
    r = more.fma(-0.5, _rest(half_square, power))
    y = (t - 0.5).polynomial(*_TAIL)
    negative = x.is_("<", 0.0)
    part = _times_fraction((a * t).where(negative, t) * _expm1_of_rest(r).fma(y, y), power)
    return _below_or_above(x, negative, part, x * (1.0 - part))


def gelu_tanh(x):
    """x * (1 + tanh(u)) / 2 = x / (1 + exp(-2 u)), u = sqrt(2 / pi) * (x + 0.044715 x^3)"""
    a = x.size().below(_FARTHEST_TANH)
    wide = a.wide()
    u = wide * (wide * wide).fma(-0.044715 * _GELU, -_GELU)
    power = u.fma(_LOG2_E, _TO_WHOLE_64)
    n = power - _TO_WHOLE_64
    y = _expm1_of_rest(n.fma(-_LN_2, u).narrow()) + 1.0
    power = n.narrow() + _TO_WHOLE
    e = _times_fraction(y, power) + 1.0
    return _below_or_above(x, x.is_("<", 0.0), _times_fraction(a * y / e, power), x / e)


def _below_or_above(x, negative, below, above):
    """-below or above; nan for negative infinity, where TFLite multiplies it by 0."""
    return ((x - x) - below).where(negative, above)


def _split(x):
    """The whole n and the m from sqrt(1 / 2) to sqrt(2) with x = m * 2 ** n, of normal numbers."""
    builder, bits = x.builder, x.bits()
    n = builder.ashr(builder.sub(bits, x.whole(0x3F3504F3)), x.whole(23))
    m = x.of_bits(builder.sub(bits, builder.shl(n, x.whole(23))))
    return type(x)(x.w, builder.sitofp(n, x.value.type)), m


def log(x):
    """The natural logarithm."""
    small = x.is_("<", 2.0**-126)
    n, m = _split((x * 2.0**25).where(small, x))
    n = (n - 25.0).where(small, n)
    f = m - 1.0
    square = f * f
    y = (square * f).fma(f.polynomial(*_LOG), n * _LN_2_REST)
    y = n.fma(_LN_2_SHORT, f + square.fma(-0.5, y))
    y = y.where(x.is_("<", math.inf), x)
    y = (x * math.nan).where(x.is_("<", 0.0), y)
    return (x - math.inf).where(x.is_("==", 0.0), y)


def power(x, y):
    """x ** y, of normal and finite x above 0 and of finite y."""
    n, m = _split(x)
    m = m.wide()
    s = (m - 1.0) / (m + 1.0)
    logarithm = s.fma((s * s).polynomial(*_LOG2), n.wide())
    exponent = (y.wide() * logarithm).above(-400.0).below(400.0)
    whole = exponent + _TO_WHOLE_64
    result = (exponent - (whole - _TO_WHOLE_64)).polynomial(*_EXP2)
    bits = x.builder.add(result.bits(), x.builder.shl(whole.bits(), result.whole(52)))
    return result.of_bits(bits).narrow()


def _turned(x, quarters):
    """sin(x + quarters * pi / 2) for |x| <= TURNS"""
    wide, builder = x.wide(), x.builder
    power = wide.fma(2 / math.pi, _TO_WHOLE_64)
    n = power - _TO_WHOLE_64
    r = n.fma(-_QUARTER_REST, n.fma(-_QUARTER, wide)).narrow()
    square = r * r
    sin = (square * r).fma(square.polynomial(*_SIN), r)
    cos = (square * square).fma(square.polynomial(*_COS), square.fma(-0.5, 1.0))
    kind = x.bits().type
    turns = builder.add(builder.trunc(power.bits(), kind), x.whole(quarters))
    odd = builder.trunc(turns, type(kind)(BIT, kind.count))
    sign = builder.shl(builder.and_(turns, x.whole(2)), x.whole(30))
    return x.of_bits(builder.xor(cos.where(odd, sin).bits(), sign))


def sin(x):
    """The sine, of |x| <= TURNS."""
    return _turned(x, 0)


def cos(x):
    """The cosine, of |x| <= TURNS."""
    return _turned(x, 1)


def rsqrt(x):
    """1 / sqrt(x)"""
    return 1.0 / x.root()
