"""CAST, BITCAST, QUANTIZE, DEQUANTIZE, FAKE_QUANT: numbers of one type as numbers of another."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.conversion import convert, is_castable, is_small_float
from ...engine.families.elementwise import look_up
from ...engine.families.fixedpoint import multiply_by_quantized_multiplier
from ...engine.families.multipliers import quantize_multiplier
from ...engine.plan.buffer import constant
from ...schema.dtypes import tf_name
from ..checks import name_of_dtype, required
from ..numpy_calls import array_by_numpy
from ..plan.node import Operand
from ..plan.substitution import small_floats
from ..registry import op
from .quantized import quantization_of, whole_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ...schema.quantization import Quantization
    from ..plan.node import DynamicResult, Emit, Node, Prepared


_QUANTIZED: Sequence[type] = (np.int8, np.uint8, np.int16)
_REQUANTIZED = {
    "int8": ("int8", "uint8", "int16"),
    "uint8": ("int8", "uint8", "int16"),
    "int16": ("int8", "int16", "int32"),
    "int32": ("int8", "int16"),
}
"""Quantized type -> the types QUANTIZE turns it into, beside floats."""
_SUBBYTE = ("int4", "uint4", "int2")
_LEAST, _MOST = 2.0**-60, 2.0**60  # scales of which all quotients that count are normal numbers
_BEYOND = 4  # ranges of a type, that all results beyond are the lowest or the highest


@op("CAST", "STABLEHLO_CONVERT")
def cast(node: Node) -> Prepared:
    """`x` as numbers of the declared type; floats lose their fraction and stay within limits."""
    (x,) = required(node, 1)
    dtype = node.outputs[0].dtype
    if dtype is None:
        node.fail("the output's type is not declared")
    for kind in (x.dtype, dtype):
        node.require(not kind.hasobject and kind.names is None, f"{tf_name(kind)} cannot be cast")
    if dtype == x.dtype:
        node.alias(x, x.shape)
        return None
    if not (is_castable(x.dtype) and is_castable(dtype)):

        def run(array: np.ndarray) -> np.ndarray:
            return _cast(array, dtype)

        return array_by_numpy(node, run, x.shape, dtype)
    out = node.result(x.shape, dtype)
    return lambda program: convert(program, x, dtype, out)


def _cast(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """As `convert`: of complex numbers the real part, floats within the ends of an integer."""
    name = name_of_dtype(dtype)
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = np.real(x)
    if x.dtype.kind == "V":
        x = x.astype(np.int8 if name_of_dtype(x.dtype) in _SUBBYTE else np.float32)
    with np.errstate(all="ignore"):
        if x.dtype.kind != "f" or dtype.kind not in "iu":
            wide = x.astype(np.float32) if dtype.kind == "V" and name not in _SUBBYTE else x
            return wide.astype(dtype)
        limits = np.iinfo(dtype)
        inside = (x > float(limits.min)) & (x < float(limits.max))
        ends = np.where(x <= float(limits.min), limits.min, limits.max).astype(dtype)
        return np.where(inside, np.where(inside, x, 0).astype(dtype), ends)


@op("BITCAST")
def bitcast(node: Node) -> None:
    """The bytes of `x` read as the declared type; the last dimension splits or closes up."""
    (x,) = required(node, 1)
    dtype = node.outputs[0].dtype
    if dtype is None:
        node.fail("the output's type is not declared")
    shape = x.shape
    if dtype.itemsize < x.itemsize:
        shape = (*shape, x.itemsize // dtype.itemsize)
    elif dtype.itemsize > x.itemsize:
        ratio = dtype.itemsize // x.itemsize
        message = (
            f"the last dimension must be {ratio} to make a {tf_name(dtype)} "
            f"of {tf_name(x.dtype)}, got {shape}"
        )
        node.require(shape, message)
        node.require_equal(shape[-1], ratio, message)
        shape = shape[:-1]
    node.alias(x, shape, dtype)


@op("QUANTIZE")
@small_floats
def quantize(node: Node) -> Prepared:
    """float32 as integers with the output's scale, or integers with another scale than before."""
    (x,), declaration = required(node, 1), node.outputs[0]
    quantization, dtype = quantization_of(node, declaration, "the output"), declaration.dtype
    _require_fit(node, x.shape, quantization)
    if x.dtype != np.float32:
        return _requantize(node, x, quantization)
    node.require(dtype in _QUANTIZED, f"float32 cannot be quantized to {dtype} yet")
    out = node.result(x.shape, dtype)
    limits = np.iinfo(out.dtype.name)
    scale = float(np.float32(quantization.scale))
    quick = not quantization.is_per_channel and _LEAST <= scale <= _MOST
    quick = quick and limits.min <= quantization.zero_point <= limits.max

    def emit(program: Program) -> None:
        if out.size and quick:
            zero = int(quantization.zero_point)
            program.call(
                f"quantize_f32.to_{tf_name(out.dtype)}",
                x.ravel(),
                out.ravel(),
                split=x.size,
                scale=scale,
                reach=_BEYOND * (1 << limits.bits) * scale,
                zero=zero,
            )
        elif out.size:
            shape, scales, zero_points = _by_channel(x.shape, quantization)
            program.call(
                "quantize.quantize",
                x.reshape(shape),
                scales,
                zero_points,
                out.reshape(shape),
                split=shape[0] * shape[1],
                low=int(limits.min),
                high=int(limits.max),
            )

    return emit


def _requantize(node: Node, x: Operand, quantization: Quantization) -> Emit:
    """Integers with another scale than before."""
    dtype = node.outputs[0].dtype
    known = _REQUANTIZED.get(x.dtype.name, ())
    node.require(str(dtype) in known, f"{tf_name(x.dtype)} cannot be quantized to {dtype}")
    before = quantization_of(node, x, "the input")
    node.require(
        not before.is_per_channel and not quantization.is_per_channel,
        "integers must have one scale before and after",
    )
    out = node.result(x.shape, dtype)
    limits = np.iinfo(out.dtype.name)
    ratio = float(np.float32(before.scale)) / float(np.float32(quantization.scale))
    multiplier, shift = quantize_multiplier(ratio)
    if x.itemsize == out.itemsize == 1:
        values = np.arange(256).astype(np.uint8).view(x.dtype).astype(np.int64)
        values = (
            multiply_by_quantized_multiplier(values - before.zero_point, multiplier, shift)
            + quantization.zero_point
        )
        table = constant(np.clip(values, limits.min, limits.max).astype(out.dtype))
        return lambda program: look_up(program, x, table, out)

    def emit(program: Program) -> None:
        if out.size:
            program.call(
                "quantize.requantize",
                x.ravel(),
                out.ravel(),
                split=out.size,
                x_zero=before.zero_point,
                multiplier=multiplier,
                shift=shift,
                out_zero=quantization.zero_point,
                low=int(limits.min),
                high=int(limits.max),
            )

    return emit


@op("DEQUANTIZE")
def dequantize(node: Node) -> Prepared:
    """The float32 values of quantized integers, or of half floats."""
    (x,) = required(node, 1)
    if is_small_float(x.dtype):
        out = node.result(x.shape, np.float32)
        return lambda program: convert(program, x, np.float32, out)
    if x.quantization is not None and x.quantization.blocks is not None:
        blocks = x.quantization.blocks

        def run(values: np.ndarray) -> list[np.ndarray]:
            return [blocks.dequantized(values)]

        return node.dynamic_result(run, [x.shape])
    if x.value is None and name_of_dtype(x.dtype) in _SUBBYTE:
        return _dequantize_subbyte(node, x)
    integers = whole_bytes(node, x)
    node.require(integers.dtype in _QUANTIZED, f"{tf_name(x.dtype)} is not supported yet")
    quantization = quantization_of(node, x, "the input")
    _require_fit(node, x.shape, quantization)
    out = node.result(x.shape, np.float32)

    def emit(program: Program) -> None:
        if out.size:
            shape, scales, zero_points = _by_channel(x.shape, quantization)
            program.call(
                "quantize.dequantize",
                integers.reshape(shape),
                scales,
                zero_points,
                out.reshape(shape),
                split=shape[0] * shape[1],
            )

    return emit


def _dequantize_subbyte(node: Node, x: Operand) -> DynamicResult:
    """Integers of less than a byte that only running gives, by numpy, which knows their bits."""
    quantization = quantization_of(node, x, "the input")
    _require_fit(node, x.shape, quantization)
    scales, zero_points = quantization.shaped(x.ndim)

    def run(values: np.ndarray) -> list[np.ndarray]:
        return [(values.astype(np.float32) - zero_points) * scales]

    return node.dynamic_result(run, [x.shape])


@op("FAKE_QUANT")
@small_floats
def fake_quant(node: Node) -> Emit:
    """float32 rounded to what `num_bits` can tell apart between `min` and `max`."""
    (x,) = required(node, 1)
    options = node.options
    bits = int(options.num_bits)
    node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported")
    node.require(2 <= bits <= 16, f"num_bits must be in [2, 16], got {bits}")
    low, high = np.float32(options.min), np.float32(options.max)
    node.require(low < high, f"min must be below max, got {low} and {high}")
    first, last = np.float32(bool(options.narrow_range)), np.float32((1 << bits) - 1)
    scale = (high - low) / (last - first)
    zero_point = np.floor(min(max(first - low / scale, first), last) + np.float32(0.5))
    out = node.result(x.shape, x.dtype)

    def emit(program: Program) -> None:
        if out.size:
            program.call(
                "quantize.round_to_steps",
                x.ravel(),
                out.ravel(),
                split=out.size,
                low=float((first - zero_point) * scale),
                high=float((last - zero_point) * scale),
                scale=float(scale),
            )

    return emit


def _require_fit(node: Node, shape: tuple[int, ...], quantization: Quantization) -> None:
    if quantization.is_per_channel:
        node.require(
            0 <= quantization.axis < len(shape)
            and shape[quantization.axis] == len(quantization.scales),
            f"{len(quantization.scales)} scales must fit axis {quantization.axis} of shape {shape}",
        )


def _by_channel(
    shape: tuple[int, ...], quantization: Quantization
) -> tuple[tuple[int, int, int], Buffer, Buffer]:
    """The shape [before, channels, inside], and the scale and zero point of each channel."""
    scales = constant(np.array(quantization.scales, np.float32))
    zero_points = constant(np.broadcast_to(quantization.zero_points, scales.shape).astype(np.int32))
    if not quantization.is_per_channel:
        return (1, 1, prod(shape)), scales, zero_points
    axis = quantization.axis
    return (prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])), scales, zero_points
