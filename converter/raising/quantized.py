"""Quantized tensors in a graph of floats: constants dequantized, results on their grid."""

from __future__ import annotations

import numpy as np

from ...graph.core import graph as tf
from ...graph.core.build import ops
from ...schema.errors import ConverterError
from ..ir import graph as ir


def is_quantized(tensor: ir.Tensor) -> bool:
    """Whether a tensor's integers stand for real numbers."""
    params = tensor.quantization
    if params is None or tensor.dtype.kind not in "iuV":
        return False
    return params.blocks is not None or len(params.scales) > 0


def dtype_of(tensor: ir.Tensor) -> np.dtype:
    """The type that a tensor has in the raised graph: float32 where it is quantized."""
    return np.dtype(np.float32) if is_quantized(tensor) else tensor.dtype


def dequantized(tensor: ir.Tensor) -> np.ndarray:
    """The value of a tensor of data, as real numbers where it is quantized."""
    value, params = tensor.data, tensor.quantization
    if not is_quantized(tensor):
        return value
    if params.blocks is not None:
        return params.blocks.dequantized(value)
    scales, zero_points = params.shaped(value.ndim)
    return (value.astype(np.float32) - zero_points) * scales


def fake_quantized(tensor: ir.Tensor, value: tf.Tensor) -> tf.Tensor:
    """`value` on the grid of a quantized tensor, which must have one scale."""
    params = tensor.quantization
    if params.blocks is not None or params.is_per_channel:
        raise ConverterError(
            f"'{tensor.name}' must have one scale, got {len(params.scales)}; dequantize it before"
        )
    limits = np.iinfo(tensor.dtype.name)
    if limits.bits > 16:  # sums of products, whose grid is finer than float32's
        return value
    low, high = (
        float((limit - params.zero_point) * params.scale) for limit in (limits.min, limits.max)
    )
    return ops.FakeQuantWithMinMaxArgs(value, min=low, max=high, num_bits=limits.bits)
