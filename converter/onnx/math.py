"""Elementwise operators: unary, binary, comparison, logic, activations."""

from __future__ import annotations

from functools import reduce

from ..lowering import formulas
from ..lowering.moves import like
from .registry import lower, lower_rows

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


@lower("Identity", "Dropout")
def identity(node, b):
    """The input itself; nothing is dropped in inference."""
    training = node.input(2) is not None and bool(node.constant(2))
    node.require(not training, "training_mode must be false: random numbers are not supported")
    node.require(node.n_outputs == 1, "the mask of a Dropout is not supported")
    return node.inputs[0]


@lower("Cast")
def cast(node, b):
    """Elements as another type."""
    x, to = node.inputs[0], node.dtype("to")
    return x if x.dtype == to else b.CAST(x, dtype=to)


@lower("Xor")
def xor(node, b):
    """One or the other, not both."""
    return b.NOT_EQUAL(*node.inputs)


@lower("Pow")
def power(node, b):
    """x ** y; the exponent may have another type than the base."""
    x, y = node.inputs
    if y.dtype != x.dtype:
        y = like(x, y.value, b) if y.value is not None else b.CAST(y, dtype=x.dtype)
    return b.POW(x, y)


@lower("Mod")
def mod(node, b):
    """The rest of a division, with the divisor's sign."""
    node.require(not node.attr("fmod", 0), "fmod=1 (the dividend's sign) is not supported")
    return b.FLOOR_MOD(*node.inputs)


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
