"""Derivatives of joining and splitting."""

from __future__ import annotations

import numpy as np

from ..core.build import ops
from ..core.graph import Tensor
from ..core.shapes import is_static
from .registry import constant, gradient


@gradient("ConcatV2")
def concat_v2(op, dy):
    """To each input its part."""
    *inputs, axis = op.inputs
    return [*_parts(dy, inputs, axis), None]


@gradient("Concat")
def concat(op, dy):
    """To each input its part."""
    axis, *inputs = op.inputs
    return [None, *_parts(dy, inputs, axis)]


def _parts(dy: Tensor, inputs: list[Tensor], axis: Tensor) -> list[Tensor]:
    """The slices of `dy` as large as the inputs, in a row along `axis`."""
    if len(inputs) == 1:
        return [dy]
    shapes = [x.shape for x in inputs if is_static(x.shape)]
    if axis.value is not None and len(shapes) == len(inputs):
        along, at, results = int(axis.value), 0, []
        for shape in shapes:
            begin = np.zeros(len(shape), np.int32)
            begin[along] = at
            at += shape[along]
            results.append(ops.Slice(dy, begin, np.array(shape, np.int32)))
        return results
    axis = ops.FloorMod(ops.Cast(axis, DstT=np.dtype(np.int32)), ops.Rank(dy))
    sizes = ops.ShapeN(inputs)
    offsets = ops.ConcatOffset(axis, sizes)
    return [ops.Slice(dy, begin, size) for begin, size in zip(offsets, sizes, strict=True)]


@gradient("Split", fills_zeros=True)
def split(op, *dys):
    """Joined again."""
    return None, ops.ConcatV2(list(dys), op.inputs[0])


@gradient("SplitV", fills_zeros=True)
def split_v(op, *dys):
    """Joined again."""
    return ops.ConcatV2(list(dys), op.inputs[2]), None, None


@gradient("Pack")
def pack(op, dy):
    """To each input its slice."""
    return ops.Unpack(dy, num=len(op.inputs), axis=op.get_attr("axis"))


@gradient("Unpack", fills_zeros=True)
def unpack(op, *dys):
    """Joined again."""
    return ops.Pack(list(dys), axis=op.get_attr("axis"))


constant("ConcatOffset")
