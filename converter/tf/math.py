"""Elementwise TF operations: unary, binary, comparison, logic."""

import numpy as np

from ..lowering import formulas
from ..lowering.moves import like
from .registry import lower, lower_rows

lower_rows(
    {
        "Abs": "ABS",
        "Ceil": "CEIL",
        "Cos": "COS",
        "Elu": "ELU",
        "Erf": "ERF",
        "Exp": "EXP",
        "Floor": "FLOOR",
        "Log": "LOG",
        "LogicalNot": "LOGICAL_NOT",
        "Neg": "NEG",
        "Relu": "RELU",
        "Relu6": "RELU6",
        "Rint": "ROUND",
        "Round": "ROUND",
        "Rsqrt": "RSQRT",
        "Sigmoid": "LOGISTIC",
        "Sign": "SIGN",
        "Sin": "SIN",
        "Softplus": "SOFTPLUS",
        "Sqrt": "SQRT",
        "Square": "SQUARE",
        "Tanh": "TANH",
        "Add": "ADD",
        "AddN": "ADD_N",
        "AddV2": "ADD",
        "Atan2": "ATAN2",
        "BitwiseXor": "BITWISE_XOR",
        "Div": "DIV",
        "Equal": "EQUAL",
        "FloorDiv": "FLOOR_DIV",
        "FloorMod": "FLOOR_MOD",
        "Greater": "GREATER",
        "GreaterEqual": "GREATER_EQUAL",
        "Less": "LESS",
        "LessEqual": "LESS_EQUAL",
        "LogicalAnd": "LOGICAL_AND",
        "LogicalOr": "LOGICAL_OR",
        "Maximum": "MAXIMUM",
        "Minimum": "MINIMUM",
        "Mul": "MUL",
        "NotEqual": "NOT_EQUAL",
        "Pow": "POW",
        "RealDiv": "DIV",
        "RightShift": "RIGHT_SHIFT",
        "SelectV2": "SELECT_V2",
        "Sub": "SUB",
    }
)


@lower("SquaredDifference")
def squared_difference(node, b):
    """(x - y) ** 2; TFLite's own operator has no int64."""
    x, y = node.inputs
    if x.dtype != np.int64:
        return b.SQUARED_DIFFERENCE(x, y)
    difference = b.SUB(x, y)
    return b.MUL(difference, difference)


for _types, _formula in {
    ("Acos",): formulas.acos,
    ("Asin",): formulas.asin,
    ("Atan",): formulas.atan,
    ("Inv", "Reciprocal"): formulas.reciprocal,
    ("IsNan",): formulas.is_nan,
    ("Selu",): formulas.selu,
    ("Softsign",): formulas.softsign,
}.items():
    lower(*_types)(lambda node, b, formula=_formula: formula(b, *node.inputs))


@lower("Expm1")
def expm1(node, b):
    """exp(x) - 1, as TensorFlow's converter writes it."""
    (x,) = node.inputs
    return b.SUB(b.EXP(x), like(x, 1, b))


@lower("Log1p")
def log1p(node, b):
    """log(1 + x)."""
    (x,) = node.inputs
    return b.LOG(b.ADD(x, like(x, 1, b)))


@lower("SigmoidGrad")
def sigmoid_grad(node, b):
    """dy * y * (1 - y)."""
    y, dy = node.inputs
    return b.MUL(b.MUL(dy, y), b.SUB(like(y, 1, b), y))


@lower("LeakyRelu")
def leaky_relu(node, b):
    """x where positive, alpha * x elsewhere."""
    return b.LEAKY_RELU(*node.inputs, alpha=node.attr("alpha"))


@lower("Mod", "TruncateMod")
def truncate_mod(node, b):
    """The remainder with the sign of x, for integers: x - trunc(x / y) * y.

    Of int64, which TFLite does not divide, FLOOR_MOD's where it has that sign, else less by y.
    """
    x, y = node.inputs
    node.require(x.dtype.kind == "i", f"{node.type} is supported for integers, got {x.dtype}")
    if x.dtype != np.int64:
        return b.SUB(x, b.MUL(b.DIV(x, y), y))
    zero, remainder = like(x, 0, b), b.FLOOR_MOD(x, y)
    opposite = b.NOT_EQUAL(b.LESS(remainder, zero), b.LESS(x, zero))
    needs_correction = b.LOGICAL_AND(opposite, b.NOT_EQUAL(remainder, zero))
    return b.SELECT_V2(needs_correction, b.SUB(remainder, y), remainder)


@lower("DivNoNan")
def div_no_nan(node, b):
    """x / y, 0 where y is 0."""
    x, y = node.inputs
    zero = like(y, 0, b)
    return b.SELECT_V2(b.EQUAL(y, zero), zero, b.DIV(x, y))


@lower("MulNoNan")
def mul_no_nan(node, b):
    """x * y, 0 where y is 0 even if x is not finite."""
    x, y = node.inputs
    zero = like(y, 0, b)
    return b.SELECT_V2(b.EQUAL(y, zero), zero, b.MUL(x, y))


@lower("Xdivy", "Xlogy")
def x_times(node, b):
    """x / y or x * log(y), 0 where x is 0."""
    x, y = node.inputs
    zero = like(x, 0, b)
    unguarded = b.DIV(x, y) if node.type == "Xdivy" else b.MUL(x, b.LOG(y))
    return b.SELECT_V2(b.EQUAL(x, zero), zero, unguarded)


@lower("Select")
def select(node, b):
    """Elements of x or y; a vector condition chooses whole rows, which only SELECT does."""
    choose = b.SELECT if node.rank(0) == 1 < node.rank(1) else b.SELECT_V2
    return choose(*node.inputs)


@lower("IsInf")
def is_inf(node, b):
    """|x| beyond the largest number: infinite constants may become that in the file."""
    (x,) = node.inputs
    return b.GREATER(b.ABS(x), like(x, np.finfo(x.dtype).max, b))


@lower("IsFinite")
def is_finite(node, b):
    """x - x == 0, which is not a number where x is not finite."""
    (x,) = node.inputs
    return b.EQUAL(b.SUB(x, x), like(x, 0, b))


@lower("Tan")
def tan(node, b):
    """sin(x) / cos(x)."""
    (x,) = node.inputs
    return b.DIV(b.SIN(x), b.COS(x))


@lower("ClipByValue")
def clip_by_value(node, b):
    """min(max(x, low), high), as TensorFlow's converter orders it."""
    x, low, high = node.inputs
    return b.MAXIMUM(b.MINIMUM(x, high), low)


@lower("Erfc")
def erfc(node, b):
    """1 - erf(x)."""
    (x,) = node.inputs
    return b.SUB(like(x, 1, b), b.ERF(x))
