"""Convolutions in numpy: a product of matrices for each tap of the filter.

The ONNX project's evaluator gathers an image's windows element by element: a minute for a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from .pools import sliding

Attributes = Mapping[str, Any]


def convolution(
    attributes: Attributes, x: np.ndarray, filters: np.ndarray, bias: np.ndarray | None = None
) -> np.ndarray:
    """Conv; integers are exact where their sums are below 2**53."""
    n, group, size = x.ndim - 2, attributes.get("group", 1), filters.shape[2:]
    if x.shape[1] != filters.shape[1] * group or len(filters) % group:
        raise ValueError(f"{x.shape[1]} channels, filters {filters.shape} in {group} groups")
    strides, dilations = (attributes.get(name, [1] * n) for name in ("strides", "dilations"))
    axes = sliding({**attributes, "kernel_shape": size}, x.shape[2:])
    if any(
        not axis.positions.size or axis.positions.max() >= axis.size + axis.pads[1] for axis in axes
    ):
        raise ValueError(f"the image {x.shape[2:]} is smaller than a window")
    kind = np.float64 if x.dtype.kind in "iu" or x.dtype.itemsize > 4 else np.float32
    images = np.pad(x, [(0, 0), (0, 0), *(axis.pads for axis in axes)]).astype(kind, copy=False)
    images = images.reshape(len(x), group, -1, *images.shape[2:])
    kernels = filters.astype(kind, copy=False).reshape(group, -1, *filters.shape[1:])
    counts = [len(axis.positions) for axis in axes]
    out = np.zeros((len(x), group, kernels.shape[1], *counts), kind)
    for tap in product(*map(range, size)):
        steps = zip(tap, counts, strides, dilations, strict=True)
        spots = [slice(t * d, t * d + (m - 1) * s + 1, s) for t, m, s, d in steps]
        out += _product(kernels[(..., *tap)], images[(..., *spots)])
    result = out.reshape(len(x), len(filters), *counts)
    if bias is not None:
        result = result + bias.reshape(-1, *[1] * n)
    return result.astype(x.dtype, copy=False)


def _product(matrices: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Matrices [group, out, in] times images [n, group, in, ...]."""
    matrices = np.ascontiguousarray(matrices)  # BLAS takes no other
    rows = images.reshape(*images.shape[:3], -1)
    result = matrices * rows if matrices.shape[2] == 1 else matrices @ rows
    return result.reshape(*result.shape[:3], *images.shape[3:])


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
    for tap in product(*map(range, size)):
        steps = zip(tap, x.shape[2:], strides, dilations, strict=True)
        spots = [slice(t * d, t * d + (m - 1) * s + 1, s) for t, m, s, d in steps]
        out[(..., *spots)] += _product(kernels[(..., *tap)].swapaxes(1, 2), images)
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
