"""Arithmetic on sparse tensors: `tf.sparse`'s sums, products and counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar
from typing import cast as cast_type

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import is_ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.sparse_tensor import SparseTensor, SparseTensorValue
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..arguments import one_of
from ..array import array, creation
from ..array.casting import cast
from ..ragged.operands import as_ragged
from .tensors import sparse_of

if TYPE_CHECKING:
    from ...core.typing import TensorLike
    from .tensors import SparseLike

_HASH_KEY = 0xDECAFCAFFE

Result = TypeVar("Result", Tensor, SparseTensor, covariant=True)


def _is_sparse(value: SparseLike | TensorLike) -> bool:
    return isinstance(value, (SparseTensor, SparseTensorValue))


def add(
    a: SparseLike | TensorLike,
    b: SparseLike | TensorLike,
    threshold: TensorLike | None = None,
    thresh: TensorLike | None = None,
) -> SparseTensor | Tensor:
    """The sum of two sparse tensors, or of one and a whole tensor.

    Args:
        a, b: Of one shape; at least one is sparse.
        threshold: Sums of two elements whose size is below it are left out; 0 by default.
        thresh: The older name of `threshold`.

    Raises TypeError when neither is sparse, ValueError for shapes that differ.
    """
    limit = one_of("threshold", threshold, "thresh", thresh)
    if _is_sparse(a) and _is_sparse(b):
        left, right = sparse_of(a), sparse_of(b)
        left.shape.assert_is_compatible_with(right.shape)
        real = np.abs(np.zeros(1, left.dtype)).dtype
        least = convert_to_tensor(0 if limit is None else limit, real, name="thresh")
        parts = [*left.to_components(), *right.to_components(), least]
        result = SparseTensor(*ops.SparseAdd(*parts))
        result.set_shape(left.shape.merge_with(right.shape))
        return result
    if not _is_sparse(a) and not _is_sparse(b):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    sp, dense = (sparse_of(a), b) if _is_sparse(a) else (sparse_of(b), a)
    return ops.SparseTensorDenseAdd(sp.indices, sp.values, sp.dense_shape, dense)


def maximum(sp_a: SparseLike, sp_b: SparseLike, name: str | None = None) -> SparseTensor:
    """The larger of two elements, where either is there; one that is not counts as 0."""
    return _extreme("SparseSparseMaximum", sp_a, sp_b, name)


def minimum(sp_a: SparseLike, sp_b: SparseLike, name: str | None = None) -> SparseTensor:
    """The smaller of two elements, where either is there; one that is not counts as 0."""
    return _extreme("SparseSparseMinimum", sp_a, sp_b, name)


def _extreme(kind: str, sp_a: SparseLike, sp_b: SparseLike, name: str | None) -> SparseTensor:
    a, b = sparse_of(sp_a), sparse_of(sp_b)
    with name_scope(name, kind, [a.values, b.values]) as scope:
        parts = [*a.to_components(), *b.to_components()]
        indices, values = getattr(ops, kind)(*parts, name=scope)
        return SparseTensor(indices, values, a.dense_shape)


def softmax(sp_input: SparseLike, name: str | None = None) -> SparseTensor:
    """exp(x) over its sum, among the elements along the last dimension."""
    sp = sparse_of(sp_input)
    with name_scope(name, "SparseSoftmax", [sp.values]):
        values = ops.SparseSoftmax(sp.indices, sp.values, sp.dense_shape)
        return SparseTensor(sp.indices, values, sp.dense_shape)


def _axes(
    sp: SparseTensor, axis: TensorLike | None, reduction_axes: TensorLike | None
) -> Tensor | np.ndarray | TensorLike:
    axes = one_of("axis", axis, "reduction_axes", reduction_axes)
    if axes is not None:
        return axes
    rank = sp.shape.ndims
    return creation.range(0, ops.Size(sp.dense_shape)) if rank is None else np.arange(rank)


class Reduction(Protocol[Result]):
    """A reduction of a sparse tensor, such as reduce_max."""

    def __call__(
        self,
        sp_input: SparseLike,
        axis: TensorLike | None = ...,
        keepdims: bool | None = ...,
        reduction_axes: TensorLike | None = ...,
        keep_dims: bool | None = ...,
    ) -> Result:
        """What is reduced, whole or sparse."""
        ...


def _reduction(
    public_name: str, kind: str, finish: Callable[..., Result], what: str
) -> Reduction[Result]:
    def reduce(
        sp_input: SparseLike,
        axis: TensorLike | None = None,
        keepdims: bool | None = None,
        reduction_axes: TensorLike | None = None,
        keep_dims: bool | None = None,
    ) -> Result:
        sp = sparse_of(sp_input)
        keep = one_of("keepdims", keepdims, "keep_dims", keep_dims)
        axes = convert_to_tensor(_axes(sp, axis, reduction_axes), np.int32)
        parts = (sp.indices, sp.values, sp.dense_shape)
        return finish(getattr(ops, kind)(*parts, axes, keep_dims=keep))

    reduce.__name__ = reduce.__qualname__ = public_name
    reduce.__doc__ = f"""{what}.

    Args:
        sp_input: A SparseTensor.
        axis: A dimension or a list of them, from the end when negative; all by default.
        keepdims: Whether they stay as dimensions of size 1.
        reduction_axes, keep_dims: Old names of `axis` and `keepdims`.
    """
    return reduce


def _whole(result: Tensor) -> Tensor:
    return result


def _sparse(parts: Sequence[Tensor]) -> SparseTensor:
    return SparseTensor(*parts)


reduce_max = _reduction(
    "reduce_max",
    "SparseReduceMax",
    _whole,
    "The largest elements along axes; 0 where there are none",
)
reduce_max_sparse = _reduction(
    "reduce_max_sparse",
    "SparseReduceMaxSparse",
    _sparse,
    "The largest elements, where there are any",
)
reduce_sum = _reduction(
    "reduce_sum", "SparseReduceSum", _whole, "The sums of the elements along axes"
)
reduce_sum_sparse = _reduction(
    "reduce_sum_sparse", "SparseReduceSumSparse", _sparse, "The sums, where there are any elements"
)


def sparse_dense_matmul(
    sp_a: SparseLike | TensorLike,
    b: SparseLike | TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a sparse matrix and a whole one, or of a whole one and a sparse one.

    Args:
        sp_a: A SparseTensor [m, k].
        b: [k, n], dense or sparse, of its type.
        adjoint_a, adjoint_b: Whether the conjugate transpose of an operand is taken.
        name: Of the operation.

    Returns a dense tensor [m, n].
    """
    if _is_sparse(b):
        product = sparse_dense_matmul(sparse_of(b), sp_a, not adjoint_b, not adjoint_a)
        return array.transpose(product, conjugate=True, name=name)
    sp = sparse_of(sp_a)
    attrs = {"adjoint_a": adjoint_a, "adjoint_b": adjoint_b}
    with name_scope(name, "SparseTensorDenseMatMul", [sp.values, b]):
        right = convert_to_tensor(cast_type("TensorLike", b), name="b")
        return ops.SparseTensorDenseMatMul(sp.indices, sp.values, sp.dense_shape, right, **attrs)


def sparse_matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two whole matrices in which there may be many zeros, in float32.

    Args:
        a: [m, k], float32 or bfloat16.
        b: [k, n], float32 or bfloat16.
        transpose_a, transpose_b: Whether a matrix is transposed before.
        a_is_sparse, b_is_sparse: Taken for TensorFlow's sake.
        name: Of the operation.

    Returns [m, n]. Raises ValueError for shapes that do not fit.
    """
    return ops.SparseMatMul(
        a, b, transpose_a=transpose_a, transpose_b=transpose_b, a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse, name=name,
    )  # fmt: skip


def _as_sparse(
    value: SparseLike | TensorLike | RaggedTensor | None,
) -> SparseLike | TensorLike | None:
    """What is ragged as a sparse tensor."""
    if not is_ragged(value):
        return cast_type("SparseLike | TensorLike | None", value)
    return cast_type("RaggedTensor", as_ragged(cast_type("RaggedTensor", value))).to_sparse()


def bincount(
    values: SparseLike | TensorLike,
    weights: SparseLike | TensorLike | None = None,
    axis: int | None = 0,
    minlength: int | None = None,
    maxlength: int | None = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each number is there, as a sparse tensor.

    Args:
        values: Whole numbers that are not negative: [n] or [rows, n], whole, sparse or ragged.
        weights: Counted in place of ones; of the form of `values`.
        axis: 0 counts in all of them, -1 in each row.
        minlength: The least size of the result.
        maxlength: Numbers from here on are not counted.
        binary_output: Whether to say only which are there.
        name: Of the operations.

    Raises ValueError for another axis, and for weights of another form than `values`.
    """
    with name_scope(name, "count"):
        values = cast_type("SparseLike | TensorLike", _as_sparse(values))
        weights = _as_sparse(weights)
        if weights is not None and _is_sparse(values) != _is_sparse(weights):
            raise ValueError(
                "Argument `weights` must be a SparseTensor, a RaggedTensor or a tensor as `values` "
                f"is, got {weights} and {values}"
            )
        if axis not in (None, 0, -1):
            raise ValueError(
                f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently "
                "supported."
            )
        attrs = {
            "minlength": -1 if minlength is None else minlength,
            "maxlength": -1 if maxlength is None else maxlength,
            "binary_output": binary_output,
        }
        flat = np.array([-1], np.int32)
        if _is_sparse(values):
            sp = sparse_of(values)
            amounts = np.zeros(0, sp.dtype) if weights is None else sparse_of(weights).values
            if axis in (None, 0):
                operands = [convert_to_tensor(sp.values), amounts]
                return SparseTensor(*ops.DenseCountSparseOutput(*operands, **attrs))
            parts = sp.to_components()
            return SparseTensor(*ops.SparseCountSparseOutput(*parts, amounts, **attrs))
        numbers = convert_to_tensor(cast_type("TensorLike", values), name="values")
        amounts = np.zeros(0, numbers.dtype)
        if weights is not None:
            amounts = convert_to_tensor(cast_type("TensorLike", weights))
        if axis in (None, 0):
            numbers = ops.Reshape(numbers, flat)
            amounts = amounts if weights is None else ops.Reshape(amounts, flat)
        return SparseTensor(*ops.DenseCountSparseOutput(numbers, amounts, **attrs))


def _features(
    inputs: Sequence[SparseLike | TensorLike],
) -> tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor]]:
    """Places, values and sizes of the sparse features, and the whole ones; strings or int64.

    Raises TypeError for what is neither a tensor nor sparse.
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Inputs must be a list, got {inputs!r}")
    if not all(isinstance(x, (Tensor, SparseTensor)) for x in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    sparse = [x for x in inputs if isinstance(x, SparseTensor)]
    dense = [x for x in inputs if isinstance(x, Tensor)]

    def wide(x: Tensor) -> Tensor:
        return x if x.dtype.kind == "O" else cast(x, np.int64)

    return (
        [x.indices for x in sparse],
        [wide(x.values) for x in sparse],
        [x.dense_shape for x in sparse],
        [wide(x) for x in dense],
    )


def cross(
    inputs: Sequence[SparseLike | TensorLike],
    name: str | None = None,
    separator: TensorLike | None = None,
) -> SparseTensor:
    """Every choice of one feature of each input, in each row, as words.

    Args:
        inputs: [rows, n], whole or sparse, of strings or whole numbers.
        name: Of the operation.
        separator: What stands between the features; `_X_` by default.
    """
    between = convert_to_tensor("_X_" if separator is None else separator)
    return SparseTensor(*ops.SparseCrossV2(*_features(inputs), between, name=name))


def cross_hashed(
    inputs: Sequence[SparseLike | TensorLike],
    num_buckets: int = 0,
    hash_key: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Every choice of one feature of each input, in each row, as numbers.

    Args:
        inputs: See `cross`.
        num_buckets: The numbers are below it, or of 63 bits when it is 0.
        hash_key: What the hash begins with.
        name: Of the operation.
    """
    parts = ops.SparseCross(
        *_features(inputs), hashed_output=True, num_buckets=num_buckets,
        hash_key=_HASH_KEY if hash_key is None else hash_key, out_type=np.dtype(np.int64),
        internal_type=np.dtype(object), name=name,
    )  # fmt: skip
    return SparseTensor(*parts)


def edit_distance(
    hypothesis: SparseLike,
    truth: SparseLike,
    normalize: bool = True,
    name: str | None = "edit_distance",
) -> Tensor:
    """Levenshtein's distance of the sequences in the last dimension.

    Args:
        hypothesis, truth: Sparse, of one type; sequences in the last dimension.
        normalize: Whether to divide by the length of the truth; inf where that is empty.
        name: Of the operation.

    Raises TypeError when either is not sparse.
    """
    for label, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not _is_sparse(value):
            raise TypeError(f"{label} must be a SparseTensor.")
    a, b = sparse_of(hypothesis), sparse_of(truth)
    parts = [*a.to_components(), *b.to_components()]
    return ops.EditDistance(*parts, normalize=normalize, name=name)
