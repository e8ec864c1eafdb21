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
