"""Reductions, arg-reductions and cumulative sums."""

import numpy as np

from ..lowering.moves import as_int32, like, positions
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


OF_NOTHING = {"Max": -np.inf, "Min": np.inf}
"""Reductions that give another number in TFLite where there are no elements."""


@lower(*REDUCTIONS)
def reduce(node, b):
    """One reduction; TFLite takes the axes as an int32 vector."""
    x, axes = node.inputs
    if axes.value is not None:
        axes = b.constant(np.atleast_1d(axes.value).astype(np.int32))
    result = getattr(b, REDUCTIONS[node.type])(x, axes, keep_dims=node.attr("keep_dims"))
    is_of_nothing = x.is_static and 0 in x.dims and result.is_static
    if is_of_nothing and node.type in OF_NOTHING and x.dtype.kind == "f":
        return b.constant(np.full(result.dims, OF_NOTHING[node.type], x.dtype))
    return result


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


@lower("EuclideanNorm")
def euclidean_norm(node, b):
    """The root of the sum of squares."""
    x, axes = node.inputs
    axes = b.RESHAPE(as_int32(axes, b), np.array([-1], np.int32))
    return b.SQRT(b.SUM(b.SQUARE(x), axes, keep_dims=node.attr("keep_dims")))


@lower("BiasAddGrad")
def bias_add_grad(node, b):
    """The sum over all axes but the channels."""
    rank = node.rank()
    channels = 1 if node.text("data_format") == "NCHW" else rank - 1
    axes = [axis for axis in range(rank) if axis != channels]
    return b.SUM(node.inputs[0], np.array(axes, np.int32))


@lower("Cumprod")
def cumprod(node, b):
    """Running products: of windows of 1, 2, 4, ... elements, each from the one before.

    Along an axis of unknown size, the product of what a triangle of ones leaves of each element.
    """
    x, axis = node.inputs[0], node.axis(node.constant(1))
    if node.attr("reverse"):
        x = b.REVERSE_V2(x, np.array([axis], np.int32))
    size = node.shape()[axis]
    if node.attr("exclusive"):
        x = shifted(x, axis, 1, b)
    if size is None:
        x = triangle_product(x, axis, b)
    else:
        step = 1
        while step < size:
            x = b.MUL(x, shifted(x, axis, step, b))
            step *= 2
    return b.REVERSE_V2(x, np.array([axis], np.int32)) if node.attr("reverse") else x


def shifted(x, axis, step, b):
    """`x` moved towards the end of an axis, behind ones."""
    pairs = np.zeros((x.rank, 2), np.int32)
    pairs[axis, 0] = step
    padded = b.PADV2(x, pairs, like(x, 1, b))
    ends = np.zeros(x.rank, np.int32)
    ends[axis] = -step
    full_mask = sum(1 << i for i in range(x.rank))
    return b.STRIDED_SLICE(
        padded,
        np.zeros(x.rank, np.int32),
        ends,
        np.ones(x.rank, np.int32),
        begin_mask=full_mask,
        end_mask=full_mask & ~(1 << axis),
    )


def triangle_product(x, axis, b):
    """For each place along an axis the product of all up to there."""
    index = positions(x, axis, b)
    upto = b.LESS_EQUAL(b.EXPAND_DIMS(index, np.int32(1)), index)  # [earlier, later]
    n_after = x.rank - axis - 1
    if n_after:
        upto = b.RESHAPE(
            upto,
            b.CONCATENATION(
                b.SHAPE(upto, out_type="INT32"), np.array([1] * n_after, np.int32), axis=0
            ),
        )
    spread = b.SELECT_V2(upto, b.EXPAND_DIMS(x, np.int32(axis + 1)), like(x, 1, b))
    return b.REDUCE_PROD(spread, np.array([axis], np.int32))
