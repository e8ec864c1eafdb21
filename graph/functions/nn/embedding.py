"""Rows of tables picked by number: `tf.nn.embedding_lookup`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast, overload

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...variables.partitioned import PartitionedVariable
from ..array import array
from ..math.clip import clip_by_norm

if TYPE_CHECKING:
    from ...core.typing import TensorLike


@overload
def embedding_lookup(
    params: TensorLike | Sequence[TensorLike],
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor: ...
@overload
def embedding_lookup(
    params: TensorLike | Sequence[TensorLike],
    ids: RaggedTensor,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> RaggedTensor: ...
def embedding_lookup(
    params: TensorLike | Sequence[TensorLike],
    ids: TensorLike | RaggedTensor,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor | RaggedTensor:
    """Rows of a table, one for each of `ids`.

    Args:
        params: The table, or its parts.
        ids: int32 or int64 numbers of rows, of any shape; of ragged ones the result is ragged.
        partition_strategy: Where row i of a table in n parts is: "mod" part i % n, "div" one after
            another, the first parts one row longer where n does not divide the rows.
        name: Of the operations.
        validate_indices: Taken for TensorFlow's sake.
        max_norm: Rows with a larger norm are scaled down to it.

    Raises ValueError without a table, or for another strategy, or for ragged ids of another type.
    """
    if isinstance(ids, RaggedTensor):
        flat = _ragged_ids(params, ids)
        rows = table_rows(params, flat, partition_strategy, name, max_norm)
        return ids.with_flat_values(rows)
    return table_rows(params, ids, partition_strategy, name, max_norm)


def _ragged_ids(params: object, ids: RaggedTensor) -> Tensor:
    """The ids one after another; refuses what `tf.nn.embedding_lookup` refuses of ragged ids."""
    if params is None:
        raise ValueError("params must be specified.")
    if isinstance(params, (list, tuple)) and not params:
        raise ValueError("params should not be empty.")
    flat = ids.flat_values
    if flat.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise ValueError(
            "The values contained by the inputs have type "
            f"{flat.dtype.name} and cannot be processed. All values should be indices, either of "
            "type `int32` or `int64`."
        )
    return flat


def table_rows(
    params: TensorLike | Sequence[TensorLike] | None,
    ids: TensorLike,
    partition_strategy: str,
    name: str | None,
    max_norm: float | None,
) -> Tensor:
    """Rows of a table, one for each of dense ids; see `embedding_lookup`."""
    if params is None:
        raise ValueError("params must be specified")
    is_several = isinstance(params, (list, tuple, PartitionedVariable))
    parts = list(cast("Sequence[TensorLike]", params)) if is_several else [params]
    if not parts:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    if partition_strategy not in ("mod", "div"):
        raise ValueError(f"Unrecognized partition strategy: {partition_strategy}.")
    with name_scope(name, "embedding_lookup", [ids]) as scope:
        numbers = convert_to_tensor(ids, name="ids")
        if len(parts) == 1:
            rows = array.gather(cast("TensorLike", parts[0]), numbers, name=scope)
            return ops.Identity(_bounded(rows, numbers, max_norm))
        tables = [convert_to_tensor(cast("TensorLike", part)) for part in parts]
        flat = ops.Reshape(numbers, np.array([-1], np.int32))
        owners, positions = _owners(flat, tables, partition_strategy)
        n = len(tables)
        picked = ops.DynamicPartition(positions, owners, num_partitions=n)
        order = ops.DynamicPartition(
            ops.Range(np.int32(0), ops.Size(flat), np.int32(1)), owners, num_partitions=n
        )
        rows = ops.DynamicStitch(
            order, [array.gather(t, i) for t, i in zip(tables, picked, strict=True)]
        )
        inner = ops.StridedSlice(ops.Shape(tables[0]), [1], [0], [1], end_mask=1)
        shaped = ops.Reshape(rows, ops.ConcatV2([ops.Shape(numbers), inner], np.int32(0)))
        sizes = tables[0].sizes
        if numbers.sizes is not None and sizes is not None:
            shaped.set_shape((*numbers.sizes, *sizes[1:]))
        return ops.Identity(_bounded(shaped, numbers, max_norm))


def _owners(flat: Tensor, tables: Sequence[Tensor], strategy: str) -> tuple[Tensor, Tensor]:
    """The part that each row is in, and where it stands there."""
    n = np.asarray(len(tables), flat.dtype)
    if strategy == "mod":
        return ops.Cast(ops.FloorMod(flat, n), DstT=np.dtype(np.int32)), ops.FloorDiv(flat, n)
    counts = [ops.Cast(ops.StridedSlice(ops.Shape(t), [0], [1], [1], shrink_axis_mask=1),
                       DstT=flat.dtype) for t in tables]  # fmt: skip
    total = ops.AddN(counts)
    few, extra = ops.FloorDiv(total, n), ops.FloorMod(total, n)
    one = np.ones((), flat.dtype)
    many = ops.AddV2(few, one)
    owner = ops.Maximum(ops.FloorDiv(flat, many), ops.FloorDiv(ops.Sub(flat, extra), few))
    place = ops.SelectV2(
        ops.Less(owner, extra), ops.FloorMod(flat, many), ops.FloorMod(ops.Sub(flat, extra), few)
    )
    return ops.Cast(owner, DstT=np.dtype(np.int32)), place


def _bounded(rows: Tensor, ids: Tensor, max_norm: float | None) -> Tensor:
    if max_norm is None:
        return rows
    if rows.sizes is None or ids.sizes is None:
        raise ValueError("max_norm needs tables and ids of known rank")
    axes = [*np.arange(len(ids.sizes), len(rows.sizes)).tolist()]
    return cast("Tensor", clip_by_norm(rows, max_norm, axes))
