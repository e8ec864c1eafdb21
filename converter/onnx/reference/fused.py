"""com.microsoft's fused operators: those of ai.onnx that they stand for, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .convolutions import convolution
from .pools import max_pool
from .quantized import as_channels_first, dequantized
from .standard import standard

DOMAIN = "com.microsoft."
ACTIVATIONS: dict[str, Callable[..., np.ndarray]] = {
    "Clip": lambda x, low=-np.inf, high=np.inf: x.clip(low, high),
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: (x * np.float32(alpha) + beta).clip(0, 1),
    "LeakyRelu": lambda x, alpha=0.01: np.where(x < 0, x * np.float32(alpha), x),
    "Relu": lambda x: np.maximum(x, 0),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Tanh": np.tanh,
}
Attributes = Mapping[str, Any]
Operand = np.ndarray | None


def _activated(attributes: Attributes, x: np.ndarray, *parameters: float) -> np.ndarray:
    name = attributes.get("activation", b"").decode()
    return ACTIVATIONS[name](x, *parameters).astype(x.dtype) if name else x


def _conv(
    attributes: Attributes, x: np.ndarray, w: np.ndarray, bias: Operand = None, z: Operand = None
) -> np.ndarray:
    """A convolution, a tensor added to it, and an activation."""
    y = convolution(attributes, x, w, bias)
    y = y if z is None else y + z
    return _activated(attributes, y, *attributes.get("activation_params", ()))


def _conv_last(
    attributes: Attributes, x: np.ndarray, w: np.ndarray, bias: Operand = None, z: Operand = None
) -> np.ndarray:
    """The same with channels last."""
    z = None if z is None else np.moveaxis(z, -1, 1)
    return as_channels_first(_conv, attributes, x, w, bias, z)


def _gemm(attributes: Attributes, x: np.ndarray, y: np.ndarray, z: Operand = None) -> np.ndarray:
    """Gemm and an activation."""
    a = x.T if attributes.get("transA", 0) else x
    b = y.T if attributes.get("transB", 0) else y
    out = a @ b * np.float32(attributes.get("alpha", 1.0))
    out = out if z is None else out + z * np.float32(attributes.get("beta", 1.0))
    names = (f"activation_{name}" for name in ("alpha", "beta", "gamma"))
    return _activated(attributes, out, *(attributes[name] for name in names if name in attributes))


def matmul(attributes: Attributes, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """alpha * x @ y, either transposed."""
    factors = []
    for name, z in (("A", x), ("B", y)):
        if attributes.get(f"transBatch{name}", 0):
            z = np.moveaxis(z, 0, -2)
        factors.append(
            z.swapaxes(-1, -2) if attributes.get(f"trans{name}", 0) and z.ndim > 1 else z
        )
    return factors[0] @ factors[1] * np.float32(attributes.get("alpha", 1.0))


def gelu(_: Attributes, x: np.ndarray, bias: Operand = None) -> np.ndarray:
    """Gelu of x, or of x + bias."""
    x = x if bias is None else x + bias
    erf = standard("Erf", {}, x * np.float32(np.sqrt(0.5)))
    return x * (1 + erf) * np.float32(0.5)


def fast_gelu(_: Attributes, x: np.ndarray, bias: Operand = None) -> np.ndarray:
    """Gelu by tanh."""
    x = x if bias is None else x + bias
    inner = np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * x**3)
    return x * (1 + np.tanh(inner)) * np.float32(0.5)


def _quick_gelu(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(x * -np.float32(attributes.get("alpha", 1.702))))


def _layer_norm(
    attributes: Attributes, x: np.ndarray, scale: np.ndarray, offset: Operand = None
) -> np.ndarray:
    x = x - x.mean(-1, keepdims=True)
    y = rms_norm({"epsilon": 1e-12, **attributes, "axis": -1}, x, scale)
    return y if offset is None else y + offset


def _layer_norm_from(
    attributes: Attributes, x: np.ndarray, scale: np.ndarray, offset: Operand = None
) -> np.ndarray:
    """LayerNormalization over all dimensions from an axis on."""
    return standard("LayerNormalization", attributes, x, scale, offset)


def rms_norm(attributes: Attributes, x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """x, by the root of the mean of its squares over all axes from one on, times a scale."""
    axes = tuple(range(attributes.get("axis", -1) % x.ndim, x.ndim))
    mean = np.square(x).mean(axes, keepdims=True)
    return x / np.sqrt(mean + np.float32(attributes.get("epsilon", 1e-5))) * scale


Results = tuple[Operand, ...]


def _skip_layer_norm(
    attributes: Attributes,
    x: np.ndarray,
    skip: np.ndarray,
    scale: np.ndarray,
    offset: Operand = None,
    bias: Operand = None,
) -> Results:
    """The norm of a sum, and that sum as the fourth result."""
    total = x + skip if bias is None else x + skip + bias
    return _layer_norm(attributes, total, scale, offset), None, None, total


def _skip_rms_norm(
    attributes: Attributes,
    x: np.ndarray,
    skip: np.ndarray,
    scale: np.ndarray,
    bias: Operand = None,
) -> Results:
    """The norm of a sum, and that sum as the fourth result."""
    total = x + skip if bias is None else x + skip + bias
    return rms_norm({"epsilon": 1e-12, **attributes}, total, scale), None, None, total


def _embedded(
    attributes: Attributes,
    ids: np.ndarray,
    segments: Operand,
    words: np.ndarray,
    positions: np.ndarray,
    kinds: Operand,
    scale: np.ndarray,
    offset: np.ndarray,
    mask: Operand = None,
    position_ids: Operand = None,
) -> Results:
    """The layer norm of embeddings, how long each row is, and what was normalized."""
    at = np.arange(ids.shape[1]) if position_ids is None else position_ids
    total = words[ids] + positions[at]
    if segments is not None and kinds is not None:
        total = total + kinds[segments]
    lengths = np.zeros(len(ids), np.int32) if mask is None else mask.sum(1, dtype=np.int32)
    return _layer_norm(attributes, total, scale, offset), lengths, total


def _quantized_embedded(
    attributes: Attributes,
    ids: np.ndarray,
    segments: Operand,
    *operands: Operand,
) -> Results:
    """The same of five quantized constants: after them and the mask their scales, zero points."""
    tables, mask = operands[:5], operands[5]
    rows = zip(tables, operands[6:11], operands[11:16], strict=True)
    words, positions, kinds, scale, offset = (
        None if x is None or step is None or zero is None else dequantized(x, step, zero)
        for x, step, zero in rows
    )
    operands = ids, segments, words, positions, kinds, scale, offset, mask
    return _embedded(attributes, *operands)[:2]  # pyright: ignore[reportArgumentType]


OPERATORS: dict[str, Callable[..., Any]] = {
    "SimplifiedLayerNormalization": rms_norm,
    f"{DOMAIN}SimplifiedLayerNormalization": rms_norm,
    f"{DOMAIN}SkipSimplifiedLayerNormalization": _skip_rms_norm,
    f"{DOMAIN}SkipLayerNormalization": _skip_layer_norm,
    f"{DOMAIN}EmbedLayerNormalization": _embedded,
    f"{DOMAIN}BiasAdd": lambda _, x, bias, skip: x + bias + skip,
    f"{DOMAIN}BiasGelu": gelu,
    f"{DOMAIN}FastGelu": fast_gelu,
    f"{DOMAIN}FusedConv": _conv,
    f"{DOMAIN}FusedGemm": _gemm,
    f"{DOMAIN}FusedMatMul": matmul,
    f"{DOMAIN}Gelu": gelu,
    f"{DOMAIN}LayerNormalization": _layer_norm_from,
    f"{DOMAIN}NhwcConv": _conv_last,
    f"{DOMAIN}NhwcFusedConv": _conv_last,
    f"{DOMAIN}NhwcMaxPool": partial(as_channels_first, lambda a, x: max_pool(a, x)[0]),
    f"{DOMAIN}QEmbedLayerNormalization": _quantized_embedded,
    f"{DOMAIN}QuickGelu": _quick_gelu,
    f"{DOMAIN}TransposeMatMul": matmul,
}
"""Operators that the ONNX project's evaluator does not have."""
