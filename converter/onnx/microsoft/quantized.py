"""com.microsoft: operators on quantized tensors, and on weights of few bits."""

from __future__ import annotations

import numpy as np

from ...lowering.moves import like, to_channels_first, to_channels_last
from .. import matmul, norm, pool, quantized, recurrent
from ..registry import lower
from .attention import self_attention
from .fused import DOMAIN, as_onnx, embedded, swapped
from .layers import mixture, routed

FP4 = np.array([0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4], np.float32)
FP4 = np.concatenate([FP4, -FP4])
"""bitsandbytes' floating-point numbers of 4 bits, in parts of the largest."""
NF4 = np.array(
    [
        *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
        *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
        *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
        *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
    ],
    np.float32,
)
"""Quantiles of the normal distribution (QLoRA, appendix E), of which 0 is one."""
LSTM_INPUTS = 8
"""Inputs that DynamicQuantizeLSTM has in common with LSTM."""


def _dequantized(node, b, x, scale, zero):
    return quantized.dequantize_linear(as_onnx(node, x, scale, zero), b)


def _quantized(node, b, x, scale, zero):
    return quantized.quantize_linear(as_onnx(node, x, scale, zero), b)


@lower(f"{DOMAIN}MatMulInteger16")
def matmul_integer16(node, b):
    """A matrix product of int16, added up as int32."""
    x, y = (b.CAST(z, dtype=np.int32) for z in node.inputs)
    node.require(node.rank() > 1 and node.rank(1) > 1, "operands must have 2 dimensions or more")
    return matmul.product(b, x, y)


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
        swapped(b, z) if node.attr(f"trans{name}", 0) else z for z, name in ((x, "A"), (y, "B"))
    )
    total = quantized.matmul_integer(as_onnx(node, x, y, x_zero, y_zero), b)
    total = total if bias is None else b.ADD(total, bias)
    factor = b.MUL(b.MUL(x_scale, y_scale), like(x_scale, node.attr("alpha", 1.0), b))
    out = b.MUL(b.CAST(total, dtype=np.float32), factor)
    return out if scale is None else _quantized(node, b, out, scale, zero)


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


def _image_function(lowering, node, b, x):
    """A lowering on an image, whose channels may be last."""
    if not node.attr("channels_last", 0):
        return lowering(as_onnx(node, x), b)
    return to_channels_last(lowering(as_onnx(node, to_channels_first(x, b)), b), b)


@lower(f"{DOMAIN}QLinearAveragePool")
def qlinear_average_pool(node, b):
    """The mean of each window of a quantized image, quantized."""
    inputs = [node.input(i) for i in range(5)]
    x = _dequantized(node, b, *inputs[:3])
    return _quantized(node, b, _image_function(pool.average_pool, node, b, x), *inputs[3:])


@lower(f"{DOMAIN}QLinearConv")
def qlinear_conv(node, b):
    """The convolution of quantized tensors, quantized, of channels that may be last."""

    def convolution(one, b):
        return quantized.qlinear_conv(as_onnx(node, one.inputs[0], *node.inputs[1:]), b)

    return _image_function(convolution, node, b, node.inputs[0])


@lower(f"{DOMAIN}QLinearSoftmax")
def qlinear_softmax(node, b):
    """The softmax of a quantized tensor, as an operator set has it, quantized."""
    inputs = [node.input(i) for i in range(5)]
    x = _dequantized(node, b, *inputs[:3])
    one = as_onnx(node, x, kind="Softmax", opset=node.attr("opset"))
    return _quantized(node, b, norm.softmax(one, b), *inputs[3:])


@lower(f"{DOMAIN}QLinearWhere")
def qlinear_where(node, b):
    """Elements of one of two quantized tensors, quantized."""
    condition, *inputs = (node.input(i) for i in range(9))
    x, y = (_dequantized(node, b, *inputs[i : i + 3]) for i in (0, 3))
    return _quantized(node, b, b.SELECT_V2(condition, x, y), *inputs[6:])


@lower(f"{DOMAIN}QLinearReduceMean")
def qlinear_reduce_mean(node, b):
    """The mean of a quantized tensor along axes, quantized."""
    inputs = [node.input(i) for i in range(5)]
    x = _dequantized(node, b, *inputs[:3])
    axes = np.asarray(node.attr("axes", [*range(x.rank)]), np.int32)
    out = b.MEAN(x, axes, keep_dims=bool(node.attr("keepdims", 1)))
    return _quantized(node, b, out, *inputs[3:])


@lower(f"{DOMAIN}ReduceSumInteger")
def reduce_sum_integer(node, b):
    """The sum of integers of 8 bits along axes, as int32."""
    x = b.CAST(node.inputs[0], dtype=np.int32)
    axes = np.asarray(node.attr("axes", [*range(x.rank)]), np.int32)
    return b.SUM(x, axes, keep_dims=bool(node.attr("keepdims", 1)))


@lower(f"{DOMAIN}MulInteger")
def mul_integer(node, b):
    """(x - its zero point) * (y - its zero point), as int32."""
    x, x_zero, y, y_zero = (node.input(i) for i in range(4))
    factors = []
    for z, zero in ((x, x_zero), (y, y_zero)):
        z = b.CAST(z, dtype=np.int32)
        factors.append(z if zero is None else b.SUB(z, b.CAST(zero, dtype=np.int32)))
    return b.MUL(*factors)


@lower(f"{DOMAIN}QAttention")
def qattention(node, b):
    """Attention whose input and weights are quantized."""
    names = ("x", "weights", "bias", "x_scale", "scale", "mask", "x_zero", "zero", "past")
    values = {name: node.input(i) for i, name in enumerate(names)}
    x = _dequantized(node, b, values["x"], values["x_scale"], values["x_zero"])
    weights = _dequantized(node, b, values["weights"], values["scale"], values["zero"])
    one = as_onnx(node, x, weights, values["bias"])
    bias, mask, past = (values[name] for name in ("bias", "mask", "past"))
    return self_attention(one, b, x, weights, bias, mask, past, None)


@lower(f"{DOMAIN}QEmbedLayerNormalization")
def qembed_layer_normalization(node, b):
    """EmbedLayerNormalization of quantized embeddings, scale and offset."""
    ids, segments, *tables, mask = (node.input(i) for i in range(8))
    rows = [(x, node.input(8 + i), node.input(13 + i)) for i, x in enumerate(tables)]
    floats = [None if x is None else _float_constant(b, x, *row) for x, *row in rows]
    return embedded(node, b, [ids, segments, *floats, mask, None])[:2]


def _float_constant(b, x, scale, zero):
    """What a constant of integers stands for; no kernel multiplies it as integers."""
    steps = x.data.astype(np.float32) - zero.data.astype(np.float32)
    return b.constant(steps * scale.data.astype(np.float32))


@lower(f"{DOMAIN}DynamicQuantizeLSTM")
def dynamic_quantize_lstm(node, b):
    """LSTM whose weights are integers, stored with the gates last."""
    inputs = [node.input(i) for i in range(LSTM_INPUTS)]
    for i, at in ((1, LSTM_INPUTS), (2, LSTM_INPUTS + 2)):
        weights, scale, zero = (node.constant(j) for j in (i, at, at + 1))
        shape = (weights.shape[0], 1, -1)
        values = (weights.astype(np.float32) - zero.astype(np.float32).reshape(shape)) * (
            scale.reshape(shape)
        )
        inputs[i] = b.constant(np.ascontiguousarray(values.transpose(0, 2, 1)))
    return recurrent.recurrent(as_onnx(node, *inputs, kind="LSTM"), b)


@lower(f"{DOMAIN}MatMulNBits")
def matmul_n_bits(node, b):
    """x times weights whose rows are blocks of integers of few bits, each with a scale."""
    node.require(node.input(4) is None, "g_idx is not supported")
    node.require(not node.attr("weight_prepacked", 0), "packed weights are not supported")
    bits, size = node.attr("bits", 4), node.attr("block_size")
    n_rows, depth = node.attr("N"), node.attr("K")
    n_blocks = -(-depth // size)
    steps = _unpacked(node, node.constant(1).reshape(n_rows, n_blocks, -1), bits)[:, :, :size]
    scales = node.constant(2).reshape(n_rows, n_blocks, 1).astype(np.float32)
    weights = (steps - _zero_points(node, 3, (n_rows, n_blocks, 1), bits)) * scales
    weights = weights.reshape(n_rows, -1)[:, :depth].astype(np.float32)
    out = matmul.matmul(as_onnx(node, node.inputs[0], b.constant(weights.T.copy())), b)
    return out if node.input(5) is None else b.ADD(out, node.input(5))


@lower(f"{DOMAIN}QMoE")
def quantized_mixture(node, b):
    """A mixture of experts whose weights are integers of few bits, with scales of rows or blocks.

    ONNX Runtime's kernel for processors always normalizes the weights of the chosen experts.
    """
    kind = node.attr("quant_type", "int")
    node.require(kind == "int", f"quant_type must be 'int', got '{kind}'")
    node.require(node.input(14) is None, "router_weights are not supported")
    weights = routed(node, b, node.input(1), normalize=True)
    up, down, gate = (_expert_layer(node, b, number) for number in (1, 2, 3))
    return mixture(node, b, node.input(0), weights, up, down, gate)


def _expert_layer(node, b, number):
    """The weights [experts, outputs, inputs] as floats and the bias of layer 1, 2 or 3."""
    first = 3 * number - 1
    if node.input(first) is None:
        return None, None
    bits = node.attr(f"fc{number}_expert_weight_bits", node.attr("expert_weight_bits", 4))
    packed, scales = node.constant(first), node.constant(first + 1).astype(np.float32)
    steps = _unpacked(node, packed, bits)
    n_experts, n_rows, depth = steps.shape
    size = node.attr("block_size", 0) if scales.ndim == 3 else depth
    n_blocks = depth // size
    steps = steps.reshape(n_experts * n_rows, n_blocks, size)
    shape = (n_experts, n_rows) if scales.ndim == 2 else (n_experts * n_rows, n_blocks)
    zeros = _zero_points(node, 10 + number, shape, bits)
    zeros = zeros.reshape(-1, n_blocks, 1) if zeros.ndim else zeros
    weights = (steps - zeros) * scales.reshape(-1, n_blocks, 1)
    return b.constant(weights.reshape(n_experts, n_rows, depth)), node.input(first + 2)


@lower(f"{DOMAIN}MatMulBnb4")
def matmul_bnb4(node, b):
    """x times weights of 4 bits, numbers of a table times the largest of each block."""
    depth, n_rows, size = node.attr("K"), node.attr("N"), node.attr("block_size")
    kind = node.attr("quant_type")
    node.require(kind in (0, 1), f"quant_type must be 0 or 1, got {kind}")
    packed = node.constant(1).ravel()
    codes = np.stack([packed >> 4, packed & 15], 1).ravel()[: n_rows * depth]
    largest = np.repeat(node.constant(2).ravel().astype(np.float32), size)[: codes.size]
    weights = ((FP4, NF4)[kind][codes] * largest).reshape(n_rows, depth)
    weights = weights.T.copy() if node.attr("transB", 1) else weights
    return matmul.matmul(as_onnx(node, node.inputs[0], b.constant(weights)), b)


@lower(f"{DOMAIN}GatherBlockQuantized")
def gather_block_quantized(node, b):
    """Slices of a constant whose blocks of integers have a scale each."""
    axis = node.attr("quantize_axis", 1)
    table, scales = node.constant(0), node.constant(2).astype(np.float32)
    bits = node.attr("bits", 4)
    node.require(axis % table.ndim == table.ndim - 1, "blocks must lie along the last axis")
    middle = 0
    if table.dtype == np.uint8:
        table, middle = _unpacked(node, table, bits), 2 ** (bits - 1)
    positions = np.arange(table.shape[-1]) // node.attr("block_size", 128)
    zeros = middle
    if node.input(3) is not None:
        zeros = node.constant(3)
        zeros = _unpacked(node, zeros, bits) if zeros.dtype == np.uint8 else zeros
        zeros = zeros.astype(np.float32)[..., : scales.shape[-1]][..., positions]
    values = (table.astype(np.float32) - zeros) * scales[..., positions]
    gather_axis = node.attr("gather_axis", 0) % table.ndim
    return b.GATHER(b.constant(values.astype(np.float32)), node.inputs[1], axis=gather_axis)


def _unpacked(node, packed, bits):
    """The integers in bytes, the first in the lowest bits."""
    node.require(bits in (2, 4, 8), f"bits must be 2, 4 or 8, got {bits}")
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = (packed.astype(np.uint8)[..., None] >> shifts) & np.uint8(2**bits - 1)
    return parts.reshape(*packed.shape[:-1], -1).astype(np.float32)


def _zero_points(node, index, shape, bits):
    """The zero points of blocks: floats, or integers that each row packs into whole bytes."""
    if node.input(index) is None:
        return np.float32(2 ** (bits - 1))
    zeros = node.constant(index)
    if zeros.dtype == np.uint8:
        zeros = _unpacked(node, zeros.reshape(shape[0], -1), bits)[:, : shape[1]]
    return zeros.astype(np.float32).reshape(shape)
