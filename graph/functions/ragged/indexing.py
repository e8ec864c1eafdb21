"""`x[...]` of ragged tensors: rows, slices of rows, and items within them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import checked
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.signatures.operands import Operands
from ...core.typing import TensorLike
from .operands import rank_of
from .picking import gather_rows, row, rows_in_steps
from .rows import expanded, numbers

_ZERO = np.int32(0)
_WRONG_INDEX = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices"
)
Keys = Sequence[object]


@ragged("get_item")
def get_item(x: RaggedTensor, key: object) -> Tensor | RaggedTensor:
    """The part of `x` that `key` says.

    Raises:
        TypeError: An index is no integer.
        ValueError: A number stands for a ragged dimension other than the first.
        IndexError: There are too many indices.
        InvalidArgumentError: When it runs, for rows that do not exist.
    """
    with name_scope(None, "RaggedGetItem"):
        keys = list(cast("Sequence[object]", key)) if isinstance(key, (tuple, list)) else [key]
        return _item(x, _filled(keys, rank_of(x)))


def _filled(keys: list[object], rank: int | None) -> list[object]:
    """The keys with slices in the place of `...`."""
    dims = [key for key in keys if key is not None and key is not ...]
    if rank is not None and len(dims) > rank:
        raise IndexError(f"Too many indices for RaggedTensor of rank {rank}: {len(dims)}")
    if not any(key is ... for key in keys):
        return keys
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    at = next(i for i, key in enumerate(keys) if key is ...)
    if any(key is ... for key in keys[at + 1 :]):
        raise ValueError("Multiple ellipses in slice spec not allowed")
    return [*keys[:at], *[slice(None)] * (rank - len(dims)), *keys[at + 1 :]]


def _is_number(key: object) -> bool:
    if isinstance(key, Operands):
        return convert_to_tensor(cast("TensorLike", key)).dtype.kind in "iu"
    return hasattr(key, "__index__") and not isinstance(key, bool)


def _is_whole(key: object) -> bool:
    return isinstance(key, slice) and key == slice(None)


def _item(x: Tensor | RaggedTensor, keys: Keys) -> Tensor | RaggedTensor:
    """The part of `x` that keys for its first dimensions say."""
    if not keys:
        return x
    if isinstance(x, Tensor):
        return x[tuple(keys)]  # pyright: ignore[reportArgumentType] - checked there
    first, others = keys[0], keys[1:]
    if first is None:
        return expanded(_item(x, others), 0)
    if isinstance(first, slice):
        return _inner(_sliced(x, cast("slice[object, object, object]", first)), others)
    if not _is_number(first):
        raise TypeError(f"{_WRONG_INDEX}, got {first!r}")
    at = numbers(x, x.rows.dtype)[first]  # pyright: ignore[reportArgumentType]
    if x.rows.known_count is None:
        at = _within(at, cast("TensorLike", first), x.rows.nrows())
    return _item(row(x, at), others)


def _within(at: Tensor, number: TensorLike, n: Tensor) -> Tensor:
    """A number of a row, once it is known that there is one."""
    index = ops.Cast(convert_to_tensor(number), DstT=np.dtype(n.dtype))
    inside = ops.LogicalAnd(ops.Less(index, n), ops.GreaterEqual(index, ops.Neg(n)))
    return checked(at, [inside], "slice index of a RaggedTensor is out of bounds")


def _sliced(x: RaggedTensor, key: slice[object, object, object]) -> RaggedTensor:
    """Some of the rows."""
    if _is_whole(key):
        return x
    for bound in (key.start, key.stop, key.step):
        if bound is not None and not _is_number(bound):
            raise TypeError(f"{_WRONG_INDEX}, got {bound!r}")
    rows = numbers(x, x.rows.dtype)[key]  # pyright: ignore[reportArgumentType]
    return cast("RaggedTensor", gather_rows(x, rows))


def _inner(x: Tensor | RaggedTensor, keys: Keys) -> Tensor | RaggedTensor:
    """The part of each row that keys for the dimensions behind the first say."""
    if not keys:
        return x
    if isinstance(x, Tensor):
        return x[(slice(None), *keys)]  # pyright: ignore[reportArgumentType] - checked there
    first, others = keys[0], keys[1:]
    if first is None:
        return expanded(_inner(x, others), 1)
    if isinstance(first, slice):
        picked = _sliced_rows(x, cast("slice[object, object, object]", first))
        return picked.with_values(_inner(picked.values, others)) if others else picked
    if not _is_number(first):
        raise TypeError(f"{_WRONG_INDEX}, got {first!r}")
    if x.rows.uniform is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    size = x.rows.uniform
    index = ops.Cast(convert_to_tensor(cast("TensorLike", first)), DstT=x.rows.dtype)
    index = _within(index, cast("TensorLike", first), size)
    zero = x.rows.dtype.type(0)
    index = ops.SelectV2(ops.Less(index, zero), ops.AddV2(index, size), index)
    return _inner(gather_rows(x.values, ops.AddV2(x.rows.starts(), index)), others)


def _sliced_rows(x: RaggedTensor, key: slice[object, object, object]) -> RaggedTensor:
    """The same slice of each row."""
    if _is_whole(key):
        return x
    for bound in (key.start, key.stop):
        if bound is not None and not _is_number(bound):
            raise TypeError(f"slice offsets must be integers or None, got {bound!r}")
    if key.step is not None and not _is_number(key.step):
        raise TypeError(f"slice strides must be integers or None, got {key.step!r}")
    if (
        not isinstance(key.step, Operands)
        and key.step is not None
        and int(cast("int", key.step)) == 0
    ):
        raise ValueError("slice step cannot be zero")
    dtype = x.rows.dtype
    lengths = x.rows.lengths()
    step = _number(1 if key.step is None else key.step, dtype)
    zero, one = dtype.type(0), dtype.type(1)
    forward = ops.Greater(step, zero)
    last = ops.Sub(lengths, one)
    lowest = ops.SelectV2(forward, zero, -one)
    highest = ops.SelectV2(forward, lengths, last)

    def limited(value: object, default: Tensor) -> Tensor:
        if value is None:
            return default
        number = _number(value, dtype)
        counted = ops.SelectV2(ops.Less(number, zero), ops.AddV2(lengths, number), number)
        return ops.Minimum(ops.Maximum(counted, lowest), highest)

    none = ops.ZerosLike(lengths)
    start = limited(key.start, ops.SelectV2(forward, none, last))
    stop = limited(key.stop, ops.SelectV2(forward, lengths, ops.Sub(none, one)))
    away = ops.SelectV2(forward, ops.Sub(step, one), ops.AddV2(step, one))
    count = ops.FloorDiv(ops.AddV2(ops.Sub(stop, start), away), step)
    return rows_in_steps(x, start, step, ops.Maximum(count, zero))


def _number(value: object, dtype: np.dtype) -> Tensor:
    return ops.Cast(convert_to_tensor(cast("TensorLike", value)), DstT=dtype)
