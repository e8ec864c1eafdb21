"""Indexing as numpy spells it: `x[1:, tf.newaxis, ..., ::2]` is one StridedSlice."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.signatures.operands import Operands
from ...core.tensor_shape import Dimension, dimension_value
from ...variables.variables import Variable

if TYPE_CHECKING:
    from types import EllipsisType

    from ...core.typing import DTypeLike, TensorLike
    from ...variables.variables import Updated

newaxis = None

Number: TypeAlias = "Tensor | Variable | int | np.integer"
Index: TypeAlias = (
    "Number | slice[Number | None, Number | None, Number | None] | EllipsisType | None"
)
Key: TypeAlias = "Index | list[Index] | tuple[Index, ...]"
"""What stands between the brackets of `x[...]`."""


def get_item(x: TensorLike, key: Key) -> Tensor:
    """The part of `x` that `key` says: whole numbers, slices, `...` and `newaxis`.

    Raises:
        TypeError: An index is something else.
        ValueError: There are several `...`.
    """
    keys = list(key) if isinstance(key, (tuple, list)) else [key]
    begin: list[Number] = []
    end: list[Number] = []
    strides: list[Number] = []
    names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    masks: dict[str, int] = dict.fromkeys(names, 0)
    for position, part in enumerate(keys):
        bit = 1 << position
        first: Number = 0
        last: Number = 0
        step: Number = 1
        if isinstance(part, slice):
            first, last, step = _slice(part, bit, masks)
        elif part is ...:
            if masks["ellipsis"]:
                raise ValueError("Multiple ellipses in slice spec not allowed")
            masks["ellipsis"] |= bit
        elif part is None:
            masks["new_axis"] |= bit
        else:
            part = int(part) if isinstance(part, np.ndarray) and part.ndim == 0 else part
            _check(part)
            first, last = part, part + 1
            masks["shrink_axis"] |= bit
        begin.append(first)
        end.append(last)
        strides.append(step)
    whole = x.value() if isinstance(x, Variable) else x
    with name_scope(None, "strided_slice", [x, *begin, *end, *strides]) as scope:
        indices = [value for value in (*begin, *end, *strides) if isinstance(value, Operands)]
        dtype = indices[0].dtype if indices else None
        bounds = (
            _numbers(begin, "stack", dtype),
            _numbers(end, "stack_1", dtype),
            _numbers(strides, "stack_2", dtype),
        )
        attrs = {f"{name}_mask": value for name, value in masks.items()}
        part = ops.StridedSlice(whole, *bounds, name=scope, **attrs)
    if isinstance(x, Variable):
        part.assign = functools.partial(_assign, x, bounds, attrs, f"{scope}_assign")
    return part


def _assign(
    variable: Variable,
    bounds: tuple[Tensor, Tensor, Tensor],
    masks: dict[str, int],
    default_name: str,
    value: TensorLike,
    name: str | None = None,
) -> Updated:
    """Gives a part of a variable a value; the variable's new one."""
    return variable.assign_slice(bounds, masks, value, name or default_name)


def _slice(
    part: slice[Number | None, Number | None, Number | None], bit: int, masks: dict[str, int]
) -> tuple[Number, Number, Number]:
    """Begin, end and step of a slice; notes which are left out."""
    start, stop, step = (
        dimension_value(x) if isinstance(x, Dimension) else x
        for x in (part.start, part.stop, part.step)
    )
    for name, value in (("begin", start), ("end", stop)):
        if value is None:
            masks[name] |= bit
        else:
            _check(value)
    if step is not None:
        _check(step)
    return 0 if start is None else start, 0 if stop is None else stop, 1 if step is None else step


def _check(value: Number) -> None:
    if isinstance(value, Operands) and value.dtype.kind in "iu" and not value.sizes:
        return
    if hasattr(value, "__index__") and not isinstance(value, bool):
        return
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {value!r}"
    )


def _numbers(values: list[Number], name: str, dtype: DTypeLike | None) -> Tensor:
    """Bounds as a tensor, of the type that indices which are tensors have."""
    if dtype is not None:
        return convert_to_tensor(values, dtype, name)
    numbers = np.array(
        [int(value) for value in values if not isinstance(value, Operands)], np.int64
    )
    small = np.abs(numbers).max(initial=0) < 1 << 31
    return convert_to_tensor(numbers.astype(np.int32) if small else numbers, name=name)
