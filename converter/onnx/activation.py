"""Activations and other functions of single numbers that are formulas of builtins."""

from __future__ import annotations

import numpy as np

from ..lowering import formulas
from ..lowering.moves import like, transposed
from .registry import lower

LARGEST_FINITE = {kind: np.finfo(kind).max for kind in ("float16", "float32", "float64")}


@lower("Asinh")
def asinh(node, b):
    """sign(x) * log(|x| + sqrt(x^2 + 1)), as log(1 + small) near 0 by its series."""
    (x,) = node.inputs
    size, one = b.ABS(x), like(x, 1, b)
    root = b.SQRT(b.ADD(b.SQUARE(x), one))
    # |x| + root - 1 = |x| + x^2 / (root + 1) keeps the digits of a small x
    small = b.ADD(size, b.DIV(b.SQUARE(x), b.ADD(root, one)))
    return b.MUL(b.SIGN(x), log1p(b, small))


def log1p(b, x):
    """log(1 + x) to float rounding: what 1 + x loses of x is made up for to the first order."""
    one = like(x, 1, b)
    total = b.ADD(x, one)
    correction = b.DIV(b.SUB(x, b.SUB(total, one)), total)
    return b.ADD(b.LOG(total), correction)


@lower("Acosh")
def acosh(node, b):
    """log(1 + y) with y = x - 1 + sqrt((x - 1) (x + 1))."""
    (x,) = node.inputs
    one = like(x, 1, b)
    below = b.SUB(x, one)
    return log1p(b, b.ADD(below, b.SQRT(b.MUL(below, b.ADD(x, one)))))


@lower("Atanh")
def atanh(node, b):
    """log(1 + 2 x / (1 - x)) / 2."""
    (x,) = node.inputs
    ratio = b.DIV(b.MUL(x, like(x, 2, b)), b.SUB(like(x, 1, b), x))
    return b.MUL(log1p(b, ratio), like(x, 0.5, b))


@lower("Cosh")
def cosh(node, b):
    """(e^x + e^-x) / 2."""
    (x,) = node.inputs
    return b.MUL(b.ADD(b.EXP(x), b.EXP(b.NEG(x))), like(x, 0.5, b))


@lower("Sinh")
def sinh(node, b):
    """(e^x - e^-x) / 2, near 0 by its series."""
    (x,) = node.inputs
    square = b.SQUARE(x)
    series = b.ADD(b.MUL(square, like(x, 1 / 120, b)), like(x, 1 / 6, b))
    near = b.ADD(x, b.MUL(b.MUL(series, square), x))
    far = b.MUL(b.SUB(b.EXP(x), b.EXP(b.NEG(x))), like(x, 0.5, b))
    return b.SELECT_V2(b.LESS(b.ABS(x), like(x, 0.25, b)), near, far)


@lower("Tan")
def tan(node, b):
    """sin(x) / cos(x)."""
    (x,) = node.inputs
    return b.DIV(b.SIN(x), b.COS(x))


@lower("IsInf")
def is_inf(node, b):
    """Whether an element is infinite, of the signs that are asked for."""
    (x,) = node.inputs
    largest = like(x, LARGEST_FINITE[x.dtype.name], b)
    positive, negative = node.attr("detect_positive", 1), node.attr("detect_negative", 1)
    if positive and negative:
        return b.GREATER(b.ABS(x), largest)
    if positive:
        return b.GREATER(x, largest)
    if negative:
        return b.LESS(x, like(x, -LARGEST_FINITE[x.dtype.name], b))
    return b.LESS(b.ABS(x), like(x, 0, b))


@lower("Swish")
def swish(node, b):
    """x * sigmoid(alpha * x)."""
    (x,), alpha = node.inputs, node.attr("alpha", 1.0)
    return b.MUL(x, b.LOGISTIC(x if alpha == 1 else b.MUL(x, like(x, alpha, b))))


@lower("Mish")
def mish(node, b):
    """x * tanh(softplus(x))."""
    (x,) = node.inputs
    return b.MUL(x, b.TANH(formulas.softplus(b, x)))


@lower("ThresholdedRelu")
def thresholded_relu(node, b):
    """x above alpha, 0 elsewhere."""
    (x,) = node.inputs
    above = b.GREATER(x, like(x, node.attr("alpha", 1.0), b))
    return b.SELECT_V2(above, x, like(x, 0, b))


@lower("Celu")
def celu(node, b):
    """x where positive, alpha * (exp(x / alpha) - 1) elsewhere."""
    (x,), alpha = node.inputs, node.attr("alpha", 1.0)
    if alpha == 1:
        return b.ELU(x)
    negative = b.ELU(b.MUL(b.MINIMUM(x, like(x, 0, b)), like(x, 1 / alpha, b)))
    return b.ADD(b.RELU(x), b.MUL(negative, like(x, alpha, b)))


@lower("Hardmax")
def hardmax(node, b):
    """1 at the first largest element along an axis, 0 elsewhere."""
    x, shape = node.inputs[0], node.shape()
    axis = node.axis(node.attr("axis", -1 if node.opset >= 13 else 1))
    if node.opset < 13 and axis != node.rank() - 1:
        node.require(None not in shape, f"the sizes must be known, got {shape}")
        flat = b.RESHAPE(x, np.asarray([-1, np.prod(shape[axis:])], np.int32))
        return b.RESHAPE(_first_largest(b, flat, 1), np.asarray(shape, np.int32))
    return _first_largest(b, x, axis)


def _first_largest(b, x, axis):
    node_axis = b.constant(np.int32(axis))
    index = b.ARG_MAX(x, node_axis, dtype=np.int32, output_type=b.tensor_type(np.int32))
    size = b.GATHER(b.SHAPE(x, out_type="INT32"), b.constant(np.int32(axis)))
    is_largest = b.ONE_HOT(index, size, like(x, 1, b), like(x, 0, b), axis=-1)
    rank = x.rank
    order = [*range(axis), rank - 1, *range(axis, rank - 1)]
    return transposed(is_largest, order, b)


@lower("Shrink")
def shrink(node, b):
    """x moved towards 0 by a bias where it is beyond a limit, 0 elsewhere."""
    (x,), limit = node.inputs, node.attr("lambd", 0.5)
    bias = like(x, node.attr("bias", 0.0), b)
    low, high = b.LESS(x, like(x, -limit, b)), b.GREATER(x, like(x, limit, b))
    inner = b.SELECT_V2(low, b.ADD(x, bias), like(x, 0, b))
    return b.SELECT_V2(high, b.SUB(x, bias), inner)
