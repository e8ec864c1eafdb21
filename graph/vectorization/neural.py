"""Rules for operations on batches, and for random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.build import ops
from .registry import rows

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from .registry import Call


@rows("AvgPool", "AvgPool3D", "Conv2D", "Conv3D", "DepthToSpace", "DepthwiseConv2dNative", "LRN")
@rows("MaxPool", "MaxPool3D", "ResizeArea", "ResizeBicubic", "ResizeBilinear", "SpaceToDepth")
@rows("ResizeNearestNeighbor", "ExtractImagePatches", "Dilation2D")
def batches(call: Call) -> list[Tensor]:
    """An operation on each item of a batch: the batches of all rows are one."""
    parameters = [call.one(i) for i in range(1, len(call.inputs))]
    results = call.again(call.flattened(0), *parameters)
    return [call.unflattened(result) for result in results]


@rows("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
def losses(call: Call) -> list[Tensor]:
    """Losses of each item of a batch, and their gradients."""
    results = call.again(call.flattened(0), call.flattened(1))
    return [call.unflattened(result) for result in results]


@rows("BiasAdd")
def bias_add(call: Call) -> Sequence[Tensor]:
    """A vector added along the last dimension."""
    if call.op.get_attr("data_format") != b"NHWC":
        raise call.refusal("the channels are not in the last dimension")
    if not call.is_stacked(1):
        return call.again(call.rows(0), call.one(1))
    return [ops.AddV2(call.inputs[0].tensor, call.aligned(1, call.rank(0)))]


@rows("RandomStandardNormal", "RandomUniform", "RandomUniformInt", "TruncatedNormal")
def random(call: Call) -> Sequence[Tensor]:
    """Random numbers for all rows."""
    if call.options.draw is None:
        raise call.refusal("it draws other numbers for each row")
    return call.options.draw(call, call.sized(call.one(0)))


@rows("InTopKV2")
def in_top_k(call: Call) -> Tensor:
    """Whether classes are among those with the highest scores."""
    result = ops.InTopKV2(call.flattened(0), call.flattened(1), call.one(2))
    return call.unflattened(result)


@rows("AdjustContrastv2")
def adjust_contrast(call: Call) -> Sequence[Tensor]:
    """Images of another contrast."""
    return call.again(call.rows(0), call.one(1))


@rows("AdjustHue", "AdjustSaturation", "HSVToRGB", "RGBToHSV")
def colors(call: Call) -> Sequence[Tensor]:
    """Colors in the last dimension, changed."""
    return call.again(call.rows(0), *(call.one(i) for i in range(1, len(call.inputs))))
