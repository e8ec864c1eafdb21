"""Functions that reduce along axes, sort or search, outside of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..activation import softmax
from ..registry import Call, is_integer
from .operations import axes_of, axis_of, dtype_of, floating, operands, operation, tensor

RENAMED = {"input_tensor": "x", "keep_dims": "keepdims"}


def reduced(call: Call, kind: str, x: Tensor, axis: Any, keepdims: Any = False) -> Tensor:
    """A TF reduction along axes, all where they are None; from the end where they are negative."""
    axes = axes_of(call, axis, len(call.shape(x)))
    if axis is not None:
        axes = axis if isinstance(axis, list) else [axis]
    return call.op(kind, x, call.constant(axes), keep_dims=keepdims is True)


def reduction(kind: str, is_real: bool = False, is_bool: bool = False) -> Callable:
    """A function that is one TF reduction."""

    def write(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
        x = floating(call, x) if is_real else tensor(call, x)
        x = call.cast(x, bool) if is_bool else x
        if x.dtype.kind == "b" and not is_bool:
            x = call.cast(x, np.int32)
        return reduced(call, kind, x, axis, keepdims)

    return write


operation("All", "tf.math.reduce_all", **RENAMED)(reduction("All", is_bool=True))
operation("Any", "tf.math.reduce_any", **RENAMED)(reduction("Any", is_bool=True))
operation("Max", "Amax", "tf.math.reduce_max", **RENAMED)(reduction("Max"))
operation("Min", "Amin", "tf.math.reduce_min", **RENAMED)(reduction("Min"))
operation("Sum", "tf.math.reduce_sum", **RENAMED)(reduction("Sum"))
operation("Prod", "tf.math.reduce_prod", **RENAMED)(reduction("Prod"))
operation("Mean", "tf.math.reduce_mean", **RENAMED)(reduction("Mean", is_real=True))


@operation("Var", "tf.math.reduce_variance", **RENAMED)
def variance(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The mean of squared differences from the mean."""
    x = floating(call, x)
    mean = reduced(call, "Mean", x, axis, True)
    return reduced(call, "Mean", call.op("SquaredDifference", x, mean), axis, keepdims)


@operation("Std", "tf.math.reduce_std", **RENAMED)
def deviation(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The root of the variance."""
    return call.op("Sqrt", variance(call, x, axis, keepdims))


@operation("Moments", "tf.nn.moments", axes="axis", **RENAMED)
def moments(call: Call, x: Any, axis: Any, keepdims: Any = False, synchronized: Any = False):
    """Mean and variance."""
    mean = reduced(call, "Mean", floating(call, x), axis, keepdims)
    return [mean, variance(call, x, axis, keepdims)]


@operation("Logsumexp", "tf.math.reduce_logsumexp", **RENAMED)
def logsumexp(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """log(sum(exp(x)))."""
    x = floating(call, x)
    largest = reduced(call, "Max", x, axis, True)
    total = reduced(call, "Sum", call.op("Exp", call.op("Sub", x, largest)), axis, keepdims)
    largest = largest if keepdims else reduced(call, "Max", x, axis)
    return call.op("AddV2", call.op("Log", total), largest)


@operation("Norm", "tf.norm", ord="ord", tensor="x")
def norm(call: Call, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The length of vectors: Euclidean, or by ord 1, 2 or "inf"."""
    call.require(
        ord in (None, 1, 2, "fro", "euclidean"), f"ord must be 1 or 2, got {str(ord)[:20]}"
    )
    x = floating(call, x)
    if ord == 1:
        return reduced(call, "Sum", call.op("Abs", x), axis, keepdims)
    return call.op("Sqrt", reduced(call, "Sum", call.op("Square", x), axis, keepdims))


@operation("Normalize")
def normalize(call: Call, x: Tensor, axis: Any = -1, order: Any = 2, epsilon: Any = None) -> Tensor:
    """`x` divided by its length."""
    call.require(order == 2, f"order must be 2, got {str(order)[:20]}")
    x = floating(call, x)
    epsilon = 1e-7 if epsilon is None else epsilon
    return _unit(call, x, axis, float(epsilon) ** 2)


@operation("tf.math.l2_normalize", "tf.nn.l2_normalize", "tf.linalg.l2_normalize", dim="axis")
def l2_normalize(call: Call, x: Tensor, axis: Any = None, epsilon: Any = 1e-12) -> Tensor:
    """`x` divided by its length."""
    return _unit(call, x, axis, float(epsilon))


def _unit(call: Call, x: Tensor, axis: Any, least: float) -> Tensor:
    total = reduced(call, "Sum", call.op("Square", x), axis, True)
    least_square = call.op("Maximum", total, call.constant(least, x))
    return call.op("Mul", x, call.op("Rsqrt", least_square))


def arg(kind: str) -> Callable:
    """Where the largest or smallest value is."""

    def write(
        call: Call, x: Tensor, axis: Any = None, keepdims: Any = False, output_type: Any = "int32"
    ) -> Tensor:
        if axis is None and not call.layer.kind.startswith("tf."):
            x, axis = call.op("Reshape", x, call.constant([-1])), 0
            call.require(not keepdims, "keepdims needs an axis")
        axis = axis_of(call, axis or 0, len(call.shape(x)))
        dtype = dtype_of(call, output_type)
        if call.layer.kind.startswith("tf.") and output_type == "int32":
            dtype = np.dtype(np.int64)
        y = call.op(kind, x, call.constant(axis), output_type=dtype)
        return call.op("ExpandDims", y, call.constant(axis)) if keepdims else y

    return write


operation("Argmax", "tf.math.argmax", input="x")(arg("ArgMax"))
operation("Argmin", "tf.math.argmin", input="x")(arg("ArgMin"))


@operation("TopK", "tf.math.top_k", input="x")
def top_k(call: Call, x: Tensor, k: Any = 1, sorted: Any = True) -> list[Tensor]:
    """The k largest along the last axis, and where they are."""
    call.require(is_integer(k) and k > 0, f"k must be a positive integer, got {str(k)[:20]}")
    return call.ops("TopKV2", x, call.constant(k), sorted=True)


def sorted_along(call: Call, x: Tensor, axis: Any, is_ascending: bool) -> list[Tensor]:
    """Values in order along an axis, and where they were."""
    rank = len(call.shape(x))
    axis = axis_of(call, axis, rank)
    order = [i for i in range(rank) if i != axis] + [axis]
    last = axis == rank - 1
    x = x if last else call.op("Transpose", x, call.constant(order))
    x = call.op("Neg", x) if is_ascending else x
    values, indices = call.ops("TopKV2", x, call.size(x, rank - 1), sorted=True)
    values = call.op("Neg", values) if is_ascending else values
    back = call.constant(np.argsort(order))
    return [v if last else call.op("Transpose", v, back) for v in (values, indices)]


@operation("Sort", "tf.sort", values="x")
def sort(call: Call, x: Tensor, axis: Any = -1, direction: Any = "ASCENDING") -> Tensor:
    """Values in ascending order."""
    return sorted_along(call, x, axis, direction == "ASCENDING")[0]


@operation("Argsort", "tf.argsort", values="x")
def argsort(call: Call, x: Tensor, axis: Any = -1, direction: Any = "ASCENDING", stable: Any = 0):
    """Where the values of an ascending order are."""
    return sorted_along(call, x, axis, direction == "ASCENDING")[1]


@operation("Cumsum", "tf.math.cumsum")
def cumsum(
    call: Call,
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    exclusive: Any = False,
    reverse: Any = 0,
) -> Tensor:
    """Sums from the start along an axis."""
    x = tensor(call, x)
    x = x if dtype is None else call.cast(x, dtype_of(call, dtype))
    x = call.cast(x, np.int32) if x.dtype.kind == "b" else x
    if axis is None and not call.layer.kind.startswith("tf."):
        x = call.op("Reshape", x, call.constant([-1]))
    axis = axis_of(call, axis or 0, len(call.shape(x)))
    return call.op(
        "Cumsum", x, call.constant(axis), exclusive=exclusive is True, reverse=reverse is True
    )


@operation("CountNonzero", "tf.math.count_nonzero", input="x")
def count_nonzero(call: Call, x: Tensor, axis: Any = None, keepdims: Any = False) -> Tensor:
    """How many values are not 0."""
    differs = call.op("NotEqual", *operands(call, x, 0)) if x.dtype.kind != "b" else x
    return reduced(call, "Sum", call.cast(differs, np.int32), axis, keepdims)


@operation("Softmax", "tf.nn.softmax", logits="x")
def softmax_function(call: Call, x: Tensor, axis: Any = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis."""
    return softmax(call, x, axis_of(call, -1 if axis is None else axis, len(call.shape(x))))


@operation("LogSoftmax")
def log_softmax(call: Call, x: Tensor, axis: Any = -1) -> Tensor:
    """log(softmax(x))."""
    if axis in (-1, len(call.shape(x)) - 1):
        return call.op("LogSoftmax", x)
    return call.op("Sub", x, logsumexp(call, x, axis, True))


@operation("Average")
def average(call: Call, x: Tensor, weights: Any = None, axis: Any = None, **others: Any) -> Tensor:
    """The mean, perhaps weighted."""
    if weights is None:
        return reduced(call, "Mean", floating(call, x), axis)
    x, weights = (floating(call, v) for v in operands(call, x, weights))
    total = reduced(call, "Sum", call.op("Mul", x, weights), axis)
    ranks = len(call.shape(x)), len(call.shape(weights))
    call.require(ranks[0] == ranks[1], "the weights must have the rank of the input")
    return call.op("RealDiv", total, reduced(call, "Sum", weights, axis))
