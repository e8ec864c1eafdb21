"""SOFTMAX and LOG_SOFTMAX along the last dimension."""

from __future__ import annotations

from math import floor, prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.fixedpoint import (
    exp_on_negative_values,
    multiply_by_quantized_multiplier,
    rounding_divide_by_pot,
    sampled,
)
from ...engine.families.multipliers import quantize_multiplier
from ...engine.plan.buffer import constant
from ...schema.dtypes import tf_name
from ..checks import BYTES, limits_of, name_of_dtype, one_scale, required, supported
from ..plan.substitution import small_floats
from ..registry import op
from .quantized import is_quantized, require_prescribed

if TYPE_CHECKING:
    from typing import TypeAlias

    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node, Operand

    Call: TypeAlias = tuple[str, tuple[Buffer, ...], dict[str, float]]
    """A kernel, its tables and its numbers."""


NEAR = 1e-3
"""How far a scale may be from the prescribed one, relative to it, as in TFLite's kernels."""


@op("SOFTMAX", "LOG_SOFTMAX")
@small_floats
def softmax(node: Node) -> Emit:
    """exp(beta * x) (or exp(x)) over its sum, and the logarithm of that."""
    (x,) = required(node, 1)
    node.require(
        x.ndim or node.kind == "LOG_SOFTMAX", "input must have 1 dimension or more, got a scalar"
    )
    numbers: dict[str, float] = {}
    if is_quantized(x):
        kernel, tables, numbers = _quantized(node, x)
        out = node.result(x.shape, node.outputs[0].dtype or x.dtype)
    else:
        supported(node, (x,))
        kernel, tables = f"softmax.{node.kind.lower()}", ()
        if node.kind == "SOFTMAX":
            numbers = {"beta": float(node.options.beta)}
        out = node.result(x.shape, x.dtype)
    rows = (prod(x.shape[:-1]), x.shape[-1] if x.ndim else 1)

    def emit(program: Program) -> None:
        if x.size:
            program.call(
                kernel, x.reshape(rows), *tables, out.reshape(rows), split=rows[0], **numbers
            )

    return emit


_RESULTS = {"int8": ("int8", "int16"), "uint8": ("uint8", "int16"), "int16": ("int16",)}
"""Type of the input -> of the result of SOFTMAX."""


def _quantized(node: Node, x: Operand) -> Call:
    """The kernel for quantized integers, its tables and numbers."""
    input_params, _ = one_scale(node, x)
    result = node.outputs[0].dtype or x.dtype
    if node.kind == "LOG_SOFTMAX":
        if x.dtype not in BYTES:
            node.fail(f"quantized {tf_name(x.dtype)} is not supported")
        require_prescribed(node, x.dtype, NEAR)
        return _log_softmax(x.dtype, input_params.scale)
    if name_of_dtype(result) not in _RESULTS[name_of_dtype(x.dtype)]:
        node.fail(f"{tf_name(x.dtype)} cannot give {result}")
    node.require(node.options.beta > 0, f"beta must be positive, got {node.options.beta}")
    low, high = limits_of(result)
    if x.dtype == np.int16 or result != np.int16:
        require_prescribed(node, result, NEAR)
    if x.dtype == np.int16:
        return _softmax_16(input_params.scale, node.options.beta)
    _, exps, _ = _exponents(input_params.scale, float(node.options.beta))
    numbers: dict[str, float] = {"low": low, "high": high}
    if result == x.dtype:
        rounded = rounding_divide_by_pot(exps.astype(np.int64), 12)[0]
        planes = np.array([rounded >> 8 * i & 255 for i in range(3)], np.uint8)
        return (
            f"softmax_i8.softmax_{name_of_dtype(result)}",
            (constant(exps), constant(planes)),
            numbers,
        )
    numbers["bits"] = 8 * result.itemsize
    return "quantized.softmax", (constant(exps),), numbers


_FINEST = 1 + 2.0**-30
"""A step of the input times 2 ** 26: for smaller ones, TFLite's multipliers are not defined."""


def _exponents(scale: float, beta: float) -> tuple[np.ndarray, np.ndarray, tuple[int, int, int]]:
    """Differences 0 to 255 from the largest: times 2 ** 26, exp of them, and the scale.

    exp is 0 where the difference is too large for TFLite.
    """
    real = beta * float(np.float32(scale)) * (1 << 26)
    real = min(max(real, _FINEST), (1 << 31) - 1.0)
    multiplier, shift = quantize_multiplier(real)
    radius = floor(31 * (1 << 26) / (1 << max(shift, 0)))
    steps = -np.arange(256)
    near = steps >= -radius
    fine = multiply_by_quantized_multiplier(np.where(near, steps, 0), multiplier, shift)
    exps = np.where(near, exp_on_negative_values(fine), 0)
    return fine.astype(np.int32)[None], exps.astype(np.int32)[None], (multiplier, shift, radius)


def _log_softmax(dtype: np.dtype, scale: float) -> Call:
    fine, exps, (multiplier, shift, radius) = _exponents(scale, 1.0)
    reverse, reverse_shift = quantize_multiplier((1 << (31 - shift)) / multiplier)
    low, high = limits_of(dtype)
    numbers: dict[str, float] = {
        "radius": radius,
        "reverse": reverse,
        "reverse_shift": reverse_shift,
        "low": low,
        "high": high,
    }
    return "quantized.log_softmax", (constant(fine), constant(exps)), numbers


def _reciprocal_of_next(y: np.ndarray) -> np.ndarray:
    return 1 / (1 + y)


def _softmax_16(scale: float, beta: float) -> Call:
    rescale = float(np.float32(scale) * np.float32(beta)) / (10 / 65535)
    multiplier, shift = quantize_multiplier(rescale)
    ends = [(np.float64(-10), np.float64(0)), (np.float64(0), np.float64(1))]
    functions = (np.exp, _reciprocal_of_next)
    tables = [
        sampled(function, *end, 32768.0) for function, end in zip(functions, ends, strict=True)
    ]
    steps = multiply_by_quantized_multiplier(-np.arange(65536), multiplier, shift)
    steps += 65535
    tables[0] = tables[0][np.clip(steps, 0, 65535, out=steps)]
    return "quantized.softmax_16", (constant(np.array(tables, np.int16)),), {}
