"""Order and counts of elements; sums over rows picked by index; moments by weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.arrays import type_name
from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.dtype import as_numpy
from ...core.graph import Tensor
from ...core.named_results import with_names
from ...core.scopes import control_dependencies, name_scope
from ...core.shapes import whole
from ..array import array, creation
from ..array.casting import cast
from ..checks import assert_less
from .arithmetic import truediv
from .reductions import reduce_sum

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike


def _in_order(
    values: Tensor, axis: int, direction: str
) -> tuple[Tensor, Tensor, Callable[[Tensor], Tensor]]:
    """Sorted along the last axis, the places, and what puts the axes back."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            "Argument `direction` should be one of ASCENDING, DESCENDING. Received: "
            f"direction={direction}"
        )
    is_rising = direction == "ASCENDING"
    reverse = ops.Invert if values.dtype.kind in "iu" else ops.Neg
    keys = reverse(values) if is_rising else values
    axis = _scalar_axis(axis, values)
    rank = ops.Rank(values) if values.sizes is None else len(values.sizes)

    def turned(x: Tensor) -> Tensor:
        if axis == -1 or axis + 1 == rank:
            return x
        if isinstance(rank, int):
            order = list(range(rank))
            order[axis], order[-1] = order[-1], order[axis]
            return array.transpose(
                x, convert_to_tensor(np.array(order, np.int32), name="transposition")
            )
        positions = creation.range(rank)
        at = ops.OneHot(np.int32(axis) % rank, rank, True, False)
        is_last = ops.Equal(positions, rank - 1)
        moved = ops.SelectV2(is_last, np.int32(axis) % rank, positions)
        return array.transpose(x, ops.SelectV2(at, ops.Sub(rank, np.int32(1)), moved))

    rows = turned(keys)
    best, positions = ops.TopKV2(rows, creation.shape(rows)[-1])
    return reverse(best) if is_rising else best, positions, turned


def _scalar_axis(axis: int, values: Tensor) -> int:
    """The axis as a number; ValueError when it is none, or out of range."""
    tensor = convert_to_tensor(axis, name="axis")
    known = whole(tensor.value)
    if known is None or known.ndim or known.dtype.kind not in "iu":
        raise ValueError(f"Argument `axis` must be a constant scalar. Received: axis={tensor}.")
    if values.sizes is not None and not -len(values.sizes) <= known < len(values.sizes):
        n = len(values.sizes)
        place = known + n if known < 0 else known
        raise ValueError(f"slice index {place} of dimension 0 out of bounds. The rank is {n}")
    return int(known)


def sort(
    values: TensorLike, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """The elements in order along an axis, of the shape of `values`.

    Args:
        values: Integers or real floats, of rank 1 or more.
        axis: A constant, from -rank to rank - 1.
        direction: "ASCENDING" or "DESCENDING".
        name: Of the operations.

    Raises ValueError for another direction, and for an axis that is not constant or out of range.
    """
    with name_scope(name, "sort", [values]):
        ordered, _, back = _in_order(convert_to_tensor(values), axis, direction)
        return back(ordered)


def argsort(
    values: TensorLike,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """int32: where the elements stand that come in order along an axis, of the shape of `values`.

    Args:
        values: Integers or real floats, of rank 1 or more.
        axis: A constant, from -rank to rank - 1.
        direction: "ASCENDING" or "DESCENDING".
        stable: Taken for TensorFlow's sake: equal elements always stay in their order.
        name: Of the operations.

    Raises ValueError for another direction, and for an axis that is not constant or out of range.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     print(session.run(tf.argsort([3, 1, 2, 1])))
    [1 3 2 0]
    """
    with name_scope(name, "argsort", [values]):
        _, positions, back = _in_order(convert_to_tensor(values), axis, direction)
        return back(positions)


@with_names("ApproxTopK")
def approx_max_k(
    operand: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> list[Tensor]:
    """The k largest elements along a dimension, and where they are; exact here.

    Args:
        operand: Floats.
        k: How many.
        reduction_dimension: Along which.
        recall_target, reduction_input_size_override: Taken for TensorFlow's sake.
        aggregate_to_topk: Whether there may be no more than k.
        name: Of the operation.
    """
    return ops.ApproxTopK(
        operand, k=k, reduction_dimension=reduction_dimension, recall_target=recall_target,
        is_max_k=True, reduction_input_size_override=reduction_input_size_override,
        aggregate_to_topk=aggregate_to_topk, name=name,
    )  # fmt: skip


@with_names("ApproxTopK")
def approx_min_k(
    operand: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> list[Tensor]:
    """The k smallest elements along a dimension, and where they are; exact here.

    Args:
        operand: bfloat16, float16 or float32.
        k: How many, at most the size of the dimension.
        reduction_dimension: Along which.
        recall_target, reduction_input_size_override: Taken for TensorFlow's sake.
        aggregate_to_topk: Whether there may be no more than k.
        name: Of the operation.

    Returns the elements and int32 places, [..., k, ...] each.

    Raises TypeError for other types; InvalidArgumentError or ValueError where `k` is too large.
    """
    return ops.ApproxTopK(
        operand, k=k, reduction_dimension=reduction_dimension, recall_target=recall_target,
        is_max_k=False, reduction_input_size_override=reduction_input_size_override,
        aggregate_to_topk=aggregate_to_topk, name=name,
    )  # fmt: skip


@with_names("UniqueWithCounts")
def unique_with_counts(
    x: TensorLike, out_idx: DTypeLike = np.int32, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The distinct elements, which of them each element is, and how often each comes.

    Args:
        x: [n], of any type.
        out_idx: The type of places and counts, int32 or int64.
        name: Of the operations.

    Returns a named tuple: `y` [m] in the order in which they first come, `idx` [n], `count` [m].

    Raises ValueError for another rank.
    """
    with name_scope(name, "UniqueWithCounts", [x]):
        y, index = ops.Unique(x, out_idx=out_idx)
        ones = ops.OnesLike(index)
        return y, index, ops.UnsortedSegmentSum(ones, index, creation.size(y))


def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = np.int32,
    name: str | None = None,
) -> Tensor:
    """Where each value would go so that its row of the sequence stays in order.

    Args:
        sorted_sequence: [..., n], numbers that do not fall along the last dimension.
        values: [..., m], of the same type and as many rows.
        side: "left": before elements that are equal; "right": behind them.
        out_type: int32 or int64.
        name: Of the operations.

    Returns [..., m] numbers from 0 to n.

    Raises TypeError for two types, ValueError for another side, for scalars and for leading sizes
    that are known to differ.
    """
    if side not in ("left", "right"):
        raise ValueError(f"Invalid value for `side`: {side}. Expected 'right' or 'left'")
    with name_scope(name, "searchsorted", [sorted_sequence, values]):
        sequence, queries = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
        if () in (sequence.sizes, queries.sizes):
            raise ValueError("slice index -1 of dimension 0 out of bounds. A scalar has no rows")
        if sequence.dtype != queries.dtype:
            kind = "LowerBound" if side == "left" else "UpperBound"
            raise TypeError(
                f"Input 'values' of '{kind}' Op has type {type_name(queries.dtype)} that does not "
                f"match type {type_name(sequence.dtype)} of argument 'sorted_inputs'."
            )
        outer, theirs = (x.get_shape()[:-1] for x in (sequence, queries))
        n_rows, n_theirs = outer.num_elements(), theirs.num_elements()
        if n_rows is not None and n_theirs is not None and n_rows != n_theirs:
            raise ValueError(
                f"Leading dim_size of both tensors must match, got {outer} and {theirs}"
            )
        is_same = outer.ndims == theirs.ndims and outer.is_compatible_with(theirs)
        shape = None if is_same else creation.shape(queries)
        if shape is not None:
            flat = (array.reshape(x, [-1, creation.shape(x)[-1]]) for x in (sequence, queries))
            sequence, queries = flat
        row, column = array.expand_dims(sequence, -2), array.expand_dims(queries, -1)
        before = ops.Less(row, column) if side == "left" else ops.LessEqual(row, column)
        places = reduce_sum(cast(before, np.dtype(out_type)), -1)
        return places if shape is None else array.reshape(places, shape)


def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: int = 100,
    dtype: DTypeLike = np.int32,
    name: str | None = None,
) -> Tensor:
    """Which of `nbins` equal parts of a range each value is in; beyond them the outer ones.

    Args:
        values: Numbers of any shape.
        value_range: [2], the lower and the upper end, of the type of `values`.
        nbins: How many parts, at least 1.
        dtype: Of the result, int32 or int64.
        name: Of the operations.

    Returns the shape of `values`, numbers from 0 to nbins - 1.

    Raises ValueError for no parts, or a range of another shape.
    """
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range]):
        x = convert_to_tensor(values, name="values")
        ends = cast(convert_to_tensor(value_range), x.dtype)
        if nbins < 1:
            raise ValueError(f"Requires nbins > 0: {nbins}")
        if ends.sizes not in (None, (None,), (2,)):
            n = ends.get_shape().num_elements()
            words = (
                f"Dimension must be 2 but is {n}"
                if len(ends.sizes or ()) == 1
                else (f"Shape must be rank 1 but is rank {len(ends.sizes or ())}")
            )
            raise ValueError(f"{words} for value_range")
        part = truediv(x - ends[0], ends[1] - ends[0])
        positions = ops.Floor(part * np.asarray(nbins, part.dtype))
        clipped = ops.ClipByValue(positions, *np.array([0, nbins - 1], as_numpy(part.dtype)))
        return cast(clipped, np.dtype(dtype))


def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: int = 100,
    dtype: DTypeLike = np.int32,
    name: str | None = None,
) -> Tensor:
    """[nbins]: how many values are in each of equal parts of a range.

    Args:
        values: Numbers of any shape; the outer parts count what lies beyond.
        value_range: [2], the lower and the upper end, of the type of `values`.
        nbins: How many parts, at least 1.
        dtype: Of the result, int32 or int64.
        name: Of the operations.

    Raises ValueError for no parts, or a range of another shape; when it runs, InvalidArgumentError
    where the range has no width.
    """
    with name_scope(name, "histogram_fixed_width", [values, value_range]):
        ends = convert_to_tensor(value_range, convert_to_tensor(values).dtype)
        positions = histogram_fixed_width_bins(values, ends, nbins)
        words = "value_range should satisfy value_range[0] < value_range[1]"
        with control_dependencies([assert_less(ends[0], ends[1], message=words)]):
            flat = array.reshape(positions, [-1])
        ones = ops.Fill(ops.Shape(flat), np.ones((), np.dtype(dtype)))
        return ops.UnsortedSegmentSum(ones, flat, np.int32(nbins))


def _picked(
    kind: str,
    data: TensorLike,
    rows: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None,
    name: str | None,
    sparse_gradient: bool,
) -> Tensor:
    """Rows picked by index, combined in each segment; lists without numbers are of int32."""
    indices, ids = (
        np.zeros(0, np.int32) if isinstance(x, list) and not x else x for x in (rows, segment_ids)
    )
    attrs = {"name": name, "sparse_gradient": sparse_gradient}
    if num_segments is None:
        return getattr(ops, kind)(data, indices, ids, **attrs)
    return getattr(ops, f"{kind}WithNumSegments")(data, indices, ids, num_segments, **attrs)


def sparse_segment_sum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The sum of rows, picked by index, of each segment; 0 where there are none.

    Args:
        data: [n, ...], integers or real floats.
        indices: [m], int32 or int64: which row, from 0 to n - 1.
        segment_ids: [m], int32 or int64: for which segment; they do not fall.
        name: Of the operation.
        num_segments: How many segments, a scalar; by default one more than the last id.
        sparse_gradient: Whether the gradient of `data` is IndexedSlices.

    Returns [segments, ...].

    Raises ValueError for shapes that do not fit; when it runs, InvalidArgumentError for ids that
    fall and for indices or ids out of range.
    """
    operands = data, indices, segment_ids, num_segments, name, sparse_gradient
    return _picked("SparseSegmentSum", *operands)


def sparse_segment_mean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The mean of rows, picked by index, of each segment; 0 where there are none.

    Args:
        data: [n, ...], real floats.
        indices: [m], int32 or int64: which row, from 0 to n - 1.
        segment_ids: [m], int32 or int64: for which segment; they do not fall.
        name: Of the operation.
        num_segments: How many segments, a scalar; by default one more than the last id.
        sparse_gradient: Whether the gradient of `data` is IndexedSlices.

    Returns [segments, ...]. Raises as `sparse_segment_sum` does, and TypeError for integers.
    """
    operands = data, indices, segment_ids, num_segments, name, sparse_gradient
    return _picked("SparseSegmentMean", *operands)


def sparse_segment_sqrt_n(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The sum of rows, picked by index, of each segment, over the root of how many they are.

    Args:
        data: [n, ...], real floats.
        indices: [m], int32 or int64: which row, from 0 to n - 1.
        segment_ids: [m], int32 or int64: for which segment; they do not fall.
        name: Of the operation.
        num_segments: How many segments, a scalar; by default one more than the last id.
        sparse_gradient: Whether the gradient of `data` is IndexedSlices.

    Returns [segments, ...]. Raises as `sparse_segment_sum` does, and TypeError for integers.
    """
    operands = data, indices, segment_ids, num_segments, name, sparse_gradient
    return _picked("SparseSegmentSqrtN", *operands)


def sufficient_statistics(
    x: TensorLike,
    axes: Sequence[int],
    shift: TensorLike | None = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Count, sum(x - shift), sum((x - shift)**2) along axes, and the shift.

    Args:
        x: Numbers of any shape.
        axes: The dimensions to sum over.
        shift: A number near the mean, of the type of `x`, so that less is lost by rounding.
        keep_dims, keepdims: Whether the dimensions stay with size 1.
        name: Of the operations.

    Returns four tensors of the type of `x`; the first is a scalar, the last None without a shift.
    """
    keep = bool(keepdims if keep_dims is None else keep_dims)
    with name_scope(name, "sufficient_statistics", [x]):
        values = convert_to_tensor(x)
        positions = [int(a) for a in axes]
        sizes = None if values.sizes is None else [values.sizes[a] for a in positions]
        if sizes is not None and None not in sizes:
            count = convert_to_tensor(np.asarray(np.prod([n or 0 for n in sizes]), values.dtype))
        else:
            shape = ops.Cast(ops.Shape(values), DstT=values.dtype)
            picked = ops.GatherV2(shape, np.array(positions, np.int32), np.int32(0))
            count = ops.Prod(picked, np.int32(0))
        moved = None if shift is None else convert_to_tensor(shift, values.dtype)
        centred = values if moved is None else values - moved
        axis = np.array(positions, np.int32)
        total = ops.Sum(centred, axis, keep_dims=keep)
        squares = ops.Square(centred)
        return count, total, ops.Sum(squares, axis, keep_dims=keep), moved


def weighted_moments(
    x: TensorLike,
    axes: TensorLike | None,
    frequency_weights: TensorLike,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """sum(w x) / sum(w) and sum(w (x - mean)**2) / sum(w) along axes; 0 where no weight counts.

    Args:
        x: Floats or complex numbers; those of 16 bits are summed in float32.
        axes: Dimensions, constants; all with None.
        frequency_weights: Of a shape that broadcasts with that of `x`.
        name: Of the operations.
        keep_dims, keepdims: Whether the dimensions stay with size 1.

    Returns mean and variance, of the type of `x`.

    Raises TypeError for integers, ValueError for axes that are not constant.
    """
    keep = bool(keepdims if keep_dims is None else keep_dims)
    with name_scope(name, "weighted_moments", [x, frequency_weights]):
        source = convert_to_tensor(x)
        is_half = source.dtype.itemsize == 2  # whose sums are taken in float32
        values = cast(source, np.float32) if is_half else source
        weights = cast(convert_to_tensor(frequency_weights), values.dtype)
        axis = creation.range(ops.Rank(values)) if axes is None else axes
        axis = convert_to_tensor(axis, name="reduction_indices")
        spread = ops.AddV2(weights, ops.ZerosLike(values))
        count = ops.Sum(spread, axis, keep_dims=True)
        mean = ops.DivNoNan(ops.Sum(weights * values, axis, keep_dims=True), count)
        squares = ops.Sum(weights * ops.SquaredDifference(values, mean), axis, keep_dims=True)
        variance = ops.DivNoNan(squares, count)
        if is_half:
            mean, variance = cast(mean, source.dtype), cast(variance, source.dtype)
        if keep:
            return mean, variance
        positions = whole(axis.value)
        if positions is None:
            raise ValueError(f"axes must be known when the graph is built, got {axes!r}")
        squeezed = [int(place) for place in positions.flat]
        return array.squeeze(mean, squeezed), array.squeeze(variance, squeezed)


def log_poisson_loss(
    targets: TensorLike,
    log_input: TensorLike,
    compute_full_loss: bool = False,
    name: str | None = None,
) -> Tensor:
    """exp(log_input) - log_input * targets, the loss of a Poisson distribution, element by element.

    Args:
        targets: Real floats, not negative: what was counted.
        log_input: Of the same shape and type: the logarithm of the rate.
        compute_full_loss: Whether to add Stirling's approximation of log(targets!), targets *
            log(targets) - targets + log(2 pi targets) / 2, where `targets` is not in [0, 1].
        name: Of the operations.

    Raises ValueError for two shapes, TypeError for integers.
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        rates, counts = convert_to_tensor(log_input), convert_to_tensor(targets)
        if not rates.get_shape().is_compatible_with(counts.get_shape()):
            raise ValueError(
                "`log_input` and `targets` must have the same shape, received "
                f"({rates.get_shape()} vs {counts.get_shape()})."
            )
        loss = ops.Exp(rates) - rates * counts
        if not compute_full_loss:
            return loss
        half = np.asarray(0.5, counts.dtype)
        two_pi = np.asarray(2 * np.pi, counts.dtype)
        stirling = counts * ops.Log(counts) - counts + half * ops.Log(two_pi * counts)
        zeros, ones = ops.ZerosLike(counts), ops.OnesLike(counts)
        is_small = ops.LogicalAnd(ops.GreaterEqual(counts, zeros), ops.LessEqual(counts, ones))
        return loss + ops.SelectV2(is_small, zeros, stirling)
