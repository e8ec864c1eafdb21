"""Derivatives of pooling."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


@gradient("AvgPool")
def avg_pool(op: Operation, dy: Tensor) -> Tensor:
    """Shared among the elements of each window."""
    return ops.AvgPoolGrad(shape_of(op.inputs[0]), dy, **same_attrs(op, *ATTRS))


@gradient("AvgPoolGrad")
def avg_pool_grad(op: Operation, grad: Tensor) -> tuple[None, Tensor]:
    """The mean of each window."""
    return None, ops.AvgPool(grad, **same_attrs(op, *ATTRS))
