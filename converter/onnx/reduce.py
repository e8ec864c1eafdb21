"""Reductions and arg-reductions."""

from __future__ import annotations

import numpy as np

from ..lowering.moves import as_int32, as_type, dimension, like
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
    if node.type in ("ReduceMax", "ReduceMin") and node.inputs[0].dtype == bool:
        return _any_or_all(node, b, axes)
    keep_dims = bool(node.attr("keepdims", 1))
    out = getattr(b, REDUCTIONS[node.type])(node.inputs[0], axes, keep_dims=keep_dims)
    return _extreme(node, b, out) if node.type in ("ReduceMax", "ReduceMin") else out


def _extreme(node, b, out):
    """What TFLite gives for the largest of infinities, the lowest finite number, as infinity."""
    x, is_max = node.inputs[0], node.type == "ReduceMax"
    if x.dtype.kind != "f" or (out.value is not None and x.value is not None):
        return out
    limits = np.finfo(x.dtype)
    start, infinity = (limits.min, -np.inf) if is_max else (limits.max, np.inf)
    if 0 in node.shape():
        return b.FILL(b.SHAPE(out, out_type="INT32"), like(out, infinity, b))
    return b.SELECT_V2(b.EQUAL(out, like(out, start, b)), like(out, infinity, b), out)


def _any_or_all(node, b, axes):
    """The largest bool is whether any is true, the smallest whether all are."""
    kind = b.REDUCE_ANY if node.type == "ReduceMax" else b.REDUCE_ALL
    return kind(node.inputs[0], axes, keep_dims=bool(node.attr("keepdims", 1)))


@lower("ReduceLogSumExp")
def reduce_log_sum_exp(node, b):
    """m + log(sum of exp(x - m)), m the largest element, which overflows nowhere."""
    x, axes = node.inputs[0], axes_of(node, b)
    keep_dims = bool(node.attr("keepdims", 1))
    if axes is None:
        return x
    if 0 in node.shape():
        return b.LOG(b.SUM(b.EXP(x), axes, keep_dims=keep_dims))
    largest = b.REDUCE_MAX(x, axes, keep_dims=True)
    finite = b.MAXIMUM(
        b.MINIMUM(largest, like(x, np.finfo(x.dtype).max, b)), like(x, np.finfo(x.dtype).min, b)
    )
    total = b.SUM(b.EXP(b.SUB(x, finite)), axes, keep_dims=keep_dims)
    shape = b.SHAPE(total, out_type="INT32")
    return b.ADD(b.LOG(total), finite if keep_dims else b.RESHAPE(finite, shape))


@lower(*PRE_REDUCTION)
def reduce_mapped(node, b):
    """A sum of changed elements, changed once more."""
    x, axes = PRE_REDUCTION[node.type](node.inputs[0], b), axes_of(node, b)
    if axes is not None:
        x = b.SUM(x, axes, keep_dims=bool(node.attr("keepdims", 1)))
    return getattr(b, POST_REDUCTION[node.type])(x) if node.type in POST_REDUCTION else x


@lower(*ARG_REDUCTIONS)
def arg_reduce(node, b):
    """The index of the first (or last) largest or smallest element along an axis, as int64."""
    x, axis = node.inputs[0], np.int32(node.axis(node.attr("axis", 0)))
    dtype, takes_last = np.dtype(np.int64), node.attr("select_last_index", 0)
    kind = getattr(b, ARG_REDUCTIONS[node.type])
    x = b.REVERSE_V2(x, axis.reshape(1)) if takes_last else x
    index = kind(x, axis, dtype=dtype, output_type=b.tensor_type(dtype))
    if takes_last:
        last = b.SUB(dimension(x, int(axis), b), np.int32(1))
        index = b.SUB(as_type(last, dtype, b), index)
    return b.EXPAND_DIMS(index, axis) if node.attr("keepdims", 1) else index
