"""StableHLO's elementwise operations."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from ...schema.errors import ConverterError
from ...schema.mlir.module import Operation
from ..core.graph import Tensor
from .attributes import enumerated, number, regions
from .registry import WRITERS, Write, writes
from .shapes import dtype_at, shape_at
from .writer import Writer

UNARY = {
    "ceil": "Ceil",
    "cosine": "Cos",
    "exponential": "Exp",
    "exponential_minus_one": "Expm1",
    "floor": "Floor",
    "is_finite": "IsFinite",
    "log": "Log",
    "log_plus_one": "Log1p",
    "logistic": "Sigmoid",
    "negate": "Neg",
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
    "maximum": ("Maximum", "Maximum", "LogicalOr"),
    "minimum": ("Minimum", "Minimum", "LogicalAnd"),
    "multiply": ("Mul", "Mul", "LogicalAnd"),
    "or": ("BitwiseOr", "BitwiseOr", "LogicalOr"),
    "power": ("Pow", "Pow", "Pow"),
    "subtract": ("Sub", "Sub", "Sub"),
    "xor": ("BitwiseXor", "BitwiseXor", "NotEqual"),
}
"""StableHLO's name -> TF's of floats, of integers and of bools."""
COMPARISONS = ("Equal", "NotEqual", "GreaterEqual", "Greater", "LessEqual", "Less")
"""TF's operations by the number of a comparison direction."""


def _unary(kind: str) -> Write:
    return lambda op, w: w.add(kind, w.value(op.operands[0]))


def _binary(kinds: Sequence[str]) -> Write:
    def write(op: Operation, w: Writer) -> Tensor:
        kind = dtype_at(op.operands[0]).kind
        return w.add(kinds[{"b": 2, "i": 1, "u": 1}.get(kind, 0)], *w.loose(op))

    return write


for _name, _kind in UNARY.items():
    WRITERS.add(_name, _unary(_kind))
for _name, _kinds in BINARY.items():
    WRITERS.add(_name, _binary(_kinds))


@writes("divide", "remainder")
def divide(op: Operation, w: Writer) -> Tensor:
    """Quotients or remainders; of integers and 0 they are -1, and the number itself."""
    x, y = w.loose(op)
    dtype, is_quotient = dtype_at(op.operands[0]), op.name == "divide"
    if dtype.kind not in "iu":
        return w.add("RealDiv" if is_quotient else "TruncateMod", x, y)
    kind = "TruncateDiv" if is_quotient else "TruncateMod"
    if y.op.type == "Const" and np.all(y.op.get_attr("value")):
        return w.add(kind, x, y)
    zero, one = w.constant(0, dtype), w.constant(1, dtype)
    is_zero = w.add("Equal", y, zero)
    result = w.add(kind, x, w.add("SelectV2", is_zero, one, y))
    by_zero = w.constant(-1, np.int64).op.get_attr("value").astype(dtype) if is_quotient else None
    return w.add("SelectV2", is_zero, x if by_zero is None else w.constant(by_zero), result)


@writes("not")
def not_(op: Operation, w: Writer) -> Tensor:
    """The opposite of bools, the inverted bits of integers."""
    is_bool = dtype_at(op.operands[0]) == np.bool_
    return w.add("LogicalNot" if is_bool else "Invert", w.value(op.operands[0]))


@writes("abs")
def absolute(op: Operation, w: Writer) -> Tensor:
    """Sizes of numbers."""
    x = w.value(op.operands[0])
    if dtype_at(op.operands[0]).kind == "c":
        return w.add("ComplexAbs", x, Tout=dtype_at(op.results[0]))
    return w.add("Abs", x)


@writes("cbrt")
def cbrt(op: Operation, w: Writer) -> Tensor:
    """The cubic root, of negative numbers too."""
    x = w.value(op.operands[0])
    third = w.constant(1 / 3, dtype_at(op.operands[0]))
    return w.add("Mul", w.add("Sign", x), w.add("Pow", w.add("Abs", x), third))


@writes("round_nearest_afz")
def round_away(op: Operation, w: Writer) -> Tensor:
    """The nearest integer; halves go away from zero."""
    x = w.value(op.operands[0])
    half = w.constant(0.5, dtype_at(op.operands[0]))
    return w.add("Mul", w.add("Sign", x), w.add("Floor", w.add("AddV2", w.add("Abs", x), half)))


@writes("compare")
def compare(op: Operation, w: Writer) -> Tensor:
    """A comparison; numbers in a total order are compared as other numbers are."""
    direction = enumerated(op, "comparison_direction")
    return w.add(COMPARISONS[direction % 6], *w.loose(op))


@writes("select")
def select(op: Operation, w: Writer) -> Tensor:
    """Elements of two tensors by a condition."""
    return w.add("SelectV2", *w.loose(op))


@writes("clamp")
def clamp(op: Operation, w: Writer) -> Tensor:
    """Numbers moved within bounds."""
    low, x, high = w.operands(op)
    return w.add("Minimum", w.add("Maximum", x, low), high)


@writes("convert")
def convert(op: Operation, w: Writer) -> Tensor:
    """Another type, of complex numbers that of their real parts; bools tell what is not zero."""
    x, dtype = w.value(op.operands[0]), dtype_at(op.results[0])
    source = dtype_at(op.operands[0])
    if dtype == source:
        return x
    if dtype == np.bool_:
        if source.kind == "c":
            real = np.dtype(f"f{source.itemsize // 2}")
            x, source = w.add("Real", x, Tout=real), real
        return w.add("NotEqual", x, w.constant(0, source))
    return w.add("Cast", x, DstT=dtype)


@writes("bitcast_convert")
def bitcast(op: Operation, w: Writer) -> Tensor:
    """The same bits as another type."""
    for value in (op.operands[0], op.results[0]):
        if dtype_at(value).kind == "b":
            raise ConverterError(f"{op}: bits must be those of numbers, got bool")
    return w.add("Bitcast", w.value(op.operands[0]), type=dtype_at(op.results[0]))


SHIFTS = {"shift_left": "LeftShift", "shift_right_arithmetic": "RightShift"}


@writes(*SHIFTS, "shift_right_logical")
def shift(op: Operation, w: Writer) -> Tensor:
    """Bits moved to the left or the right; by as many as there are they give 0, or the sign."""
    x, count = w.loose(op)
    dtype = dtype_at(op.operands[0])
    n_bits, is_logical = 8 * dtype.itemsize, op.name == "shift_right_logical"
    if op.name == "shift_right_arithmetic" and dtype.kind == "u":
        raise ConverterError(f"{op}: numbers must be signed, got {dtype}")
    if is_logical and dtype.kind == "i":
        unsigned = np.dtype(f"u{dtype.itemsize}")
        bits = [w.add("Bitcast", t, type=unsigned) for t in (x, count)]
        moved = w.add("Bitcast", w.add("RightShift", *bits), type=dtype)
    else:
        moved = w.add(SHIFTS.get(op.name, "RightShift"), x, count)
    is_sign = op.name == "shift_right_arithmetic"  # which TF's operation, too, gives
    if is_sign or (count.op.type == "Const" and np.all(_within(count, n_bits))):
        return moved
    is_within = w.add("Less", count, w.constant(n_bits, dtype))
    return w.add("SelectV2", is_within, moved, w.constant(0, dtype))


def _within(count: Tensor, n_bits: int) -> np.ndarray:
    """Whether the numbers of a constant are from 0 up to others."""
    value = np.asarray(count.op.get_attr("value"))
    return (value >= 0) & (value < n_bits)


@writes("popcnt")
def population_count(op: Operation, w: Writer) -> Tensor:
    """How many bits are 1."""
    count = w.add("PopulationCount", w.value(op.operands[0]))
    return w.add("Cast", count, DstT=dtype_at(op.results[0]))


@writes("count_leading_zeros")
def count_leading_zeros(op: Operation, w: Writer) -> Tensor:
    """How many bits before the first 1 are 0: as many right shifts give 0."""
    dtype, rank = dtype_at(op.operands[0]), len(shape_at(op.operands[0]))
    x = w.add("ExpandDims", w.value(op.operands[0]), w.constant(-1, np.int32))
    shifted = w.add("RightShift", x, w.constant(np.arange(8 * dtype.itemsize), dtype))
    is_zero = w.add("Cast", w.add("Equal", shifted, w.constant(0, dtype)), DstT=np.dtype(np.int32))
    count = w.add("Sum", is_zero, w.constant([rank], np.int32), keep_dims=False)
    return w.add("Cast", count, DstT=dtype_at(op.results[0]))


@writes("complex")
def complex_(op: Operation, w: Writer) -> Tensor:
    """Complex numbers of their parts."""
    return w.add("Complex", *w.operands(op), Tout=dtype_at(op.results[0]))


@writes("real", "imag")
def part(op: Operation, w: Writer) -> Tensor:
    """Real or imaginary parts, which real numbers have, too."""
    kind, x = {"real": "Real", "imag": "Imag"}[op.name], w.value(op.operands[0])
    if dtype_at(op.operands[0]).kind == "c":
        return w.add(kind, x, Tout=dtype_at(op.results[0]))
    return w.add("Identity" if op.name == "real" else "ZerosLike", x)


@writes("map")
def map_(op: Operation, w: Writer) -> list[Tensor]:
    """A function of elements, on whole tensors."""
    return w.within(regions(op)[0], w.operands(op))


@writes("optimization_barrier")
def barrier(op: Operation, w: Writer) -> list[Tensor]:
    """The operands."""
    return w.operands(op)


PRECISIONS = {(5, 10): np.dtype(np.float16), (8, 7): np.dtype(ml_dtypes.bfloat16)}
"""Bits of exponent and mantissa -> the type that has as many."""
FLOAT32 = (8, 23)


@writes("reduce_precision")
def reduce_precision(op: Operation, w: Writer) -> Tensor:
    """float32 numbers, as precise as another type's."""
    exponent, mantissa = (number(op, f"{part}_bits") for part in ("exponent", "mantissa"))
    x, dtype = w.value(op.operands[0]), dtype_at(op.operands[0])
    if exponent >= FLOAT32[0] and mantissa >= FLOAT32[1] and dtype.itemsize <= 4:
        return x
    narrow = PRECISIONS.get((exponent, mantissa))
    if narrow is not None:
        return x if narrow == dtype else w.add("Cast", w.add("Cast", x, DstT=narrow), DstT=dtype)
    if dtype != np.float32 or exponent > FLOAT32[0] or mantissa > FLOAT32[1]:
        raise ConverterError(
            f"{op}: must be float32 and have at most {FLOAT32} bits, got {dtype} and "
            f"{(exponent, mantissa)}"
        )
    return _rounded(x, exponent, mantissa, w)


def _rounded(x: Tensor, exponent: int, mantissa: int, w: Writer) -> Tensor:
    """float32 numbers to the nearest even mantissa; too large ones are infinite, small ones 0."""
    bits = w.add("Bitcast", x, type=np.dtype(np.int32))
    dropped = FLOAT32[1] - mantissa
    if dropped:
        shift = w.constant(dropped, np.int32)
        last = w.add("BitwiseAnd", w.add("RightShift", bits, shift), w.constant(1, np.int32))
        bias = w.constant((1 << (dropped - 1)) - 1, np.int32)
        moved = w.add("AddV2", bits, w.add("AddV2", last, bias))
        bits = w.add("LeftShift", w.add("RightShift", moved, shift), shift)
    y = w.add("Bitcast", bits, type=np.dtype(np.float32))
    if exponent < FLOAT32[0]:
        bias = 2 ** (exponent - 1) - 1
        size, sign = w.add("Abs", y), w.add("Sign", x)
        smallest, largest = (w.constant(2.0**n, np.float32) for n in (1 - bias, bias + 1))
        infinite = w.add("Mul", sign, w.constant(np.inf, np.float32))
        y = w.add("SelectV2", w.add("GreaterEqual", size, largest), infinite, y)
        zero = w.constant(0, np.float32)
        y = w.add("SelectV2", w.add("Less", size, smallest), zero, y)
    return w.add("SelectV2", w.add("IsNan", x), x, y)
