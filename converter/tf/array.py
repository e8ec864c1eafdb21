"""Shapes, slices, joins, gathers and other movement of data."""

from collections import Counter

import numpy as np

from ..lowering.moves import as_int32, as_type, dimension, slice_along
from .registry import lower, lower_rows

lower_rows(
    {
        "Rank": "RANK",
        "ZerosLike": "ZEROS_LIKE",
        "GatherNd": "GATHER_ND",
        "BroadcastTo": "BROADCAST_TO",
        "BroadcastArgs": "BROADCAST_ARGS",
        "SpaceToBatchND": "SPACE_TO_BATCH_ND",
        "BatchToSpaceND": "BATCH_TO_SPACE_ND",
        "ScatterNd": "SCATTER_ND",
        "Fill": "FILL",
        "SegmentSum": "SEGMENT_SUM",
        "UnsortedSegmentMax": "UNSORTED_SEGMENT_MAX",
        "UnsortedSegmentMin": "UNSORTED_SEGMENT_MIN",
        "UnsortedSegmentProd": "UNSORTED_SEGMENT_PROD",
        "UnsortedSegmentSum": "UNSORTED_SEGMENT_SUM",
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
    """Elements in a new shape."""
    return b.RESHAPE(node.inputs[0], as_int32(node.inputs[1], b))


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
    """Axes in another order."""
    return b.TRANSPOSE(node.inputs[0], as_int32(node.inputs[1], b))


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


@lower("Bucketize")
def bucketize(node, b):
    """For each element, how many boundaries are not above it."""
    return b.BUCKETIZE(*node.inputs, boundaries=np.asarray(node.attr("boundaries"), np.float32))


@lower("Unique")
def unique(node, b):
    """The distinct elements and, for each element, its index among them."""
    return b.UNIQUE(*node.inputs, idx_out_type=b.tensor_type(node.attr("out_idx")))


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
    """Elements moved around by constant shifts: two slices, joined in the other order.

    Along an axis of unknown size, indices that are computed when the model runs are gathered.
    """
    x, shape = node.inputs[0], node.shape()
    total = Counter()
    for shift, axis in zip(*(np.atleast_1d(node.constant(i)) for i in (1, 2)), strict=True):
        total[node.axis(axis)] += int(shift)
    for axis, shift in total.items():
        length = shape[axis]
        if length is None:
            x = _roll_dynamic(x, axis, shift, b)
            continue
        start = -shift % length if length else 0
        if start:
            slices = ((start, -1), (0, start))
            x = b.CONCATENATION(*(slice_along(x, axis, *bounds, b) for bounds in slices), axis=axis)
    return x


def _roll_dynamic(x, axis, shift, b):
    """`x` rolled along an axis of unknown size."""
    # FLOOR_MOD by 0 is not defined
    size = b.MAXIMUM(dimension(x, axis, b), b.constant(np.int32(1)))
    before = b.SUB(positions(x, axis, b), b.constant(np.int32(shift)))
    return b.GATHER(x, b.FLOOR_MOD(before, size), axis=axis)


@lower("MatrixBandPart")
def matrix_band_part(node, b):
    """Zeros but in a band around the diagonal; a negative width is a whole triangle."""
    x, rank = node.inputs[0], node.rank()
    rows, columns = (positions(x, rank - k, b) for k in (2, 1))
    diagonal = b.SUB(b.EXPAND_DIMS(rows, b.constant(np.int32(1))), columns)
    lower_width, upper_width = (int(node.constant(i)) for i in (1, 2))
    if lower_width >= 0:
        inside = b.LESS_EQUAL(diagonal, b.constant(np.int32(lower_width)))
        x = b.SELECT_V2(inside, x, b.constant(np.zeros((), x.dtype)))
    if upper_width >= 0:
        inside = b.GREATER_EQUAL(diagonal, b.constant(np.int32(-upper_width)))
        x = b.SELECT_V2(inside, x, b.constant(np.zeros((), x.dtype)))
    return x


def positions(x, axis, b):
    """0, 1, ... along an axis of `x`; a constant where the size is known."""
    size = x.shape[axis]
    if size is not None:
        return b.constant(np.arange(size, dtype=np.int32))
    return b.RANGE(b.constant(np.int32(0)), dimension(x, axis, b), b.constant(np.int32(1)))


@lower("MatrixDiag", "MatrixDiagV3")
def matrix_diag(node, b):
    """A diagonal matrix for each innermost vector."""
    if node.type == "MatrixDiagV3":
        k, n_rows, n_columns = (node.constant(i) for i in (1, 2, 3))
        node.require(
            not np.any(k) and n_rows == n_columns == -1,
            "only the main diagonal of a square matrix is supported, "
            f"got k={k.tolist()}, num_rows={n_rows}, num_cols={n_columns}",
        )
    return b.MATRIX_DIAG(node.inputs[0])


@lower("InvertPermutation")
def invert_permutation(node, b):
    """The permutation that undoes this one."""
    (x,) = node.inputs
    if x.value is not None:
        return b.constant(np.argsort(x.value).astype(x.dtype))
    size = b.SHAPE(x, out_type=b.tensor_type(np.int32))
    n = b.RESHAPE(size, np.zeros(0, np.int32))
    positions = b.RANGE(b.constant(np.int32(0)), n, b.constant(np.int32(1)))
    indices = b.EXPAND_DIMS(as_type(x, np.int32, b), b.constant(np.int32(1)))
    return as_type(b.SCATTER_ND(indices, positions, size), x.dtype, b)
