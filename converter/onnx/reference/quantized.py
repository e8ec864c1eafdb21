"""com.microsoft's operators on quantized tensors: the float operator between two quantizations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .pools import average_pool

DOMAIN = "com.microsoft."
JOINT_SOFTMAX = 13  # operator set; before, Softmax is over all axes from its own on
Attributes = Mapping[str, Any]
Operand = np.ndarray | None


def _dequantized(x: np.ndarray, scale: np.ndarray, zero_point: Operand) -> np.ndarray:
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
    return _quantized(function(attributes, _dequantized(x, x_scale, x_zero)), scale, zero)


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
    result = function(_dequantized(x, x_scale, x_zero), _dequantized(y, y_scale, y_zero))
    return _quantized(result, scale, zero)


def _where(attributes: Attributes, condition: np.ndarray, *operands: Any) -> np.ndarray:
    """Elements of one of two quantized tensors."""
    return _binary(partial(np.where, condition), attributes, *operands)


def _concat(
    attributes: Attributes, scale: np.ndarray, zero: np.ndarray, *operands: np.ndarray
) -> np.ndarray:
    """Quantized tensors joined along an axis."""
    parts = [_dequantized(*operands[i : i + 3]) for i in range(0, len(operands), 3)]
    return _quantized(np.concatenate(parts, attributes["axis"]), scale, zero)


def _pooled(
    function: Callable[[Attributes, np.ndarray], np.ndarray], attributes: Attributes, x: np.ndarray
) -> np.ndarray:
    """A function of an image whose channels may be last."""
    if not attributes.get("channels_last", 0):
        return function(attributes, x)
    return np.moveaxis(function(attributes, np.moveaxis(x, -1, 1)), 1, -1)


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
    **{DOMAIN + kind: partial(_unary, function) for kind, function in UNARY.items()},
    **{DOMAIN + kind: partial(_binary, function) for kind, function in BINARY.items()},
    f"{DOMAIN}MatMulNBits": _matmul_n_bits,
    f"{DOMAIN}QGemm": _gemm,
    f"{DOMAIN}QLinearConcat": _concat,
    f"{DOMAIN}QLinearWhere": _where,
}
"""Operators that the ONNX project's evaluator does not have."""
