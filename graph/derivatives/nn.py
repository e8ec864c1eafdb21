"""Derivatives of bias and normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops, same_attrs, shape_of
from ..core.composite.indexed_slices import dense
from .gradients import gradients
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


@gradient("BatchNormWithGlobalNormalization")
def batch_norm_with_global_normalization(op: Operation, dy: Tensor) -> list[Tensor]:
    """To x, mean, variance, beta and gamma, all of which are given."""
    x, mean, variance, _, gamma = op.inputs
    ratio = ops.Rsqrt(variance + np.asarray(op.get_attr("variance_epsilon"), x.dtype))
    centered, axes = x - mean, np.array([0, 1, 2], np.int32)
    is_scaled = op.get_attr("scale_after_normalization")
    factor = ratio * gamma if is_scaled else ratio
    along = ops.Sum(dy * centered, axes)
    d_variance = along * factor * ops.Square(ratio) * np.asarray(-0.5, x.dtype)
    d_gamma = along * ratio if is_scaled else ops.ZerosLike(gamma)
    return [dy * factor, -ops.Sum(dy, axes) * factor, d_variance, ops.Sum(dy, axes), d_gamma]


@gradient("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3", fills_zeros=True)
def fused_batch_norm_grad(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    """Through what the op computes, written out."""
    inputs = [ops.Identity(x) for x in op.inputs[:3]]
    results = _batch_norm_grad(op, *inputs)
    flowing = gradients(results, inputs, list(grads[:3]))
    dense_ones = [None if dx is None else dense(dx) for dx in flowing]
    return [*dense_ones, *[None] * (len(op.inputs) - 3)]


def _batch_norm_grad(op: Operation, dy: Tensor, x: Tensor, scale: Tensor) -> list[Tensor]:
    """The gradients by x, scale and offset."""
    is_last = op.get_attr("data_format") in (b"NHWC", b"NDHWC")
    rank = len(x.sizes) if x.sizes is not None else 4
    channel = rank - 1 if is_last else 1
    axes = np.array([i for i in range(rank) if i != channel], np.int32)
    shape = np.array([-1 if i == channel else 1 for i in range(rank)], np.int32)
    wide = np.dtype(scale.dtype)
    dy, values = ops.Cast(dy, DstT=wide), ops.Cast(x, DstT=wide)
    epsilon = np.asarray(op.get_attr("epsilon"), wide)
    if op.get_attr("is_training"):
        mean = ops.Mean(values, axes, keep_dims=True)
        variance = ops.Mean(ops.Square(values - mean), axes, keep_dims=True)
    else:
        mean, variance = (ops.Reshape(part, shape) for part in op.inputs[3:5])
    ratio, centered = ops.Rsqrt(variance + epsilon), values - mean
    factor = ops.Reshape(scale, shape) * ratio
    dx = factor * dy
    if op.get_attr("is_training"):
        along = ops.Mean(dy * centered, axes, keep_dims=True)
        dx = factor * (dy - ops.Mean(dy, axes, keep_dims=True) - centered * along * ratio * ratio)
    d_scale = ops.Sum(dy * centered * ratio, axes)
    return [ops.Cast(dx, DstT=np.dtype(x.dtype)), d_scale, ops.Sum(dy, axes)]


constant("CTCGreedyDecoder", "CTCBeamSearchDecoder", "ComputeAccidentalHits")
constant(
    *(f"{kind}CandidateSampler" for kind in ("All", "FixedUnigram", "LearnedUnigram")),
    *(f"{kind}CandidateSampler" for kind in ("LogUniform", "Uniform")),
)
