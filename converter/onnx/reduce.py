"""Reductions and arg-reductions."""

from __future__ import annotations

import numpy as np

from ..lowering.moves import as_int32
from .registry import lower

REDUCTIONS = {
    "ReduceMax": "REDUCE_MAX",
    "ReduceMean": "MEAN",
    "ReduceMin": "REDUCE_MIN",
    "ReduceProd": "REDUCE_PROD",
    "ReduceSum": "SUM",
}
PRE_REDUCTION = {
    "ReduceL1": lambda x, b: b.ABS(x),
    "ReduceL2": lambda x, b: b.SQUARE(x),
    "ReduceLogSum": lambda x, b: x,
    "ReduceSumSquare": lambda x, b: b.SQUARE(x),
}
POST_REDUCTION = {"ReduceL2": "SQRT", "ReduceLogSum": "LOG"}
ARG_REDUCTIONS = {"ArgMax": "ARG_MAX", "ArgMin": "ARG_MIN"}


def axes_of(node, b):
    """The axes as an int32 vector, all of them by default; None when nothing is reduced."""
    since = 13 if node.type == "ReduceSum" else 18
    axes = node.input(1) if node.opset >= since else None
    if axes is not None and axes.shape == (0,):
        axes = None
    if axes is not None and axes.value is None:
        return as_int32(axes, b)
    numbers = node.attr("axes", None) if axes is None else axes.value.ravel().tolist()
    if not numbers and node.attr("noop_with_empty_axes", 0):
        return None
    return np.asarray(node.axes(numbers or range(node.rank())), np.int32)


@lower(*REDUCTIONS)
def reduce(node, b):
    """One reduction over some axes."""
    axes = axes_of(node, b)
    if axes is None:
        return node.inputs[0]
    if node.type in ("ReduceMax", "ReduceMin"):
        node.require(0 not in node.shape(), "the largest or smallest of nothing is not supported")
        node.require(node.inputs[0].dtype != bool, "bool is not supported")
    keep_dims = bool(node.attr("keepdims", 1))
    return getattr(b, REDUCTIONS[node.type])(node.inputs[0], axes, keep_dims=keep_dims)


@lower(*PRE_REDUCTION)
def reduce_mapped(node, b):
    """A sum of changed elements, changed once more."""
    x, axes = PRE_REDUCTION[node.type](node.inputs[0], b), axes_of(node, b)
    if axes is not None:
        x = b.SUM(x, axes, keep_dims=bool(node.attr("keepdims", 1)))
    return getattr(b, POST_REDUCTION[node.type])(x) if node.type in POST_REDUCTION else x


@lower(*ARG_REDUCTIONS)
def arg_reduce(node, b):
    """The index of the first largest or smallest element along an axis, as int64."""
    node.require(not node.attr("select_last_index", 0), "select_last_index=1 is not supported")
    axis = np.int32(node.axis(node.attr("axis", 0)))
    dtype = np.dtype(np.int64)
    kind = getattr(b, ARG_REDUCTIONS[node.type])
    index = kind(node.inputs[0], axis, dtype=dtype, output_type=b.tensor_type(dtype))
    return b.EXPAND_DIMS(index, axis) if node.attr("keepdims", 1) else index
