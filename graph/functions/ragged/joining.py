"""Ragged tensors side by side and in parts: `concat`, `stack`, `split`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import is_ragged, ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import RowPartition, checked
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.shapes import whole
from .operands import as_ragged, positive_axis, rank_of, same_index_type
from .picking import gather_rows, slice_rows
from .rows import expanded
from .values import same_splits

if TYPE_CHECKING:
    from ...core.typing import TensorLike

_ZERO = np.int32(0)
_FLAT = np.array([-1], np.int32)
Part = Tensor | RaggedTensor


def _parts(values: object) -> list[Part]:
    """The items of a list, of one type."""
    if is_ragged(values) or not isinstance(values, (list, tuple)):
        values = [values]
    items = cast("Sequence[TensorLike]", values)
    if not items:
        raise ValueError("rt_inputs may not be empty.")
    dtype = next((x.dtype for x in items if isinstance(x, (Tensor, RaggedTensor))), None)
    parts = [as_ragged(x, preferred_dtype=dtype) for x in items]
    return same_index_type(parts)


@ragged("concat")
def concat(values: object, axis: TensorLike, name: str | None = None) -> Part:
    """Ragged tensors, and tensors, one after the other along `axis`.

    Raises ValueError for an axis out of bounds; InvalidArgumentError, when it runs, for different
    sizes of the dimensions before it.
    """
    with name_scope(name, "RaggedConcat"):
        parts = _parts(values)
        ranks = [n for n in map(rank_of, parts) if n is not None]
        place = positive_axis(axis, ranks[0] if ranks else None)
        return parts[0] if len(parts) == 1 else joined(parts, place)


@ragged("stack")
def stack(values: object, axis: int = 0, name: str | None = None) -> Part:
    """Ragged tensors, and tensors of any sizes, along a new dimension `axis`."""
    with name_scope(name, "RaggedConcat"):
        parts = _parts(values)
        ranks = [n for n in map(rank_of, parts) if n is not None]
        place = positive_axis(axis, ranks[0] + 1 if ranks else None)
        if all(n == 0 for n in map(rank_of, parts)):
            return ops.Pack(cast("list[Tensor]", parts), axis=place)
        if place == 0 and all(rank_of(x) == 1 for x in parts):
            vectors = cast("list[Tensor]", parts)
            flat = vectors[0] if len(vectors) == 1 else ops.ConcatV2(vectors, _ZERO)
            lengths = ops.Pack([ops.Size(x) for x in vectors])
            return RaggedTensor.from_row_lengths(flat, lengths, validate=False)
        rank = ranks[0] if ranks else None
        if rank is not None and not any(isinstance(x, RaggedTensor) for x in parts):
            if place >= rank - 1:
                return ops.Pack(cast("list[Tensor]", parts), axis=place)
            parts = [RaggedTensor.from_tensor(cast("Tensor", x)) for x in parts]
        if len(parts) == 1:
            return expanded(parts[0], place)
        return joined([_rows(expanded(part, place)) for part in parts], place)


def _rows(x: Part) -> Part:
    return x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x)


def joined(parts: Sequence[Part], axis: int) -> Part:
    """Parts one after the other along an axis that is not negative."""
    if all(isinstance(part, Tensor) for part in parts) and not (axis == 0 and _differ(parts)):
        return ops.ConcatV2(list(cast("list[Tensor]", parts)), np.int32(axis))
    listed = same_index_type([_rows(part) for part in parts])
    rows = cast("list[RaggedTensor]", listed)
    if axis == 0:
        return _behind(rows)
    first = rows[0]
    if axis == 1:
        return _within(rows)
    words = "Input tensors have incompatible shapes."
    conditions = [
        same_splits(first.row_splits, other.row_splits)
        for other in rows[1:]
        if other.row_splits is not first.row_splits
    ]
    splits = checked(first.row_splits, conditions, words)
    uniform = first.rows.uniform
    values = joined([x.values for x in rows], axis - 1)
    return RaggedTensor(values, RowPartition(splits, uniform=uniform))


def _differ(parts: Sequence[Part]) -> bool:
    """Whether rows of tensors are known to be of several sizes."""
    sizes = [part.sizes for part in parts if isinstance(part, Tensor)]
    return len({size[1:] for size in sizes if size is not None and None not in size}) > 1


def _behind(rows: Sequence[RaggedTensor]) -> RaggedTensor:
    lengths = ops.ConcatV2([x.rows.lengths() for x in rows], _ZERO)
    dtype = np.dtype(lengths.dtype)
    splits = ops.ConcatV2([np.zeros(1, dtype), ops.Cumsum(lengths, _ZERO)], _ZERO)
    uniform = [x.rows.known_length for x in rows]
    same = uniform[0] is not None and len(set(uniform)) == 1
    partition = RowPartition(splits, lengths, uniform=rows[0].rows.uniform if same else None)
    return RaggedTensor(joined([x.values for x in rows], 0), partition)


def _within(rows: Sequence[RaggedTensor]) -> RaggedTensor:
    """Row i of each, one after the other, as row i."""
    n, count = rows[0].rows.nrows(), len(rows)
    for i, other in enumerate(rows[1:], 1):
        words = f"Input tensors at index 0 (=x) and {i} (=y) have incompatible shapes."
        n = checked(n, [ops.Equal(n, other.rows.nrows())], words)
    behind = _behind(rows)
    dtype = behind.rows.dtype
    total = ops.Mul(n, dtype.type(count))
    numbers = ops.Range(dtype.type(0), total, dtype.type(1))
    grid = ops.Reshape(numbers, ops.Pack([convert_to_tensor(dtype.type(count)), n]))
    order = ops.Reshape(ops.Transpose(grid, np.array([1, 0], np.int32)), _FLAT)
    mixed = cast("RaggedTensor", gather_rows(behind, order))
    splits = ops.StridedSlice(mixed.row_splits, [0], [0], [count], begin_mask=1, end_mask=1)
    return RaggedTensor(mixed.values, RowPartition(splits))


@ragged("split")
def split(
    value: TensorLike | RaggedTensor,
    num_or_size_splits: object,
    axis: TensorLike = 0,
    num: int | None = None,
    name: str | None = None,
) -> list[Part]:
    """Parts along `axis`, which is not ragged: so many equal ones, or of the given sizes.

    Raises ValueError for a ragged dimension; InvalidArgumentError, when it runs, for sizes that do
    not add up.
    """
    with name_scope(name, "RaggedSplit"):
        x = as_ragged(value)
        place = positive_axis(axis, rank_of(x))
        if isinstance(num_or_size_splits, int) and num_or_size_splits == 1:
            return [x]
        if isinstance(x, RaggedTensor) and 1 <= place <= x.ragged_rank:
            level = x.nested_rows[place - 1]
            if level.uniform is None:
                raise ValueError(f"Cannot split along ragged dimension {place}")
        if isinstance(num_or_size_splits, (int, np.integer)):
            count = int(cast("int", num_or_size_splits))
            if count < 1:
                raise ValueError(f"`num_or_size_splits` must be >=1 if it is an int, got {count}")
            return _split(x, place, count, None)
        items: Sequence[object] = ()
        if isinstance(num_or_size_splits, (list, tuple)):
            items = cast("Sequence[object]", num_or_size_splits)
        if any(isinstance(item, (list, tuple)) for item in items):
            raise TypeError("`num_or_size_splits` must be a Python list of ints, or a 1-D tensor")
        sizes = convert_to_tensor(cast("TensorLike", num_or_size_splits))
        if sizes.dtype.kind != "i":
            raise TypeError(
                f"`num_or_size_splits` must be an integer tensor, got {sizes.dtype.name}"
            )
        if sizes.sizes is not None and len(sizes.sizes) != 1:
            raise TypeError("`num_or_size_splits` must be a Python list of ints, or a 1-D tensor")
        known = None if sizes.sizes is None else sizes.sizes[0]
        if known is None and num is None:
            raise ValueError("`num` must be specified where it does not follow from the sizes")
        if known is not None and num is not None and known != num:
            raise ValueError(f"`num` does not match the number of sizes: {num} and {known}")
        return _split(x, place, cast("int", known if num is None else num), sizes)


def _split(x: Part, axis: int, count: int, sizes: Tensor | None) -> list[Part]:
    if isinstance(x, Tensor):
        if sizes is None:
            return [*ops.Split(np.int32(axis), x, num_split=count)]
        return [*ops.SplitV(x, sizes, np.int32(axis), num_split=count)]
    if axis > 0 and not (axis == 1 and x.rows.uniform is not None):
        return [x.with_values(part) for part in _split(x.values, axis - 1, count, sizes)]
    dtype = x.rows.dtype
    whole_size = x.rows.nrows() if axis == 0 else cast("Tensor", x.rows.uniform)
    bounds = _bounds(whole_size, count, sizes, dtype)
    pairs = [(bounds[i], bounds[i + 1]) for i in np.arange(count).tolist()]
    if axis == 0:
        return [slice_rows(x, begin, end) for begin, end in pairs]
    return [_columns(x, begin, end) for begin, end in pairs]


def _columns(x: RaggedTensor, begin: Tensor, end: Tensor) -> RaggedTensor:
    """The same items of each of the rows, which are of one length."""
    size, n = ops.Sub(end, begin), x.rows.nrows()
    starts = ops.ExpandDims(ops.AddV2(x.rows.starts(), begin), np.int32(1))
    dtype = x.rows.dtype
    columns = ops.Range(dtype.type(0), size, dtype.type(1))
    at = ops.Reshape(ops.AddV2(starts, columns), _FLAT)
    return RaggedTensor.from_uniform_row_length(gather_rows(x.values, at), size, n, validate=False)


def _bounds(size: Tensor, count: int, sizes: Tensor | None, dtype: np.dtype) -> Tensor:
    """Where the parts begin, and the last one ends."""
    words = "Cannot exactly split"
    number = dtype.type(count)
    if sizes is None:
        even = ops.Equal(ops.FloorMod(size, number), dtype.type(0))
        each = checked(ops.FloorDiv(size, number), [even], words)
        return ops.Mul(np.arange(count + 1, dtype=dtype), each)
    lengths = ops.Reshape(ops.Cast(sizes, DstT=dtype), _FLAT)
    if whole(sizes.value) is None and (sizes.sizes is None or sizes.sizes[0] is None):
        right = ops.Equal(ops.Size(lengths), np.int32(count))
        lengths = checked(lengths, [right], "`num` is inconsistent with the number of sizes")
    zero = dtype.type(0)
    fits = ops.Equal(ops.Sum(lengths, _ZERO), size)
    lengths = checked(
        lengths,
        [ops.All(ops.GreaterEqual(lengths, zero), _ZERO)],
        "`num_or_size_splits` must be non-negative",
    )
    lengths = checked(lengths, [fits], words)
    return ops.ConcatV2([np.zeros(1, dtype), ops.Cumsum(lengths, _ZERO)], _ZERO)
