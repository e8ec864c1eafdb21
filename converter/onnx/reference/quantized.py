"""com.microsoft's operators on quantized tensors: the float operator between two quantizations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .convolutions import convolution
from .pools import average_pool

DOMAIN = "com.microsoft."
JOINT_SOFTMAX = 13  # operator set; before, Softmax is over all axes from its own on
Attributes = Mapping[str, Any]
Operand = np.ndarray | None


def dequantized(x: np.ndarray, scale: np.ndarray, zero_point: Operand) -> np.ndarray:
    """What integers stand for."""
    offset = np.float32(0) if zero_point is None else zero_point.astype(np.float32)
    return (x.astype(np.float32) - offset) * scale


def _quantized(x: np.ndarray, scale: np.ndarray, zero_point: Operand) -> np.ndarray:
    """The integers of a scale and a zero point."""
    zero_point = np.zeros((), np.uint8) if zero_point is None else zero_point
    limits = np.iinfo(zero_point.dtype)
    steps = np.rint(x / scale) + zero_point.astype(np.float32)
    return np.clip(steps, limits.min, limits.max).astype(zero_point.dtype)


def _unary(
    function: Callable[[Attributes, np.ndarray], np.ndarray],
    attributes: Attributes,
    x: np.ndarray,
    x_scale: np.ndarray,
    x_zero: Operand,
    scale: np.ndarray,
    zero: Operand = None,
) -> np.ndarray:
    """A function of one quantized tensor."""
    return _quantized(function(attributes, dequantized(x, x_scale, x_zero)), scale, zero)


def _binary(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    _: Attributes,
    x: np.ndarray,
    x_scale: np.ndarray,
    x_zero: Operand,
    y: np.ndarray,
    y_scale: np.ndarray,
    y_zero: Operand,
    scale: np.ndarray,
    zero: Operand = None,
) -> np.ndarray:
    """A function of two quantized tensors."""
    result = function(dequantized(x, x_scale, x_zero), dequantized(y, y_scale, y_zero))
    return _quantized(result, scale, zero)


def _where(attributes: Attributes, condition: np.ndarray, *operands: Any) -> np.ndarray:
    """Elements of one of two quantized tensors."""
    return _binary(partial(np.where, condition), attributes, *operands)


def _concat(
    attributes: Attributes, scale: np.ndarray, zero: np.ndarray, *operands: np.ndarray
) -> np.ndarray:
    """Quantized tensors joined along an axis."""
    parts = [dequantized(*operands[i : i + 3]) for i in range(0, len(operands), 3)]
    return _quantized(np.concatenate(parts, attributes["axis"]), scale, zero)


def as_channels_first(
    function: Callable[..., np.ndarray], attributes: Attributes, x: np.ndarray, *operands: Any
) -> np.ndarray:
    """A function of an image with channels second on one with channels last."""
    return np.moveaxis(function(attributes, np.moveaxis(x, -1, 1), *operands), 1, -1)


def _pooled(
    function: Callable[..., np.ndarray], attributes: Attributes, x: np.ndarray, *operands: Any
) -> np.ndarray:
    """A function of an image whose channels may be last."""
    if not attributes.get("channels_last", 0):
        return function(attributes, x, *operands)
    return as_channels_first(function, attributes, x, *operands)


def _spatial_mean(_: Attributes, x: np.ndarray) -> np.ndarray:
    return x.mean(axis=tuple(range(2, x.ndim)), keepdims=True)


def _reduce_mean(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    axes = tuple(attributes.get("axes", range(x.ndim)))
    return x.mean(axis=axes, keepdims=bool(attributes.get("keepdims", 1)))


def _softmax(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    first = attributes.get("axis", -1) % x.ndim
    axes = tuple(range(first, x.ndim)) if attributes["opset"] < JOINT_SOFTMAX else (first,)
    powers = np.exp(x - x.max(axis=axes, keepdims=True))
    return powers / powers.sum(axis=axes, keepdims=True)


def _leaky_relu(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, x * np.float32(attributes.get("alpha", 0.01)), x)


UNARY = {
    "QLinearAveragePool": partial(_pooled, average_pool),
    "QLinearGlobalAveragePool": partial(_pooled, _spatial_mean),
    "QLinearLeakyRelu": _leaky_relu,
    "QLinearReduceMean": _reduce_mean,
    "QLinearSigmoid": lambda _, x: 1 / (1 + np.exp(-x)),
    "QLinearSoftmax": _softmax,
}
BINARY = {"QLinearAdd": np.add, "QLinearMul": np.multiply}


def _gemm(
    attributes: Attributes,
    x: np.ndarray,
    x_scale: np.ndarray,
    x_zero: np.ndarray,
    y: np.ndarray,
    y_scale: np.ndarray,
    y_zero: np.ndarray,
    bias: Operand = None,
    scale: Operand = None,
    zero: Operand = None,
) -> np.ndarray:
    """QGemm: a float32 result where it has no scale."""
    a = (x.T if attributes.get("transA", 0) else x).astype(np.float32) - x_zero
    b = (y.T if attributes.get("transB", 0) else y).astype(np.float32) - y_zero
    total = a @ b + (0 if bias is None else bias)
    out = (total * (x_scale * y_scale) * attributes.get("alpha", 1.0)).astype(np.float32)
    return out if scale is None else _quantized(out, scale, zero)


def _conv(
    attributes: Attributes,
    x: np.ndarray,
    x_scale: np.ndarray,
    x_zero: np.ndarray,
    w: np.ndarray,
    w_scale: np.ndarray,
    w_zero: np.ndarray,
    scale: np.ndarray,
    zero: np.ndarray,
    bias: Operand = None,
) -> np.ndarray:
    """QLinearConv: a convolution of integers, quantized by the scales of each filter."""
    shape = (-1,) + (1,) * (x.ndim - 2)
    filters = w.astype(np.float64) - w_zero.reshape((-1,) + (1,) * (x.ndim - 1))
    offset = None if bias is None else bias.astype(np.float64)
    steps = x.astype(np.float64) - x_zero
    total = convolution(attributes, steps, filters, offset)
    return _quantized(total * (x_scale * w_scale).reshape(shape), scale, zero)


def _integer_conv(
    attributes: Attributes,
    x: np.ndarray,
    filters: np.ndarray,
    x_zero: Operand = None,
    zero: Operand = None,
) -> np.ndarray:
    """ConvInteger."""
    shape = (-1,) + (1,) * (x.ndim - 1)
    steps = x.astype(np.float64) - (0 if x_zero is None else x_zero)
    filters = filters.astype(np.float64) - (0 if zero is None else zero.reshape(shape))
    return convolution(attributes, steps, filters).astype(np.int32)


def _integer_product(
    x: np.ndarray, y: np.ndarray, x_zero: Operand = None, y_zero: Operand = None
) -> np.ndarray:
    """x @ y less their zero points, exact as float64."""
    a = x.astype(np.float64) - (0 if x_zero is None else x_zero)
    return a @ (y.astype(np.float64) - (0 if y_zero is None else y_zero))


def _integer_to_float(
    _: Attributes,
    x: np.ndarray,
    y: np.ndarray,
    x_scale: np.ndarray,
    y_scale: np.ndarray,
    x_zero: Operand = None,
    y_zero: Operand = None,
    bias: Operand = None,
) -> np.ndarray:
    """MatMulIntegerToFloat."""
    out = _integer_product(x, y, x_zero, y_zero) * (x_scale * y_scale)
    return (out if bias is None else out + bias).astype(np.float32)


def _dynamic_matmul(
    attributes: Attributes,
    x: np.ndarray,
    y: np.ndarray,
    y_scale: np.ndarray,
    y_zero: Operand = None,
    bias: Operand = None,
) -> np.ndarray:
    """DynamicQuantizeMatMul: x has the scale of its range, in which 0 is."""
    low, high = np.minimum(x.min(), 0), np.maximum(x.max(), 0)
    scale = np.asarray((high - low) / 255 or 1, np.float32)
    zero = np.rint(-low / scale).astype(np.uint8)
    steps = _quantized(x, scale, zero)
    return _integer_to_float(attributes, steps, y, scale, y_scale, zero, y_zero, bias)


def _reduce_sum(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    """ReduceSumInteger."""
    axes = tuple(attributes.get("axes", range(x.ndim)))
    return x.sum(axes, np.int32, keepdims=bool(attributes.get("keepdims", 1)))


def _mul_integer(
    _: Attributes, x: np.ndarray, x_zero: Operand, y: np.ndarray, y_zero: Operand = None
) -> np.ndarray:
    """MulInteger."""
    a = x.astype(np.int32) - (0 if x_zero is None else x_zero.astype(np.int32))
    return a * (y.astype(np.int32) - (0 if y_zero is None else y_zero.astype(np.int32)))


def _unpacked(packed: np.ndarray, bits: int) -> np.ndarray:
    """The integers in bytes, the first in the lowest bits, along the last axis."""
    rows = np.unpackbits(packed.astype(np.uint8), axis=-1, bitorder="little")
    return rows.reshape(*packed.shape[:-1], -1, bits) @ (1 << np.arange(bits))


def _matmul_n_bits(
    attributes: Attributes,
    x: np.ndarray,
    packed: np.ndarray,
    scales: np.ndarray,
    zeros: Operand = None,
    positions: Operand = None,
    bias: Operand = None,
) -> np.ndarray:
    """x times weights whose rows are blocks of integers of few bits."""
    bits, size = attributes.get("bits", 4), attributes["block_size"]
    n_rows, depth = attributes["N"], attributes["K"]
    n_blocks = -(-depth // size)
    steps = _unpacked(packed.reshape(n_rows, n_blocks, -1), bits)[:, :, :size]
    middle: np.ndarray = np.full((n_rows, n_blocks), 2.0 ** (bits - 1))
    if zeros is not None and zeros.dtype == np.uint8:
        middle = _unpacked(zeros.reshape(n_rows, -1), bits)[:, :n_blocks]
    elif zeros is not None:
        middle = zeros.reshape(n_rows, n_blocks)
    weights = (steps - middle[..., None]) * scales.reshape(n_rows, n_blocks, 1)
    weights = weights.reshape(n_rows, -1)[:, :depth].astype(x.dtype)
    return x @ weights.T if bias is None else x @ weights.T + bias


OPERATORS: dict[str, Callable[..., Any]] = {
    "ConvInteger": _integer_conv,
    "QLinearConv": _conv,
    **{DOMAIN + kind: partial(_unary, function) for kind, function in UNARY.items()},
    **{DOMAIN + kind: partial(_binary, function) for kind, function in BINARY.items()},
    f"{DOMAIN}DynamicQuantizeMatMul": _dynamic_matmul,
    f"{DOMAIN}MatMulInteger16": lambda _, x, y: _integer_product(x, y).astype(np.int32),
    f"{DOMAIN}MatMulIntegerToFloat": _integer_to_float,
    f"{DOMAIN}MatMulNBits": _matmul_n_bits,
    f"{DOMAIN}MulInteger": _mul_integer,
    f"{DOMAIN}QGemm": _gemm,
    f"{DOMAIN}QLinearConcat": _concat,
    f"{DOMAIN}QLinearConv": partial(_pooled, _conv),
    f"{DOMAIN}QLinearWhere": _where,
    f"{DOMAIN}ReduceSumInteger": _reduce_sum,
}
"""Operators that the ONNX project's evaluator does not have."""
