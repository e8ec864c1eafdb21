"""Convolution, matrix product, pooling, normalisation and softmax."""

from functools import reduce

import numpy as np

from ...graph.core.shapes import shown
from ..lowering import formulas
from ..lowering.moves import (
    as_int32,
    as_type,
    dimension,
    like,
    reshaped,
    slice_along,
    spread,
    transposed,
)
from .registry import lower, lower_rows

lower_rows({"LogSoftmax": "LOG_SOFTMAX"})

TO_NHWC, TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)
TO_NDHWC, TO_NCDHW = (0, 2, 3, 4, 1), (0, 4, 1, 2, 3)


def channels_last(lowering):
    """Lets an NHWC lowering take data_format NCHW: transposes in and out, which passes remove.

    The wrapped function gets the image input as `x` and `spatial(values)`, which picks (height,
    width) of a 4-list attribute in the graph's own layout.
    """

    def lowered(node, b, position=0):
        x, is_nchw = node.inputs[position], node.text("data_format") == "NCHW"
        if is_nchw:
            x = transposed(x, TO_NHWC, b)

        def spatial(values):
            values = list(values)
            batch, channel = values[0], values[1 if is_nchw else 3]
            node.require(
                batch == channel == 1,
                f"a window or stride over batch or channels must be 1, got {values}",
            )
            return values[2:4] if is_nchw else values[1:3]

        y = lowering(node, b, x, spatial)
        return transposed(y, TO_NCHW, b) if is_nchw else y

    return lowered


def padded(node, b, x, value=0.0):
    """The input and TFLite padding of a windowed operation; explicit padding becomes a PAD."""
    padding = node.text("padding")
    if padding != "EXPLICIT":
        return x, padding
    pairs = np.reshape(node.attr("explicit_paddings"), (4, 2))
    if node.text("data_format") == "NCHW":
        pairs = pairs[list(TO_NHWC)]
    pairs = b.constant(pairs.astype(np.int32))
    if value == 0:
        return b.PAD(x, pairs), "VALID"
    return b.PADV2(x, pairs, b.constant(np.asarray(value, x.dtype))), "VALID"


@lower("Conv2D")
@channels_last
def conv2d(node, b, x, spatial):
    """2-D convolution; TFLite's filters are OHWI, TF's HWIO."""
    stride_h, stride_w = spatial(node.attr("strides"))
    dilation_h, dilation_w = spatial(node.attr("dilations"))
    x, padding = padded(node, b, x)
    return b.CONV_2D(
        x,
        transposed(node.inputs[1], (3, 0, 1, 2), b),
        padding=padding,
        stride_h=stride_h,
        stride_w=stride_w,
        dilation_h_factor=dilation_h,
        dilation_w_factor=dilation_w,
    )


@lower("DepthwiseConv2dNative")
@channels_last
def depthwise_conv2d(node, b, x, spatial):
    """Depthwise convolution; TF's filters are HWCM, TFLite's 1HW(C*M)."""
    filters = node.inputs[1]
    height, width, channels, multiplier = sizes = node.shape(1)
    node.require(None not in sizes, f"the shape of the filters must be known, got {shown(sizes)}")
    stride_h, stride_w = spatial(node.attr("strides"))
    dilation_h, dilation_w = spatial(node.attr("dilations"))
    x, padding = padded(node, b, x)
    return b.DEPTHWISE_CONV_2D(
        x,
        reshaped(filters, (1, height, width, channels * multiplier), b),
        padding=padding,
        stride_h=stride_h,
        stride_w=stride_w,
        dilation_h_factor=dilation_h,
        dilation_w_factor=dilation_w,
        depth_multiplier=multiplier,
    )


def dilated(filters, rates, b):
    """Filters with zeros between their elements, as operators without dilation take them."""
    if max(rates) == 1 or filters.value is None:
        return spread(filters, rates, like(filters, 0, b), b)
    sizes = [(n - 1) * rate + 1 for n, rate in zip(filters.dims, rates, strict=True)]
    values = np.zeros(sizes, filters.dtype)
    values[tuple(slice(None, None, rate) for rate in rates)] = filters.value
    return b.constant(values)


@lower("Conv2DBackpropInput")
def conv2d_backprop_input(node, b):
    """Transposed convolution: output shape, filters (TF: HWOI, TFLite: OHWI), input."""
    shape, filters, _ = node.inputs
    is_nchw = node.text("data_format") == "NCHW"

    def lowered(node, b, x, spatial):
        rates = [*spatial(node.attr("dilations")), 1, 1]
        stride_h, stride_w = spatial(node.attr("strides"))
        padding = node.text("padding")
        node.require(padding != "EXPLICIT", "explicit padding is not supported, use SAME or VALID")
        return b.TRANSPOSE_CONV(
            b.GATHER(shape, b.constant(np.asarray(TO_NHWC, np.int32))) if is_nchw else shape,
            transposed(dilated(filters, rates, b), (2, 0, 1, 3), b),
            x,
            padding=padding,
            stride_h=stride_h,
            stride_w=stride_w,
        )

    return channels_last(lowered)(node, b, position=2)


def pool(kind, pad_value):
    """The lowering of a 2-D pooling."""

    @channels_last
    def lowered(node, b, x, spatial):
        height, width = spatial(node.attr("ksize"))
        stride_h, stride_w = spatial(node.attr("strides"))
        x, padding = padded(node, b, x, pad_value) if kind == "MAX_POOL_2D" else (x, None)
        return getattr(b, kind)(
            x,
            padding=padding or node.text("padding"),
            filter_height=height,
            filter_width=width,
            stride_h=stride_h,
            stride_w=stride_w,
        )

    return lowered


lower("MaxPool")(pool("MAX_POOL_2D", -np.inf))
lower("AvgPool")(pool("AVERAGE_POOL_2D", 0.0))


@lower("BiasAdd", "BiasAddV1")
def bias_add(node, b):
    """x + bias along the channels."""
    x, bias = node.inputs
    if node.type == "BiasAdd" and node.text("data_format") == "NCHW":
        bias = reshaped(bias, (1, -1, *[1] * (node.rank() - 2)), b)
    return b.ADD(x, bias)


@lower("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(node, b):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, as x * scale + offset.

    With is_training the mean and variance are those of the batch.
    """
    x, gamma, beta, mean, variance = node.inputs
    statistics = mean, variance
    is_nchw = node.text("data_format") == "NCHW"
    channel_shape = (1, -1, 1, 1) if is_nchw else (-1,)
    epsilon = node.attr("epsilon")
    if node.attr("is_training"):
        axes = b.constant(np.array([0, 2, 3] if is_nchw else [0, 1, 2], np.int32))
        mean = b.MEAN(x, axes)
        channel_mean = reshaped(mean, channel_shape, b) if is_nchw else mean
        variance = b.MEAN(b.SQUARED_DIFFERENCE(x, channel_mean), axes)
        running = _running_statistics(node, b, axes, mean, variance)
        statistics = *running, mean, variance
    parameters = [t.value for t in (gamma, beta, mean, variance)]
    if all(value is not None for value in parameters):
        y = formulas.folded_batch_norm(b, x, parameters, epsilon, channel_shape)
        return (y, *statistics)
    inverse_stddev = b.RSQRT(b.ADD(variance, like(variance, epsilon, b)))
    scale = b.MUL(gamma, inverse_stddev)
    offset = b.SUB(beta, b.MUL(mean, scale))
    if is_nchw:
        scale, offset = reshaped(scale, channel_shape, b), reshaped(offset, channel_shape, b)
    return (formulas.scaled(b, x, scale, offset), *statistics)


def _running_statistics(node, b, axes, mean, variance):
    """What a training step makes of the running mean and variance, of which the last is unbiased.

    It is variance * n / (n - 1), n being the elements of a channel; both are mixed with those
    before by exponential_avg_factor.
    """
    sizes = b.GATHER(b.SHAPE(node.inputs[0], out_type="INT32"), axes, axis=0)
    n = b.CAST(b.REDUCE_PROD(sizes, np.array([0], np.int32)), dtype=np.float32)
    others = b.MAXIMUM(b.SUB(n, like(n, 1, b)), like(n, 1, b))
    unbiased = b.MUL(variance, b.DIV(n, others))
    factor = node.attr("exponential_avg_factor")
    if factor == 1:
        return mean, unbiased
    pairs = zip(node.inputs[3:5], (mean, unbiased), strict=True)
    return tuple(
        b.ADD(b.MUL(old, like(old, 1 - factor, b)), b.MUL(new, like(new, factor, b)))
        for old, new in pairs
    )


@lower("Softmax")
def softmax(node, b):
    """exp(x) / sum(exp(x)) along the last axis."""
    return b.SOFTMAX(*node.inputs, beta=1.0)


@lower("LRN")
def local_response_normalization(node, b):
    """x / (bias + alpha * sum of squares of 2 * radius + 1 channels) ** beta."""
    return b.LOCAL_RESPONSE_NORMALIZATION(
        node.inputs[0],
        radius=node.attr("depth_radius"),
        bias=node.attr("bias"),
        alpha=node.attr("alpha"),
        beta=node.attr("beta"),
    )


@lower("MatMul", "SparseMatMul")
def matmul(node, b):
    """A product of matrices: FULLY_CONNECTED where the right one is constant, else BATCH_MATMUL."""
    left, right = node.inputs
    if node.type == "SparseMatMul":
        left, right = as_type(left, np.float32, b), as_type(right, np.float32, b)
    transpose_a, transpose_b = node.attr("transpose_a"), node.attr("transpose_b")
    if right.value is None or formulas.is_wide_integer(right):
        return formulas.matmul(b, left, right, transpose_a, transpose_b)
    if transpose_a:
        left = transposed(left, (1, 0), b)
    return b.FULLY_CONNECTED(left, right if transpose_b else transposed(right, (1, 0), b))


@lower("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(node, b):
    """Products of stacked matrices; one constant matrix on the right is a fully connected layer."""
    left, right = node.inputs
    adj_x, adj_y = node.attr("adj_x"), node.attr("adj_y")
    if node.type == "BatchMatMulV3" and left.dtype.itemsize == right.dtype.itemsize == 1:
        return int8_matmul(node, b)
    is_plain = right.value is None or node.rank(1) != 2 or adj_x
    if is_plain or formulas.is_wide_integer(right):
        return formulas.matmul(b, left, right, adj_x, adj_y)
    weights = right if adj_y else transposed(right, (1, 0), b)
    return b.FULLY_CONNECTED(left, weights, keep_num_dims=left.rank != 2)


EXACT_DEPTH = 2**24 // 2**14
"""How many products of two int8 float32 adds without rounding."""


def int8_matmul(node, b):
    """A product of int8 in int32, by float32 products so short that they are exact."""
    left, right = (as_type(x, np.float32, b) for x in node.inputs)
    adj_x, adj_y = node.attr("adj_x"), node.attr("adj_y")
    node.require(
        node.inputs[0].dtype == node.inputs[1].dtype == np.int8 and node.attr("Tout") == np.int32,
        f"8-bit integers must be int8 with results of int32, got {node.inputs[0].dtype} and "
        f"{node.inputs[1].dtype} with {node.attr('Tout')}",
    )
    axes = node.rank(0) - (2 if adj_x else 1), node.rank(1) - (1 if adj_y else 2)
    depth = node.shape(0)[axes[0]]
    node.require(depth is not None, "the inner dimension must be known; fix the shape of the input")
    starts = range(0, depth, EXACT_DEPTH) if depth > EXACT_DEPTH else [None]
    products = []
    for start in starts:
        left_slice, right_slice = (
            x if start is None else slice_along(x, axis, start, min(EXACT_DEPTH, depth - start), b)
            for x, axis in zip((left, right), axes, strict=True)
        )
        product = b.BATCH_MATMUL(left_slice, right_slice, adj_x=adj_x, adj_y=adj_y)
        products.append(b.CAST(product, dtype=np.int32))
    return reduce(b.ADD, products)


@lower("Conv3D")
def conv3d(node, b):
    """3-D convolution of [batch, depth, height, width, channels]; both filters are DHWIO.

    Groups of channels, which CONV_3D has not, are convolved apart.
    """
    x, filters = node.inputs
    is_first = node.text("data_format") == "NCDHW"
    x = transposed(x, TO_NDHWC, b) if is_first else x
    options = conv3d_options(node)
    per_group, channels = node.shape(1)[3], node.shape(0)[1 if is_first else 4]
    node.require(
        channels is not None and per_group and channels % per_group == 0,
        f"the channels must be known, and a multiple of the filters' {per_group}, got {channels}",
    )
    if channels == per_group:
        y = b.CONV_3D(x, filters, **options)
    else:
        n = channels // per_group
        axis = b.constant(np.int32(4))
        groups = [b.SPLIT(axis, t, num_splits=n) for t in (x, filters)]
        parts = [b.CONV_3D(*pair, **options) for pair in zip(*groups, strict=True)]
        y = b.CONCATENATION(*parts, axis=4)
    return transposed(y, TO_NCDHW, b) if is_first else y


@lower("Conv3DBackpropInputV2")
def conv3d_backprop_input(node, b):
    """Transposed 3-D convolution: output shape, filters (DHWOI), input."""
    shape, filters, x = node.inputs
    shape = as_int32(shape, b)
    if node.text("data_format") != "NCDHW":
        return b.CONV_3D_TRANSPOSE(shape, filters, x, dtype=x.dtype, **conv3d_options(node))
    shape = b.GATHER(shape, b.constant(np.array(TO_NDHWC, np.int32)))
    x = transposed(x, TO_NDHWC, b)
    y = b.CONV_3D_TRANSPOSE(shape, filters, x, dtype=x.dtype, **conv3d_options(node))
    return transposed(y, TO_NCDHW, b)


def conv3d_options(node):
    """The options both 3-D convolutions share."""
    order = TO_NDHWC if node.text("data_format") == "NCDHW" else range(5)
    options = {"padding": node.text("padding")}
    for attribute, field in (("strides", "stride_{}"), ("dilations", "dilation_{}_factor")):
        first, *spatial, last = (node.attr(attribute)[i] for i in order)
        node.require(first == last == 1, f"{attribute} of batch and channels must be 1")
        options |= {field.format(axis): n for axis, n in zip("dhw", spatial, strict=True)}
    return options


@lower("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy(node, b):
    """-sum(labels * log(softmax)) of each row, and its gradient softmax - labels."""
    logits, labels = node.inputs
    return cross_entropy(logits, labels, b)


@lower("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy(node, b):
    """The same for a label that is the number of its class."""
    logits, classes = node.inputs
    n = node.shape()[1]
    depth = dimension(logits, 1, b) if n is None else b.constant(np.int32(n))
    one_hot = b.ONE_HOT(
        as_int32(classes, b), depth, like(logits, 1, b), like(logits, 0, b), axis=-1
    )
    return cross_entropy(logits, one_hot, b)


def cross_entropy(logits, labels, b):
    """The loss of each row, and its gradient."""
    loss = b.NEG(b.SUM(b.MUL(labels, b.LOG_SOFTMAX(logits)), np.array([1], np.int32)))
    return loss, b.SUB(b.SOFTMAX(logits, beta=1.0), labels)
