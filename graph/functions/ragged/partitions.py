"""Slices of ragged tensors in rows by a number that each has: `stack_dynamic_partitions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import checked
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..math.sorting import argsort
from .operands import as_ragged, rank_of
from .picking import gather_rows, row
from .rows import expanded
from .values import same_splits

if TYPE_CHECKING:
    from ...core.typing import TensorLike

_ZERO = np.int32(0)


def stacked(
    data: TensorLike | RaggedTensor,
    partitions: TensorLike | RaggedTensor,
    num_partitions: TensorLike,
) -> RaggedTensor:
    """The slices of `data` in rows by their numbers; see `tf.ragged.stack_dynamic_partitions`.

    Raises ValueError for a rank that is not known and for shapes that do not go together;
    InvalidArgumentError, when it runs, for numbers that are negative or too large.
    """
    x = as_ragged(data)
    preferred = x.rows.dtype if isinstance(x, RaggedTensor) else None
    ids = as_ragged(partitions, preferred_dtype=preferred)
    if preferred is not None and ids.dtype != preferred:
        ids = _cast(ids, preferred)
    count = convert_to_tensor(num_partitions, preferred_dtype=ids.dtype)
    count.get_shape().assert_has_rank(0)
    if count.dtype != ids.dtype:
        count = ops.Cast(count, DstT=np.dtype(ids.dtype))
    rank = rank_of(ids)
    if rank is None:
        raise ValueError("partitions must have known rank")
    if rank_of(x) is not None:
        ids.get_shape().assert_is_compatible_with(x.get_shape()[:rank])
    if rank == 0:
        return _rows(expanded(x, 0), ops.Reshape(ids, np.array([1], np.int32)), count)
    return _flattened(x, ids, rank, count)


@ragged("dynamic_partition")
def dynamic_partition(
    data: TensorLike | RaggedTensor,
    partitions: TensorLike | RaggedTensor,
    num_partitions: int,
    name: str | None = None,
) -> list[Tensor | RaggedTensor]:
    """The slices of `data` with each number in `partitions`; see `tf.dynamic_partition`.

    Raises TypeError unless `num_partitions` is an int, ValueError for a negative one.
    """
    if not isinstance(num_partitions, int):
        raise TypeError("num_partitions must be a Python integer")
    if num_partitions < 0:
        raise ValueError("num_partitions must be nonnegative")
    with name_scope(name, "SegmentStack"):
        rows = stacked(data, partitions, num_partitions)
        numbers = np.arange(num_partitions, dtype=np.int64)
        return [row(rows, convert_to_tensor(number)) for number in numbers]


def _cast(x: Tensor | RaggedTensor, dtype: np.dtype) -> Tensor | RaggedTensor:
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(ops.Cast(x.flat_values, DstT=dtype))
    return ops.Cast(x, DstT=dtype)


def _flattened(
    x: Tensor | RaggedTensor, ids: Tensor | RaggedTensor, rank: int, count: Tensor
) -> RaggedTensor:
    """Slices whose numbers have `rank` dimensions, by numbers in one dimension."""
    while rank > 1:
        dtype = np.dtype(count.dtype)
        if not isinstance(x, RaggedTensor):
            x = RaggedTensor.from_tensor(x, row_splits_dtype=dtype)
        if not isinstance(ids, RaggedTensor):
            ids = RaggedTensor.from_tensor(ids, row_splits_dtype=dtype)
        same = same_splits(x.row_splits, ids.row_splits)
        words = "data and partitions have incompatible ragged shapes"
        inner = ids.with_flat_values(checked(ids.flat_values, [same], words))
        x, ids, rank = x.values, inner.values, rank - 1
    assert isinstance(ids, Tensor)
    return _rows(x, ids, count)


def _rows(x: Tensor | RaggedTensor, ids: Tensor, count: Tensor) -> RaggedTensor:
    zero = np.dtype(ids.dtype).type(0)
    positive = ops.All(ops.GreaterEqual(ids, zero), _ZERO)
    below = ops.All(ops.Less(ids, count), _ZERO)
    ids = checked(ids, [positive], "partitions must be non-negative.")
    ids = checked(ids, [below], "partitions must be less than num_partitions")
    order = argsort(ids, stable=True)
    sorted_ids = ops.GatherV2(ids, order, _ZERO)
    return RaggedTensor.from_value_rowids(gather_rows(x, order), sorted_ids, count, validate=False)
