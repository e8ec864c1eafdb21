"""Derivatives of reductions, running sums and sums over segments."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from ..core.build import number, ops, shape_of
from ..core.graph import Operation, Tensor
from ..core.shapes import is_static, value
from .elementwise import conj
from .registry import constant, gradient


def _keep_dims(op: Operation, tensor: Tensor) -> Tensor:
    """A result, or its gradient, with 1 in the place of each reduced dimension."""
    if op.get_attr("keep_dims"):
        return tensor
    x, axes = op.inputs
    known_axes = value(op, 1)
    if x.sizes is not None and known_axes is not None:
        reduced = {int(axis) % len(x.sizes) for axis in known_axes.flat}
        shape = [1 if i in reduced else size for i, size in enumerate(x.sizes)]
        if shape.count(None) <= 1:
            known = [-1 if size is None else size for size in shape]
            return ops.Reshape(tensor, np.array(known, np.int32))
    sizes, rank = ops.Shape(x), ops.Rank(x)
    axes = ops.FloorMod(ops.Reshape(ops.Cast(axes, DstT=np.dtype(np.int32)), [-1]) + rank, rank)
    ones = ops.OnesLike(axes)
    with_ones = ops.TensorScatterUpdate(sizes, ops.ExpandDims(axes, np.int32(-1)), ones)
    return ops.Reshape(tensor, with_ones)


def _spread(op: Operation, dy: Tensor) -> Tensor:
    """The gradient of a result, repeated over what was reduced."""
    return ops.BroadcastTo(_keep_dims(op, dy), shape_of(op.inputs[0]))


@gradient("Sum")
def sum_(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """To all that was summed."""
    return _spread(op, dy), None


@gradient("Mean")
def mean(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """To all that was summed, divided by their number."""
    x, y = op.inputs[0], op.outputs[0]
    if is_static(x.sizes) and is_static(y.sizes):
        count = prod(x.sizes) // max(prod(y.sizes), 1)
        return _spread(op, dy) / number(count, dy), None
    counted = ops.FloorDiv(ops.Size(x), ops.Maximum(ops.Size(y), np.int32(1)))
    return _spread(op, dy) / ops.Cast(counted, DstT=dy.dtype), None


@gradient("Max", "Min")
def extreme(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """Shared among all elements that are the largest or smallest."""
    x, axes = op.inputs
    hits = ops.Cast(ops.Equal(_keep_dims(op, op.outputs[0]), x), DstT=dy.dtype)
    count = _keep_dims(op, ops.Sum(hits, axes, keep_dims=op.get_attr("keep_dims")))
    return hits / count * _keep_dims(op, dy), None


@gradient("Prod")
def product(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """Dy times the product of all other elements, which holds where elements are zero too."""
    x, axes = op.inputs
    rank = ops.Rank(x)
    reduced = ops.FloorMod(ops.Reshape(ops.Cast(axes, DstT=np.dtype(np.int32)), [-1]) + rank, rank)
    every = ops.Range(np.int32(0), rank, np.int32(1))
    others = ops.ListDiff(every, reduced)[0]
    order = ops.ConcatV2([reduced, others], np.int32(0))
    moved = ops.Transpose(x, order)
    sizes = ops.Shape(x)
    n_reduced = ops.Prod(ops.GatherV2(sizes, reduced, np.int32(0)), np.array([0], np.int32))
    rows = ops.Reshape(moved, ops.Pack([n_reduced, np.int32(-1)]))
    left = ops.Cumprod(rows, np.int32(0), exclusive=True)
    right = ops.Cumprod(rows, np.int32(0), exclusive=True, reverse=True)
    others_product = ops.Transpose(
        ops.Reshape(conj(left * right), ops.Shape(moved)), ops.InvertPermutation(order)
    )
    return _spread(op, dy) * others_product, None


@gradient("EuclideanNorm")
def euclidean_norm(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """Dy x / y."""
    y = _keep_dims(op, op.outputs[0])
    return ops.DivNoNan(op.inputs[0], y) * _keep_dims(op, dy), None


@gradient("Cumsum")
def cumsum(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """The sum from the other end."""
    return ops.Cumsum(
        dy,
        op.inputs[1],
        exclusive=op.get_attr("exclusive"),
        reverse=not op.get_attr("reverse"),
    ), None


@gradient("Cumprod")
def cumprod(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """Sum of dy y from the other end, divided by x."""
    x, axis = op.inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    total = ops.Cumsum(op.outputs[0] * dy, axis, exclusive=exclusive, reverse=not reverse)
    return total / x, None


@gradient("SegmentSum")
def segment_sum(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """To each row that of its segment."""
    ids = op.inputs[1]
    return ops.GatherV2(dy, ids, np.int32(0)), None


@gradient("SegmentMean")
def segment_mean(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """To each row that of its segment, divided by the number of rows."""
    x, ids = op.inputs
    counts = ops.SegmentSum(ops.Fill(ops.Shape(ids), np.ones((), dy.dtype)), ids)
    return ops.GatherV2(dy, ids, np.int32(0)) / _columns(
        ops.GatherV2(counts, ids, np.int32(0)), x
    ), None


def _columns(rows: Tensor, like: Tensor) -> Tensor:
    """One number for each row of `like`, with dimensions of 1 behind."""
    if like.sizes is not None:
        return ops.Reshape(rows, np.array([-1] + [1] * (len(like.sizes) - 1), np.int32))
    ones = ops.Fill(ops.ExpandDims(ops.Rank(like) - 1, np.int32(0)), np.int32(1))
    return ops.Reshape(rows, ops.ConcatV2([ops.Shape(rows), ones], np.int32(0)))


SPARSE_SEGMENT: dict[str, Callable[[Tensor], Tensor] | None] = {
    "SparseSegmentSum": None,
    "SparseSegmentMean": lambda counts: counts,
    "SparseSegmentSqrtN": ops.Sqrt,
}
"""What the gradient of a segment is divided by, given the number of its rows."""


def _sparse_segment(
    divisor: Callable[[Tensor], Tensor] | None,
) -> Callable[[Operation, Tensor], list[Tensor | None]]:
    """To each row that was taken, that of its segment."""

    def sparse_segment(op: Operation, dy: Tensor) -> list[Tensor | None]:
        x, indices, ids = op.inputs[:3]
        if divisor is not None:
            ones = ops.Fill(ops.Shape(ids), np.ones((), dy.dtype))
            n_segments = ops.GatherV2(ops.Shape(dy), np.int32(0), np.int32(0))
            counts = ops.UnsortedSegmentSum(ones, ids, n_segments)
            dy = dy / _columns(divisor(ops.Maximum(counts, number(1, counts))), x)
        rows = ops.GatherV2(dy, ids, np.int32(0))
        n_rows = ops.GatherV2(ops.Shape(x), np.int32(0), np.int32(0))
        total = ops.UnsortedSegmentSum(rows, indices, n_rows)
        return [total, *[None] * (len(op.inputs) - 1)]

    return sparse_segment


for _name, _divisor in SPARSE_SEGMENT.items():
    gradient(_name, f"{_name}WithNumSegments")(_sparse_segment(_divisor))


@gradient("UnsortedSegmentSum")
def unsorted_segment_sum(op: Operation, dy: Tensor) -> tuple[Tensor, None, None]:
    """To each row that of its segment; nothing to rows that were dropped."""
    rows, _ = _gathered(dy, op.inputs[1])
    return rows, None, None


def _gathered(x: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of `x` at `ids`, zero where an id is negative, and which are not."""
    zero = number(0, ids)
    sound = ops.GreaterEqual(ids, zero)
    rows = ops.GatherV2(x, ops.Maximum(ids, zero), np.int32(0))
    if ids.sizes is not None and x.sizes is not None:
        n = len(x.sizes) - 1
        sizes = ops.ConcatV2([ops.Shape(ids), np.ones(n, np.int32)], np.int32(0))
        sound = ops.Reshape(sound, sizes)
    return ops.SelectV2(sound, rows, ops.ZerosLike(rows)), sound


@gradient("SegmentMax", "SegmentMin")
def segment_extreme(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """Shared among the elements that are their segment's largest or smallest."""
    x, ids = op.inputs
    hits = ops.Equal(x, ops.GatherV2(op.outputs[0], ids, np.int32(0)))
    count = ops.SegmentSum(ops.Cast(hits, DstT=dy.dtype), ids)
    rows = ops.GatherV2(dy / count, ids, np.int32(0))
    return ops.SelectV2(hits, rows, ops.ZerosLike(rows)), None


@gradient("UnsortedSegmentMax", "UnsortedSegmentMin")
def unsorted_segment_extreme(op: Operation, dy: Tensor) -> tuple[Tensor, None, None]:
    """Shared among the elements that are their segment's largest or smallest."""
    x, ids, n_segments = op.inputs
    best, sound = _gathered(op.outputs[0], ids)
    hits = ops.LogicalAnd(ops.Equal(x, best), sound)
    count = ops.UnsortedSegmentSum(ops.Cast(hits, DstT=dy.dtype), ids, n_segments)
    rows, _ = _gathered(ops.DivNoNan(dy, count), ids)
    return ops.SelectV2(hits, rows, ops.ZerosLike(rows)), None, None


def _product_slope(x: Tensor, is_zero: Tensor, product: Tensor, nonzero_product: Tensor) -> Tensor:
    """The product of the other elements of a segment; `rest` is that without zeros."""
    others = product / ops.SelectV2(is_zero, ops.OnesLike(x), x)
    return ops.SelectV2(is_zero, nonzero_product, others)


@gradient("SegmentProd")
def segment_prod(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """The product of the others of the segment; nothing where two of them are 0."""
    x, ids = op.inputs
    is_zero = ops.Equal(x, number(0, x))
    n_zeros = ops.SegmentSum(ops.Cast(is_zero, DstT=np.dtype(np.int32)), ids)
    dy = ops.SelectV2(ops.Greater(n_zeros, np.int32(1)), ops.ZerosLike(dy), dy)
    nonzero_product = ops.SegmentProd(ops.SelectV2(is_zero, ops.OnesLike(x), x), ids)
    rows = [ops.GatherV2(part, ids, np.int32(0)) for part in (op.outputs[0], nonzero_product, dy)]
    return rows[2] * _product_slope(x, is_zero, rows[0], rows[1]), None


@gradient("UnsortedSegmentProd")
def unsorted_segment_prod(op: Operation, dy: Tensor) -> tuple[Tensor, None, None]:
    """The product of the others of the segment; nothing where two of them are 0."""
    x, ids, n_segments = op.inputs
    is_zero = ops.Equal(x, number(0, x))
    n_zeros = ops.UnsortedSegmentSum(ops.Cast(is_zero, DstT=np.dtype(np.int32)), ids, n_segments)
    dy = ops.SelectV2(ops.Greater(n_zeros, np.int32(1)), ops.ZerosLike(dy), dy)
    nonzero_product = ops.UnsortedSegmentProd(
        ops.SelectV2(is_zero, ops.OnesLike(x), x), ids, n_segments
    )
    rows = [_gathered(part, ids)[0] for part in (op.outputs[0], nonzero_product, dy)]
    return rows[2] * _product_slope(x, is_zero, rows[0], rows[1]), None, None


constant("All", "Any", "ArgMax", "ArgMin")
