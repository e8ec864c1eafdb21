"""Pooling in numpy, as ONNX Runtime computes it.

The ONNX project's evaluator gives other numbers of windows, and other means of the last ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any, NamedTuple

import numpy as np

Attributes = Mapping[str, Any]


class _Slide(NamedTuple):
    """The windows along an axis.

    Attributes:
        positions: [windows, elements of a window]; those before 0 lie in padding.
        size: of the image.
        pads: before and behind it.
    """

    positions: np.ndarray
    size: int
    pads: tuple[int, int]


def whole_windows(attributes: Attributes, x: np.ndarray) -> None:
    """A check of images whose sizes a file does not know: TFLite pools no part of a window."""
    if any(
        s.positions.shape[0] == 1 and s.positions.max() >= s.size + s.pads[1]
        for s in sliding({**attributes, "ceil_mode": 0}, x.shape[2:])
    ):
        raise ValueError(f"the image {x.shape[2:]} is smaller than the first window")


def max_pool(attributes: Attributes, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """MaxPool and its indices."""
    slides, sizes = sliding(attributes, x.shape[2:]), x.shape[2:]
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    order = "F" if attributes.get("storage_order", 0) else "C"
    offsets = np.arange(prod(sizes)).reshape((1, 1, *sizes), order=order)
    windows, offsets = _windows(slides, x, x.dtype.type(lowest)), _windows(slides, offsets, 0)
    best = windows.argmax(-1)[..., None]
    images = np.arange(prod(x.shape[:2])).reshape(*x.shape[:2], *(1,) * len(sizes))
    indices = np.take_along_axis(np.broadcast_to(offsets, windows.shape), best, -1)[..., 0]
    return np.take_along_axis(windows, best, -1)[..., 0], indices + images * prod(sizes)


def average_pool(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    """AveragePool: of what lies in the image, with count_include_pad in its padding, too."""
    slides = sliding(attributes, x.shape[2:])
    total = _windows(slides, x, x.dtype.type(0)).sum(-1, np.float64)
    counts = []
    for positions, size, pads in slides:
        before, after = pads if attributes.get("count_include_pad", 0) else (0, 0)
        counts.append(((positions >= -before) & (positions < size + after)).sum(1))
    return (total / reduce(np.multiply.outer, counts)).astype(x.dtype)


def lp_pool(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    """LpPool: the p-norm of each window."""
    windows = _windows(sliding(attributes, x.shape[2:]), x, x.dtype.type(0))
    return _norm(attributes, windows, (-1,), keepdims=False)


def global_lp_pool(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    """GlobalLpPool: the p-norm of each channel."""
    return _norm(attributes, x, tuple(range(2, x.ndim)), keepdims=True)


def global_max_pool(_: Attributes, x: np.ndarray) -> np.ndarray:
    """GlobalMaxPool of any number of dimensions."""
    return x.max(axis=tuple(range(2, x.ndim)), keepdims=True)


def _norm(
    attributes: Attributes, x: np.ndarray, axes: tuple[int, ...], keepdims: bool
) -> np.ndarray:
    p = attributes.get("p", 2)
    total = (np.abs(x).astype(np.float64) ** p).sum(axes, keepdims=keepdims)
    return (total ** (1 / p)).astype(x.dtype)


def _windows(slides: Sequence[_Slide], x: np.ndarray, outside: Any) -> np.ndarray:
    """The elements of each window, [n, channels, windows along each axis, elements]."""
    rank = len(slides)
    positions = np.meshgrid(*(s.positions.ravel() for s in slides), indexing="ij", sparse=True)
    is_inside = reduce(
        np.logical_and,
        ((p >= 0) & (p < s.size) for p, s in zip(positions, slides, strict=True)),
    )
    limits = [p.clip(0, s.size - 1) for p, s in zip(positions, slides, strict=True)]
    values = np.where(is_inside, x[(slice(None), slice(None), *limits)], outside)
    # [n, c, rows, elements of a row, columns, elements of a column]
    values = values.reshape(*x.shape[:2], *(n for s in slides for n in s.positions.shape))
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    values = values.transpose(0, 1, *(axis + 2 for axis in order))
    return values.reshape(*values.shape[: 2 + rank], prod(s.positions.shape[1] for s in slides))


def sliding(attributes: Attributes, sizes: Sequence[int]) -> list[_Slide]:
    """The windows of an operator's attributes along each axis of images of these sizes."""
    rank = len(sizes)
    kernel, ones = attributes["kernel_shape"], [1] * rank
    strides, dilations = attributes.get("strides", ones), attributes.get("dilations", ones)
    pads, mode = attributes.get("pads", [0] * 2 * rank), attributes.get("auto_pad", b"NOTSET")
    is_ceil, slides = attributes.get("ceil_mode", 0), []
    for i, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        reach = (kernel[i] - 1) * dilations[i] + 1
        before, after = pads[i], pads[i + rank]
        if mode.startswith(b"SAME"):
            total = max((-(-size // stride) - 1) * stride + reach - size, 0)
            before = total // 2 if mode == b"SAME_UPPER" else total - total // 2
            after = total - before
        steps = size + before + after - reach
        # ONNX Runtime divides toward zero: a first window may lack less than a stride
        n = (-(-steps // stride) if is_ceil or steps < 0 else steps // stride) + 1
        if is_ceil and (n - 1) * stride >= size + before:
            n -= 1  # none begins in the padding at the end
        starts = np.arange(n) * stride - before
        positions = starts[:, None] + np.arange(kernel[i]) * dilations[i]
        slides.append(_Slide(positions, size, (before, after)))
    return slides
