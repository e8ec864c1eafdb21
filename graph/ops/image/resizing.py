"""Images in other sizes, and the way back that gradients take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.registry import op
from ...core.shapes import Shape, integers, known, require

if TYPE_CHECKING:
    from ...core.protocols import OperationView


def resized_shape(op: OperationView) -> Shape:
    """[batch, *size, channels] of images and a `size` of two numbers above 0."""
    batch, _, _, channels = known(op, 0, 4)
    sizes = integers(op, 1)
    if sizes is None:
        return (batch, None, None, channels)
    require(op, len(sizes) == 2 and min(sizes) > 0, f"size must be two numbers > 0, got {sizes}")
    return (batch, *sizes, channels)


def _source_positions(
    size: int, new: int, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """Where each new element lies among the old ones, in the float32 steps TensorFlow takes."""
    if align_corners and half_pixel_centers:
        raise ValueError("If half_pixel_centers is True, align_corners must be False.")
    apart = align_corners and new > 1
    scale = (
        np.float32(size - 1) / np.float32(new - 1) if apart else np.float32(size) / np.float32(new)
    )
    steps = np.arange(new, dtype=np.float32)
    if half_pixel_centers:
        return (steps + np.float32(0.5)) * scale - np.float32(0.5)
    return steps * scale


@op("ResizeBilinear", shape=resized_shape)
def resize_bilinear(
    images: np.ndarray, size: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """Each new element from the four old ones around it."""
    x = images.astype(np.float32)
    for axis, new in enumerate(size.tolist(), 1):
        x = interpolate(
            x, axis, _source_positions(x.shape[axis], new, align_corners, half_pixel_centers)
        )
    return x


def interpolate(x: np.ndarray, axis: int, positions: np.ndarray) -> np.ndarray:
    """Elements at positions along an axis, in between the two next to each."""
    low = np.floor(positions)
    first = np.maximum(low, 0).astype(np.int64)
    second = np.minimum(np.ceil(positions).astype(np.int64), x.shape[axis] - 1)
    share = (positions - low).reshape([-1] + [1] * (x.ndim - axis - 1))
    before = np.take(x, first, axis)
    return before + (np.take(x, second, axis) - before) * share


@op("ResizeNearestNeighbor", shape=resized_shape)
def resize_nearest_neighbor(
    images: np.ndarray, size: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """Each new element from the old one nearest to it."""
    x = images
    for axis, new in enumerate(size.tolist(), 1):
        x = np.take(x, _nearest(x.shape[axis], new, align_corners, half_pixel_centers), axis)
    return x


def _original_shape(op: OperationView) -> Shape:
    return op.inputs[1].sizes


@op("ResizeBilinearGrad", shape=_original_shape)
def resize_bilinear_grad(
    grads: np.ndarray, original: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """Each new element's gradient shared among the four old ones it came from."""
    dx = grads.astype(np.float32)
    for axis in (2, 1):
        old = original.shape[axis]
        positions = _source_positions(old, dx.shape[axis], align_corners, half_pixel_centers)
        low = np.floor(positions)
        share = (positions - low).reshape([-1] + [1] * (dx.ndim - axis - 1))
        first = np.maximum(low, 0).astype(np.int64)
        second = np.minimum(np.ceil(positions).astype(np.int64), old - 1)
        dx = _summed(dx * (1 - share), first, old, axis) + _summed(dx * share, second, old, axis)
    return dx


def _summed(x: np.ndarray, positions: np.ndarray, size: int, axis: int) -> np.ndarray:
    """The slices of `x` along an axis added up at their places among `size`."""
    total = np.zeros((size, *np.delete(x.shape, axis)), x.dtype)
    np.add.at(total, positions, np.moveaxis(x, axis, 0))
    return np.moveaxis(total, 0, axis)


def _nearest(size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """Which of the old elements each new one is."""
    positions = _source_positions(size, new, align_corners, half_pixel_centers)
    if half_pixel_centers:
        positions = positions + np.float32(0.5)
    positions = np.floor(positions + np.float32(0.5)) if align_corners else np.floor(positions)
    return np.clip(positions, 0, size - 1).astype(np.int64)


@op("ResizeNearestNeighborGrad", shape=resized_shape)
def resize_nearest_neighbor_grad(
    grads: np.ndarray, size: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """The sum of the gradients of the new elements that each old one became."""
    dx = grads
    for axis, old in ((2, int(size[1])), (1, int(size[0]))):
        positions = _nearest(old, dx.shape[axis], align_corners, half_pixel_centers)
        dx = _summed(dx, positions, old, axis)
    return dx


CUBIC_STEPS = 1024
"""TensorFlow looks the cubic's weights up in a table of this many steps."""


def _cubic_weights(share: np.ndarray, a: float) -> np.ndarray:
    """The weights of the four elements around each place."""
    steps = np.rint(share * np.float32(CUBIC_STEPS)) / CUBIC_STEPS
    near, far = np.stack([steps, 1 - steps]), np.stack([1 + steps, 2 - steps])
    near = ((a + 2) * near - (a + 3)) * near * near + 1
    far = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
    return np.stack([far[0], near[0], near[1], far[1]]).astype(np.float32)


def _cubic_spans(
    size: int, new: int, align_corners: bool, half_pixel_centers: bool
) -> tuple[np.ndarray, np.ndarray]:
    """[4, new] which old elements are around each new one, and their weights."""
    positions = _source_positions(size, new, align_corners, half_pixel_centers)
    low = np.floor(positions)
    weights = _cubic_weights(positions - low, -0.5 if half_pixel_centers else -0.75)
    around = low.astype(np.int64) + np.arange(-1, 3)[:, None]
    inside = np.clip(around, 0, size - 1)
    if half_pixel_centers:  # what lies outside has no weight there
        weights = np.where(inside == around, weights, 0)
        weights = weights / weights.sum(0)
    return inside, weights


@op("ResizeBicubic", shape=resized_shape)
def resize_bicubic(
    images: np.ndarray, size: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """Each new element from the sixteen old ones around it."""
    x = images.astype(np.float32)
    for axis, new in enumerate(size.tolist(), 1):
        spans = _cubic_spans(x.shape[axis], new, align_corners, half_pixel_centers)
        shape = [-1] + [1] * (x.ndim - axis - 1)
        parts = (
            np.take(x, index, axis) * weight.reshape(shape)
            for index, weight in zip(*spans, strict=True)
        )
        x = np.add.reduce(list(parts))
    return x


@op("ResizeBicubicGrad", shape=_original_shape)
def resize_bicubic_grad(
    grads: np.ndarray, original: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """Each new element's gradient shared among the sixteen old ones it came from."""
    dx = grads
    for axis in (2, 1):
        old = original.shape[axis]
        spans = _cubic_spans(old, dx.shape[axis], align_corners, half_pixel_centers)
        shape = [-1] + [1] * (dx.ndim - axis - 1)
        parts = (
            _summed(dx * weight.reshape(shape), index, old, axis)
            for index, weight in zip(*spans, strict=True)
        )
        dx = np.add.reduce(list(parts))
    return dx.astype(original.dtype)
