"""Dimensions of ragged tensors: put in, taken out, merged, repeated, reversed, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import RowPartition
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.shapes import whole
from ..arguments import one_of
from ..array import creation
from .operands import as_ragged, positive_axis, rank_of
from .picking import gather_rows, reversed_numbers, rows_in_steps
from .rows import expanded, of_lengths, squeezed

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike

_ZERO = np.int32(0)
_FLAT = np.array([-1], np.int32)


@ragged("expand_dims")
def expand_dims(
    input: TensorLike | RaggedTensor,
    axis: TensorLike | None = None,
    name: str | None = None,
    dim: TensorLike | None = None,
) -> Tensor | RaggedTensor:
    """A dimension of size 1 before `axis`."""
    where = one_of("axis", axis, "dim", dim)
    if where is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    with name_scope(name, "RaggedExpandDims"):
        x = as_ragged(input)
        rank = rank_of(x)
        return expanded(x, positive_axis(where, None if rank is None else rank + 1))


@ragged("reshape")
def reshape(
    tensor: TensorLike | RaggedTensor, shape: TensorLike, name: str | None = None
) -> Tensor:
    """The innermost values in a shape that is not ragged."""
    with name_scope(name, "RaggedReshape"):
        x = cast("RaggedTensor", as_ragged(tensor))
        return ops.Reshape(x.flat_values, shape)


@ragged("squeeze")
def squeeze(
    input: TensorLike | RaggedTensor,
    axis: int | Sequence[int] | np.ndarray | None = None,
    name: str | None = None,
    squeeze_dims: int | Sequence[int] | np.ndarray | None = None,
) -> Tensor | RaggedTensor:
    """Without the dimensions of size 1 that `axis` names.

    Raises ValueError without `axis`; InvalidArgumentError, when it runs, for other sizes.
    """
    where = one_of("axis", axis, "squeeze_dims", squeeze_dims)
    if where is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    if isinstance(where, Tensor) or not isinstance(where, (int, list, tuple, np.ndarray)):
        raise TypeError(f"Ragged.squeeze takes a list of ints as axis, got {where!r}")
    with name_scope(name, "RaggedSqueeze"):
        x = as_ragged(input)
        rank = rank_of(x)
        listed = cast("Sequence[object]", where if isinstance(where, (list, tuple)) else
                      np.atleast_1d(np.asarray(where)).tolist())  # fmt: skip
        axes = {positive_axis(item, rank) for item in listed}
        for place in sorted(axes, reverse=True):
            x = squeezed(x, place)
        return x


@ragged("merge_dims")
def merge_dims(x: RaggedTensor, outer_axis: int, inner_axis: int) -> Tensor | RaggedTensor:
    """One dimension in the place of those from `outer_axis` to `inner_axis`.

    Raises TypeError and ValueError for axes that are no ints, do not exist, or come in the wrong
    order.
    """
    rank = rank_of(x)
    outer = positive_axis(outer_axis, rank, "outer_axis")
    inner = positive_axis(inner_axis, rank, "inner_axis")
    if outer > inner:
        raise ValueError(
            f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis "
            f"({inner_axis})."
        )
    return merged(x, outer, inner)


def merged(x: Tensor | RaggedTensor, outer: int, inner: int) -> Tensor | RaggedTensor:
    """One dimension in the place of several, whose axes are not negative."""
    if outer == inner:
        return x
    if isinstance(x, Tensor):
        sizes = ops.Shape(x)
        parts = [sizes[:outer], np.array([-1], np.int32), sizes[inner + 1 :]]
        return ops.Reshape(x, ops.ConcatV2(parts, _ZERO))
    if outer > 1:
        return x.with_values(merged(x.values, outer - 1, inner - 1))
    if outer == 1:
        return _merged_rows(x, inner)
    values = x.values
    return merged(values, 0, inner - 1)


def _merged_rows(x: RaggedTensor, inner: int) -> RaggedTensor:
    """The dimensions from 1 to `inner` as one."""
    values = x.values
    if isinstance(values, Tensor):
        sizes = ops.Shape(values, out_type=x.rows.dtype)
        each = ops.Prod(ops.StridedSlice(sizes, [1], [inner], [1]), _ZERO)
        uniform = x.rows.uniform
        rows = RowPartition(
            ops.Mul(x.row_splits, each),
            uniform=None if uniform is None else ops.Mul(uniform, each),
        )
        return RaggedTensor(merged(values, 0, inner - 1), rows)
    splits = ops.GatherV2(values.row_splits, x.row_splits, _ZERO)
    both = x.rows.uniform, values.rows.uniform
    uniform = None if both[0] is None or both[1] is None else ops.Mul(both[0], both[1])
    result = RaggedTensor(values.values, RowPartition(splits, uniform=uniform))
    return result if inner == 2 else _merged_rows(result, inner - 1)


@ragged("tile")
def tile(
    input: TensorLike | RaggedTensor, multiples: TensorLike, name: str | None = None
) -> Tensor | RaggedTensor:
    """Each dimension as often as `multiples` says."""
    with name_scope(name, "RaggedTile"):
        x = as_ragged(input)
        times = convert_to_tensor(multiples, name="multiples")
        times.get_shape().assert_has_rank(1)
        return x if isinstance(x, Tensor) else _tiled(x, times)


def _tiled(x: RaggedTensor, times: Tensor) -> Tensor | RaggedTensor:
    values = x.values
    if isinstance(values, RaggedTensor):
        inner: Tensor | RaggedTensor = _tiled_within(values, times[1:])
    else:
        each = ops.ConcatV2([np.ones(1, np.dtype(times.dtype)), times[2:]], _ZERO)
        inner = values if times.sizes == (2,) else ops.Tile(values, each)
    rows = _repeated_rows(RaggedTensor(inner, x.rows), times[1])
    return _tiled_rows(rows, times[0])


def _tiled_within(x: RaggedTensor, times: Tensor) -> RaggedTensor:
    """All dimensions but the first."""
    one = ops.ConcatV2([np.ones(1, np.dtype(times.dtype)), times[1:]], _ZERO)
    return cast("RaggedTensor", _tiled(x, one))


def _is_single(n: Tensor) -> bool:
    value = whole(n.value)
    return value is not None and int(value) == 1


def _tiled_rows(x: RaggedTensor, n: Tensor) -> Tensor | RaggedTensor:
    if _is_single(n):
        return x
    count = x.rows.nrows()
    numbers = ops.Range(x.rows.dtype.type(0), count, x.rows.dtype.type(1))
    return gather_rows(x, ops.Tile(numbers, ops.ExpandDims(n, _ZERO)))


def _repeated_rows(x: RaggedTensor, n: Tensor) -> RaggedTensor:
    """Each row so often, one after the other."""
    if _is_single(n):
        return x
    lengths = x.rows.lengths()
    partition = of_lengths(ops.Mul(lengths, ops.Cast(n, DstT=x.rows.dtype)))
    ids = partition.rowids()
    column = ops.FloorMod(partition.columns(), ops.GatherV2(lengths, ids, _ZERO))
    at = ops.AddV2(ops.GatherV2(x.rows.starts(), ids, _ZERO), column)
    return RaggedTensor(gather_rows(x.values, at), partition)


@ragged("reverse")
def reverse(
    tensor: TensorLike | RaggedTensor, axis: TensorLike, name: str | None = None
) -> Tensor | RaggedTensor:
    """The items along the axes in reverse order.

    Raises TypeError unless the axes are known.
    """
    words = (
        "`axis` must be a list of int or a constant tensor when reversing axes in a ragged tensor"
    )
    with name_scope(name, "Reverse"):
        x = as_ragged(tensor)
        listed: Sequence[object]
        if isinstance(axis, Tensor):
            value = whole(axis.value)
            if value is None:
                raise TypeError(words)
            listed = cast("Sequence[object]", value.ravel().tolist())
        elif isinstance(axis, (list, tuple, np.ndarray)):
            listed = cast("Sequence[object]", list(axis))
        else:
            raise TypeError(words)
        if not all(isinstance(item, (int, np.integer)) for item in listed):
            raise TypeError(words)
        for place in sorted({positive_axis(item, rank_of(x)) for item in listed}):
            x = _reversed(x, place)
        return x


def _reversed(x: Tensor | RaggedTensor, axis: int) -> Tensor | RaggedTensor:
    if isinstance(x, Tensor):
        return ops.ReverseV2(x, np.array([axis], np.int32))
    if axis > 1:
        return x.with_values(_reversed(x.values, axis - 1))
    if axis == 0:
        return gather_rows(x, reversed_numbers(x.rows.nrows()))
    lengths, one = x.rows.lengths(), x.rows.dtype.type(1)
    turned = rows_in_steps(x, ops.Sub(lengths, one), convert_to_tensor(-one), lengths)
    return RaggedTensor(turned.values, x.rows)


@ragged("size")
def size(
    input: TensorLike | RaggedTensor, name: str | None = None, out_type: DTypeLike = np.int32
) -> Tensor:
    """How many values there are."""
    x = as_ragged(input)
    values = x.flat_values if isinstance(x, RaggedTensor) else x
    return ops.Size(values, out_type=np.dtype(out_type), name=name)


@ragged("rank")
def rank(input: TensorLike | RaggedTensor, name: str | None = None) -> Tensor:
    """How many dimensions there are."""
    with name_scope(name, "RaggedRank"):
        x = as_ragged(input)
        if isinstance(x, Tensor):
            return ops.Rank(x)
        return ops.AddV2(ops.Rank(x.flat_values), np.int32(x.ragged_rank))


@ragged("one_hot")
def one_hot(
    indices: TensorLike | RaggedTensor,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> RaggedTensor:
    """A row of `depth` elements for each index; `axis` must be behind the ragged dimensions."""
    x = cast("RaggedTensor", as_ragged(indices))
    if axis is not None and axis >= 0:
        if axis <= x.ragged_rank:
            raise ValueError(
                f"axis ({axis}) must be greater than indices.ragged_rank ({x.ragged_rank})."
            )
        axis -= x.ragged_rank
    with name_scope(name, "RaggedOneHot"):
        values = creation.one_hot(x.flat_values, depth, on_value, off_value, axis, dtype)
        return x.with_flat_values(values)
