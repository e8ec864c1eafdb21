"""Derivatives of pooling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops, same_attrs, shape_of
from .registry import gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor

ATTRS = ("ksize", "strides", "padding", "data_format")


@gradient("MaxPool")
def max_pool(op: Operation, dy: Tensor) -> Tensor:
    """To the first largest element of each window."""
    attrs = same_attrs(op, *ATTRS, "explicit_paddings")
    return ops.MaxPoolGrad(op.inputs[0], op.outputs[0], dy, **attrs)


@gradient("MaxPool3D")
def max_pool3d(op: Operation, dy: Tensor) -> Tensor:
    """To the first largest element of each window."""
    return ops.MaxPool3DGrad(op.inputs[0], op.outputs[0], dy, **same_attrs(op, *ATTRS))


@gradient("MaxPoolGrad")
def max_pool_grad(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What stands where each window has its largest element."""
    x, y, _ = op.inputs
    chosen = ops.MaxPoolGradGrad(x, y, grad, **same_attrs(op, *ATTRS))
    return ops.ZerosLike(x), ops.ZerosLike(y), chosen


@gradient("MaxPool3DGrad")
def max_pool3d_grad(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What stands where each window has its largest element."""
    x, y, _ = op.inputs
    chosen = ops.MaxPool3DGradGrad(x, y, grad, **same_attrs(op, *ATTRS))
    return ops.ZerosLike(x), ops.ZerosLike(y), chosen


@gradient("MaxPoolGradGrad", "MaxPool3DGradGrad")
def max_pool_grad_grad(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Back to where each window has its largest element."""
    x, y, _ = op.inputs
    kind = ops.MaxPoolGrad if op.type == "MaxPoolGradGrad" else ops.MaxPool3DGrad
    return ops.ZerosLike(x), ops.ZerosLike(y), kind(x, y, grad, **same_attrs(op, *ATTRS))


@gradient("MaxPoolV2")
def max_pool_v2(op: Operation, dy: Tensor) -> tuple[Tensor, None, None]:
    """To the first largest element of each window."""
    attrs = same_attrs(op, "padding", "data_format")
    return ops.MaxPoolGradV2(op.inputs[0], op.outputs[0], dy, *op.inputs[1:], **attrs), None, None


@gradient("MaxPoolWithArgmax")
def max_pool_with_argmax(op: Operation, dy: Tensor, _: Tensor | None) -> Tensor:
    """To the places that the op has found."""
    attrs = same_attrs(op, "ksize", "strides", "padding", "include_batch_in_index")
    return ops.MaxPoolGradWithArgmax(op.inputs[0], dy, op.outputs[1], **attrs)


@gradient("AvgPool")
def avg_pool(op: Operation, dy: Tensor) -> Tensor:
    """Shared among the elements of each window."""
    return ops.AvgPoolGrad(shape_of(op.inputs[0]), dy, **same_attrs(op, *ATTRS))


@gradient("AvgPool3D")
def avg_pool3d(op: Operation, dy: Tensor) -> Tensor:
    """Shared among the elements of each window."""
    return ops.AvgPool3DGrad(shape_of(op.inputs[0]), dy, **same_attrs(op, *ATTRS))


@gradient("AvgPoolGrad")
def avg_pool_grad(op: Operation, grad: Tensor) -> tuple[None, Tensor]:
    """The mean of each window."""
    return None, ops.AvgPool(grad, **same_attrs(op, *ATTRS))


@gradient("AvgPool3DGrad")
def avg_pool3d_grad(op: Operation, grad: Tensor) -> tuple[None, Tensor]:
    """The mean of each window."""
    return None, ops.AvgPool3D(grad, **same_attrs(op, *ATTRS))


@gradient("FractionalMaxPool")
def fractional_max_pool(op: Operation, dy: Tensor, *_: Tensor | None) -> Tensor:
    """To the first largest element of each region."""
    y, rows, columns = op.outputs
    attrs = same_attrs(op, "overlapping")
    return ops.FractionalMaxPoolGrad(op.inputs[0], y, dy, rows, columns, **attrs)


@gradient("FractionalAvgPool")
def fractional_avg_pool(op: Operation, dy: Tensor, *_: Tensor | None) -> Tensor:
    """Shared among the elements of each region."""
    rows, columns = op.outputs[1:]
    sizes = shape_of(op.inputs[0], np.int64)
    return ops.FractionalAvgPoolGrad(sizes, dy, rows, columns, **same_attrs(op, "overlapping"))
