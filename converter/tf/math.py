"""Elementwise TF operations: unary, binary, comparison, logic."""

import numpy as np

from ..ir.sizes import as_size
from ..lowering import formulas
from ..lowering.moves import as_type, int32s, like
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
        "AccumulateNV2": "ADD_N",
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
        "RealDiv": "DIV",
        "RightShift": "RIGHT_SHIFT",
        "SelectV2": "SELECT_V2",
        "Sub": "SUB",
    }
)


@lower("Pow")
def power(node, b):
    """x ** y, both of one type."""
    x, y = node.inputs
    return b.POW(x, y) if x.dtype.kind == "f" else formulas.integer_power(b, x, y)


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
    ("Acosh",): formulas.acosh,
    ("Asin",): formulas.asin,
    ("Asinh",): formulas.asinh,
    ("Atan",): formulas.atan,
    ("Atanh",): formulas.atanh,
    ("Cosh",): formulas.cosh,
    ("Erfinv",): formulas.erfinv,
    ("Inv", "Reciprocal"): formulas.reciprocal,
    ("IsNan",): formulas.is_nan,
    ("Selu",): formulas.selu,
    ("Sinh",): formulas.sinh,
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
    """The remainder with the sign of x: of integers x - trunc(x / y) * y.

    Of floats FLOOR_MOD's of the sizes, which is exact, with that sign. Of int64, which TFLite does
    not divide, FLOOR_MOD's where it has that sign, else less by y. Unsigned numbers have no other.
    """
    x, y = node.inputs
    if x.dtype == np.float32:
        return b.MUL(b.FLOOR_MOD(b.ABS(x), b.ABS(y)), b.SIGN(x))
    if x.dtype.kind == "u" and x.dtype.itemsize <= 4:
        return b.CAST(b.FLOOR_MOD(*(b.CAST(t, dtype=np.int64) for t in (x, y))), dtype=x.dtype)
    node.require(
        x.dtype.kind == "i", f"{node.type} is supported for integers and float32, got {x.dtype}"
    )
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
    condition, x, y = node.inputs
    _assume_equal(x, y, b)
    _assume_equal(condition, x, b)
    choose = b.SELECT if node.rank(0) == 1 < node.rank(1) else b.SELECT_V2
    return choose(*node.inputs)


def _assume_equal(x, y, b):
    """The sizes of two tensors are equal where the source runs, as far as the shorter one goes."""
    for pair in zip(x.sizes or (), y.sizes or (), strict=False):
        assumption = None if pair[0] == pair[1] else b.graph.scope.assume(*map(as_size, pair))
        if assumption is not None:
            raise assumption


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


@lower("Ndtri")
def ndtri(node, b):
    """sqrt(2) * erfinv(2 * p - 1)."""
    (p,) = node.inputs
    y = b.SUB(b.MUL(p, like(p, 2, b)), like(p, 1, b))
    return b.MUL(formulas.erfinv(b, y), like(p, np.sqrt(2), b))


@lower("TruncateDiv")
def truncate_div(node, b):
    """x / y without its fraction; of int64, which TFLite does not divide, FLOOR_DIV's corrected."""
    x, y = node.inputs
    if x.dtype.kind == "f":
        quotient = b.DIV(x, y)
        return b.MUL(b.SIGN(quotient), b.FLOOR(b.ABS(quotient)))
    if x.dtype.kind == "u" and x.dtype.itemsize <= 4:
        return b.CAST(b.FLOOR_DIV(*(b.CAST(t, dtype=np.int64) for t in (x, y))), dtype=x.dtype)
    if x.dtype != np.int64:
        return b.DIV(x, y)
    quotient, zero = b.FLOOR_DIV(x, y), like(x, 0, b)
    is_inexact = b.NOT_EQUAL(b.MUL(quotient, y), x)
    is_rounded_down = b.LOGICAL_AND(is_inexact, b.LESS(quotient, zero))
    return b.SELECT_V2(is_rounded_down, b.ADD(quotient, like(x, 1, b)), quotient)


@lower("Xlog1py")
def xlog1py(node, b):
    """x * log(1 + y), 0 where x is 0."""
    x, y = node.inputs
    zero = like(x, 0, b)
    unguarded = b.MUL(x, b.LOG(b.ADD(y, like(y, 1, b))))
    return b.SELECT_V2(b.EQUAL(x, zero), zero, unguarded)


@lower("Invert")
def invert(node, b):
    """All bits the other way."""
    (x,) = node.inputs
    all_ones = np.iinfo(x.dtype).max if x.dtype.kind == "u" else -1
    return b.BITWISE_XOR(x, like(x, all_ones, b))


def modulus_of(mask):
    """2 ** k where a constant has the lowest k bits alone; None for another one."""
    if mask.value is None or not mask.value.size or (mask.value != mask.value.flat[0]).any():
        return None
    n = int(mask.value.flat[0]) + 1
    return n if n > 1 and not n & n - 1 and n <= 2**30 else None


def as_signed(x, b):
    """Integers of at most 32 bits as int32: those of uint32 by their bits."""
    if x.dtype == np.uint32:
        return b.BITCAST(x, dtype=np.int32)
    return as_type(x, np.int32, b)


@lower("BitwiseAnd", "BitwiseOr")
def bitwise(node, b):
    """Bits that both have, or that one has, of x = 2 x1 + x0, y = 2 y1 + y0, x ^ y = 2 z1 + z0.

    x & y is x1 + y1 - z1 + x0 y0, as a sum is twice what both have and what one has, and
    x | y is x & y + x ^ y. The lowest bits alone are a remainder.
    """
    x, y = node.inputs if node.known(0) is None else node.inputs[::-1]
    modulus = modulus_of(y) if node.type == "BitwiseAnd" else None
    if modulus is not None and x.dtype == np.int64:
        return b.FLOOR_MOD(x, np.int64(modulus))
    node.require(x.dtype.itemsize <= 4, f"integers must have at most 32 bits, got {x.dtype}")
    left, right = as_signed(x, b), as_signed(y, b)
    if modulus is not None:
        result = b.FLOOR_MOD(left, np.int32(modulus))
    else:
        one, exclusive = b.constant(np.int32(1)), b.BITWISE_XOR(left, right)
        halves = b.ADD(b.RIGHT_SHIFT(left, one), b.RIGHT_SHIFT(right, one))
        lowest = b.MUL(*(b.FLOOR_MOD(t, np.int32(2)) for t in (left, right)))
        result = b.ADD(b.SUB(halves, b.RIGHT_SHIFT(exclusive, one)), lowest)
        if node.type == "BitwiseOr":
            result = b.ADD(result, exclusive)
    if x.dtype == np.uint32:
        return b.BITCAST(result, dtype=np.uint32)
    return as_type(result, x.dtype, b)


@lower("PopulationCount")
def population_count(node, b):
    """How many bits of a number are 1: x - floor(x / 2) - floor(x / 4) - ..., the sign twice more.

    floor(x / 2^k) - 2 floor(x / 2^(k+1)) is bit k.
    """
    (x,) = node.inputs
    node.require(x.dtype.itemsize <= 4, f"integers must have at most 32 bits, got {x.dtype}")
    if x.dtype.itemsize == 4:
        bits = b.BITCAST(x, dtype=np.int32) if x.dtype.kind == "u" else x
    else:
        unsigned = np.dtype(f"u{x.dtype.itemsize}")
        bits = b.CAST(x if x.dtype == unsigned else b.BITCAST(x, dtype=unsigned), dtype=np.int32)
    shifts = int32s([*range(1, 32), 31, 31])
    halves = b.RIGHT_SHIFT(b.EXPAND_DIMS(bits, np.int32(-1)), shifts)
    return b.CAST(b.SUB(bits, b.SUM(halves, int32s([len(x.dims)]))), dtype=np.uint8)


@lower("LeftShift")
def left_shift(node, b):
    """x * 2 ** y; of uint32 by the same bits as int32, of narrower numbers its lowest bits."""
    x, y = node.inputs
    node.require(x.dtype.itemsize <= 4, f"integers must have at most 32 bits, got {x.dtype}")
    if x.dtype.itemsize < 4:
        wide, count = (b.CAST(t, dtype=np.int32) for t in (x, y))
        return b.CAST(b.MUL(wide, b.POW(like(wide, 2, b), count)), dtype=x.dtype)
    if x.dtype == np.int32:
        return b.MUL(x, b.POW(like(x, 2, b), y))
    bits, count = (b.BITCAST(t, dtype=np.int32) for t in (x, y))
    return b.BITCAST(b.MUL(bits, b.POW(like(bits, 2, b), count)), dtype=np.uint32)


for _type, _formula in {
    "ReluGrad": lambda b, dy, x: masked(b, b.GREATER(x, like(x, 0, b)), dy),
    "Relu6Grad": lambda b, dy, x: masked(
        b, b.LOGICAL_AND(b.GREATER(x, like(x, 0, b)), b.LESS(x, like(x, 6, b))), dy
    ),
    "EluGrad": lambda b, dy, y: b.MUL(dy, b.ADD(b.MINIMUM(y, like(y, 0, b)), like(y, 1, b))),
    "SeluGrad": lambda b, dy, y: b.SELECT_V2(
        b.LESS(y, like(y, 0, b)),
        b.MUL(dy, b.ADD(y, like(y, formulas.SELU_SCALE * formulas.SELU_ALPHA, b))),
        b.MUL(dy, like(y, formulas.SELU_SCALE, b)),
    ),
    "SoftplusGrad": lambda b, dy, x: b.MUL(dy, b.LOGISTIC(x)),
    "SoftsignGrad": lambda b, dy, x: b.DIV(dy, b.SQUARE(b.ADD(b.ABS(x), like(x, 1, b)))),
    "TanhGrad": lambda b, y, dy: b.MUL(dy, b.SUB(like(y, 1, b), b.SQUARE(y))),
    "SqrtGrad": lambda b, y, dy: b.DIV(b.MUL(dy, like(y, 0.5, b)), y),
    "RsqrtGrad": lambda b, y, dy: b.MUL(b.MUL(dy, like(y, -0.5, b)), b.MUL(b.SQUARE(y), y)),
    "InvGrad": lambda b, y, dy: b.NEG(b.MUL(dy, b.SQUARE(y))),
    "ReciprocalGrad": lambda b, y, dy: b.NEG(b.MUL(dy, b.SQUARE(y))),
}.items():
    lower(_type)(lambda node, b, formula=_formula: formula(b, *node.inputs))


def masked(b, condition, x):
    """x where a condition holds, 0 elsewhere."""
    return b.SELECT_V2(condition, x, like(x, 0, b))


@lower("LeakyReluGrad")
def leaky_relu_grad(node, b):
    """dy where x is positive, alpha * dy elsewhere."""
    dy, x = node.inputs
    slope = b.MUL(dy, like(dy, node.attr("alpha"), b))
    return b.SELECT_V2(b.GREATER(x, like(x, 0, b)), dy, slope)


@lower("ToBool")
def to_bool(node, b):
    """Whether a number is not 0; whether another tensor has elements."""
    (x,) = node.inputs
    if x.rank == 0:
        return x if x.dtype == bool else b.NOT_EQUAL(x, like(x, 0, b))
    node.require(x.is_static, "the shape of its input must be known")
    return b.constant(np.array(0 not in x.shape))
