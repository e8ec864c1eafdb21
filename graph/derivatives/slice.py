"""Derivatives of parts of tensors and of what is put around them."""

from __future__ import annotations

import numpy as np

from ..core.build import ops, same_attrs, shape_of
from ..core.graph import Operation, Tensor
from ..core.shapes import is_static
from .registry import gradient

MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def known(x: Tensor) -> np.ndarray | None:
    """The elements of a tensor where all are known before anything runs."""
    return None if x.value is None or x.value.dtype == object else x.value


@gradient("Slice")
def slice_(op: Operation, dy: Tensor) -> tuple[Tensor, None, None]:
    """With zeros around it."""
    x, begin, _ = op.inputs
    y, start = op.outputs[0], known(begin)
    if start is not None and is_static(x.sizes) and is_static(y.sizes):
        before = start.astype(np.int32)
        pads = np.stack([before, np.array(x.sizes, np.int32) - np.array(y.sizes) - before], 1)
        return ops.Pad(dy, pads.astype(np.int32)), None, None
    after = ops.Shape(x, out_type=begin.dtype) - ops.Shape(y, out_type=begin.dtype) - begin
    return ops.Pad(dy, ops.Pack([begin, after], axis=1)), None, None


@gradient("StridedSlice")
def strided_slice(op: Operation, dy: Tensor) -> tuple[Tensor, None, None, None]:
    """An op of its own: dy at its place in zeros."""
    x, begin, end, strides = op.inputs
    shape = shape_of(x, begin.dtype)
    placed = ops.StridedSliceGrad(shape, begin, end, strides, dy, **same_attrs(op, *MASKS))
    return placed, None, None, None


@gradient("StridedSliceGrad")
def strided_slice_grad(op: Operation, grad: Tensor) -> tuple[None, None, None, None, Tensor]:
    """The slice again."""
    _, begin, end, strides, _ = op.inputs
    part = ops.StridedSlice(grad, begin, end, strides, **same_attrs(op, *MASKS))
    return None, None, None, None, part


@gradient("TensorStridedSliceUpdate")
def tensor_strided_slice_update(
    op: Operation, dy: Tensor
) -> tuple[Tensor, None, None, None, Tensor]:
    """To the whole where it was kept, and to the value where it was written."""
    _, begin, end, strides, value = op.inputs
    attrs = same_attrs(op, *MASKS)
    of_x = ops.TensorStridedSliceUpdate(dy, begin, end, strides, ops.ZerosLike(value), **attrs)
    return of_x, None, None, None, ops.StridedSlice(dy, begin, end, strides, **attrs)


def _inner(op: Operation, dy: Tensor) -> Tensor:
    """What is left of `dy` without the padding."""
    x, paddings = op.inputs[:2]
    pairs = known(paddings)
    if pairs is not None:
        begin = pairs[:, 0].astype(np.int32)
    else:
        columns = ops.StridedSlice(
            paddings, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
        )
        begin = ops.Cast(columns, DstT=np.dtype(np.int32))
    return ops.Slice(dy, begin, shape_of(x))


@gradient("Pad")
def pad(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """Without the padding."""
    return _inner(op, dy), None


@gradient("PadV2")
def pad_v2(op: Operation, dy: Tensor) -> tuple[Tensor, None, Tensor]:
    """Without the padding, whose sum is the value's."""
    inner = _inner(op, dy)
    return inner, None, _total(dy) - _total(inner)


def _total(x: Tensor) -> Tensor:
    return ops.Sum(x, ops.Range(np.int32(0), ops.Rank(x), np.int32(1)))


@gradient("MirrorPad")
def mirror_pad(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """An op of its own: the sum of what each element became."""
    return ops.MirrorPadGrad(dy, op.inputs[1], mode=op.get_attr("mode")), None


@gradient("MirrorPadGrad")
def mirror_pad_grad(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    """The padding again."""
    return ops.MirrorPad(grad, op.inputs[1], mode=op.get_attr("mode")), None
