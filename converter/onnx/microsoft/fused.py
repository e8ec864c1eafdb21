"""com.microsoft: what ONNX Runtime's optimizer and exporters fuse, and basic operators."""

from __future__ import annotations

import numpy as np

from ...lowering import formulas
from ...lowering.moves import (
    as_int32,
    dimension,
    int32s,
    like,
    to_channels_first,
    to_channels_last,
    transposed,
)
from .. import array, index, matmul, norm, pool, quantized, sample
from ..conv import conv
from ..registry import Node, lower

DOMAIN = "com.microsoft."
OPSET = 17
"""Version of ai.onnx whose operators those of the same name are."""

ACTIVATIONS = {
    "Clip": lambda b, x, low=-3.4028235e38, high=3.4028235e38: formulas.clip(
        b, x, like(x, low, b), like(x, high, b)
    ),
    "HardSigmoid": formulas.hard_sigmoid,
    "LeakyRelu": lambda b, x, alpha=0.01: b.LEAKY_RELU(x, alpha=alpha),
    "Relu": lambda b, x: b.RELU(x),
    "Sigmoid": lambda b, x: b.LOGISTIC(x),
    "Tanh": lambda b, x: b.TANH(x),
}


def as_onnx(node, *inputs, kind=None, opset=OPSET, **attributes):
    """The node as one of ai.onnx: of `kind`, if that is another, with `attributes` added."""
    from onnx.helper import make_attribute

    proto = type(node.proto)()
    proto.CopyFrom(node.proto)
    proto.op_type, proto.domain = kind or proto.op_type, ""
    proto.attribute.extend(make_attribute(name, value) for name, value in attributes.items())
    return Node(proto, opset, inputs or node.inputs, node.block)


for _type, _lowering in {
    "DequantizeLinear": quantized.dequantize_linear,
    "GatherND": index.gather_nd,
    "GridSample": sample.grid_sample,
    "LayerNormalization": norm.layer_normalization,
    "Pad": array.pad,
    "QuantizeLinear": quantized.quantize_linear,
    "Trilu": index.trilu,
}.items():
    lower(DOMAIN + _type)(lambda node, b, lowering=_lowering: lowering(as_onnx(node), b))


def activated(node, b, x, parameters):
    """The result through the activation that is fused with the operator."""
    name = node.attr("activation", "")
    if not name:
        return x
    node.require(name in ACTIVATIONS, f"activation must be one of {[*ACTIVATIONS]}, got '{name}'")
    return ACTIVATIONS[name](b, x, *parameters)


@lower(f"{DOMAIN}FusedConv")
def fused_conv(node, b):
    """A convolution, a tensor added to it, and an activation."""
    out = conv(as_onnx(node, *node.inputs[:3]), b)
    if node.input(3) is not None:
        out = b.ADD(out, node.inputs[3])
    return activated(node, b, out, node.attr("activation_params", []))


@lower(f"{DOMAIN}FusedGemm")
def fused_gemm(node, b):
    """Gemm and an activation."""
    names = ("alpha", "beta", "gamma")
    values = (node.attr(f"activation_{name}", None) for name in names)
    return activated(
        node, b, matmul.gemm(as_onnx(node), b), [value for value in values if value is not None]
    )


@lower(f"{DOMAIN}FusedMatMul", f"{DOMAIN}TransposeMatMul")
def fused_matmul(node, b):
    """alpha * x @ y, either transposed."""
    x, y = (_factor(node, b, z, name) for z, name in zip(node.inputs, "AB", strict=True))
    alpha = node.attr("alpha", 1.0)
    if alpha != 1:
        x = b.MUL(x, like(x, alpha, b))
    return matmul.matmul(as_onnx(node, x, y), b)


def _factor(node, b, x, name):
    """An operand as a batch of matrices, whose rows may lie before the batch."""
    if node.attr(f"transBatch{name}", 0) and x.rank > 2:
        x = transposed(x, (*range(1, x.rank - 1), 0, x.rank - 1), b)
    return swapped(b, x) if node.attr(f"trans{name}", 0) and (x.rank or 0) > 1 else x


def swapped(b, x):
    """The transposed matrices."""
    return transposed(x, (*range(x.rank - 2), x.rank - 1, x.rank - 2), b)


@lower(f"{DOMAIN}Gelu")
def gelu(node, b):
    """x * P(X <= x)."""
    return b.GELU(node.inputs[0], approximate=False)


@lower(f"{DOMAIN}BiasGelu")
def bias_gelu(node, b):
    """Gelu of x + bias."""
    return b.GELU(b.ADD(*node.inputs), approximate=False)


@lower(f"{DOMAIN}FastGelu")
def fast_gelu(node, b):
    """Gelu of x, or of x + bias, by tanh."""
    x, bias = node.inputs[0], node.input(1)
    return b.GELU(x if bias is None else b.ADD(x, bias), approximate=True)


@lower(f"{DOMAIN}QuickGelu")
def quick_gelu(node, b):
    """x * sigmoid(alpha * x)."""
    (x,), alpha = node.inputs, node.attr("alpha", 1.702)
    return b.MUL(x, b.LOGISTIC(b.MUL(x, like(x, alpha, b))))


@lower(f"{DOMAIN}SkipLayerNormalization")
def skip_layer_normalization(node, b):
    """The layer norm of two tensors' sum, and that sum as the fourth result."""
    x, skip, scale, offset, bias = (node.input(i) for i in range(5))
    total = b.ADD(x, skip)
    total = total if bias is None else b.ADD(total, bias)
    out = _layer_norm(node, b, total, scale, offset)
    return out, None, None, total


@lower(f"{DOMAIN}SkipSimplifiedLayerNormalization")
def skip_rms_normalization(node, b):
    """The RMS norm of two tensors' sum, and that sum as the fourth result."""
    x, skip, scale, bias = (node.input(i) for i in range(4))
    total = b.ADD(x, skip)
    total = total if bias is None else b.ADD(total, bias)
    return (
        rms_norm(b, total, scale, node.attr("epsilon", 1e-12), [total.rank - 1]),
        None,
        None,
        (total),
    )


@lower("SimplifiedLayerNormalization", f"{DOMAIN}SimplifiedLayerNormalization")
def rms_normalization(node, b):
    """x / sqrt(mean of its squares + epsilon) * scale."""
    x, scale = node.inputs[:2]
    axes = range(node.axis(node.attr("axis", -1)), node.rank())
    return rms_norm(b, x, scale, node.attr("epsilon", 1e-5), list(axes))


def rms_norm(b, x, scale, epsilon, axes):
    """x / sqrt(mean of its squares along axes + epsilon) * scale."""
    mean = b.MEAN(b.SQUARE(x), np.asarray(axes, np.int32), keep_dims=True)
    return b.MUL(b.MUL(x, b.RSQRT(b.ADD(mean, like(x, epsilon, b)))), scale)


def _layer_norm(node, b, x, scale, offset):
    epsilon = like(x, node.attr("epsilon", 1e-12), b)
    out = b.LAYER_NORM(x, np.asarray([x.rank - 1], np.int32), epsilon)
    return formulas.scaled(b, out, scale, offset)


@lower(f"{DOMAIN}EmbedLayerNormalization")
def embed_layer_normalization(node, b):
    """The layer norm of words', positions' and segments' embeddings, and how long each row is."""
    return embedded(node, b, [node.input(i) for i in range(9)])


def embedded(node, b, inputs):
    """The same of these inputs in the place of the node's."""
    ids, segments, words, positions, kinds, scale, offset, mask, position_ids = inputs
    ids = as_int32(ids, b)
    if position_ids is None:
        length = dimension(ids, 1, b) if ids.dims[1] is None else b.constant(np.int32(ids.dims[1]))
        at = b.GATHER(positions, b.RANGE(np.int32(0), length, np.int32(1)))
    else:
        at = b.GATHER(positions, as_int32(position_ids, b))
    total = b.ADD(b.GATHER(words, ids), at)
    if segments is not None:
        total = b.ADD(total, b.GATHER(kinds, as_int32(segments, b)))
    out = _layer_norm(node, b, total, scale, offset)
    if mask is None:
        mask = b.MUL(ids, np.int32(0))
    return out, b.SUM(as_int32(mask, b), int32s([1])), total


@lower(f"{DOMAIN}BiasAdd")
def bias_add(node, b):
    """x + bias + another tensor."""
    x, bias, skip = node.inputs
    return b.ADD(b.ADD(x, bias), skip)


@lower(f"{DOMAIN}ExpandDims")
def expand_dims(node, b):
    """A dimension of 1 more."""
    return b.EXPAND_DIMS(node.inputs[0], np.int32(node.constant(1)))


@lower(f"{DOMAIN}Range")
def range_(node, b):
    """Numbers from start in steps of delta, 1 if it is not stated, up to limit."""
    start, limit = node.inputs[:2]
    delta = node.input(2) if node.input(2) is not None else like(start, 1, b)
    return array.range_(as_onnx(node, start, limit, delta), b)


@lower(f"{DOMAIN}UnfoldTensor")
def unfold_tensor(node, b):
    """The windows along a dimension, each along a new last one."""
    (x,) = node.inputs
    axis, size, step = node.axis(node.attr("dim", -1)), node.attr("size"), node.attr("step", 1)
    length = x.dims[axis]
    node.require(length is not None and 0 < size <= length, f"size must be 1 to {length}")
    windows = np.arange(0, length - size + 1, step)[:, None] + np.arange(size)
    out = b.GATHER(x, windows.astype(np.int32), axis=axis)
    order = [*range(axis + 1), *range(axis + 2, out.rank), axis + 1]
    return transposed(out, order, b)


@lower(f"{DOMAIN}CDist")
def cdist(node, b):
    """The distances between the rows of two matrices, or their squares."""
    x, y = node.inputs
    metric = node.attr("metric", "sqeuclidean")
    node.require(
        metric in ("euclidean", "sqeuclidean"),
        f"metric must be euclidean or sqeuclidean, got '{metric}'",
    )
    steps = b.SUB(b.EXPAND_DIMS(x, np.int32(1)), b.EXPAND_DIMS(y, np.int32(0)))
    squares = b.SUM(b.SQUARE(steps), int32s([2]))
    return squares if metric == "sqeuclidean" else b.SQRT(squares)


@lower(f"{DOMAIN}GatedRMSNorm")
def gated_rms_norm(node, b):
    """The RMS norm of x, times the gate through an activation."""
    x, scale, gate = node.inputs
    name = node.attr("activation", "silu")
    node.require(name in ("silu", "sigmoid"), f"activation must be silu or sigmoid, got '{name}'")
    out = rms_norm(b, x, scale, node.attr("epsilon", 1e-5), [x.rank - 1])
    weight = b.LOGISTIC(gate)
    return b.MUL(out, b.MUL(gate, weight) if name == "silu" else weight)


def channels_last_as_first(lowering, node, b, x):
    """What a lowering for images with channels second gives of one with channels last."""
    return to_channels_last(lowering(as_onnx(node, to_channels_first(x, b)), b), b)


@lower(f"{DOMAIN}NhwcMaxPool")
def nhwc_max_pool(node, b):
    """The largest element of each window, channels last."""
    return channels_last_as_first(pool.max_pool, node, b, node.inputs[0])


@lower(f"{DOMAIN}Unique")
def unique(node, b):
    """The distinct elements in the order of the first of each, which one each is, how often."""
    values, _, inverse, counts = index.unique(as_onnx(node, sorted=0), b)
    return values, inverse, counts
