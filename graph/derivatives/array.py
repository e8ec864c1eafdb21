"""Derivatives of ops on shapes and on the order of elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops, same_attrs, shape_of
from .broadcasting import repeated_axes, summed
from .registry import constant, gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor


@gradient("Reshape")
def reshape(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """In the old shape."""
    return ops.Reshape(dy, shape_of(op.inputs[0])), None


@gradient("ExpandDims")
def expand_dims(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """In the old shape."""
    return ops.Reshape(dy, shape_of(op.inputs[0])), None


@gradient("Squeeze")
def squeeze(op: Operation, dy: Tensor) -> Tensor:
    """In the old shape."""
    return ops.Reshape(dy, shape_of(op.inputs[0]))


@gradient("Transpose")
def transpose(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """In the old order."""
    return ops.Transpose(dy, _inverse(op.inputs[1])), None


@gradient("ConjugateTranspose")
def conjugate_transpose(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """In the old order."""
    return ops.ConjugateTranspose(dy, _inverse(op.inputs[1])), None


def _inverse(order: Tensor) -> Tensor | np.ndarray:
    value = order.value
    return ops.InvertPermutation(order) if value is None else np.argsort(value).astype(np.int32)


@gradient("Tile")
def tile(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """The sum over all repetitions."""
    x, repeats = op.inputs
    sizes = ops.Cast(ops.Shape(x), DstT=repeats.dtype)
    pairs = ops.Reshape(ops.Pack([repeats, sizes], axis=1), np.array([-1], np.int32))
    axes = ops.Range(np.int32(0), ops.Size(pairs), np.int32(2))
    return ops.Reshape(ops.Sum(ops.Reshape(dy, pairs), axes), shape_of(x)), None


@gradient("BroadcastTo")
def broadcast_to(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """The sum over all repetitions."""
    x, y = op.inputs[0], op.outputs[0]
    axes = repeated_axes(x.sizes, y.sizes)
    if axes is None:
        axes = ops.BroadcastGradientArgs(ops.Shape(x), ops.Shape(y))[0]
    return summed(dy, axes, x), None


@gradient("Reverse", "ReverseV2")
def reverse(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """Backwards again."""
    return getattr(ops, op.type)(dy, op.inputs[1]), None


@gradient("ReverseSequence")
def reverse_sequence(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """Backwards again."""
    attrs = same_attrs(op, "seq_dim", "batch_dim")
    return ops.ReverseSequence(dy, op.inputs[1], **attrs), None


@gradient("Roll")
def roll(op: Operation, dy: Tensor) -> tuple[Tensor, None, None]:
    """The other way."""
    _, shift, axis = op.inputs
    return ops.Roll(dy, -shift, axis), None, None


constant("InvertPermutation", "Rank", "Shape", "ShapeN", "Size")
