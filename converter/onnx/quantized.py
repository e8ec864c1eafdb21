"""Integers with scales: quantization, and products of quantized tensors.

ONNX rounds halves to the even number, and sums of 8-bit products are of 32 bits: float32 holds
those of up to EXACT_DEPTH products, so longer sums are added up in int32.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from ..lowering.moves import as_type, like, reshaped, slice_along
from .conv import conv
from .registry import lower

EXACT_DEPTH = 2**24 // 2**16
"""How many products of two differences of 8 bits float32 adds without rounding."""
INTEGERS = {np.dtype(kind) for kind in ("int8", "uint8", "int16", "uint16", "int32")}


def _broadcastable(node, b, parameter, x, axis):
    """Scales or zero points in a shape that broadcasts against `x`: one, by axis, or by block."""
    if parameter.rank == 0 or parameter.dims == (1,):
        return reshaped(parameter, (), b) if parameter.rank else parameter
    if parameter.rank == 1:
        shape = [1] * x.rank
        shape[axis] = -1
        return reshaped(parameter, shape, b)
    size, n_blocks = node.attr("block_size", 0), parameter.dims[axis]
    length = x.dims[axis]
    node.require(
        size > 0 and None not in (length, n_blocks),
        f"scales of rank {parameter.rank} need block_size and known sizes, got {size}",
    )
    positions = np.minimum(np.arange(length) // size, n_blocks - 1).astype(np.int32)
    return b.GATHER(parameter, positions, axis=axis)


def _axis(node):
    return node.axis(node.attr("axis", 1)) if node.rank() > 1 else 0


def _require_finite(node, scale):
    """Raises ConverterError for a constant scale with which ONNX computes nan."""
    if scale.value is not None and not np.isfinite(scale.data.astype(np.float64)).all():
        node.fail(
            f"scale must be finite, got {scale.data.ravel()[~np.isfinite(scale.data.ravel())][0]}: "
            "the quantizer measured infinite values, such as those of a mask of -inf, and the "
            "source computes nan; quantize it again with a finite mask, such as -10000"
        )


@lower("QuantizeLinear")
def quantize_linear(node, b):
    """round(x / scale) + zero point, within the range of the type."""
    x, scale, zero_point = node.inputs[0], node.inputs[1], node.input(2)
    _require_finite(node, scale)
    dtype = np.dtype(np.uint8) if zero_point is None else zero_point.dtype
    if zero_point is None and node.attr("output_dtype", 0):
        dtype = node.dtype("output_dtype")
    node.require(dtype in INTEGERS, f"results of {dtype} are not supported, only 8 to 32 bits")
    x, scale = as_type(x, np.float32, b), as_type(scale, np.float32, b)
    out = b.ROUND(b.DIV(x, _broadcastable(node, b, scale, x, _axis(node))))
    integers = _in_range(node, b, out, zero_point, dtype, x)
    node.block.quantized.note(integers, x, scale, zero_point)
    return integers


def quantize(node, b, x, scale, zero_point):
    """`x` as the integers of a scale and a zero point."""
    return quantize_linear(node.with_inputs(x, scale, zero_point), b)


def _dequantized(node, b, x, scale, zero_point):
    """What integers stand for in float32, where the quantizer can make them integers again."""
    return node.block.quantized.dequantized(node, b, x, scale, zero_point)


def float_bias(b, bias, x_scale, weights_scale):
    """A constant of int32 on the product of two scales, as float32."""
    scale = x_scale.data.astype(np.float64) * weights_scale.data.ravel()
    return b.constant((bias.data * scale).astype(np.float32))


def _in_range(node, b, out, zero_point, dtype, x):
    """Whole numbers plus a zero point, cut to a type's range."""
    if zero_point is not None and (zero_point.value is None or zero_point.value.any()):
        zero_point = as_type(zero_point, np.float32, b)
        out = b.ADD(
            out, _broadcastable(node, b, zero_point, x, _axis(node) if x is not None else 0)
        )
    limits = np.iinfo(dtype)
    low, high = (np.float32(n) for n in (limits.min, limits.max))
    if dtype.itemsize == 4:
        high = np.nextafter(high, np.float32(0))
    return b.CAST(b.MINIMUM(b.MAXIMUM(out, low), high), dtype=dtype)


@lower("DequantizeLinear")
def dequantize_linear(node, b):
    """(x - zero point) * scale."""
    x, scale, zero_point = node.inputs[0], node.inputs[1], node.input(2)
    _require_finite(node, scale)
    if x.value is not None and x.dtype not in INTEGERS:
        x, zero_point = _widened(x, b), None if zero_point is None else _widened(zero_point, b)
    is_known = x.dtype in INTEGERS or x.value is not None
    node.require(is_known, f"x of {x.dtype} is not supported, only 8 to 32 bits")
    dequantized = _dequantized(node, b, x, scale, zero_point)
    if dequantized is not None:
        return dequantized
    dtype, axis = scale.dtype, _axis(node)
    out = as_type(x, np.float32, b)
    if zero_point is not None and (zero_point.value is None or zero_point.value.any()):
        zero_point = as_type(zero_point, np.float32, b)
        out = b.SUB(out, _broadcastable(node, b, zero_point, x, axis))
    out = b.MUL(out, _broadcastable(node, b, as_type(scale, np.float32, b), x, axis))
    return as_type(out, dtype, b)


def _widened(x, b):
    """A constant of fewer bits as int8 or uint8, one of few-bit floats as float32."""
    signs = {"i": np.int8, "u": np.uint8}
    dtype = signs.get(x.dtype.name.lstrip()[0], np.float32)
    return b.constant(x.data.astype(dtype))


def _centered(node, b, x, zero_point, axis):
    """x - zero point as float32; the zero point may be one for each row or column."""
    out = as_type(x, np.float32, b)
    if zero_point is None or (zero_point.value is not None and not zero_point.value.any()):
        return out
    zero_point = as_type(zero_point, np.float32, b)
    if zero_point.rank == 1 and zero_point.dims != (1,):
        shape = [1] * x.rank
        shape[axis] = -1
        zero_point = reshaped(zero_point, shape, b)
    elif zero_point.rank == 1:
        zero_point = reshaped(zero_point, (), b)
    return b.SUB(out, zero_point)


def _integer_product(node, b, x, y):
    """x @ y of whole numbers in float32, exact as int32."""
    depth = x.dims[-1] if x.dims[-1] is not None else y.dims[max(y.rank - 2, 0)]
    node.require(depth is not None, "the inner size must be known")
    parts = []
    for start in range(0, depth, EXACT_DEPTH):
        size = min(EXACT_DEPTH, depth - start)
        factors = [
            z if size == depth else slice_along(z, axis, start, size, b)
            for z, axis in ((x, x.rank - 1), (y, max(y.rank - 2, 0)))
        ]
        parts.append(b.CAST(matmul_of(b, *factors), dtype=np.int32))
    return reduce(b.ADD, parts)


def matmul_of(b, x, y):
    """x @ y as numpy has it, of any rank."""
    if x.rank > 1 and y.rank > 1:
        return b.BATCH_MATMUL(x, y)
    axes = [axis for axis, z in ((-2, x), (-1, y)) if z.rank == 1]
    x = reshaped(x, (1, -1), b) if x.rank == 1 else x
    y = reshaped(y, (-1, 1), b) if y.rank == 1 else y
    out = b.BATCH_MATMUL(x, y)
    return b.SQUEEZE(out, squeeze_dims=np.asarray([a % out.rank for a in axes], np.int32))


@lower("MatMulInteger")
def matmul_integer(node, b):
    """(x - its zero point) @ (y - its zero point), as int32."""
    x = _centered(node, b, node.inputs[0], node.input(2), max(node.rank(0) - 2, 0))
    y = _centered(node, b, node.inputs[1], node.input(3), node.rank(1) - 1)
    return _integer_product(node, b, x, y)


@lower("QLinearMatMul")
def qlinear_matmul(node, b):
    """The product of two quantized tensors, quantized."""
    x, x_scale, x_zero, y, y_scale, y_zero, scale, zero = node.inputs
    floats = [_dequantized(node, b, *node.inputs[i : i + 3]) for i in (0, 3)]
    if None not in floats:
        return quantize(node, b, matmul_of(b, *floats), scale, zero)
    left = _centered(node, b, x, x_zero, max(x.rank - 2, 0))
    right = _centered(node, b, y, y_zero, y.rank - 1)
    is_known = None not in (left.dims[-1], right.dims[max(y.rank - 2, 0)])
    product = (
        b.CAST(_integer_product(node, b, left, right), dtype=np.float32)
        if is_known
        else matmul_of(b, left, right)  # what it rounds is less than what the scales do
    )
    scales = [_along(b, s, x.rank, a) for s, a in ((x_scale, -2), (y_scale, -1))]
    factor = b.DIV(b.MUL(*scales), _along(b, scale, x.rank, -1))
    out = b.ROUND(b.MUL(product, factor))
    return _in_range(node.with_inputs(product), b, out, zero, zero.dtype, product)


def _along(b, scale, rank, axis):
    """A scale, or one for each row or column, as float32."""
    scale = as_type(scale, np.float32, b)
    if scale.rank == 0 or scale.dims == (1,):
        return reshaped(scale, (), b) if scale.rank else scale
    shape = [1] * max(rank, 2)
    shape[axis] = -1
    return reshaped(scale, shape, b)


@lower("ConvInteger")
def conv_integer(node, b):
    """The convolution of two tensors less their zero points, as int32."""
    x = _centered(node, b, node.inputs[0], node.input(2), 1)
    filters = _centered(node, b, node.inputs[1], node.input(3), 0)
    return _integer_conv(node, b, x, filters)


def _integer_conv(node, b, x, filters):
    """A convolution of whole numbers in float32, exact as int32."""
    _, channels, *size = filters.dims
    node.require(None not in (channels, *size), "the shape of the filters must be known")
    at_once = max(EXACT_DEPTH // int(np.prod(size)), 1)
    if channels <= at_once:
        return b.CAST(conv(node.with_inputs(x, filters), b), dtype=np.int32)
    node.require(
        node.attr("group", 1) == 1,
        f"groups of more than {at_once} channels are not supported, got {channels}",
    )
    parts = []
    for start in range(0, channels, at_once):
        count = min(at_once, channels - start)
        operands = (slice_along(z, 1, start, count, b) for z in (x, filters))
        parts.append(b.CAST(conv(node.with_inputs(*operands), b), dtype=np.int32))
    return reduce(b.ADD, parts)


@lower("QLinearConv")
def qlinear_conv(node, b):
    """The convolution of two quantized tensors, quantized."""
    x, x_scale, x_zero, filters, filter_scale, filter_zero, scale, zero = node.inputs[:8]
    bias = node.input(8)
    floats = [_dequantized(node, b, *node.inputs[i : i + 3]) for i in (0, 3)]
    if None not in floats and (bias is None or bias.is_constant):
        bias = None if bias is None else float_bias(b, bias, x_scale, filter_scale)
        return quantize(node, b, conv(node.with_inputs(*floats, bias), b), scale, zero)
    total = _integer_conv(
        node, b, _centered(node, b, x, x_zero, 1), _centered(node, b, filters, filter_zero, 0)
    )
    if bias is not None:
        bias_shape = (-1, *[1] * (x.rank - 2))
        total = b.ADD(total, reshaped(bias, bias_shape, b))
    by_channel = _along(b, filter_scale, x.rank, 1)
    factor = b.DIV(b.MUL(_along(b, x_scale, x.rank, 1), by_channel), _along(b, scale, x.rank, 1))
    out = b.ROUND(b.MUL(b.CAST(total, dtype=np.float32), factor))
    return _in_range(node.with_inputs(total), b, out, zero, zero.dtype, total)


@lower("DynamicQuantizeLinear")
def dynamic_quantize_linear(node, b):
    """uint8 by the range of the tensor itself: the integers, the scale and the zero point."""
    (x,) = node.inputs
    axes, zero = np.arange(node.rank(), dtype=np.int32), like(x, 0, b)
    low = b.MINIMUM(b.REDUCE_MIN(x, axes), zero)
    high = b.MAXIMUM(b.REDUCE_MAX(x, axes), zero)
    scale = b.DIV(b.SUB(high, low), like(x, 255, b))
    divisor = b.SELECT_V2(b.EQUAL(scale, zero), like(x, 1, b), scale)
    point = b.ROUND(b.MINIMUM(b.MAXIMUM(b.NEG(b.DIV(low, divisor)), zero), like(x, 255, b)))
    out = b.ADD(b.ROUND(b.DIV(x, divisor)), point)
    out = b.MINIMUM(b.MAXIMUM(out, zero), like(x, 255, b))
    return b.CAST(out, dtype=np.uint8), scale, b.CAST(point, dtype=np.uint8)
