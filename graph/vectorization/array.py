"""Rules for what moves, picks and joins elements, and for shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops
from ..core.shapes import is_static
from .registry import Value, rows

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from .registry import Call

_FIRST = np.int32(0)


def _before(call: Call, i: int, number: int) -> Tensor:
    """A vector with an item for each dimension of a row, with one for that of the rows before."""
    vector = call.one(i)
    first = np.full(1, number, vector.dtype)
    return ops.ConcatV2([first, vector], _FIRST)


def _length(call: Call, i: int) -> int:
    """How many items a vector has, which is the rank of a result."""
    (length,) = call.sizes(i)
    if length is None:
        raise call.refusal("the rank of the result is not known")
    return length


@rows("Reshape")
def reshape(call: Call) -> Tensor:
    """Each row in another shape."""
    return ops.Reshape(call.rows(0), call.sized(call.one(1)))


@rows("Shape")
def shape(call: Call) -> Value:
    """The shape of a row, which is that of all."""
    return Value(ops.Shape(call.rows(0), out_type=call.op.get_attr("out_type"))[1:], False)


@rows("Size")
def size(call: Call) -> Value:
    """The number of elements of a row."""
    dtype = call.op.get_attr("out_type")
    sizes = ops.Shape(call.rows(0), out_type=dtype)[1:]
    return Value(ops.Prod(sizes, np.zeros(1, np.int32)), False)


@rows("Rank")
def rank(call: Call) -> Value:
    """The rank of a row."""
    return Value(ops.Rank(call.rows(0)) - np.int32(1), False)


@rows("ExpandDims")
def expand_dims(call: Call) -> Tensor:
    """Each row with a dimension of 1 more."""
    return ops.ExpandDims(call.rows(0), call.shifted(1))


@rows("Squeeze")
def squeeze(call: Call) -> Tensor:
    """Each row without dimensions of 1."""
    axes = list(call.op.get_attr("squeeze_dims"))
    if not axes:
        sizes = call.sizes(0)
        if not is_static(sizes):
            raise call.refusal("which dimensions are 1 is not known")
        axes = [i for i, n in enumerate(sizes) if n == 1]
        if not axes:
            return call.rows(0)
    return ops.Squeeze(call.rows(0), squeeze_dims=[i + (i >= 0) for i in axes])


@rows("Transpose", "ConjugateTranspose")
def transpose(call: Call) -> Sequence[Tensor]:
    """The dimensions of each row in another order."""
    axes = call.one(1)
    one = np.ones((), axes.dtype)
    first = np.zeros(1, axes.dtype)
    return call.again(call.rows(0), ops.ConcatV2([first, axes + one], _FIRST))


@rows("ConcatV2")
def concat(call: Call) -> Tensor:
    """Rows joined along one of their dimensions."""
    last = len(call.inputs) - 1
    return ops.ConcatV2([call.rows(i) for i in range(last)], call.shifted(last))


@rows("Pack", "Unpack")
def pack(call: Call) -> Sequence[Tensor]:
    """Rows on top of one another along a new dimension, or along one taken apart."""
    axis = call.number("axis")
    inputs = [call.rows(i) for i in range(len(call.inputs))]
    return call.again(*inputs, axis=axis + (axis >= 0))


@rows("Split")
def split(call: Call) -> Sequence[Tensor]:
    """Equal parts of each row."""
    return call.again(call.shifted(0), call.rows(1))


@rows("SplitV")
def split_v(call: Call) -> Sequence[Tensor]:
    """Parts of each row."""
    return call.again(call.rows(0), call.one(1), call.shifted(2))


@rows("Slice")
def slices(call: Call) -> Tensor:
    """A block of each row, at a place of its own if need be."""
    if call.is_stacked(1):
        return _blocks(call)
    return ops.Slice(call.rows(0), _before(call, 1, 0), _before(call, 2, -1))


def _blocks(call: Call) -> Tensor:
    """Blocks of known sizes where each row says, picked along one dimension after the other."""
    sizes, x, begins = call.op.inputs[2].value, call.rows(0), call.rows(1)
    if sizes is None or (sizes < 0).any():
        raise call.refusal("the sizes of the blocks are not known")
    for axis, n in enumerate(sizes.tolist()):
        if call.sizes(0)[axis] != n:
            positions = begins[:, axis : axis + 1] + np.arange(n, dtype=begins.dtype)
            x = ops.GatherV2(x, positions, np.int32(axis + 1), batch_dims=1)
    return x


@rows("StridedSlice")
def strided_slice(call: Call) -> Sequence[Tensor]:
    """What an index with steps picks of each row."""
    masks = {
        name: call.number(name) * 2 + (name in ("begin_mask", "end_mask"))
        for name in (
            *("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"),
        )
    }
    positions = [_before(call, i, number) for i, number in ((1, 0), (2, 0), (3, 1))]
    return call.again(call.rows(0), *positions, **masks)


@rows("Pad", "PadV2", "MirrorPad")
def pad(call: Call) -> Sequence[Tensor]:
    """Each row with more around it."""
    paddings = call.one(1)
    first = np.zeros((1, 2), paddings.dtype)
    value = [call.one(2)] if call.op.type == "PadV2" else []
    return call.again(call.rows(0), ops.ConcatV2([first, paddings], _FIRST), *value)


@rows("Tile")
def tile(call: Call) -> Tensor:
    """Copies of each row side by side."""
    return ops.Tile(call.rows(0), _before(call, 1, 1))


@rows("BroadcastTo")
def broadcast_to(call: Call) -> Tensor:
    """Each row repeated to a larger shape."""
    return ops.BroadcastTo(call.aligned(0, _length(call, 1)), call.sized(call.one(1)))


@rows("Fill")
def fill(call: Call) -> Tensor:
    """A number everywhere."""
    ones = np.ones(_length(call, 0), np.int32)
    numbers = ops.Reshape(call.rows(1), ops.ConcatV2([call.counted(), ones], _FIRST))
    return ops.BroadcastTo(numbers, call.sized(call.one(0)))


@rows("GatherV2", "Gather")
def gather(call: Call) -> Tensor:
    """Slices that indices name."""
    has_axis = call.op.type == "GatherV2"
    n_batch = call.number("batch_dims") if has_axis else 0
    axis = np.int32(0)
    if call.is_stacked(0):
        axes = call.shifted(2) if has_axis else np.int32(1)
        if call.is_stacked(1) or n_batch:
            return ops.GatherV2(call.rows(0), call.rows(1), axes, batch_dims=n_batch + 1)
        return ops.GatherV2(call.rows(0), call.one(1), axes)
    if has_axis:
        known = call.one(2).op.attrs.get("value")
        if not isinstance(known, np.ndarray) or known.any() or n_batch:
            raise call.refusal("slices along another axis than the first")
    return ops.GatherV2(call.one(0), call.rows(1), axis)


@rows("GatherNd")
def gather_nd(call: Call) -> Tensor:
    """Slices that rows of indices name."""
    return ops.GatherNd(call.one(0), call.rows(1))


@rows("OneHot")
def one_hot(call: Call) -> Tensor:
    """1 where an index says, 0 elsewhere."""
    axis = call.number("axis")
    numbers = [call.one(i) for i in range(1, 4)]
    return ops.OneHot(call.rows(0), *numbers, axis=axis + (axis >= 0))


@rows("Identity", "Snapshot", "StopGradient", "PreventGradient", "EnsureShape", "IdentityN")
def identity(call: Call) -> list[Value]:
    """The rows as they are."""
    return list(call.inputs)


@rows("Assert")
def check(call: Call) -> list[Value]:
    """Fails unless a condition holds in every row."""
    holds = ops.All(call.rows(0), np.zeros(1, np.int32))
    call.checks.append(call.added([holds, *(value.tensor for value in call.inputs[1:])]))
    return []


@rows("MatrixDiagV3", "MatrixDiagPartV3", "MatrixDiagPartV2", "MatrixSetDiagV3")
def diagonals(call: Call) -> Sequence[Tensor]:
    """Diagonals of matrices in the last two dimensions."""
    n = 2 if call.op.type == "MatrixSetDiagV3" else 1
    stacked = [call.rows(i) for i in range(n)]
    return call.again(*stacked, *(call.one(i) for i in range(n, len(call.inputs))))
