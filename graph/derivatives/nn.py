"""Derivatives of bias and normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.build import ops, same_attrs
from .registry import gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor


@gradient("BiasAdd")
def bias_add(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor]:
    """To the bias the sum over all but the channels."""
    return dy, ops.BiasAddGrad(dy, **same_attrs(op, "data_format"))


@gradient("BiasAddV1")
def bias_add_v1(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor]:
    """To the bias the sum over all but the channels."""
    return dy, ops.BiasAddGrad(dy)


@gradient("FusedBatchNormV3", fills_zeros=True)
def fused_batch_norm_v3(op: Operation, dy: Tensor, *unused: Tensor) -> list[Tensor | None]:
    """An op of its own, from the statistics the forward op has saved."""
    x, scale, _, mean, variance = op.inputs
    training = op.get_attr("is_training")
    saved = op.outputs[3:6] if training else [mean, variance, op.outputs[5]]
    attrs = same_attrs(op, "epsilon", "data_format", "is_training")
    results = ops.FusedBatchNormGradV3(dy, x, scale, *saved, **attrs)
    return [*results[:3], None, None]


@gradient("FusedBatchNorm", "FusedBatchNormV2", fills_zeros=True)
def fused_batch_norm(op: Operation, dy: Tensor, *unused: Tensor) -> list[Tensor | None]:
    """An op of its own, from the statistics the forward op has saved."""
    x, scale, _, mean, variance = op.inputs
    saved = op.outputs[3:5] if op.get_attr("is_training") else [mean, variance]
    attrs = same_attrs(op, "epsilon", "data_format", "is_training")
    kind = "FusedBatchNormGrad" + op.type.removeprefix("FusedBatchNorm")
    results = getattr(ops, kind)(dy, x, scale, *saved, **attrs)
    return [*results[:3], None, None]


@gradient("LRN")
def lrn(op: Operation, dy: Tensor) -> Tensor:
    """An op of its own, from what goes in and what comes out."""
    attrs = same_attrs(op, "depth_radius", "bias", "alpha", "beta")
    return ops.LRNGrad(dy, op.inputs[0], op.outputs[0], **attrs)
