"""How concatenated values are divided into rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....schema.errors import InvalidArgumentError
from ..build import ops
from ..create import convert_to_tensor, create
from ..graph import Operation, Tensor
from ..scopes import control_dependencies, name_scope
from ..shapes import whole

if TYPE_CHECKING:
    from ..typing import DTypeLike, TensorLike

_ZERO = np.int32(0)
_INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))


def counted(n: Tensor) -> Tensor:
    """0, 1, ... n - 1 in the type of `n`."""
    dtype = np.dtype(n.dtype)
    return ops.Range(dtype.type(0), n, dtype.type(1), Tidx=dtype)


def size_of(x: Tensor, axis: int, dtype: DTypeLike = np.int64) -> Tensor:
    """The size of one dimension."""
    sizes = ops.Shape(x, out_type=np.dtype(dtype))
    return ops.StridedSlice(sizes, [axis], [axis + 1], [1], shrink_axis_mask=1)


def to_index(value: TensorLike, name: str, dtype: DTypeLike = np.int64) -> Tensor:
    """Numbers of rows or of values: int32 and int64 stay, Python's numbers become `dtype`.

    Raises ValueError for another type.
    """
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype in _INDEX_TYPES:
        tensor = convert_to_tensor(value, name=name)
    else:
        tensor = convert_to_tensor(value, name=name, preferred_dtype=dtype)
    if tensor.dtype not in _INDEX_TYPES:
        raise ValueError(f"{name} must have dtype int32 or int64, got {tensor}")
    return tensor


def checked(tensor: Tensor, conditions: Sequence[Tensor], words: str) -> Tensor:
    """`tensor`, once all conditions hold.

    Raises InvalidArgumentError for one that is known not to.
    """
    checks: list[Operation] = []
    for condition in conditions:
        value = whole(condition.value)
        if value is None:
            message = np.array(words.encode(), object)
            checks.append(create("Assert", [condition, [message]], {"summarize": 3}))
        elif not value.all():
            raise InvalidArgumentError(None, None, words)
    if not checks:
        return tensor
    with control_dependencies(checks):
        return ops.Identity(tensor)


def _is_vector(tensor: Tensor) -> list[Tensor]:
    """The condition that a tensor is one, where nothing is known of its shape."""
    return [ops.Equal(ops.Rank(tensor), np.int32(1))] if tensor.sizes is None else []


def _all(condition: Tensor) -> Tensor:
    return ops.All(ops.Reshape(condition, np.array([-1], np.int32)), _ZERO)


def _rises(tensor: Tensor) -> Tensor:
    """Whether no number is below the one before."""
    flat = ops.Reshape(tensor, np.array([-1], np.int32))
    after = ops.StridedSlice(flat, [1], [0], [1], end_mask=1)
    before = ops.StridedSlice(flat, [0], [-1], [1], begin_mask=1)
    return ops.All(ops.LessEqual(before, after), _ZERO)


def _first(tensor: Tensor) -> Tensor:
    flat = ops.Reshape(tensor, np.array([-1], np.int32))
    return ops.StridedSlice(flat, [0], [1], [1], shrink_axis_mask=1)


class RowPartition:
    """Row i has the values from `splits[i]` to `splits[i + 1]`.

    Args:
        splits: [n + 1], int32 or int64.
        lengths, rowids, count: How long the rows are, the row of each value, and the number of
            rows, where tensors of these are at hand.
        uniform: How many values each row has, where all have as many.
    """

    def __init__(
        self,
        splits: Tensor,
        lengths: Tensor | None = None,
        rowids: Tensor | None = None,
        count: Tensor | None = None,
        uniform: Tensor | None = None,
    ):
        self.splits, self.uniform = splits, uniform
        self._lengths, self._rowids, self._count = lengths, rowids, count

    @property
    def dtype(self) -> np.dtype:
        """int32 or int64."""
        return np.dtype(self.splits.dtype)

    @property
    def known_count(self) -> int | None:
        """How many rows there are, where that is known."""
        sizes = self.splits.sizes
        if sizes and sizes[0] is not None:
            return sizes[0] - 1
        value = None if self._count is None else whole(self._count.value)
        return None if value is None else int(value)

    @property
    def known_length(self) -> int | None:
        """How many values each row has, where that is known."""
        value = None if self.uniform is None else whole(self.uniform.value)
        return None if value is None else int(value)

    def nrows(self, out_type: DTypeLike | None = None) -> Tensor:
        """How many rows there are."""
        dtype = self.dtype if out_type is None else np.dtype(out_type)
        if self._count is None:
            return ops.Sub(size_of(self.splits, 0, dtype), dtype.type(1))
        return self._count if self._count.dtype == dtype else ops.Cast(self._count, DstT=dtype)

    def nvals(self) -> Tensor:
        """How many values there are."""
        return ops.StridedSlice(self.splits, [-1], [0], [1], end_mask=1, shrink_axis_mask=1)

    def starts(self) -> Tensor:
        """[n]: where each row begins."""
        return ops.StridedSlice(self.splits, [0], [-1], [1], begin_mask=1)

    def limits(self) -> Tensor:
        """[n]: where each row ends."""
        return ops.StridedSlice(self.splits, [1], [0], [1], end_mask=1)

    def lengths(self) -> Tensor:
        """[n]: how many values each row has."""
        return ops.Sub(self.limits(), self.starts()) if self._lengths is None else self._lengths

    def longest(self) -> Tensor:
        """How many values the longest row has."""
        lengths = ops.ConcatV2([np.zeros(1, self.dtype), self.lengths()], _ZERO)
        return ops.Max(lengths, _ZERO)

    def rowids(self) -> Tensor:
        """The row of each value."""
        if self._rowids is not None:
            return self._rowids
        limits = ops.ExpandDims(self.limits(), _ZERO)
        flat = ops.Reshape(counted(self.nvals()), np.array([1, -1], np.int32))
        rows = ops.UpperBound(limits, flat, out_type=self.dtype)
        return ops.Reshape(rows, np.array([-1], np.int32))

    def columns(self) -> Tensor:
        """The position of each value in its row."""
        return ops.Sub(counted(self.nvals()), ops.GatherV2(self.starts(), self.rowids(), _ZERO))

    def of_type(self, dtype: DTypeLike) -> RowPartition:
        """The same rows, counted in int32 or int64."""
        new_dtype = np.dtype(dtype)
        if new_dtype == self.dtype:
            return self
        parts = (self.splits, self._lengths, self._rowids, self._count, self.uniform)
        cast = [None if part is None else ops.Cast(part, DstT=new_dtype) for part in parts]
        splits = cast.pop(0)
        assert splits is not None
        return RowPartition(splits, *cast)


def from_row_splits(
    splits: TensorLike, validate: bool, dtype: DTypeLike = np.int64
) -> RowPartition:
    """Rows from each number of `splits` to the next one."""
    with name_scope(None, "RowPartitionFromRowSplits"):
        tensor = to_index(splits, "row_splits", dtype)
        tensor.get_shape().assert_has_rank(1)
        if tensor.sizes == (0,):
            raise ValueError("row_splits tensor may not be empty.")
        if validate:
            is_zero = ops.Equal(_first(tensor), np.dtype(tensor.dtype).type(0))
            words = "Arguments to from_row_splits do not form a valid RowPartition:zero"
            tensor = checked(tensor, [*_is_vector(tensor), is_zero, _rises(tensor)], words)
        return RowPartition(tensor)


def _of_lengths(lengths: Tensor) -> Tensor:
    """The splits of rows of these lengths."""
    ends = ops.Cumsum(lengths, _ZERO)
    return ops.ConcatV2([np.zeros(1, np.dtype(lengths.dtype)), ends], _ZERO)


def from_row_lengths(
    lengths: TensorLike, validate: bool, dtype: DTypeLike = np.int64
) -> RowPartition:
    """Rows of so many values each."""
    with name_scope(None, "RowPartitionFromRowLengths"):
        tensor = to_index(lengths, "row_lengths", dtype)
        tensor.get_shape().assert_has_rank(1)
        if validate:
            zero = np.dtype(tensor.dtype).type(0)
            conditions = [*_is_vector(tensor), _all(ops.GreaterEqual(tensor, zero))]
            words = "Arguments to from_row_lengths do not form a valid RowPartition"
            tensor = checked(tensor, conditions, words)
        return RowPartition(_of_lengths(tensor), lengths=tensor)


def from_row_starts(
    starts: TensorLike, nvals: Tensor, validate: bool, dtype: DTypeLike = np.int64
) -> RowPartition:
    """Rows from each number of `starts` to the next one, the last to the end."""
    with name_scope(None, "RowPartitionFromRowStarts"):
        tensor = to_index(starts, "row_starts", dtype)
        tensor.get_shape().assert_has_rank(1)
        count = ops.Cast(nvals, DstT=np.dtype(tensor.dtype))
        if validate:
            zero = np.array([0], np.dtype(tensor.dtype))
            flat = ops.Reshape(tensor, np.array([-1], np.int32))
            some = ops.ConcatV2([flat, zero], _ZERO)
            conditions = [
                *_is_vector(tensor), ops.Equal(_first(some), zero[0]), _rises(tensor),
                ops.LessEqual(ops.Max(some, _ZERO), count),
            ]  # fmt: skip
            words = "Arguments to from_row_starts do not form a valid RowPartition"
            tensor = checked(tensor, conditions, words)
        return RowPartition(ops.ConcatV2([tensor, ops.ExpandDims(count, _ZERO)], _ZERO))


def from_row_limits(
    limits: TensorLike, validate: bool, dtype: DTypeLike = np.int64
) -> RowPartition:
    """Rows up to each number of `limits`, the first from 0."""
    with name_scope(None, "RowPartitionFromRowLimits"):
        tensor = to_index(limits, "row_limits", dtype)
        tensor.get_shape().assert_has_rank(1)
        zero = np.zeros(1, np.dtype(tensor.dtype))
        if validate:
            conditions = [*_is_vector(tensor), _rises(tensor)]
            flat = ops.Reshape(tensor, np.array([-1], np.int32))
            conditions.append(ops.All(ops.GreaterEqual(flat, zero[0]), _ZERO))
            words = "Arguments to from_row_limits do not form a valid RowPartition"
            tensor = checked(tensor, conditions, words)
        return RowPartition(ops.ConcatV2([zero, tensor], _ZERO))


def from_value_rowids(
    rowids: TensorLike, nrows: TensorLike | None, validate: bool, dtype: DTypeLike = np.int64
) -> RowPartition:
    """The row of each value, in rising order; `nrows` is one more than the last by default."""
    with name_scope(None, "RowPartitionFromValueRowIds"):
        tensor = to_index(rowids, "value_rowids", dtype)
        tensor.get_shape().assert_has_rank(1)
        dtype = np.dtype(tensor.dtype)
        if nrows is None:
            flat = ops.Reshape(tensor, np.array([-1], np.int32))
            last = ops.Max(ops.ConcatV2([np.array([-1], dtype), flat], _ZERO), _ZERO)
            count = ops.AddV2(last, dtype.type(1))
        else:
            count = to_index(nrows, "nrows", dtype)
            count.get_shape().assert_has_rank(0)
            count = count if count.dtype == dtype else ops.Cast(count, DstT=dtype)
            _require_rows(count, tensor)
        if validate:
            zero = dtype.type(0)
            scalar = [] if count.sizes == () else [ops.Equal(ops.Rank(count), _ZERO)]
            conditions = [
                *_is_vector(tensor), *scalar, _rises(tensor), _all(ops.Less(tensor, count)),
                _all(ops.GreaterEqual(tensor, zero)),
            ]  # fmt: skip
            words = "Arguments to from_value_rowids do not form a valid RowPartition"
            tensor = checked(tensor, conditions, words)
        ids = ops.Cast(tensor, DstT=np.dtype(np.int32))
        n = ops.Cast(count, DstT=np.dtype(np.int32))
        counts = ops.Cast(ops.Bincount(ids, n, np.zeros(0, np.int64)), DstT=dtype)
        return RowPartition(_of_lengths(counts), rowids=tensor, count=count)


def _require_rows(count: Tensor, rowids: Tensor) -> None:
    """Raises ValueError for a number of rows that is known to be too small."""
    n, ids = whole(count.value), whole(rowids.value)
    if n is not None and n < 0:
        raise ValueError(f"Expected nrows >= 0; got {n}")
    if n is not None and ids is not None and ids.ndim == 1 and ids.size and ids[-1] >= n:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={n}, value_rowids[-1]={ids[-1]}"
        )


def from_uniform_row_length(
    length: TensorLike,
    nvals: Tensor,
    nrows: TensorLike | None,
    validate: bool,
    dtype: DTypeLike = np.int64,
) -> RowPartition:
    """Rows of equally many values; `nrows` says how many where they have none."""
    with name_scope(None, "RowPartitionFromUniformRowLength"):
        size = to_index(length, "uniform_row_length", dtype)
        size.get_shape().assert_has_rank(0)
        dtype = np.dtype(size.dtype)
        values = ops.Cast(nvals, DstT=dtype)
        if nrows is None:
            known = whole(size.value)
            divisor = ops.Maximum(size, dtype.type(1)) if known is None else max(int(known), 1)
            count = ops.FloorDiv(values, divisor)
        else:
            count = to_index(nrows, "nrows", dtype)
            count.get_shape().assert_has_rank(0)
            count = count if count.dtype == dtype else ops.Cast(count, DstT=dtype)
        if validate:
            is_scalar = [] if size.sizes == () else [ops.Equal(ops.Rank(size), _ZERO)]
            size = checked(size, is_scalar, "uniform_row_length must be a scalar")
            product = ops.Equal(ops.Mul(count, size), values)
            conditions = [ops.GreaterEqual(size, dtype.type(0)), product]
            words = "Arguments to from_uniform_row_length do not form a valid RowPartition"
            size = checked(size, conditions, words)
        splits = ops.Mul(counted(ops.AddV2(count, dtype.type(1))), size)
        return RowPartition(splits, count=count, uniform=size)
