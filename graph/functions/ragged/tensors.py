"""Functions of ragged tensors: `tf.ragged`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.create import constant as tensor_constant
from ...core.create import convert_to_tensor as tensor_of
from ...core.graph import Graph, Tensor
from ...core.ragged_tensor import RaggedTensor, RaggedTensorValue
from ...core.scopes import name_scope
from ...core.tensor_shape import as_shape
from ..array import creation
from ..checks import value_of
from ..math.sorting import argsort
from .arithmetic import concat_rows
from .values import of_flat_values

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, ShapeLike, TensorLike


def _depth(nested: object) -> int:
    """How deep lists are nested."""
    if not isinstance(nested, (list, tuple, np.ndarray)):
        return 0
    return 1 + max((_depth(item) for item in cast("Sequence[object]", nested)), default=0)


def constant(
    pylist: object,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = np.int64,
) -> RaggedTensor | Tensor:
    """A ragged tensor of nested lists.

    Args:
        pylist: Lists, or arrays; all numbers or strings at the same depth.
        dtype: Of the values; that of numpy by default, float32 for floats.
        ragged_rank: How many dimensions are ragged; all but the last by default.
        inner_shape: The shape of a value; () by default.
        name: Of the operations.
        row_splits_dtype: int64 or int32.

    Raises ValueError when values stand at different depths.
    """
    depth = _depth(pylist)
    n_inner = 0 if inner_shape is None else len(inner_shape)
    rank = max(0, depth - 1 - n_inner) if ragged_rank is None else ragged_rank
    with name_scope(name, "RaggedConstant"):
        if depth == 0 or rank == 0:
            return tensor_constant(cast("TensorLike", pylist), dtype)
        splits: list[np.ndarray] = []
        level: list[object] = list(cast("Sequence[object]", pylist))
        for _ in range(rank):
            if not all(isinstance(row, (list, tuple, np.ndarray)) for row in level):
                raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={rank}")
            rows = [list(cast("Sequence[object]", row)) for row in level]
            splits.append(np.cumsum([0, *map(len, rows)]).astype(row_splits_dtype))
            level = [item for row in rows for item in row]
        if any(_depth(item) != depth - 1 - rank for item in level) and n_inner == 0:
            raise ValueError(f"Invalid pylist={pylist}: empty list nesting is greater than scalar")
        values: Tensor | RaggedTensor = tensor_constant(cast("TensorLike", _array(level)), dtype)
        for numbers in reversed(splits):
            values = RaggedTensor.from_row_splits(values, numbers)
        return values


def _array(values: list[object]) -> np.ndarray | list[object]:
    if not values:
        return np.zeros(0, np.float32)
    return np.asarray(values, np.float32) if isinstance(values[0], float) else values


def ragged_range(
    starts: TensorLike,
    limits: TensorLike | None = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = np.int64,
) -> RaggedTensor:
    """A row from each start to its limit in steps; `tf.ragged.range(limits)` starts at 0."""
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange"):
        numbers = [tensor_constant(x, dtype) if not isinstance(x, Tensor) else x
                   for x in (starts, limits, deltas)]  # fmt: skip
        shape = ops.BroadcastArgs(ops.Shape(numbers[0]), ops.Shape(numbers[1]))
        first, last, step = (ops.BroadcastTo(x, shape) for x in numbers)
        wide = np.dtype(np.float64)
        spans = ops.Div(ops.Cast(ops.Sub(last, first), DstT=wide), ops.Cast(step, DstT=wide))
        counts = ops.Cast(ops.Maximum(ops.Ceil(spans), np.float64(0)), DstT=np.dtype(np.int64))
        rows = RaggedTensor.from_row_lengths(np.zeros(0, np.int64), ops.Reshape(counts, [-1]))
        ids = rows.value_rowids()
        total = ops.Sum(rows.row_lengths(), np.int32(0))
        counted = ops.Range(np.int64(0), total, np.int64(1), Tidx=np.dtype(np.int64))
        offsets = ops.Sub(counted, ops.GatherV2(rows.row_starts(), ids, np.int32(0)))
        start, delta = (ops.GatherV2(ops.Reshape(x, [-1]), ids, np.int32(0)) for x in (first, step))
        values = ops.AddV2(start, ops.Mul(ops.Cast(offsets, DstT=start.dtype), delta))
        return RaggedTensor.from_row_splits(values, rows.row_splits)


def row_splits_to_segment_ids(
    splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None
) -> Tensor:
    """The row of each value, of rows that begin and end at `splits`."""
    with name_scope(name, "RaggedSplitsToSegmentIds"):
        bounds = tensor_of(splits, preferred_dtype=np.int64)
        dtype = bounds.dtype if out_type is None else np.dtype(out_type)
        rows = RaggedTensor.from_row_splits(
            ops.Range(np.int64(0), ops.Cast(bounds[-1], DstT=np.dtype(np.int64)), np.int64(1)),
            bounds,
        ).value_rowids()
        return ops.Cast(rows, DstT=dtype)


def segment_ids_to_row_splits(
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Where each row begins, and the last one ends, of values whose rows are `segment_ids`."""
    with name_scope(name, "SegmentIdsToRaggedSplits"):
        ids = tensor_of(segment_ids, preferred_dtype=np.int64)
        dtype = ids.dtype if out_type is None else np.dtype(out_type)
        rows = RaggedTensor.from_value_rowids(ids, ids, num_segments)
        return ops.Cast(rows.row_splits, DstT=dtype)


def map_flat_values(op: Callable[..., object], *args: object, **kwargs: object) -> object:
    """`op` of the innermost values of ragged tensors, in rows as theirs.

    Raises InvalidArgumentError, when it runs, unless all have the same rows.
    """
    if not any(isinstance(x, RaggedTensor) for x in (*args, *kwargs.values())):
        return op(*args, **kwargs)
    return of_flat_values(op, *args, **kwargs)


def stack(
    values: Sequence[TensorLike | RaggedTensor], axis: int = 0, name: str | None = None
) -> RaggedTensor:
    """A ragged tensor whose rows are tensors, or ragged tensors, of any number of rows.

    Raises ValueError unless `axis` is 0.
    """
    if axis != 0:
        raise ValueError(f"tf.ragged.stack: axis must be 0, got {axis}")
    with name_scope(name, "RaggedStack"):
        parts = [x if isinstance(x, RaggedTensor) else tensor_of(x) for x in values]
        if not parts:
            raise ValueError("At least one value is required to stack")
        lengths = [
            part.nrows() if isinstance(part, RaggedTensor)
            else ops.Shape(part, out_type=np.dtype(np.int64))[0]
            for part in parts
        ]  # fmt: skip
        return RaggedTensor.from_row_lengths(concat_rows(parts), ops.Pack(lengths))


def boolean_mask(
    data: TensorLike | RaggedTensor, mask: TensorLike | RaggedTensor, name: str | None = None
) -> Tensor | RaggedTensor:
    """The values where a mask of the same rows is true, or the rows where one of rows is."""
    with name_scope(name, "RaggedMask"):
        kept = mask if isinstance(mask, RaggedTensor) else tensor_of(mask)
        rows = data if isinstance(data, RaggedTensor) else tensor_of(data)
        if isinstance(kept, Tensor) and len(kept.get_shape()) > 1:
            kept = RaggedTensor.from_tensor(kept)
        if isinstance(kept, Tensor):
            return _picked(rows, kept)
        if isinstance(rows, Tensor):
            rows = RaggedTensor.from_tensor(rows)
        values = boolean_mask(rows.values, kept.values)
        if isinstance(values, RaggedTensor) and isinstance(kept.values, RaggedTensor):
            return RaggedTensor.from_row_splits(values, rows.row_splits)
        flags = ops.Cast(kept.values, DstT=np.dtype(np.int64))
        lengths = ops.UnsortedSegmentSum(flags, kept.value_rowids(), kept.nrows())
        return RaggedTensor.from_row_lengths(values, lengths)


def _picked(x: Tensor | RaggedTensor, mask: Tensor) -> Tensor | RaggedTensor:
    """The rows where a mask is true."""
    places = ops.Reshape(ops.Where(mask), np.array([-1], np.int32))
    if isinstance(x, Tensor):
        return ops.GatherV2(x, places, np.int32(0))
    rows = ops.GatherV2(mask, x.value_rowids(), np.int32(0))
    lengths = ops.GatherV2(x.row_lengths(), places, np.int32(0))
    return RaggedTensor.from_row_lengths(_picked(x.values, rows), lengths)


def constant_value(
    pylist: object,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    row_splits_dtype: DTypeLike = np.int64,
) -> RaggedTensorValue | np.ndarray:
    """What a Session gives for `tf.ragged.constant` of the same arguments, without a graph."""
    with Graph().as_default():
        tensor = constant(pylist, dtype, ragged_rank, inner_shape)
        return _value_of(tensor, np.dtype(row_splits_dtype))


def _value_of(x: Tensor | RaggedTensor, splits: np.dtype) -> RaggedTensorValue | np.ndarray:
    if isinstance(x, Tensor):
        return cast("np.ndarray", value_of(x))
    rows = cast("np.ndarray", value_of(x.row_splits)).astype(splits)
    return RaggedTensorValue(_value_of(x.values, splits), rows)


def placeholder(
    dtype: DTypeLike,
    ragged_rank: int,
    value_shape: ShapeLike | None = None,
    name: str | None = None,
) -> RaggedTensor | Tensor:
    """A ragged tensor that is fed, part by part.

    Args:
        dtype: Of its values.
        ragged_rank: How many of its dimensions are ragged.
        value_shape: The shape of a value; () by default.
        name: Of the operations.
    """
    with name_scope(name, "RaggedPlaceholder"):
        inner = as_shape(() if value_shape is None else value_shape)
        known = None if inner is None else (None, *inner)
        result: RaggedTensor | Tensor = creation.placeholder(dtype, known, "flat_values")
        for i in reversed(np.arange(ragged_rank).tolist()):
            splits = creation.placeholder(np.int64, [None], f"row_splits_{i}")
            result = RaggedTensor.from_row_splits(result, splits)
        return result


def stack_dynamic_partitions(
    data: TensorLike, partitions: TensorLike, num_partitions: TensorLike, name: str | None = None
) -> RaggedTensor:
    """The slices of `data` in rows by the number that each has in `partitions`, in their order."""
    with name_scope(name, "SegmentStack"):
        x, ids = tensor_of(data), tensor_of(partitions)
        if ids.sizes is None:
            raise ValueError("partitions must have known rank")
        sizes = ops.Shape(x)
        inner = sizes[len(ids.sizes) :]
        rows = ops.Reshape(x, ops.ConcatV2([np.array([-1], np.int32), inner], np.int32(0)))
        flat = ops.Reshape(ids, np.array([-1], np.int32))
        order = argsort(flat, stable=True)
        values = ops.GatherV2(rows, order, np.int32(0))
        sorted_ids = ops.GatherV2(flat, order, np.int32(0))
        return RaggedTensor.from_value_rowids(values, sorted_ids, num_partitions)
