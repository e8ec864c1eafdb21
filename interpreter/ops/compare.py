"""EQUAL, NOT_EQUAL, LESS, ... and SELECT: questions about elements, and choices by the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.conversion import convert
from ...engine.families.elementwise import broadcast_shape, elementwise
from ...engine.families.multipliers import (
    ALL_OF_SHIFT,
    quantize_multiplier,
    right_shift_only,
)
from ...engine.plan.buffer import arena
from ...schema.dtypes import tf_name
from ..checks import required, same_dtype
from ..plan.substitution import moves_any, small_floats
from ..registry import op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node, Operand, Prepared


COMPARISONS = {
    "EQUAL": ("equal", False),
    "NOT_EQUAL": ("not_equal", False),
    "LESS": ("less", False),
    "LESS_EQUAL": ("less_equal", False),
    "GREATER": ("less", True),
    "GREATER_EQUAL": ("less_equal", True),
}
"""Operator -> kernel of kernels/compare.py, and whether the operands change places."""

_ORDERED: Sequence[type] = (np.float32, np.int32, np.int64, np.int16)
_ORDERED_OR_EQUAL: Sequence[type] = (*_ORDERED, np.bool_)
_SCALED: Sequence[type] = (np.int8, np.uint8)
_SCALED_OR_EQUAL: Sequence[type] = (*_SCALED, np.int16)


@op(*COMPARISONS)
@small_floats
def compare(node: Node) -> Prepared:
    """Whether the comparison holds, element by element."""
    a, b = required(node, 2)
    same_dtype(node, (a, b))
    kernel, swapped = COMPARISONS[node.kind]
    shape = broadcast_shape(a.shape, b.shape)
    if shape is None:
        node.fail(f"shapes {a.shape} and {b.shape} do not broadcast")
    if a.dtype.hasobject:
        node.require(kernel in _TEXT, "strings have no order here; use EQUAL or NOT_EQUAL")

        def compare_texts(first: np.ndarray, second: np.ndarray) -> list[np.ndarray]:
            return [_TEXT[kernel](first, second).astype(bool)]

        return node.dynamic_result(compare_texts, [shape])
    scaled = _SCALED_OR_EQUAL if kernel in _TEXT else _SCALED  # TFLite orders quantized int16
    quantized = a.dtype in scaled and None not in (a.quantization, b.quantization)
    dtypes = _ORDERED if swapped or kernel not in _TEXT else _ORDERED_OR_EQUAL
    has_kernel = quantized or a.dtype in dtypes or a.dtype in _SCALED
    if not has_kernel:
        from . import other_numbers

        if other_numbers.takes(node, other_numbers.BINARY, a):
            return other_numbers.binary(node, a, shape, dtype=np.dtype(np.bool_))
        node.fail(f"{tf_name(a.dtype)} is not supported")
    out = node.result(shape, np.bool_)

    def emit(program: Program) -> None:
        operands = [_comparable(program, x, quantized) for x in (a, b)]
        elementwise(program, f"compare.{kernel}", operands[::-1] if swapped else operands, out)

    return emit


_TEXT = {"equal": np.equal, "not_equal": np.not_equal}


def _comparable(program: Program, x: Operand, quantized: bool) -> Buffer:
    """`x` in a type the kernels take; quantized numbers in 1/256 units of what they mean."""
    if x.dtype == np.bool_:
        return x.view(np.uint8)
    if not quantized or x.quantization is None:
        return convert(program, x, np.int32) if x.dtype in _SCALED else x
    wide = arena(x.shape, np.int32)
    scale, zero_point = x.quantization.scale, x.quantization.zero_point
    multiplier, shift = right_shift_only(*quantize_multiplier(scale, ALL_OF_SHIFT))
    if x.size:
        program.call(
            "quantize.rescale",
            x.ravel(),
            wide.ravel(),
            split=x.size,
            x_zero=zero_point,
            multiplier=multiplier,
            shift=shift,
            left=8,
        )
    return wide


@op("SELECT", "SELECT_V2")
@moves_any
def select(node: Node) -> Emit:
    """The second input where the first is true, the third elsewhere."""
    flags, x, y = required(node, 3)
    node.require(flags.dtype == np.bool_, f"the condition must be bool, got {tf_name(flags.dtype)}")
    same_dtype(node, (x, y))
    condition: Buffer = flags
    if node.kind == "SELECT" and flags.ndim == 1 and x.ndim > 1:
        condition = condition.reshape((condition.size, *[1] * (x.ndim - 1)))
    shape = broadcast_shape(condition.shape, x.shape, y.shape)
    if shape is None:
        node.fail(f"shapes {condition.shape}, {x.shape} and {y.shape} do not broadcast")
    node.require(
        node.kind == "SELECT_V2" or shape == x.shape == y.shape,
        f"both choices must have one shape, got {x.shape} and {y.shape}",
    )
    out = node.result(shape, x.dtype)
    return lambda program: elementwise(program, "compare.select", (condition, x, y), out)
