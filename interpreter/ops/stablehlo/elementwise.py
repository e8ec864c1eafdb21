"""StableHLO's functions of single elements.

Types without a kernel are computed by numpy between the stages of a plan.

Source: The StableHLO specification; where it leaves a choice (extrema of nan), LiteRT's kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....engine.families.conversion import convert
from ....engine.families.elementwise import elementwise
from ....engine.plan.buffer import Buffer, arena, constant
from ....schema.dtypes import tf_name
from ...checks import required, same_dtype
from ...numpy_calls import array_by_numpy
from ...plan.node import DynamicResult, HostCall
from ...plan.substitution import moves_any, small_floats
from ...registry import op
from ..binary import limits_of

if TYPE_CHECKING:
    from ....engine.plan.program import Program
    from ....schema.flatbuffer import Record
    from ...plan.node import Node, Operand

    Emit = Callable[[Program], None]
    Function = Callable[..., np.ndarray]

_FLOAT, _ORDERED = ("float32",), ("float32", "int32", "int64", "int16")
_BITWISE = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_WHOLE, _SMALL = ("int32", "int64"), ("int8", "uint8", "int16")
_NUMBERS = ("float32", *_WHOLE)


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _inverse_root(x: np.ndarray) -> np.ndarray:
    return 1 / np.sqrt(x)


def _cube_root(x: np.ndarray) -> np.ndarray:
    return np.power(x, 1 / 3) if x.dtype.kind == "c" else np.cbrt(x)


def _quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b; of integers rounded towards zero, and -1 where b is 0."""
    if a.dtype.kind not in "iu":
        return a / b
    divisor = np.where(b == 0, np.ones_like(b), b)
    quotient = a // divisor
    quotient += ((a % divisor != 0) & ((a < 0) != (divisor < 0))).astype(a.dtype)
    return np.where(b == 0, np.array(-1).astype(a.dtype), quotient)


def _remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What a quotient towards zero leaves of a, with its sign; a where an integer b is 0."""
    if a.dtype.kind not in "iu":
        return np.fmod(a, b)
    return np.where(b == 0, a, np.fmod(a, np.where(b == 0, np.ones_like(b), b)))


def _power(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a ** b; of integers 0 for a negative b, but for a of 1 and -1."""
    if a.dtype.kind not in "iu":
        return np.power(a, b)
    powers = np.power(a, np.maximum(b, 0))
    signs = np.where(b % 2 == 0, np.ones_like(a), a)
    below = np.where((a == 1) | (a + a.dtype.type(1) == 0), signs, np.zeros_like(a))
    return np.where(b < 0, below, powers)


def _shifted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a shifted left by b; 0 where b is negative or leaves no bit."""
    bits = 8 * a.itemsize
    fits = (b >= 0) & (b < bits)
    return np.where(fits, a << np.where(fits, b, 0), 0).astype(a.dtype)


INTEGERS, _REALS, _COMPLEX = "iuV", "f", "c"
"""Kinds of numpy's types; V are integers of fewer than 8 bits."""
_ANALYTIC, ARITHMETIC = _REALS + _COMPLEX, INTEGERS + _REALS + _COMPLEX
_BITS, EVERY = "b" + INTEGERS, "b" + ARITHMETIC

UNARY: dict[str, tuple[str, Sequence[str], str, Function]] = {
    "ABS": ("unary.absolute", ("float32", "int16", "int32"), ARITHMETIC, np.abs),
    "CBRT": ("unary.cbrt", _FLOAT, _ANALYTIC, _cube_root),
    "COSINE": ("unary.cos", _FLOAT, _ANALYTIC, np.cos),
    "EXPONENTIAL": ("unary.exp", _FLOAT, _ANALYTIC, np.exp),
    "FLOOR": ("unary.floor", _FLOAT, _REALS, np.floor),
    "LOG": ("unary.log", _FLOAT, _ANALYTIC, np.log),
    "LOGISTIC": ("unary.logistic", _FLOAT, _ANALYTIC, _logistic),
    "NEGATE": (
        "unary.negative",
        ("float32", "int16", "int32", "int64"),
        ARITHMETIC,
        np.negative,
    ),
    "RSQRT": ("unary.rsqrt", _FLOAT, _ANALYTIC, _inverse_root),
    "TANH": ("unary.tanh", _FLOAT, _ANALYTIC, np.tanh),
}
"""Operator -> kernel, its types, kinds that it takes, and the numpy function of all others."""
BINARY: dict[str, tuple[dict[str, str], str, Function]] = {
    "ADD": (dict.fromkeys(_NUMBERS, "arithmetic.add"), EVERY, np.add),
    "AND": (dict.fromkeys(_BITWISE, "bits.bitwise_and"), _BITS, np.bitwise_and),
    "DIVIDE": (
        {"float32": "arithmetic.divide", **dict.fromkeys(_WHOLE, "division.quotient")},
        ARITHMETIC,
        _quotient,
    ),
    "MAXIMUM": (dict.fromkeys((*_NUMBERS, *_SMALL), "arithmetic.maximum"), EVERY, np.maximum),
    "MINIMUM": (dict.fromkeys((*_NUMBERS, *_SMALL), "arithmetic.minimum"), EVERY, np.minimum),
    "MULTIPLY": (dict.fromkeys(_NUMBERS, "arithmetic.multiply"), EVERY, np.multiply),
    "OR": (dict.fromkeys(_BITWISE, "bits.bitwise_or"), _BITS, np.bitwise_or),
    "POWER": ({"float32": "power.power"}, ARITHMETIC, _power),
    "REMAINDER": (
        {"float32": "division.float_remainder", **dict.fromkeys(_WHOLE, "division.remainder")},
        INTEGERS + _REALS,
        _remainder,
    ),
    "SHIFT_LEFT": (
        dict.fromkeys(("int32", "uint32"), "bits.shift_left_32"),
        INTEGERS,
        _shifted,
    ),
    "SUBTRACT": (dict.fromkeys(_NUMBERS, "arithmetic.subtract"), ARITHMETIC, np.subtract),
}
"""Operator -> kernels by type, kinds that it takes, and the numpy function of all others."""
_WIDER = {
    **dict.fromkeys(("bool", "int8", "uint8", "int16", "uint16"), "int32"),
    "uint32": "int64",
}
"""Integers -> those that have room for what they and their sums are."""
_LIMITED = ("arithmetic.add", "arithmetic.divide", "arithmetic.multiply", "arithmetic.subtract")
_TOTAL_ORDER = 2
"""ComparisonType of floats that are compared in their total order."""
_BITWISE_KINDS = ("AND", "OR")

COMPARISONS: tuple[tuple[str, bool, Function], ...] = (
    ("compare.equal", False, np.equal),
    ("compare.not_equal", False, np.not_equal),
    ("compare.less_equal", True, np.greater_equal),
    ("compare.less", True, np.greater),
    ("compare.less_equal", False, np.less_equal),
    ("compare.less", False, np.less),
)
"""ComparisonDirection -> kernel, whether its operands change places, and the numpy function."""


@op(*(f"STABLEHLO_{name}" for name in UNARY))
@small_floats
def unary(node: Node) -> Emit | HostCall | DynamicResult:
    """The function of each element."""
    (x,) = operands(node, 1)
    kernel, dtypes, kinds, function = UNARY[node.kind.removeprefix("STABLEHLO_")]
    require_kind(node, x, kinds)
    dtype = _computed_in(x.dtype, dtypes)
    if dtype is None:
        return array_by_numpy(node, function, x.shape, _result_type(node, x))
    out = node.result(x.shape, x.dtype)

    def emit(program: Program) -> None:
        if x.size:
            target = out if dtype == out.dtype else arena(out.shape, dtype)
            source = convert(program, x, dtype)
            program.call(kernel, source.ravel(), target.ravel(), split=x.size)
            _narrow(program, target, out)

    return emit


def require_kind(node: Node, x: Operand, kinds: str) -> None:
    """Refuses types that the specification does not have for the operator."""
    node.require(x.dtype.kind in kinds, f"{tf_name(x.dtype)} is not supported")


def _result_type(node: Node, x: Operand) -> np.dtype:
    """The operand's type; of the sizes of complex numbers that of their parts."""
    is_size = node.kind == "STABLEHLO_ABS" and x.dtype.kind == "c"
    return np.dtype(f"float{4 * x.itemsize}") if is_size else x.dtype


def _computed_in(dtype: np.dtype, dtypes: Container[str]) -> np.dtype | None:
    """The type among `dtypes` that integers are computed in, whose lowest bits are the result's."""
    if dtype.name in dtypes:
        return dtype
    wider = _WIDER.get(dtype.name)
    return np.dtype(wider) if wider is not None and wider in dtypes else None


def _narrow(program: Program, wide: Buffer, out: Buffer) -> None:
    if wide is not out:
        convert(program, wide, out.dtype, out)


@op(*(f"STABLEHLO_{name}" for name in BINARY))
@small_floats
def binary(node: Node) -> Emit | HostCall | DynamicResult:
    """The function of each pair of elements of two operands of one shape."""
    x, y = operands(node, 2)
    same_dtype(node, (x, y))
    require_shape(node, x, y)
    name = node.kind.removeprefix("STABLEHLO_")
    kernels, kinds, function = BINARY[name]
    require_kind(node, x, kinds)
    dtype = None if x.dtype == np.bool_ and name not in _BITWISE_KINDS else x.dtype
    dtype = dtype and _computed_in(dtype, kernels)
    if dtype is None:
        return array_by_numpy(node, function, x.shape, x.dtype)
    out = node.result(x.shape, x.dtype)

    def emit(program: Program) -> None:
        kernel = kernels[dtype.name]
        if name in _BITWISE_KINDS:
            elementwise(program, kernel, (_bytes_of(x), _bytes_of(y)), _bytes_of(out))
            return
        pair = [convert(program, operand, dtype) for operand in (x, y)]
        target = out if dtype == out.dtype else arena(out.shape, dtype)
        limits = [limits_of(dtype, -np.inf, np.inf)] if kernel in _LIMITED else []
        elementwise(program, kernel, pair, target, *limits)
        _narrow(program, target, out)

    return emit


def _bytes_of(x: Operand) -> Buffer:
    """The bytes of all elements."""
    return Buffer(np.uint8, (x.nbytes,), x.storage, x.offset)


@op("STABLEHLO_COMPARE")
@small_floats
def compare(node: Node) -> Emit | HostCall | DynamicResult:
    """Whether `comparison_direction` holds for each pair of elements.

    In the total order of floats -0 is below 0, and nan is above or below all others by its sign.
    """
    x, y = operands(node, 2)
    same_dtype(node, (x, y))
    require_shape(node, x, y)
    require_kind(node, x, EVERY)
    direction = int(node.options.comparison_direction)
    node.require(
        0 <= direction < len(COMPARISONS), f"comparison_direction must be 0 to 5, got {direction}"
    )
    kernel, swapped, function = COMPARISONS[direction]
    is_total = is_total_order(node.options, x.dtype)
    dtype = _computed_in(x.dtype, _ORDERED)
    if dtype is None:

        def compared(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return function(ranks(a), ranks(b)) if is_total else function(a, b)

        return array_by_numpy(node, compared, x.shape, np.dtype(bool))
    out = node.result(x.shape, np.bool_)

    def emit(program: Program) -> None:
        pair = [
            in_total_order(program, operand) if is_total else convert(program, operand, dtype)
            for operand in (x, y)
        ]
        elementwise(program, kernel, pair[::-1] if swapped else pair, out)

    return emit


def is_total_order(options: Record, dtype: np.dtype) -> bool:
    """Whether floats are compared in IEEE 754's total order."""
    return int(options.compare_type) == _TOTAL_ORDER and dtype.kind not in "iub"


def in_total_order(program: Program, x: Buffer) -> Buffer:
    """Adds what gives an int32 for each float32, in the same total order."""
    bits, signs, out = x.view(np.int32), arena(x.shape, np.int32), arena(x.shape, np.int32)
    steps = [constant(np.array(n, np.int32)) for n in (31, 1)]
    elementwise(program, "bits.shift_right_32", (bits, steps[0]), signs)
    masks, one = (buffer.view(np.uint32) for buffer in (signs, steps[1]))
    elementwise(program, "bits.shift_right_32", (masks, one), masks)
    elementwise(program, "bits.bitwise_xor", (bits, signs), out)
    return out


def ranks(x: np.ndarray) -> np.ndarray:
    """An integer for each float, in the same total order."""
    bits = np.ascontiguousarray(x).view(f"i{x.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


@op("STABLEHLO_SELECT")
@moves_any
def select(node: Node) -> Emit | DynamicResult:
    """Elements of the second input where the first (or its one element) is true, else third's."""
    condition, x, y = operands(node, 3)
    same_dtype(node, (x, y))
    require_shape(node, x, y)
    node.require(
        condition.dtype == np.bool_, f"the condition must be bool, got {tf_name(condition.dtype)}"
    )
    if condition.ndim:
        require_shape(node, x, condition)
    out = node.result(x.shape, x.dtype)
    return lambda program: elementwise(program, "compare.select", (condition, x, y), out)


@op("STABLEHLO_CLAMP")
@small_floats
def clamp(node: Node) -> Emit | HostCall | DynamicResult:
    """The second input, not below the first and not above the third; both may be scalars."""
    low, x, high = operands(node, 3)
    same_dtype(node, (low, x, high))
    require_kind(node, x, EVERY)
    for limit in (low, high):
        if limit.ndim:
            require_shape(node, x, limit)
    dtype = _computed_in(x.dtype, BINARY["MAXIMUM"][0])
    if dtype is None or x.dtype == np.bool_:
        return array_by_numpy(node, _clipped, x.shape, x.dtype)
    out = node.result(x.shape, x.dtype)

    def emit(program: Program) -> None:
        target = out if dtype == out.dtype else arena(out.shape, dtype)
        numbers, least, most = (convert(program, operand, dtype) for operand in (x, low, high))
        elementwise(program, "arithmetic.maximum", (numbers, least), target)
        elementwise(program, "arithmetic.minimum", (target, most), target)
        _narrow(program, target, out)

    return emit


def _clipped(low: np.ndarray, x: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.clip(x, low, high)


def operands(node: Node, count: int) -> list[Operand]:
    """The first `count` inputs; refuses quantized ones, whose scales these operators ignore."""
    inputs = required(node, count)
    for x in inputs:
        node.require(x.quantization is None, f"'{x.name}' is quantized, which is not supported")
    return inputs


def require_shape(node: Node, x: Operand, y: Operand) -> None:
    """Refuses operands of unequal shapes."""
    node.require_equal(
        x.shape, y.shape, f"operands must have one shape, got {x.shape} and {y.shape}"
    )


def numbers(node: Node, option: str) -> list[int]:
    """The numbers of an option, none where the file has none."""
    values = getattr(node.options, option)
    return [] if values is None else [int(n) for n in values]
