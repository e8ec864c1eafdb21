"""com.microsoft's parts of networks, as ONNX Runtime's documentation of its operators has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .checks import require
from .convolutions import convolution
from .fused import ACTIVATIONS, fast_gelu, gelu, matmul, rms_norm
from .standard import standard

DOMAIN = "com.microsoft."
Attributes = Mapping[str, Any]
Operand = np.ndarray | None


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _silu(x: np.ndarray) -> np.ndarray:
    return x * _sigmoid(x)


def _halves(x: np.ndarray) -> list[np.ndarray]:
    return np.split(x, 2, axis=-1)


def _group_norm(
    attributes: Attributes, x: np.ndarray, scale: np.ndarray, offset: np.ndarray
) -> np.ndarray:
    """GroupNorm, and SiLU if asked."""
    is_last = attributes.get("channels_last", 1)
    images = np.moveaxis(x, -1, 1) if is_last else x
    groups = images.reshape(len(x), attributes["groups"], -1)
    groups = groups - groups.mean(-1, keepdims=True)
    variance = np.square(groups).mean(-1, keepdims=True)
    images = (groups / np.sqrt(variance + attributes.get("epsilon", 1e-5))).reshape(images.shape)
    out = images * scale.reshape(-1, 1, 1) + offset.reshape(-1, 1, 1)
    out = (_silu(out) if attributes.get("activation") else out).astype(x.dtype)
    return np.moveaxis(out, 1, -1) if is_last else out


def _skip_group_norm(
    attributes: Attributes,
    x: np.ndarray,
    scale: np.ndarray,
    offset: np.ndarray,
    skip: np.ndarray,
    bias: Operand = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The group norm of a sum, and that sum."""
    shape = (1, 1, -1) if attributes.get("channels_last", 1) else (-1, 1, 1)
    total = x + (skip.reshape(len(skip), *shape) if skip.ndim == 2 else skip)
    total = total if bias is None else total + bias.reshape(shape)
    return _group_norm(attributes, total, scale, offset), total


def _bias_split_gelu(_: Attributes, x: np.ndarray, bias: np.ndarray) -> np.ndarray:
    left, gate = _halves(x + bias)
    return left * gelu({}, gate)


def _swiglu(attributes: Attributes, gate: np.ndarray, up: Operand = None) -> np.ndarray:
    """gate * sigmoid(alpha * gate) * (up + beta), both clamped where there is a limit."""
    if up is None:
        gate, up = _halves(gate)
    limit = attributes.get("limit", 0.0)
    if limit > 0:
        gate, up = np.minimum(gate, limit), up.clip(-limit, limit)
    alpha = np.float32(attributes.get("activation_alpha", 1.0))
    beta = np.float32(attributes.get("activation_beta", 0.0))
    return gate * _sigmoid(gate * alpha) * (up + beta)


def _scaled_silu(attributes: Attributes, x: np.ndarray, scale: Operand = None) -> np.ndarray:
    return _silu(x * (np.float32(attributes.get("alpha", 1.0)) if scale is None else scale))


def _branchwise_rms_norm(
    attributes: Attributes, x: np.ndarray, scale: Operand = None
) -> np.ndarray:
    """The RMS norm of each branch, which are a dimension or parts of the last one."""
    n = attributes.get("num_branches", 0)
    branches = x.reshape(*x.shape[:-1], n, -1) if n else x
    scale = np.ones((), x.dtype) if scale is None else scale
    if scale.ndim == 1 and len(scale) != branches.shape[-1]:
        scale = scale.reshape(branches.shape[-2:])
    return rms_norm({**attributes, "axis": -1}, branches, scale).reshape(x.shape)


def _linear_attention_gate(
    _: Attributes, a: np.ndarray, bias: np.ndarray, scale: np.ndarray, gate: Operand = None
) -> tuple[Operand, ...]:
    """The decay, a scale times softplus(a + bias), and the sigmoid of the second gate."""
    decay = np.logaddexp(0, a + bias).astype(a.dtype) * scale
    return decay, None if gate is None else _sigmoid(gate)


def _bias_softmax(attributes: Attributes, x: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """The softmax of x + bias over all dimensions from an axis on."""
    total = x + bias
    axes = tuple(range(attributes.get("axis", 1) % x.ndim, x.ndim))
    powers = np.exp(total - total.max(axes, keepdims=True))
    return powers / powers.sum(axes, keepdims=True)


def _bias_dropout(
    _: Attributes,
    x: np.ndarray,
    bias: np.ndarray,
    residual: Operand = None,
    ratio: Operand = None,
    training: Operand = None,
) -> np.ndarray:
    """x + bias + another tensor: nothing is dropped in inference."""
    require(training is None or not training.any(), "training_mode must be false")
    return x + bias if residual is None else x + bias + residual


def _gemm_fast_gelu(
    _: Attributes, x: np.ndarray, y: np.ndarray, bias: Operand = None
) -> np.ndarray:
    return fast_gelu({}, x @ y, bias)


def _matmul_activation(attributes: Attributes, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """FusedMatMul through an activation."""
    out, name = matmul(attributes, x, y), attributes["activation"].decode()
    if name == "Softmax":
        axis = attributes.get("activation_axis", -1)
        powers = np.exp(out - out.max(axis, keepdims=True))
        return powers / powers.sum(axis, keepdims=True)
    names = (f"activation_{name}" for name in ("alpha", "beta", "gamma"))
    values = [attributes[name] for name in names if name in attributes]
    return ACTIVATIONS[name](out, *values).astype(x.dtype)


def _causal_conv(
    attributes: Attributes,
    x: np.ndarray,
    filters: np.ndarray,
    bias: Operand = None,
    past: Operand = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Each channel's convolution with past elements alone, and those that the next call needs."""
    dilation = attributes.get("dilation", 1)
    length = (filters.shape[2] - 1) * dilation
    past = np.zeros((*x.shape[:2], length), x.dtype) if past is None else past
    padded = np.concatenate([past, x], axis=2)
    options = {"group": x.shape[1], "dilations": [dilation]}
    out = convolution(options, padded, filters, bias)
    is_silu = attributes.get("activation", b"none") in (b"silu", b"swish")
    return _silu(out) if is_silu else out, padded[:, :, padded.shape[2] - length :]


def _gated_rms_norm(
    attributes: Attributes, x: np.ndarray, scale: np.ndarray, gate: np.ndarray
) -> np.ndarray:
    """The RMS norm of x, times the gate through an activation."""
    function = {b"silu": _silu, b"sigmoid": _sigmoid}[attributes.get("activation", b"silu")]
    return rms_norm({**attributes, "axis": -1}, x, scale) * function(gate)


def _distances(attributes: Attributes, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """CDist."""
    squares = np.square(x[:, None] - y[None]).sum(2)
    is_root = attributes.get("metric", b"sqeuclidean") == b"euclidean"
    return np.sqrt(squares) if is_root else squares


def _complex_product(
    _: Attributes, x: np.ndarray, y: np.ndarray, is_conjugate: bool = False
) -> np.ndarray:
    """The product of pairs along the last axis; with the conjugate of the second one."""
    a, b = (z[..., 0] + 1j * z[..., 1] for z in (x, y))
    product = a * (b.conj() if is_conjugate else b)
    return np.stack([product.real, product.imag], axis=-1).astype(x.dtype)


def _rfft(_: Attributes, x: np.ndarray) -> np.ndarray:
    spectrum = np.fft.rfft(x)
    return np.stack([spectrum.real, spectrum.imag], axis=-1).astype(x.dtype)


def _irfft(_: Attributes, x: np.ndarray) -> np.ndarray:
    return np.fft.irfft(x[..., 0] + 1j * x[..., 1]).astype(x.dtype)


def _unfolded(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    """UnfoldTensor: windows along a dimension, each along a new last one."""
    axis = attributes.get("dim", -1) % x.ndim
    windows = np.lib.stride_tricks.sliding_window_view(x, attributes["size"], axis)
    return np.take(windows, np.arange(0, windows.shape[axis], attributes.get("step", 1)), axis)


def _unique(_: Attributes, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """The distinct elements in the order of the first of each, which one each is, how often."""
    values, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    positions = np.empty_like(order)
    positions[order] = np.arange(len(order))
    return values[order], positions[inverse], counts[order]


def _grid_sample(attributes: Attributes, x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    modes = {b"bilinear": "linear", b"bicubic": "cubic", b"nearest": "nearest"}
    mode = modes[attributes.get("mode", b"bilinear")]
    return standard("GridSample", {**attributes, "mode": mode}, x, grid)


def _range(
    _: Attributes, start: np.ndarray, limit: np.ndarray, delta: Operand = None
) -> np.ndarray:
    """Numbers from start in steps of delta, 1 if it is not stated, up to limit."""
    step = 1 if delta is None else delta.item()
    return np.arange(start.item(), limit.item(), step).astype(start.dtype)


def _mixture(
    attributes: Attributes,
    x: np.ndarray,
    router: np.ndarray,
    up: np.ndarray,
    up_bias: Operand,
    down: np.ndarray,
    down_bias: Operand = None,
    gate: Operand = None,
    gate_bias: Operand = None,
) -> np.ndarray:
    """MoE: the sum of the experts of each row's largest weights, times these weights."""
    require(not attributes.get("use_sparse_mixer", 0), "use_sparse_mixer")
    rows, n_chosen = x.reshape(-1, x.shape[-1]), attributes.get("k", 1)
    shares = np.exp(router - router.max(1, keepdims=True))
    shares = shares / shares.sum(1, keepdims=True)
    out = np.zeros((len(rows), down.shape[1]), x.dtype)
    for i, row in enumerate(rows):
        chosen = np.argsort(-router[i], kind="stable")[:n_chosen]
        is_normalized = attributes.get("normalize_routing_weights", 0)
        total = shares[i, chosen].sum() if is_normalized else 1
        for e in chosen:
            inner = _layer(row, up, up_bias, e)
            other = None if gate is None else _layer(row, gate, gate_bias, e)
            hidden = _expert_activation(attributes, inner, other)
            out[i] += shares[i, e] / total * _layer(hidden, down, down_bias, e)
    return out.reshape(*x.shape[:-1], -1)


def _layer(x: np.ndarray, weights: np.ndarray, bias: Operand, expert: int) -> np.ndarray:
    out = weights[expert] @ x
    return out if bias is None else out + bias[expert]


def _expert_activation(attributes: Attributes, x: np.ndarray, gate: Operand) -> np.ndarray:
    name = attributes.get("activation_type", b"relu").decode()
    if name == "swiglu":
        require(not attributes.get("swiglu_limit_after_activation", 0), "a limit afterwards")
        fusion = attributes.get("swiglu_fusion", 0)
        if fusion:
            x, gate = (x[::2], x[1::2]) if fusion == 1 else _halves(x)
        return _swiglu({**attributes, "limit": attributes.get("swiglu_limit", 0.0)}, x, gate)
    functions: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "relu": lambda x: np.maximum(x, 0),
        "gelu": lambda x: fast_gelu({}, x),
        "silu": _silu,
        "identity": lambda x: x,
    }
    return functions[name](x) if gate is None else functions[name](x) * gate


def _is_all_finite(attributes: Attributes, *arrays: np.ndarray) -> np.ndarray:
    """Whether no element is infinite or not a number, as is asked for."""
    checks = [np.isinf] if not attributes.get("isnan_only", 0) else []
    checks += [np.isnan] if not attributes.get("isinf_only", 0) else []
    return np.array(not any(check(x).any() for check in checks for x in arrays))


OPERATORS: dict[str, Callable[..., Any]] = {
    f"{DOMAIN}BiasDropout": _bias_dropout,
    f"{DOMAIN}BiasSoftmax": _bias_softmax,
    f"{DOMAIN}BiasSplitGelu": _bias_split_gelu,
    f"{DOMAIN}BranchwiseRMSNorm": _branchwise_rms_norm,
    f"{DOMAIN}CDist": _distances,
    f"{DOMAIN}CausalConvWithState": _causal_conv,
    f"{DOMAIN}ComplexMul": _complex_product,
    f"{DOMAIN}ComplexMulConj": lambda _, x, y: _complex_product(_, x, y, is_conjugate=True),
    f"{DOMAIN}ExpandDims": lambda _, x, axis: np.expand_dims(x, axis.item()),
    f"{DOMAIN}FusedMatMulActivation": _matmul_activation,
    f"{DOMAIN}GatedAdd": lambda _, x, y, gate: x + y * gate,
    f"{DOMAIN}GatedRMSNorm": _gated_rms_norm,
    f"{DOMAIN}GatherND": lambda _, x, i: standard("GatherND", {}, x, i),
    f"{DOMAIN}GemmFastGelu": _gemm_fast_gelu,
    f"{DOMAIN}GridSample": _grid_sample,
    f"{DOMAIN}GroupNorm": _group_norm,
    f"{DOMAIN}Inverse": lambda _, x: np.linalg.inv(x),
    f"{DOMAIN}Irfft": _irfft,
    f"{DOMAIN}IsAllFinite": _is_all_finite,
    f"{DOMAIN}LinearAttentionGate": _linear_attention_gate,
    f"{DOMAIN}MoE": _mixture,
    f"{DOMAIN}Range": _range,
    f"{DOMAIN}Rfft": _rfft,
    f"{DOMAIN}ScaledSiLU": _scaled_silu,
    f"{DOMAIN}SkipGroupNorm": _skip_group_norm,
    f"{DOMAIN}SwiGLU": _swiglu,
    f"{DOMAIN}TorchEmbedding": lambda _, table, indices: table[indices],
    f"{DOMAIN}Trilu": lambda attributes, *operands: standard("Trilu", attributes, *operands),
    f"{DOMAIN}UnfoldTensor": _unfolded,
    f"{DOMAIN}Unique": _unique,
}
"""Operators that the ONNX project's evaluator does not have."""
