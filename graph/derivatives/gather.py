"""Derivatives of ops that pick and place by index; whole rows flow back as IndexedSlices."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.composite.indexed_slices import IndexedSlices
from ..core.create import convert_to_tensor
from ..core.graph import Operation, Tensor
from ..core.shapes import is_static
from .registry import constant, gradient

if TYPE_CHECKING:
    from ..core.shapes import Shape
    from .registry import Gradient

FIRST = np.array([0], np.int32)


@gradient("Gather")
def gather(op: Operation, dy: Tensor) -> tuple[IndexedSlices, None]:
    """The rows of dy, at the same indices."""
    params, indices = op.inputs
    return _rows(dy, indices, ops.Shape(params)), None


@gradient("ResourceGather")
def resource_gather(op: Operation, dy: Tensor) -> tuple[IndexedSlices, None]:
    """The rows of dy, at the same indices."""
    handle, indices = op.inputs
    if op.get_attr("batch_dims"):
        raise LookupError(
            f"ResourceGather '{op.name}': batch_dims must be 0 for a gradient, got "
            f"{op.get_attr('batch_dims')}; read the variable and gather from what was read"
        )
    return _rows(dy, indices, _shape_of(handle)), None


def _shape_of(handle: Tensor) -> Tensor:
    """The shape of a variable: a constant, where it is declared."""
    shape = handle.op.attrs.get("shape") if handle.op.type == "VarHandleOp" else None
    if is_static(cast("Shape", shape)):
        return convert_to_tensor(np.array(shape, np.int32))
    return ops.VariableShape(handle)


def _rows(dy: Tensor, indices: Tensor, shape: Tensor) -> IndexedSlices:
    """The rows of `dy` as parts of a tensor of `shape`."""
    inner = ops.StridedSlice(shape, [1], [0], [1], end_mask=1)
    count = ops.ExpandDims(ops.Size(indices), np.int32(0))
    values = ops.Reshape(dy, ops.ConcatV2([count, inner], np.int32(0)))
    return IndexedSlices(values, ops.Reshape(indices, count), shape)


@gradient("GatherV2")
def gather_v2(op: Operation, dy: Tensor) -> tuple[Gradient, None, None]:
    """Along the first axis the rows of dy at the same indices, else a sum over equal indices."""
    params, indices, axis = op.inputs
    batch = op.get_attr("batch_dims")
    if axis.value is not None and int(axis.value) == 0 and not batch:
        return _rows(dy, indices, ops.Shape(params)), None, None
    if axis.value is None:
        raise LookupError(f"GatherV2 '{op.name}': axis must be constant for a gradient")
    if params.sizes is None or indices.sizes is None:
        raise LookupError(f"GatherV2 '{op.name}': ranks must be known for a gradient")
    rank = len(params.sizes)
    at = int(axis.value) % rank
    batch = batch + len(indices.sizes) if batch < 0 else batch
    return _placed(dy, params, indices, at, batch), None, None


def _placed(dy: Tensor, params: Tensor, indices: Tensor, axis: int, batch: int) -> Tensor:
    """The sum of the slices of `dy` by index: [b, middle, picks, d] to [b, middle, n, d]."""
    sizes = ops.Shape(params)
    b, middle = _product(sizes, 0, batch), _product(sizes, batch, axis)
    n, inner = _product(sizes, axis, axis + 1), _product(sizes, axis + 1, len(params.sizes or ()))
    picks = _product(ops.Shape(indices), batch, len(indices.sizes or ()))
    rows = ops.Transpose(ops.Reshape(dy, ops.Pack([b, middle, picks, inner])), [0, 2, 1, 3])
    rows = ops.Reshape(rows, ops.Pack([b * picks, middle, inner]))
    first = ops.Cast(ops.Range(np.int32(0), b, np.int32(1)) * n, DstT=indices.dtype)
    ids = ops.Reshape(indices, ops.Pack([b, picks])) + ops.ExpandDims(first, np.int32(1))
    flat = ops.Reshape(ids, np.array([-1], np.int32))
    summed = ops.UnsortedSegmentSum(rows, flat, b * n)
    summed = ops.Reshape(summed, ops.Pack([b, n, middle, inner]))
    return ops.Reshape(ops.Transpose(summed, [0, 2, 1, 3]), sizes)


def _product(sizes: Tensor, start: int, end: int) -> Tensor:
    """The product of some sizes."""
    return ops.Prod(ops.StridedSlice(sizes, [start], [end], [1]), FIRST)


@gradient("GatherNd")
def gather_nd(op: Operation, dy: Tensor) -> tuple[Tensor | IndexedSlices, None]:
    """The sum of dy by index; as slices where each index is one of a row."""
    params, indices = op.inputs
    if indices.sizes is not None and len(indices.sizes) == 2 and indices.sizes[1] == 1:
        rows = ops.Squeeze(indices, squeeze_dims=[1])
        return IndexedSlices(dy, rows, ops.Shape(params, out_type=indices.dtype)), None
    sizes = ops.Shape(params, out_type=indices.dtype)
    policy = op.get_attr("bad_indices_policy")
    return ops.ScatterNd(indices, dy, sizes, bad_indices_policy=policy), None


@gradient("ResourceGatherNd")
def resource_gather_nd(op: Operation, dy: Tensor) -> tuple[Tensor | IndexedSlices, None]:
    """The sum of dy by index; as slices where each index is one of a row."""
    handle, indices = op.inputs
    if indices.sizes is not None and len(indices.sizes) == 2 and indices.sizes[1] == 1:
        return IndexedSlices(dy, ops.Squeeze(indices, squeeze_dims=[1]), _shape_of(handle)), None
    sizes = ops.Cast(_shape_of(handle), DstT=np.dtype(indices.dtype))
    return ops.ScatterNd(indices, dy, sizes), None


@gradient("ScatterNd")
def scatter_nd(op: Operation, dy: Tensor) -> tuple[None, Tensor, None]:
    """The slices of dy at the same indices."""
    return None, ops.GatherNd(dy, op.inputs[0]), None


@gradient("TensorScatterUpdate")
def tensor_scatter_update(op: Operation, dy: Tensor) -> tuple[Tensor, None, Tensor]:
    """To the updates what is at their places, to the tensor the rest."""
    _, indices, updates = op.inputs
    d_tensor = ops.TensorScatterUpdate(dy, indices, ops.ZerosLike(updates))
    return d_tensor, None, ops.GatherNd(dy, indices)


@gradient("TensorScatterAdd")
def tensor_scatter_add(op: Operation, dy: Tensor) -> tuple[Tensor, None, Tensor]:
    """To the updates what is at their places too."""
    return dy, None, ops.GatherNd(dy, op.inputs[1])


@gradient("TensorScatterMax", "TensorScatterMin")
def tensor_scatter_extreme(op: Operation, dy: Tensor) -> tuple[Tensor, None, Tensor]:
    """To what the result is equal to, shared where both are."""
    tensor, indices, updates = op.inputs
    result = op.outputs[0]
    from_tensor = ops.Cast(ops.Equal(tensor, result), DstT=dy.dtype)
    from_updates = ops.Cast(ops.Equal(updates, ops.GatherNd(result, indices)), DstT=dy.dtype)
    sources = ops.TensorScatterAdd(from_tensor, indices, from_updates)
    shares = ops.GatherNd(dy, indices) * from_updates
    d_updates = ops.DivNoNan(shares, ops.GatherNd(sources, indices))
    return ops.DivNoNan(dy * from_tensor, sources), None, d_updates


@gradient("TensorScatterSub")
def tensor_scatter_sub(op: Operation, dy: Tensor) -> tuple[Tensor, None, Tensor]:
    """To the updates the negative of what is at their places."""
    return dy, None, -ops.GatherNd(dy, op.inputs[1])


@gradient("ApproxTopK", fills_zeros=True)
def approx_top_k(op: Operation, dy: Tensor, _: Tensor | None) -> Tensor:
    """To the elements that were picked, along any axis."""
    x, indices = op.inputs[0], op.outputs[1]
    axis = _from_front(cast("int", op.get_attr("reduction_dimension")), x)
    n = ops.Reshape(ops.GatherV2(ops.Shape(x), axis, np.int32(0)), np.array([], np.int32))
    one = np.ones((), dy.dtype)
    hits = ops.OneHot(indices, n, one, one - one, axis=-1)
    summed = ops.Sum(ops.ExpandDims(dy, np.int32(-1)) * hits, axis, keep_dims=True)
    last = ops.Rank(x)
    positions = ops.Range(np.int32(0), last, np.int32(1))
    order = ops.SelectV2(ops.Equal(positions, axis), last, positions)
    return ops.Reshape(
        ops.Transpose(summed, ops.ConcatV2([order, axis], np.int32(0))), ops.Shape(x)
    )


def _from_front(axis: int, x: Tensor) -> Tensor:
    """An axis counted from the front, as a row."""
    return ops.FloorMod(np.array([axis], np.int32), ops.Rank(x))


@gradient("TopK", "TopKV2", fills_zeros=True)
def top_k(op: Operation, dy: Tensor, _: Tensor | None) -> list[Tensor | None]:
    """To the elements that were picked."""
    x, indices = op.inputs[0], op.outputs[1]
    sizes, picked = ops.Shape(x), ops.Shape(indices)
    k = ops.StridedSlice(picked, [-1], [0], [1], shrink_axis_mask=1)
    n = ops.StridedSlice(sizes, [-1], [0], [1], shrink_axis_mask=1)
    rows = ops.Reshape(indices, ops.Pack([np.int32(-1), k]))
    count = ops.StridedSlice(ops.Shape(rows), [0], [1], [1], shrink_axis_mask=1)
    first = ops.ExpandDims(ops.Range(np.int32(0), count, np.int32(1)) * n, np.int32(1))
    flat = ops.Reshape(rows + first, np.array([-1, 1], np.int32))
    total = ops.ExpandDims(ops.Prod(sizes, FIRST), np.int32(0))
    placed = ops.ScatterNd(flat, ops.Reshape(dy, np.array([-1], np.int32)), total)
    return [ops.Reshape(placed, sizes), *[None] * (len(op.inputs) - 1)]


@gradient("NthElement")
def nth_element(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """Shared by the elements of the row that equal it."""
    x, last = op.inputs[0], np.int32(-1)
    equal = ops.Cast(ops.Equal(x, ops.ExpandDims(op.outputs[0], last)), DstT=x.dtype)
    share = equal / ops.Sum(equal, np.array([-1], np.int32), keep_dims=True)
    return share * ops.ExpandDims(dy, last), None


@gradient("DynamicPartition", fills_zeros=True)
def dynamic_partition(op: Operation, *dys: Tensor) -> tuple[Tensor, None]:
    """Each slice back to where it was."""
    x, partitions = op.inputs
    shape = ops.Shape(partitions)
    positions = ops.Reshape(ops.Range(np.int32(0), ops.Prod(shape, FIRST), np.int32(1)), shape)
    parts = ops.DynamicPartition(positions, partitions, num_partitions=len(dys))
    stitched = ops.ParallelDynamicStitch(parts, list(dys))
    return ops.Reshape(stitched, ops.Shape(x)), None


@gradient("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """To each slice what is at its place."""
    indices = op.inputs[: len(op.inputs) // 2]
    parts = [ops.GatherV2(dy, index, np.int32(0)) for index in indices]
    return [*[None] * len(indices), *parts]


@gradient("SparseToDense")
def sparse_to_dense(op: Operation, dy: Tensor) -> tuple[None, None, Tensor, Tensor]:
    """To the values what is at their places, to the default the rest."""
    indices, _, values, _ = op.inputs
    rank = None if indices.sizes is None else len(indices.sizes)
    at = indices if rank == 2 else ops.Reshape(indices, np.array([-1, 1], np.int32))
    picked = ops.Reshape(ops.GatherNd(dy, at), ops.Shape(values))
    every = ops.Range(np.int32(0), ops.Rank(dy), np.int32(1))
    d_default = ops.Sum(dy, every) - ops.Sum(picked, ops.Range(0, ops.Rank(picked), 1))
    return None, None, picked, d_default


constant(
    "InTopKV2", "OneHot", "ScatterNdAdd", "ScatterNdSub", "ScatterNdUpdate", "UnravelIndex", "Where"
)
