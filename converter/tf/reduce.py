"""Reductions, arg-reductions and cumulative sums."""

import numpy as np

from .registry import lower

REDUCTIONS = {
    "All": "REDUCE_ALL",
    "Any": "REDUCE_ANY",
    "Max": "REDUCE_MAX",
    "Mean": "MEAN",
    "Min": "REDUCE_MIN",
    "Prod": "REDUCE_PROD",
    "Sum": "SUM",
}


@lower(*REDUCTIONS)
def reduce(node, b):
    """One reduction; TFLite takes the axes as an int32 vector."""
    x, axes = node.inputs
    if axes.value is not None:
        axes = b.constant(np.atleast_1d(axes.value).astype(np.int32))
    return getattr(b, REDUCTIONS[node.type])(x, axes, keep_dims=node.attr("keep_dims"))


@lower("ArgMax", "ArgMin")
def arg_reduce(node, b):
    """The index of the largest or smallest element along an axis."""
    kind = {"ArgMax": b.ARG_MAX, "ArgMin": b.ARG_MIN}[node.type]
    dtype = node.attr("output_type")
    return kind(*node.inputs, dtype=dtype, output_type=b.tensor_type(dtype))


@lower("Cumsum")
def cumsum(node, b):
    """Running sums along a constant axis."""
    axis = b.constant(np.int32(node.axis(node.constant(1))))
    options = {name: node.attr(name) for name in ("exclusive", "reverse")}
    return b.CUMSUM(node.inputs[0], axis, **options)


@lower("L2Loss")
def l2_loss(node, b):
    """sum(x ** 2) / 2."""
    (x,) = node.inputs
    axes = b.constant(np.arange(node.rank(), dtype=np.int32))
    return b.MUL(b.SUM(b.SQUARE(x), axes), b.constant(np.asarray(0.5, x.dtype)))
