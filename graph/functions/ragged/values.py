"""Functions of the innermost values of ragged tensors, and rows that broadcast to one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import is_ragged
from ...core.composite.ragged_tensor import RaggedTensor, of_value
from ...core.composite.ragged_value import RaggedTensorValue
from ...core.composite.row_partition import RowPartition, checked, counted
from ...core.composite.sparse_tensor import SparseTensor
from ...core.create import convert_to_tensor
from ...core.graph import Tensor

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike

Function = Callable[..., object]
_ZERO = np.int32(0)
_FLAT = np.array([-1], np.int32)
INCOMPATIBLE = (
    "RowPartition._merge_precomputed_encodings: partitions have incompatible row_splits; ragged "
    "arguments must have the same rows"
)
"""What is wrong with ragged tensors whose rows are not the same."""


def as_ragged(
    value: TensorLike | RaggedTensor | RaggedTensorValue,
    dtype: DTypeLike | None = None,
    preferred_dtype: DTypeLike | None = None,
) -> Tensor | RaggedTensor:
    """A ragged tensor of what is one, or its value; a tensor of anything else."""
    if isinstance(value, RaggedTensorValue):
        value = of_value(value, dtype)
    if not isinstance(value, RaggedTensor):
        return convert_to_tensor(value, dtype, preferred_dtype=preferred_dtype)
    if dtype is not None and value.dtype != dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {np.dtype(dtype).name} for RaggedTensor with dtype "
            f"{value.dtype.name}: {value}"
        )
    return value


def rank_of(x: Tensor | RaggedTensor) -> int | None:
    """How many dimensions there are, where that is known."""
    return x.get_shape().rank


def positive_axis(axis: object, rank: int | None, name: str = "axis") -> int:
    """An axis from 0 on; TypeError and ValueError in TensorFlow's words."""
    if isinstance(axis, (Tensor, np.ndarray)) and not isinstance(axis, np.generic):
        value = axis.value if isinstance(axis, Tensor) else np.asarray(cast("TensorLike", axis))
        if value is not None and value.ndim == 0:
            axis = int(value)
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        kind = type(cast("object", axis)).__name__
        raise TypeError(f"{name} must be an int; got {kind}")
    number = int(cast("int", axis))
    if rank is not None:
        if not -rank <= number < rank:
            raise ValueError(
                f"{name}={number} out of bounds: expected {-rank}<={name}<{rank}"
                if rank
                else f"{name}={number} out of bounds: a scalar has no axes"
            )
        return number % rank
    if number < 0:
        raise ValueError(f"{name}={number} may only be negative if ndims is statically known.")
    return number


def same_index_type(parts: Sequence[Tensor | RaggedTensor]) -> list[Tensor | RaggedTensor]:
    """Ragged tensors whose rows are counted in one type: int64 when they were of two."""
    dtypes = {part.rows.dtype for part in parts if isinstance(part, RaggedTensor)}
    if len(dtypes) < 2:
        return list(parts)
    return [
        part.with_row_splits_dtype(np.int64) if isinstance(part, RaggedTensor) else part
        for part in parts
    ]


def of_flat_values(function: Function, *operands: object, **named: object) -> RaggedTensor:
    """`function` of the innermost values of ragged operands, in rows as theirs.

    Other operands are numbers, or tensors that go with the innermost values. Rows of different
    form broadcast, where dimensions of equal sizes stand against ragged ones.

    Raises:
        ValueError: Rows must broadcast, and the rank of an operand is not known.
        TypeError: An operand is sparse.
        InvalidArgumentError: When it runs, unless all have the same rows.
    """
    names = [*range(len(operands)), *named]
    items = [*operands, *named.values()]
    places = [i for i, x in enumerate(items) if is_ragged(x)]
    if any(isinstance(x, SparseTensor) for x in items):
        raise TypeError("sparse and ragged tensors do not go together; see RaggedTensor.to_sparse")
    ragged = [cast("RaggedTensor", as_ragged(cast("RaggedTensor", items[i]))) for i in places]
    for i, x in zip(places, ragged, strict=True):
        items[i] = x
    first = max(ragged, key=lambda x: x.ragged_rank)
    wide = [i for i, x in enumerate(items) if i not in places and _is_wide(x, first)]
    if wide or not all(_is_alike(first, x) for x in ragged):
        chosen = [*places, *wide]
        tensors = [
            as_ragged(cast("TensorLike", items[i]), preferred_dtype=first.dtype) for i in chosen
        ]
        parts, rows = broadcast(tensors)
        for i, part in zip(chosen, parts, strict=True):
            items[i] = part
    else:
        rows, splits = _checked_rows(ragged)
        for i, x in zip(places, ragged, strict=True):
            items[i] = x.flat_values
        if splits:
            items[places[0]] = checked(ragged[0].flat_values, splits, INCOMPATIBLE)
    count = len(operands)
    keywords = {str(name): x for name, x in zip(names[count:], items[count:], strict=True)}
    return wrapped(cast("Tensor", function(*items[:count], **keywords)), rows)


def mapped(
    op: Callable[..., object], args: Sequence[object], kwargs: dict[str, object]
) -> RaggedTensor:
    """`op` of the innermost values of ragged arguments, and of those in lists, in the same rows.

    Raises:
        ValueError: As far as it is known, the arguments have other rows than one another, or `op`
            gives other than one item for each value.
        InvalidArgumentError: When it runs, unless all have the same rows.
    """
    names = [*range(len(args)), *kwargs]
    items: list[object] = [
        list(cast("Sequence[object]", x)) if isinstance(x, (list, tuple)) else x
        for x in (*args, *kwargs.values())
    ]
    lists = [cast("list[object]", x) for x in items if isinstance(x, list)]
    places = [(row, i) for row in (items, *lists) for i, x in enumerate(row) if is_ragged(x)]
    ragged = [cast("RaggedTensor", as_ragged(cast("RaggedTensor", row[i]))) for row, i in places]
    if len({x.ragged_rank for x in ragged}) > 1:
        raise ValueError("All ragged inputs must have the same ragged_rank.")
    counts = {x.flat_values.get_shape()[:1].as_list()[0] for x in ragged} - {None}
    if len(counts) > 1:
        raise ValueError(
            "Input RaggedTensors' flat_values must all have the same outer-dimension size.  Got "
            f"sizes: {counts}"
        )
    rows, conditions = _checked_rows(ragged)
    for (row, i), x in zip(places, ragged, strict=True):
        row[i] = x.flat_values
    if conditions:
        row, i = places[0]
        row[i] = checked(ragged[0].flat_values, conditions, INCOMPATIBLE)
    keywords = {str(name): x for name, x in zip(names, items, strict=True) if name in kwargs}
    result = convert_to_tensor(cast("TensorLike", op(*items[: len(args)], **keywords)))
    shape = result.get_shape()
    known = None if not shape.rank else shape.as_list()[0]
    expected = next(iter(counts), None)
    if shape.rank == 0 or (None not in (known, expected) and known != expected):
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same "
            f"outer-dimension size as flat_values of any ragged inputs. (output shape: {shape}; "
            f"expected outer dimension size: {expected})"
        )
    return wrapped(result, rows)


def flat_operands(*operands: object) -> tuple[Tensor, ...]:
    """The innermost values of ragged operands, in rows that are checked to be the same."""
    values: list[Tensor] = []

    def collect(*parts: object) -> Tensor:
        values.extend(convert_to_tensor(cast("TensorLike", part)) for part in parts)
        return values[0]

    of_flat_values(collect, *operands)
    return tuple(values)


def wrapped(values: Tensor | RaggedTensor, rows: Sequence[RowPartition]) -> RaggedTensor:
    """Values in rows of rows, from the outside in."""
    result: Tensor | RaggedTensor = values
    for level in reversed(rows):
        result = RaggedTensor(result, level)
    return cast("RaggedTensor", result)


def _is_wide(x: object, first: RaggedTensor) -> bool:
    """Whether a dense operand has dimensions that stand against ragged ones."""
    if not isinstance(x, (Tensor, np.ndarray, list, tuple)):
        return False
    rank = rank_of(convert_to_tensor(cast("TensorLike", x)))
    if rank is None or rank == 0:
        return False
    whole = rank_of(first)
    return whole is not None and rank >= whole - first.ragged_rank


def _is_alike(first: RaggedTensor, other: RaggedTensor) -> bool:
    """Whether two have rows of one form, so that they must be the same ones."""
    if first is other or first.nested_row_splits == other.nested_row_splits:
        return True
    ranks = rank_of(first), rank_of(other)
    if first.ragged_rank != other.ragged_rank or ranks[0] != ranks[1] or None in ranks:
        return False
    if any(rows.uniform is not None for x in (first, other) for rows in x.nested_rows):
        return False
    counts = first.rows.known_count, other.rows.known_count
    return None in counts or counts[0] == counts[1]


def _checked_rows(ragged: Sequence[RaggedTensor]) -> tuple[Sequence[RowPartition], list[Tensor]]:
    """The rows of ragged tensors, and the conditions that they are those of all."""
    first = same_index_type(ragged)[0]
    rows = cast("RaggedTensor", first).nested_rows
    conditions: list[Tensor] = []
    for other in ragged[1:]:
        for a, b in zip(ragged[0].nested_row_splits, other.nested_row_splits, strict=True):
            if a is not b:
                conditions.append(same_splits(a, b))
    return rows, conditions


def same_splits(a: Tensor, b: Tensor) -> Tensor:
    """Whether two lists of splits are equal."""
    wide = [ops.Cast(x, DstT=np.dtype(np.int64)) for x in (a, b)]
    equal = ops.All(ops.Equal(ops.Shape(wide[0]), ops.Shape(wide[1])), _ZERO)
    shorter = ops.Minimum(ops.Size(wide[0]), ops.Size(wide[1]))
    starts = [ops.Slice(x, np.zeros(1, np.int32), ops.ExpandDims(shorter, 0)) for x in wide]
    return ops.LogicalAnd(equal, ops.All(ops.Equal(*starts), _ZERO))


class _Levels:
    """A tensor as rows of rows, as many levels deep as asked, behind outer dimensions of size 1.

    Attributes:
        lengths: For each level the number of items of each row.
        is_one: For each level whether all sizes are 1 and may be repeated; None: never.
        values: The items of the last level.
    """

    def __init__(self, x: Tensor | RaggedTensor, rank: int, depth: int):
        self.lengths: list[Tensor] = []
        self.is_one: list[Tensor | None] = []
        own_rank = cast("int", rank_of(x))
        one = convert_to_tensor(np.ones(1, np.int64))
        for _ in np.arange(rank - own_rank).tolist()[:depth]:
            self._add(one, convert_to_tensor(np.bool_(True)))
        remaining = depth - len(self.lengths)
        if remaining > 0:
            count = _long(x.rows.nrows()) if isinstance(x, RaggedTensor) else _size(x, 0)
            self._add(ops.ExpandDims(count, _ZERO), ops.Equal(count, np.int64(1)))
            remaining -= 1
        while remaining > 0 and isinstance(x, RaggedTensor):
            uniform = x.rows.uniform
            single = None if uniform is None else ops.Equal(_long(uniform), np.int64(1))
            self._add(_long(x.rows.lengths()), single)
            x, remaining = x.values, remaining - 1
        dense = x.flat_values if isinstance(x, RaggedTensor) else x
        if remaining > 0:
            sizes = ops.Shape(dense, out_type=np.dtype(np.int64))
            for axis in np.arange(1, remaining + 1).tolist():
                rows = ops.Prod(ops.StridedSlice(sizes, [0], [axis], [1]), _ZERO)
                size = ops.StridedSlice(sizes, [axis], [axis + 1], [1], shrink_axis_mask=1)
                self._add(ops.Fill(ops.ExpandDims(rows, _ZERO), size), ops.Equal(size, np.int64(1)))
            inner = ops.StridedSlice(sizes, [remaining + 1], [0], [1], end_mask=1)
            shape = ops.ConcatV2([np.array([-1], np.int64), inner], _ZERO)
            dense = ops.Reshape(dense, shape)
        elif own_rank < rank - depth + 1:
            dense = ops.ExpandDims(dense, _ZERO)
        self.values = dense

    def _add(self, lengths: Tensor, is_one: Tensor | None) -> None:
        self.lengths.append(lengths)
        self.is_one.append(is_one)


def _long(x: Tensor) -> Tensor:
    return x if x.dtype == np.int64 else ops.Cast(x, DstT=np.dtype(np.int64))


def _size(x: Tensor, axis: int) -> Tensor:
    sizes = ops.Shape(x, out_type=np.dtype(np.int64))
    return ops.StridedSlice(sizes, [axis], [axis + 1], [1], shrink_axis_mask=1)


def broadcast(
    tensors: Sequence[Tensor | RaggedTensor],
) -> tuple[list[Tensor], list[RowPartition]]:
    """Innermost values of tensors repeated to common rows, and these rows from the outside in.

    The dimensions within the rows are left as they are.

    Raises ValueError when a rank is not known; InvalidArgumentError, when it runs, for sizes that
    do not broadcast.
    """
    ranks = [rank_of(x) for x in tensors]
    if None in ranks:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(cast("list[int]", ranks))
    depth = max(
        rank - cast("int", n) + x.ragged_rank + 1
        for x, n in zip(tensors, ranks, strict=True)
        if isinstance(x, RaggedTensor)
    )
    parts = [_Levels(x, rank, depth) for x in tensors]
    nodes = [convert_to_tensor(np.zeros(1, np.int64)) for _ in parts]
    rows: list[RowPartition] = []
    for level in np.arange(depth).tolist():
        lengths = [
            ops.GatherV2(part.lengths[level], node, _ZERO)
            for part, node in zip(parts, nodes, strict=True)
        ]
        common = _common(lengths, [part.is_one[level] for part in parts])
        ends = ops.Cumsum(common, _ZERO)
        splits = ops.ConcatV2([np.zeros(1, np.int64), ends], _ZERO)
        partition = RowPartition(splits, lengths=common)
        rowids, columns = partition.rowids(), partition.columns()
        for i, part in enumerate(parts):
            row_lengths = part.lengths[level]
            starts = ops.Cumsum(row_lengths, _ZERO, exclusive=True)
            base = ops.GatherV2(ops.GatherV2(starts, nodes[i], _ZERO), rowids, _ZERO)
            is_one = part.is_one[level]
            offset = columns
            if is_one is not None:
                offset = ops.SelectV2(is_one, ops.ZerosLike(columns), columns)
            nodes[i] = ops.AddV2(base, offset)
        rows.append(partition)
    values = [
        ops.GatherV2(part.values, node, _ZERO) for part, node in zip(parts, nodes, strict=True)
    ]
    dtypes = {x.rows.dtype for x in tensors if isinstance(x, RaggedTensor)}
    kind = dtypes.pop() if len(dtypes) == 1 else np.dtype(np.int64)
    return values, [level.of_type(kind) for level in rows[1:]]


def _common(lengths: list[Tensor], ones: list[Tensor | None]) -> Tensor:
    """The sizes that several broadcast to."""
    common, one = lengths[0], ones[0]
    for other, other_one in zip(lengths[1:], ones[1:], strict=True):
        chosen = common if one is None else ops.SelectV2(one, other, common)
        against = other if other_one is None else ops.SelectV2(other_one, chosen, other)
        equal = ops.All(ops.Equal(chosen, against), _ZERO)
        common = checked(chosen, [equal], "Incompatible shapes: ragged rows do not broadcast")
        if one is not None:
            one = None if other_one is None else ops.LogicalAnd(one, other_one)
    return common


def flat(x: TensorLike | RaggedTensor | RaggedTensorValue) -> Tensor:
    """The innermost values of a ragged tensor; of anything else its tensor."""
    tensor = as_ragged(x)
    return tensor.flat_values if isinstance(tensor, RaggedTensor) else tensor


def positions(partition: RowPartition, starts: Tensor) -> Tensor:
    """For rows that begin at `starts` among other values: where each of their values is there."""
    return ops.AddV2(ops.GatherV2(starts, partition.rowids(), _ZERO), partition.columns())


def of_lengths(lengths: Tensor) -> RowPartition:
    """Rows of these lengths."""
    dtype = np.dtype(lengths.dtype)
    splits = ops.ConcatV2([np.zeros(1, dtype), ops.Cumsum(lengths, _ZERO)], _ZERO)
    return RowPartition(splits, lengths=lengths)


def numbers(x: Tensor | RaggedTensor, dtype: DTypeLike = np.int64) -> Tensor:
    """0, 1, ... for the rows of a tensor."""
    if isinstance(x, RaggedTensor):
        return counted(x.rows.nrows(dtype))
    return counted(ops.Cast(_size(x, 0), DstT=np.dtype(dtype)))


def expanded(x: Tensor | RaggedTensor, axis: int) -> Tensor | RaggedTensor:
    """A dimension of size 1 before `axis`, which is not negative."""
    if isinstance(x, Tensor):
        return ops.ExpandDims(x, np.int32(axis))
    if axis > 1:
        return x.with_values(expanded(x.values, axis - 1))
    count, one = x.rows.nrows(), x.rows.dtype.type(1)
    length, n = (count, one) if axis == 0 else (one, count)
    return RaggedTensor.from_uniform_row_length(x, length, n, validate=False)


def squeezed(x: Tensor | RaggedTensor, axis: int) -> Tensor | RaggedTensor:
    """Without a dimension of size 1."""
    if isinstance(x, Tensor):
        return ops.Squeeze(x, squeeze_dims=[axis])
    if axis > 1:
        return x.with_values(squeezed(x.values, axis - 1))
    one = x.rows.dtype.type(1)
    sizes = ops.ExpandDims(x.rows.nrows(), _ZERO) if axis == 0 else x.rows.lengths()
    are_one = ops.All(ops.Equal(sizes, one), _ZERO)
    words = f"Expected size of dimension {axis} to be 1"
    values = x.values
    if isinstance(values, Tensor):
        return checked(values, [are_one], words)
    return values.with_flat_values(checked(values.flat_values, [are_one], words))
