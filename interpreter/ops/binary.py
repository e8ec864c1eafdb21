"""ADD, SUB, MUL, DIV and other operators on two operands, the smaller repeated by numpy's rule."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.elementwise import broadcast_shape, elementwise
from ...engine.plan.buffer import constant
from ...schema.dtypes import tf_name
from ..checks import clamp_of, name_of_dtype, required, same_dtype, unsupported
from ..plan.substitution import small_floats
from ..registry import op
from .quantized import is_quantized

if TYPE_CHECKING:
    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ..plan.node import Node, Operand, Prepared


_NUMBERS = ("float32", "int32", "int64")
_LARGEST = float(np.finfo(np.float32).max)

ARITHMETIC = {
    "ADD": "add",
    "SUB": "subtract",
    "MUL": "multiply",
    "DIV": "divide",
}
"""Operator with a fused activation -> kernel of kernels/arithmetic.py."""

PLAIN: dict[str, dict[str, str]] = {
    "MAXIMUM": dict.fromkeys((*_NUMBERS, "int8", "uint8", "int16"), "arithmetic.maximum"),
    "MINIMUM": dict.fromkeys((*_NUMBERS, "int8", "uint8", "int16"), "arithmetic.minimum"),
    "SQUARED_DIFFERENCE": dict.fromkeys(("float32", "int32"), "arithmetic.squared_difference"),
    "POW": {"float32": "power.power", "int32": "division.power_integer"},
    "ATAN2": dict.fromkeys(("float32", "float64"), "division.angle"),
    "FLOOR_DIV": {
        "float32": "division.floor_divide_float",
        **{kind: f"division.floor_divide_{kind}" for kind in ("int8", "int16", "int32", "int64")},
    },
    "FLOOR_MOD": {
        "float32": "division.floor_modulo_float",
        **dict.fromkeys(("int8", "int16", "int32", "int64"), "division.floor_modulo"),
    },
    "LOGICAL_AND": {"bool": "bits.bitwise_and"},
    "LOGICAL_OR": {"bool": "bits.bitwise_or"},
    "BITWISE_XOR": dict.fromkeys(
        ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32"), "bits.bitwise_xor"
    ),
    "RIGHT_SHIFT": {
        f"{sign}int{bits}": f"bits.shift_right_{bits}" for bits in (8, 16, 32) for sign in ("", "u")
    },
}
"""Operator -> dtype -> kernel."""

_SAME_SCALE = ("MAXIMUM", "MINIMUM")
_ON_INTEGERS = ("FLOOR_DIV", "FLOOR_MOD")
"""Operators that, as in TFLite, do not look at scales."""


@op(*ARITHMETIC)
@small_floats
def arithmetic(node: Node) -> Prepared:
    """The result for each pair of elements, within the limits of the fused activation."""
    a, b = required(node, 2)
    shape = _common(node, a, b)
    if is_quantized(a):
        from .quantized_pair import quantized_pair

        return quantized_pair(node, a, b, shape)
    low, high = clamp_of(node)
    if name_of_dtype(a.dtype) not in _NUMBERS:
        from . import other_numbers  # few models have any

        if other_numbers.takes(node, other_numbers.BINARY, a):
            return other_numbers.binary(node, a, shape, (low, high))
        unsupported(node, a)
    out = node.result(shape, a.dtype)

    def emit(program: Program) -> None:
        limits = limits_of(a.dtype, low, high)
        if node.kind == "DIV" and a.is_integer:
            elementwise(program, f"division.divide_{tf_name(a.dtype)}", (a, b), out)
            for kernel, limit in (("maximum", low), ("minimum", high)):
                if abs(limit) < _LARGEST:
                    bound = constant(np.array(limit, a.dtype))
                    elementwise(program, f"arithmetic.{kernel}", (out, bound), out)
        else:
            elementwise(program, f"arithmetic.{ARITHMETIC[node.kind]}", (a, b), out, limits)

    return emit


def _compare_nothing(program: Program) -> None:
    """No instruction: there are no elements."""


@op(*PLAIN)
@small_floats
def plain(node: Node) -> Prepared:
    """The result for each pair of elements."""
    a, b = required(node, 2)
    shape = _common(node, a, b)
    if is_quantized(a) and node.kind == "SQUARED_DIFFERENCE":
        from .quantized_pair import quantized_pair

        return quantized_pair(node, a, b, shape)
    kernel: str = PLAIN[node.kind].get(a.dtype.name, "")
    if not kernel:
        from . import other_numbers

        if other_numbers.takes(node, other_numbers.BINARY, a):
            return other_numbers.binary(node, a, shape)
    if not kernel and node.kind in _SAME_SCALE and 0 in shape:
        node.result(shape, a.dtype)
        return _compare_nothing  # whatever the type
    if not kernel or (is_quantized(a) and node.kind not in (*_SAME_SCALE, *_ON_INTEGERS)):
        node.fail(f"{_kind(a)} is not supported")
    if is_quantized(a) and node.kind in _SAME_SCALE:
        _require_scale(node)
    if node.kind == "POW" and a.is_integer and b.value is not None and b.size:
        lowest = b.value.min()
        node.require(lowest >= 0, f"powers must not be negative, got {lowest}")
    out = node.result(shape, a.dtype)

    def emit(program: Program) -> None:
        operands = [x.view(np.uint8) if x.dtype == np.bool_ else x for x in (a, b, out)]
        elementwise(program, kernel, operands[:2], operands[2])

    return emit


@op("ADD_N")
@small_floats
def add_n(node: Node) -> Prepared:
    """The sum of all inputs."""
    first, *others = required(node, max(1, len(node.inputs)))
    same_dtype(node, node.inputs)
    addition = None
    if first.dtype.name not in _NUMBERS:
        from . import other_numbers

        addition = other_numbers.total if other_numbers.is_number(first) else None
    node.require(first.dtype.name in _NUMBERS or addition, f"{_kind(first)} is not supported")
    for other in others:
        node.require_equal(
            other.shape,
            first.shape,
            f"inputs must have one shape, got {first.shape} and {other.shape}",
        )
    if not others:
        node.alias(first, first.shape)
        return None
    if addition is not None:
        return addition(node, first)
    out = node.result(first.shape, first.dtype)

    def emit(program: Program) -> None:
        limits, total = _ends(first.dtype), first
        for other in others:
            elementwise(program, "arithmetic.add", (total, other), out, limits)
            total = out

    return emit


@lru_cache(64)
def limits_of(dtype: np.dtype, low: float, high: float) -> Buffer:
    """A buffer with both limits; those that are no limit let infinite results stay infinite."""
    if dtype.kind == "f":
        low, high = (-np.inf if low <= -_LARGEST else low, np.inf if high >= _LARGEST else high)
        return constant(np.array([low, high], dtype))
    known = np.iinfo(dtype)
    return constant(np.array([int(max(low, known.min)), int(min(high, known.max))], dtype))


def _ends(dtype: np.dtype) -> Buffer:
    """A buffer with the lowest and highest finite number: no sum of ADD_N exceeds them."""
    known = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    return constant(np.array([known.min, known.max], dtype))


def _common(node: Node, a: Operand, b: Operand) -> tuple[int, ...]:
    """The shape both operands broadcast to."""
    same_dtype(node, (a, b))
    shape = broadcast_shape(a.shape, b.shape)
    if shape is None:
        node.fail(f"shapes {a.shape} and {b.shape} do not broadcast")
    return shape


def _require_scale(node: Node) -> None:
    """Refuses operands that do not have the output's scale."""
    output_params = node.outputs[0].quantization
    for x in required(node, len(node.inputs)):
        input_params = x.quantization
        node.require(
            output_params is None
            or (
                input_params is not None
                and input_params.scale == output_params.scale
                and input_params.zero_point == output_params.zero_point
            ),
            "inputs and output must have one scale and zero point",
        )


def _kind(x: Operand) -> str:
    return f"{'quantized ' if is_quantized(x) else ''}{tf_name(x.dtype)}"
