"""EQUAL, NOT_EQUAL, LESS, ... and SELECT: questions about elements, and choices by the answers."""

import numpy as np

from ...engine.families.elementwise import broadcast_shape, elementwise
from ...engine.families.multipliers import quantize_multiplier
from ...engine.plan.buffer import arena
from ..checks import required, same_dtype
from ..registry import op

COMPARISONS = {
    "EQUAL": ("equal", False),
    "NOT_EQUAL": ("differ", False),
    "LESS": ("less", False),
    "LESS_EQUAL": ("at_most", False),
    "GREATER": ("less", True),
    "GREATER_EQUAL": ("at_most", True),
}
"""Operator -> kernel of kernels/compare.py, and whether the operands change places."""

_ORDERED = (np.float32, np.int32, np.int64, np.int16)
_SCALED = (np.int8, np.uint8)


@op(*COMPARISONS)
def compare(node):
    """Whether the comparison holds, element by element."""
    a, b = required(node, 2)
    same_dtype(node, (a, b))
    kernel, swapped = COMPARISONS[node.kind]
    shape = broadcast_shape(a.shape, b.shape)
    node.require(shape is not None, f"shapes {a.shape} and {b.shape} do not broadcast")
    if a.dtype.hasobject:
        node.require(kernel in _TEXT, "strings have no order here; use EQUAL or NOT_EQUAL")
        return node.dynamic_result(lambda *texts: [_TEXT[kernel](*texts).astype(bool)], [shape])
    scaled = (*_SCALED, np.int16) if kernel in _TEXT else _SCALED  # TFLite orders int16 as stored
    quantized = a.dtype in scaled and None not in (a.quantization, b.quantization)
    kinds = _ORDERED if swapped or kernel not in _TEXT else (*_ORDERED, np.bool_)
    node.require(quantized or a.dtype in (*kinds, *_SCALED), f"{a.dtype} is not supported")
    out = node.result(shape, np.bool_)

    def emit(program):
        operands = [_comparable(program, x, quantized) for x in (a, b)]
        elementwise(program, f"compare.{kernel}", operands[::-1] if swapped else operands, out)

    return emit


_TEXT = {"equal": np.equal, "differ": np.not_equal}


def _comparable(program, x, quantized):
    """`x` in a type the kernels take; quantized numbers in 1/256 units of what they mean."""
    if x.dtype == np.bool_:
        return x.view(np.uint8)
    if not (quantized or x.dtype in _SCALED):
        return x
    wide = arena(x.shape, np.int32)
    scale, zero_point = (x.quantization.scale, x.quantization.zero_point) if quantized else (1.0, 0)
    multiplier, shift = quantize_multiplier(scale)
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
def select(node):
    """The second input where the first is true, the third elsewhere."""
    condition, x, y = required(node, 3)
    node.require(condition.dtype == np.bool_, f"the condition must be bool, got {condition.dtype}")
    same_dtype(node, (x, y))
    if node.kind == "SELECT" and condition.ndim == 1 and x.ndim > 1:
        condition = condition.reshape((condition.size, *[1] * (x.ndim - 1)))
    shape = broadcast_shape(condition.shape, x.shape, y.shape)
    node.require(
        shape is not None,
        f"shapes {condition.shape}, {x.shape} and {y.shape} do not broadcast",
    )
    node.require(
        node.kind == "SELECT_V2" or shape == x.shape == y.shape,
        f"both choices must have one shape, got {x.shape} and {y.shape}",
    )
    out = node.result(shape, x.dtype)
    return lambda program: elementwise(program, "compare.choose", (condition, x, y), out)
