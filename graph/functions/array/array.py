"""TF1's functions that move and select elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from ...core import shapes, tensor_shape
from ...core.build import ops, shape_of
from ...core.composite.ragged_dispatch import with_ragged
from ...core.composite.structure import Composite
from ...core.create import convert_to_tensor, is_tensor_like
from ...core.dtype import as_dtype
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.signatures.attribute_checks import int_value
from ...core.signatures.operands import Operands
from ...variables.kinds import ResourceVariable
from ..arguments import one_of
from ..math.reductions import reduce_max
from ..rows import functions
from .casting import cast
from .creation import ones, range
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
    """`input` with a dimension of size 1 put in before `axis`."""
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
    """`input` without its dimensions of size 1, or without those that `axis` names."""
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
    """`a` with its dimensions in the order `perm`, reversed by default."""
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
    """`a` with its last two dimensions swapped."""
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
    """Tensors one after the other along `axis`."""
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
    """Tensors of one shape side by side along a new dimension `axis`."""
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
    """The slices of `value` along `axis`, without that dimension."""
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


@with_ragged
def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """Slices of each batch of `params` at the indices of that batch; `gather` with `batch_dims`.

    Raises ValueError for indices of unknown rank.
    """
    with name_scope(name, "BatchGather", [params, indices]):
        positions = convert_to_tensor(indices, name="indices")
        if positions.sizes is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        axis = len(positions.sizes) - 1
        return gather(
            convert_to_tensor(params, name="params"), positions, axis=axis, batch_dims=axis
        )


@with_ragged
def gather_nd(
    params: TensorLike,
    indices: TensorLike,
    name: str | None = None,
    batch_dims: int = 0,
    bad_indices_policy: str = "",
) -> Tensor:
    """Slices of `params`; the last axis of `indices` has the place of each.

    Args:
        params: Of any type.
        indices: [batch..., ..., places].
        name: Of the operation.
        batch_dims: How many axes of both are batches, whose places count within the batch.
        bad_indices_policy: IGNORE gives zeros for places outside of `params`; else an error.

    Raises ValueError for `batch_dims` that are not less than both ranks.
    """
    if batch_dims == 0:
        return ops.GatherNd(params, indices, name=name, bad_indices_policy=bad_indices_policy)
    with name_scope(name, "BatchGatherNd", [params, indices]) as scope:
        source = convert_to_tensor(params, name="params")
        positions = convert_to_tensor(indices, name="indices")
        for label, tensor in (("indices", positions), ("params", source)):
            rank = None if tensor.sizes is None else len(tensor.sizes)
            if rank is None or not 0 <= batch_dims < rank:
                words = f"must be less than rank(`{label}`) = {rank}"
                raise ValueError(f"Argument `batch_dims` = {batch_dims} {words}")
        sizes = shape_of(positions)
        whole = ops.ConcatV2([sizes[:-1], np.array([1], np.int32)], np.int32(0))
        batches: list[Tensor] = []
        for axis, n in enumerate(unstack(sizes[:batch_dims], batch_dims)):
            along = [1] * len(positions.get_shape())
            along[axis] = -1
            batches.append(ops.BroadcastTo(reshape(range(n), along), whole))
        numbers = [cast(batch, positions.dtype) for batch in batches]
        full_indices = ops.ConcatV2([*numbers, positions], np.int32(-1))
        return ops.GatherNd(source, full_indices, name=scope, bad_indices_policy=bad_indices_policy)


def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: Tensor | Variable | np.ndarray | Scalar = 0,
) -> Tensor:
    """`tensor` with `paddings[i]` elements put before and after it in dimension i.

    `mode` is CONSTANT, REFLECT or SYMMETRIC.
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
    """Elements (or rows) of `x` where `condition` holds, else of `y`; alone, where it holds."""
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
    """The slices of `tensor` for which `mask` is true."""
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


def meshgrid(*args: TensorLike, indexing: str = "xy", name: str = "meshgrid") -> list[Tensor]:
    """Coordinates of a grid, a tensor for each of the vectors.

    Args:
        *args: Vectors of any type.
        indexing: "xy": the second vector runs along the first dimension; "ij": the first one does.

    Returns as many tensors as there are vectors, of one shape: a dimension for each vector.

    Raises ValueError for another `indexing`.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    if not args:
        return []
    with name_scope(name, "meshgrid", args):
        n = len(args)
        vectors = [convert_to_tensor(x) for x in args]
        shaped: list[Tensor] = []
        for i, x in enumerate(vectors):
            sizes = [1] * n
            sizes[i] = -1
            if indexing == "xy" and n > 1 and i < 2:
                sizes[0], sizes[1] = sizes[1], sizes[0]
            shaped.append(reshape(x, sizes))
        counts = [ops.Size(x) for x in vectors]
        if indexing == "xy" and n > 1:
            counts[0], counts[1] = counts[1], counts[0]
        whole = ones(ops.Pack(counts), vectors[0].dtype)
        flags = whole.dtype.kind == "b"
        return [ops.LogicalAnd(x, whole) if flags else x * whole for x in shaped]


def repeat(
    input: TensorLike,
    repeats: TensorLike,
    axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input` with each slice along `axis` repeated; flattened first without an axis.

    Args:
        input: Of any type.
        repeats: How often: an integer, or as many as there are slices.
        axis: The slices.
        name: Of the operations.

    Raises:
        TypeError: `repeats` are no integers.
        ValueError: their number is not that of the slices, or `axis` is out of range.
    """
    if axis is not None and not isinstance(axis, (int, np.integer)):
        raise TypeError(
            f"Argument `axis` must be an int. Received `axis` = {axis} of type "
            f"{type(axis).__name__}"
        )
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        if axis is None or data.sizes == ():
            data, axis = reshape(data, [-1]), axis or 0
        times = convert_to_tensor(repeats, name="repeats", preferred_dtype=np.int32)
        if times.dtype.kind not in "iu":
            raise TypeError(
                "Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = "
                f"{times} of dtype: {as_dtype(times.dtype)}"
            )
        shape = times.get_shape().with_rank_at_most(1)
        rank = None if data.sizes is None else len(data.sizes)
        if rank is not None and not -rank <= axis < rank:
            raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
        n_slices = None if data.sizes is None else data.sizes[axis]
        n = shape.as_list()[0] if shape.ndims == 1 else None
        if n is not None and n != 1:
            tensor_shape.Dimension(n_slices).assert_is_compatible_with(n)
        return gather(data, _repeated_positions(times, data, n_slices, axis), axis=axis)


def _repeated_positions(
    times: Tensor, data: Tensor, n_slices: int | None, axis: int
) -> Tensor | np.ndarray:
    """The number of each slice, as often as it comes."""
    known = shapes.whole(times.value)
    if known is not None and n_slices is not None:
        counts = np.broadcast_to(known, (n_slices,))
        return np.repeat(np.arange(n_slices, dtype=np.int32), np.maximum(counts, 0))
    n = np.int32(n_slices) if n_slices is not None else shape_of(data)[axis]
    counts = ops.BroadcastTo(ops.Cast(times, DstT=np.dtype(np.int32)), ops.Pack([n]))
    steps = ops.Range(np.int32(0), ops.Max(ops.Pad(counts, [[0, 1]]), np.int32(0)), np.int32(1))
    is_repeated = ops.Less(ops.ExpandDims(steps, 0), ops.ExpandDims(counts, 1))
    positions = ops.Where(is_repeated)
    return ops.Cast(positions[:, 0], DstT=np.dtype(np.int32))


@overload
def identity(input: TensorLike, name: str | None = None) -> Tensor: ...
@overload
def identity(input: Composite, name: str | None = None) -> Composite: ...
def identity(input: TensorLike | Composite, name: str | None = None) -> Tensor | Composite:
    """A tensor of the same values; of a sparse tensor and its like one of such tensors."""
    if isinstance(input, Composite) and not isinstance(input, Tensor):
        with name_scope(name, "Identity"):
            parts = [ops.Identity(part) for part in input.to_components()]
            return input.from_components(parts)
    return ops.Identity(input, name=name)


def identity_n(input: Iterable[TensorLike], name: str | None = None) -> list[Tensor]:
    """All tensors of a list, once each of them is there."""
    return ops.IdentityN(input, name=name)


def parallel_stack(values: Sequence[TensorLike], name: str = "parallel_stack") -> Tensor:
    """Tensors of one known shape along a new first dimension; ValueError without any."""
    with name_scope(name, "parallel_stack") as scope:
        tensors = [convert_to_tensor(value) for value in values]
        if not tensors:
            raise ValueError("parallel_stack needs at least one tensor")
        rows = [ops.ExpandDims(x, np.int32(0)) for x in tensors]
        shape = (len(rows), *(tensors[0].sizes or ()))
        return ops.ParallelConcat(rows, shape=shape, name=scope)


def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """`input`, which the caller says never changes."""
    return ops.GuaranteeConst(input, name=name)
