"""RaggedTensor: rows of different lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .build import ops
from .create import convert_to_tensor
from .graph import Graph, Tensor
from .scopes import name_scope
from .sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from .protocols import MaybeDType
    from .typing import DTypeLike, TensorLike

_ZERO = np.int32(0)


def _counted(n: Tensor) -> Tensor:
    """0, 1, ... n - 1 in int64."""
    return ops.Range(np.int64(0), n, np.int64(1), Tidx=np.dtype(np.int64))


class RaggedTensor:
    """Rows that lie one after another in `values`, from one of `row_splits` to the next.

    Made by `from_row_splits`, `from_row_lengths`, `from_value_rowids`, `from_tensor`,
    `from_sparse` and `tf.ragged.constant`. The values may be ragged themselves.
    """

    def __init__(self, values: Tensor | RaggedTensor, row_splits: Tensor):
        self._values, self._row_splits = values, row_splits

    @classmethod
    def from_row_splits(
        cls,
        values: TensorLike | RaggedTensor,
        row_splits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from each number of `row_splits` [n + 1] to the next one."""
        with name_scope(name, "RaggedFromRowSplits", [row_splits]):
            splits = convert_to_tensor(row_splits, name="row_splits")
            if splits.dtype.kind != "i":
                raise ValueError(f"Row-partitioning tensor must be int32 or int64, got {splits}")
            inner = values if isinstance(values, RaggedTensor) else convert_to_tensor(values)
            return cls(inner, ops.Cast(splits, DstT=np.dtype(np.int64)))

    @classmethod
    def from_row_lengths(
        cls,
        values: TensorLike | RaggedTensor,
        row_lengths: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows of so many values each."""
        with name_scope(name, "RaggedFromRowLengths", [row_lengths]):
            lengths = ops.Cast(convert_to_tensor(row_lengths), DstT=np.dtype(np.int64))
            ends = ops.Cumsum(lengths, _ZERO)
            splits = ops.ConcatV2([np.zeros(1, np.int64), ends], _ZERO)
            return cls.from_row_splits(values, splits)

    @classmethod
    def from_value_rowids(
        cls,
        values: TensorLike | RaggedTensor,
        value_rowids: TensorLike,
        nrows: TensorLike | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """The row of each value, in rising order; `nrows` is one more than the last by default."""
        with name_scope(name, "RaggedFromValueRowIds", [value_rowids]):
            rows = ops.Cast(convert_to_tensor(value_rowids), DstT=np.dtype(np.int32))
            if nrows is None:
                last = ops.ConcatV2([np.array([-1], np.int32), rows], _ZERO)
                n = ops.AddV2(ops.Max(last, _ZERO), np.int32(1))
            else:
                n = ops.Cast(convert_to_tensor(nrows), DstT=np.dtype(np.int32))
            counts = ops.Bincount(rows, n, np.zeros(0, np.int64))
            return cls.from_row_lengths(values, counts)

    @classmethod
    def from_sparse(cls, st_input: SparseTensor, name: str | None = None) -> RaggedTensor:
        """The rows of a sparse tensor of rank 2, whose elements are the first of their rows.

        Raises TypeError when it is no SparseTensor, ValueError when its rank is another.
        """
        if not isinstance(st_input, SparseTensor):
            raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
        rank = None if st_input.dense_shape.sizes is None else st_input.dense_shape.sizes[0]
        if rank not in (None, 2):
            raise ValueError(f"rank(st_input) must be 2. Got: {rank}")
        with name_scope(name, "RaggedFromSparse", [st_input.values]):
            rows = ops.StridedSlice(
                st_input.indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1,
                shrink_axis_mask=2,
            )  # fmt: skip
            n = ops.StridedSlice(st_input.dense_shape, [0], [1], [1], shrink_axis_mask=1)
            return cls.from_value_rowids(st_input.values, rows, n)

    @property
    def values(self) -> Tensor | RaggedTensor:
        """The rows one after another."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """[nrows + 1], int64: where each row begins, and where the last one ends."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The values of the innermost rows, one after another."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensor) else values

    def with_flat_values(self, new_values: Tensor) -> RaggedTensor:
        """The same rows with other innermost values."""
        inner = self._values
        if isinstance(inner, RaggedTensor):
            return RaggedTensor(inner.with_flat_values(new_values), self._row_splits)
        return RaggedTensor(new_values, self._row_splits)

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """Those of this one, and of the ragged values within, from the outside in."""
        inner = self._values
        inner_splits = inner.nested_row_splits if isinstance(inner, RaggedTensor) else ()
        return (self._row_splits, *inner_splits)

    @property
    def ragged_rank(self) -> int:
        """How many dimensions have sizes of their own for each row."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> MaybeDType:
        """Of the values."""
        return self.flat_values.dtype

    @property
    def graph(self) -> Graph:
        """Where the values are."""
        return self._row_splits.graph

    def nrows(self, out_type: DTypeLike = np.int64, name: str | None = None) -> Tensor:
        """How many rows there are."""
        with name_scope(name, "RaggedNRows"):
            n = ops.Sub(ops.Size(self._row_splits), np.int32(1))
            return ops.Cast(n, DstT=np.dtype(out_type))

    def row_starts(self, name: str | None = None) -> Tensor:
        """[nrows]: where each row begins."""
        with name_scope(name, "RaggedRowStarts"):
            return ops.StridedSlice(self._row_splits, [0], [-1], [1])

    def row_limits(self, name: str | None = None) -> Tensor:
        """[nrows]: where each row ends."""
        with name_scope(name, "RaggedRowLimits"):
            return ops.StridedSlice(self._row_splits, [1], [0], [1], end_mask=1)

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Tensor:
        """[nrows]: how many values each row has. Raises ValueError unless `axis` is 1."""
        if axis != 1:
            raise ValueError(f"row_lengths takes axis=1, got {axis}; ask its values for theirs")
        with name_scope(name, "RaggedRowLengths"):
            return ops.Sub(self.row_limits(), self.row_starts())

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row of each value."""
        with name_scope(name, "RaggedValueRowIds"):
            n = ops.StridedSlice(self._row_splits, [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
            positions = _counted(n)
            limits = ops.ExpandDims(self.row_limits(), _ZERO)
            flat = ops.Reshape(positions, np.array([1, -1], np.int32))
            rows = ops.UpperBound(limits, flat, out_type=np.dtype(np.int64))
            return ops.Reshape(rows, np.array([-1], np.int32))

    def to_tensor(self, default_value: TensorLike | None = None, name: str | None = None) -> Tensor:
        """The rows, all as long as the longest, filled up with `default_value` (zeros, "")."""
        with name_scope(name, "RaggedToTensor"):
            values = self._values
            if isinstance(values, RaggedTensor):
                values = values.to_tensor(default_value)
            zero = b"" if values.dtype.kind == "O" else np.zeros((), values.dtype)
            filler = convert_to_tensor(
                zero if default_value is None else default_value, values.dtype
            )
            rows = self.value_rowids()
            starts = ops.GatherV2(self.row_starts(), rows, _ZERO)
            n_values = ops.Shape(rows, out_type=np.dtype(np.int64))
            n = ops.Reshape(n_values, np.zeros(0, np.int32))
            columns = ops.Sub(_counted(n), starts)
            lengths = ops.ConcatV2([np.zeros(1, np.int64), self.row_lengths()], _ZERO)
            size = ops.Pack([self.nrows(), ops.Max(lengths, _ZERO)])
            inner = ops.StridedSlice(
                ops.Shape(values, out_type=np.dtype(np.int64)), [1], [0], [1], end_mask=1
            )
            padded = ops.Fill(ops.ConcatV2([size, inner], _ZERO), filler)
            return ops.TensorScatterUpdate(padded, ops.Pack([rows, columns], axis=1), values)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """A sparse tensor of rank 2 with the same rows.

        Raises ValueError when the values are ragged, or rows of rows.
        """
        values = self._values
        if isinstance(values, RaggedTensor) or values.sizes is None or len(values.sizes) != 1:
            raise ValueError("to_sparse takes rows of single values")
        with name_scope(name, "RaggedToSparse"):
            rows = self.value_rowids()
            starts = ops.GatherV2(self.row_starts(), rows, _ZERO)
            n = ops.Reshape(ops.Shape(rows, out_type=np.dtype(np.int64)), np.zeros(0, np.int32))
            columns = ops.Sub(_counted(n), starts)
            lengths = ops.ConcatV2([np.zeros(1, np.int64), self.row_lengths()], _ZERO)
            size = ops.Pack([self.nrows(), ops.Max(lengths, _ZERO)])
            return SparseTensor(ops.Pack([rows, columns], axis=1), values, size)

    def __repr__(self):
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"
