"""Shapes, slices, joins, gathers and other movement of data."""

from collections import Counter

import numpy as np

from ..lowering.moves import (
    as_int32,
    as_type,
    dimension,
    element,
    inside_of,
    positions,
    reshaped,
    slice_along,
    transposed,
    zeros_unless,
)
from .registry import lower, lower_rows

lower_rows(
    {
        "Rank": "RANK",
        "ZerosLike": "ZEROS_LIKE",
        "BroadcastTo": "BROADCAST_TO",
        "BroadcastArgs": "BROADCAST_ARGS",
        "SpaceToBatchND": "SPACE_TO_BATCH_ND",
        "BatchToSpaceND": "BATCH_TO_SPACE_ND",
        "Fill": "FILL",
    }
)

PASS_THROUGH = (
    "Identity",
    "IdentityN",
    "Snapshot",
    "StopGradient",
    "PreventGradient",
    "PlaceholderWithDefault",
    "CheckNumerics",
    "Print",
    "EnsureShape",
    "GuaranteeConst",
)


@lower(*PASS_THROUGH)
def pass_through(node, b):
    """The inputs themselves; of Print the first, nobody reads what a device would print."""
    return tuple(node.inputs[: len(node.op.outputs)])


@lower("Shape", "ShapeN")
def shape(node, b):
    """The shape of each input."""
    dtype = node.attr("out_type")
    return tuple(b.SHAPE(x, dtype=dtype, out_type=b.tensor_type(dtype)) for x in node.inputs)


@lower("Size")
def size(node, b):
    """The number of elements, as the product of the shape."""
    sizes = b.SHAPE(node.inputs[0], out_type=b.tensor_type(node.attr("out_type")))
    return b.REDUCE_PROD(sizes, b.constant(np.zeros(1, np.int32)))


@lower("Reshape")
def reshape(node, b):
    """Elements in a new shape; of a fake-quantized constant, which keeps its range."""
    x, shape = node.inputs
    if x.fake_quant is not None and shape.value is not None:
        return reshaped(x, shape.value.tolist(), b)
    return b.RESHAPE(x, as_int32(shape, b))


@lower("Squeeze")
def squeeze(node, b):
    """The tensor without the named axes of size 1, or without all such axes."""
    (x,) = node.inputs
    axes = [node.axis(a) for a in node.attr("squeeze_dims")]
    if not axes and x.is_static:
        axes = [i for i, size in enumerate(node.shape()) if size == 1]
    return b.SQUEEZE(x, squeeze_dims=np.asarray(axes, np.int32))


@lower("ExpandDims")
def expand_dims(node, b):
    """A new axis of size 1."""
    return b.EXPAND_DIMS(node.inputs[0], as_int32(node.inputs[1], b))


@lower("Transpose")
def transpose(node, b):
    """Axes in another order; of a fake-quantized constant, which keeps its ranges."""
    x, order = node.inputs
    if x.fake_quant is not None and order.value is not None:
        return transposed(x, [int(i) % x.rank for i in order.value], b)
    return b.TRANSPOSE(x, as_int32(order, b))


@lower("Cast")
def cast(node, b):
    """Elements as another type."""
    (x,), to = node.inputs, node.attr("DstT")
    return as_type(x, to, b)


@lower("Bitcast")
def bitcast(node, b):
    """The same bits as another type."""
    return b.BITCAST(node.inputs[0], dtype=node.attr("type"))


@lower("Pack")
def pack(node, b):
    """Tensors stacked along a new axis."""
    axis = node.axis(node.attr("axis"), n_new=1)
    return b.PACK(*node.inputs, axis=axis, values_count=len(node.inputs))


@lower("Unpack")
def unpack(node, b):
    """Slices along an axis, which disappears."""
    return b.UNPACK(*node.inputs, axis=node.axis(node.attr("axis")), num=node.attr("num"))


@lower("ConcatV2", "Concat")
def concat(node, b):
    """Tensors joined along an axis."""
    first = node.type == "Concat"
    values = node.inputs[1:] if first else node.inputs[:-1]
    position = 0 if first else len(node.inputs) - 1
    axis = node.axis(node.constant(position), 1 if first else 0)
    return values[0] if len(values) == 1 else b.CONCATENATION(*values, axis=axis)


@lower("ParallelConcat")
def parallel_concat(node, b):
    """Slices of one element along the first axis, joined there."""
    return node.inputs[0] if len(node.inputs) == 1 else b.CONCATENATION(*node.inputs, axis=0)


@lower("Split")
def split(node, b):
    """Equal parts along an axis."""
    axis = b.constant(np.int32(node.axis(node.constant(0), 1)))
    parts = node.attr("num_split")
    return (node.inputs[1],) if parts == 1 else b.SPLIT(axis, node.inputs[1], num_splits=parts)


@lower("SplitV")
def split_v(node, b):
    """Parts of given sizes along an axis."""
    axis = b.constant(np.int32(node.axis(node.constant(2))))
    sizes = as_int32(node.inputs[1], b)
    return b.SPLIT_V(node.inputs[0], sizes, axis, num_splits=node.attr("num_split"))


@lower("Slice")
def slice_(node, b):
    """A block given by its first corner and its size (-1: to the end)."""
    return b.SLICE(*node.inputs)


@lower("XlaDynamicSlice")
def xla_dynamic_slice(node, b):
    """A block whose first corner is moved so far that it lies within."""
    x, starts, sizes = node.inputs
    node.require(sizes.value is not None, "its sizes must be constant")
    room = b.SUB(b.SHAPE(x, out_type="INT32"), as_int32(sizes, b))
    starts = b.MAXIMUM(b.MINIMUM(as_int32(starts, b), room), np.zeros(x.rank, np.int32))
    return b.SLICE(x, starts, as_int32(sizes, b))


@lower("XlaDynamicUpdateSlice")
def xla_dynamic_update_slice(node, b):
    """A block in the place of another."""
    x, update, starts = node.inputs
    return b.DYNAMIC_UPDATE_SLICE(x, update, as_int32(starts, b))


def expand_spec(node, rank):
    """The masks of a StridedSlice with one entry per input axis, and the new axes' positions.

    Gives (columns, new_axes): columns[i] is the position in begin/end/strides of input axis i, None
    where the ellipsis takes it whole; new_axes are positions in the result before shrinking.
    """
    entries = range(node.shape(1)[0] or 0)
    ellipsis = {i for i in entries if node.attr("ellipsis_mask") >> i & 1}
    new = {i for i in entries if node.attr("new_axis_mask") >> i & 1} - ellipsis
    n_whole = rank - (len(entries) - len(ellipsis) - len(new))
    node.require(n_whole >= 0, f"more axes are sliced than the input's {rank}")
    columns: list[int | None] = []
    new_axes = []
    for i in entries:
        if i in ellipsis:
            columns += [None] * n_whole
        elif i in new:
            new_axes.append(len(columns) + len(new_axes))
        else:
            columns.append(i)
    return columns + [None] * (rank - len(columns)), new_axes


@lower("StridedSlice")
def strided_slice(node, b):
    """x[begin:end:strides] with TF's masks.

    TFLite's kernels know no ellipsis and no new axes: an ellipsis is written out, new axes are
    added before the slice.
    """
    x = node.inputs[0]
    masks = {
        name: node.attr(name)
        for name in ("begin_mask", "end_mask", "shrink_axis_mask", "ellipsis_mask", "new_axis_mask")
    }
    masks["begin_mask"] &= ~masks[
        "shrink_axis_mask"
    ]  # TF takes one index at its begin all the same
    if not masks["ellipsis_mask"] and not masks["new_axis_mask"]:
        return b.STRIDED_SLICE(x, *(as_int32(node.inputs[i], b) for i in (1, 2, 3)), **masks)
    columns, new_axes = expand_spec(node, node.rank())
    corners = [node.constant(i).astype(np.int32) for i in (1, 2, 3)]
    fill = (0, 0, 1)
    corners = [
        [values[c] if c is not None else fill[k] for c in columns]
        for k, values in enumerate(corners)
    ]
    bit = {name: [c is not None and masks[name] >> c & 1 for c in columns] for name in masks}
    bit["begin_mask"] = [c is None or m for c, m in zip(columns, bit["begin_mask"], strict=True)]
    bit["end_mask"] = [c is None or m for c, m in zip(columns, bit["end_mask"], strict=True)]
    for position in new_axes:
        x = b.EXPAND_DIMS(x, b.constant(np.int32(position)))
        for k in range(3):
            corners[k].insert(position, fill[k])
        for name, new_axis_bit in (("begin_mask", 1), ("end_mask", 1), ("shrink_axis_mask", 0)):
            bit[name].insert(position, new_axis_bit)
    packed = {
        name: sum(bool(on) << i for i, on in enumerate(bit[name]))
        for name in ("begin_mask", "end_mask", "shrink_axis_mask")
    }
    return b.STRIDED_SLICE(x, *(b.constant(np.asarray(c, np.int32)) for c in corners), **packed)


@lower("Pad")
def pad(node, b):
    """Zeros around the tensor."""
    return b.PAD(node.inputs[0], as_int32(node.inputs[1], b))


@lower("PadV2")
def pad_v2(node, b):
    """A constant around the tensor."""
    return b.PADV2(node.inputs[0], as_int32(node.inputs[1], b), node.inputs[2])


@lower("MirrorPad")
def mirror_pad(node, b):
    """The tensor's own border, mirrored around it."""
    return b.MIRROR_PAD(node.inputs[0], as_int32(node.inputs[1], b), mode=node.text("mode"))


@lower("Gather", "GatherV2")
def gather(node, b):
    """Slices along an axis, one for each index."""
    axis = node.axis(node.constant(2)) if node.type == "GatherV2" else 0
    batch_dims = 0 if node.type == "Gather" else node.attr("batch_dims")
    return b.GATHER(*node.inputs[:2], axis=axis, batch_dims=batch_dims % max(1, node.rank(1) + 1))


@lower("GatherNd")
def gather_nd(node, b):
    """Slices at index tuples; zeros at those outside where the policy is to ignore them."""
    params, indices = node.inputs
    if node.text("bad_indices_policy") != "IGNORE":
        return b.GATHER_ND(params, indices)
    sizes = b.SHAPE(params, out_type="INT32")
    inside, indices = inside_of(as_int32(indices, b), sizes, b)
    return zeros_unless(inside, b.GATHER_ND(params, indices), b)


@lower("Where")
def where(node, b):
    """The coordinates of all elements that are not zero."""
    return b.WHERE(*node.inputs, dtype=np.int64)


@lower("Tile")
def tile(node, b):
    """Copies side by side."""
    return b.TILE(node.inputs[0], as_int32(node.inputs[1], b))


@lower("OnesLike")
def ones_like(node, b):
    """Ones in the shape of the input."""
    (x,) = node.inputs
    value = b.constant(np.ones((), x.dtype))
    return b.FILL(b.SHAPE(x, out_type=b.tensor_type(np.dtype(np.int32))), value)


@lower("Range")
def range_(node, b):
    """start, start + delta, ... below limit."""
    return b.RANGE(*node.inputs)


@lower("OneHot")
def one_hot(node, b):
    """on_value at each index along a new axis, off_value elsewhere."""
    indices, depth, on_value, off_value = node.inputs
    return b.ONE_HOT(indices, depth, on_value, off_value, axis=node.attr("axis"))


@lower("SpaceToDepth", "DepthToSpace")
def space_depth(node, b):
    """Blocks of pixels moved into channels, or back."""
    node.require(
        node.text("data_format") == "NHWC",
        f"data_format must be NHWC, got {node.text('data_format')}",
    )
    kind = {"SpaceToDepth": b.SPACE_TO_DEPTH, "DepthToSpace": b.DEPTH_TO_SPACE}[node.type]
    return kind(*node.inputs, block_size=node.attr("block_size"))


@lower("TopKV2")
def top_k(node, b):
    """The k largest elements of each row and their indices."""
    x, dtype = node.inputs[0], node.attr("index_type")
    return b.TOPK_V2(x, as_int32(node.inputs[1], b), dtype=(x.dtype, dtype))


@lower("ApproxTopK")
def approx_top_k(node, b):
    """The k largest or smallest elements along an axis and their indices, exactly."""
    (x,), axis = node.inputs, node.axis(node.attr("reduction_dimension"))
    order = [i for i in range(x.rank) if i != axis] + [axis]
    rows = transposed(x, order, b)
    rows = rows if node.attr("is_max_k") else b.NEG(rows)
    values, indices = b.TOPK_V2(rows, np.int32(node.attr("k")))
    values = values if node.attr("is_max_k") else b.NEG(values)
    back = np.argsort(order).tolist()
    return transposed(values, back, b), transposed(indices, back, b)


@lower("Bucketize")
def bucketize(node, b):
    """For each element, how many boundaries are not above it."""
    return b.BUCKETIZE(*node.inputs, boundaries=np.asarray(node.attr("boundaries"), np.float32))


@lower("ReverseV2")
def reverse(node, b):
    """Elements in the other order along some axes; LiteRT's kernel does not survive none."""
    x, axes = node.inputs
    return x if axes.shape == (0,) else b.REVERSE_V2(x, axes)


@lower("ReverseSequence")
def reverse_sequence(node, b):
    """Each row reversed up to its own length."""
    return b.REVERSE_SEQUENCE(
        *node.inputs, seq_dim=node.attr("seq_dim"), batch_dim=node.attr("batch_dim")
    )


@lower("Roll")
def roll(node, b):
    """Elements moved around: by constant shifts two slices, joined in the other order.

    By shifts that are computed, and along an axis of unknown size, elements are gathered.
    """
    x, shift, axis = node.inputs
    if axis.value is None:
        return _roll_by_axes(node, b)
    axes = [node.axis(axis) for axis in np.atleast_1d(axis.value)]
    if shift.value is None:
        for i, axis in enumerate(axes):
            amount = shift if shift.rank == 0 else element(as_int32(shift, b), i, b)
            x = _gathered_roll(x, axis, as_int32(amount, b), b)
        return x
    total = Counter()
    for amount, axis in zip(np.atleast_1d(shift.value), axes, strict=True):
        total[axis] += int(amount)
    for axis, amount in total.items():
        length = node.shape()[axis]
        if length is None:
            x = _gathered_roll(x, axis, b.constant(np.int32(amount)), b)
            continue
        start = -amount % length if length else 0
        if start:
            slices = ((start, -1), (0, start))
            x = b.CONCATENATION(*(slice_along(x, axis, *bounds, b) for bounds in slices), axis=axis)
    return x


def _roll_by_axes(node, b):
    """Elements moved along axes that are computed: along each by the shifts that are for it."""
    x, rank = node.inputs[0], b.constant(np.int32(node.rank()))
    shifts, axes = (b.RESHAPE(as_int32(t, b), np.array([-1], np.int32)) for t in node.inputs[1:])
    axes = b.FLOOR_MOD(axes, rank)
    for axis in range(node.rank()):
        of_axis = b.SELECT_V2(b.EQUAL(axes, np.int32(axis)), shifts, np.int32(0))
        x = _gathered_roll(x, axis, b.SUM(of_axis, np.array([0], np.int32)), b)
    return x


def _gathered_roll(x, axis, shift, b):
    """`x` rolled by an int32 scalar, along an axis of any size."""
    # FLOOR_MOD by 0 is not defined
    size = b.MAXIMUM(dimension(x, axis, b), b.constant(np.int32(1)))
    before = b.SUB(positions(x, axis, b), shift)
    return b.GATHER(x, b.FLOOR_MOD(before, size), axis=axis)


@lower("Empty")
def empty(node, b):
    """Zeros, where anything may stand."""
    return b.FILL(as_int32(node.inputs[0], b), np.zeros((), node.attr("dtype")))


@lower("LinSpace")
def lin_space(node, b):
    """start + i * (stop - start) / (num - 1)."""
    start, stop, num = node.inputs
    one = b.constant(np.int32(1))
    steps = b.MAXIMUM(b.SUB(as_int32(num, b), one), one)
    step = b.DIV(b.SUB(stop, start), as_type(steps, start.dtype, b))
    index = b.RANGE(b.constant(np.int32(0)), as_int32(num, b), one)
    return b.ADD(b.MUL(as_type(index, start.dtype, b), step), start)


@lower("Reverse")
def reverse_flagged(node, b):
    """Elements in the other order along the axes whose flag is set."""
    axes = np.flatnonzero(node.constant(1)).astype(np.int32)
    return b.REVERSE_V2(node.inputs[0], axes) if axes.size else node.inputs[0]


@lower("SpaceToBatch", "BatchToSpace")
def blocks_of_batch(node, b):
    """Square blocks of pixels moved into the batch, or back."""
    x, padding = node.inputs
    kind = {"SpaceToBatch": b.SPACE_TO_BATCH_ND, "BatchToSpace": b.BATCH_TO_SPACE_ND}[node.type]
    return kind(x, np.full(2, node.attr("block_size"), np.int32), as_int32(padding, b))


@lower("TopK")
def top_k_v1(node, b):
    """The k largest elements of each row and their indices."""
    return b.TOPK_V2(node.inputs[0], np.int32(node.attr("k")))


@lower("ConcatOffset")
def concat_offset(node, b):
    """Where each of some shapes begins in their concatenation: a running sum along one axis."""
    rank = node.shape(1)[0]
    node.require(rank is not None, "the rank of the shapes must be known")
    along = np.arange(rank) == int(node.constant(0)) % max(rank, 1)
    shapes = b.PACK(*node.inputs[1:], axis=0, values_count=len(node.inputs) - 1)
    starts = b.CUMSUM(shapes, np.int32(0), exclusive=True)
    offsets = b.MUL(starts, b.constant(along.astype(np.int32)))
    return b.UNPACK(offsets, axis=0, num=len(node.inputs) - 1)


@lower("UnravelIndex")
def unravel_index(node, b):
    """The index tuples of places counted in a row."""
    indices, dims = node.inputs
    (rank,) = node.shape(1)
    node.require(rank is not None, "the number of dimensions must be known")
    columns, quotient = [], indices
    for i in reversed(range(rank)):
        n = element(dims, i, b)
        columns.insert(0, b.FLOOR_MOD(quotient, n))
        quotient = b.FLOOR_DIV(quotient, n)
    return b.PACK(*columns, axis=0, values_count=rank)


@lower("BroadcastGradientArgs")
def broadcast_gradient_args(node, b):
    """For each of two shapes the axes along which it is repeated when they broadcast."""
    ranks = [node.shape(i)[0] for i in (0, 1)]
    node.require(None not in ranks, f"the ranks must be known, got {ranks}")
    one = b.constant(np.ones((), node.inputs[0].dtype))
    is_one = []
    for x, rank in zip(node.inputs, ranks, strict=True):
        added = b.constant(np.ones(max(ranks) - rank, x.dtype))
        padded = b.CONCATENATION(added, x, axis=0) if max(ranks) > rank else x
        is_one.append(b.EQUAL(padded, one))
    shape = (-1,)
    return [
        as_type(b.RESHAPE(b.WHERE(flags, dtype=np.int64), np.array(shape, np.int32)), one.dtype, b)
        for flags in is_one
    ]
