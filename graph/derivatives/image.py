"""Derivatives of resized images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops, same_attrs
from ..core.shapes import is_static
from .registry import gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor

ATTRS = ("align_corners", "half_pixel_centers")


@gradient("ResizeBilinear")
def resize_bilinear(op: Operation, dy: Tensor) -> tuple[Tensor | None, None]:
    """Shared among the four elements around each place; nothing to integers."""
    x = op.inputs[0]
    if x.dtype is None or x.dtype.kind != "f":
        return None, None
    return ops.ResizeBilinearGrad(dy, x, **same_attrs(op, *ATTRS)), None


@gradient("ResizeNearestNeighbor")
def resize_nearest_neighbor(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """The sum of what each element became."""
    x = op.inputs[0]
    if x.sizes is not None and is_static(x.sizes[1:3]):
        size = np.array(x.sizes[1:3], np.int32)
    else:
        size = ops.StridedSlice(ops.Shape(x), [1], [3], [1])
    return ops.ResizeNearestNeighborGrad(dy, size, **same_attrs(op, *ATTRS)), None


@gradient("ResizeBicubic")
def resize_bicubic(op: Operation, dy: Tensor) -> tuple[Tensor | None, None]:
    """Shared among the sixteen elements around each place; nothing to integers."""
    x = op.inputs[0]
    if x.dtype is None or x.dtype.kind != "f":
        return None, None
    return ops.ResizeBicubicGrad(dy, x, **same_attrs(op, *ATTRS)), None


@gradient("ScaleAndTranslate")
def scale_and_translate(op: Operation, dy: Tensor) -> tuple[Tensor, None, None, None]:
    """Shared among the elements under each filter."""
    x, _, scale, translation = op.inputs
    attrs = same_attrs(op, "kernel_type", "antialias")
    dx = ops.ScaleAndTranslateGrad(dy, ops.Cast(x, DstT=np.float32), scale, translation, **attrs)
    return ops.Cast(dx, DstT=x.dtype), None, None, None


@gradient("CropAndResize")
def crop_and_resize(op: Operation, dy: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
    """To the elements under each crop, and of bilinear ones to the corners of the boxes."""
    x, boxes, box_index, _ = op.inputs
    attrs = same_attrs(op, "method")
    dx = None
    if x.dtype is not None and x.dtype.kind == "f":
        size = ops.Shape(x)
        dx = ops.CropAndResizeGradImage(dy, boxes, box_index, size, T=x.dtype, **attrs)
    by_boxes = ops.CropAndResizeGradBoxes(dy, x, boxes, box_index, method="bilinear")
    return dx, by_boxes, None, None


@gradient("RGBToHSV")
def rgb_to_hsv(op: Operation, dy: Tensor) -> Tensor:
    """By the largest and the least colour: M and m at the places that `top` and `low` mark.

    The value is M, the saturation 1 - m / M, the hue (next - previous) / (6 (M - m)) and a
    constant, where next and previous are the colours around the largest. As in TensorFlow nothing
    comes of gray, and of equal colours the first is the largest and the last the least.
    """
    x = op.inputs[0]
    red, green, blue = _colours(x)
    tops = [
        ops.LogicalAnd(ops.GreaterEqual(red, blue), ops.GreaterEqual(red, green)),
        ops.LogicalAnd(ops.Greater(green, red), ops.GreaterEqual(green, blue)),
        ops.LogicalAnd(ops.Greater(blue, red), ops.Greater(blue, green)),
    ]
    lows = [
        ops.LogicalAnd(ops.Less(red, blue), ops.Less(red, green)),
        ops.LogicalAnd(ops.LessEqual(green, red), ops.Less(green, blue)),
        ops.LogicalAnd(ops.LessEqual(blue, red), ops.LessEqual(blue, green)),
    ]

    def stacked(parts: list[Tensor]) -> Tensor:
        return ops.Cast(ops.Pack(parts, axis=-1), DstT=x.dtype)

    top, low = stacked(tops), stacked(lows)
    is_next, is_previous = stacked([tops[2], *tops[:2]]), stacked([*tops[1:], tops[0]])
    last = np.array([-1], np.int32)
    most = ops.Max(x, last, keep_dims=True)
    least = ops.Min(x, last, keep_dims=True)
    differences = ops.Pack([green - blue, blue - red, red - green], axis=-1)
    difference = ops.Sum(top * differences, last, keep_dims=True)
    extent = ops.DivNoNan(ops.OnesLike(most), most - least)
    slope = (is_next - is_previous) * extent + (low - top) * difference * extent * extent
    whole = ops.DivNoNan(ops.OnesLike(most), most)
    is_positive = ops.Cast(ops.Greater(x, ops.ZerosLike(x)), DstT=x.dtype)
    by_saturation = is_positive * (top * least * whole * whole - low * whole)
    hue, saturation, value = (ops.ExpandDims(part, np.int32(-1)) for part in _colours(dy))
    sixth = ops.Cast(np.float64(1 / 6), DstT=x.dtype)
    return hue * slope * sixth + saturation * by_saturation + value * top


def _colours(x: Tensor) -> list[Tensor]:
    return ops.Unpack(x, num=3, axis=-1)
