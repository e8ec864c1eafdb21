"""Functions of ragged tensors: `tf.ragged`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import has_ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.ragged_value import RaggedTensorValue
from ...core.composite.row_partition import checked
from ...core.create import constant as tensor_constant
from ...core.create import convert_to_tensor as tensor_of
from ...core.dtype import as_numpy
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.tensor_shape import as_shape
from ..array import creation
from . import crossing, joining
from .nested_lists import Parsed, parse
from .operands import as_ragged
from .partitions import stacked
from .picking import gather_rows
from .rows import of_lengths
from .values import mapped, same_splits

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...core.typing import DTypeLike, ShapeLike, TensorLike

_FLAT = np.array([-1], np.int32)


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

    Raises ValueError when values stand at different depths, or do not suit the other arguments.
    """
    with name_scope(name, "RaggedConstant"):
        parsed = parse(pylist, ragged_rank, inner_shape)
        if parsed is None:
            if dtype is None and isinstance(pylist, (list, tuple)) and not pylist:
                dtype = np.float32
            return tensor_constant(cast("TensorLike", pylist), dtype, inner_shape)
        values: Tensor | RaggedTensor = tensor_constant(*_flat(parsed, dtype))
        index_type = np.dtype(row_splits_dtype)
        for numbers in reversed(parsed.splits):
            splits = tensor_constant(np.array(numbers, index_type))
            values = RaggedTensor.from_row_splits(values, splits, validate=False)
        return values


def _flat(
    parsed: Parsed, dtype: DTypeLike | None
) -> tuple[TensorLike, DTypeLike | None, Sequence[int]]:
    """The arguments of a constant of the innermost values."""
    shape = [len(parsed.values), *parsed.inner_shape]
    if 0 in shape:
        return np.zeros(shape, np.float32) if dtype is None else [], dtype, shape
    values = cast("TensorLike", parsed.values)
    if dtype is None and all(isinstance(x, np.ndarray) for x in parsed.values):
        values = np.array(parsed.values)
    return values, dtype, shape


def ragged_range(
    starts: TensorLike,
    limits: TensorLike | None = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = np.int64,
) -> RaggedTensor:
    """A row start, start + delta, ... below its limit, of each start; with limits alone from 0.

    Args:
        starts, limits, deltas: Numbers of one type, [rows] or scalars.
        dtype: Of the result: int32, int64, float32 or float64.
        name: Of the operation.
        row_splits_dtype: int32 or int64.

    Raises InvalidArgumentError, when it runs, for a delta of 0.
    """
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange"):
        numbers = [tensor_of(x, dtype) for x in (starts, limits, deltas)]
        if dtype is None:
            common = _widest([np.dtype(x.dtype) for x in numbers])
            numbers = [x if x.dtype == common else ops.Cast(x, DstT=common) for x in numbers]
        splits, values = ops.RaggedRange(*numbers, Tsplits=as_numpy(row_splits_dtype))
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def _widest(dtypes: Sequence[np.dtype]) -> np.dtype:
    """The last of these in the order of number types."""
    order = [np.dtype(t) for t in (np.int32, np.int64, np.float32, np.float64)]
    return max((np.dtype(t) for t in dtypes), key=order.index)


def row_splits_to_segment_ids(
    splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None
) -> Tensor:
    """The row of each value, of rows that begin and end at `splits`."""
    with name_scope(name, "RaggedSplitsToSegmentIds"):
        bounds = tensor_of(splits, preferred_dtype=np.int64)
        if bounds.dtype not in (np.int32, np.int64):
            raise ValueError(f"splits must have dtype int32 or int64, got {bounds.dtype.name}")
        bounds.get_shape().assert_has_rank(1)
        if bounds.sizes == (0,):
            raise ValueError("Invalid row_splits: []")
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
    """[num_segments + 1]: where each row begins and the last one ends, of values in these rows.

    Args:
        segment_ids: [n], int32 or int64, the row of each value, never falling.
        num_segments: How many rows; one more than the last id by default.
        out_type: Of the result.
        name: Of the operations.
    """
    with name_scope(name, "SegmentIdsToRaggedSplits"):
        ids = tensor_of(segment_ids, preferred_dtype=np.int64)
        if ids.dtype not in (np.int32, np.int64):
            raise TypeError(
                "Argument `tensor` (name: segment_ids) must be of type integer. Received "
                f"`tensor` = {ids} of dtype: {ids.dtype.name}"
            )
        ids.get_shape().assert_has_rank(1)
        dtype = ids.dtype if out_type is None else np.dtype(out_type)
        rows = RaggedTensor.from_value_rowids(ids, ids, num_segments, validate=False)
        return ops.Cast(rows.row_splits, DstT=dtype)


def map_flat_values(op: Callable[..., object], *args: object, **kwargs: object) -> object:
    """`op` of the innermost values of ragged tensors, in rows as theirs.

    Raises ValueError for what is known to have other rows, and for results of another size;
    InvalidArgumentError, when it runs, unless all have the same rows.
    """
    if not has_ragged(*args, *kwargs.values()):
        return op(*args, **kwargs)
    return mapped(op, args, kwargs)


def stack(
    values: Sequence[TensorLike | RaggedTensor], axis: int = 0, name: str | None = None
) -> RaggedTensor | Tensor:
    """Tensors of any sizes, and ragged ones, along a new dimension `axis`.

    Args:
        values: A list of tensors and RaggedTensors of one type and rank.
        axis: From -rank - 1 to rank.
        name: Of the operations.

    Raises ValueError without any, and for an axis out of bounds.
    """
    return joining.stack(values, axis, name)


def boolean_mask(
    data: TensorLike | RaggedTensor, mask: TensorLike | RaggedTensor, name: str | None = None
) -> Tensor | RaggedTensor:
    """The values where a mask of the same rows is true, or the rows where one of rows is.

    Raises ValueError for a mask that is no bool, a scalar, or of unknown rank;
    InvalidArgumentError, when it runs, unless it has the rows of `data`.
    """
    with name_scope(name, "RaggedMask"):
        flags = as_ragged(mask, np.bool_)
        rank = flags.get_shape().rank
        if rank is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if rank == 0:
            raise ValueError("mask cannot be scalar.")
        if isinstance(flags, Tensor) and rank > 1:
            flags = RaggedTensor.from_tensor(flags, ragged_rank=rank - 1)
        if isinstance(flags, RaggedTensor) and flags.ragged_rank < rank - 1:
            depth = rank - 1 - flags.ragged_rank
            dtype = flags.rows.dtype
            inner = RaggedTensor.from_tensor(
                flags.flat_values, ragged_rank=depth, row_splits_dtype=dtype
            )
            flags = flags.with_flat_values(inner)
        x = as_ragged(data)
        x.get_shape()[:rank].assert_is_compatible_with(flags.get_shape())
        return _masked(x, flags)


def _masked(x: Tensor | RaggedTensor, flags: Tensor | RaggedTensor) -> Tensor | RaggedTensor:
    if isinstance(flags, Tensor):
        return gather_rows(x, ops.Reshape(ops.Where(flags), _FLAT))
    if isinstance(x, Tensor):
        x = RaggedTensor.from_tensor(x, ragged_rank=flags.ragged_rank)
    if x.rows.dtype != flags.rows.dtype:
        x, flags = (part.with_row_splits_dtype(np.int64) for part in (x, flags))
    inner = flags.flat_values
    same = same_splits(x.row_splits, flags.row_splits)
    inner = checked(inner, [same], "Inputs must have identical ragged splits")
    flags = flags.with_flat_values(inner)
    values = _masked(x.values, flags.values)
    if isinstance(flags.values, RaggedTensor):
        return RaggedTensor(values, x.rows)
    numbers = ops.Cast(flags.values, DstT=flags.rows.dtype)
    lengths = ops.UnsortedSegmentSum(numbers, flags.rows.rowids(), flags.rows.nrows())
    return RaggedTensor(values, of_lengths(lengths))


def constant_value(
    pylist: object,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    row_splits_dtype: DTypeLike = np.int64,
) -> RaggedTensorValue | np.ndarray:
    """What a Session gives for `tf.ragged.constant` of the same arguments, without a graph."""
    numpy_dtype = None if dtype is None else as_numpy(dtype)
    index_type = as_numpy(row_splits_dtype)
    parsed = parse(pylist, ragged_rank, inner_shape)
    if parsed is None:
        array = np.array(cast("npt.ArrayLike", pylist), numpy_dtype)
        return array if inner_shape is None else array.reshape(inner_shape)
    shape = [len(parsed.values), *parsed.inner_shape]
    values: np.ndarray | RaggedTensorValue
    if 0 in shape:
        values = np.zeros(shape, np.float64 if numpy_dtype is None else numpy_dtype)
    else:
        values = _array_of(parsed.values, numpy_dtype).reshape(shape)
    for splits in reversed(parsed.splits):
        values = RaggedTensorValue(values, np.array(splits, index_type))
    return values


def _array_of(values: list[object], dtype: np.dtype | None) -> np.ndarray:
    """Values as an array; integers wrap in a narrower type."""
    array = np.array(values)
    is_integer = dtype is not None and dtype.kind in "iu" and array.dtype.kind in "iu"
    return array.astype(dtype) if is_integer else np.array(values, dtype)


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
        value_shape: The shape of a value; unknown by default.
        name: Of the operations.
    """
    if not ragged_rank:
        return creation.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder"):
        inner = as_shape(value_shape)
        known = None if inner is None else (None, *inner)
        result: RaggedTensor | Tensor = creation.placeholder(dtype, known, "flat_values")
        for i in reversed(np.arange(ragged_rank).tolist()):
            splits = creation.placeholder(np.int64, [None], f"row_splits_{i}")
            result = RaggedTensor.from_row_splits(result, splits, validate=False)
        return result


def stack_dynamic_partitions(
    data: TensorLike | RaggedTensor,
    partitions: TensorLike | RaggedTensor,
    num_partitions: TensorLike,
    name: str | None = None,
) -> RaggedTensor:
    """The slices of `data` in rows by the number that each has in `partitions`, in their order.

    Args:
        data: A tensor, or a ragged one.
        partitions: The numbers, of a shape that begins that of `data`.
        num_partitions: How many rows there are.
        name: Of the operations.

    Raises ValueError for a rank that is not known and for shapes that do not go together;
    InvalidArgumentError, when it runs, for numbers that are negative or too large.
    """
    with name_scope(name, "SegmentStack"):
        return stacked(data, partitions, num_partitions)


def cross(inputs: Sequence[RaggedTensor | TensorLike], name: str | None = None) -> RaggedTensor:
    """Every choice of one feature of each input, in each row, as words.

    Args:
        inputs: [rows, n], ragged, sparse or whole, of strings or whole numbers.
        name: Of the operation.
    """
    return crossing.cross(inputs, False, 0, None, name)


def cross_hashed(
    inputs: Sequence[RaggedTensor | TensorLike],
    num_buckets: int = 0,
    hash_key: int | None = None,
    name: str | None = None,
) -> RaggedTensor:
    """Every choice of one feature of each input, in each row, as numbers.

    Args:
        inputs: See `cross`.
        num_buckets: The numbers are below it, or of 63 bits when it is 0.
        hash_key: What the hash begins with.
        name: Of the operation.
    """
    return crossing.cross(inputs, True, num_buckets, hash_key, name)
