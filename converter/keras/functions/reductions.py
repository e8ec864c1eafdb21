"""Functions that reduce along axes, sort or search, outside of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..activation import softmax
from ..registry import Call, is_integer, is_number
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
        return reduced(call, kind, x, axis, keepdims)

    return write


TOTALS = {"b": np.int32, "i": np.int32, "u": np.uint32}
"""The types of sums and products of integers of fewer than 32 bits, by their kind."""


def total(kind: str) -> Callable:
    """A sum or product, of narrow integers in 32 bits."""

    def write(
        call: Call, x: Any, axis: Any = None, keepdims: Any = False, dtype: Any = None
    ) -> Tensor:
        x = tensor(call, x)
        is_narrow = x.dtype.kind in TOTALS and x.dtype.itemsize < 4
        wide = TOTALS[x.dtype.kind] if is_narrow and not call.layer.kind.startswith("tf.") else None
        result = wide if dtype is None else dtype_of(call, dtype)
        if wide is not None:
            x = call.cast(x, np.int32)  # TFLite adds up no unsigned ones
        elif dtype is not None:
            x = call.cast(x, result)
        y = reduced(call, kind, x, axis, keepdims)
        return y if result is None else call.cast(y, result)

    return write


def extreme(kind: str, pair: str) -> Callable:
    """The largest or smallest, perhaps of a number besides; of bools, whether any or all hold."""

    def write(
        call: Call, x: Any, axis: Any = None, keepdims: Any = False, initial: Any = None
    ) -> Tensor:
        x = tensor(call, x)
        if x.dtype.kind == "b":
            call.require(initial is None, "initial is not supported for bools")
            return reduced(call, "Any" if kind == "Max" else "All", x, axis, keepdims)
        y = reduced(call, kind, x, axis, keepdims)
        return y if initial is None else call.op(pair, y, call.constant(initial, y))

    return write


operation("All", "tf.math.reduce_all", **RENAMED)(reduction("All", is_bool=True))
operation("Any", "tf.math.reduce_any", **RENAMED)(reduction("Any", is_bool=True))
operation("Max", "Amax", "tf.math.reduce_max", **RENAMED)(extreme("Max", "Maximum"))
operation("Min", "Amin", "tf.math.reduce_min", **RENAMED)(extreme("Min", "Minimum"))
operation("Sum", "tf.math.reduce_sum", **RENAMED)(total("Sum"))
operation("Prod", "tf.math.reduce_prod", **RENAMED)(total("Prod"))
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
    """The length of vectors or the size of matrices, Euclidean or by another order."""
    x = floating(call, x)
    rank = len(call.shape(x))
    axes = list(range(rank)) if axis is None else axes_of(call, axis, rank)
    is_vector = len(axes) == 1 or (axis is None and call.layer.kind == "tf.norm")
    if ord in (None, "fro", "euclidean") or (ord == 2 and is_vector):
        return call.op("Sqrt", reduced(call, "Sum", call.op("Square", x), axes, keepdims))
    is_known = is_number(ord) or ord in (np.inf, -np.inf) or (ord == "nuc" and not is_vector)
    call.require(is_known, f"ord must be a number, fro or nuc, got {str(ord)[:20]}")
    call.require(is_vector or len(axes) == 2, f"must be of vectors or matrices, got axes {axes}")
    return (_vector_norm if is_vector else _matrix_norm)(call, x, ord, axes, keepdims)


def _vector_norm(call: Call, x: Tensor, ord: Any, axes: list[int], keepdims: Any) -> Tensor:
    size = call.op("Abs", x)
    if np.isinf(ord):
        return reduced(call, "Max" if ord > 0 else "Min", size, axes, keepdims)
    if ord == 0:
        differs = call.op("NotEqual", size, call.constant(0, x))
        return reduced(call, "Sum", call.cast(differs, x.dtype), axes, keepdims)
    power = size if ord == 1 else call.op("Pow", size, call.constant(ord, x))
    total = reduced(call, "Sum", power, axes, keepdims)
    return total if ord == 1 else call.op("Pow", total, call.constant(1 / ord, x))


def _matrix_norm(call: Call, x: Tensor, ord: Any, axes: list[int], keepdims: Any) -> Tensor:
    """The largest or smallest sum of rows or columns; of singular values for 2 and nuc."""
    if ord in (2, -2, "nuc"):
        rank = len(call.shape(x))
        order = [i for i in range(rank) if i not in axes] + axes
        attrs: dict[str, Any] = {"compute_uv": False, "full_matrices": False}
        values = call.op("Svd", call.op("Transpose", x, call.constant(order)), **attrs)
        result = reduced(call, {2: "Max", -2: "Min", "nuc": "Sum"}[ord], values, [-1])
        for axis in sorted(axes) if keepdims else ():
            result = call.op("ExpandDims", result, call.constant(axis))
        return result
    call.require(ord in (1, -1, np.inf, -np.inf), f"ord must be 1, 2 or infinite, got {ord}")
    along, across = axes if abs(ord) == 1 else axes[::-1]
    sums = reduced(call, "Sum", call.op("Abs", x), [along], True)
    largest = reduced(call, "Max" if ord > 0 else "Min", sums, [across], True)
    return largest if keepdims else call.op("Squeeze", largest, squeeze_dims=sorted(axes))


@operation("Normalize")
def normalize(call: Call, x: Tensor, axis: Any = -1, order: Any = 2, epsilon: Any = None) -> Tensor:
    """`x` divided by its length."""
    x = floating(call, x)
    epsilon = float(1e-7 if epsilon is None else epsilon)
    if order == 2:
        return _unit(call, x, axis, epsilon**2)
    length = norm(call, x, order, axis, True)
    return call.op("RealDiv", x, call.op("Maximum", length, call.constant(epsilon, x)))


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
        rank, is_whole = len(call.shape(x)), axis is None and not call.layer.kind.startswith("tf.")
        if is_whole:
            x, axis = call.op("Reshape", x, call.constant([-1])), 0
        axis = axis_of(call, axis or 0, len(call.shape(x)))
        dtype = dtype_of(call, output_type)
        if call.layer.kind.startswith("tf.") and output_type == "int32":
            dtype = np.dtype(np.int64)
        y = call.op(kind, x, call.constant(axis), output_type=dtype)
        if is_whole and keepdims:
            return call.op("Reshape", y, call.constant([1] * rank))
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
    """Values in order along an axis, or all, and where they were."""
    if axis is None:
        x, axis = call.op("Reshape", x, call.constant([-1])), 0
    if x.dtype.kind == "b":
        values, indices = sorted_along(call, call.cast(x, np.int32), axis, is_ascending)
        return [call.cast(values, bool), indices]
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
    """exp(x) / sum(exp(x)) along an axis, or of all."""
    if axis is None and not call.layer.kind.startswith("tf."):
        row = call.op("Reshape", x, call.constant([1, -1]))
        return call.op("Reshape", call.op("Softmax", row), call.op("Shape", x))
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
    ranks = len(call.shape(x)), len(call.shape(weights))
    if ranks[0] != ranks[1]:
        call.require(ranks[1] == 1, f"the weights must have 1 or {ranks[0]} dimensions")
        along = axis_of(call, axis, ranks[0])
        form = [-1 if i == along else 1 for i in range(ranks[0])]
        weights = call.op("Reshape", weights, call.constant(form))
    total = reduced(call, "Sum", call.op("Mul", x, weights), axis)
    return call.op("RealDiv", total, reduced(call, "Sum", weights, axis))
