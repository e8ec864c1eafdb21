"""Signals as frames that overlap, and back: `tf.signal.frame` and `overlap_and_add`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops, shape_of
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.shapes import whole
from ..array import array
from ..array.casting import cast
from ..array.creation import range as numbers

if TYPE_CHECKING:
    from ...core.typing import TensorLike

    Size = int | Tensor


def scalar(x: TensorLike, name: str) -> Size:
    """A size that a caller says: a number where it is known; ValueError unless it is a scalar."""
    size = convert_to_tensor(x, name=name)
    size.get_shape().assert_has_rank(0)
    value = whole(size.value)
    return cast(size, np.int32) if value is None else int(value)


def size_at(x: Tensor, axis: int) -> Size:
    """How long a dimension is: a number where it is known."""
    known = None if x.sizes is None else x.sizes[axis]
    return shape_of(x)[axis] if known is None else known


def not_below_0(size: Size) -> Size:
    """`size`, or 0 where it is negative."""
    return max(0, size) if isinstance(size, int) else ops.Maximum(size, np.int32(0))


def _frame_positions(count: Size, step: Size, length: Size) -> Tensor | np.ndarray:
    """[count, length]: where the elements of frames stand."""
    if isinstance(count, int) and isinstance(step, int) and isinstance(length, int):
        return (np.arange(count)[:, None] * step + np.arange(length)).astype(np.int32)
    starts = numbers(count) * step
    return array.expand_dims(starts, 1) + array.expand_dims(numbers(length), 0)


def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """An axis as two: frames that overlap, and their elements.

    Args:
        signal: Of any type.
        frame_length, frame_step: How long frames are, and how far they are apart.
        pad_end: Whether `pad_value` makes the last samples a whole frame.
        pad_value: A scalar.
        axis: The samples.
        name: Of the operations.

    Raises ValueError for an axis out of range.
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        x = convert_to_tensor(signal, name="signal")
        length, step = scalar(frame_length, "frame_length"), scalar(frame_step, "frame_step")
        shape = x.get_shape().with_rank_at_least(1)
        rank = shape.ndims
        if (rank is None and axis != -1) or (rank is not None and not -rank <= axis < rank):
            raise ValueError(f"axis={axis} out of bounds for a signal of shape {shape}")
        n = size_at(x, axis)
        if pad_end:
            convert_to_tensor(pad_value, x.dtype, "pad_value").get_shape().assert_has_rank(0)
            count = not_below_0(-(-n // step))
            missing = not_below_0((count - 1) * step + length - n)
            x = _padded(x, missing, axis, pad_value)
        else:
            count = not_below_0((n - length) // step + 1)
        frames = array.gather(x, _frame_positions(count, step, length), axis=axis)
        if rank is not None:
            sizes = shape.as_list()
            known = [n if isinstance(n, int) else None for n in (count, length)]
            frames.set_shape([*sizes[: axis % rank], *known, *sizes[axis % rank + 1 :]])
        return frames


def _padded(x: Tensor, missing: Size, axis: int, pad_value: TensorLike) -> Tensor:
    """`x` with `missing` elements more at the end of an axis."""
    if isinstance(missing, int) and missing == 0:
        return x
    rank = ops.Rank(x) if x.sizes is None else len(x.sizes)
    at = ops.OneHot(np.int32(axis) % rank, rank, missing, np.int32(0))
    pads = ops.Pack([ops.ZerosLike(at), at], axis=1)
    padded = ops.PadV2(x, pads, convert_to_tensor(pad_value, x.dtype))
    if x.sizes is not None and isinstance(missing, int):
        sizes = list(x.sizes)
        known = sizes[axis]
        sizes[axis] = None if known is None else known + missing
        padded.set_shape(tuple(sizes))
    return padded


def padded_to(x: Tensor, length: Size) -> Tensor:
    """`x` with zeros behind, where its last axis is shorter than `length`."""
    return _padded(x, not_below_0(length - size_at(x, -1)), -1, 0)


def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """Frames added to one signal, each `frame_step` behind the one before.

    Args:
        signal: [..., frames, length], numbers.
        frame_step: An integer scalar.
        name: Of the operations.

    Returns [..., (frames - 1) * frame_step + length].

    Raises ValueError when `frame_step` is no integer.
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        frames = convert_to_tensor(signal, name="signal")
        shape = frames.get_shape().with_rank_at_least(2)
        step_tensor = convert_to_tensor(frame_step, name="frame_step")
        step_tensor.get_shape().assert_has_rank(0)
        if step_tensor.dtype.kind not in "iu":
            raise ValueError(f"frame_step must be an integer. Got {step_tensor.dtype.name}")
        step = scalar(step_tensor, "frame_step")
        n, length = size_at(frames, -2), size_at(frames, -1)
        total = 0 if isinstance(n, int) and n == 0 else (n - 1) * step + length
        sizes = shape_of(frames)
        rows = array.transpose(array.reshape(frames, [-1, n * length]), [1, 0])
        positions = array.reshape(_frame_positions(n, step, length), [-1])
        added = ops.UnsortedSegmentSum(rows, positions, ops.Maximum(total, np.int32(0)))
        outer = sizes[:-2]
        result = array.reshape(array.transpose(added, [1, 0]), array.concat([outer, [total]], 0))
        if shape.ndims is not None:
            known = total if isinstance(total, int) else None
            result.set_shape((*shape.as_list()[:-2], known))
        return result
