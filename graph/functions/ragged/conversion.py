"""Ragged tensors of tensors and sparse tensors, and the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import RowPartition, checked, size_of, to_index
from ...core.composite.sparse_tensor import SparseTensor
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.shapes import shown
from ...core.tensor_shape import TensorShape
from .operands import wrapped
from .picking import gather_rows
from .rows import of_lengths, positions

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike

_ZERO = np.int32(0)
_FLAT = np.array([-1], np.int32)


@ragged("from_tensor")
def from_tensor(
    tensor: TensorLike,
    lengths: object,
    padding: TensorLike | None,
    ragged_rank: int,
    name: str | None,
    row_splits_dtype: DTypeLike,
) -> RaggedTensor:
    """The rows of a tensor; see `RaggedTensor.from_tensor`."""
    dtype = np.dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    with name_scope(name, "RaggedFromTensor"):
        x = convert_to_tensor(tensor, name="tensor")
        shape = x.get_shape()
        if shape.rank is not None and ragged_rank >= shape.rank:
            raise ValueError(
                f"The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't "
                f"have ragged dimensions. Received argument `tensor` with rank {shape.rank}."
                if ragged_rank == 1
                else f"ragged_rank must be less than the rank, got {ragged_rank}, {shape.rank}"
            )
        first = (
            cast("Sequence[object]", lengths)[0]
            if isinstance(lengths, (list, tuple)) and lengths
            else 0
        )
        if not isinstance(first, (int, float, np.number)):
            listed = cast("Sequence[TensorLike]", lengths)
            if ragged_rank not in (1, len(listed)):
                raise ValueError(
                    "If Argument `lengths` is a tuple of row_lengths, argument `ragged_rank` must "
                    f"be len(lengths): {len(listed)}. Received ragged_rank: {ragged_rank}."
                )
            return _of_nested_lengths(x, listed, dtype)
        if lengths is not None:
            lengths_tensor = convert_to_tensor(cast("TensorLike", lengths), preferred_dtype=dtype)
            if lengths_tensor.dtype.kind not in "iu":
                raise TypeError(
                    "Argument `tensor` (name: lengths) must be of type integer. Received "
                    f"`tensor` = {lengths_tensor} of dtype: {lengths_tensor.dtype.name}"
                )
            vector = to_index(lengths_tensor, "lengths", dtype)
            return _of_lengths(x, ops.Cast(vector, DstT=dtype), ragged_rank, dtype)
        if padding is not None:
            return _of_padding(x, padding, ragged_rank, dtype)
        return _whole_rows(x, ragged_rank, dtype)


def _of_nested_lengths(x: Tensor, lengths: Sequence[TensorLike], dtype: np.dtype) -> RaggedTensor:
    _require_rank(x, len(lengths) + 1)
    first = ops.Cast(to_index(lengths[0], "lengths", dtype), DstT=dtype)
    result = _of_lengths(x, first, 1, dtype)
    if len(lengths) == 1:
        return result
    inner = _of_nested_lengths(cast("Tensor", result.values), lengths[1:], dtype)
    return result.with_values(inner)


def _require_rank(x: Tensor, rank: int) -> None:
    if x.sizes is not None and len(x.sizes) < rank:
        raise ValueError(f"Shape {TensorShape(x.sizes)} must have rank at least {rank}")


def _merged(x: Tensor, n_axes: int) -> Tensor:
    """The first dimensions as one."""
    sizes = ops.Shape(x, out_type=np.dtype(np.int64))
    inner = ops.StridedSlice(sizes, [n_axes], [0], [1], end_mask=1)
    n = ops.Prod(ops.StridedSlice(sizes, [0], [n_axes], [1]), _ZERO)
    return ops.Reshape(x, ops.ConcatV2([ops.ExpandDims(n, _ZERO), inner], _ZERO))


def _uniform_rows(x: Tensor, ragged_rank: int, dtype: np.dtype) -> list[RowPartition]:
    """The rows of the first dimensions of a tensor, from the outside in."""
    sizes = ops.Shape(x, out_type=dtype)
    rows: list[RowPartition] = []
    for axis in np.arange(1, ragged_rank + 1).tolist():
        length = ops.StridedSlice(sizes, [axis], [axis + 1], [1], shrink_axis_mask=1)
        count = ops.Prod(ops.StridedSlice(sizes, [0], [axis], [1]), _ZERO)
        one = dtype.type(1)
        splits = ops.Mul(ops.Range(dtype.type(0), ops.AddV2(count, one), one), length)
        known = None if x.sizes is None else x.sizes[axis]
        uniform = length if known is None else convert_to_tensor(dtype.type(known))
        rows.append(RowPartition(splits, count=count, uniform=uniform))
    return rows


def _whole_rows(x: Tensor, ragged_rank: int, dtype: np.dtype) -> RaggedTensor:
    rows = _uniform_rows(x, ragged_rank, dtype)
    return wrapped(_merged(x, ragged_rank + 1), rows)


def _of_lengths(x: Tensor, lengths: Tensor, ragged_rank: int, dtype: np.dtype) -> RaggedTensor:
    """Rows of which so many values count, all of the last ragged dimension."""
    lengths.get_shape().assert_has_rank(1)
    if ragged_rank > 1:
        rows = _uniform_rows(x, ragged_rank - 1, dtype)
        inner = _of_lengths(_merged(x, ragged_rank), lengths, 1, dtype)
        return wrapped(inner, rows)
    if x.sizes is not None and lengths.sizes is not None:
        TensorShape(x.sizes[:1]).assert_is_compatible_with(lengths.get_shape())
    size = size_of(x, 1, dtype)
    bounded = ops.Minimum(ops.Maximum(lengths, dtype.type(0)), size)
    rows_of = of_lengths(bounded)
    starts = ops.Mul(ops.Range(dtype.type(0), size_of(x, 0, dtype), dtype.type(1)), size)
    words = "lengths must have one number for each row"
    same = ops.Equal(size_of(lengths, 0, dtype), size_of(x, 0, dtype))
    values = gather_rows(_merged(x, 2), positions(rows_of, checked(starts, [same], words)))
    return RaggedTensor(values, rows_of)


def _of_padding(x: Tensor, padding: TensorLike, ragged_rank: int, dtype: np.dtype) -> RaggedTensor:
    """Rows without the padding at their ends."""
    filler = convert_to_tensor(padding, x.dtype, name="padding")
    if x.sizes is not None and filler.sizes is not None:
        filler.get_shape().assert_is_compatible_with(x.get_shape()[ragged_rank + 1 :])
    flat = _merged(x, ragged_rank) if ragged_rank > 1 else x
    differs = ops.NotEqual(flat, filler)
    axes = ops.Range(np.int32(2), ops.Rank(differs), np.int32(1))
    counts = ops.Any(differs, axes)
    size = size_of(flat, 1, dtype)
    after = ops.AddV2(ops.Range(dtype.type(0), size, dtype.type(1)), dtype.type(1))
    ends = ops.Mul(ops.Cast(counts, DstT=dtype), after)
    lengths = ops.Max(ops.ConcatV2([ops.ZerosLike(ends[:, :1]), ends], np.int32(1)), np.int32(1))
    if flat.sizes is not None and flat.sizes[1] == 0:
        lengths = ops.Fill(ops.Shape(flat)[:1], dtype.type(0))
    return _of_lengths(x, lengths, ragged_rank, dtype)


@ragged("from_sparse")
def from_sparse(
    st_input: SparseTensor, name: str | None, row_splits_dtype: DTypeLike
) -> RaggedTensor:
    """The rows of a sparse tensor; see `RaggedTensor.from_sparse`."""
    if not isinstance(st_input, SparseTensor):
        raise TypeError(
            f"Argument `st_input` must be of type SparseTensor, but is of type "
            f"{type(st_input).__name__}."
        )
    ranks = [st_input.dense_shape.sizes, st_input.indices.sizes]
    known = [sizes[-1] for sizes in ranks if sizes is not None and sizes[-1] is not None]
    if not known or known[0] != 2:
        raise ValueError(f"rank(st_input) must be 2. Got: {known[0] if known else None}")
    dtype = np.dtype(row_splits_dtype)
    with name_scope(name, "RaggedFromSparse"):
        indices = ops.Cast(st_input.indices, DstT=dtype)
        ids, columns = indices[:, 0], indices[:, 1]
        n = ops.Cast(st_input.dense_shape[0], DstT=dtype)
        result = RaggedTensor.from_value_rowids(st_input.values, ids, n, validate=False)
        expected = result.rows.columns()
        same = ops.All(ops.Equal(ops.Shape(expected), ops.Shape(columns)), _ZERO)
        words = "SparseTensor is not right-ragged"
        expected = checked(expected, [same], words)
        is_right = ops.All(ops.Equal(expected, columns), _ZERO)
        return result.with_values(checked(st_input.values, [is_right], words))


def _filler(values: Tensor, default_value: TensorLike | None, inner: Tensor) -> Tensor:
    """What fills a row up, in the shape of a value."""
    if default_value is None:
        default_value = b"" if values.dtype.kind == "O" else np.zeros((), values.dtype)
    filler = convert_to_tensor(default_value, values.dtype, name="default_value")
    sizes = filler.sizes, values.sizes
    if sizes[0] is not None and sizes[1] is not None and len(sizes[0]) >= len(sizes[1]):
        raise ValueError(
            f"{_shapes_of(filler, values)}: default_value.rank = {len(sizes[0])}  must be less "
            f"than rt_input.flat_values.rank = {len(sizes[1])}"
        )
    ours, theirs = sizes[0] or (), sizes[1]
    for i in np.arange(-len(ours), 0).tolist() if theirs is not None else ():
        pair = ours[i], (theirs or ())[i]
        if None not in pair and pair[0] not in (1, pair[1]):
            raise ValueError(
                f"{_shapes_of(filler, values)}: default_value.shape[{i}] = {pair[0]} but "
                f"rt_input.flat_values.shape[{i}] = {pair[1]}"
            )
    return ops.BroadcastTo(filler, inner)


def _shapes_of(filler: Tensor, values: Tensor) -> str:
    return (
        f"default_value.shape={shown(filler.sizes or ())} and rt_input.flat_values.shape="
        f"{shown(values.sizes or ())} are incompatible"
    )


@ragged("to_tensor")
def to_tensor(
    x: RaggedTensor, default_value: TensorLike | None, name: str | None, shape: object
) -> Tensor:
    """The rows filled up; see `RaggedTensor.to_tensor`."""
    with name_scope(name, "RaggedToTensor"):
        values = x.flat_values
        inner = ops.StridedSlice(
            ops.Shape(values, out_type=np.dtype(np.int64)), [1], [0], [1], end_mask=1
        )
        filler = _filler(values, default_value, inner)
        sizes, known = _target(x, shape)
        result = _dense(x, filler, sizes)
        if known is not None:
            result.set_shape(known)
        return result


def _target(
    x: RaggedTensor, shape: object
) -> tuple[list[Tensor | None], tuple[int | None, ...] | None]:
    """The sizes of the first dimensions that are asked for, and what is known of the result."""
    n = x.ragged_rank + 1
    actual = x.shape
    static = None if actual.rank is None else [
        size if i == 0 or i >= n or x.nested_rows[i - 1].known_length is not None else None
        for i, size in enumerate(actual.as_list())
    ]  # fmt: skip
    if isinstance(shape, (list, tuple)) and any(
        isinstance(size, Tensor) for size in cast("Sequence[object]", shape)
    ):
        listed = [np.int64(-1) if size is None else size for size in cast("list[object]", shape)]
        parts = [ops.Cast(convert_to_tensor(cast("TensorLike", size)), DstT=np.dtype(np.int64))
                 for size in listed]  # fmt: skip
        shape = ops.Pack(parts)
    if isinstance(shape, Tensor) and shape.sizes == ():
        shape = None
    if shape is None:
        return [None] * n, None if static is None else tuple(static)
    if isinstance(shape, Tensor):
        sizes_asked = shape.sizes
        length = sizes_asked[0] if sizes_asked else None
        if None not in (length, actual.rank) and length != actual.rank:
            raise ValueError(
                f"rt_input.shape and shape={shown((None,) * (length or 0))} are incompatible: "
                f"rt_input.rank = {actual.rank} but shape.rank = {length}"
            )
        numbers = ops.Cast(shape, DstT=np.dtype(np.int64))
        sizes = [
            ops.StridedSlice(numbers, [i], [i + 1], [1], shrink_axis_mask=1)
            for i in np.arange(n).tolist()
        ]
        return [*map(_open, sizes, _natural(x))], None
    declared = TensorShape(cast("TensorShape", shape))
    if declared.rank is None:
        return [None] * n, None if static is None else tuple(static)
    if actual.rank is not None and declared.rank != actual.rank:
        raise ValueError(
            f"rt_input.shape and shape={shown(tuple(declared.as_list()))} are incompatible: "
            f"rt_input.rank = {actual.rank} but shape.rank = {declared.rank}"
        )
    limits = declared.as_list()
    if static is not None:
        for i, (size, limit) in enumerate(zip(static[n:], limits[n:], strict=True), n):
            if None not in (size, limit) and size != limit:
                raise ValueError(
                    f"rt_input.shape and shape={shown(tuple(limits))} are incompatible: "
                    f"rt_input.shape[{i}] = {size} but shape[{i}] = {limit}"
                )
        static = [limit if limit is not None else (size if i else None if size is None else size)
                  for i, (size, limit) in enumerate(zip(static, limits, strict=True))]  # fmt: skip
    sizes = [None if size is None else convert_to_tensor(np.int64(size)) for size in limits[:n]]
    return [*sizes], None if static is None else tuple(static)


def _natural(x: RaggedTensor) -> list[Tensor]:
    sizes = [x.rows.nrows(), *(rows.longest() for rows in x.nested_rows)]
    return [ops.Cast(size, DstT=np.dtype(np.int64)) for size in sizes]


def _open(size: Tensor, natural: Tensor) -> Tensor:
    """A size that is asked for; -1 asks for that which follows from the rows."""
    return ops.SelectV2(ops.Less(size, np.int64(0)), natural, size)


def _dense(x: Tensor | RaggedTensor, filler: Tensor, sizes: list[Tensor | None]) -> Tensor:
    """A tensor of the sizes, or of those that follow from the rows, with the filler elsewhere."""
    if isinstance(x, Tensor):
        return x
    values = _dense(x.values, filler, [None, *sizes[2:]])
    rows, columns = x.rows.rowids(), x.rows.columns()
    wide = np.dtype(np.int64)
    natural = ops.Cast(x.rows.nrows(), DstT=wide), ops.Cast(x.rows.longest(), DstT=wide)
    n, m = (count if size is None else size for count, size in zip(natural, sizes, strict=False))
    indices = ops.Cast(ops.Pack([rows, columns], axis=1), DstT=wide)
    if sizes[0] is not None or sizes[1] is not None:
        inside = ops.All(ops.Less(indices, ops.Pack([n, m])), np.int32(1))
        positions = ops.Reshape(ops.Where(inside), _FLAT)
        indices, values = (ops.GatherV2(part, positions, _ZERO) for part in (indices, values))
    inner = ops.StridedSlice(ops.Shape(values, out_type=wide), [1], [0], [1], end_mask=1)
    shape = ops.ConcatV2([ops.Pack([n, m]), inner], _ZERO)
    padded = ops.BroadcastTo(filler, shape)
    return ops.TensorScatterUpdate(padded, indices, values)


def coordinates(x: RaggedTensor) -> Tensor:
    """[n, rank], int64: where each of the innermost values stands."""
    wide = np.dtype(np.int64)
    values = x.flat_values
    every = ops.Where(ops.Fill(ops.Shape(values), np.bool_(True)))
    at = every[:, 0]
    columns: list[Tensor] = []
    for rows in reversed(x.nested_rows):
        columns.append(ops.GatherV2(ops.Cast(rows.columns(), DstT=wide), at, _ZERO))
        at = ops.GatherV2(ops.Cast(rows.rowids(), DstT=wide), at, _ZERO)
    columns.append(at)
    outer = ops.Pack(columns[::-1], axis=1)
    return ops.ConcatV2([outer, every[:, 1:]], np.int32(1))


@ragged("to_sparse")
def to_sparse(x: RaggedTensor, name: str | None) -> SparseTensor:
    """The same values at the places they have in the rows."""
    with name_scope(name, "RaggedToSparse"):
        values = ops.Reshape(x.flat_values, _FLAT)
        indices = coordinates(x)
        n, rank = values.get_shape().as_list()[0], x.get_shape().rank
        indices.set_shape((n, rank))
        return SparseTensor(indices, values, x.bounding_shape(out_type=np.int64))
