"""StableHLO's elementwise operations."""

from __future__ import annotations

import numpy as np

from ...schema.errors import ConverterError
from .registry import WRITERS, writes
from .shapes import dtype_at
from .writer import attribute

UNARY = {
    "ceil": "Ceil",
    "cosine": "Cos",
    "exponential": "Exp",
    "exponential_minus_one": "Expm1",
    "floor": "Floor",
    "imag": "Imag",
    "is_finite": "IsFinite",
    "log": "Log",
    "log_plus_one": "Log1p",
    "logistic": "Sigmoid",
    "negate": "Neg",
    "real": "Real",
    "round_nearest_even": "Round",
    "rsqrt": "Rsqrt",
    "sign": "Sign",
    "sine": "Sin",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
}
"""StableHLO's name -> TF's."""
BINARY = {
    "add": ("AddV2", "AddV2", "LogicalOr"),
    "and": ("BitwiseAnd", "BitwiseAnd", "LogicalAnd"),
    "atan2": ("Atan2", "Atan2", "Atan2"),
    "divide": ("RealDiv", "TruncateDiv", "TruncateDiv"),
    "maximum": ("Maximum", "Maximum", "LogicalOr"),
    "minimum": ("Minimum", "Minimum", "LogicalAnd"),
    "multiply": ("Mul", "Mul", "LogicalAnd"),
    "or": ("BitwiseOr", "BitwiseOr", "LogicalOr"),
    "power": ("Pow", "Pow", "Pow"),
    "remainder": ("TruncateMod", "TruncateMod", "TruncateMod"),
    "subtract": ("Sub", "Sub", "Sub"),
    "xor": ("BitwiseXor", "BitwiseXor", "NotEqual"),
}
"""StableHLO's name -> TF's of floats, of integers and of bools."""
COMPARISONS = ("Equal", "NotEqual", "GreaterEqual", "Greater", "LessEqual", "Less")
"""TF's operations by the number of a comparison direction."""


def _unary(kind):
    return lambda op, w: w.add(kind, w.value(op.operands[0]))


def _binary(kinds):
    def write(op, w):
        kind = dtype_at(op.operands[0]).kind
        return w.add(kinds[{"b": 2, "i": 1, "u": 1}.get(kind, 0)], *w.loose(op))

    return write


for _name, _kind in UNARY.items():
    WRITERS.add(_name, _unary(_kind))
for _name, _kinds in BINARY.items():
    WRITERS.add(_name, _binary(_kinds))


@writes("not")
def not_(op, w):
    """The opposite of bools, the inverted bits of integers."""
    is_bool = dtype_at(op.operands[0]) == np.bool_
    return w.add("LogicalNot" if is_bool else "Invert", w.value(op.operands[0]))


@writes("abs")
def absolute(op, w):
    """Sizes of numbers."""
    x = w.value(op.operands[0])
    if dtype_at(op.operands[0]).kind == "c":
        return w.add("ComplexAbs", x, Tout=dtype_at(op.results[0]))
    return w.add("Abs", x)


@writes("cbrt")
def cbrt(op, w):
    """The cubic root, of negative numbers too."""
    x = w.value(op.operands[0])
    third = w.constant(1 / 3, dtype_at(op.operands[0]))
    return w.add("Mul", w.add("Sign", x), w.add("Pow", w.add("Abs", x), third))


@writes("round_nearest_afz")
def round_away(op, w):
    """The nearest integer; halves go away from zero."""
    x = w.value(op.operands[0])
    half = w.constant(0.5, dtype_at(op.operands[0]))
    return w.add("Mul", w.add("Sign", x), w.add("Floor", w.add("AddV2", w.add("Abs", x), half)))


@writes("compare")
def compare(op, w):
    """A comparison; numbers in a total order are compared as other numbers are."""
    direction = attribute(op, "comparison_direction").value
    return w.add(COMPARISONS[direction % 6], *w.loose(op))


@writes("select")
def select(op, w):
    """Elements of two tensors by a condition."""
    return w.add("SelectV2", *w.loose(op))


@writes("clamp")
def clamp(op, w):
    """Numbers moved within bounds."""
    low, x, high = w.operands(op)
    return w.add("Minimum", w.add("Maximum", x, low), high)


@writes("convert")
def convert(op, w):
    """Another type; bools tell what is not zero."""
    x, dtype = w.value(op.operands[0]), dtype_at(op.results[0])
    source = dtype_at(op.operands[0])
    if dtype == source:
        return x
    if dtype == np.bool_:
        return w.add("NotEqual", x, w.constant(0, source))
    return w.add("Cast", x, DstT=dtype)


@writes("bitcast_convert")
def bitcast(op, w):
    """The same bits as another type."""
    return w.add("Bitcast", w.value(op.operands[0]), type=dtype_at(op.results[0]))


@writes("shift_left", "shift_right_arithmetic", "shift_right_logical")
def shift(op, w):
    """Bits moved to the left or the right; as many as there are give 0, or the sign."""
    x, count = w.loose(op)
    dtype = dtype_at(op.operands[0])
    if op.name == "shift_left":
        return w.add("LeftShift", x, count)
    if op.name == "shift_right_logical" and dtype.kind == "i":
        unsigned = np.dtype(f"u{dtype.itemsize}")
        x, count = (w.add("Bitcast", t, type=unsigned) for t in (x, count))
        return w.add("Bitcast", w.add("RightShift", x, count), type=dtype)
    if op.name == "shift_right_arithmetic" and dtype.kind == "u":
        raise ConverterError(f"{op}: numbers must be signed, got {dtype}")
    return w.add("RightShift", x, count)


@writes("complex")
def complex_(op, w):
    """Complex numbers of their parts."""
    return w.add("Complex", *w.operands(op), Tout=dtype_at(op.results[0]))


@writes("map")
def map_(op, w):
    """A function of elements, on whole tensors."""
    return w.within(op.regions[0], w.operands(op))


@writes("optimization_barrier")
def barrier(op, w):
    """The operands."""
    return w.operands(op)


@writes("reduce_precision")
def reduce_precision(op, w):
    """float32 numbers as precise as bfloat16 or float16."""
    bits = (attribute(op, "exponent_bits"), attribute(op, "mantissa_bits"))
    if bits == (8, 23):
        return w.value(op.operands[0])
    if bits != (5, 10):
        raise ConverterError(f"{op}: must have the precision of float16, got {bits}")
    x = w.add("Cast", w.value(op.operands[0]), DstT=np.dtype(np.float16))
    return w.add("Cast", x, DstT=dtype_at(op.results[0]))
