"""Elements put where indices say, and rows brought together by segments."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lowering.distinct import has_distinct_tuples
from ..lowering.moves import (
    as_int32,
    as_type,
    dimension,
    element,
    inside_of,
    int32s,
    like,
    positions,
    reshaped,
    slice_along,
    zeros_unless,
)
from .array import expand_spec
from .registry import lower

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor

SEGMENTS = {
    "UnsortedSegmentMax": "UNSORTED_SEGMENT_MAX",
    "UnsortedSegmentMin": "UNSORTED_SEGMENT_MIN",
    "UnsortedSegmentProd": "UNSORTED_SEGMENT_PROD",
    "UnsortedSegmentSum": "UNSORTED_SEGMENT_SUM",
}
ADDABLE = (np.float32, np.int8, np.uint8, np.int32, np.int64, np.bool_)
"""Types that SCATTER_ND has."""
MAX_BROADCAST = 5  # dimensions of a SELECT_V2 that broadcasts
SORTED = {"SegmentMax": "UNSORTED_SEGMENT_MAX", "SegmentMin": "UNSORTED_SEGMENT_MIN"}


@lower("ScatterNd")
def scatter_nd(node, b):
    """Zeros, with the sum of updates at index tuples."""
    indices, updates, shape = node.inputs
    return sum_at(node, indices, updates, as_int32(shape, b), b)


def sum_at(node, indices, updates, shape, b):
    """Zeros, with the sum of updates at index tuples, or at those inside of the shape."""
    indices = as_int32(indices, b)
    if node.text("bad_indices_policy") == "IGNORE":
        inside, indices = inside_of(indices, shape, b)
        updates = zeros_unless(inside, updates, b)
    return b.SCATTER_ND(indices, updates, shape)


@lower("SparseToDense")
def sparse_to_dense(node, b):
    """A default everywhere, with values at index tuples."""
    return b.SPARSE_TO_DENSE(*node.inputs)


@lower(*SEGMENTS)
def unsorted_segment(node, b):
    """The rows of each segment brought together."""
    x, ids, count = node.inputs
    return getattr(b, SEGMENTS[node.type])(x, as_int32(ids, b), as_int32(count, b))


@lower("SegmentSum")
def segment_sum(node, b):
    """The sum of the rows of each segment; ids are sorted."""
    x, ids = node.inputs
    return b.SEGMENT_SUM(x, as_int32(ids, b))


def n_segments(ids, b):
    """One more than the largest id."""
    return b.ADD(b.REDUCE_MAX(ids, np.array([0], np.int32)), np.int32(1))


def row_counts(ids, count, rank, dtype, b):
    """How many rows each segment has, with `rank` axes of which the last are 1."""
    ones = b.FILL(b.SHAPE(ids, out_type="INT32"), np.ones((), dtype))
    counts = b.UNSORTED_SEGMENT_SUM(ones, ids, count)
    return b.RESHAPE(counts, np.array([-1, *[1] * (rank - 1)], np.int32)) if rank > 1 else counts


@lower(*SORTED)
def segment_extreme(node, b):
    """The largest or smallest of each segment, 0 for an empty one; ids are sorted."""
    x, ids = node.inputs[0], as_int32(node.inputs[1], b)
    count = n_segments(ids, b)
    rows = row_counts(ids, count, node.rank(), np.int32, b)
    extreme = getattr(b, SORTED[node.type])(x, ids, count)
    return b.SELECT_V2(b.GREATER(rows, np.int32(0)), extreme, like(x, 0, b))


@lower("SegmentProd")
def segment_prod(node, b):
    """The product of each segment, 1 for an empty one; ids are sorted."""
    x, ids = node.inputs[0], as_int32(node.inputs[1], b)
    return b.UNSORTED_SEGMENT_PROD(x, ids, n_segments(ids, b))


@lower("SegmentMean")
def segment_mean(node, b):
    """The mean of each segment, 0 for an empty one; ids are sorted."""
    x, ids = node.inputs[0], as_int32(node.inputs[1], b)
    return divided_sum(node, b, x, ids, n_segments(ids, b), lambda n: n)


def divided_sum(node, b, x, ids, count, divisor):
    """The sum of each segment over `divisor` of its number of rows."""
    rows = row_counts(ids, count, node.rank(), x.dtype, b)
    return b.DIV(b.UNSORTED_SEGMENT_SUM(x, ids, count), divisor(b.MAXIMUM(rows, like(x, 1, b))))


@lower(
    *("SparseSegmentSum", "SparseSegmentSumWithNumSegments"),
    *("SparseSegmentMean", "SparseSegmentMeanWithNumSegments"),
    *("SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments"),
)
def sparse_segment(node, b):
    """Rows at some indices, brought together by segments: summed, over n or over its root."""
    x, indices, ids = node.inputs[0], *(as_int32(t, b) for t in node.inputs[1:3])
    count = as_int32(node.inputs[3], b) if len(node.inputs) > 3 else n_segments(ids, b)
    rows = b.GATHER(x, indices, axis=0)
    if "Sum" in node.type:
        return b.UNSORTED_SEGMENT_SUM(rows, ids, count)
    return divided_sum(node, b, rows, ids, count, b.SQRT if "SqrtN" in node.type else lambda n: n)


def flat_indices(node, b, x, indices):
    """Index tuples into the first axes of `x` as numbers of slices; the number of all slices."""
    depth = node.shape(1)[-1]
    node.require(depth is not None, "the length of its index tuples must be known")
    sizes = x.dims[:depth]
    if depth == 1:
        count = dimension(x, 0, b) if sizes[0] is None else b.constant(np.int32(sizes[0]))
        return b.RESHAPE(indices, np.array([-1], np.int32)), count
    if None in sizes:
        extents = [dimension(x, i, b) for i in range(depth)]
    else:
        extents = [b.constant(np.int32(n)) for n in sizes]
    strides = [b.constant(np.int32(1))]
    for extent in extents[:0:-1]:
        strides.insert(0, b.MUL(strides[0], extent))
    weights = b.PACK(*strides, axis=0, values_count=depth)
    flat = b.SUM(b.MUL(indices, weights), np.array([-1], np.int32))
    return b.RESHAPE(flat, np.array([-1], np.int32)), b.MUL(strides[0], extents[0])


def slices_of(x, depth, b):
    """`x` with its first `depth` axes as one."""
    if depth == 1:
        return x
    sizes = x.dims[depth:]
    if list(sizes).count(None) == 0:
        return b.RESHAPE(x, np.array([-1, *sizes], np.int32))
    sizes = b.SLICE(
        b.SHAPE(x, out_type="INT32"), np.array([depth], np.int32), np.array([-1], np.int32)
    )
    return b.RESHAPE(x, b.CONCATENATION(np.array([-1], np.int32), sizes, axis=0))


def scatter_combined(node, b, combine):
    """A tensor with updates at index tuples, `combine(slices, flat indices, rows, count)`."""
    x, updates = node.inputs[0], node.inputs[2]
    indices, depth = as_int32(node.inputs[1], b), node.shape(1)[-1]
    if depth == 0:
        node.fail("its index tuples must not be empty")
    if node.text("bad_indices_policy") == "IGNORE":
        node.fail("bad_indices_policy must not be IGNORE; leave out what is outside before it")
    flat, count = flat_indices(node, b, x, indices)
    rows = (
        slices_of(updates, node.rank(1) - 1, b)
        if node.rank(1) > 1
        else b.EXPAND_DIMS(updates, np.int32(0))
    )
    y = combine(slices_of(x, depth, b), flat, rows, count)
    return y if depth == 1 else b.RESHAPE(y, shape_of(x, b))


def shape_of(x, b):
    """The shape of `x`: constant where it is known."""
    if x.is_static:
        return b.constant(np.int32(x.shape))
    return b.SHAPE(x, out_type="INT32")


@lower("TensorScatterUpdate")
def tensor_scatter_update(node, b):
    """The tensor with other slices at index tuples; of several at one place the last."""
    x, indices, updates = node.inputs
    if _is_placed_once(x, indices) and node.text("bad_indices_policy") != "IGNORE":
        return slices_placed(x, as_int32(indices, b), updates, node.shape(1)[1], b)

    def combine(slices, flat, rows, count):
        return rows_replaced(slices, flat, rows, count, b)

    return scatter_combined(node, b, combine)


def _is_placed_once(x: Tensor, indices: Tensor) -> bool:
    """Whether updates may be added up to zeros, as no two have the same place."""
    sizes = indices.sizes
    return (
        x.sizes is not None
        and x.dtype in ADDABLE
        and (sizes is not None and len(sizes) == 2 and isinstance(sizes[1], int))
        and (len(x.dims) <= MAX_BROADCAST or sizes[1] == len(x.dims))
        and has_distinct_tuples(indices)
    )


def slices_placed(x: Tensor, indices: Tensor, updates: Tensor, depth: int, b: Builder) -> Tensor:
    """A tensor with other slices at places that are told by a list of different index tuples."""
    shape = shape_of(x, b)
    placed = b.SCATTER_ND(indices, updates, shape)
    if x.value is not None and not x.value.any():
        return placed
    n, column = indices.dims[0], (1,) * (len(x.dims) - depth)
    if n is not None:
        flags = b.constant(np.ones((n, *column), np.bool_))
    else:
        first = slice_along(indices, 1, 0, 1, b)
        flags = reshaped(b.EQUAL(first, first), (-1, *column), b)
    if column and x.is_static:
        shape = b.constant(int32s([*(n or 0 for n in x.dims[:depth]), *column]))
    elif column:
        shape = b.CONCATENATION(slice_along(shape, 0, 0, depth, b), int32s(column), axis=0)
    return b.SELECT_V2(b.SCATTER_ND(indices, flags, shape), placed, x)


def rows_replaced(slices, flat, rows, count, b):
    """Slices, `count` of them, with others at some positions; of several at one the last."""
    last = b.UNSORTED_SEGMENT_MAX(positions(flat, 0, b), flat, count)
    zero = b.constant(np.int32(0))
    is_updated = b.GREATER_EQUAL(last, zero)
    chosen = b.GATHER(rows, b.MAXIMUM(last, zero), axis=0)
    if slices.rank > 1:
        return b.SELECT(is_updated, chosen, slices)  # a vector of conditions chooses whole slices
    return b.SELECT_V2(is_updated, chosen, slices)


@lower("TensorScatterMax", "TensorScatterMin")
def tensor_scatter_extreme(node, b):
    """The larger, or smaller, of the tensor and the updates at index tuples."""
    name = {"TensorScatterMax": "MAX", "TensorScatterMin": "MIN"}[node.type]
    choose = {"MAX": b.MAXIMUM, "MIN": b.MINIMUM}[name]

    def combine(slices, flat, rows, count):
        return choose(slices, getattr(b, f"UNSORTED_SEGMENT_{name}")(rows, flat, count))

    return scatter_combined(node, b, combine)


@lower("TensorScatterAdd", "TensorScatterSub")
def tensor_scatter_add(node, b):
    """The tensor plus, or minus, the updates at index tuples."""
    x, indices, updates = node.inputs
    total = sum_at(node, indices, updates, shape_of(x, b), b)
    return b.ADD(x, total) if node.type == "TensorScatterAdd" else b.SUB(x, total)


@lower("DynamicPartition")
def dynamic_partition(node, b):
    """The slices that have each number."""
    x, numbers = node.inputs
    parts = []
    for i in range(node.attr("num_partitions")):
        element_indices = b.WHERE(b.EQUAL(numbers, np.int32(i)), dtype=np.int64)
        parts.append(b.GATHER_ND(x, as_type(element_indices, np.int32, b)))
    return tuple(parts)


@lower("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(node, b):
    """Slices put where their indices say; later ones win, and zeros where none is."""
    n = len(node.inputs) // 2
    lists = [b.RESHAPE(as_int32(t, b), np.array([-1], np.int32)) for t in node.inputs[:n]]
    values = []
    for i, x in enumerate(node.inputs[n:]):
        rank = node.rank(i)
        values.append(slices_of(x, rank, b) if rank else b.EXPAND_DIMS(x, np.int32(0)))
    flat = lists[0] if n == 1 else b.CONCATENATION(*lists, axis=0)
    rows = values[0] if n == 1 else b.CONCATENATION(*values, axis=0)
    last = b.UNSORTED_SEGMENT_MAX(positions(flat, 0, b), flat, n_segments(flat, b))
    zero = b.constant(np.int32(0))
    stitched = b.GATHER(rows, b.MAXIMUM(last, zero), axis=0)
    if last.value is not None and (last.value >= 0).all():
        return stitched
    is_updated = b.GREATER_EQUAL(last, zero)
    if rows.rank > 1:
        is_updated = b.RESHAPE(is_updated, np.array([-1, *[1] * (rows.rank - 1)], np.int32))
    return b.SELECT_V2(is_updated, stitched, like(rows, 0, b))


@lower("Unique", "UniqueV2")
def unique(node, b):
    """The distinct elements of a vector and, for each element, its index among them."""
    x = node.inputs[0]
    node.require(node.rank() == 1, f"the input must have one dimension, got {node.shape()}")
    return b.UNIQUE(x, idx_out_type=b.tensor_type(node.attr("out_idx")))


@lower("ListDiff")
def list_diff(node, b):
    """The elements of `x` that are not in `y`, and where they stand."""
    x, y = node.inputs
    same = b.EQUAL(b.EXPAND_DIMS(x, np.int32(1)), y)
    missing = b.LOGICAL_NOT(b.REDUCE_ANY(same, np.array([1], np.int32)))
    where = b.RESHAPE(b.WHERE(missing, dtype=np.int64), np.array([-1], np.int32))
    index = as_type(where, np.int32, b)
    return b.GATHER(x, index, axis=0), as_type(where, node.attr("out_idx"), b)


@lower("InTopKV2")
def in_top_k(node, b):
    """Whether each target is among the k best predictions of its row."""
    scores, targets, k = node.inputs[0], *(as_int32(t, b) for t in node.inputs[1:])
    columns = b.constant(np.int32(node.shape()[1])) if node.shape()[1] else dimension(scores, 1, b)
    zero = b.constant(np.int32(0))
    last = b.SUB(columns, np.int32(1))
    clipped = b.MAXIMUM(b.MINIMUM(targets, last), zero)
    chosen = b.GATHER(scores, b.EXPAND_DIMS(clipped, np.int32(1)), axis=1, batch_dims=1)
    n_greater = b.SUM(as_type(b.GREATER(scores, chosen), np.int32, b), np.array([1], np.int32))
    chosen = b.SQUEEZE(chosen, squeeze_dims=[1])
    is_finite = b.EQUAL(b.SUB(chosen, chosen), like(chosen, 0, b))
    is_inside = b.EQUAL(clipped, targets)
    return b.LOGICAL_AND(b.LOGICAL_AND(is_inside, is_finite), b.LESS(n_greater, k))


@lower("InvertPermutation")
def invert_permutation(node, b):
    """The permutation that undoes this one."""
    (x,) = node.inputs
    if x.value is not None:
        return b.constant(np.argsort(x.value).astype(x.dtype))
    size = b.SHAPE(x, out_type="INT32")
    indices = b.EXPAND_DIMS(as_type(x, np.int32, b), b.constant(np.int32(1)))
    return as_type(b.SCATTER_ND(indices, positions(x, 0, b), size), x.dtype, b)


def moved_back(node, b, updates, element_indices, shape):
    """Zeros of a known shape, with the sum of `updates` at places counted in a row."""
    flat = b.RESHAPE(updates, np.array([element_indices.size], np.int32))
    at = b.constant(np.int32(element_indices).reshape(-1, 1))
    return b.RESHAPE(
        b.SCATTER_ND(at, flat, np.array([prod(shape)], np.int32)), np.array(shape, np.int32)
    )


def sliced(node, element_indices, first):
    """The block of `element_indices` that the inputs from `first` on say, as StridedSlice does."""
    from ...graph.core.evaluate import evaluate
    from ...graph.core.graph import Graph

    graph = Graph()
    inputs = [
        graph.constant(x) for x in (element_indices, *(node.constant(first + i) for i in range(3)))
    ]
    names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    attrs = {name: node.attr(name) for name in names}
    (block,) = evaluate(graph, graph.add("StridedSlice", "block", inputs, attrs).outputs, {})
    return block


@lower("StridedSliceGrad")
def strided_slice_grad(node, b):
    """Zeros with the gradient at what a strided slice took."""
    shape = [int(n) for n in node.constant(0)]
    node.require(None not in node.shape(4), f"its shape must be known, got {node.shape(4)}")
    element_indices = sliced(node, np.arange(prod(shape)).reshape(shape), 1)
    return moved_back(node, b, node.inputs[4], element_indices, shape)


@lower("TensorStridedSliceUpdate")
def tensor_strided_slice_update(node, b):
    """The tensor with another block where a strided slice would take one."""
    x, strides, value = node.inputs[0], node.inputs[3].value, node.inputs[4]
    if strides is not None and (strides == 1).all() and x.dtype != np.object_:
        return _with_block(node, b)
    shape = node.shape()
    node.require(None not in shape, f"its shape must be known, got {shape}")
    element_indices = sliced(node, np.arange(prod(shape)).reshape(shape), 1)
    joined = b.CONCATENATION(*(b.RESHAPE(t, np.array([-1], np.int32)) for t in (x, value)), axis=0)
    order = np.arange(prod(shape), dtype=np.int32)
    order[element_indices.ravel()] = prod(shape) + np.arange(element_indices.size)
    return b.RESHAPE(b.GATHER(joined, b.constant(order), axis=0), np.array(shape, np.int32))


def _with_block(node, b):
    """`x` with a block of steps of 1, whose first corner may be computed.

    The block is as large as the value, which TensorFlow does not broadcast. A range that begins
    before 0 and ends behind it is empty to TensorFlow, which writes nothing; here it is the last.
    """
    x, begin, value = node.inputs[0], as_int32(node.inputs[1], b), node.inputs[4]
    columns, new_axes = expand_spec(node, node.rank())
    whole, shrunk = node.attr("begin_mask"), node.attr("shrink_axis_mask")
    is_index = [c is not None and shrunk >> c & 1 for c in columns]
    sizes, axes = iter(value.dims), list(is_index)
    for position in new_axes:
        axes.insert(position, None)
    block = [1 if axis else next(sizes) for axis in axes]
    block = [n for n, axis in zip(block, axes, strict=True) if axis is not None]
    if len(block) != len(value.dims) or new_axes:
        node.require(block.count(None) < 2, f"its block must have known sizes, got {block}")
        value = reshaped(value, [-1 if n is None else n for n in block], b)
    if tuple(block) == tuple(x.dims) and None not in block:
        return value
    columns = [
        c if index or (c is not None and not whole >> c & 1) else None
        for c, index in zip(columns, is_index, strict=True)
    ]
    return b.DYNAMIC_UPDATE_SLICE(x, value, _corner(x, begin, columns, is_index, b))


def _corner(x, begin, columns, is_index, b):
    """Where a slice begins on each axis: the column of `begin` that says so, None for 0."""
    n = next((i for i, c in enumerate(columns) if c != i), len(columns))
    if any(c is not None for c in columns[n:]):
        padded = b.CONCATENATION(begin, int32s([0]), axis=0)
        last = begin.dims[0]
        begin = b.GATHER(padded, int32s([last if c is None else c for c in columns]), axis=0)
    else:
        begin = begin if n == begin.dims[0] else slice_along(begin, 0, 0, n, b)
        if n < len(columns):
            begin = b.CONCATENATION(begin, np.zeros(len(columns) - n, np.int32), axis=0)
    if begin.value is not None and (begin.value >= 0).all():
        return begin
    sizes = b.SHAPE(x, out_type="INT32")
    if all(index or c is None for c, index in zip(columns, is_index, strict=True)):
        return b.FLOOR_MOD(begin, sizes)  # an index that is outside is an error
    return b.SELECT_V2(b.LESS(begin, b.constant(np.int32(0))), b.ADD(begin, sizes), begin)


@lower("MirrorPadGrad")
def mirror_pad_grad(node, b):
    """The gradient summed where the border was mirrored from."""
    padded, pairs = node.shape(), node.constant(1)
    node.require(None not in padded, f"its shape must be known, got {padded}")
    shape = [int(n - before - after) for n, (before, after) in zip(padded, pairs, strict=True)]
    mode: Any = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}[node.text("mode")]
    element_indices = np.pad(np.arange(prod(shape)).reshape(shape), pairs, mode=mode)
    return moved_back(node, b, node.inputs[0], element_indices, shape)


@lower("UniqueWithCounts")
def unique_with_counts(node, b):
    """The distinct elements of a vector, for each element which it is, and how often."""
    x, dtype = node.inputs[0], node.attr("out_idx")
    values, index = b.UNIQUE(x, idx_out_type="INT32")
    ones = b.FILL(b.SHAPE(index, out_type="INT32"), np.int32(1))
    counts = b.UNSORTED_SEGMENT_SUM(ones, index, dimension(values, 0, b))
    return values, as_type(index, dtype, b), as_type(counts, dtype, b)


@lower("Bincount", "DenseBincount")
def bincount(node, b):
    """How often each number appears, or the sum of the weights of where it does.

    Numbers become rows of ones and zeros, and numbers that are too large of zeros alone.
    """
    x, size, weights = node.inputs
    is_binary = node.type == "DenseBincount" and node.attr("binary_output")
    if node.type == "Bincount":
        x = b.RESHAPE(x, np.array([-1], np.int32))
    rank = x.rank
    one, zero = (like(weights, n, b) for n in (1, 0))
    rows = b.ONE_HOT(x, as_int32(size, b), one, zero, axis=-1)
    if is_binary:
        return b.REDUCE_MAX(rows, np.array([rank - 1], np.int32))
    if 0 not in node.shape(2):
        node.require(None not in node.shape(2), "whether there are weights must be known")
        spread = (
            b.RESHAPE(weights, np.array([-1], np.int32)) if node.type == "Bincount" else weights
        )
        rows = b.MUL(rows, b.EXPAND_DIMS(spread, np.int32(-1)))
    return b.SUM(rows, np.array([rank - 1], np.int32))


@lower("LowerBound", "UpperBound")
def bound(node, b):
    """Where in each sorted row the values would go: how many elements are before them."""
    rows, values = node.inputs
    is_before = b.LESS if node.type == "LowerBound" else b.LESS_EQUAL
    flags = is_before(b.EXPAND_DIMS(rows, np.int32(1)), b.EXPAND_DIMS(values, np.int32(2)))
    return as_type(
        b.SUM(as_type(flags, np.int32, b), np.array([2], np.int32)), node.attr("out_type"), b
    )


@lower("HistogramFixedWidth")
def histogram_fixed_width(node, b):
    """How many values lie in each of some intervals of equal width; those outside in the nearest.

    The index of an interval is floor((x - low) / width).
    """
    values, limits = (as_type(x, np.float32, b) for x in node.inputs[:2])
    count = as_int32(node.inputs[2], b)
    low, high = (element(limits, i, b) for i in (0, 1))
    width = b.DIV(b.SUB(high, low), b.CAST(count, dtype=np.float32))
    flat = b.RESHAPE(values, np.array([-1], np.int32))
    steps = b.FLOOR(b.DIV(b.SUB(b.MAXIMUM(flat, low), low), width))
    last = b.SUB(count, np.int32(1))
    steps = b.MINIMUM(steps, b.CAST(last, dtype=np.float32))  # infinite ones are no integers
    indices = b.CAST(steps, dtype=np.int32)
    ones = b.ADD(b.MUL(indices, np.int32(0)), np.int32(1))
    return as_type(b.UNSORTED_SEGMENT_SUM(ones, indices, count), node.attr("dtype"), b)
