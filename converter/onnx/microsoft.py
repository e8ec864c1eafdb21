"""com.microsoft: operators that ONNX Runtime's optimizer and its exporters write."""

from __future__ import annotations

import numpy as np

from ..lowering import formulas
from ..lowering.moves import as_int32, as_type, dimension, int32s, like, reshaped, transposed
from . import matmul, norm, quantized
from .conv import conv
from .index import trilu
from .registry import Node, lower

DOMAIN = "com.microsoft."
OPSET = 17
"""Version of ai.onnx whose operators those of the same name are."""
FILTER_VALUE = -10000.0
"""What is added to the scores of masked positions, where the node does not say."""

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


def as_onnx(node, *inputs):
    """The node as one of ai.onnx."""
    return Node(node.proto, OPSET, inputs or node.inputs, node.block)


for _type, _lowering in {
    "DequantizeLinear": quantized.dequantize_linear,
    "LayerNormalization": norm.layer_normalization,
    "QuantizeLinear": quantized.quantize_linear,
    "Trilu": trilu,
}.items():
    lower(DOMAIN + _type)(lambda node, b, lowering=_lowering: lowering(as_onnx(node), b))


def _activated(node, b, x, parameters):
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
    return _activated(node, b, out, node.attr("activation_params", []))


@lower(f"{DOMAIN}FusedGemm")
def fused_gemm(node, b):
    """Gemm and an activation."""
    names = ("alpha", "beta", "gamma")
    values = (node.attr(f"activation_{name}", None) for name in names)
    return _activated(
        node, b, matmul.gemm(as_onnx(node), b), [value for value in values if value is not None]
    )


@lower(f"{DOMAIN}FusedMatMul", f"{DOMAIN}TransposeMatMul")
def fused_matmul(node, b):
    """alpha * x @ y, either transposed."""
    node.require(
        not node.attr("transBatchA", 0) and not node.attr("transBatchB", 0),
        "transBatchA and transBatchB are not supported",
    )
    x, y = (
        _swapped(b, z) if node.attr(f"trans{name}", 0) and z.rank > 1 else z
        for z, name in zip(node.inputs, "AB", strict=True)
    )
    alpha = node.attr("alpha", 1.0)
    if alpha != 1:
        x = b.MUL(x, like(x, alpha, b))
    return matmul.matmul(as_onnx(node, x, y), b)


def _swapped(b, x):
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
        _rms_norm(b, total, scale, node.attr("epsilon", 1e-12), [total.rank - 1]),
        None,
        None,
        (total),
    )


@lower("SimplifiedLayerNormalization", f"{DOMAIN}SimplifiedLayerNormalization")
def rms_normalization(node, b):
    """x / sqrt(mean of its squares + epsilon) * scale."""
    x, scale = node.inputs[:2]
    axes = range(node.axis(node.attr("axis", -1)), node.rank())
    return _rms_norm(b, x, scale, node.attr("epsilon", 1e-5), list(axes))


def _rms_norm(b, x, scale, epsilon, axes):
    mean = b.MEAN(b.SQUARE(x), np.asarray(axes, np.int32), keep_dims=True)
    return b.MUL(b.MUL(x, b.RSQRT(b.ADD(mean, like(x, epsilon, b)))), scale)


def _layer_norm(node, b, x, scale, offset):
    epsilon = like(x, node.attr("epsilon", 1e-12), b)
    out = b.LAYER_NORM(x, np.asarray([x.rank - 1], np.int32), epsilon)
    return formulas.scaled(b, out, scale, offset)


@lower(f"{DOMAIN}EmbedLayerNormalization")
def embed_layer_normalization(node, b):
    """The layer norm of words', positions' and segments' embeddings, and how long each row is."""
    ids, segments, words, positions, kinds, scale, offset, mask = (node.input(i) for i in range(8))
    ids = as_int32(ids, b)
    places = node.input(8)
    if places is None:
        length = dimension(ids, 1, b) if ids.dims[1] is None else b.constant(np.int32(ids.dims[1]))
        at = b.GATHER(positions, b.RANGE(np.int32(0), length, np.int32(1)))
    else:
        at = b.GATHER(positions, as_int32(places, b))
    total = b.ADD(b.GATHER(words, ids), at)
    if segments is not None:
        total = b.ADD(total, b.GATHER(kinds, as_int32(segments, b)))
    out = _layer_norm(node, b, total, scale, offset)
    if mask is None:
        mask = b.MUL(ids, np.int32(0))
    return out, b.SUM(as_int32(mask, b), int32s([1])), total


@lower(f"{DOMAIN}Attention")
def attention(node, b):
    """Attention of a tensor to itself: one product gives queries, keys and values of all heads."""
    x, weights, bias, mask = (node.input(i) for i in range(4))
    node.require(node.input(4) is None, "past keys and values are not supported")
    sizes = node.attr("qkv_hidden_sizes", None)
    width = weights.dims[1]
    node.require(width is not None, "the shape of the weights must be known")
    sizes = sizes or [width // 3] * 3
    node.require(not node.attr("do_rotary", 0), "do_rotary is not supported")
    out = b.FULLY_CONNECTED(x, transposed(weights, (1, 0), b), bias, keep_num_dims=True)
    q, k, v = b.SPLIT_V(out, np.asarray(sizes, np.int32), np.int32(2), num_splits=3)
    return _attended(node, b, q, k, v, _mask(node, b, x, mask), node.input(5))


@lower(f"{DOMAIN}MultiHeadAttention")
def multi_head_attention(node, b):
    """Attention of queries to keys and values, each [batch, length, hidden]."""
    q, k, v, bias, mask, scores = (node.input(i) for i in range(6))
    node.require(
        None not in (k, v) and all(x.rank == 3 for x in (q, k, v)),
        "packed or split queries, keys and values are not supported",
    )
    node.require(node.input(6) is None, "past keys and values are not supported")
    if bias is not None:
        sizes = [x.dims[2] for x in (q, k, v)]
        parts = b.SPLIT_V(bias, np.asarray(sizes, np.int32), np.int32(0), num_splits=3)
        q, k, v = (b.ADD(x, part) for x, part in zip((q, k, v), parts, strict=True))
    return _attended(node, b, q, k, v, _mask(node, b, k, mask), scores)


def _mask(node, b, x, mask):
    """What is added to the scores, from lengths or from ones where a position counts."""
    if mask is None:
        return None
    value = node.attr("mask_filter_value", FILTER_VALUE)
    if mask.rank == 1:
        length = dimension(x, 1, b) if x.dims[1] is None else b.constant(np.int32(x.dims[1]))
        node.require(
            mask.dims[0] == x.dims[0], "a mask of one dimension must have a length for each row"
        )
        steps = b.RANGE(np.int32(0), length, np.int32(1))
        mask = b.LESS(steps, b.EXPAND_DIMS(as_int32(mask, b), np.int32(1)))
    mask = as_type(mask, np.float32, b)
    gap = b.MUL(b.SUB(like(mask, 1, b), mask), like(mask, value, b))
    for _ in range(4 - gap.rank):
        gap = b.EXPAND_DIMS(gap, np.int32(1))
    return gap


def _attended(node, b, q, k, v, mask, scores_bias):
    """softmax(q k^T * scale + mask) v, head by head."""
    heads = node.attr("num_heads")
    size = q.dims[2] // heads

    def split(x):
        shape = [x.dims[0] or -1, x.dims[1] or -1, heads, x.dims[2] // heads]
        node.require(shape.count(-1) < 2, "batch or length must be known")
        return transposed(reshaped(x, shape, b), (0, 2, 1, 3), b)

    q, k, v = (split(x) for x in (q, k, v))
    scale = node.attr("scale", 0.0) or 1 / np.sqrt(size)
    scores = b.MUL(b.BATCH_MATMUL(q, k, adj_y=True), like(q, scale, b))
    for extra in (mask, scores_bias):
        scores = scores if extra is None else b.ADD(scores, extra)
    if node.attr("unidirectional", 0):
        length = q.dims[2] or 0
        node.require(length == k.dims[2], "unidirectional needs a known length")
        future = np.triu(np.full((length, length), np.finfo(np.float32).min / 2, np.float32), 1)
        scores = b.ADD(scores, b.constant(future))
    out = transposed(b.BATCH_MATMUL(b.SOFTMAX(scores, beta=1.0), v), (0, 2, 1, 3), b)
    shape = [out.dims[0] or -1, out.dims[1] or -1, heads * out.dims[3]]
    return reshaped(out, shape, b)


@lower(f"{DOMAIN}BiasAdd")
def bias_add(node, b):
    """x + bias + another tensor."""
    x, bias, skip = node.inputs
    return b.ADD(b.ADD(x, bias), skip)


@lower(f"{DOMAIN}MatMulIntegerToFloat")
def matmul_integer_to_float(node, b):
    """A product of integers, as float32 by their scales."""
    x, y, x_scale, y_scale, x_zero, y_zero, bias = (node.input(i) for i in range(7))
    product = quantized.matmul_integer(as_onnx(node, x, y, x_zero, y_zero), b)
    out = b.MUL(b.CAST(product, dtype=np.float32), b.MUL(x_scale, y_scale))
    return out if bias is None else b.ADD(out, bias)


@lower(f"{DOMAIN}DynamicQuantizeMatMul")
def dynamic_quantize_matmul(node, b):
    """x, quantized by its own range, times integers; as float32."""
    x, y, y_scale, y_zero, bias = (node.input(i) for i in range(5))
    integers, scale, zero = quantized.dynamic_quantize_linear(as_onnx(node, x), b)
    product = quantized.matmul_integer(as_onnx(node, integers, y, zero, y_zero), b)
    out = b.MUL(b.CAST(product, dtype=np.float32), b.MUL(scale, y_scale))
    return out if bias is None else b.ADD(out, bias)


@lower(f"{DOMAIN}QGemm")
def qgemm(node, b):
    """Gemm of quantized matrices; quantized again where a scale for the result is there."""
    x, x_scale, x_zero, y, y_scale, y_zero, bias, scale, zero = (node.input(i) for i in range(9))
    floats = [
        node.block.quantized.dequantized(node, b, *operand)
        for operand in ((x, x_scale, x_zero), (y, y_scale, y_zero))
    ]
    if None not in floats and (bias is None or bias.is_constant) and scale is not None:
        bias = None if bias is None else quantized.float_bias(b, bias, x_scale, y_scale)
        return _quantized(node, b, matmul.gemm(as_onnx(node, *floats, bias), b), scale, zero)
    x, y = (
        _swapped(b, z) if node.attr(f"trans{name}", 0) else z for z, name in ((x, "A"), (y, "B"))
    )
    total = quantized.matmul_integer(as_onnx(node, x, y, x_zero, y_zero), b)
    total = total if bias is None else b.ADD(total, bias)
    factor = b.MUL(b.MUL(x_scale, y_scale), like(x_scale, node.attr("alpha", 1.0), b))
    out = b.MUL(b.CAST(total, dtype=np.float32), factor)
    return out if scale is None else _quantized(node, b, out, scale, zero)


def _dequantized(node, b, x, scale, zero):
    return quantized.dequantize_linear(as_onnx(node, x, scale, zero), b)


def _quantized(node, b, x, scale, zero):
    return quantized.quantize_linear(as_onnx(node, x, scale, zero), b)


BINARY = {"QLinearAdd": "ADD", "QLinearMul": "MUL"}


@lower(*(DOMAIN + name for name in BINARY))
def qlinear_binary(node, b):
    """A sum or product of quantized tensors, quantized."""
    inputs = [node.input(i) for i in range(8)]
    x, y = (_dequantized(node, b, *inputs[i : i + 3]) for i in (0, 3))
    return _quantized(node, b, getattr(b, BINARY[node.type])(x, y), *inputs[6:])


def _spatial(rank, is_last):
    """The axes of an image, with channels last or second."""
    return np.arange(1 if is_last else 2, rank - 1 if is_last else rank, dtype=np.int32)


UNARY = {
    "QLinearLeakyRelu": lambda node, b, x: b.LEAKY_RELU(x, alpha=node.attr("alpha", 0.01)),
    "QLinearSigmoid": lambda node, b, x: b.LOGISTIC(x),
    "QLinearGlobalAveragePool": lambda node, b, x: b.MEAN(
        x, _spatial(x.rank, node.attr("channels_last", 0)), keep_dims=True
    ),
}  # fmt: skip


@lower(*(DOMAIN + name for name in UNARY))
def qlinear_unary(node, b):
    """A function of a quantized tensor, quantized."""
    inputs = [node.input(i) for i in range(5)]
    x = _dequantized(node, b, *inputs[:3])
    return _quantized(node, b, UNARY[node.type](node, b, x), *inputs[3:])


@lower(f"{DOMAIN}QLinearConcat")
def qlinear_concat(node, b):
    """Quantized tensors joined along an axis, in one quantization."""
    scale, zero, *operands = node.inputs
    parts = [_dequantized(node, b, *operands[i : i + 3]) for i in range(0, len(operands), 3)]
    return _quantized(node, b, b.CONCATENATION(*parts, axis=node.attr("axis")), scale, zero)
