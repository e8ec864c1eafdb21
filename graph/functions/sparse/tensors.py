"""Sparse tensors made, taken apart and put together: `tf.sparse`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias
from typing import cast as cast_type

import numpy as np

from ...core.build import ops
from ...core.composite.indexed_slices import IndexedSlices
from ...core.composite.sparse_tensor import SparseTensor, SparseTensorValue
from ...core.create import convert_to_tensor
from ...core.dtype import as_numpy
from ...core.graph import Tensor
from ...core.scopes import control_dependencies, name_scope
from ...core.tensor_shape import TensorShape
from ..arguments import one_of
from ..array import array, creation
from ..array.casting import cast
from ..array.selection import setdiff1d
from ..checks import assert_equal, assert_less_equal

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, ShapeLike, TensorLike

SparseLike: TypeAlias = "SparseTensor | SparseTensorValue"
_ZERO = np.int32(0)


def sparse_of(value: object) -> SparseTensor:
    """A SparseTensor of one or of its value; TypeError for anything else."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(cast_type("Sequence[TensorLike]", value))
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, got {type(value).__name__}.")
    return value


def _like(sp: SparseTensor, result: SparseTensor) -> SparseTensor:
    """`result`, of which is known what is known of the shape of `sp`."""
    result.set_shape(sp.shape)
    return result


def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: TensorLike,
    sparse_values: TensorLike,
    default_value: TensorLike = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A tensor of `default_value` with values at some places.

    Args:
        sparse_indices: A number, a vector of numbers, or [n, rank].
        output_shape: The sizes.
        sparse_values: A number, or [n].
        default_value: What stands elsewhere.
        validate_indices: Whether to refuse places that are not in order, or twice there.
        name: Of the operation.

    Raises InvalidArgumentError, when it runs, for places outside.
    """
    values = convert_to_tensor(sparse_values, name="sparse_values")
    default = convert_to_tensor(default_value, values.dtype, name="default_value")
    positions = convert_to_tensor(sparse_indices, name="sparse_indices")
    sizes = convert_to_tensor(output_shape, name="output_shape")
    if positions.dtype != sizes.dtype:
        positions, sizes = cast(positions, np.int64), cast(sizes, np.int64)
    attrs = {"validate_indices": validate_indices}
    return ops.SparseToDense(positions, sizes, values, default, name=name, **attrs)


def to_dense(
    sp_input: SparseLike,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A sparse tensor as a whole one, with `default_value` elsewhere.

    Args:
        sp_input: A SparseTensor.
        default_value: A scalar of its type; 0 or "" by default.
        validate_indices: Whether places must be in order, within the shape, and each there once.
        name: Of the operation.

    Raises TypeError for what is no SparseTensor; when it runs, InvalidArgumentError for such
    places.
    """
    sp = sparse_of(sp_input)
    zero = b"" if sp.dtype.kind == "O" else np.zeros((), sp.dtype)
    default = zero if default_value is None else default_value
    parts = (sp.indices, sp.dense_shape, sp.values)
    dense = sparse_to_dense(*parts, default, validate_indices, name)
    dense.set_shape(sp.shape)
    return dense


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not 0, false or "".

    Args:
        tensor: Of any type and shape.
        name: Of the operations.
    """
    with name_scope(name, "dense_to_sparse", [tensor]):
        whole = convert_to_tensor(tensor)
        empty = b"" if whole.dtype.kind == "O" else np.zeros((), whole.dtype)
        positions = ops.Where(ops.NotEqual(whole, empty))
        values = ops.GatherNd(whole, positions)
        return SparseTensor(positions, values, ops.Shape(whole, out_type=np.dtype(np.int64)))


def eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> SparseTensor:
    """A sparse matrix with ones on its diagonal.

    Args:
        num_rows: How many rows, an integer.
        num_columns: How many columns, as many as rows by default.
        dtype: Of the ones.
        name: Of the operations.

    Raises TypeError for a number that is no integer.
    """
    with name_scope(name, "eye", [num_rows, num_columns]):
        for name_of, number in (("num_rows", num_rows), ("num_columns", num_columns)):
            if number is not None and convert_to_tensor(number).dtype.kind not in "iu":
                raise TypeError(f"{name_of} must be an integer value")
        rows = cast(convert_to_tensor(num_rows, name="num_rows"), np.int64)
        columns = rows
        if num_columns is not None:
            columns = cast(convert_to_tensor(num_columns, name="num_columns"), np.int64)
        n = ops.Minimum(rows, columns)
        diagonal = ops.Range(np.int64(0), n, np.int64(1))
        values = ops.Fill(ops.Reshape(n, np.array([1], np.int32)), np.ones((), as_numpy(dtype)))
        return SparseTensor(
            ops.Pack([diagonal, diagonal], axis=1), values, ops.Pack([rows, columns])
        )


def map_values(op: Callable[..., TensorLike], *args: object, **kwargs: object) -> SparseTensor:
    """`op` of the elements of sparse tensors at the same places, which the result has, too.

    Raises ValueError when no argument is a SparseTensor.
    """
    every = [*args, *kwargs.values()]
    parts = [x for x in every if isinstance(x, SparseTensor)]
    if not parts:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = parts[0]
    checks = [
        assert_equal(getattr(first, part), getattr(other, part), message=words)
        for other in parts[1:]
        for part, words in (
            ("indices", "SparseTensor indices must be equal"),
            ("dense_shape", "SparseTensor shapes must be equal"),
        )
    ]
    with control_dependencies(checks):
        positional = [x.values if isinstance(x, SparseTensor) else x for x in args]
        named = {k: x.values if isinstance(x, SparseTensor) else x for k, x in kwargs.items()}
        return _like(first, first.with_values(op(*positional, **named)))


def mask(a: IndexedSlices, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """The slices of `a` whose index is not among `mask_indices`.

    Args:
        a: IndexedSlices.
        mask_indices: [n], of the type of its indices.
        name: Of the operation.
    """
    with name_scope(name, "sparse_mask", [a.values, mask_indices]) as scope:
        indices, positions = setdiff1d(a.indices, mask_indices)
        values = ops.GatherV2(a.values, positions, _ZERO, name=scope)
        return IndexedSlices(values, indices, a.dense_shape)


def reorder(sp_input: SparseLike, name: str | None = None) -> SparseTensor:
    """The same with its places in order."""
    sp = sparse_of(sp_input)
    indices, values = ops.SparseReorder(sp.indices, sp.values, sp.dense_shape, name=name)
    return _like(sp, SparseTensor(indices, values, array.identity(sp.dense_shape)))


def concat(
    axis: int,
    sp_inputs: Sequence[SparseLike],
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: int | None = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Sparse tensors one behind another along an axis.

    Args:
        axis: Where they are joined.
        sp_inputs: Of one type and rank.
        name: Of the operation.
        expand_nonconcat_dim: Whether other sizes may differ; the result has the largest.
        concat_dim, expand_nonconcat_dims: Older names of `axis` and `expand_nonconcat_dim`.
    """
    axis = axis if concat_dim is None else concat_dim
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    items = [sparse_of(sp) for sp in sp_inputs]
    if len(items) == 1:
        return items[0]
    shapes = [sp.dense_shape for sp in items]
    if expand_nonconcat_dim or expand_nonconcat_dims:
        largest = ops.Max(ops.Pack([cast(shape, np.int64) for shape in shapes]), _ZERO)
        rank = items[0].shape.ndims
        if rank is not None:
            is_joined = np.arange(rank) == axis % rank
        else:
            positions = creation.range(ops.Size(shapes[0]))
            is_joined = ops.Equal(positions, ops.FloorMod(np.int32(axis), ops.Size(shapes[0])))
        shapes = [ops.SelectV2(is_joined, shape, largest) for shape in shapes]
    indices, values, shape = ops.SparseConcat(
        [sp.indices for sp in items], [sp.values for sp in items], shapes, concat_dim=axis,
        name=name,
    )  # fmt: skip
    result = SparseTensor(indices, values, shape)
    known = [sp.shape for sp in items]
    rank = known[0].ndims
    if rank is not None and all(shape.ndims == rank for shape in known):
        sizes = np.array([shape.as_list() for shape in known], object)
        joined = sizes[:, axis]
        whole: list[int | None] = [None] * rank
        for i in range(rank):
            if i != axis % rank and (sizes[:, i] == sizes[0, i]).all():
                whole[i] = sizes[0, i]
        whole[axis] = None if None in joined.tolist() else sum(joined.tolist())
        result.set_shape(whole)
    return result


def split(
    keyword_required: object = None,
    sp_input: SparseLike | None = None,
    num_split: int | None = None,
    axis: TensorLike | None = None,
    name: str | None = None,
    split_dim: TensorLike | None = None,
) -> list[SparseTensor]:
    """Parts along an axis; where its size does not divide, the first have one more.

    Args:
        keyword_required: None: all arguments are named.
        sp_input: A SparseTensor.
        num_split: How many parts.
        axis: An integer scalar.
        name: Of the operation.
        split_dim: An older name of `axis`.

    Returns `num_split` SparseTensors. Raises ValueError unless the arguments are named.
    """
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None:
        raise ValueError("sp_input is required")
    if num_split is None:
        raise ValueError("num_split is required")
    axis = one_of("axis", axis, "split_dim", split_dim)
    if axis is None:
        raise ValueError("axis is required")
    sp = sparse_of(sp_input)
    n = int(num_split)
    place = convert_to_tensor(axis, np.int64, name="split_dim")
    parts = ops.SparseSplit(place, sp.indices, sp.values, sp.dense_shape, num_split=n, name=name)
    return [SparseTensor(*parts[i::n]) for i in range(n)]


def slice(
    sp_input: SparseLike, start: TensorLike, size: TensorLike, name: str | None = None
) -> SparseTensor:
    """The elements in the box of `size` at `start`, with places counted from there.

    Args:
        sp_input: A SparseTensor.
        start, size: [rank], int64; the box ends where the tensor does.
        name: Of the operation.
    """
    sp = sparse_of(sp_input)
    corner, sizes = (convert_to_tensor(x, np.int64) for x in (start, size))
    with name_scope(name, "SparseSlice", sp.to_components()) as scope:
        parts = ops.SparseSlice(sp.indices, sp.values, sp.dense_shape, corner, sizes, name=scope)
        return SparseTensor(*parts)


def expand_dims(
    sp_input: SparseLike, axis: int | None = None, name: str | None = None
) -> SparseTensor:
    """The same with a dimension of size 1 at `axis`, at the end by default.

    Raises ValueError for a rank that is not known, and for an axis out of range.
    """
    sp = sparse_of(sp_input)
    rank = sp.shape.ndims
    if axis is not None and not isinstance(axis, (int, np.integer)):
        raise TypeError(
            "axis must be an integer value in range [-rank(sp_input) - 1, rank(sp_input)], got "
            f"{axis!r}"
        )
    place = -1 if axis is None else int(axis)
    with name_scope(name, "expand_dims", [sp.values]):
        if rank is None:
            raise ValueError("the rank of a sparse tensor must be known to expand it")
        if not -rank - 1 <= place <= rank:
            raise ValueError(f"axis must be in [{-rank - 1}, {rank}], got {place}")
        at = place + rank + 1 if place < 0 else place
        left, right = (sp.indices[:, :at], sp.indices[:, at:])
        zeros = ops.Fill(ops.Pack([ops.Shape(sp.indices)[0], np.int32(1)]), np.int64(0))
        indices = ops.ConcatV2([left, zeros, right], np.int32(1))
        sizes = [sp.dense_shape[:at], np.ones(1, np.int64), sp.dense_shape[at:]]
        return SparseTensor(indices, sp.values, ops.ConcatV2(sizes, _ZERO))


def transpose(
    sp_input: SparseLike, perm: Sequence[int] | TensorLike | None = None, name: str | None = None
) -> SparseTensor:
    """The same with its dimensions in another order, by default the reverse.

    Args:
        sp_input: A SparseTensor.
        perm: [rank], integers: dimension i of the result is dimension perm[i] of the input.
        name: Of the operations.
    """
    sp = sparse_of(sp_input)
    with name_scope(name, "SparseTranspose", [sp.values]):
        if perm is None:
            rank = sp.shape.ndims
            n = ops.Size(sp.dense_shape) if rank is None else rank
            perm = ops.Sub(ops.Sub(n, np.int32(1)), creation.range(0, n))
        order = convert_to_tensor(perm)
        indices = ops.GatherV2(sp.indices, order, np.int32(1))
        sizes = ops.GatherV2(sp.dense_shape, order, _ZERO)
        result = reorder(SparseTensor(indices, sp.values, sizes))
        positions = order.value
        if positions is not None and sp.shape.ndims is not None:
            known = sp.shape.as_list()
            result.set_shape([known[int(i)] for i in positions])
        return result


def retain(sp_input: SparseLike, to_retain: TensorLike) -> SparseTensor:
    """The elements for which `to_retain` holds, in the same shape.

    Args:
        sp_input: A SparseTensor of n elements.
        to_retain: [n], bool.

    Raises ValueError for another length.
    """
    sp = sparse_of(sp_input)
    condition = convert_to_tensor(to_retain)
    first, n = (TensorShape(x.sizes).with_rank(1)[0] for x in (condition, sp.values))
    n.assert_is_compatible_with(first)
    chosen = ops.Reshape(ops.Where(condition), np.array([-1], np.int32))
    positions, values = (ops.GatherV2(x, chosen, _ZERO) for x in (sp.indices, sp.values))
    return _like(sp, SparseTensor(positions, values, array.identity(sp.dense_shape)))


def reset_shape(sp_input: SparseLike, new_shape: TensorLike | None = None) -> SparseTensor:
    """The same elements in a larger whole, or in the least one that holds them.

    Args:
        sp_input: A SparseTensor.
        new_shape: [rank], integers, none below the sizes now; by default the least that is enough.

    Raises ValueError, or InvalidArgumentError when it runs, for sizes that are smaller than now.
    """
    sp = sparse_of(sp_input)
    indices, values = array.identity(sp.indices), array.identity(sp.values)
    shape = array.identity(sp.dense_shape)
    if new_shape is None:
        least = ops.AddV2(ops.Max(indices, _ZERO), ops.OnesLike(shape))
        return SparseTensor(indices, values, ops.Maximum(np.int64(0), least))
    new_sizes = cast(convert_to_tensor(new_shape), np.int64)
    rank = TensorShape(new_sizes.sizes).with_rank(1)[0]
    rank.assert_is_compatible_with(TensorShape(shape.sizes)[0])
    known, sizes = sp.shape.as_shape(), new_sizes.value
    if sizes is not None and None not in sizes and known is not None and None not in known:
        if (np.array(known) > sizes).any():
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  "
                f"Found new_shape ({sizes}), sp_input.shape ({np.array(known)})."
            )
        return SparseTensor(indices, values, sizes)
    with control_dependencies([assert_equal(ops.Shape(shape), ops.Shape(new_sizes))]):
        new_sizes = array.identity(new_sizes)
    with control_dependencies([assert_less_equal(shape, new_sizes)]):
        new_sizes = array.identity(new_sizes)
    return SparseTensor(indices, values, new_sizes)


def fill_empty_rows(
    sp_input: SparseLike, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """`default_value` as the one element of rows that have none, and which rows these are.

    Args:
        sp_input: A SparseTensor [n, ...].
        default_value: A scalar of its type.
        name: Of the operations.

    Returns a SparseTensor of the same shape, and bool [n].
    """
    sp = sparse_of(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp.values]):
        default = convert_to_tensor(default_value, sp.dtype)
        indices, values, empty, _ = ops.SparseFillEmptyRows(
            sp.indices, sp.values, sp.dense_shape, default
        )
        return _like(sp, SparseTensor(indices, values, sp.dense_shape)), empty


def reshape(sp_input: SparseLike, shape: TensorLike, name: str | None = None) -> SparseTensor:
    """The same elements in another shape of as many; one size may be -1.

    Raises ValueError where known sizes do not go together.
    """
    sp = sparse_of(sp_input)
    new_sizes = cast(convert_to_tensor(shape), np.int64)
    with name_scope(name, "SparseReshape", [sp.values]) as scope:
        indices, sizes = ops.SparseReshape(sp.indices, sp.dense_shape, new_sizes, name=scope)
        result = SparseTensor(indices, array.identity(sp.values), sizes)
        if new_sizes.value is not None:
            numbers = [None if n is None else int(n) for n in new_sizes.value]
            result.set_shape(_reshaped(sp.shape, numbers))
        return result


def _reshaped(old: TensorShape, sizes: list[int | None]) -> list[int | None]:
    """The sizes after a reshape, as far as they are known."""
    n_open = sizes.count(-1)
    if n_open > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {np.array(sizes)}")
    total = old.num_elements()
    result = [None if n == -1 else n for n in sizes]
    if total is None or None in sizes:
        return result
    known = math.prod(n for n in result if n is not None)
    if total != known if not n_open else (known == 0 or total % known):
        raise ValueError(
            f"Cannot reshape a tensor with {total} elements to shape {result} ({known} elements)."
        )
    return [total // known if n is None else n for n in result]


def merge(
    sp_ids: SparseLike | Sequence[SparseLike],
    sp_values: SparseLike,
    vocab_size: TensorLike | Sequence[TensorLike],
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """The elements of `sp_values` at the places that ids name in the last dimensions.

    Args:
        sp_ids: Ids in place of the last dimension; several give as many dimensions.
        sp_values: What stands there; at the same places as the ids.
        vocab_size: The size of each new dimension.
        name: Of the operations.
        already_sorted: Whether the ids of each row are in rising order.

    Raises TypeError for ids and sizes that are not of these kinds, ValueError for as many ids as
    sizes.
    """
    id_list: list[SparseTensor]
    if isinstance(sp_ids, (SparseTensor, SparseTensorValue)):
        id_list, sizes = [sparse_of(sp_ids)], [vocab_size]
    else:
        if not isinstance(vocab_size, (list, tuple)):
            raise TypeError(
                "vocab_size has to be a list of Tensors or Python ints. Found "
                f"{type(vocab_size).__name__}"
            )
        id_list, sizes = [sparse_of(sp) for sp in sp_ids], list(vocab_size)
    if len(id_list) != len(sizes):
        raise ValueError(
            f"sp_ids and vocab_size have to have equal lengths. Found {len(id_list)} ids and "
            f"{len(sizes)} vocab_sizes"
        )
    values = sparse_of(sp_values)
    with name_scope(name, "SparseMerge", [values.values]):
        rows = id_list[0].indices
        columns = [array.expand_dims(cast(sp.values, np.int64), 1) for sp in id_list]
        indices = ops.ConcatV2([rows[:, :-1], *columns], np.int32(1))
        last = ops.Pack([cast(convert_to_tensor(size), np.int64) for size in sizes])
        whole = ops.ConcatV2([id_list[0].dense_shape[:-1], last], _ZERO)
        result = SparseTensor(indices, values.values, whole)
        return result if already_sorted else reorder(result)


def to_indicator(sp_input: SparseLike, vocab_size: TensorLike, name: str | None = None) -> Tensor:
    """bool [..., vocab_size]: whether each id is in a row.

    Args:
        sp_input: A SparseTensor of int32 or int64, [..., m]: ids from 0 to vocab_size - 1.
        vocab_size: How many ids there are.
        name: Of the operations.
    """
    sp = sparse_of(sp_input)
    with name_scope(name, "SparseToIndicator", [sp.values]) as scope:
        trues = ops.Fill(ops.Shape(sp.values), np.bool_(True))
        marked = merge(sp, sp.with_values(trues), vocab_size)
        return to_dense(marked, False, validate_indices=False, name=scope)


def placeholder(
    dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None
) -> SparseTensor:
    """A sparse tensor that is fed: its places and elements, and its sizes where `shape` leaves
    them open.
    """
    label = f"{name}/" if name else "sparse_"
    if isinstance(shape, (list, tuple)):
        shape = [None if size == -1 else size for size in shape]
    known = shape if isinstance(shape, Tensor) else TensorShape(shape)
    rank = known.shape[0] if isinstance(known, Tensor) and known.shape else None
    if isinstance(known, Tensor):
        sizes = creation.placeholder_with_default(cast(known, np.int64), [rank], f"{label}shape")
    elif known.as_shape() is None:
        sizes = creation.placeholder(np.int64, [None], f"{label}shape")
    else:
        rank = known.ndims
        default = np.array([-1 if n is None else n for n in known.as_list()], np.int64)
        sizes = creation.placeholder_with_default(default, [rank], f"{label}shape")
    result = SparseTensor(
        creation.placeholder(np.int64, [None, rank], f"{label}indices"),
        creation.placeholder(dtype, [None], f"{label}values"),
        sizes,
    )
    if isinstance(known, TensorShape):
        result.set_shape(known)
    return result
