"""Resize and Upsample in numpy, as ONNX Runtime computes them, and GridSample.

The ONNX project's evaluator takes the wrong neighbours where a place is whole but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

Attributes = Mapping[str, Any]
ROUNDINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "round_prefer_ceil": lambda x: np.floor(x + x.dtype.type(0.5)),
    "round_prefer_floor": lambda x: np.ceil(x - x.dtype.type(0.5)),
}


@dataclass(frozen=True)
class _Axis:
    """An axis that changes: from `size` to `count` elements, `scale` as stated."""

    index: int
    size: int
    count: int
    scale: float
    region: tuple[float, float]


def upsample(attributes: Attributes, x: np.ndarray, scales: np.ndarray | None = None) -> np.ndarray:
    """Upsample, which is a Resize from the first element on."""
    scales = np.asarray(attributes["scales"] if scales is None else scales, np.float32)
    return resize({"mode": attributes.get("mode", b"nearest")}, x, scales)


def resize(attributes: Attributes, x: np.ndarray, *operands: np.ndarray | None) -> np.ndarray:
    """Resize of every operator set; the first has scales alone."""
    is_first = len(operands) == 1
    roi, scales, sizes = (*((None, *operands) if is_first else operands), None, None)[:3]
    mode = attributes.get("mode", b"nearest").decode().replace("bilinear", "linear")
    transformation = attributes.get("coordinate_transformation_mode", b"half_pixel").decode()
    transformation = "asymmetric" if is_first else transformation
    rounding = attributes.get("nearest_mode", b"round_prefer_floor").decode()
    result = x.astype(np.float64)
    outside = np.zeros((), bool)
    for axis in _axes(attributes, x.shape, roi, scales, sizes):
        positions = _coordinates(
            axis, transformation, np.float32 if mode == "nearest" else np.float64
        )
        beyond = (positions < 0) | (positions > axis.size - 1)
        outside = outside | np.expand_dims(beyond, [i for i in range(x.ndim) if i != axis.index])
        if mode == "nearest":
            indices = ROUNDINGS["floor" if is_first else rounding](positions).astype(np.int64)
            result = result.take(indices.clip(0, axis.size - 1), axis.index)
        else:
            weights = _weights(attributes, axis, positions, mode == "cubic")
            result = np.moveaxis(np.tensordot(weights, result, (1, axis.index)), 0, axis.index)
    if transformation == "tf_crop_and_resize":
        result = np.where(outside, attributes.get("extrapolation_value", 0.0), result)
    if x.dtype.kind in "iu":
        result = np.rint(result).clip(np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
    return result.astype(x.dtype)


def _axes(
    attributes: Attributes,
    shape: tuple[int, ...],
    roi: np.ndarray | None,
    scales: np.ndarray | None,
    sizes: np.ndarray | None,
) -> list[_Axis]:
    """The axes that are resized."""
    indices = [i % len(shape) for i in attributes.get("axes", range(len(shape)))]
    lengths = np.asarray([shape[i] for i in indices])
    if sizes is not None and sizes.size:
        counts, factors = sizes, sizes / lengths
        policy = attributes.get("keep_aspect_ratio_policy", b"stretch")
        if policy != b"stretch":
            common = factors.min() if policy == b"not_larger" else factors.max()
            factors = np.full(len(indices), common)
            counts = np.floor(common * lengths + 0.5).astype(np.int64)
    else:
        assert scales is not None  # one of both is stated
        factors = scales.astype(np.float64)
        counts = (scales.astype(np.float32) * lengths.astype(np.float32)).astype(np.int64)
    has_regions = attributes.get("coordinate_transformation_mode") == b"tf_crop_and_resize"
    n = len(indices)
    regions = np.stack([roi[:n], roi[n:]], 1) if has_regions and roi is not None else [(0, 1)] * n
    return [
        _Axis(i, shape[i], int(count), float(factor), (float(first), float(last)))
        for i, count, factor, (first, last) in zip(indices, counts, factors, regions, strict=True)
        if has_regions or (count, factor) != (shape[i], 1)
    ]


def _coordinates(axis: _Axis, transformation: str, dtype: type[np.floating]) -> np.ndarray:
    """Where each new element lies along the old axis, computed in a type."""
    steps, scale, size = np.arange(axis.count, dtype=dtype), dtype(axis.scale), dtype(axis.size)
    half, width = dtype(0.5), scale * size
    if transformation == "asymmetric":
        return steps / scale
    if transformation == "tf_half_pixel_for_nn":
        return (steps + half) / scale
    if transformation == "align_corners":
        return steps * 0 if width == 1 else steps * (size - 1) / (width - 1)
    if transformation == "tf_crop_and_resize":
        first, last = (dtype(end) * (size - 1) for end in axis.region)
        is_one = abs(width - 1) < 1e-4
        middle = steps * 0 + (first + last) / 2
        return middle if is_one else first + steps * (last - first) / (width - 1)
    if transformation == "pytorch_half_pixel" and abs(width - 1) < 1e-4:
        return steps * 0 - half
    is_symmetric = transformation == "half_pixel_symmetric"
    offset = size / 2 * (1 - dtype(axis.count) / width) if is_symmetric else dtype(0)
    return offset + (steps + half) / scale - half


def _weights(
    attributes: Attributes, axis: _Axis, positions: np.ndarray, is_cubic: bool
) -> np.ndarray:
    """What each old element counts in each new one: [count, size]."""
    antialias, exclude = attributes.get("antialias", 0), attributes.get("exclude_outside", 0)
    shrink = min(axis.scale, 1.0) if antialias else 1.0
    reach = int(np.ceil((2 if is_cubic else 1) / shrink)) + 1
    elements = np.floor(positions)[:, None] + np.arange(-reach, reach + 2)
    distances = np.abs(elements - positions[:, None]) * shrink
    if is_cubic:
        values = _cubic(distances, attributes.get("cubic_coeff_a", -0.75))
    else:
        values = np.maximum(1 - distances, 0)
    if exclude:
        values = np.where((elements < 0) | (elements >= axis.size), 0, values)
    if antialias or exclude:
        total = values.sum(1, keepdims=True)
        values = values / np.where(total == 0, 1, total)
    weights = np.zeros((axis.count, axis.size))
    rows = np.broadcast_to(np.arange(axis.count)[:, None], elements.shape)
    np.add.at(weights, (rows, elements.clip(0, axis.size - 1).astype(np.int64)), values)
    return weights


def _cubic(distances: np.ndarray, a: float) -> np.ndarray:
    """Keys' kernel."""
    x = distances
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * (x**3 - 5 * x**2 + 8 * x - 4)
    return np.where(x < 1, near, np.where(x < 2, far, 0))


@cache
def corrected() -> list[type[Any]]:
    """GridSample in the place of the evaluator's.

    With padding "border" that moves what is beyond the image to its edge; the elements around it
    do not, and of a cubic the weights differ.
    """
    from onnx.reference.ops.op_grid_sample import GridSample

    def borders(self: Any, dims: tuple[int, ...], align_corners: bool) -> np.ndarray:
        if self.padding_mode == "border":
            return np.repeat([-np.inf, np.inf], len(dims))
        return GridSample._prepare_border(self, dims, align_corners)

    return [type("GridSample", (GridSample,), {"_prepare_border": borders})]


def affine_grid(attributes: Mapping[str, Any], theta: np.ndarray, size: np.ndarray) -> np.ndarray:
    """AffineGrid; a single element between aligned corners is at the end, as in ONNX Runtime."""
    lengths = [int(n) for n in size[2:]]
    if attributes.get("align_corners", 0):
        coordinates = [np.linspace(-1, 1, n) if n > 1 else np.ones(1) for n in lengths]
    else:
        coordinates = [(2 * np.arange(n) + 1) / n - 1 for n in lengths]
    grid = np.stack([*np.meshgrid(*coordinates, indexing="ij")][::-1], axis=-1)
    points = np.concatenate([grid, np.ones_like(grid[..., :1])], axis=-1)
    return np.einsum("nij,...j->n...i", theta, points).astype(theta.dtype)
