"""Derivatives of convolutions: each is one of the three ops of the family."""

from __future__ import annotations

from ..build import ops, same_attrs, shape_of
from .registry import gradient

ATTRS = ("strides", "padding", "explicit_paddings", "data_format", "dilations")


@gradient("Conv2D")
def conv2d(op, dy):
    """The transposed convolution of dy, and the windows of the input times dy."""
    x, filters = op.inputs
    attrs = same_attrs(op, *ATTRS)
    dx = ops.Conv2DBackpropInput(shape_of(x), filters, dy, **attrs)
    return dx, ops.Conv2DBackpropFilter(x, shape_of(filters), dy, **attrs)


@gradient("Conv2DBackpropInput")
def conv2d_backprop_input(op, dx):
    """Linear in filter and dy: the other two ops of the family."""
    _, filters, dy = op.inputs
    attrs = same_attrs(op, *ATTRS)
    d_filters = ops.Conv2DBackpropFilter(dx, shape_of(filters), dy, **attrs)
    return None, d_filters, ops.Conv2D(dx, filters, **attrs)


@gradient("Conv2DBackpropFilter")
def conv2d_backprop_filter(op, d_filters):
    """Linear in input and dy: the other two ops of the family."""
    x, _, dy = op.inputs
    attrs = same_attrs(op, *ATTRS)
    dx = ops.Conv2DBackpropInput(shape_of(x), d_filters, dy, **attrs)
    return dx, None, ops.Conv2D(x, d_filters, **attrs)


@gradient("DepthwiseConv2dNative")
def depthwise_conv2d_native(op, dy):
    """The transposed convolution of dy, and the windows of the input times dy."""
    x, filters = op.inputs
    attrs = same_attrs(op, *ATTRS)
    dx = ops.DepthwiseConv2dNativeBackpropInput(shape_of(x), filters, dy, **attrs)
    return dx, ops.DepthwiseConv2dNativeBackpropFilter(x, shape_of(filters), dy, **attrs)


@gradient("DepthwiseConv2dNativeBackpropInput")
def depthwise_conv2d_native_backprop_input(op, dx):
    """Linear in filter and dy: the other two ops of the family."""
    _, filters, dy = op.inputs
    attrs = same_attrs(op, *ATTRS)
    d_filters = ops.DepthwiseConv2dNativeBackpropFilter(dx, shape_of(filters), dy, **attrs)
    return None, d_filters, ops.DepthwiseConv2dNative(dx, filters, **attrs)


@gradient("DepthwiseConv2dNativeBackpropFilter")
def depthwise_conv2d_native_backprop_filter(op, d_filters):
    """Linear in input and dy: the other two ops of the family."""
    x, _, dy = op.inputs
    attrs = same_attrs(op, *ATTRS)
    dx = ops.DepthwiseConv2dNativeBackpropInput(shape_of(x), d_filters, dy, **attrs)
    return dx, None, ops.DepthwiseConv2dNative(x, d_filters, **attrs)


@gradient("Conv3D")
def conv3d(op, dy):
    """The transposed convolution of dy, and the windows of the input times dy."""
    x, filters = op.inputs
    attrs = same_attrs(op, "strides", "padding", "data_format", "dilations")
    dx = ops.Conv3DBackpropInputV2(shape_of(x), filters, dy, **attrs)
    return dx, ops.Conv3DBackpropFilterV2(x, shape_of(filters), dy, **attrs)
