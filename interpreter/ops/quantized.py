"""Arithmetic of quantized integers, for the families that have it."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.buffer import constant
from ...schema.dtypes import PACKED_BITS
from ...schema.operators import known
from ...schema.quantization import Quantization
from ..checks import NO_LIMIT, clamp_of, limits_of, name_of_dtype
from ..plan.node import NeedsValue, Node, Operand, TensorDeclaration

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...engine.plan.buffer import Buffer


QUANTIZED_TYPES = ("int8", "uint8", "int16")
_CODES = {"int8": "i8", "uint8": "u8", "int16": "i16"}

_SUBBYTE = {"int4": np.int8, "int2": np.int8, "uint4": np.uint8}
_LARGEST_UINT4 = 15


def is_quantized(x: Operand) -> bool:
    """Whether `x` holds small integers with a scale."""
    return x.quantization is not None and name_of_dtype(x.dtype) in QUANTIZED_TYPES


def quotient(above: Sequence[float], below: Sequence[float]) -> float:
    """The product of scales over others, in float32 as TFLite's kernels multiply them.

    It is not finite where float32 comes to its end.
    """
    with np.errstate(all="ignore"):
        return float(prod(map(np.float32, above)) / np.float32(prod(map(np.float32, below))))


def to_int32(values: npt.ArrayLike) -> np.ndarray:
    """Floats as C++ makes int32 of them on a processor: what does not fit is the lowest one."""
    values64 = np.asarray(values, np.float64)
    fits = np.abs(values64) < 2.0**31
    return np.where(fits, np.where(fits, values64, 0).astype(np.int64), -(1 << 31))


def wrapped(values: npt.ArrayLike, bits: int = 32) -> np.ndarray:
    """Integers without what is beyond `bits`, as sums of C++ come out."""
    half = 1 << (bits - 1)
    return (np.asarray(values, np.int64) + half) % (2 * half) - half


def wrapped_limits(
    low: float, high: float, dtype: np.dtype, quantization: Quantization
) -> tuple[int, int]:
    """The quantized limits of an operator that, as TFLite's, does not look for overflows."""
    lowest, highest = limits_of(dtype)
    ends: list[int] = []
    for limit, end in ((low, lowest), (high, highest)):
        if np.isinf(limit):
            ends.append(end)
            continue
        with np.errstate(over="ignore"):
            steps = np.float32(limit) / np.float32(quantization.scale)
        nearest = np.trunc(float(steps) + copysign(0.5, steps))
        ends.append(int(wrapped(to_int32(nearest) + quantization.zero_point)))
    first, last = max(lowest, ends[0]), min(highest, ends[1])
    if first <= last:
        return first, last
    only = (last - lowest) % (highest - lowest + 1) + lowest
    return only, only


def quantization_of(node: Node, tensor: Operand | TensorDeclaration, name: str) -> Quantization:
    """The quantization of an input or output, which must have one."""
    if tensor.quantization is None:
        node.fail(f"{name} must have a scale")
    if tensor.quantization.blocks is not None:
        node.fail(f"{name} must have one scale, or one for each channel, got one for each block")
    return tensor.quantization


def dequantized_blocks(node: Node, weights: Operand) -> Operand:
    """Weights as float32 when they are quantized by blocks, any others as they are."""
    blocks = None if weights.quantization is None else weights.quantization.blocks
    if blocks is None:
        return weights
    value = weights.value
    if value is None:
        node.fail(f"'{weights.name}' is quantized by blocks and must be a constant")
    return Operand.known(blocks.dequantized(value), weights.name)


def signed_weights(weights: Operand) -> Operand:
    """Constants of uint4 as int8 without a zero point, any other weights as they are."""
    quantization = weights.quantization
    if name_of_dtype(weights.dtype) != "uint4" or quantization is None:
        return weights
    value = weights.value
    if value is None:
        return weights
    zero_points = quantization.zero_points
    if zero_points.min(initial=0) < 0 or zero_points.max(initial=0) > _LARGEST_UINT4:
        return weights
    along = [1] * value.ndim
    if quantization.is_per_channel:
        along[quantization.axis] = -1
    signed = (value.astype(np.int8) - zero_points.reshape(along)).astype(np.int8)
    zeros = np.zeros_like(zero_points)
    centred = Quantization(quantization.scales, zeros, quantization.axis)
    return Operand.known(signed, weights.name, centred)


def require_prescribed(node: Node, dtype: np.dtype, tolerance: float = 0.0) -> Quantization:
    """The quantization of the output, which must be what its row in the table of operators says."""
    prescribed = known(node.kind).scale_of(_CODES[name_of_dtype(dtype)])
    if prescribed is None:
        raise LookupError(f"the row of {node.kind} prescribes no scale for {dtype}")
    scale, zero_point = prescribed
    output = quantization_of(node, node.outputs[0], "the output")
    node.require(
        abs(output.scale - scale) <= tolerance * scale and output.zero_point == zero_point,
        f"output must have scale 1/{1 / scale:g} and zero point {zero_point}, "
        f"got {output.scale} and {output.zero_point}",
    )
    return output


def quantized_limits(
    node: Node, dtype: np.dtype, quantization: Quantization, fused: bool = True
) -> tuple[int, int]:
    """The lowest and highest quantized value: those of the type, or of the fused activation."""
    low, high = clamp_of(node) if fused else (-np.inf, np.inf)
    return quantize_limit(low, dtype, quantization), quantize_limit(high, dtype, quantization)


def quantize_limit(limit: float, dtype: np.dtype, quantization: Quantization) -> int:
    """The quantized value of the float32 `limit`, the type's own end where that is none."""
    lowest, highest = limits_of(dtype)
    if abs(limit) >= NO_LIMIT:
        return lowest if limit < 0 else highest
    with np.errstate(over="ignore"):
        steps = float(np.float32(limit) / np.float32(quantization.scale))
    nearest = np.trunc(steps + copysign(0.5, steps)) + quantization.zero_point
    return int(min(max(nearest, lowest), highest))


def packed_rows(node: Node, weights: Operand) -> Buffer:
    """Rows of constant integers of at most 8 bits as bytes, packed as in the file where they are.

    The rows are then shorter.
    """
    packed, (n, depth) = weights.packed, weights.shape
    bits = PACKED_BITS.get(name_of_dtype(weights.dtype).upper(), 8)
    if packed is None or not depth or packed.size % n or 8 * packed.size != n * depth * bits:
        return whole_bytes(node, weights).view(np.uint8)
    return packed.reshape((n, packed.size // n))


def whole_bytes(node: Node, weights: Operand) -> Buffer:
    """`weights`, integers of less than a byte as int8 or uint8.

    Memory does not say what the upper bits of a byte are: raises NeedsValue for a signed operand.
    """
    dtype = _SUBBYTE.get(name_of_dtype(weights.dtype))
    if dtype is None:
        return weights
    if weights.value is None and dtype is np.uint8:
        return weights.view(dtype)
    if weights.value is None:
        raise NeedsValue(node.inputs.index(weights))
    return constant(weights.value.astype(dtype), weights.name)
