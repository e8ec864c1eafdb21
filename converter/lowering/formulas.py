"""Formulas that sources have an operation for and TFLite has not, on the Builder.

Each takes the Builder and Tensors; passes find the operators that TFLite does have for a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .moves import as_type, like, transposed

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
"""Of Klambauer et al. 2017 (arXiv:1706.02515)."""
BROADCAST_RANK = 4
"""Dimensions of a broadcast that SQUARED_DIFFERENCE takes in every runtime."""

POWERS = 64
"""Exponents from which on powers of int64 other than of -1, 0 and 1 overflow."""


def reciprocal(b: Builder, x: Tensor) -> Tensor:
    """1 / x."""
    return b.DIV(like(x, 1, b), x)


def softsign(b: Builder, x: Tensor) -> Tensor:
    """x / (|x| + 1)."""
    return b.DIV(x, b.ADD(b.ABS(x), like(x, 1, b)))


def softplus(b: Builder, x: Tensor) -> Tensor:
    """log(exp(x) + 1), also where exp(x) is infinite; nan of nan."""
    return b.SUB(b.RELU(x), b.LOG(b.LOGISTIC(b.ABS(x))))


def elu(b: Builder, x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where positive, alpha * (exp(x) - 1) elsewhere."""
    return b.ELU(x) if alpha == 1 else b.ADD(_scaled_negative_part(b, x, alpha), b.RELU(x))


def selu(b: Builder, x: Tensor, scale: float = SELU_SCALE, alpha: float = SELU_ALPHA) -> Tensor:
    """scale * elu(x, alpha)."""
    return b.ADD(_scaled_negative_part(b, x, scale * alpha), b.MUL(b.RELU(x), like(x, scale, b)))


def _scaled_negative_part(b: Builder, x: Tensor, alpha: float) -> Tensor:
    """alpha * (exp(x) - 1) where negative, 0 elsewhere."""
    return b.MUL(b.ELU(b.MINIMUM(x, like(x, 0, b))), like(x, alpha, b))


def prelu(b: Builder, x: Tensor, slope: Tensor) -> Tensor:
    """x where positive, slope * x elsewhere; the slope is broadcast by numpy's rule."""
    return b.ADD(b.RELU(x), b.MUL(b.MINIMUM(x, like(x, 0, b)), slope))


def integer_power(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    """x ** y of integers, exact; of int64, which POW lacks, by squaring.

    x ** -y is 1 / x ** y without its fraction, where TFLite's POW refuses to run.
    """
    if x.dtype != np.int64:
        return as_type(b.POW(as_type(x, np.int32, b), as_type(y, np.int32, b)), x.dtype, b)
    if y.value is not None and y.value.size == 1 and y.rank == 0 and y.value > 0:
        return _power_of_constant(b, x, _congruent(int(y.value)))
    y = as_type(y, np.int64, b)
    is_truncated = b.LOGICAL_AND(b.LESS(y, np.int64(0)), b.GREATER(b.ABS(x), np.int64(1)))
    x = b.SELECT_V2(is_truncated, np.int64(0), x)
    y = b.ABS(y)
    parity = b.FLOOR_MOD(y, np.int64(2))
    y = b.CAST(b.MINIMUM(y, b.ADD(parity, np.int64(POWERS - 2))), dtype=np.int32)
    power = b.SELECT_V2(b.EQUAL(parity, np.int64(1)), x, np.int64(1))
    for bit in range(1, POWERS.bit_length() - 1):
        x = b.MUL(x, x)
        shifted = b.FLOOR_DIV(y, np.int32(1 << bit))
        is_set = b.EQUAL(b.FLOOR_MOD(shifted, np.int32(2)), np.int32(1))
        power = b.SELECT_V2(is_set, b.MUL(power, x), power)
    return power


def _congruent(exponent: int) -> int:
    """The exponent, or one that -1, 0 and 1 have the same power of, where others overflow."""
    return min(exponent, POWERS - 2 + exponent % 2)


def _power_of_constant(b: Builder, x: Tensor, exponent: int) -> Tensor:
    """x ** exponent of int64, by its bits from the first."""
    power = x
    for bit in f"{exponent:b}"[1:]:
        power = b.MUL(power, power)
        if bit == "1":
            power = b.MUL(power, x)
    return power


def clip(b: Builder, x: Tensor, low: Tensor | None, high: Tensor | None) -> Tensor:
    """min(max(x, low), high), without what is None."""
    x = x if low is None else b.MAXIMUM(x, low)
    return x if high is None else b.MINIMUM(x, high)


def hard_sigmoid(b: Builder, x: Tensor, alpha: float, beta: float) -> Tensor:
    """min(max(alpha * x + beta, 0), 1)."""
    line = b.ADD(b.MUL(x, like(x, alpha, b)), like(x, beta, b))
    return clip(b, line, like(x, 0, b), like(x, 1, b))


def is_nan(b: Builder, x: Tensor) -> Tensor:
    """x != x."""
    return b.NOT_EQUAL(x, x)


def is_wide_integer(x: Tensor) -> bool:
    """Whether products of matrices of a tensor have no kernel."""
    return x.dtype.kind in "iu" and x.dtype.itemsize >= np.dtype(np.int32).itemsize


def matmul(
    b: Builder, left: Tensor, right: Tensor, adj_x: bool = False, adj_y: bool = False
) -> Tensor:
    """left @ right; of wide integers as sums of products, [..., m, k, 1] * [..., 1, k, n]."""
    if not is_wide_integer(left):
        return b.BATCH_MATMUL(left, right, adj_x=adj_x, adj_y=adj_y)
    left = _last_axes_swapped(b, left) if adj_x else left
    right = _last_axes_swapped(b, right) if adj_y else right
    columns, rows = b.EXPAND_DIMS(left, np.int32(-1)), b.EXPAND_DIMS(right, np.int32(-3))
    return b.SUM(b.MUL(columns, rows), np.array([-2], np.int32))


def _last_axes_swapped(b: Builder, x: Tensor) -> Tensor:
    *others, row, column = range(len(x.sizes or ()))
    return transposed(x, (*others, column, row), b)


def standardized(
    b: Builder, x: Tensor, axes: Any, epsilon: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """(x with mean 0 and variance 1 over some axes, the mean, 1 / the deviation)."""
    mean = b.MEAN(x, axes, keep_dims=True)
    if square_of_difference(x.rank) == "SQUARED_DIFFERENCE":
        square = b.SQUARED_DIFFERENCE(x, mean)
    else:
        square = b.SQUARE(b.SUB(x, mean))
    inverse = b.RSQRT(b.ADD(b.MEAN(square, axes, keep_dims=True), epsilon))
    return b.MUL(b.SUB(x, mean), inverse), mean, inverse


def square_of_difference(rank: int | None) -> str:
    """The operator for (x - y) ** 2 where y is broadcast; SQUARE has no int8 kernel."""
    return "SQUARE" if rank is None or rank > BROADCAST_RANK else "SQUARED_DIFFERENCE"


def scaled(b: Builder, x: Tensor, scale: Tensor | None, offset: Tensor | None) -> Tensor:
    """x * scale + offset, without what is None."""
    x = x if scale is None else b.MUL(x, scale)
    return x if offset is None else b.ADD(x, offset)


def folded_batch_norm(
    b: Builder,
    x: Tensor,
    parameters: Sequence[np.ndarray],
    epsilon: float,
    channel_shape: Sequence[int],
) -> Tensor:
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, as x * scale + offset.

    Args:
        b: the builder.
        x: the tensor.
        parameters: gamma, beta, mean and variance, a number for each channel.
        epsilon: keeps a variance of 0 from being divided by.
        channel_shape: of the scale and the offset, which are computed in float64.
    """
    gamma, beta, mean, variance = (values.astype(np.float64) for values in parameters)
    with np.errstate(all="ignore"):  # nan for a negative variance, as TensorFlow has it
        scale = gamma / np.sqrt(variance + epsilon)
        offset = beta - mean * scale
    factors = (np.reshape(values, channel_shape).astype(x.dtype) for values in (scale, offset))
    return scaled(b, x, *map(b.constant, factors))


def acos(b: Builder, x: Tensor) -> Tensor:
    """The angle of the point (x, sqrt((1 - x) (1 + x))) of the upper half circle."""
    return b.ATAN2(_height(b, x), x)


def asin(b: Builder, x: Tensor) -> Tensor:
    """The angle of the point (sqrt((1 - x) (1 + x)), x) of the right half circle."""
    return b.ATAN2(x, _height(b, x))


def atan(b: Builder, x: Tensor) -> Tensor:
    """The angle of the point (1, x)."""
    return b.ATAN2(x, like(x, 1, b))


def acosh(b: Builder, x: Tensor) -> Tensor:
    """log(x + sqrt((x - 1) (x + 1)))."""
    one = like(x, 1, b)
    root = b.SQRT(b.MUL(b.SUB(x, one), b.ADD(x, one)))
    return b.LOG(b.ADD(x, root))


def asinh(b: Builder, x: Tensor) -> Tensor:
    """sign(x) * log(|x| + sqrt(x ** 2 + 1))."""
    size = b.ABS(x)
    root = b.SQRT(b.ADD(b.SQUARE(x), like(x, 1, b)))
    return b.MUL(b.SIGN(x), b.LOG(b.ADD(size, root)))


def atanh(b: Builder, x: Tensor) -> Tensor:
    """log((1 + x) / (1 - x)) / 2."""
    one = like(x, 1, b)
    return b.MUL(b.LOG(b.DIV(b.ADD(one, x), b.SUB(one, x))), like(x, 0.5, b))


def cosh(b: Builder, x: Tensor) -> Tensor:
    """(exp(x) + exp(-x)) / 2."""
    return b.MUL(b.ADD(b.EXP(x), b.EXP(b.NEG(x))), like(x, 0.5, b))


def sinh(b: Builder, x: Tensor) -> Tensor:
    """(exp(x) - exp(-x)) / 2."""
    return b.MUL(b.SUB(b.EXP(x), b.EXP(b.NEG(x))), like(x, 0.5, b))


def _height(b: Builder, x: Tensor) -> Tensor:
    """sqrt((1 - x) (1 + x)), exact where x is near 1, and not a number beyond."""
    one = like(x, 1, b)
    return b.SQRT(b.MUL(b.SUB(one, x), b.ADD(one, x)))


def erf(b: Builder, x: Tensor) -> Tensor:
    """The error function within 1.5e-7: sign(x) * (1 - erfc(|x|))."""
    tail = erfc(b, b.ABS(x))
    return b.MUL(b.SIGN(x), b.SUB(like(x, 1, b), tail))


def erfc(b: Builder, x: Tensor) -> Tensor:
    """1 - erf(x) of numbers that are not negative, by Abramowitz and Stegun 7.1.26.

    (a1 t + ... + a5 t^5) exp(-x^2) with t = 1 / (1 + p x)
    """
    p, *a = 0.3275911, 0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429
    one = like(x, 1, b)
    t = b.DIV(one, b.ADD(b.MUL(x, like(x, p, b)), one))
    terms = b.MUL(t, like(x, a[-1], b))
    for coefficient in reversed(a[:-1]):
        terms = b.MUL(b.ADD(terms, like(x, coefficient, b)), t)
    return b.MUL(terms, b.EXP(b.NEG(b.SQUARE(x))))


GILES = (
    (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
     -0.00417768164, 0.246640727, 1.50140941),
    (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
     0.00943887047, 1.00167406, 2.83297682),
)  # fmt: skip
"""Coefficients of `erfinv`, highest power first: near the middle, and in the tails."""


def erfinv(b: Builder, x: Tensor) -> Tensor:
    """The inverse of the error function in float32; infinite at 1 and -1.

    Source: Giles, Approximating the erfinv function, GPU Computing Gems, 2010.
    """
    one = like(x, 1, b)
    w = b.NEG(b.LOG(b.MUL(b.SUB(one, x), b.ADD(one, x))))
    middle = polynomial(b, b.SUB(w, like(x, 2.5, b)), GILES[0])
    tail = polynomial(b, b.SUB(b.SQRT(w), like(x, 3, b)), GILES[1])
    near = b.MUL(b.SELECT_V2(b.LESS(w, like(x, 5, b)), middle, tail), x)
    at_end = b.EQUAL(b.ABS(x), one)
    return b.SELECT_V2(at_end, b.MUL(x, like(x, np.inf, b)), near)


def polynomial(b: Builder, x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Powers of `x` times coefficients, highest power first."""
    result = like(x, coefficients[0], b)
    for coefficient in coefficients[1:]:
        result = b.ADD(b.MUL(result, x), like(x, coefficient, b))
    return result
