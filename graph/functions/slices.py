"""Indexing as numpy spells it: `x[1:, tf.newaxis, ..., ::2]` is one StridedSlice."""

from __future__ import annotations

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor, is_tensor_like
from ..core.graph import Tensor
from ..core.scopes import name_scope

newaxis = None


def get_item(x, key) -> Tensor:
    """The part of `x` that `key` says: whole numbers, slices, `...` and `newaxis`.

    Raises:
        TypeError: An index is something else.
        ValueError: There are several `...`.
    """
    keys = list(key) if isinstance(key, (tuple, list)) else [key]
    begin, end, strides = [], [], []
    names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    masks: dict[str, int] = dict.fromkeys(names, 0)
    for position, part in enumerate(keys):
        bit = 1 << position
        first, last, step = 0, 0, 1
        if isinstance(part, slice):
            first, last, step = _slice(part, bit, masks)
        elif part is Ellipsis:
            if masks["ellipsis"]:
                raise ValueError("Multiple ellipses in slice spec not allowed")
            masks["ellipsis"] |= bit
        elif part is None:
            masks["new_axis"] |= bit
        else:
            _check(part)
            first, last = part, part + 1
            masks["shrink_axis"] |= bit
        begin.append(first)
        end.append(last)
        strides.append(step)
    with name_scope(None, "strided_slice", [x, *begin, *end, *strides]) as scope:
        return ops.StridedSlice(
            x,
            _numbers(begin, "stack"),
            _numbers(end, "stack_1"),
            _numbers(strides, "stack_2"),
            name=scope,
            **{f"{name}_mask": value for name, value in masks.items()},
        )


def _slice(part: slice, bit: int, masks: dict[str, int]):
    """Begin, end and step of a slice; notes which are left out."""
    for name, value in (("begin", part.start), ("end", part.stop)):
        if value is None:
            masks[name] |= bit
        else:
            _check(value)
    if part.step is not None:
        _check(part.step)
    found = (part.start, part.stop, part.step)
    return tuple(
        default if value is None else value for value, default in zip(found, (0, 0, 1), strict=True)
    )


def _check(value) -> None:
    if is_tensor_like(value) and value.dtype.kind in "iu":
        return
    if hasattr(value, "__index__") and not isinstance(value, bool):
        return
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {value!r}"
    )


def _numbers(values: list, name: str) -> Tensor:
    if any(is_tensor_like(value) for value in values):
        found = next(value.dtype for value in values if is_tensor_like(value))
        return convert_to_tensor(values, found, name)
    numbers = np.array([int(value) for value in values], np.int64)
    small = np.abs(numbers).max(initial=0) < 1 << 31
    return convert_to_tensor(numbers.astype(np.int32) if small else numbers, name=name)
