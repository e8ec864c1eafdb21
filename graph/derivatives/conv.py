"""Derivatives of convolutions: each is one of the three ops of the family."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops, same_attrs, shape_of
from .registry import gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor

ATTRS = ("strides", "padding", "explicit_paddings", "data_format", "dilations")


def _register(kind: str) -> None:
    """The derivatives of a convolution and of its two `Backprop` ops; all three are bilinear."""
    to_input, to_filter = f"{kind}BackpropInput", f"{kind}BackpropFilter"

    @gradient(kind)
    def forward(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor]:
        x, filters = op.inputs
        attrs = same_attrs(op, *ATTRS)
        dx = getattr(ops, to_input)(shape_of(x), filters, dy, **attrs)
        return dx, getattr(ops, to_filter)(x, shape_of(filters), dy, **attrs)

    @gradient(to_input)
    def input_gradient(op: Operation, dx: Tensor) -> tuple[None, Tensor, Tensor]:
        _, filters, dy = op.inputs
        attrs = same_attrs(op, *ATTRS)
        d_filters = getattr(ops, to_filter)(dx, shape_of(filters), dy, **attrs)
        return None, d_filters, getattr(ops, kind)(dx, filters, **attrs)

    @gradient(to_filter)
    def filter_gradient(op: Operation, d_filters: Tensor) -> tuple[Tensor, None, Tensor]:
        x, _, dy = op.inputs
        attrs = same_attrs(op, *ATTRS)
        dx = getattr(ops, to_input)(shape_of(x), d_filters, dy, **attrs)
        return dx, None, getattr(ops, kind)(x, d_filters, **attrs)


_register("Conv2D")
_register("DepthwiseConv2dNative")


ATTRS_3D = ("strides", "padding", "data_format", "dilations")


@gradient("Conv3D")
def conv3d(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor]:
    """The transposed convolution of dy, and the windows of the input times dy."""
    x, filters = op.inputs
    attrs = same_attrs(op, *ATTRS_3D)
    dx = ops.Conv3DBackpropInputV2(shape_of(x), filters, dy, **attrs)
    return dx, ops.Conv3DBackpropFilterV2(x, shape_of(filters), dy, **attrs)


@gradient("Conv3DBackpropInputV2")
def conv3d_backprop_input(op: Operation, dx: Tensor) -> tuple[None, Tensor, Tensor]:
    """Of the transposed convolution, which is linear in both."""
    _, filters, dy = op.inputs
    attrs = same_attrs(op, *ATTRS_3D)
    d_filters = ops.Conv3DBackpropFilterV2(dx, shape_of(filters), dy, **attrs)
    return None, d_filters, ops.Conv3D(dx, filters, **attrs)


@gradient("Conv3DBackpropFilterV2")
def conv3d_backprop_filter(op: Operation, d_filters: Tensor) -> tuple[Tensor, None, Tensor]:
    """Of the gradient by the filter, which is linear in both."""
    x, _, dy = op.inputs
    attrs = same_attrs(op, *ATTRS_3D)
    dx = ops.Conv3DBackpropInputV2(shape_of(x), d_filters, dy, **attrs)
    return dx, None, ops.Conv3D(x, d_filters, **attrs)


@gradient("Dilation2D")
def dilation2d(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor]:
    """To the first element, and the number of the filter, whose sum is the largest."""
    attrs = same_attrs(op, "strides", "rates", "padding")
    return (
        ops.Dilation2DBackpropInput(*op.inputs, dy, **attrs),
        ops.Dilation2DBackpropFilter(*op.inputs, dy, **attrs),
    )


@gradient("ExtractImagePatches", "ExtractVolumePatches")
def extract_image_patches(op: Operation, dy: Tensor) -> Tensor:
    """The sum of what each element has in the windows that it is in."""
    x = op.inputs[0]
    is_volume = op.type == "ExtractVolumePatches"
    sizes = ops.Shape(x)
    batch, *inner, channels = ops.Unpack(sizes, num=5 if is_volume else 4)
    count = math.prod(inner[1:], start=inner[0])
    positions = ops.Reshape(
        ops.Range(np.int32(1), count + np.int32(1), np.int32(1)),
        ops.Pack([np.int32(1), *inner, np.int32(1)]),
    )
    attrs = same_attrs(op, "ksizes", "strides", "padding", *(() if is_volume else ("rates",)))
    windows = ops.Reshape(getattr(ops, op.type)(positions, **attrs), np.array([-1], np.int32))
    elements = ops.Reshape(dy, ops.Pack([batch, ops.Size(windows), channels]))
    rows = ops.Transpose(elements, np.array([1, 0, 2], np.int32))
    summed = ops.UnsortedSegmentSum(rows, windows, count + np.int32(1))[1:]  # row 0 is padding
    return ops.Reshape(ops.Transpose(summed, np.array([1, 0, 2], np.int32)), sizes)
