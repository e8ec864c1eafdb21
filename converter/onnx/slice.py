"""Slices: ONNX's starts, ends, axes and steps as the corners and masks of STRIDED_SLICE."""

from __future__ import annotations

import numpy as np

from ..lowering.moves import as_int32, int32s
from .registry import lower

INT32_MAX = 2**31 - 1
"""Ends from here on mean the end, in whichever direction."""


@lower("Slice")
def slice_(node, b):
    """x[start:end:step] along some axes; what is out of range counts from the last in reach."""
    x, rank = node.inputs[0], node.rank()
    starts, ends, axes, steps = _corners(node, b)
    columns = {axis: i for i, axis in enumerate(axes)}
    masks = {"begin_mask": 0, "end_mask": 0}
    begin, end = [np.int32(0)] * rank, [np.int32(0)] * rank
    strides = [np.int32(1)] * rank
    for axis in range(rank):
        if axis not in columns:
            masks["begin_mask"] |= 1 << axis
            masks["end_mask"] |= 1 << axis
            continue
        i = columns[axis]
        strides[axis] = steps[i]
        begin[axis], end[axis] = _first(starts[i], steps[i], node.shape()[axis]), ends[i]
        if _reaches_end(ends[i], steps[i], node.shape()[axis]):
            masks["end_mask"] |= 1 << axis
            end[axis] = np.int32(0)
    return b.STRIDED_SLICE(x, _vector(begin, b), _vector(end, b), _vector(strides, b), **masks)


def _corners(node, b):
    """(starts, ends, axes, steps): known numbers, or scalars that are computed."""
    if node.opset < 10:
        starts, ends = node.attr("starts"), node.attr("ends")
        axes = node.attr("axes", range(len(starts)))
        return (
            *(_saturated(v) for v in (starts, ends)),
            node.axes(axes),
            [np.int32(1)] * len(starts),
        )
    starts, ends = _elements(node, 1, b), _elements(node, 2, b)
    if any(node.input(i) is not None and node.known(i) is None for i in (3, 4)):
        return _computed_axes(node, b, starts, ends)
    axes = node.axes(node.constant(3) if node.input(3) is not None else range(len(starts)))
    steps = [1] * len(axes) if node.input(4) is None else node.constant(4).tolist()
    node.require(0 not in steps, f"steps must not be 0, got {steps}")
    counts = [len(starts), len(ends), len(axes), len(steps)]
    node.require(
        len(set(counts)) == 1, f"starts, ends, axes and steps must be as many, got {counts}"
    )
    return starts, ends, axes, [np.int32(np.clip(step, -INT32_MAX, INT32_MAX)) for step in steps]


def _computed_axes(node, b, starts, ends):
    """Corners along all axes, where those that are sliced or the steps are computed."""
    rank = node.rank()
    axes = np.arange(len(starts), dtype=np.int32)
    if node.input(3) is not None:
        axes = b.FLOOR_MOD(as_int32(node.inputs[3], b), np.int32(rank))
    steps = _elements(node, 4, b) if node.input(4) is not None else [np.int32(1)] * len(starts)
    rows = b.ONE_HOT(axes, np.int32(rank), np.int32(1), np.int32(0), axis=0)  # [rank, n]
    is_sliced = b.SUM(rows, int32s([1]))
    sizes = b.SHAPE(node.inputs[0], out_type="INT32")
    full_slice = (np.zeros(rank, np.int32), sizes, np.ones(rank, np.int32))
    corners = []
    for values, default in zip((starts, ends, steps), full_slice, strict=True):
        spread = b.SUM(b.MUL(rows, _vector(values, b)), int32s([1]))
        corners.append(b.SELECT_V2(b.EQUAL(is_sliced, np.int32(1)), spread, default))
    vectors = [b.UNPACK(corner, axis=0, num=rank) for corner in corners]
    return *vectors[:2], list(range(rank)), vectors[2]


def _elements(node, index, b):
    """The elements of a vector that is an input: numbers where known, else scalar tensors.

    One of unknown length has as many as the others; where none is known, the operator that makes
    it one element checks that when the model runs.
    """
    known = node.known(index)
    if known is not None:
        return _saturated(known)
    (count,), vector = node.shape(index), as_int32(node.inputs[index], b)
    if count is None:
        others = (node.shape(i)[0] for i in (1, 2, 3, 4) if node.input(i) is not None)
        count = next((n for n in others if n is not None), 1)
        vector = b.RESHAPE(vector, int32s([count]))
    parts = b.UNPACK(vector, axis=0, num=count)
    return [part if part.value is None else np.int32(part.value) for part in parts]


def _saturated(values):
    return [np.int32(np.clip(int(v), -INT32_MAX - 1, INT32_MAX)) for v in values]


def _first(start, step, length):
    """Where a slice starts: backward from before the first element, with the first."""
    is_known = isinstance(start, np.integer) and isinstance(step, np.integer)
    if is_known and step < 0 and length is not None and start < -length:
        return np.int32(0)
    return start


def _reaches_end(end, step, length):
    """Whether a known end lies past the last element in the direction of the step."""
    if not isinstance(end, np.integer):
        return False
    if step > 0:
        return end == INT32_MAX or (length is not None and end >= length)
    return end <= -INT32_MAX or end == INT32_MAX or (length is not None and end < -length)


def _vector(values, b):
    """One vector of numbers and scalar tensors."""
    if all(isinstance(v, np.integer) for v in values):
        return np.asarray(values, np.int32)
    return b.PACK(*values, axis=0, values_count=len(values))
