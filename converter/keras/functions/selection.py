"""Functions that choose parts of tensors: slices, gathering, splitting, one-hot."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..registry import Call, is_integer
from .operations import axis_of, dtype_of, operation, tensor

ELLIPSIS = "__ellipsis__"


def bounds_of(call: Call, item: Any, i: int, masks: dict[str, int]) -> list[int]:
    """First, end and step of one item of a subscript; notes bits for what it leaves out."""
    if isinstance(item, dict) and item.get("class_name") == ELLIPSIS:
        masks["ellipsis_mask"] |= 1 << i
        return [0, 0, 1]
    if item is None:
        masks["new_axis_mask"] |= 1 << i
        return [0, 0, 1]
    if isinstance(item, int) and is_integer(item):
        masks["shrink_axis_mask"] |= 1 << i
        return [item, item + 1, 1]
    config: Any = item.get("config", item) if isinstance(item, dict) else None
    call.require(
        isinstance(config, dict), f"a subscript must be slices and integers, got {str(item)[:40]}"
    )
    values = []
    for name, default in (("start", 0), ("stop", 0), ("step", 1)):
        value = config.get(name)
        is_valid = value is None or is_integer(value)
        call.require(is_valid, f"{name} of a slice must be an integer, got {str(value)[:40]}")
        if value is None and name != "step":
            masks["begin_mask" if name == "start" else "end_mask"] |= 1 << i
        values.append(default if value is None else value)
    return values


@operation("GetItem", "tf.__operators__.getitem", slice_spec="key")
def get_item(call: Call, x: Tensor, key: Any) -> Tensor:
    """x[key]."""
    if isinstance(key, Tensor):
        call.require(
            key.dtype.kind in "iu", "a subscript must not be a mask: its size is not known"
        )
        return call.op("GatherV2", x, key, call.constant(0))
    names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    masks: dict[str, Any] = dict.fromkeys(names, 0)
    items = key if isinstance(key, list) else [key]
    call.require(items, "a subscript must not be empty")
    bounds = [bounds_of(call, item, i, masks) for i, item in enumerate(items)]
    call.require(masks["ellipsis_mask"].bit_count() <= 1, "a subscript must have one ...")
    parts = [call.constant([b[k] for b in bounds]) for k in range(3)]
    return call.op("StridedSlice", x, *parts, **masks)


@operation("Take", "tf.gather", params="x")
def take(
    call: Call, x: Any, indices: Any, axis: Any = None, batch_dims: Any = 0, validate_indices=None
) -> Tensor:
    """Slices along an axis."""
    x, indices = tensor(call, x), tensor(call, indices)
    if axis is None:
        if call.layer.kind.startswith("tf."):
            axis = batch_dims
        else:
            x, axis = call.op("Reshape", x, call.constant([-1])), 0
    axis = axis_of(call, axis, len(call.shape(x)))
    if indices.dtype not in (np.int32, np.int64):
        indices = call.cast(indices, np.int32)
    if not call.layer.kind.startswith("tf."):
        indices = counted_from_front(call, indices, call.size(x, axis))
    return call.op("GatherV2", x, indices, call.constant(axis), batch_dims=int(batch_dims or 0))


def counted_from_front(call: Call, indices: Tensor, n: Tensor) -> Tensor:
    """Indices where those below 0 count from the end."""
    n = call.cast(n, indices.dtype)
    is_negative = call.op("Less", indices, call.constant(0, indices))
    return call.op("SelectV2", is_negative, call.op("AddV2", indices, n), indices)


@operation("TakeAlongAxis")
def take_along_axis(call: Call, x: Tensor, indices: Any, axis: Any = None) -> Tensor:
    """A value of `x` for each index, among those of its row; axes of size 1 fit any other."""
    indices = call.cast(tensor(call, indices), np.int32)
    if axis is None:
        x, indices = (call.op("Reshape", v, call.constant([-1])) for v in (x, indices))
    rank = len(call.shape(x))
    indices_rank = len(call.shape(indices))
    call.require(indices_rank == rank, f"indices must have {rank} dimensions, got {indices_rank}")
    axis = axis_of(call, axis or 0, rank)
    x, indices = _fitted(call, x, indices, axis), _fitted(call, indices, x, axis)
    indices = counted_from_front(call, indices, call.size(x, axis))
    order = [i for i in range(rank) if i != axis] + [axis]
    is_last = axis == rank - 1
    rows, places = (
        v if is_last else call.op("Transpose", v, call.constant(order)) for v in (x, indices)
    )
    y = call.op("GatherV2", rows, places, call.constant(rank - 1), batch_dims=rank - 1)
    return y if is_last else call.op("Transpose", y, call.constant(np.argsort(order)))


def _fitted(call: Call, x: Tensor, other: Tensor, axis: int) -> Tensor:
    """`x` as often along axes of size 1 as another tensor is long there, but along `axis`."""
    shapes = call.shape(x), call.shape(other)
    is_short = [
        i != axis and n == 1 and m != 1 for i, (n, m) in enumerate(zip(*shapes, strict=True))
    ]
    if not any(is_short):
        return x
    counts = [
        call.size(other, i) if is_one else call.constant(1) for i, is_one in enumerate(is_short)
    ]
    return call.op("Tile", x, call.op("Pack", *counts, axis=0))


@operation("Slice")
def slice_of(call: Call, inputs: Tensor, start_indices: Any, shape: Any) -> Tensor:
    """A block of a tensor."""
    call.require(isinstance(shape, list) and all(map(is_integer, shape)), "shape must be integers")
    return call.op(
        "Slice", inputs, call.cast(tensor(call, start_indices), np.int32), call.constant(shape)
    )


@operation("tf.slice", input_="x")
def tf_slice(call: Call, x: Tensor, begin: Any, size: Any) -> Tensor:
    """A block of a tensor."""
    return call.op("Slice", x, tensor(call, begin), tensor(call, size))


@operation("Split", "ArraySplit", "tf.split", value="x", num_or_size_splits="indices_or_sections")
def split(call: Call, x: Tensor, indices_or_sections: Any, axis: Any = 0) -> list[Tensor]:
    """Parts along an axis: as many as are asked for, or cut at indices (tf: of sizes)."""
    axis = axis_of(call, axis, len(call.shape(x)))
    sections = indices_or_sections
    if call.layer.kind == "ops.ArraySplit" and is_integer(sections) and sections > 0:
        n = call.known(call.shape(x)[axis], "the dimension that is split")
        size, n_longer = divmod(n, sections)
        if n_longer:
            sections = [i * size + min(i, n_longer) for i in range(1, sections)]
    if is_integer(sections):
        return call.ops("Split", call.constant(axis), x, num_split=sections)
    is_valid = isinstance(sections, list) and sections and all(map(is_integer, sections))
    call.require(is_valid, "must be cut into parts at integers")
    if not call.layer.kind.startswith("tf."):
        n = call.known(call.shape(x)[axis], "the dimension that is split")
        sections = [b - a for a, b in pairwise([0, *sections, n])]
    return call.ops(
        "SplitV", x, call.constant(sections), call.constant(axis), num_split=len(sections)
    )


@operation("Unstack", "tf.unstack", value="x")
def unstack(call: Call, x: Tensor, num: Any = None, axis: Any = 0) -> list[Tensor]:
    """The slices along an axis."""
    axis = axis_of(call, axis, len(call.shape(x)))
    n = call.known(call.shape(x)[axis], "the dimension that is unstacked")
    return call.ops("Unpack", x, num=n, axis=axis)


@operation("OneHot")
def one_hot(
    call: Call, x: Any, num_classes: Any, axis: Any = -1, dtype: Any = None, sparse: Any = False
) -> Tensor:
    """1 at the index, 0 elsewhere."""
    call.require(not sparse, "sparse results are not supported")
    call.require(is_integer(num_classes) and is_integer(axis), "needs integers")
    dtype = np.dtype(np.float32) if dtype is None else dtype_of(call, dtype)
    on, off = call.constant_of(1, dtype), call.constant_of(0, dtype)
    indices = tensor(call, x)
    indices = indices if indices.dtype in (np.int32, np.int64) else call.cast(indices, np.int32)
    return call.op("OneHot", indices, call.constant(num_classes), on, off, axis=axis)


@operation("tf.one_hot")
def tf_one_hot(
    call: Call, indices: Any, depth: Any, on_value=None, off_value=None, axis=None, dtype=None
) -> Tensor:
    """One value at the index, another elsewhere."""
    call.require(on_value is None and off_value is None, "on_value and off_value are not supported")
    return one_hot(call, indices, depth, -1 if axis is None else axis, dtype)
