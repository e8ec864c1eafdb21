"""exp, log and their like of float32, as formulas of vectors (_formula.py).

Each result is off by at most 4 units in the last place, denormals included; one of 1,000 of gelu of
|x| up to 6 is off by up to 7 where vectors have no `piecewise`.
"""

import math

import numpy as np

from ._formula import TO_WHOLE as _TO_WHOLE
from ._formula import has_pieces
from ._pieces import Pieces, coefficients

_TO_WHOLE_64 = 1.5 * 2.0**52
"""As _TO_WHOLE, of float64."""
_WHOLE_BITS = 0x4B400000  # of _TO_WHOLE
_TO_EIGHTHS = 1.5 * 2.0**20
"""What is added to this is rounded to an eighth in the low bits."""
_FRACTION = 2.0**-64  # what makes 2 ** n of that, rounded once where it is denormal
_LN_2 = math.log(2)
_LOG2_E, _LOG2_E_LOW = 1.4426950216293335, 1.925963033500e-8  # a float32, and what it lacks
_LN_2_HIGH, _LN_2_LOW = 0.693359375, -2.12194440e-4  # few bits, and what they lack
_UNDERFLOW, _OVERFLOW = -104.0, 89.0  # where exp is 0 and infinite
_NEGLIGIBLE = 20.0  # where 1 + exp(x) is exp(x)
_EXP = (0.16666520483, 0.041666387147, 0.0083687415462, 0.0013941993130)
"""exp(r) = 1 + r + r^2 / 2 + r^3 (_EXP[0] + r _EXP[1] ...) between -log(2) / 2 and log(2) / 2."""
_LOG = (
    -0.5,
    0.3333390951156616,
    -0.2500133514404297,
    0.199631005525589,
    -0.16577652096748352,
    0.14914511144161224,
    -0.14266929030418396,
    0.08700373768806458,
)
"""log(1 + f) = f + f^2 (_LOG[0] + f _LOG[1] ...) from sqrt(1 / 2) to sqrt(2)."""
_TANH_NUMERATOR = (0.8999999761581421, 0.026791108772158623, 0.0001027218604576774)
_TANH_DENOMINATOR = (
    1.7999999523162842,
    0.20358213782310486,
    0.0021706977859139442,
    2.2080866983742453e-06,
)
_TANH_END = 9.050008773803711
"""tanh(x / 2) = x (_TANH_NUMERATOR[0] + x^2 ...) / (_TANH_DENOMINATOR[0] + x^2 ...) up to
_TANH_END, where `tanh` is rounded to 1."""
_SIN = (-0.16666659712791443, 0.008333069272339344, -0.00019809776858892292, 2.606095677037956e-06)
"""sin(r) = r + r^3 (_SIN[0] + r^2 _SIN[1] ...) between -pi / 2 and pi / 2."""
_TAIL_NUMERATOR = (
    1.2404838800430298,
    1.1045271158218384,
    0.46692416071891785,
    0.10488030314445496,
    0.010797672905027866,
)
_TAIL_DENOMINATOR = (
    1.9081881046295166,
    3.2215662002563477,
    2.3345835208892822,
    0.9208338260650635,
    0.20220571756362915,
    0.020817162469029427,
)
_HALF_LOG2_E = _LOG2_E / 2
"""P(normal variable > a) = 2^(-a^2 _HALF_LOG2_E) _EXP2_FACTOR (_TAIL_NUMERATOR[0] + ...) /
(_TAIL_DENOMINATOR[0] + ...), where _HALF_LOG2_E is the float32 next to it."""
_NEAR_NUMERATOR = (36.69192886352539, 24.55023956298828, 7.665269374847412, 1.0)
_NEAR_DENOMINATOR = (
    56.441776275634766,
    82.79850006103516,
    49.6358757019043,
    14.746785163879395,
    1.929093360900879,
)
"""The same quotient up to _USUAL_GELU."""
USUAL_EXP, _USUAL_GELU = 87.0, 6.0
"""How large |x| may be where exp and gelu take their shorter forms."""
_FARTHEST, _FARTHEST_TANH = 15.0, 11.0
"""Where the normal distribution, and its approximation by tanh, end in float32."""
_CUBE = 0.044715 * math.sqrt(8 / math.pi) / math.log(2)
_GELU_SCALE, _GELU_SCALE_LOW = 0.10294324159622192, -1.9585535e-8
_GELU_OFFSET, _GELU_OFFSET_LOW = 22.36328125, 1 / 0.044715 - 22.36328125
"""exp(-2 u) of gelu_tanh is 2 ** (-a _GELU_SCALE (a^2 + _GELU_OFFSET)) of exact numbers: these are
what float32 has of them, the offset in few bits, and what they lack, relative to the scale."""
_CURVE = math.sqrt(2 / math.pi)
_GELU_PIECES = Pieces(lambda a: a * math.erfc(a / math.sqrt(2)) / 2, 5.0, 5)
_GELU_TANH_PIECES = Pieces(lambda a: a / (1 + math.exp(2 * _CURVE * (a + 0.044715 * a**3))), 4.5, 5)
"""What is taken from max(x, 0), and how large |x| may be then."""
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
_EXP2_FACTOR = 0.7691305875778198
"""Its products with 2^(i / 8) hardly differ from float32."""
_EXP2_EIGHTH = (0.6931472420692444, 0.2402576208114624, 0.05549206957221031)
"""2^r - 1 = r (_EXP2_EIGHTH[0] + r ...) between -1 / 16 and 1 / 16."""
_PI = (3.1415927410125732, -8.742277657347586e-08, -3.4302490200960116e-15)
_PI_64, _PI_64_LOW = 3.1415926534682512, 1.2154201013012385e-10
"""pi as the sum of three float32, and of a float64 of 33 bits and what it lacks."""
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


def _scaled(y, power):
    """y * 2 ** n, where `power` is n + _TO_WHOLE and both y and the result are normal."""
    builder = y.builder
    return y.of_bits(builder.add(y.bits(), builder.shl(power.bits(), y.splat_int(23))))


def _exponent(x, offset):
    """n + offset and r, where exp(x) = 2 ** (n + r) and n what `offset` rounds to."""
    power = x.fma(_LOG2_E, offset)
    return power, x.fma(_LOG2_E_LOW, x.fms(_LOG2_E, power - offset))


def _offset(x):
    """What rounds to the n of `_exp2`."""
    return _TO_EIGHTHS if x.has_tables else _TO_WHOLE


def _exp2(power, r, scale):
    """y, and p or None, where scale * 2 ** (n + r) is y + y p; `power` is n + `_offset`."""
    builder = power.builder
    if not power.has_tables:
        return _scaled(r.paired(*(scale * c for c in _EXP2_SHORT)), power), None
    table = np.float32(scale * 2.0 ** (np.arange(8) / 8)).view(np.int32) - (np.arange(8) << 20)
    exponent = builder.shl(power.bits(), power.splat_int(20))
    y = power.of_bits(builder.add(power.look_up(table.tolist()), exponent))
    return y, r * r.polynomial(*_EXP2_EIGHTH)


def _exp_times(x, n, scale=1.0):
    """exp(x) * scale * 2 ** n, a normal number."""
    offset = _offset(x)
    power, r = _exponent(x, offset + n)
    y, p = _exp2(power, r, scale)
    return y if p is None else y.fma(p, y)


def exp(x):
    """The exponential."""
    power, r = _exponent(x.maximum(_UNDERFLOW).minimum(_OVERFLOW), _TO_WHOLE)
    return _times_power(r.paired(*_EXP2_SHORT), power)


def exp_usual(x):
    """`exp` of |x| up to USUAL_EXP."""
    return _exp_times(x, 0.0)


def expm1(x):
    """exp(x) - 1, of x within [-88, 88]."""
    power = x.fma(_LOG2_E, _TO_WHOLE)
    n = power - _TO_WHOLE
    r = n.fma(-_LN_2_LOW, n.fma(-_LN_2_HIGH, x))
    small = (r * r).fma(r.paired(0.5, *_EXP), r)
    scale = _power_of_2(x, power.bits(), 127 - _WHOLE_BITS)
    return scale.fma(small, scale - 1.0)


def exp_nonpositive(x):
    """The exponential of what is not positive, 2 ** 64 too large: so it is never denormal."""
    return _exp_times(x.maximum(_UNDERFLOW), 64.0)


def logistic(x):
    """e / (1 + e), where e = exp(x); e and the 1 are 2 ** 64 too large"""
    y = _exp_times(x.maximum(_UNDERFLOW).minimum(_NEGLIGIBLE), 64.0)
    return y / (y + 1.0 / _FRACTION)


def tanh(x):
    """2 t / (1 + t^2), where t is that of x / 2: errors of it matter less, the nearer it is to 1"""
    x = x.maximum(-_TANH_END).minimum(_TANH_END)
    square = x * x
    n, d = x * square.polynomial(*_TANH_NUMERATOR), square.polynomial(*_TANH_DENOMINATOR)
    return ((n + n) * d) / n.fma(n, d * d)


def elu(x):
    """x, or exp(x) - 1 where x is negative"""
    return expm1(x.maximum(-20.0)).where(x.compare("<", 0.0), x)


def gelu_power(x):
    """_EXP2_FACTOR * exp(-x^2 / 2), 2 ** 64 too large: so it is never denormal."""
    square, error = x.abs().limited(_FARTHEST).square()
    offset = _offset(x) + 64.0
    power = square.fma(-_HALF_LOG2_E, offset)
    r = error.fma(-_HALF_LOG2_E, square.fms(-_HALF_LOG2_E, power - offset))
    y, p = _exp2(power, r, _EXP2_FACTOR)
    return y if p is None else y.fma(p, y)


def gelu_near(x, y):
    """max(x, 0) - a * P(normal variable > a), where a = |x| is usual and y = gelu_power(x)"""
    a = x.abs()
    ratio = (a * a.polynomial(*_NEAR_NUMERATOR)) / a.polynomial(*_NEAR_DENOMINATOR)
    return (ratio * y).fma(-_FRACTION, x.rectified())


def gelu_far(x, y):
    """The same of any x; even and odd powers by themselves round the least."""
    a = x.abs().limited(_FARTHEST)
    square = a * a
    even, odd = (square.polynomial(*_TAIL_NUMERATOR[i::2]) for i in (0, 1))
    numerator = square.fma(odd, a * even)
    even, odd = (square.polynomial(*_TAIL_DENOMINATOR[i::2]) for i in (0, 1))
    return (numerator / a.fma(odd, even) * y).fma(-_FRACTION, _rectified(x))


def gelu(x):
    """x * P(normal variable < x)"""
    return gelu_far(x, gelu_power(x))


def _in_pieces(a, pieces):
    """A function that is known by pieces, of `a` from 0 to their end.

    Where vectors have none no kernel calls this.
    """
    if not has_pieces(a.w.simd):
        return a
    return a.piecewise(pieces.scale, coefficients(pieces))


def is_any(x):
    """Everywhere."""
    return x.builder.icmp_signed("==", x.bits(), x.bits())


def is_usual_gelu(x):
    """Where `gelu_near` may be taken."""
    return x.is_up_to(_USUAL_GELU)


def is_in_gelu_pieces(x):
    """Where `gelu_pieces` may be taken."""
    return x.is_up_to(_GELU_PIECES.end)


def gelu_pieces(x):
    """`gelu` of numbers near 0."""
    return x.rectified() - _in_pieces(x.abs(), _GELU_PIECES)


def gelu_tanh_power(x):
    """_EXP2_FACTOR * exp(-2 |u|), 2 ** 64 too large, as denormal quotients are slow.

    u is sqrt(2 / pi) * (x + 0.044715 x^3).
    """
    power, r = _cubic(x.abs().limited(_FARTHEST_TANH), _offset(x))
    y, p = _exp2(power, r, _EXP2_FACTOR / _FRACTION)
    return y if p is None else y.fma(p, y)


def gelu_tanh_far(x, y):
    """max(x, 0) - a / (1 + exp(2 |u|)), where a = |x| and y = gelu_tanh_power(x)"""
    a = x.abs().limited(_FARTHEST_TANH)
    part = (a * y) / y.fma(_FRACTION, _EXP2_FACTOR)
    return part.fma(-_FRACTION, _rectified(x))


def gelu_tanh(x):
    """x * (1 + tanh(u)) / 2"""
    return gelu_tanh_far(x, gelu_tanh_power(x))


def is_in_gelu_tanh_pieces(x):
    """Where `gelu_tanh_pieces` may be taken."""
    return x.is_up_to(_GELU_TANH_PIECES.end)


def gelu_tanh_pieces(x):
    """`gelu_tanh` of numbers near 0."""
    return x.rectified() - _in_pieces(x.abs(), _GELU_TANH_PIECES)


def _cubic(a, offset):
    """n + offset and r, where exp(-2 u) of gelu_tanh is 2 ** (n + r), of a from 0 to 11."""
    if not a.w.simd.fused:
        a64 = a.to_float64()
        u = a64 * (a64 * a64).fma(-_CUBE, -_CUBE / 0.044715)
        n = u + _TO_WHOLE_64 - _TO_WHOLE_64
        return n.to_float32() + offset, (u - n).to_float32()
    high = a.fma(a, _GELU_OFFSET)
    low = a.fma(a, _GELU_OFFSET - high) + _GELU_OFFSET_LOW
    scaled = a * -_GELU_SCALE
    power = scaled.fma(high, offset)
    n = power - offset
    correction = scaled.fma(low, a.fma(-_GELU_SCALE, -scaled) * high)
    return power, scaled.fma(high, -n) + n.fma(_GELU_SCALE_LOW, correction)


def _rectified(x):
    """max(x, 0); nan for negative infinity, where TFLite's GELU multiplies it by 0."""
    return x - x.negative_part()


def _split(x):
    """The whole n and the m from sqrt(1 / 2) to sqrt(2) with x = m * 2 ** n, of normal numbers."""
    builder, bits = x.builder, x.bits()
    n = builder.ashr(builder.sub(bits, x.splat_int(0x3F3504F3)), x.splat_int(23))
    m = x.of_bits(builder.sub(bits, builder.shl(n, x.splat_int(23))))
    return type(x)(x.w, builder.sitofp(n, x.value.type)), m


def _logarithm(n, m):
    """log(m * 2 ** n)"""
    f = m - 1.0
    square = f * f
    y = square.fma(f.paired(*_LOG), n * _LN_2_LOW)
    return n.fma(_LN_2_HIGH, f + y)


def log(x):
    """The natural logarithm."""
    small = x.compare("<", 2.0**-126)
    n, m = _split((x * 2.0**25).where(small, x))
    y = _logarithm((n - 25.0).where(small, n), m)
    y = y.where(x.compare("<", math.inf), x)
    y = (x * math.nan).where(x.compare("<", 0.0), y)
    return (x - math.inf).where(x.compare("==", 0.0), y)


def log_normal(x):
    """`log` of positive normal numbers."""
    return _logarithm(*_split(x))


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


def _sin_of(x, offset, power):
    """(-1) ** n sin(x - (n + offset) pi), where `power` is n + _TO_WHOLE."""
    n = power - _TO_WHOLE + offset if offset else power - _TO_WHOLE
    if x.w.simd.fused:
        r = x
        for part in _PI:
            r = n.fma(-part, r)
    else:
        n = n.to_float64()
        r = n.fma(-_PI_64_LOW, n.fma(-_PI_64, x.to_float64())).to_float32()
    square = r * r
    y = (r * square).fma(square.polynomial(*_SIN), r)
    return y.of_bits(x.builder.xor(y.bits(), x.builder.shl(power.bits(), x.splat_int(31))))


def sin(x):
    """The sine, of |x| <= MAX_ANGLE."""
    return _sin_of(x, 0.0, x.fma(1 / math.pi, _TO_WHOLE))


def cos(x):
    """The cosine, of |x| <= MAX_ANGLE: -sin(x - pi / 2)."""
    return -_sin_of(x, 0.5, x.fma(1 / math.pi, -0.5) + _TO_WHOLE)


def rsqrt(x):
    """1 / sqrt(x)"""
    return x.rsqrt()


def rsqrt_normal(x):
    """`rsqrt` of positive normal numbers."""
    return x.rsqrt_normal()
