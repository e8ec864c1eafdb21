"""Functions of sparse tensors: `tf.sparse`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.scopes import name_scope
from ..core.sparse_tensor import SparseTensor
from ..core.tensor_shape import TensorShape
from . import array, creation
from .arguments import one_of
from .casting import cast
from .reductions import reduce_sum
from .sorting import argsort, sort

if TYPE_CHECKING:
    from ..core.typing import DTypeLike, ShapeLike, TensorLike

_ZERO = np.int32(0)


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
        validate_indices: Taken for TensorFlow's sake.
        name: Of the operations.
    """
    with name_scope(name, "SparseToDense", [sparse_indices, sparse_values]):
        values = convert_to_tensor(sparse_values)
        places = convert_to_tensor(sparse_indices)
        shape = cast(convert_to_tensor(output_shape), places.dtype)
        if places.shape is None or len(places.shape) < 2:
            places = array.reshape(places, [-1, 1])
        n = ops.Shape(places)[0]
        values = ops.BroadcastTo(values, ops.Reshape(n, [1]))
        filled = ops.Fill(shape, convert_to_tensor(default_value, values.dtype))
        return ops.TensorScatterUpdate(filled, places, values)


def to_dense(
    sp_input: SparseTensor,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A sparse tensor as a whole one, with `default_value` (zeros) elsewhere."""
    sp = _sparse(sp_input)
    zero = b"" if sp.dtype.kind == "O" else np.zeros((), sp.dtype)
    default = zero if default_value is None else default_value
    dense = sparse_to_dense(sp.indices, sp.dense_shape, sp.values, default, name=name)
    dense.set_shape(sp.shape)
    return dense


def _sparse(value: SparseTensor) -> SparseTensor:
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, got {type(value).__name__}.")
    return value


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero."""
    with name_scope(name, "dense_to_sparse", [tensor]):
        whole = convert_to_tensor(tensor)
        empty = b"" if whole.dtype.kind == "O" else np.zeros((), whole.dtype)
        places = ops.Where(ops.NotEqual(whole, empty))
        values = ops.GatherNd(whole, places)
        return SparseTensor(places, values, ops.Shape(whole, out_type=np.dtype(np.int64)))


def _linear(places: Tensor, shape: Tensor) -> Tensor:
    """Each place as one number, in the order of the elements."""
    steps = ops.Cumprod(shape, _ZERO, exclusive=True, reverse=True)
    return reduce_sum(ops.Mul(places, steps), 1)


def _places(numbers: Tensor, shape: Tensor) -> Tensor:
    """The places that `_linear` makes numbers of."""
    steps = ops.Cumprod(shape, _ZERO, exclusive=True, reverse=True)
    return ops.FloorMod(ops.FloorDiv(array.expand_dims(numbers, 1), steps), shape)


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The same with its places in order."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseReorder", sp.to_components()):
        order = argsort(_linear(sp.indices, sp.dense_shape))
        places = ops.GatherV2(sp.indices, order, _ZERO)
        return SparseTensor(places, ops.GatherV2(sp.values, order, _ZERO), sp.dense_shape)


def reduce_sum_sparse(
    sp_input: SparseTensor,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The sums of the elements along axes, as a whole tensor."""
    axes = one_of("axis", axis, "reduction_axes", reduction_axes)
    with name_scope(name, "SparseReduceSum"):
        return reduce_sum(to_dense(sp_input), axes, bool(keepdims or keep_dims))


def concat(
    axis: int,
    sp_inputs: Sequence[SparseTensor],
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: int | None = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Sparse tensors one behind another along an axis."""
    axis = axis if concat_dim is None else concat_dim
    items = [_sparse(sp) for sp in sp_inputs]
    with name_scope(name, "SparseConcat"):
        rank = items[0].shape.ndims
        if rank is None:
            raise ValueError("the rank of sparse tensors to concatenate must be known")
        unit = np.eye(rank, dtype=np.int64)[axis]
        shapes = [sp.dense_shape for sp in items]
        grown = shapes[0]
        for shape in shapes[1:]:
            grown = ops.Maximum(grown, shape)
        sizes = [shape[axis] for shape in shapes]
        places: list[Tensor] = []
        offset = convert_to_tensor(np.int64(0))
        for sp, size in zip(items, sizes, strict=True):
            places.append(ops.AddV2(sp.indices, ops.Mul(offset, unit)))
            offset = ops.AddV2(offset, size)
        whole = ops.AddV2(ops.Mul(grown, 1 - unit), ops.Mul(offset, unit))
        values = ops.ConcatV2([sp.values for sp in items], _ZERO)
        return reorder(SparseTensor(ops.ConcatV2(places, _ZERO), values, whole))


def _combined(
    a: SparseTensor, b: SparseTensor, name: str | None, label: str, combine: Callable[..., Tensor]
) -> SparseTensor:
    """Two sparse tensors of one shape, element by element, where either has one."""
    a, b = _sparse(a), _sparse(b)
    with name_scope(name, label):
        shape = a.dense_shape
        first, second = _linear(a.indices, shape), _linear(b.indices, shape)
        union, _ = ops.Unique(ops.ConcatV2([first, second], _ZERO))
        union = sort(union)
        total = ops.Reshape(ops.Prod(shape, _ZERO), [1])
        sides: list[Tensor] = []
        for places, sp in ((first, a), (second, b)):
            flat = sparse_to_dense(places, total, sp.values, np.zeros((), sp.dtype))
            sides.append(ops.GatherV2(flat, union, _ZERO))
        return SparseTensor(_places(union, shape), combine(*sides), shape)


def maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The larger of two elements, where either is there; one that is not counts as 0."""
    return _combined(sp_a, sp_b, name, "SparseSparseMaximum", ops.Maximum)


def minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The smaller of two elements, where either is there; one that is not counts as 0."""
    return _combined(sp_a, sp_b, name, "SparseSparseMinimum", ops.Minimum)


def add(
    a: SparseTensor | TensorLike, b: SparseTensor | TensorLike, name: str | None = None
) -> SparseTensor | Tensor:
    """The sum of two sparse tensors, or of one and a whole tensor."""
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        return _combined(a, b, name, "SparseAdd", ops.AddV2)
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    whole = [to_dense(x) if isinstance(x, SparseTensor) else convert_to_tensor(x) for x in (a, b)]
    return ops.AddV2(*whole, name=name)


def sparse_dense_matmul(
    sp_a: SparseTensor,
    b: TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a sparse matrix and a whole one."""
    return ops.MatMul(to_dense(sp_a), b, transpose_a=adjoint_a, transpose_b=adjoint_b, name=name)


def retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """The elements for which `to_retain`, a truth value for each, holds."""
    sp = _sparse(sp_input)
    positions = ops.Reshape(ops.Where(to_retain), [-1])
    places, values = (ops.GatherV2(x, positions, _ZERO) for x in (sp.indices, sp.values))
    return SparseTensor(places, values, sp.dense_shape)


def reshape(sp_input: SparseTensor, shape: TensorLike, name: str | None = None) -> SparseTensor:
    """The same elements in another shape of as many; one size may be -1."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseReshape"):
        new_shape = cast(convert_to_tensor(shape), np.int64)
        total = ops.Prod(sp.dense_shape, _ZERO)
        minus = np.int64(-1)
        others = ops.Prod(ops.SelectV2(ops.Equal(new_shape, minus), np.int64(1), new_shape), _ZERO)
        sizes = ops.SelectV2(ops.Equal(new_shape, minus), ops.FloorDiv(total, others), new_shape)
        numbers = _linear(sp.indices, sp.dense_shape)
        return SparseTensor(_places(numbers, sizes), sp.values, sizes)


def placeholder(
    dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None
) -> SparseTensor:
    """A sparse tensor that is fed: its places and elements, and its sizes where `shape` leaves
    them open.
    """
    label = f"{name}/" if name else "sparse_"
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
