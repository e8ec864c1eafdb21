"""Operators on whole arrays in numpy, where the ONNX project's evaluator takes less or gives other.

They compute what ONNX Runtime computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Attributes = Mapping[str, Any]
OPEN_ENDS = (2**31 - 1, 2**63 - 1)
"""Ends of a slice that mean the last element it can reach, whichever way it goes."""


def mean(_: Attributes, *arrays: np.ndarray) -> np.ndarray:
    """Mean; the evaluator lets the others grow to the first operand's shape alone."""
    return (sum(arrays[1:], arrays[0]) / len(arrays)).astype(arrays[0].dtype)


def reduce_sum_square(
    attributes: Attributes, x: np.ndarray, axes: np.ndarray | None = None
) -> np.ndarray:
    """ReduceSumSquare; the evaluator widens integers."""
    numbers = attributes.get("axes", ()) if axes is None else axes.tolist()
    if not numbers and attributes.get("noop_with_empty_axes", 0):
        return np.square(x)
    keeps = bool(attributes.get("keepdims", 1))
    return np.square(x).sum(tuple(numbers) or None, dtype=x.dtype, keepdims=keeps)


def gather_elements(attributes: Attributes, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """GatherElements; the evaluator takes no indices of fewer rows than the data."""
    axis = attributes.get("axis", 0) % x.ndim
    ends = [None if i == axis else n for i, n in enumerate(indices.shape)]
    return np.take_along_axis(x[tuple(slice(end) for end in ends)], indices, axis)


def unique(attributes: Attributes, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Unique; without an order the evaluator forgets the axis, or sorts all the same."""
    axis = attributes.get("axis")
    values, first, inverse, counts = np.unique(x, True, True, True, axis)
    if not attributes.get("sorted", 1):
        order = np.argsort(first)
        values = values.take(order, 0 if axis is None else axis)
        first, counts, inverse = first[order], counts[order], np.argsort(order)[inverse]
    return values, *(n.reshape(-1).astype(np.int64) for n in (first, inverse, counts))


def one_hot(
    attributes: Attributes, indices: np.ndarray, depth: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """OneHot, of fractions the whole part; the evaluator compares them as they are."""
    n = int(np.ravel(depth)[0])
    positions = np.where((indices < -n) | (indices >= n), n, indices).astype(np.int64)
    hot = np.expand_dims(np.where(positions < 0, positions + n, positions), -1) == np.arange(n)
    return np.moveaxis(np.where(hot, values[1], values[0]), -1, attributes.get("axis", -1))


def slice_(attributes: Attributes, x: np.ndarray, *operands: np.ndarray | None) -> np.ndarray:
    """Slice, whose ends are clamped as ONNX says; before the first element numpy has nothing."""
    starts, ends, axes, steps = (
        attributes.get(name) if operand is None else np.ravel(operand).tolist()
        for name, operand in zip(
            ("starts", "ends", "axes", "steps"), (*operands, None, None, None, None), strict=False
        )
    )
    assert starts is not None  # ONNX demands both
    assert ends is not None
    parts = [slice(None)] * x.ndim
    axes = range(len(starts)) if axes is None else axes
    for axis, start, end, step in zip(axes, starts, ends, steps or [1] * len(starts), strict=True):
        parts[axis] = _part(x.shape[axis], start, end, step)
    return x[tuple(parts)]


def _part(n: int, start: int, end: int, step: int) -> slice:
    """The slice of an axis of `n` elements."""
    last = n if step > 0 else n - 1
    lowest = 0 if step > 0 else -1
    start = min(max(start + n if start < 0 else start, 0), last)
    if end in OPEN_ENDS:
        end = n if step > 0 else -1
    else:
        end = min(max(end + n if end < 0 else end, lowest), last if step < 0 else n)
    return slice(start, None if end < 0 else end, step)


def pad(
    attributes: Attributes,
    x: np.ndarray,
    pads: np.ndarray | None = None,
    value: np.ndarray | None = None,
    axes: np.ndarray | None = None,
) -> np.ndarray:
    """Pad; the evaluator has nothing for a negative count, which cuts."""
    numbers = np.asarray(attributes.get("pads", ()) if pads is None else pads).reshape(2, -1)
    pairs = np.zeros((x.ndim, 2), np.int64)
    pairs[slice(None) if axes is None else axes] = numbers.T
    before, after = np.maximum(-pairs, 0).T
    parts = [slice(first, n - last) for first, last, n in zip(before, after, x.shape, strict=True)]
    x, pairs = x[tuple(parts)], np.maximum(pairs, 0)
    mode = attributes.get("mode", b"constant").decode()
    if mode != "constant":
        return np.pad(x, pairs, mode)
    fill = attributes.get("value", 0) if value is None else value.item()
    return np.pad(x, pairs, mode, constant_values=fill)
