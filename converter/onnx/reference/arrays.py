"""Operators on whole arrays in numpy, where the ONNX project's evaluator takes less or gives other.

They compute what ONNX Runtime computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
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


def conv_transpose(
    attributes: Attributes, x: np.ndarray, filters: np.ndarray, bias: np.ndarray | None = None
) -> np.ndarray:
    """ConvTranspose; of groups the evaluator takes no output_padding, and pads others than said."""
    n, group, size = x.ndim - 2, attributes.get("group", 1), filters.shape[2:]
    strides, dilations = (attributes.get(name, [1] * n) for name in ("strides", "dilations"))
    extra = attributes.get("output_padding", [0] * n)
    lengths = [
        (m - 1) * s + (k - 1) * d + 1
        for m, s, k, d in zip(x.shape[2:], strides, size, dilations, strict=True)
    ]
    full = [length + more for length, more in zip(lengths, extra, strict=True)]
    begins, counts = _cut(attributes, x.shape[2:], full, strides)
    images = x.reshape(len(x), group, -1, *x.shape[2:])
    kernels = filters.reshape(group, -1, *filters.shape[1:])
    room = [max(m, begin + k) for m, begin, k in zip(full, begins, counts, strict=True)]
    out = np.zeros((len(x), group, filters.shape[1], *room), np.float64)
    for place in product(*map(range, size)):
        part = np.einsum("ngi...,gio->ngo...", images, kernels[(..., *place)])
        steps = zip(place, x.shape[2:], strides, dilations, strict=True)
        spots = [slice(p * d, p * d + (m - 1) * s + 1, s) for p, m, s, d in steps]
        out[(..., *spots)] += part
    cut = [slice(begin, begin + k) for begin, k in zip(begins, counts, strict=True)]
    result = out.reshape(len(x), -1, *room)[(..., *cut)]
    if bias is not None:
        result = result + bias.reshape(-1, *[1] * n)
    return result.astype(x.dtype)


def _cut(
    attributes: Attributes, sizes: tuple[int, ...], full: list[int], strides: list[int]
) -> tuple[list[int], list[int]]:
    """(where the image begins in the larger one, its sizes), along each axis."""
    n, mode = len(sizes), attributes.get("auto_pad", b"NOTSET")
    shape = attributes.get("output_shape")
    if shape is None and not mode.startswith(b"SAME"):
        pads = attributes.get("pads", [0] * (2 * n)) if mode == b"NOTSET" else [0] * (2 * n)
        pairs = zip(full, pads[:n], pads[n:], strict=True)
        return list(pads[:n]), [m - before - after for m, before, after in pairs]
    same = [m * s for m, s in zip(sizes, strides, strict=True)]
    targets = same if shape is None else list(shape[-n:])
    beyond = [max(m - target, 0) for m, target in zip(full, targets, strict=True)]
    is_lower = mode == b"SAME_LOWER" or (mode != b"SAME_UPPER" and shape is not None)
    begins = [(k + 1) // 2 if is_lower else k // 2 for k in beyond]
    if shape is not None:
        return begins, targets
    return begins, [m - k for m, k in zip(full, beyond, strict=True)]
