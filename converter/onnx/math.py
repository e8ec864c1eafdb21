"""Elementwise operators: unary, binary, comparison, logic, activations."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ..lowering import formulas
from ..lowering.moves import as_type, like
from .registry import lower, lower_rows

BOOLEAN_MASK = 10  # operator set since which the mask of Dropout is a boolean

lower_rows(
    {
        "Abs": "ABS",
        "Add": "ADD",
        "And": "LOGICAL_AND",
        "Ceil": "CEIL",
        "Cos": "COS",
        "Div": "DIV",
        "Equal": "EQUAL",
        "Erf": "ERF",
        "Exp": "EXP",
        "Floor": "FLOOR",
        "Greater": "GREATER",
        "GreaterOrEqual": "GREATER_EQUAL",
        "HardSwish": "HARD_SWISH",
        "Less": "LESS",
        "LessOrEqual": "LESS_EQUAL",
        "Log": "LOG",
        "Mul": "MUL",
        "Neg": "NEG",
        "Not": "LOGICAL_NOT",
        "Or": "LOGICAL_OR",
        "Relu": "RELU",
        "Round": "ROUND",
        "Sigmoid": "LOGISTIC",
        "Sign": "SIGN",
        "Sin": "SIN",
        "Sqrt": "SQRT",
        "Sub": "SUB",
        "Tanh": "TANH",
        "Where": "SELECT_V2",
    }
)

FOLDED = {"Max": "MAXIMUM", "Min": "MINIMUM", "Sum": "ADD"}


@lower(*FOLDED)
def folded(node, b):
    """A binary operator over any number of inputs."""
    return reduce(getattr(b, FOLDED[node.type]), node.inputs)


@lower("Mean")
def mean(node, b):
    """The mean of the inputs, element by element."""
    total = reduce(b.ADD, node.inputs)
    return b.MUL(total, like(total, 1 / len(node.inputs), b))


@lower("Identity")
def identity(node, b):
    """The input itself."""
    return node.inputs[0]


@lower("Dropout")
def dropout(node, b):
    """The input itself, and a mask of all of it; nothing is dropped in inference.

    Before operator set 10 ONNX Runtime gives zeros of the input's type as the mask.
    """
    x = node.inputs[0]
    training = node.input(2) is not None and bool(node.constant(2))
    ratio = node.known(1) if node.input(1) is not None else 0.5
    drops = training and (ratio is None or np.any(ratio))
    node.require(not drops, "training_mode must be false: random numbers are not supported")
    if not node.has_output(1):
        return x
    shape = b.SHAPE(x, out_type="INT32")
    mask = np.zeros((), x.dtype) if node.opset < BOOLEAN_MASK else np.ones((), bool)
    return x, b.FILL(shape, b.constant(mask))


@lower("Cast", "CastLike")
def cast(node, b):
    """Elements as another type."""
    x = node.inputs[0]
    to = node.dtype("to") if node.type == "Cast" else node.inputs[1].dtype
    return x if x.dtype == to else b.CAST(x, dtype=to)


@lower("Xor")
def xor(node, b):
    """One or the other, not both."""
    return b.NOT_EQUAL(*node.inputs)


@lower("Pow")
def power(node, b):
    """x ** y; the exponent may have another type than the base.

    ONNX Runtime computes powers of integers by fractions in float64, and cuts them off.
    """
    x, y = node.inputs
    if x.dtype.kind != "f" and _are_whole(y):
        least = 0 if y.value is None or not y.value.size else y.value.min()
        node.require(least >= 0, f"exponents of integers must not be negative, got {least}")
        return formulas.integer_power(b, x, as_type(y, x.dtype, b))
    if x.dtype == np.float32 and y.dtype == x.dtype:
        return b.POW(x, y)
    if x.dtype.kind == "f" and y.value is not None:
        return b.POW(x, like(x, y.value, b))
    if x.dtype.kind != "f":
        node.block.other_floats.computes_in_float64(node)
    return as_type(b.POW(as_type(x, np.float32, b), as_type(y, np.float32, b)), x.dtype, b)


def _are_whole(y):
    """Whether exponents are integers; those of float32 only where they are constant."""
    if y.dtype.kind != "f":
        return True
    return y.value is not None and np.array_equal(y.value, y.value.astype(np.int32))


@lower("Mod")
def mod(node, b):
    """The rest of a division, with the divisor's sign; with fmod=1 the dividend's."""
    x, y = node.inputs
    if not node.attr("fmod", 0):
        return b.FLOOR_MOD(x, y)
    remainder = b.FLOOR_MOD(b.ABS(x), b.ABS(y))
    return b.SELECT_V2(b.LESS(x, like(x, 0, b)), b.NEG(remainder), remainder)


for _type, _formula in {
    "Acos": formulas.acos,
    "Asin": formulas.asin,
    "Atan": formulas.atan,
    "IsNaN": formulas.is_nan,
    "PRelu": formulas.prelu,
    "Reciprocal": formulas.reciprocal,
    "Softplus": formulas.softplus,
    "Softsign": formulas.softsign,
}.items():
    lower(_type)(lambda node, b, formula=_formula: formula(b, *node.inputs))


@lower("Clip")
def clip(node, b):
    """min(max(x, low), high); either may be omitted. Passes make RELUs of it."""
    x = node.inputs[0]
    if node.opset < 11:
        bounds = [node.attr(name, None) for name in ("min", "max")]
        bounds = [None if bound is None else like(x, bound, b) for bound in bounds]
    else:
        bounds = [node.input(1), node.input(2)]
    return formulas.clip(b, x, *bounds)


@lower("LeakyRelu")
def leaky_relu(node, b):
    """x where positive, alpha * x elsewhere."""
    return b.LEAKY_RELU(node.inputs[0], alpha=node.attr("alpha", 0.01))


@lower("Elu")
def elu(node, b):
    """x where positive, alpha * (exp(x) - 1) elsewhere."""
    return formulas.elu(b, node.inputs[0], node.attr("alpha", 1.0))


@lower("Selu")
def selu(node, b):
    """gamma * elu(x, alpha); the defaults are those of ONNX, rounded to float32."""
    alpha = node.attr("alpha", 1.67326319217681884765625)
    return formulas.selu(b, node.inputs[0], node.attr("gamma", 1.05070102214813232421875), alpha)


@lower("HardSigmoid")
def hard_sigmoid(node, b):
    """min(max(alpha * x + beta, 0), 1)."""
    alpha, beta = node.attr("alpha", 0.2), node.attr("beta", 0.5)
    return formulas.hard_sigmoid(b, node.inputs[0], alpha, beta)


@lower("Gelu")
def gelu(node, b):
    """x * P(X <= x), exact or by tanh."""
    return b.GELU(node.inputs[0], approximate=node.attr("approximate", "none") == "tanh")
