"""Functions of keras.ops that reduce along axes: quantiles, and those that leave NaN out."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..registry import Call, is_number
from .numerics import like
from .operations import axes_of, axis_of, dtype_of, floating, operation, tensor
from .reductions import arg, cumsum, reduced, sorted_along


def without_nan(call: Call, x: Tensor, value: float) -> Tensor:
    """`x` with a number in the place of each NaN."""
    return call.op("SelectV2", call.op("IsNan", x), like(call, value, x), x)


def nan_reduction(kind: str, value: float) -> Callable:
    """A reduction in which a NaN counts as a number; NaN where there is nothing else."""

    def write(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
        x = floating(call, x)
        y = reduced(call, kind, without_nan(call, x, value), axis, keepdims)
        if kind not in ("Max", "Min"):
            return y
        is_empty = reduced(call, "All", call.op("IsNan", x), axis, keepdims)
        return call.op("SelectV2", is_empty, like(call, np.nan, y), y)

    return write


operation("Nansum")(nan_reduction("Sum", 0))
operation("Nanprod")(nan_reduction("Prod", 1))
operation("Nanmax")(nan_reduction("Max", -np.inf))
operation("Nanmin")(nan_reduction("Min", np.inf))


@operation("Nanmean")
def nan_mean(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The mean of what is a number."""
    x = floating(call, x)
    total = reduced(call, "Sum", without_nan(call, x, 0), axis, keepdims)
    is_number = call.op("LogicalNot", call.op("IsNan", x))
    count = reduced(call, "Sum", call.cast(is_number, x.dtype), axis, keepdims)
    return call.op("RealDiv", total, count)


@operation("Nanvar")
def nan_variance(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The variance of what is a number."""
    x = floating(call, x)
    difference = call.op("Sub", x, nan_mean(call, x, axis, True))
    return nan_mean(call, call.op("Square", difference), axis, keepdims)


@operation("Nanstd")
def nan_deviation(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The root of the variance of what is a number."""
    return call.op("Sqrt", nan_variance(call, x, axis, keepdims))


def nan_arg(kind: str, value: float) -> Callable:
    """Where the largest or smallest number is; -1 where there is none."""
    find = arg(kind)

    def write(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
        x = floating(call, x)
        place = find(call, without_nan(call, x, value), axis, keepdims)
        is_empty = reduced(call, "All", call.op("IsNan", x), axis, keepdims)
        return call.op("SelectV2", is_empty, like(call, -1, place), place)

    return write


operation("Nanargmax")(nan_arg("ArgMax", -np.inf))
operation("Nanargmin")(nan_arg("ArgMin", np.inf))


@operation("Nancumsum")
def nan_cumsum(call: Call, x: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    """Sums from the start along an axis; NaN counts as 0."""
    return cumsum(call, without_nan(call, floating(call, x), 0), axis, dtype)


@operation("Cumprod", "Nancumprod")
def cumprod(call: Call, x: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    """Products from the start along an axis."""
    x = tensor(call, x)
    x = x if dtype is None else call.cast(x, dtype_of(call, dtype))
    x = call.cast(x, np.int32) if x.dtype.kind == "b" else x
    if call.layer.kind == "ops.Nancumprod":
        x = without_nan(call, floating(call, x), 1)
    if axis is None:
        x = call.op("Reshape", x, call.constant([-1]))
    return call.op("Cumprod", x, call.constant(axis_of(call, axis or 0, len(call.shape(x)))))


@operation("Ptp")
def peak_to_peak(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The largest value less the smallest."""
    x = tensor(call, x)
    return call.op("Sub", *(reduced(call, kind, x, axis, keepdims) for kind in ("Max", "Min")))


def merged(call: Call, x: Tensor, axis: Any) -> tuple[Tensor, list[int], int]:
    """`x` with some axes as the last one, which these were, and its size."""
    shape = call.shape(x)
    axes = sorted(axes_of(call, axis, len(shape)))
    others = [i for i in range(len(shape)) if i not in axes]
    moved = call.op("Transpose", x, call.constant([*others, *axes]))
    dims = [call.size(x, i) if (n := shape[i]) is None else n for i in others]
    last = prod(call.known(shape[i], "what quantiles are taken of") for i in axes)
    return call.op("Reshape", moved, call.sizes([*dims, last])), axes, last


PLACES: dict[str, Callable[[float], float]] = {
    "linear": float,
    "lower": np.floor,
    "higher": np.ceil,
    "nearest": np.rint,
    "midpoint": lambda place: (np.floor(place) + np.ceil(place)) / 2,
}
"""Which place among sorted values a quantile has, by its method."""


def quantile_along(
    call: Call,
    x: Tensor,
    fractions: np.ndarray,
    axis: Any,
    keepdims: Any,
    place_of: Callable[[float], float] = float,
) -> Tensor:
    """Quantiles of all values along axes; the fractions' own axes come first."""
    rank = len(call.shape(x))
    rows, axes, n = merged(call, floating(call, x), axis)
    last = rank - len(axes)
    values, _ = sorted_along(call, rows, last, True)
    results = []
    for fraction in fractions.ravel():
        place = place_of(float(fraction) * (n - 1))
        low, part = int(place), place - int(place)
        y = call.op("GatherV2", values, call.constant(low), call.constant(last))
        if part:
            above = call.op("GatherV2", values, call.constant(low + 1), call.constant(last))
            step = call.op("Mul", call.op("Sub", above, y), like(call, part, y))
            y = call.op("AddV2", y, step)
        is_nan = call.op("Any", call.op("IsNan", rows), call.constant([last]))
        y = call.op("SelectV2", is_nan, like(call, np.nan, y), y)
        for i in axes if keepdims is True else ():
            y = call.op("ExpandDims", y, call.constant(i))
        results.append(y)
    if not fractions.ndim:
        return results[0]
    stacked = call.op("Pack", *results, axis=0)
    if fractions.ndim == 1:
        return stacked
    n_kept_axes = rank if keepdims is True else last
    dims = [call.size(stacked, i + 1) for i in range(n_kept_axes)]
    return call.op("Reshape", stacked, call.sizes([*fractions.shape, *dims]))


def fractions_of(call: Call, q: Any, whole: float) -> np.ndarray:
    """Fractions that are given as a number or nested lists of such."""
    array = np.asarray(q if isinstance(q, list | np.ndarray) or is_number(q) else None)
    is_valid = array.dtype.kind in "fiu" and bool(((array >= 0) & (array <= whole)).all())
    call.require(is_valid, f"q must be constant numbers in [0, {whole:g}], got {str(q)[:40]}")
    return array / whole


def quantiles(whole: float) -> Callable:
    """Quantiles by fractions of `whole`; that of 1 is linear: Keras ignores its method."""

    def write(
        call: Call, x: Any, q: Any, axis: Any = None, method: Any = "linear", keepdims: Any = False
    ) -> Tensor:
        fractions = fractions_of(call, q, whole)
        call.require(method in PLACES, f"method must be one of {', '.join(PLACES)}")
        place_of = PLACES["linear" if call.layer.kind == "ops.Quantile" else method]
        return quantile_along(call, tensor(call, x), fractions, axis, keepdims, place_of)

    return write


operation("Quantile")(quantiles(1.0))
operation("Percentile")(quantiles(100.0))


@operation("Median")
def median(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """What lies in the middle."""
    return quantile_along(call, tensor(call, x), np.array(0.5), axis, keepdims)


def nan_quantile_along(
    call: Call, x: Tensor, fractions: np.ndarray, axis: Any, keepdims: Any
) -> Tensor:
    """Quantiles of the values along axes that are not NaN; NaN where there are none."""
    call.require(fractions.ndim == 0, "q must be one number beside NaN")
    rank = len(call.shape(x))
    rows, axes, _ = merged(call, floating(call, x), axis)
    last = rank - len(axes)
    is_nan = call.op("IsNan", rows)
    values = call.op("SelectV2", is_nan, like(call, np.inf, rows), rows)
    values, _ = sorted_along(call, values, last, True)
    counted = call.cast(call.op("LogicalNot", is_nan), np.float32)
    count = call.op("Sum", counted, call.constant([last]))
    top = call.op("Maximum", call.op("Sub", count, like(call, 1, count)), like(call, 0, count))
    place = call.op("Mul", top, like(call, float(fractions), top))
    ends = [call.op("Floor", place), call.op("Ceil", place)]
    low, high = (_element(call, values, end, last) for end in ends)
    part = call.op("Sub", place, ends[0])
    is_between = call.op("Greater", part, like(call, 0, part))
    step = call.op("Mul", call.op("Sub", high, low), part)
    y = call.op("SelectV2", is_between, call.op("AddV2", low, step), low)
    is_empty = call.op("Equal", count, like(call, 0, count))
    y = call.op("SelectV2", is_empty, like(call, np.nan, y), y)
    for i in axes if keepdims is True else ():
        y = call.op("ExpandDims", y, call.constant(i))
    return y


def _element(call: Call, rows: Tensor, place: Tensor, axis: int) -> Tensor:
    """The element of each row, along its last axis, at a place of its own."""
    index = call.op("ExpandDims", call.cast(place, np.int32), call.constant(-1))
    y = call.op("GatherV2", rows, index, call.constant(axis), batch_dims=axis)
    return call.op("Squeeze", y, squeeze_dims=[axis])


def nan_quantiles(whole: float) -> Callable:
    """Quantiles by a fraction of `whole`, of what is not NaN."""

    def write(
        call: Call, x: Any, q: Any, axis: Any = None, method: Any = "linear", keepdims: Any = False
    ) -> Tensor:
        call.require(method == "linear", f"method must be linear, got {str(method)[:20]}")
        fractions = fractions_of(call, q, whole)
        return nan_quantile_along(call, tensor(call, x), fractions, axis, keepdims)

    return write


operation("Nanquantile")(nan_quantiles(1.0))
operation("Nanpercentile")(nan_quantiles(100.0))


@operation("Nanmedian")
def nan_median(call: Call, x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """What lies in the middle of what is not NaN."""
    return nan_quantile_along(call, tensor(call, x), np.array(0.5), axis, keepdims)
