"""Convolutions, products of matrices, pooling, normalisation; filters in TensorFlow's layouts."""

import numpy as np

from ...graph.core.build import number, ops
from .registry import raise_rows, raises

raise_rows("""
LOG_SOFTMAX LogSoftmax
LOCAL_RESPONSE_NORMALIZATION LRN depth_radius=radius bias=bias alpha=alpha beta=beta
""")

SMALLEST_SQUARE = 1e-12
"""What L2_NORMALIZATION takes a sum of squares for at least."""


def steps(node, axes="hw"):
    """Strides and padding of an operator with a window."""
    options = node.options
    strides = [int(getattr(options, f"stride_{axis}")) for axis in axes]
    return {"strides": [1, *strides, 1], "padding": node.option("Padding", "padding")}


def dilations(node, axes="hw"):
    """The distances between the taps of a window."""
    return [1, *(int(getattr(node.options, f"dilation_{axis}_factor")) for axis in axes), 1]


def biased(node, y, i):
    """`y` with a bias that is operand `i`, where it is given."""
    if not node.has(i):
        return y
    sizes = node.sizes(i)
    shape = None if len(sizes) == 1 else [-1]
    return ops.BiasAdd(y, node.arranged(i, shape=shape))


@raises("CONV_2D", deferred=(1, 2))
def conv_2d(node, x, *_):
    """Filters OHWI are HWIO in TensorFlow."""
    filters = node.arranged(1, order=(1, 2, 3, 0))
    return biased(node, ops.Conv2D(x, filters, **steps(node), dilations=dilations(node)), 2)


@raises("DEPTHWISE_CONV_2D", deferred=(1, 2))
def depthwise_conv_2d(node, x, *_):
    """Filters [1, h, w, n] are [h, w, channels, n / channels], or those of groups of one channel
    where the strides differ, which TensorFlow's operation does not take.
    """
    _, height, width, n = node.sizes(1)
    channels = node.sizes(0)[3]
    node.require(
        channels and height and width and n and n % channels == 0,
        f"channels must be known and divide the filters, got {channels} and {n}",
    )
    options = {**steps(node), "dilations": dilations(node)}
    if options["strides"][1] == options["strides"][2]:
        filters = node.arranged(1, shape=(height, width, channels, n // channels))
        y = ops.DepthwiseConv2dNative(x, filters, **options)
    else:
        y = ops.Conv2D(x, node.arranged(1, shape=(height, width, 1, n)), **options)
    return biased(node, y, 2)


@raises("TRANSPOSE_CONV", deferred=(1, 3))
def transpose_conv(node, shape, _, x, *__):
    """Filters OHWI are HWOI in TensorFlow."""
    filters = node.arranged(1, order=(1, 2, 0, 3))
    return biased(node, ops.Conv2DBackpropInput(shape, filters, x, **steps(node)), 3)


@raises("CONV_3D", deferred=(2,))
def conv_3d(node, x, filters, *_):
    """Filters are DHWIO in both."""
    options = {**steps(node, "dhw"), "dilations": dilations(node, "dhw")}
    return biased(node, ops.Conv3D(x, filters, **options), 2)


@raises("CONV_3D_TRANSPOSE", deferred=(3,))
def conv_3d_transpose(node, shape, filters, x, *_):
    """Filters are DHWOI in both."""
    options = {**steps(node, "dhw"), "dilations": dilations(node, "dhw")}
    return biased(node, ops.Conv3DBackpropInputV2(shape, filters, x, **options), 3)


@raises("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")
def pool(node, x):
    """One value for each place of a window."""
    options = node.options
    window = [1, int(options.filter_height), int(options.filter_width), 1]
    if node.kind == "MAX_POOL_2D":
        return ops.MaxPool(x, ksize=window, **steps(node))
    if x.dtype.kind != "f":
        node.fail(f"TensorFlow has no operation for averages of {x.dtype}")
    if node.kind == "AVERAGE_POOL_2D":
        return ops.AvgPool(x, ksize=window, **steps(node))
    return ops.Sqrt(ops.AvgPool(ops.Square(x), ksize=window, **steps(node)))


@raises("FULLY_CONNECTED", deferred=(1, 2))
def fully_connected(node, x, *_):
    """Rows of `x` times the transpose of the weights."""
    layout = node.option("FullyConnectedOptionsWeightsFormat", "weights_format")
    node.require(layout == "DEFAULT", f"weights_format must be DEFAULT, got {layout}")
    weights = node.arranged(1, order=(1, 0))
    sizes, depth = x.sizes or (), node.sizes(1)[1]
    if node.options.keep_num_dims and len(sizes) != 2:
        return biased(node, ops.BatchMatMulV2(x, weights), 2)
    if len(sizes) != 2 or sizes[1] not in (None, depth):
        x = ops.Reshape(x, np.array([-1, depth], np.int32))
    return biased(node, ops.MatMul(x, weights), 2)


@raises("BATCH_MATMUL")
def batch_matmul(node, x, y):
    """Products of stacked matrices."""
    adjoint = {name: bool(getattr(node.options, name)) for name in ("adj_x", "adj_y")}
    return ops.BatchMatMulV2(x, y, **adjoint)


@raises("SOFTMAX")
def softmax(node, x):
    """exp(beta * x) over its sum along the last axis."""
    beta = float(node.options.beta)
    return ops.Softmax(x if beta == 1 else x * number(beta, x))


@raises("L2_NORMALIZATION")
def l2_normalization(node, x):
    """`x` over its length along the last axis."""
    total = ops.Sum(ops.Square(x), np.array([-1], np.int32), keep_dims=True)
    return x * ops.Rsqrt(ops.Maximum(total, number(SMALLEST_SQUARE, x)))
