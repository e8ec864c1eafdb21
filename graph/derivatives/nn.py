"""Derivatives of bias and normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops, same_attrs, shape_of
from .registry import constant, gradient

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


@gradient("BiasAddGrad")
def bias_add_grad(op: Operation, grad: Tensor) -> Tensor:
    """Repeated along all but the channels."""
    dy = op.inputs[0]
    if op.get_attr("data_format") == b"NCHW":
        spatial = np.zeros(len(dy.get_shape()) - 2, np.int32) + 1
        grad = ops.Reshape(grad, ops.ConcatV2([[np.int32(-1)], spatial], np.int32(0)))
    return ops.BroadcastTo(grad, shape_of(dy))


@gradient("LRN")
def lrn(op: Operation, dy: Tensor) -> Tensor:
    """Of x / s^beta, s being what bias and the squares of neighbours make."""
    attrs = same_attrs(op, "depth_radius", "bias", "alpha", "beta")
    return ops.LRNGrad(dy, op.inputs[0], op.outputs[0], **attrs)


@gradient("CTCLoss")
def ctc_loss(op: Operation, dloss: Tensor, _: Tensor | None) -> tuple[Tensor, None, None, None]:
    """What the loss has computed beside itself."""
    dx = ops.PreventGradient(
        op.outputs[1], message="Currently there is no way to take the second derivative of ctc_loss"
    )
    rows = ops.ExpandDims(ops.ExpandDims(dloss, np.int32(0)), np.int32(-1))
    return rows * dx, None, None, None


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


constant("CTCGreedyDecoder", "CTCBeamSearchDecoder", "ComputeAccidentalHits")
constant(
    *(f"{kind}CandidateSampler" for kind in ("All", "FixedUnigram", "LearnedUnigram")),
    *(f"{kind}CandidateSampler" for kind in ("LogUniform", "Uniform")),
)
