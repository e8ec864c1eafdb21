"""TF1's functions that move and select elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import with_ragged
from ...core.composite.structure import Composite
from ...core.create import convert_to_tensor, is_tensor_like
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.signatures.attribute_checks import int_value
from ...core.signatures.operands import Operands
from ...variables.kinds import ResourceVariable
from ..arguments import one_of
from ..math.reductions import reduce_max
from ..rows import functions
from .casting import cast
from .creation import range
from .slices import get_item

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, Scalar, TensorLike
    from ...variables.variables import Variable

ONE_TO_ONE = r"""
batch_to_space_nd   BatchToSpaceND   input block_shape crops \
    # Batches become positions within blocks of `block_shape`, and what `crops` says is cut off
broadcast_to        BroadcastTo      input shape # `input` repeated to `shape`
depth_to_space      DepthToSpace     input block_size name data_format='NHWC' \
    # Channels become the positions within blocks of height and width
diag                Diag             diagonal # A tensor of twice the rank with that diagonal
diag_part           DiagPart         input # The diagonal of a tensor of a shape twice
dynamic_partition   DynamicPartition data partitions num_partitions \
    # The slices of `data` in `num_partitions` tensors, by the number that each has in `partitions`
dynamic_stitch      DynamicStitch    indices data # Slices put where `indices` say; later ones win
invert_permutation  InvertPermutation x # Where each of 0 ... n - 1 stands in x, [n]
matrix_band_part    MatrixBandPart   input num_lower num_upper \
    # `input` with zeros but in a band around the diagonal; a negative width is a whole triangle
reshape             Reshape          tensor shape # Another shape; one size may be -1
reverse             ReverseV2        tensor axis # `tensor` backwards along `axis`, a list of axes
reverse_v2          ReverseV2        tensor axis # `tensor` backwards along `axis`, a list of axes
roll                Roll             input shift axis \
    # `input` with elements that leave at one end of an axis coming back at the other
scatter_nd          ScatterNd        indices updates shape name bad_indices_policy='' \
    # Zeros of `shape`, with the sum of `updates` at index tuples
slice               Slice            input_:input begin size \
    # `size` elements from `begin` along each axis; size -1 is up to the end
space_to_batch_nd   SpaceToBatchND   input block_shape paddings \
    # Each position within a block becomes a batch of its own, after `paddings` of zeros
space_to_depth      SpaceToDepth     input block_size name data_format='NHWC' \
    # The positions within blocks of height and width become channels
tensor_scatter_add  TensorScatterAdd tensor indices updates name bad_indices_policy='' \
    # `tensor` with `updates` added at index tuples
tensor_scatter_max  TensorScatterMax tensor indices updates name bad_indices_policy='' \
    # `tensor`, or `updates` where those are larger, at index tuples
tensor_scatter_min  TensorScatterMin tensor indices updates name bad_indices_policy='' \
    # `tensor`, or `updates` where those are smaller, at index tuples
tensor_scatter_sub  TensorScatterSub tensor indices updates name bad_indices_policy='' \
    # `tensor` with `updates` subtracted at index tuples
tensor_scatter_update TensorScatterUpdate tensor indices updates name bad_indices_policy='' \
    # `tensor` with `updates` put at index tuples
tile                Tile             input multiples # `input` repeated along each axis
"""
globals().update(functions(ONE_TO_ONE, __name__))

BY_ELEMENT = """
check_numerics      CheckNumerics    tensor message \
    # `tensor`; InvalidArgumentError with `message` where it is infinite or NaN
prevent_gradient    PreventGradient  input message='' \
    # `input`, whose gradient is a LookupError with `message`
stop_gradient       StopGradient     input # `input`, through which no gradient flows
"""
globals().update(functions(BY_ELEMENT, __name__, elementwise=True))
reshape: Callable[..., Tensor] = globals()["reshape"]


@with_ragged
def expand_dims(
    input: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
    dim: TensorLike | None = None,
) -> Tensor:
    """`input` with a dimension of size 1 put in before dimension `axis`.

    Args:
        input: Of any type and shape; also ragged.
        axis: From -rank - 1 to rank, one integer; -1 puts it behind all others.
        name: Of the operation.
        dim: An older name of `axis`.

    Raises ValueError without an axis, and for one out of range.
    """
    axis = one_of("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return ops.ExpandDims(input, axis, name=name)


@with_ragged
def squeeze(
    input: TensorLike,
    axis: int | Sequence[int] | np.ndarray | None = None,
    name: str | None = None,
    squeeze_dims: int | Sequence[int] | None = None,
) -> Tensor:
    """`input` without its dimensions of size 1, or without those that `axis` names.

    Args:
        input: Of any type and shape; also ragged.
        axis: A dimension or a list of them, from -rank to rank - 1; all of size 1 by default.
        name: Of the operation.
        squeeze_dims: An older name of `axis`.

    Raises ValueError for a dimension of another size, TypeError for a tensor as `axis`.
    """
    axis = one_of("axis", axis, "squeeze_dims", squeeze_dims)
    if is_tensor_like(axis):
        raise TypeError(f"Expected list for 'axis' argument to 'squeeze' Op, not {axis!r}.")
    axes = [] if axis is None else axis if isinstance(axis, (list, tuple, np.ndarray)) else [axis]
    return ops.Squeeze(input, squeeze_dims=[int_value("axis", i) for i in axes], name=name)


def transpose(
    a: TensorLike,
    perm: TensorLike | None = None,
    name: str | None = "transpose",
    conjugate: bool = False,
) -> Tensor:
    """`a` with its dimensions in the order `perm`, reversed by default.

    Args:
        a: Of any type and shape.
        perm: [rank], int32 or int64: dimension i of the result is dimension perm[i] of `a`.
        name: Of the operation.
        conjugate: Whether complex numbers are conjugated.

    Raises ValueError for another length of `perm`; when it runs, InvalidArgumentError where a
    dimension is missing from it.
    """
    with name_scope(name, "transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        kind = ops.ConjugateTranspose if conjugate and a.dtype.kind == "c" else ops.Transpose
        if perm is None:
            if a.sizes is None:
                perm = range(ops.Sub(ops.Rank(a), 1), -1, -1)
            else:
                perm = np.arange(len(a.sizes) - 1, -1, -1, dtype=np.int32)
        return kind(a, perm, name=scope)


def matrix_transpose(
    a: TensorLike, name: str | None = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """`a` with its last two dimensions swapped.

    Args:
        a: [..., m, n], of any type.
        name: Of the operation.
        conjugate: Whether complex numbers are conjugated.

    Raises ValueError for a rank below 2.
    """
    with name_scope(name, "matrix_transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        if a.sizes is None:
            rank = ops.Rank(a)
            outer = range(rank - 2)
            order = ops.ConcatV2([outer, ops.Pack([rank - 1, rank - 2])], np.int32(0))
            return transpose(a, order, scope, conjugate)
        if len(a.sizes) < 2:
            raise ValueError(
                f"Argument `a` should be a (batch) matrix with rank >= 2. Received {a.sizes}"
            )
        order = [*np.arange(len(a.sizes) - 2).tolist(), len(a.sizes) - 1, len(a.sizes) - 2]
        return transpose(a, order, scope, conjugate)


@with_ragged
def concat(values: TensorLike, axis: TensorLike, name: str | None = "concat") -> Tensor:
    """Tensors one after the other along `axis`, whose sizes add up.

    Args:
        values: A list of tensors of one type, equal in all other sizes; also ragged.
        axis: From -rank to rank - 1, a scalar.
        name: Of the operation.

    Raises ValueError for scalars, for shapes that do not fit and without tensors, TypeError for two
    types.
    """
    tensors: Sequence[TensorLike] = values if isinstance(values, (list, tuple)) else [values]
    if len(tensors) == 1:
        with name_scope(name) as scope:
            convert_to_tensor(axis, np.int32, "concat_dim").get_shape().assert_has_rank(0)
            return ops.Identity(tensors[0], name=scope)
    return ops.ConcatV2(list(tensors), axis, name=name)


@with_ragged
def split(
    value: TensorLike,
    num_or_size_splits: (
        int | np.integer | np.ndarray | Tensor | Variable | Sequence[int | Tensor | Variable]
    ),
    axis: TensorLike = 0,
    num: int | None = None,
    name: str | None = "split",
) -> list[Tensor]:
    """Parts of `value` along `axis`: so many equal ones, or parts of the given sizes.

    Args:
        value: Of any type.
        num_or_size_splits: The number of equal parts, or a vector of sizes that sum to that of
            `axis`; one of them may be -1 for the remainder.
        axis: From -rank to rank - 1.
        num: The number of parts where the vector's length is not known.

    Returns a list of tensors.

    Raises ValueError where sizes are known not to fit.
    """
    if isinstance(num_or_size_splits, (int, np.integer)):
        return ops.Split(axis, value, num_split=int(num_or_size_splits), name=name)
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.sizes == ():
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if num is None and sizes.sizes is not None:
        num = sizes.sizes[0]
    if num is None:
        raise ValueError(f"Cannot infer argument `num` from shape {num_or_size_splits}")
    return ops.SplitV(value, sizes, axis, num_split=num, name=name)


@with_ragged
def stack(
    values: Sequence[TensorLike] | np.ndarray, axis: int = 0, name: str | None = "stack"
) -> Tensor:
    """Tensors of one shape side by side along a new dimension `axis`.

    Args:
        values: A list of tensors of one type and shape; also ragged.
        axis: From -rank - 1 to rank, where the new dimension is in the result.
        name: Of the operation.

    Raises ValueError for an axis out of range and for two shapes, TypeError for two types.
    """
    if axis == 0 and (is_tensor_like(values) or not any(is_tensor_like(value) for value in values)):
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"Expected list for 'values' argument to 'pack' Op, not {values!r}.")
    dtype = None
    if not is_tensor_like(values[0]):
        dtype = next((value.dtype for value in values if is_tensor_like(value)), None)
    first = convert_to_tensor(values[0], dtype, name)
    if first.sizes is not None:
        n = len(first.sizes) + 1
        if not -n <= axis < n:
            raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    return ops.Pack([first, *values[1:]], axis=axis, name=name)


def unstack(
    value: TensorLike, num: int | None = None, axis: int = 0, name: str | None = "unstack"
) -> list[Tensor]:
    """The slices of `value` along `axis`, without that dimension: a list of tensors.

    Args:
        value: Of any type, of rank 1 or more.
        num: How many there are, where that size is not known.
        axis: From -rank to rank - 1.
        name: Of the operation.

    Raises ValueError for an axis out of range, and where `num` is neither known nor right.
    """
    value = convert_to_tensor(value)
    if num is None and value.sizes is not None:
        n = len(value.sizes)
        if not -n <= axis < n:
            raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
        num = value.sizes[axis]
    if num is None:
        raise ValueError(f"Cannot infer argument `num` from shape {value.get_shape()}")
    return ops.Unpack(value, num=num, axis=axis, name=name) if num else []


@with_ragged
def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: TensorLike | None = None,
    batch_dims: int = 0,
) -> Tensor:
    """Slices of `params` along `axis` (0 by default), one for each of `indices`.

    Args:
        params: Of any type and shape.
        indices: int32 or int64, of any shape, from 0 to the size of `axis` - 1.
        validate_indices: Taken for TensorFlow's sake: indices are always checked.
        axis: From -rank to rank - 1; at least `batch_dims`.
        batch_dims: Leading dimensions that `params` and `indices` share, each with indices of its
            own.

    Returns a tensor of shape params[:axis] + indices[batch_dims:] + params[axis + 1:].

    Raises InvalidArgumentError when it runs with an index out of range.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     print(session.run(tf.gather([[1, 2], [3, 4]], [[1], [0]], batch_dims=1)).tolist())
    [[2], [3]]
    """
    axis = batch_dims if axis is None else axis
    if isinstance(axis, (int, np.integer)) and axis == 0:
        if isinstance(params, ResourceVariable):
            return params.sparse_read(indices, name)
        batch_dims = 0
    return ops.GatherV2(params, indices, axis, batch_dims=batch_dims, name=name)


def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: Tensor | Variable | np.ndarray | Scalar = 0,
) -> Tensor:
    """`tensor` with elements put before and after it in each dimension.

    Args:
        tensor: Of any type and shape.
        paddings: [rank, 2], int32 or int64, not negative: how many before and after.
        mode: "CONSTANT"; "REFLECT", which mirrors without the outermost element, up to size - 1; or
            "SYMMETRIC", which mirrors with it, up to the size.
        name: Of the operation.
        constant_values: A scalar of the type of `tensor`, for "CONSTANT".

    Raises ValueError for another mode, shape or a negative number; when it runs,
    InvalidArgumentError for more than there is to mirror.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     print(session.run(tf.pad([1, 2, 3], [[2, 1]], "REFLECT")))
    [3 2 1 2 3 2]
    """
    mode = mode.upper()
    if mode in ("REFLECT", "SYMMETRIC"):
        return ops.MirrorPad(tensor, paddings, mode=mode, name=name)
    if mode != "CONSTANT":
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {mode}"
        )
    if (
        not isinstance(constant_values, Operands)
        and np.ndim(constant_values) == 0
        and not constant_values
    ):
        return ops.Pad(tensor, paddings, name=name)
    return ops.PadV2(tensor, paddings, constant_values, name=name)


@with_ragged
def where(
    condition: TensorLike,
    x: TensorLike | None = None,
    y: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Elements (or rows) of `x` where `condition` holds, else of `y`; alone, where it holds.

    Args:
        condition: bool, of the shape of `x`, or a vector that chooses among its rows, or a scalar;
            alone also numbers, which hold where they are not 0.
        x, y: Of one type and shape; nothing broadcasts, see `where_v2`.
        name: Of the operation.

    Returns the shape of `x`; of `condition` alone int64 [n, rank], the index of each place, row by
    row.

    Raises ValueError where one of `x` and `y` is missing and for shapes that do not fit, TypeError
    for two types.
    """
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            condition = convert_to_tensor(condition, name="condition", preferred_dtype=np.bool_)
            return ops.Where(condition, name=scope)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return ops.Select(condition, x, y, name=name)


@with_ragged
def where_v2(
    condition: TensorLike,
    x: TensorLike | None = None,
    y: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Like `where`, of operands that broadcast.

    Args:
        condition: bool, of any shape.
        x, y: Of one type: where `condition` holds and where it does not; neither for the places, as
            rows of int64, where it holds.

    Raises ValueError where one of `x` and `y` is missing, or shapes do not broadcast.
    """
    if x is None and y is None:
        return where(condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return ops.SelectV2(condition, x, y, name=name)


def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """`input` with the first `seq_lengths[i]` slices of each batch entry in reverse order.

    Args:
        input: Of any type, at least of rank 2.
        seq_lengths: [batch], int32 or int64, from 0 to the size of `seq_axis`.
        seq_axis, batch_axis: Dimensions of `input`; `seq_dim` and `batch_dim` under their older
            names.
    """
    axis = one_of("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch = one_of("batch_axis", batch_axis, "batch_dim", batch_dim)
    return ops.ReverseSequence(input, seq_lengths, seq_dim=axis, batch_dim=batch or 0, name=name)


def boolean_mask(
    tensor: TensorLike, mask: TensorLike, name: str | None = "boolean_mask", axis: int | None = None
) -> Tensor:
    """The slices of `tensor` for which `mask` is true, in their order.

    Args:
        tensor: Of any type, of rank 1 or more.
        mask: bool, of known rank and of the shape of `tensor` from dimension `axis` on.
        name: Of the operations.
        axis: The first of the dimensions that `mask` stands for; 0 by default.

    Returns tensor.shape[:axis] + [n] + tensor.shape[axis + rank(mask):].

    Raises ValueError for a mask that is a scalar, of unknown rank or of another shape.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     print(session.run(tf.boolean_mask([[1, 2], [3, 4]], [True, False])))
    [[1 2]]
    """
    with name_scope(name, values=[tensor, mask], default_name="boolean_mask"):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        axis = 0 if axis is None else axis
        if mask.sizes is None:
            raise ValueError("Number of mask dimensions must be specified.")
        n = len(mask.sizes)
        if not n:
            raise ValueError("mask cannot be scalar.")
        tensor.get_shape()[axis : axis + n].assert_is_compatible_with(mask.get_shape())
        if n > 1:
            sizes = ops.Shape(tensor)
            parts = [get_item(sizes, np.s_[:axis]), [-1], get_item(sizes, np.s_[axis + n :])]
            tensor = reshape(tensor, concat(parts, 0))
        indices = squeeze(where(reshape(mask, [-1])), axis=[1])
        return gather(tensor, indices, axis=axis)


def sequence_mask(
    lengths: TensorLike,
    maxlen: TensorLike | None = None,
    dtype: DTypeLike = np.bool_,
    name: str | None = None,
) -> Tensor:
    """For each length a row of `maxlen` flags, so many of them true from the start.

    Args:
        lengths: Whole numbers of any shape.
        maxlen: The length of rows, a scalar; by default the largest of `lengths`.
        dtype: Of the result; bool by default.

    Returns a tensor of shape lengths + [maxlen].

    Raises ValueError where `maxlen` is no scalar.
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            size: Tensor = ops.Maximum(np.zeros((), lengths.dtype), reduce_max(lengths))
        else:
            size = convert_to_tensor(maxlen)
        if size.sizes not in (None, ()):
            raise ValueError(f"Argument `maxlen` must be scalar for sequence_mask, got {maxlen!r}")
        row = ops.Range(np.zeros((), size.dtype), size, np.ones((), size.dtype))
        column = cast(expand_dims(lengths, -1), size.dtype)
        return cast(ops.Less(row, column), dtype)


@overload
def identity(input: TensorLike, name: str | None = None) -> Tensor: ...
@overload
def identity(input: Composite, name: str | None = None) -> Composite: ...
def identity(input: TensorLike | Composite, name: str | None = None) -> Tensor | Composite:
    """A tensor of the same values; of a sparse tensor and its like one of such tensors.

    Args:
        input: Of any type and shape, or a SparseTensor, RaggedTensor or IndexedSlices.
        name: Of the operation.
    """
    if isinstance(input, Composite) and not isinstance(input, Tensor):
        with name_scope(name, "Identity"):
            parts = [ops.Identity(part) for part in input.to_components()]
            return input.from_components(parts)
    return ops.Identity(input, name=name)


def identity_n(input: Iterable[TensorLike], name: str | None = None) -> list[Tensor]:
    """All tensors of a list, each once all of them are there.

    Args:
        input: One or more tensors of any types and shapes.
        name: Of the operation.

    Raises ValueError without tensors.
    """
    return ops.IdentityN(input, name=name)


def parallel_stack(values: Sequence[TensorLike], name: str = "parallel_stack") -> Tensor:
    """Tensors of one shape along a new first dimension; `stack`, for shapes that are known.

    Args:
        values: One or more tensors of one type and shape.
        name: Of the operation.

    Raises ValueError without tensors, and for two shapes.
    """
    with name_scope(name, "parallel_stack") as scope:
        tensors = [convert_to_tensor(value) for value in values]
        if not tensors:
            raise ValueError("parallel_stack needs at least one tensor")
        for x in tensors:
            x.get_shape().assert_is_compatible_with(tensors[0].get_shape())
        rows = [ops.ExpandDims(x, np.int32(0)) for x in tensors]
        shape = (len(rows), *(tensors[0].sizes or ()))
        return ops.ParallelConcat(rows, shape=shape, name=scope)


def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """`input`, of which the caller says that it never changes.

    Args:
        input: Of any type and shape.
        name: Of the operation.

    Running it raises InvalidArgumentError where `input` is the handle of a variable.
    """
    return ops.GuaranteeConst(input, name=name)
