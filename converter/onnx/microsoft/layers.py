"""com.microsoft: parts of diffusion and language models that ONNX Runtime fuses."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ...lowering import formulas
from ...lowering.moves import (
    int32s,
    like,
    regrouped_from,
    reshaped,
    to_channels_first,
    to_channels_last,
    transposed,
)
from .. import fourier, matmul, norm
from ..conv import conv
from ..registry import lower
from .fused import (
    ACTIVATIONS,
    DOMAIN,
    activated,
    as_onnx,
    fast_gelu,
    fused_conv,
    fused_matmul,
    rms_norm,
)

EPSILON = 1e-5


@lower(f"{DOMAIN}GroupNorm")
def group_norm(node, b):
    """Mean 0 and variance 1 of each group of channels, then scaled, shifted, and SiLU if asked."""
    x, scale, offset = node.inputs
    return _group_norm(node, b, x, scale, offset)


@lower(f"{DOMAIN}SkipGroupNorm")
def skip_group_norm(node, b):
    """The group norm of the sum of two tensors and a bias, and that sum."""
    x, scale, offset, skip, bias = (node.input(i) for i in range(5))
    if skip.rank == 2:
        skip = reshaped(skip, (skip.dims[0] or -1, *_channel_shape(node, skip.dims[1])), b)
    total = b.ADD(x, skip)
    if bias is not None:
        total = b.ADD(total, reshaped(bias, _channel_shape(node, bias.dims[0]), b))
    return _group_norm(node, b, total, scale, offset), total


def _channel_shape(node, n):
    """The shape of an image that has channels alone."""
    return (1, 1, n) if node.attr("channels_last", 1) else (n, 1, 1)


def _group_norm(node, b, x, scale, offset):
    is_last = node.attr("channels_last", 1)
    x = x if is_last else to_channels_last(x, b)
    channels = x.dims[3]
    n_groups = node.attr("groups")
    node.require(
        channels is not None and channels % n_groups == 0,
        f"groups must divide the number of channels, got {n_groups} and {channels}",
    )
    assert channels is not None
    groups = regrouped_from(x, 3, (n_groups, channels // n_groups), b)
    epsilon = like(x, node.attr("epsilon", EPSILON), b)
    out, *_ = formulas.standardized(b, groups, np.array([1, 2, 4], np.int32), epsilon)
    out = formulas.scaled(b, regrouped_from(out, 3, (channels,), b), scale, offset)
    if node.attr("activation"):
        out = b.MUL(out, b.LOGISTIC(out))
    return out if is_last else to_channels_first(out, b)


@lower(f"{DOMAIN}BiasSplitGelu")
def bias_split_gelu(node, b):
    """Of x + bias, one half of the features times the Gelu of the other."""
    left, gate = _halves(b, b.ADD(*node.inputs))
    return b.MUL(left, b.GELU(gate, approximate=False))


def _halves(b, x):
    return b.SPLIT(np.int32(x.rank - 1), x, num_splits=2)


@lower(f"{DOMAIN}SwiGLU")
def swiglu(node, b):
    """gate * sigmoid(alpha * gate) * (up + beta), both clamped where there is a limit."""
    gate, up = node.input(0), node.input(1)
    gate, up = _halves(b, gate) if up is None else (gate, up)
    limit = node.attr("limit", 0.0)
    return _swiglu(node, b, gate, up, limit if limit > 0 else None)


def _swiglu(node, b, gate, up, limit):
    if limit is not None:
        gate = b.MINIMUM(gate, like(gate, limit, b))
        up = formulas.clip(b, up, like(up, -limit, b), like(up, limit, b))
    alpha, beta = node.attr("activation_alpha", 1.0), node.attr("activation_beta", 0.0)
    factor = gate if alpha == 1 else b.MUL(gate, like(gate, alpha, b))
    out = b.MUL(gate, b.LOGISTIC(factor))
    return b.MUL(out, b.ADD(up, like(up, beta, b)) if beta else up)


@lower(f"{DOMAIN}ScaledSiLU")
def scaled_silu(node, b):
    """z * sigmoid(z) of z = x times a scale."""
    scale = node.input(1)
    x = node.inputs[0]
    x = b.MUL(x, like(x, node.attr("alpha", 1.0), b) if scale is None else scale)
    return b.MUL(x, b.LOGISTIC(x))


@lower(f"{DOMAIN}GatedAdd")
def gated_add(node, b):
    """x and another tensor times a gate for each row."""
    node.require(node.input(3) is None, "gate_weight is not supported")
    x, y, gate = node.inputs[:3]
    return b.ADD(x, b.MUL(y, gate))


@lower(f"{DOMAIN}BranchwiseRMSNorm")
def branchwise_rms_norm(node, b):
    """The RMS norm of each branch, which are a dimension or parts of the last one."""
    x, scale, n = node.input(0), node.input(1), node.attr("num_branches", 0)
    width = x.dims[-1]
    node.require(width is not None, "the number of features must be known")
    assert width is not None
    last = x.rank - 1
    split = regrouped_from(x, last, (n, width // n), b) if n else x
    branch_shape = tuple(split.dims[-2:])
    scale = b.constant(np.float32(1)) if scale is None else scale
    if scale.rank == 1 and scale.dims[0] != branch_shape[1]:
        scale = reshaped(scale, [n or -1 for n in branch_shape], b)
    out = rms_norm(b, split, scale, node.attr("epsilon", EPSILON), [len(split.dims) - 1])
    return regrouped_from(out, last, (width,), b) if n else out


@lower(f"{DOMAIN}LinearAttentionGate")
def linear_attention_gate(node, b):
    """The decay, a scale times softplus(a + bias), and the sigmoid of the second gate."""
    a, bias, scale, gate = (node.input(i) for i in range(4))
    decay = b.MUL(formulas.softplus(b, b.ADD(a, bias)), scale)
    return (decay, b.LOGISTIC(gate)) if gate is not None else decay


@lower(f"{DOMAIN}BiasSoftmax")
def bias_softmax(node, b):
    """The softmax of x + bias over all dimensions from an axis on."""
    axis = node.attr("axis", 1)
    one = as_onnx(node, b.ADD(*node.inputs), kind="Softmax", opset=11)
    node.require(-node.rank() <= axis < node.rank(), f"axis must fit {node.rank()} dimensions")
    return norm.softmax(one, b)


@lower(f"{DOMAIN}BiasDropout")
def bias_dropout(node, b):
    """x + bias + another tensor: nothing is dropped at inference."""
    x, bias, residual, _, training = (node.input(i) for i in range(5))
    node.require(training is None or not node.known(4), "training_mode must be false")
    node.require(not node.has_output(1), "the mask of what is dropped is not supported")
    total = b.ADD(x, bias)
    return total if residual is None else b.ADD(total, residual)


@lower(f"{DOMAIN}GemmFastGelu")
def gemm_fast_gelu(node, b):
    """Gelu, by tanh, of x @ y + bias."""
    x, y, bias = node.input(0), node.input(1), node.input(2)
    product = matmul.matmul(as_onnx(node, x, y, kind="MatMul"), b)
    return fast_gelu(as_onnx(node, product, *([] if bias is None else [bias])), b)


@lower(f"{DOMAIN}FusedMatMulActivation")
def fused_matmul_activation(node, b):
    """FusedMatMul through an activation."""
    names = ("alpha", "beta", "gamma")
    values = [node.attr(f"activation_{name}", None) for name in names]
    name = node.attr("activation")
    if name == "Softmax":
        axis = node.attr("activation_axis", -1)
        out = fused_matmul(node, b)
        node.require(axis in (-1, out.rank - 1), f"activation_axis must be the last, got {axis}")
        return b.SOFTMAX(out, beta=1.0)
    parameters = [v for v in values if v is not None] if name in ACTIVATIONS else []
    return activated(node, b, fused_matmul(node, b), parameters)


@lower(f"{DOMAIN}TorchEmbedding")
def torch_embedding(node, b):
    """Rows of a matrix."""
    return b.GATHER(node.inputs[0], node.inputs[1], axis=0)


@lower(f"{DOMAIN}NhwcConv")
def nhwc_conv(node, b):
    """Convolution of an image with channels last; the filters are as ONNX has them."""
    return _channels_last(conv, node, b, node.inputs)


@lower(f"{DOMAIN}NhwcFusedConv")
def nhwc_fused_conv(node, b):
    """The same, a tensor added to it, and an activation."""
    skip = node.input(3)
    inputs = [node.input(i) for i in range(3)]
    if skip is not None:
        inputs.append(to_channels_first(skip, b))
    return _channels_last(fused_conv, node, b, inputs)


def _channels_last(lowering, node, b, inputs):
    x, *others = inputs
    one = as_onnx(node, to_channels_first(x, b), *others)
    return to_channels_last(lowering(one, b), b)


@lower(f"{DOMAIN}CausalConvWithState")
def causal_conv_with_state(node, b):
    """Each channel's convolution with past elements alone, and those that the next call needs."""
    x, filters, bias, past = (node.input(i) for i in range(4))
    for name, value in (("ndim", 1), ("state_window", 0), ("state_update_capacity", 0)):
        node.require(node.attr(name, value) == value, f"{name} must be {value}")
    node.require(not node.attr("channels_last", 0), "channels_last is not supported")
    dilation = node.attr("dilation", 1)
    length = (node.shape(1)[2] - 1) * dilation
    if past is None:
        padded = b.PAD(x, np.array([[0, 0], [0, 0], [length, 0]], np.int32))
    else:
        padded = b.CONCATENATION(past, x, axis=2)
    one = as_onnx(
        node, padded, filters, bias, kind="Conv", group=node.shape(1)[0], dilations=[dilation]
    )
    out = conv(one, b)
    name = node.attr("activation", "none")
    node.require(name in ("none", "silu", "swish"), f"activation must be silu, got '{name}'")
    if name != "none":
        out = b.MUL(out, b.LOGISTIC(out))
    state = b.STRIDED_SLICE(
        padded, np.array([0, 0, -length], np.int32), np.zeros(3, np.int32), np.ones(3, np.int32),
        begin_mask=3, end_mask=7,
    )  # fmt: skip
    return out, state


@lower(f"{DOMAIN}MoE")
def mixture_of_experts(node, b):
    """The sum of the experts that each row's largest weights choose, times these weights."""
    x, router, up, up_bias, down, down_bias, gate, gate_bias = (node.input(i) for i in range(8))
    weights = routed(node, b, router, node.attr("normalize_routing_weights", 0))
    return mixture(node, b, x, weights, (up, up_bias), (down, down_bias), (gate, gate_bias))


def mixture(node, b, x, weights, up, down, gate):
    """A mixture of experts by their `weights`, each pair the weights and bias of a layer of theirs.

    All experts see all rows; the weights of those that are not chosen are 0.
    """
    node.require(not node.attr("use_sparse_mixer", 0), "use_sparse_mixer is not supported")
    hidden = node.shape()[-1]
    rows = reshaped(x, (-1, hidden), b)
    states = b.EXPAND_DIMS(rows, np.int32(0))
    inner = _experts(b, states, *up)
    out = _experts(b, _expert_activation(node, b, inner, states, *gate), *down)
    weights = b.EXPAND_DIMS(transposed(weights, (1, 0), b), np.int32(2))
    total = b.SUM(b.MUL(out, weights), np.array([0], np.int32))
    return total if x.rank == 2 else b.RESHAPE(total, b.SHAPE(x, out_type="INT32"))


def _experts(b, x, weights, bias):
    """x of each expert, [experts or 1, rows, inputs], times its weights, [.., outputs, inputs]."""
    out = b.BATCH_MATMUL(x, weights, adj_y=True)
    return out if bias is None else b.ADD(out, b.EXPAND_DIMS(bias, np.int32(1)))


def _expert_activation(node, b, inner, states, gate, gate_bias):
    name, fusion = node.attr("activation_type", "relu"), node.attr("swiglu_fusion", 0)
    plain = {
        "relu": lambda x: b.RELU(x),
        "gelu": lambda x: b.GELU(x, approximate=True),
        "silu": lambda x: b.MUL(x, b.LOGISTIC(x)),
        "identity": lambda x: x,
    }
    if name != "swiglu":
        node.require(name in plain, f"activation_type must be one of {[*plain]}, got '{name}'")
        out = plain[name](inner)
        return out if gate is None else b.MUL(out, _experts(b, states, gate, gate_bias))
    node.require(
        not node.attr("swiglu_limit_after_activation", 0), "a limit after SwiGLU is not supported"
    )
    limit = node.attr("swiglu_limit", None)
    if fusion == 0:
        return _swiglu(node, b, inner, _experts(b, states, gate, gate_bias), limit)
    if fusion == 2:
        gate, up = _halves(b, inner)
        return _swiglu(node, b, gate, up, limit)
    width = inner.dims[2]
    gate, up = (b.GATHER(inner, np.arange(i, width, 2, dtype=np.int32), axis=2) for i in (0, 1))
    return _swiglu(node, b, gate, up, limit)


def routed(node, b, router, normalize):
    """The weights [rows, experts] of the chosen experts, 0 of others.

    Their sum is 1 where they are to `normalize`, else what the chosen have of all.
    """
    n_experts, k = router.dims[1], node.attr("k", 1)
    node.require(n_experts is not None, "the number of experts must be known")
    if normalize:
        values, experts = b.TOPK_V2(router, np.int32(k), n_outputs=2)
        shares = b.SOFTMAX(values, beta=1.0)
    else:
        shares, experts = b.TOPK_V2(b.SOFTMAX(router, beta=1.0), np.int32(k), n_outputs=2)
    chosen = b.ONE_HOT(experts, np.int32(n_experts), np.float32(1), np.float32(0), axis=-1)
    return b.SUM(b.MUL(chosen, b.EXPAND_DIMS(shares, np.int32(2))), np.array([1], np.int32))


@lower(f"{DOMAIN}ComplexMul", f"{DOMAIN}ComplexMulConj")
def complex_product(node, b):
    """The product of complex numbers, pairs along the last axis; of the second one's conjugate."""
    (x, i), (y, j) = (b.UNPACK(z, num=2, axis=z.rank - 1) for z in node.inputs)
    j = b.NEG(j) if node.type.endswith("Conj") else j
    real = b.SUB(b.MUL(x, y), b.MUL(i, j))
    imaginary = b.ADD(b.MUL(x, j), b.MUL(i, y))
    return b.PACK(real, imaginary, axis=real.rank, values_count=2)


@lower(f"{DOMAIN}Rfft", f"{DOMAIN}Irfft")
def real_fourier(node, b):
    """The transform of the last axis of real numbers, and back, of half of it."""
    node.require(node.attr("signal_ndim", 1) == 1, "signal_ndim must be 1")
    node.require(not node.attr("normalized", 0), "normalized must be 0")
    (x,) = node.inputs
    if node.type == "Rfft":
        x = b.EXPAND_DIMS(x, np.int32(-1))
        one = as_onnx(node, x, kind="DFT", opset=17, axis=x.rank - 2, onesided=1)
        return fourier.dft(one, b)
    one = as_onnx(node, x, kind="DFT", opset=17, axis=x.rank - 2, inverse=1, onesided=1)
    out = fourier.dft(one, b)
    return b.SQUEEZE(out, squeeze_dims=np.array([out.rank - 1], np.int32))


@lower(f"{DOMAIN}Inverse")
def inverse(node, b):
    """The inverse of each matrix."""
    from ...tf.decompositions import inverted, square_of

    return inverted(node, b, *square_of(node, b))


@lower(f"{DOMAIN}IsAllFinite")
def is_all_finite(node, b):
    """Whether no element of any of the tensors is infinite or not a number, as is asked for."""
    only_infinite, only_nan = (node.attr(name, 0) for name in ("isinf_only", "isnan_only"))
    node.require(not (only_infinite and only_nan), "isinf_only and isnan_only exclude each other")
    results = []
    for x in node.inputs:
        size = b.ABS(reshaped(x, (-1,), b))
        largest = like(size, np.finfo(np.float32).max, b)
        bad = [] if only_nan else [b.GREATER(size, largest)]
        bad += [] if only_infinite else [b.NOT_EQUAL(size, size)]
        is_bad = bad[0] if len(bad) == 1 else b.LOGICAL_OR(*bad)
        results.append(b.REDUCE_ANY(is_bad, int32s([0]), keep_dims=False))
    return b.LOGICAL_NOT(reduce(b.LOGICAL_OR, results))
