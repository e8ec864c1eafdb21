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
