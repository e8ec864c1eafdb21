"""Elements chosen, placed or ordered by indices."""

from __future__ import annotations

import numpy as np

from ..lowering.boxes import TINY, beyond, with_areas
from ..lowering.moves import (
    as_int32,
    as_type,
    dimension,
    extent,
    int32s,
    like,
    positions,
    reshaped,
    transposed,
)
from .array import from_front
from .offsets import as_rows, columns_of, joined, positions_along, product
from .registry import lower

INT64 = np.dtype(np.int64)


@lower("GatherND")
def gather_nd(node, b):
    """Slices at the coordinates that the last axis of the indices holds."""
    x, indices = node.inputs
    batch_dims, depth = node.attr("batch_dims", 0), node.shape(1)[-1]
    node.require(depth is not None, "the last size of the indices must be known")
    columns = [
        from_front(node, b, x, column, batch_dims + i)
        for i, column in enumerate(columns_of(b, indices, depth))
    ]
    for axis in reversed(range(batch_dims)):
        columns.insert(0, positions_along(b, indices, axis, node.rank(1) - 1))
    return b.GATHER_ND(x, joined(b, columns))


@lower("OneHot")
def one_hot(node, b):
    """The second value at each index along a new axis, the first elsewhere."""
    indices, depth, values = node.inputs
    axis = node.axis(node.attr("axis", -1), 0, 1)
    depth = as_int32(depth, b)
    depth = b.RESHAPE(depth, np.zeros(0, np.int32)) if depth.rank else depth
    indices = as_type(indices, np.int32, b)
    if indices.value is None or (indices.value < 0).any():
        is_negative = b.LESS(indices, np.int32(0))
        indices = b.SELECT_V2(is_negative, b.ADD(indices, depth), indices)
    off, on = b.UNPACK(values, axis=0, num=2)
    return b.ONE_HOT(indices, depth, on, off, axis=-1 if axis == node.rank() else axis)


@lower("TopK")
def top_k(node, b):
    """The k largest or smallest elements along an axis, in order, and their indices."""
    x, k = node.inputs[0], node.input(1)
    k = _scalar(b, b.constant(np.int32(node.attr("k"))) if k is None else as_int32(k, b))
    axis, rank = node.axis(node.attr("axis", -1)), node.rank()
    order = [*(i for i in range(rank) if i != axis), axis]
    x, largest = transposed(x, order, b), node.attr("largest", 1)
    node.require(largest or x.dtype.kind != "u", f"the smallest of {x.dtype} are not supported")
    values, indices = b.TOPK_V2(x if largest else b.NEG(x), k)
    values = values if largest else b.NEG(values)
    back = np.argsort(order).tolist()
    return transposed(values, back, b), transposed(b.CAST(indices, dtype=INT64), back, b)


@lower("NonZero")
def non_zero(node, b):
    """The coordinates of all elements that are not 0, one row for each axis."""
    return b.TRANSPOSE(b.WHERE(node.inputs[0], dtype=INT64), int32s([1, 0]))


@lower("Compress")
def compress(node, b):
    """The slices along an axis, or of the elements those, for which a condition holds."""
    x, condition = node.inputs
    axis = node.attr("axis", None)
    x = reshaped(x, (-1,), b) if axis is None else x
    element_indices = b.RESHAPE(b.WHERE(condition, dtype=INT64), int32s([-1]))
    return b.GATHER(
        x, b.CAST(element_indices, dtype=np.int32), axis=0 if axis is None else node.axis(axis)
    )


@lower("Unique")
def unique(node, b):
    """The distinct elements, sorted or not, where each is first, which one each is, how often."""
    x = node.inputs[0]
    if node.attr("axis", None) is not None and node.rank() != 1:
        return _unique_slices(node, b, x, node.axis(node.attr("axis")))
    x = reshaped(x, (-1,), b)
    values, element_indices = b.UNIQUE(x, idx_out_type="INT32", dtype=[x.dtype, np.int32])
    count = dimension(values, 0, b)
    is_each = b.EQUAL(
        b.EXPAND_DIMS(b.RANGE(np.int32(0), count, np.int32(1)), np.int32(1)),
        b.EXPAND_DIMS(element_indices, np.int32(0)),
    )
    counts = b.SUM(b.CAST(is_each, dtype=np.int32), int32s([1]))
    first = b.ARG_MAX(b.CAST(is_each, dtype=np.int32), np.int32(1), dtype=np.int32,
                      output_type=b.tensor_type(np.int32))  # fmt: skip
    if node.attr("sorted", 1):
        node.require(x.dtype.kind != "u", f"sorted elements of {x.dtype} are not supported")
        _, order = b.TOPK_V2(b.NEG(x if x is None else values), count)
        rank_of = b.SCATTER_ND(
            b.EXPAND_DIMS(order, np.int32(1)),
            b.RANGE(np.int32(0), count, np.int32(1)),
            b.SHAPE(values, out_type="INT32"),
        )
        values, first, counts = (b.GATHER(y, order) for y in (values, first, counts))
        element_indices = b.GATHER(rank_of, element_indices)
    return values, *(b.CAST(y, dtype=INT64) for y in (first, element_indices, counts))


def _unique_slices(node, b, x, axis):
    """The same of slices along an axis, sorted by their elements one after another."""
    node.require(x.dtype.kind in "if", f"distinct slices of {x.dtype} are not supported")
    order = [axis, *(i for i in range(x.rank) if i != axis)]
    slices = transposed(x, order, b)
    rows = as_rows(b, slices, product(b, [extent(slices, i, b) for i in range(1, x.rank)]))
    each, other = b.EXPAND_DIMS(rows, np.int32(1)), b.EXPAND_DIMS(rows, np.int32(0))
    differs = b.NOT_EQUAL(each, other)
    is_same = b.LOGICAL_NOT(b.REDUCE_ANY(differs, int32s([2])))
    first = b.ARG_MAX(b.CAST(is_same, dtype=np.int32), np.int32(1), dtype=np.int32,
                      output_type=b.tensor_type(np.int32))  # fmt: skip
    row_indices = positions(rows, 0, b)
    is_new = b.EQUAL(first, row_indices)
    if node.attr("sorted", 1):
        before = b.CUMSUM(b.CAST(differs, dtype=np.int32), np.int32(2), exclusive=True)
        decides = b.LOGICAL_AND(b.EQUAL(before, np.int32(0)), b.GREATER(each, other))
        is_after = b.REDUCE_ANY(decides, int32s([2]))
    else:
        is_after = b.GREATER(
            b.EXPAND_DIMS(first, np.int32(1)), b.EXPAND_DIMS(row_indices, np.int32(0))
        )
    is_after = b.LOGICAL_AND(is_after, b.EXPAND_DIMS(is_new, np.int32(0)))
    rank_of = b.SUM(b.CAST(is_after, dtype=np.int32), int32s([1]))
    new = b.RESHAPE(b.WHERE(is_new, dtype=INT64), int32s([-1]))
    new = b.CAST(new, dtype=np.int32)
    count = b.SHAPE(new, out_type="INT32")
    first = b.SCATTER_ND(b.EXPAND_DIMS(b.GATHER(rank_of, new), np.int32(1)), new, count)
    is_each = b.EQUAL(
        b.EXPAND_DIMS(positions(first, 0, b), np.int32(1)), b.EXPAND_DIMS(rank_of, np.int32(0))
    )
    counts = b.SUM(b.CAST(is_each, dtype=np.int32), int32s([1]))
    values = transposed(b.GATHER(slices, first), np.argsort(order).tolist(), b)
    return values, *(b.CAST(y, dtype=INT64) for y in (first, rank_of, counts))


@lower("ReverseSequence")
def reverse_sequence(node, b):
    """Each row reversed up to its own length."""
    x, lengths = node.inputs
    axes = {"seq_dim": node.axis(node.attr("time_axis", 0)),
            "batch_dim": node.axis(node.attr("batch_axis", 1))}  # fmt: skip
    return b.REVERSE_SEQUENCE(x, as_int32(lengths, b), **axes)


@lower("Trilu")
def trilu(node, b):
    """The upper or lower triangle, shifted by k, zeros elsewhere."""
    x, rank, k = node.inputs[0], node.rank(), node.input(1)
    rows, columns = (positions_along(b, x, rank - n, rank) for n in (2, 1))
    difference = b.SUB(columns, rows)
    k = b.constant(np.int32(0)) if k is None else as_int32(k, b)
    k = reshaped(k, (), b) if k.rank else k
    is_inside = (b.GREATER_EQUAL if node.attr("upper", 1) else b.LESS_EQUAL)(difference, k)
    return b.SELECT_V2(is_inside, x, like(x, 0, b))


@lower("EyeLike")
def eye_like(node, b):
    """Ones on a diagonal, zeros elsewhere, in the shape of the input."""
    x = node.inputs[0]
    dtype = x.dtype if node.attr("dtype", None) is None else node.dtype("dtype")
    rows, columns = (positions_along(b, x, axis, 2) for axis in (0, 1))
    shifted = b.ADD(rows, np.int32(node.attr("k", 0)))
    return as_type(b.EQUAL(columns, shifted), dtype, b)


@lower("CumSum")
def cum_sum(node, b):
    """Sums of the elements up to each one along an axis."""
    x, axis = node.inputs[0], as_int32(node.inputs[1], b)
    axis = reshaped(axis, (), b) if axis.rank else axis
    options = {name: bool(node.attr(name, 0)) for name in ("exclusive", "reverse")}
    return b.CUMSUM(x, axis, **options)


@lower("CumProd")
def cum_prod(node, b):
    """Products of the elements up to each one along an axis; of all axes, if it is computed."""
    rank, axis = node.rank(), node.known(1)
    if axis is not None:
        return _products_along(node, b, node.axis(np.ravel(axis)[0]))
    axis = reshaped(as_int32(node.inputs[1], b), (), b)
    axis = b.SELECT_V2(b.LESS(axis, np.int32(0)), b.ADD(axis, np.int32(rank)), axis)
    out = _products_along(node, b, 0)
    for i in range(1, rank):
        out = b.SELECT_V2(b.EQUAL(axis, np.int32(i)), _products_along(node, b, i), out)
    return out


def _products_along(node, b, axis):
    """Products of the elements up to each one along an axis: those of 2, then of 4 elements, ..."""
    x, length, rank = node.inputs[0], node.shape()[axis], node.rank()
    node.require(length is not None, f"the size of axis {axis} must be known")
    is_reversed = bool(node.attr("reverse", 0))
    step, shift = 1, 1 if node.attr("exclusive", 0) else 0
    x = _shifted(b, x, axis, rank, length, shift, is_reversed) if shift else x
    while step < length:
        x = b.MUL(x, _shifted(b, x, axis, rank, length, step, is_reversed))
        step *= 2
    return x


def _shifted(b, x, axis, rank, length, step, is_reversed):
    """`x` moved along an axis, with ones where nothing comes from."""
    begin, size, pairs = np.zeros(rank, np.int32), np.full(rank, -1, np.int32), np.zeros((rank, 2))
    size[axis] = max(length - step, 0)
    begin[axis] = min(step, length) if is_reversed else 0
    pairs[axis, 1 if is_reversed else 0] = min(step, length)
    return b.PADV2(b.SLICE(x, begin, size), pairs.astype(np.int32), like(x, 1, b))


@lower("NonMaxSuppression")
def non_max_suppression(node, b):
    """The boxes of each image and class that do not overlap a better one: (image, class, box)."""
    boxes, scores = node.inputs[:2]
    n_images, n_classes, n_boxes = node.shape(1)
    node.require(
        None not in (n_images, n_classes), "the number of images and classes must be known"
    )
    limit = node.input(2)
    if limit is None:
        return b.constant(np.zeros((0, 3), np.int64))
    limit = _scalar(b, as_int32(limit, b))
    overlap = beyond(_scalar(b, node.input(3)), b) if node.input(3) is not None else TINY
    threshold = _scalar(b, node.input(4)) if node.input(4) is not None else None
    lowest = np.float32(np.finfo(np.float32).min)
    count = b.constant(np.int32(n_boxes)) if n_boxes is not None else dimension(boxes, 1, b)
    limit = b.MINIMUM(limit, count)
    if node.attr("center_point_box", 0):
        boxes = _corners(b, boxes)
    boxes = with_areas(boxes, b)
    rows = []
    for image in range(n_images):
        for kind in range(n_classes):
            indices, chosen = b.NON_MAX_SUPPRESSION_V4(
                b.GATHER(boxes, np.int32(image)),
                b.GATHER(b.GATHER(scores, np.int32(image)), np.int32(kind)),
                limit, overlap, lowest if threshold is None else threshold,
            )  # fmt: skip
            indices = b.SLICE(indices, int32s([0]), b.RESHAPE(chosen, int32s([1])))
            column = b.CAST(b.EXPAND_DIMS(indices, np.int32(1)), dtype=INT64)
            zero_column = b.MUL(column, np.int64(0))
            columns = [b.ADD(zero_column, np.int64(n)) for n in (image, kind)]
            rows.append(b.CONCATENATION(*columns, column, axis=1))
    return rows[0] if len(rows) == 1 else b.CONCATENATION(*rows, axis=0)


def _scalar(b, x):
    return reshaped(x, (), b) if x.rank else x


def _corners(b, boxes):
    """Boxes of (x, y, width, height) as (y1, x1, y2, x2)."""
    x, y, width, height = b.SPLIT(np.int32(2), boxes, num_splits=4)
    half = [b.MUL(n, np.float32(0.5)) for n in (width, height)]
    low, high = ([op(x, half[0]), op(y, half[1])] for op in (b.SUB, b.ADD))
    return b.CONCATENATION(low[1], low[0], high[1], high[0], axis=2)
