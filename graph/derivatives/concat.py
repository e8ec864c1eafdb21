"""Derivatives of joining and splitting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.build import ops
from ..core.graph import Operation, Tensor
from ..core.shapes import is_static
from .registry import constant, gradient


@gradient("ConcatV2")
def concat_v2(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """To each input its part."""
    *inputs, axis = op.inputs
    return [*_parts(dy, inputs, axis), None]


@gradient("Concat")
def concat(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """To each input its part."""
    axis, *inputs = op.inputs
    return [None, *_parts(dy, inputs, axis)]


def _parts(dy: Tensor, inputs: list[Tensor], axis: Tensor) -> list[Tensor]:
    """The slices of `dy` as large as the inputs, in a row along `axis`."""
    if len(inputs) == 1:
        return [dy]
    shapes = [x.sizes for x in inputs if is_static(x.sizes)]
    if axis.value is not None and len(shapes) == len(inputs):
        along, at = int(axis.value), 0
        results: list[Tensor] = []
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


def _joined(parts: Sequence[Tensor], axis: Tensor) -> Tensor:
    """One after the other along `axis`; a single one as it is."""
    return ops.ConcatV2(list(parts), axis) if len(parts) > 1 else parts[0]


@gradient("Split", fills_zeros=True)
def split(op: Operation, *dys: Tensor) -> tuple[None, Tensor]:
    """Joined again."""
    return None, _joined(dys, op.inputs[0])


@gradient("SplitV", fills_zeros=True)
def split_v(op: Operation, *dys: Tensor) -> tuple[Tensor, None, None]:
    """Joined again."""
    return _joined(dys, op.inputs[2]), None, None


@gradient("Pack")
def pack(op: Operation, dy: Tensor) -> list[Tensor]:
    """To each input its slice."""
    return ops.Unpack(dy, num=len(op.inputs), axis=op.get_attr("axis"))


@gradient("Unpack", fills_zeros=True)
def unpack(op: Operation, *dys: Tensor) -> Tensor:
    """Joined again."""
    return ops.Pack(list(dys), axis=op.get_attr("axis"))


constant("ConcatOffset")
