"""Tensors, above all gradients, kept within bounds: by value and by norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import number, ops
from ...core.composite.indexed_slices import IndexedSlices
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.shapes import merge
from ...derivatives.gradients import Gradient
from ..array.casting import cast
from ..rows import unary

if TYPE_CHECKING:
    from ...core.typing import TensorLike


def _values(gradient: TensorLike | IndexedSlices) -> Tensor:
    """The elements that are stored."""
    return gradient.values if isinstance(gradient, IndexedSlices) else convert_to_tensor(gradient)


def _like(gradient: TensorLike | IndexedSlices, values: Tensor) -> Gradient:
    """Other elements in the place of those of a gradient."""
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return values


def _every(x: Tensor) -> Tensor | np.ndarray:
    """All axes of a tensor."""
    if x.sizes is not None:
        return np.arange(len(x.sizes), dtype=np.int32)
    return ops.Range(np.int32(0), ops.Rank(x), np.int32(1))


def _numeric(value: TensorLike, like: Tensor) -> Tensor:
    return convert_to_tensor(value, None if isinstance(value, Tensor) else like.dtype)


@unary
def clip_by_value(
    t: TensorLike | IndexedSlices,
    clip_value_min: TensorLike,
    clip_value_max: TensorLike,
    name: str | None = None,
) -> Gradient:
    """`t` with what is below `clip_value_min` or above `clip_value_max` set to that bound.

    Args:
        t: A tensor or IndexedSlices.
        clip_value_min, clip_value_max: Numbers, or tensors that broadcast to the shape of `t`.
        name: Of the operations.

    Raises:
        ValueError: A bound would make the result larger than `t`.
    """
    with name_scope(name, "clip_by_value") as scope:
        values = _values(t)
        below = ops.Minimum(values, clip_value_max)
        merge(values.sizes, below.sizes)
        clipped = ops.Maximum(below, clip_value_min, name=scope)
        merge(values.sizes, clipped.sizes)
        return _like(t, clipped)


def clip_by_norm(
    t: TensorLike | IndexedSlices,
    clip_norm: TensorLike,
    axes: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Gradient:
    """`t * clip_norm / norm(t)` where the norm is larger than `clip_norm`, else `t`.

    A negative `clip_norm` counts as 0.

    Args:
        t: A tensor or IndexedSlices.
        clip_norm: A positive number or tensor.
        axes: The dimensions to take norms over; all by default.
        name: Of the operations.
    """
    with name_scope(name, "clip_by_norm") as scope:
        values = _values(t)
        clip_norm = _numeric(clip_norm, values)
        clip_norm = ops.Maximum(clip_norm, number(0, values))
        along = _every(values) if axes is None else axes
        total = ops.Sum(values * values, along, keep_dims=True)
        positive = ops.Greater(total, number(0, total))
        root = ops.Sqrt(ops.SelectV2(positive, total, ops.OnesLike(total)))
        norm = ops.SelectV2(positive, root, total)
        scaled = values * clip_norm
        merge(values.sizes, scaled.sizes)
        return _like(t, ops.Identity(scaled / ops.Maximum(norm, clip_norm), name=scope))


def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    """`t * clip_norm / a` where a, the norm over the number of elements, is above `clip_norm`.

    Args:
        t: Floats of any shape.
        clip_norm: A number above 0, of the type of `t`.
        name: Of the operations.

    Returns the shape and type of `t`.
    """
    with name_scope(name, "clip_by_average_norm") as scope:
        t = convert_to_tensor(t)
        clip_norm = _numeric(clip_norm, t)
        count = ops.Cast(ops.Size(t), DstT=t.dtype)
        inverse = ops.Rsqrt(ops.Sum(t * t, _every(t)))
        scale = ops.Minimum(inverse * count, 1 / clip_norm)
        return ops.Identity(t * clip_norm * scale, name=scope)


def global_norm(
    t_list: Sequence[TensorLike | IndexedSlices | None], name: str | None = None
) -> Tensor:
    """sqrt(sum of the squares of all elements of all tensors); 0 when there are none.

    Args:
        t_list: Tensors of one type of real floats, IndexedSlices, and Nones, which do not count.
        name: Of the operations.

    Raises:
        TypeError: `t_list` is not a sequence.
    """
    _require_sequence(t_list)
    with name_scope(name, "global_norm") as scope:
        halves = [ops.L2Loss(_values(t)) for t in t_list if t is not None]
        packed = ops.Pack(halves) if halves else convert_to_tensor(np.zeros(0, np.float32))
        half = ops.Sum(packed, np.array([0], np.int32))
        return ops.Sqrt(half * number(2, half), name=f"{scope}global_norm/")


def clip_by_global_norm(
    t_list: Sequence[TensorLike | IndexedSlices | None],
    clip_norm: TensorLike,
    use_norm: Tensor | None = None,
    name: str | None = None,
) -> tuple[list[Gradient | None], Tensor]:
    """All of `t_list` times one number, so that their global norm is at most `clip_norm`.

    Args:
        t_list: Tensors, IndexedSlices and Nones.
        clip_norm: A positive number or tensor.
        use_norm: The global norm, when it is known.
        name: Of the operations.

    Returns:
        The clipped list and the norm before. All become NaN when the norm is not finite.

    Raises:
        TypeError: `t_list` is not a sequence.
    """
    _require_sequence(t_list)
    use_norm = global_norm(t_list, name) if use_norm is None else use_norm
    with name_scope(name, "clip_by_global_norm"):
        clip_norm = _numeric(clip_norm, use_norm)
        scale = clip_norm * ops.Minimum(1 / use_norm, 1 / clip_norm)
        scale = scale + (use_norm - use_norm)  # not a number when the norm is not finite
        values = [None if t is None else _values(t) for t in t_list]
        return [
            None if t is None or v is None else _like(t, v * cast(scale, v.dtype))
            for t, v in zip(t_list, values, strict=True)
        ], use_norm


def _require_sequence(t_list: object) -> None:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
