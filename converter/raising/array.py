"""Shapes, places and order of elements; reductions."""

import numpy as np

from ...graph.core.build import ops
from .registry import raise_rows, raises

raise_rows("""
BATCH_TO_SPACE_ND BatchToSpaceND
BROADCAST_ARGS BroadcastArgs
BROADCAST_TO BroadcastTo
EXPAND_DIMS ExpandDims
FILL Fill
GATHER_ND GatherNd
MATRIX_DIAG MatrixDiag
MATRIX_SET_DIAG MatrixSetDiag
ONE_HOT OneHot axis=axis
PAD Pad
PADV2 PadV2
RANGE Range
RANK Rank
REVERSE_SEQUENCE ReverseSequence seq_dim=seq_dim batch_dim=batch_dim
REVERSE_V2 ReverseV2
SCATTER_ND ScatterNd
SEGMENT_SUM SegmentSum
SHAPE Shape out_type=:0
SLICE Slice
SPACE_TO_BATCH_ND SpaceToBatchND
SPARSE_TO_DENSE SparseToDense validate_indices=validate_indices
SPLIT Split num_split=num_splits
SPLIT_V SplitV num_split=num_splits
TILE Tile
TOPK_V2 TopKV2 index_type=:1
UNIQUE Unique out_idx=:1
UNPACK Unpack num=num axis=axis
UNSORTED_SEGMENT_MAX UnsortedSegmentMax
UNSORTED_SEGMENT_MIN UnsortedSegmentMin
UNSORTED_SEGMENT_PROD UnsortedSegmentProd
UNSORTED_SEGMENT_SUM UnsortedSegmentSum
WHERE Where
""")


REDUCTIONS = {
    "MEAN": ops.Mean,
    "REDUCE_ALL": ops.All,
    "REDUCE_ANY": ops.Any,
    "REDUCE_MAX": ops.Max,
    "REDUCE_MIN": ops.Min,
    "REDUCE_PROD": ops.Prod,
    "SUM": ops.Sum,
}
"""Operators that fold axes."""


@raises(*REDUCTIONS, deferred=(1,))
def reduce(node, x, _):
    """Axes folded into one value each; TFLite takes one twice, and any of a scalar."""
    axes, rank = node.known(1), None if x.sizes is None else len(x.sizes)
    if axes is None or rank is None:
        axes = node.operand(1)
    else:
        folded = {int(axis) % rank for axis in axes.ravel()} if rank else ()
        axes = np.array(sorted(folded), np.int32)
    return REDUCTIONS[node.kind](x, axes, keep_dims=bool(node.options.keep_dims))


@raises("TRANSPOSE", deferred=(1,))
def transpose(node, x, _):
    """Axes in another order, which TFLite counts from the end, too."""
    order = node.known(1)
    if order is None:
        return ops.Transpose(x, node.operand(1))
    return ops.Transpose(x, np.asarray(order % max(len(order), 1), np.int32))


@raises("DEPTH_TO_SPACE", "SPACE_TO_DEPTH")
def blocks(node, x):
    """Blocks of pixels as channels, or back; blocks of one change nothing."""
    size = int(node.options.block_size)
    if size == 1:
        return ops.Identity(x)
    move = ops.DepthToSpace if node.kind == "DEPTH_TO_SPACE" else ops.SpaceToDepth
    return move(x, block_size=size)


@raises("ARG_MAX", "ARG_MIN", deferred=(1,))
def arg_max(node, x, _):
    """Where along an axis the largest or smallest element comes first."""
    kind = ops.ArgMax if node.kind == "ARG_MAX" else ops.ArgMin
    axis = np.int32(node.constant(1).ravel()[0])
    return kind(x, axis, output_type=node.result_dtype())


@raises("CUMSUM", deferred=(1,))
def cumsum(node, x, _):
    """Sums of the elements up to each one."""
    options = {name: bool(getattr(node.options, name)) for name in ("exclusive", "reverse")}
    return ops.Cumsum(x, np.int32(node.constant(1).ravel()[0]), **options)


@raises("RESHAPE", deferred=(1,))
def reshape(node, x, _=None):
    """The same elements in another shape; the operand has a say before the option."""
    if not node.has(1):
        return ops.Reshape(x, np.asarray(node.options.new_shape, np.int32))
    return ops.Reshape(x, node.operand(1))


@raises("SQUEEZE")
def squeeze(node, x):
    """Without dimensions of 1."""
    dims = node.options.squeeze_dims
    return ops.Squeeze(x, squeeze_dims=[] if dims is None else [int(d) for d in dims])


@raises("CONCATENATION")
def concatenation(node, *parts):
    """The operands one after another."""
    if len(parts) == 1:
        return ops.Identity(parts[0])
    return ops.ConcatV2(parts, np.int32(node.options.axis))


@raises("PACK")
def pack(node, *parts):
    """The operands one after another along a new axis."""
    return ops.Pack(parts, axis=int(node.options.axis))


@raises("GATHER")
def gather(node, x, indices):
    """Slices along an axis."""
    options = node.options
    return ops.GatherV2(x, indices, np.int32(options.axis), batch_dims=int(options.batch_dims))


@raises("EMBEDDING_LOOKUP")
def embedding_lookup(node, indices, table):
    """Rows of a table."""
    return ops.GatherV2(table, indices, np.int32(0))


@raises("MIRROR_PAD")
def mirror_pad(node, x, paddings):
    """Padding that mirrors what is inside."""
    return ops.MirrorPad(x, paddings, mode=node.option("MirrorPadMode", "mode"))


@raises("STRIDED_SLICE")
def strided_slice(node, x, begin, end, strides):
    """Every n-th element; with `offset` the ends are counted from the beginnings."""
    options = node.options
    masks = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    if options.offset:
        end = begin + end
    return ops.StridedSlice(x, begin, end, strides, **{m: int(getattr(options, m)) for m in masks})


@raises("DYNAMIC_UPDATE_SLICE")
def dynamic_update_slice(node, x, update, start):
    """`x` with `update` in it, moved so far that it fits."""
    sizes = ops.Shape(update, out_type=start.dtype)
    last = ops.Shape(x, out_type=start.dtype) - sizes
    begin = ops.Maximum(ops.Minimum(start, last), np.zeros((), start.dtype))
    ones = np.ones(node.sizes(2), start.dtype)
    return ops.TensorStridedSliceUpdate(x, begin, begin + sizes, ones, update)
