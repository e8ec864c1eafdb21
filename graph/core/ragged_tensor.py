"""RaggedTensor: rows of different lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .build import ops
from .create import convert_to_tensor
from .graph import Graph, Tensor
from .hooks import implementation
from .scopes import name_scope
from .sparse_tensor import SparseTensor
from .tensor_shape import TensorShape

if TYPE_CHECKING:
    from .protocols import MaybeDType
    from .typing import DTypeLike, TensorLike

_ZERO = np.int32(0)


def _counted(n: Tensor) -> Tensor:
    """0, 1, ... n - 1 in int64."""
    return ops.Range(np.int64(0), n, np.int64(1), Tidx=np.dtype(np.int64))


class RaggedTensorValue(NamedTuple):
    """What a Session gives for a RaggedTensor."""

    values: np.ndarray | RaggedTensorValue
    row_splits: np.ndarray

    def __repr__(self) -> str:
        return f"tf.{type(self).__name__}(values={self.values!r}, row_splits={self.row_splits!r})"

    @property
    def flat_values(self) -> np.ndarray:
        """The values of the innermost rows, one after another."""
        values = self.values
        return values.flat_values if isinstance(values, RaggedTensorValue) else values

    @property
    def nested_row_splits(self) -> tuple[np.ndarray, ...]:
        """Those of this one, and of the rows within, from the outside in."""
        inner = self.values
        splits = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return (self.row_splits, *splits)

    @property
    def ragged_rank(self) -> int:
        """How many dimensions have sizes of their own for each row."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> np.dtype:
        """Of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The number of rows, and None for each dimension that has none of its own."""
        inner = self.flat_values.shape[1:]
        return (len(self.row_splits) - 1, *[None] * self.ragged_rank, *inner)

    def to_list(self) -> list[object]:
        """The rows as nested lists."""
        values = self.values
        items = values.to_list() if isinstance(values, RaggedTensorValue) else values.tolist()
        return [items[start:end] for start, end in pairwise(self.row_splits)]


def _operator(name: str, swapped: bool = False) -> Callable[[RaggedTensor, object], RaggedTensor]:
    """A binary operator: that of the innermost values."""

    def apply(self: RaggedTensor, other: object) -> RaggedTensor:
        pair = (other, self) if swapped else (self, other)
        return implementation("apply_ragged")(name, *pair)

    return apply


def _unary(name: str) -> Callable[[RaggedTensor], RaggedTensor]:
    def apply(self: RaggedTensor) -> RaggedTensor:
        return implementation("apply_ragged")(name, self)

    return apply


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
    def from_row_starts(
        cls,
        values: TensorLike | RaggedTensor,
        row_starts: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from each number of `row_starts` to the next one, the last to the end."""
        with name_scope(name, "RaggedFromRowStarts", [row_starts]):
            inner = values if isinstance(values, RaggedTensor) else convert_to_tensor(values)
            starts = ops.Cast(convert_to_tensor(row_starts), DstT=np.dtype(np.int64))
            end = ops.ExpandDims(_rows_of(inner), _ZERO)
            return cls.from_row_splits(inner, ops.ConcatV2([starts, end], _ZERO))

    @classmethod
    def from_row_limits(
        cls,
        values: TensorLike | RaggedTensor,
        row_limits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows up to each number of `row_limits`, the first from 0."""
        with name_scope(name, "RaggedFromRowLimits", [row_limits]):
            limits = ops.Cast(convert_to_tensor(row_limits), DstT=np.dtype(np.int64))
            return cls.from_row_splits(values, ops.ConcatV2([np.zeros(1, np.int64), limits], _ZERO))

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: TensorLike,
        nested_row_splits: Sequence[TensorLike],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor | Tensor:
        """Rows of rows, by their splits from the outside in."""
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values]):
            result: RaggedTensor | Tensor = convert_to_tensor(flat_values)
            for splits in reversed(nested_row_splits):
                result = cls.from_row_splits(result, splits)
            return result

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: TensorLike,
        nested_row_lengths: Sequence[TensorLike],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor | Tensor:
        """Rows of rows, by their lengths from the outside in."""
        with name_scope(name, "RaggedFromNestedRowlengths", [flat_values]):
            result: RaggedTensor | Tensor = convert_to_tensor(flat_values)
            for lengths in reversed(nested_row_lengths):
                result = cls.from_row_lengths(result, lengths)
            return result

    @classmethod
    def from_tensor(cls, tensor: TensorLike, name: str | None = None) -> RaggedTensor:
        """The rows [n, m, ...] of a tensor, m values each."""
        with name_scope(name, "RaggedFromTensor", [tensor]):
            x = convert_to_tensor(tensor)
            if x.sizes is not None and len(x.sizes) < 2:
                raise ValueError(f"a tensor of rank 2 or more has rows, got shape {x.shape}")
            sizes = ops.Shape(x, out_type=np.dtype(np.int64))
            flat = ops.ConcatV2([np.array([-1], np.int64), sizes[2:]], _ZERO)
            splits = _counted(sizes[0] + np.int64(1)) * sizes[1]
            return cls.from_row_splits(ops.Reshape(x, flat), splits)

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

    def with_values(self, new_values: Tensor | RaggedTensor) -> RaggedTensor:
        """The same rows with other values."""
        return RaggedTensor(new_values, self._row_splits)

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """How long the rows are, from the outside in."""
        with name_scope(name, "RaggedNestedRowLengths"):
            inner = self._values
            lengths = inner.nested_row_lengths() if isinstance(inner, RaggedTensor) else ()
            return (self.row_lengths(), *lengths)

    @property
    def shape(self) -> TensorShape:
        """The number of rows, None for each ragged dimension, the shape of a value."""
        splits, inner = self._row_splits.sizes, self.flat_values.sizes
        if inner is None:
            return TensorShape(None)
        count = None if not splits or splits[0] is None else splits[0] - 1
        return TensorShape([count, *[None] * self.ragged_rank, *inner[1:]])

    def get_shape(self) -> TensorShape:
        """The number of rows, None for each ragged dimension, the shape of a value."""
        return self.shape

    def bounding_shape(self, axis: TensorLike | None = None, name: str | None = None) -> Tensor:
        """The shape of the smallest tensor that has room for all rows."""
        with name_scope(name, "RaggedBoundingBox"):
            sizes = [self.nrows()]
            for lengths in self.nested_row_lengths():
                longest = ops.ConcatV2([np.zeros(1, np.int64), lengths], _ZERO)
                sizes.append(ops.Max(longest, _ZERO))
            inner = ops.Shape(self.flat_values, out_type=np.dtype(np.int64))[1:]
            shape = ops.ConcatV2([ops.Pack(sizes), inner], _ZERO)
            return shape if axis is None else ops.GatherV2(shape, axis, _ZERO)

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

    __add__ = _operator("add")
    __radd__ = _operator("add", swapped=True)
    __sub__ = _operator("sub")
    __rsub__ = _operator("sub", swapped=True)
    __mul__ = _operator("mul")
    __rmul__ = _operator("mul", swapped=True)
    __truediv__ = _operator("truediv")
    __rtruediv__ = _operator("truediv", swapped=True)
    __floordiv__ = _operator("floordiv")
    __rfloordiv__ = _operator("floordiv", swapped=True)
    __mod__ = _operator("mod")
    __rmod__ = _operator("mod", swapped=True)
    __pow__ = _operator("pow")
    __rpow__ = _operator("pow", swapped=True)
    __and__ = _operator("and")
    __or__ = _operator("or")
    __xor__ = _operator("xor")
    __lt__ = _operator("lt")
    __le__ = _operator("le")
    __gt__ = _operator("gt")
    __ge__ = _operator("ge")
    __neg__ = _unary("neg")
    __abs__ = _unary("abs")
    __invert__ = _unary("invert")

    def __repr__(self):
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"


def _rows_of(x: Tensor | RaggedTensor) -> Tensor:
    """The size of the first dimension, in int64."""
    if isinstance(x, RaggedTensor):
        return x.nrows()
    return ops.Shape(x, out_type=np.dtype(np.int64))[0]
