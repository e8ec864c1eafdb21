"""RaggedTensor: rows of different lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn, cast

import numpy as np

from ..build import ops
from ..create import convert_to_tensor
from ..graph import Graph, Operation, Tensor
from ..hooks import implementation
from ..scopes import name_scope
from ..tensor_shape import TensorShape
from . import row_partition
from .ragged_value import RaggedTensorValue
from .row_partition import RowPartition, checked, size_of
from .sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from ...session.session import Session
    from ..protocols import Evaluated, FeedDict, MaybeDType
    from ..typing import DTypeLike, TensorLike

_ZERO = np.int32(0)


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
    """Rows that are concatenated in `values`, from one of `row_splits` to the next.

    Made by `from_row_splits`, `from_row_lengths`, `from_value_rowids`, `from_tensor`,
    `from_sparse` and `tf.ragged.constant`. The values may be ragged themselves. The factories
    check their arguments when the graph is built, as far as they are known, else when it runs;
    `validate=False` leaves that out.
    """

    def __init__(self, values: Tensor | RaggedTensor, rows: RowPartition):
        self._values, self._rows = values, rows

    @classmethod
    def _of(
        cls,
        values: Tensor | RaggedTensor,
        rows: RowPartition,
        validate: bool,
    ) -> RaggedTensor:
        """Rows of values, whose number is checked."""
        if isinstance(values, RaggedTensor) and values.rows.dtype != rows.dtype:
            raise ValueError(
                "values and row_splits must count in the same type, got "
                f"{values.rows.dtype.name} and {rows.dtype.name}; see with_row_splits_dtype"
            )
        if validate:
            words = "Arguments to _from_row_partition do not form a valid RaggedTensor"
            number = ops.Cast(_rows_of(values), DstT=rows.dtype)
            splits = checked(rows.splits, [ops.Equal(rows.nvals(), number)], words)
            if splits is not rows.splits:
                rows = RowPartition(splits, uniform=rows.uniform)
        return cls(values, rows)

    @classmethod
    def from_row_splits(
        cls,
        values: TensorLike | RaggedTensor,
        row_splits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i has `values` from row_splits[i] to row_splits[i + 1].

        Args:
            values: [n, ...], of any type; also ragged.
            row_splits: [rows + 1], int32 or int64: from 0 to n, never falling.
            name: Of the operations.
            validate: Whether that is checked when it runs, with InvalidArgumentError.

        Raises ValueError for `row_splits` of another rank.
        """
        with name_scope(name, "RaggedFromRowSplits", [row_splits]):
            inner, dtype = _values_of(values)
            rows = row_partition.from_row_splits(row_splits, validate, dtype)
            return cls._of(inner, rows, validate)

    @classmethod
    def from_row_lengths(
        cls,
        values: TensorLike | RaggedTensor,
        row_lengths: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i has the next row_lengths[i] of `values`, numbers whose sum is that of the values.

        See `from_row_splits` for the other arguments and errors.
        """
        with name_scope(name, "RaggedFromRowLengths", [row_lengths]):
            inner, dtype = _values_of(values)
            rows = row_partition.from_row_lengths(row_lengths, validate, dtype)
            return cls._of(inner, rows, validate)

    @classmethod
    def from_value_rowids(
        cls,
        values: TensorLike | RaggedTensor,
        value_rowids: TensorLike,
        nrows: TensorLike | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Value i of `values` stands in row value_rowids[i], of `nrows`.

        `value_rowids` are not negative and never fall; there is one row more than the last by
        default. Raises ValueError for a negative `nrows`; see `from_row_splits` for the rest.
        """
        with name_scope(name, "RaggedFromValueRowIds", [value_rowids]):
            inner, dtype = _values_of(values)
            if isinstance(nrows, int) and nrows < 0:
                raise ValueError(f"Expected nrows >= 0; got {nrows}")
            rows = row_partition.from_value_rowids(value_rowids, nrows, validate, dtype)
            return cls._of(inner, rows, validate)

    @classmethod
    def from_row_starts(
        cls,
        values: TensorLike | RaggedTensor,
        row_starts: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i has `values` from row_starts[i] to the next start, the last one to the end.

        `row_starts` begin at 0 and never fall; see `from_row_splits` for the rest.
        """
        with name_scope(name, "RaggedFromRowStarts", [row_starts]):
            inner, dtype = _values_of(values)
            rows = row_partition.from_row_starts(row_starts, _rows_of(inner), validate, dtype)
            return cls._of(inner, rows, False)

    @classmethod
    def from_row_limits(
        cls,
        values: TensorLike | RaggedTensor,
        row_limits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i has `values` up to but without row_limits[i]; the first one begins at 0.

        `row_limits` never fall, the last is the number of values; see `from_row_splits`.
        """
        with name_scope(name, "RaggedFromRowLimits", [row_limits]):
            inner, dtype = _values_of(values)
            rows = row_partition.from_row_limits(row_limits, validate, dtype)
            return cls._of(inner, rows, validate)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: TensorLike | RaggedTensor,
        uniform_row_length: TensorLike,
        nrows: TensorLike | None = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """Rows of `uniform_row_length` of the `values` each, a scalar that divides their number.

        `nrows`, a scalar, says how many rows there are where they have no values.
        """
        with name_scope(name, "RaggedFromUniformRowLength", [uniform_row_length]):
            inner, dtype = _values_of(values)
            rows = row_partition.from_uniform_row_length(
                uniform_row_length, _rows_of(inner), nrows, validate, dtype
            )
            return cls._of(inner, rows, False)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: TensorLike,
        nested_row_splits: Sequence[TensorLike],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor | Tensor:
        """Rows of rows of `flat_values` [n, ...], by their splits from the outside in.

        `nested_row_splits` is a list, as of `from_row_splits` each; else TypeError.
        """
        _require_list(nested_row_splits, "nested_row_splits")
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values]):
            result: RaggedTensor | Tensor = convert_to_tensor(flat_values)
            for splits in reversed(nested_row_splits):
                result = cls.from_row_splits(result, splits, validate=validate)
            return result

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: TensorLike,
        nested_row_lengths: Sequence[TensorLike],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor | Tensor:
        """Rows of rows of `flat_values` [n, ...], by their lengths from the outside in.

        `nested_row_lengths` is a list, as of `from_row_lengths` each; else TypeError.
        """
        _require_list(nested_row_lengths, "nested_row_lengths")
        with name_scope(name, "RaggedFromNestedRowlengths", [flat_values]):
            result: RaggedTensor | Tensor = convert_to_tensor(flat_values)
            for lengths in reversed(nested_row_lengths):
                result = cls.from_row_lengths(result, lengths, validate=validate)
            return result

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: TensorLike,
        nested_value_rowids: Sequence[TensorLike],
        nested_nrows: Sequence[TensorLike | None] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor | Tensor:
        """Rows of rows of `flat_values` [n, ...], by the row of each value from the outside in.

        `nested_value_rowids` is a list, as of `from_value_rowids` each, and so is `nested_nrows`,
        or None. Raises TypeError for a tensor, ValueError for two lengths.
        """
        _require_list(nested_value_rowids, "nested_value_rowids")
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        else:
            _require_list(nested_nrows, "nested_nrows")
            if len(nested_nrows) != len(nested_value_rowids):
                raise ValueError(
                    "Argument `nested_nrows` must have the same length as argument "
                    f"`nested_value_rowids`. len(nested_nrows) = {len(nested_nrows)} vs. "
                    f"len(nested_values_rowids) = {len(nested_value_rowids)}"
                )
        with name_scope(name, "RaggedFromNestedValueRowIds", [flat_values]):
            result: RaggedTensor | Tensor = convert_to_tensor(flat_values)
            for rowids, n in zip(
                reversed(nested_value_rowids), reversed(nested_nrows), strict=True
            ):
                result = cls.from_value_rowids(result, rowids, n, validate=validate)
            return result

    @classmethod
    def from_tensor(
        cls,
        tensor: TensorLike,
        lengths: object = None,
        padding: TensorLike | None = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: DTypeLike = np.int64,
    ) -> RaggedTensor:
        """The rows of a tensor [n, m, ...].

        Args:
            tensor: Of a rank above `ragged_rank`.
            lengths: How many values of each row count: [n]; or a list of such for rows of rows.
            padding: What does not count at the end of a row, instead of `lengths`.
            ragged_rank: How many dimensions become ragged.
            name: Of the operations.
            row_splits_dtype: int32 or int64.
        """
        return implementation("ragged_function")("from_tensor")(
            tensor, lengths, padding, ragged_rank, name, row_splits_dtype
        )

    @classmethod
    def from_sparse(
        cls,
        st_input: SparseTensor,
        name: str | None = None,
        row_splits_dtype: DTypeLike = np.int64,
    ) -> RaggedTensor:
        """The rows of `st_input`, a sparse tensor of rank 2 whose rows have no gaps.

        Raises:
            TypeError: It is no SparseTensor.
            ValueError: It is of another rank.
            InvalidArgumentError: When it runs, if there is a gap in a row.
        """
        return implementation("ragged_function")("from_sparse")(st_input, name, row_splits_dtype)

    @property
    def rows(self) -> RowPartition:
        """Which values make a row."""
        return self._rows

    @property
    def values(self) -> Tensor | RaggedTensor:
        """The concatenated rows."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """[nrows + 1]: where each row begins, and where the last one ends."""
        return self._rows.splits

    @property
    def uniform_row_length(self) -> Tensor | None:
        """How many values each row has, where all are known to have as many."""
        return self._rows.uniform

    @property
    def flat_values(self) -> Tensor:
        """The concatenated values of the innermost rows."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensor) else values

    @property
    def nested_rows(self) -> tuple[RowPartition, ...]:
        """Which values make a row, from the outside in."""
        inner = self._values
        return (self._rows, *(inner.nested_rows if isinstance(inner, RaggedTensor) else ()))

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """Those of this one, and of the ragged values within, from the outside in."""
        return tuple(rows.splits for rows in self.nested_rows)

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """How long the rows are, from the outside in."""
        with name_scope(name, "RaggedNestedRowLengths"):
            return tuple(rows.lengths() for rows in self.nested_rows)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row of each value, from the outside in."""
        with name_scope(name, "RaggedNestedValueRowIds"):
            return tuple(rows.rowids() for rows in self.nested_rows)

    def with_values(self, new_values: Tensor | RaggedTensor) -> RaggedTensor:
        """The same rows of `new_values`, as many as before, of any type; ValueError for others."""
        inner, dtype = _values_of(new_values)
        self._values.get_shape()[:1].assert_is_compatible_with(inner.get_shape()[:1])
        if isinstance(inner, RaggedTensor) and dtype != self._rows.dtype:
            return RaggedTensor(inner.with_row_splits_dtype(np.int64), self._rows.of_type(np.int64))
        return RaggedTensor(inner, self._rows)

    def with_flat_values(self, new_values: Tensor | RaggedTensor) -> RaggedTensor:
        """The same rows with `new_values` as the innermost ones, as many as before, of any type."""
        inner = self._values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        """The same rows, counted in int32 or int64; ValueError for another type."""
        splits_dtype = np.dtype(dtype)
        if splits_dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
            raise ValueError(
                f"Argument `row_splits` dtype must be int32 or int64. Received {splits_dtype.name}."
            )
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(splits_dtype)
        return RaggedTensor(values, self._rows.of_type(splits_dtype))

    def merge_dims(self, outer_axis: int, inner_axis: int) -> RaggedTensor | Tensor:
        """One dimension instead of those from `outer_axis` to `inner_axis`."""
        return implementation("ragged_function")("merge_dims")(self, outer_axis, inner_axis)

    @property
    def shape(self) -> TensorShape:
        """The number of rows, None for each ragged dimension, the shape of a value."""
        inner = self._values.shape
        if inner.rank is None:
            return TensorShape(None)
        sizes = inner.as_list()[1:]
        return TensorShape([self._rows.known_count, self._rows.known_length, *sizes])

    def get_shape(self) -> TensorShape:
        """The number of rows, None for each ragged dimension, the shape of a value."""
        return self.shape

    def bounding_shape(
        self,
        axis: TensorLike | None = None,
        name: str | None = None,
        out_type: DTypeLike | None = None,
    ) -> Tensor:
        """[rank]: the shape of the smallest tensor that has room for all rows; or its `axis`."""
        dtype = self._rows.dtype if out_type is None else np.dtype(out_type)
        with name_scope(name, "RaggedBoundingBox"):
            sizes = [self._rows.nrows(), *(rows.longest() for rows in self.nested_rows)]
            outer = ops.Cast(ops.Pack(sizes), DstT=dtype)
            inner = ops.StridedSlice(
                ops.Shape(self.flat_values, out_type=dtype), [1], [0], [1], end_mask=1
            )
            shape = ops.ConcatV2([outer, inner], _ZERO)
            return shape if axis is None else ops.GatherV2(shape, axis, _ZERO)

    @property
    def ragged_rank(self) -> int:
        """How many dimensions have sizes of their own for each row."""
        return len(self.nested_rows)

    @property
    def dtype(self) -> MaybeDType:
        """Of the values."""
        return self.flat_values.dtype

    @property
    def graph(self) -> Graph:
        """Where the values are."""
        return self.row_splits.graph

    def nrows(self, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """How many rows there are."""
        with name_scope(name, "RaggedNRows"):
            return self._rows.nrows(out_type)

    def row_starts(self, name: str | None = None) -> Tensor:
        """[nrows]: where each row begins."""
        with name_scope(name, "RaggedRowStarts"):
            return self._rows.starts()

    def row_limits(self, name: str | None = None) -> Tensor:
        """[nrows]: where each row ends."""
        with name_scope(name, "RaggedRowLimits"):
            return self._rows.limits()

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Tensor | RaggedTensor:
        """How many values each row of dimension `axis` has: [nrows], or ragged further in."""
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise TypeError(f"axis must be an int; got {type(axis).__name__}")
        if axis == 0:
            return self.nrows()
        if axis == 1:
            with name_scope(name, "RaggedRowLengths"):
                return self._rows.lengths()
        values, dtype = self._values, self._rows.dtype
        with name_scope(name, "RaggedRowLengths"):
            if axis < 0:
                rank = self.shape.rank
                if rank is None:
                    raise ValueError("axis may only be negative if the rank is statically known.")
                return self.row_lengths(axis + rank)
            if isinstance(values, RaggedTensor):
                return self.with_values(values.row_lengths(axis - 1))
            if values.sizes is not None and axis > len(values.sizes):
                raise ValueError(
                    f"axis={axis} out of bounds: expected {-len(values.sizes) - 1}<=axis<"
                    f"{len(values.sizes) + 1}"
                )
            sizes = ops.Shape(values, out_type=dtype)
            outer = ops.StridedSlice(sizes, [0], [axis - 1], [1])
            return self.with_values(ops.Fill(outer, size_of(values, axis - 1, dtype)))

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row of each value."""
        with name_scope(name, "RaggedValueRowIds"):
            return self._rows.rowids()

    def to_tensor(
        self,
        default_value: TensorLike | None = None,
        name: str | None = None,
        shape: object = None,
    ) -> Tensor:
        """The rows, all as long as the longest, filled up with `default_value` (zeros, "").

        `shape` gives sizes, None for those that follow from the rows; values beyond are dropped.
        """
        return implementation("ragged_function")("to_tensor")(self, default_value, name, shape)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """A sparse tensor with the same values at the places they have in the rows."""
        return implementation("ragged_function")("to_sparse")(self, name)

    def consumers(self) -> list[Operation]:
        """The operations that read one of its tensors."""
        parts = cast("list[Tensor]", self.to_components())
        return list(dict.fromkeys(op for part in parts for op in part.consumers()))

    def to_components(self) -> list[object]:
        """Its innermost values, and the splits from the outside in."""
        return [self.flat_values, *self.nested_row_splits]

    def from_components(self, components: Sequence[object]) -> RaggedTensor:
        """One of other tensors."""
        tensors = cast("Sequence[Tensor]", components)
        result: Tensor | RaggedTensor = tensors[0]
        for splits, rows in zip(tensors[:0:-1], reversed(self.nested_rows), strict=True):
            known = rows.known_length
            uniform = None if known is None else convert_to_tensor(rows.dtype.type(known))
            result = RaggedTensor(result, RowPartition(splits, uniform=uniform))
        return cast("RaggedTensor", result)

    def to_list(self) -> NoReturn:
        """Raises ValueError: in a graph a tensor has no values; run it in a Session."""
        raise ValueError("RaggedTensor.to_list() is only supported in eager mode.")

    def numpy(self) -> NoReturn:
        """Raises ValueError: in a graph a tensor has no values; run it in a Session."""
        raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")

    def eval(self, feed_dict: FeedDict | None = None, session: Session | None = None) -> Evaluated:
        """Its value in `session`, by default the default one."""
        session_for = implementation("session_for")
        active = session_for(self.graph, session, "evaluate tensor", "eval")
        return active.run(self, feed_dict)

    def __getitem__(self, key: object) -> Tensor | RaggedTensor:
        return implementation("ragged_function")("get_item")(self, key)

    def __bool__(self) -> NoReturn:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __iter__(self) -> NoReturn:
        raise TypeError("Cannot iterate over a RaggedTensor in a graph; use tf.map_fn.")

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
    __rand__ = _operator("and", swapped=True)
    __or__ = _operator("or")
    __ror__ = _operator("or", swapped=True)
    __xor__ = _operator("xor")
    __rxor__ = _operator("xor", swapped=True)
    __lt__ = _operator("lt")
    __le__ = _operator("le")
    __gt__ = _operator("gt")
    __ge__ = _operator("ge")
    __neg__ = _unary("neg")
    __abs__ = _unary("abs")
    __invert__ = _unary("invert")

    def __repr__(self):
        return f"tf.RaggedTensor(values={self._values}, row_splits={self.row_splits})"


def _values_of(
    values: TensorLike | RaggedTensor,
) -> tuple[Tensor | RaggedTensor, np.dtype]:
    """Values as a tensor or ragged tensor, and the type that its rows are counted in."""
    if isinstance(values, RaggedTensorValue):
        values = of_value(values)
    if isinstance(values, RaggedTensor):
        return values, values.rows.dtype
    tensor = convert_to_tensor(values, name="values")
    if tensor.sizes == ():
        raise ValueError(f"Shape {tensor.get_shape()} must have rank at least 1")
    return tensor, np.dtype(np.int64)


def of_value(value: RaggedTensorValue, dtype: DTypeLike | None = None) -> RaggedTensor:
    """The ragged tensor of a value, its elements as `dtype`."""
    inner = value.values
    values = (
        of_value(inner, dtype)
        if isinstance(inner, RaggedTensorValue)
        else convert_to_tensor(inner, dtype)
    )
    return RaggedTensor(values, RowPartition(convert_to_tensor(value.row_splits)))


def _require_list(value: object, name: str) -> None:
    if isinstance(value, Tensor):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {value}.")


def _rows_of(x: Tensor | RaggedTensor) -> Tensor:
    """The size of the first dimension."""
    return x.rows.nrows() if isinstance(x, RaggedTensor) else size_of(x, 0)
