"""Parts of images: boxes cut out and resized, and glimpses at places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ....schema.errors import OutOfRangeError
from ...core.registry import op
from ...core.shapes import Shape, integers, known, merge_dims, require, require_rank, require_size
from .resizing import interpolate

if TYPE_CHECKING:
    from ...core.protocols import OperationView


def _crop_shape(op: OperationView) -> Shape:
    boxes, channels = known(op, 1, 2), known(op, 0, 4)[3]
    require_size(op, 1, 1, 4)
    require_rank(op, 3, 1)
    require_size(op, 3, 0, 2)
    sizes = integers(op, 3)
    return (boxes[0], *(sizes or (None, None)), channels)


class _Line(NamedTuple):
    """Where the elements of a crop lie along one axis of an image."""

    positions: np.ndarray
    is_inside: np.ndarray

    @classmethod
    def of(cls, low: np.floating, high: np.floating, size: int, new: int) -> _Line:
        """From one end of a box, as a part of the size, to the other."""
        last = np.float32(size - 1)
        if new > 1:
            step = (high - low) * last / np.float32(new - 1)
            positions = low * last + np.arange(new, dtype=np.float32) * step
        else:
            positions = np.array([np.float32(0.5) * (low + high) * last])
        is_inside = (positions >= 0) & (positions <= last)
        return cls(np.where(is_inside, positions, 0), is_inside)

    def matrix(self, size: int, method: bytes) -> np.ndarray:
        """[new, size] the share of each old element in each new one, 0 outside of the image."""
        new = len(self.positions)
        matrix = np.zeros((new, size), np.float32)
        rows = np.arange(new)
        if method == b"nearest":
            matrix[rows, np.floor(self.positions + np.float32(0.5)).astype(np.int64)] = 1
        else:
            low = np.floor(self.positions)
            share = self.positions - low
            np.add.at(matrix, (rows, low.astype(np.int64)), 1 - share)
            np.add.at(matrix, (rows, np.ceil(self.positions).astype(np.int64)), share)
        return matrix * self.is_inside[:, None]

    def slopes(self, size: int) -> np.ndarray:
        """[new, size] by how much each share of `matrix` grows with the position."""
        matrix = np.zeros((len(self.positions), size), np.float32)
        rows = np.arange(len(self.positions))
        np.add.at(matrix, (rows, np.floor(self.positions).astype(np.int64)), -1)
        np.add.at(matrix, (rows, np.ceil(self.positions).astype(np.int64)), 1)
        return matrix * self.is_inside[:, None]


def _lines(box: np.ndarray, sizes: Sequence[int], new: Sequence[int]) -> list[_Line]:
    return [_Line.of(box[i], box[i + 2], sizes[i], new[i]) for i in range(2)]


def _require_images(box_index: np.ndarray, n_images: int) -> None:
    if box_index.size and not 0 <= box_index.min() <= box_index.max() < n_images:
        raise OutOfRangeError(None, None, "box_index has values outside [0, batch_size)")


def _require_crops(images: np.ndarray, boxes: np.ndarray, crop_size: np.ndarray) -> None:
    """Raises ValueError for images and crops without pixels, and for corners not finite."""
    for shape, words in ((images.shape[1:3], "image"), (crop_size, "crop")):
        if min(shape) <= 0:
            raise ValueError(f"{words} dimensions must be positive")
    if not np.isfinite(boxes).all():
        raise ValueError("Boxes contains at least one element that is not finite")


@op("CropAndResize", shape=_crop_shape)
def crop_and_resize(
    images: np.ndarray,
    boxes: np.ndarray,
    box_index: np.ndarray,
    crop_size: np.ndarray,
    *,
    method: bytes,
    extrapolation_value: float,
) -> np.ndarray:
    """Boxes, in parts of the image's size, cut out and resized."""
    _require_crops(images, boxes, crop_size)
    _require_images(box_index, len(images))
    sizes = crop_size.tolist()
    crops = np.zeros((len(boxes), *sizes, images.shape[3]), np.float32)
    for crop, i, box in zip(crops, box_index, boxes, strict=True):
        image = images[i].astype(np.float32)
        lines = _lines(box, image.shape, sizes)
        crop[...] = _crop(image, lines, method)
        rows, columns = (line.is_inside for line in lines)
        crop[~np.logical_and.outer(rows, columns)] = extrapolation_value
    return crops


def _crop(image: np.ndarray, lines: Sequence[_Line], method: bytes) -> np.ndarray:
    x = image
    for axis, line in enumerate(lines):
        if method == b"nearest":
            x = np.take(x, np.floor(line.positions + np.float32(0.5)).astype(np.int64), axis)
        else:
            x = interpolate(x, axis, line.positions)
    return x


@op("CropAndResizeGradImage", shape=lambda op: tuple(integers(op, 3) or (None,) * 4))
def crop_and_resize_grad_image(
    grads: np.ndarray,
    boxes: np.ndarray,
    box_index: np.ndarray,
    image_size: np.ndarray,
    *,
    method: bytes,
    T: np.dtype,
) -> np.ndarray:
    """The gradients of crops shared among the elements of the images that they came from."""
    _require_images(box_index, int(image_size[0]))
    dx = np.zeros(image_size, np.float32)
    sizes = dx.shape[1:3]
    for dy, i, box in zip(grads, box_index, boxes, strict=True):
        lines = _lines(box, sizes, dy.shape)
        rows, columns = (line.matrix(size, method) for line, size in zip(lines, sizes, strict=True))
        dx[i] += np.einsum("yh,xw,yxc->hwc", rows, columns, dy, optimize=True)
    return dx.astype(T)


@op("CropAndResizeGradBoxes", shape=lambda op: op.inputs[2].sizes)
def crop_and_resize_grad_boxes(
    grads: np.ndarray,
    images: np.ndarray,
    boxes: np.ndarray,
    box_index: np.ndarray,
    *,
    method: bytes,
) -> np.ndarray:
    """The gradients by the corners of the boxes, of bilinear crops."""
    _require_images(box_index, len(images))
    result = np.zeros_like(boxes)
    for corners, dy, i, box in zip(result, grads, box_index, boxes, strict=True):
        image = images[i].astype(np.float32)
        lines = _lines(box, image.shape, dy.shape)
        shares = [line.matrix(image.shape[k], method) for k, line in enumerate(lines)]
        for k, line in enumerate(lines):
            matrices = [*shares]
            matrices[k] = line.slopes(image.shape[k])
            sample = np.einsum("yh,xw,hwc->yxc", *matrices, image, optimize=True)
            by_place = np.einsum("yxc,yxc->" + "yx"[k], sample, dy, optimize=True)
            new = dy.shape[k]
            ratio = np.arange(new, dtype=np.float32) / np.float32(new - 1) if new > 1 else 0.5
            last = np.float32(image.shape[k] - 1)
            corners[k] += (by_place * last * (1 - ratio)).sum()
            corners[k + 2] += (by_place * last * ratio).sum()
    return result


def _glimpse_shape(op: OperationView) -> Shape:
    batch, _, _, channels = known(op, 0, 4)
    batch = merge_dims(batch, known(op, 2, 2)[0])
    sizes = integers(op, 1)
    if sizes is None:
        return (batch, None, None, channels)
    require(op, len(sizes) == 2, f"size must be two numbers, got {sizes}")
    return (batch, *sizes, channels)


def _uniform(draws: np.random.Generator, image: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return draws.uniform(image.min(), image.max(), shape)


def _normal(draws: np.random.Generator, image: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return draws.normal(image.mean(), image.std(), shape)


def _zero(draws: np.random.Generator, image: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.zeros(shape)


NOISES = {b"uniform": _uniform, b"gaussian": _normal, b"zero": _zero}
"""What fills the places of a glimpse that lie outside of its image."""


@op("ExtractGlimpse", "ExtractGlimpseV2", shape=_glimpse_shape)
def extract_glimpse(
    images: np.ndarray,
    size: np.ndarray,
    offsets: np.ndarray,
    *,
    centered: bool,
    normalized: bool,
    uniform_noise: bool,
    noise: bytes,
    op: OperationView,
) -> np.ndarray:
    """Windows of one size around a place of each image; noise where they leave it."""
    if len(offsets) != len(images):
        raise ValueError(f"offsets should have {len(images)} rows, got {len(offsets)}")
    if uniform_noise and noise not in (b"uniform", b""):
        raise ValueError("The uniform_noise and noise should not be specified at the same time")
    sizes, new = np.array(images.shape[1:3], np.float32), size.astype(np.float32)
    corners = offsets.astype(np.float32)
    if normalized:
        corners = corners * sizes
    is_first = op.type == "ExtractGlimpse"
    if centered and (normalized or is_first):
        corners = corners / 2
    if centered:
        corners = corners + sizes / 2
    if is_first or (centered and normalized):  # else they are the first elements of the windows
        corners = corners - new / 2
    draws, fill = np.random.default_rng(), NOISES[b"uniform" if uniform_noise else noise]
    glimpses = np.empty((len(images), *size.tolist(), images.shape[3]), np.float32)
    for glimpse, image, corner in zip(
        glimpses, images, np.trunc(corners).astype(np.int64), strict=True
    ):
        glimpse[...] = fill(draws, image, glimpse.shape)
        low = np.clip(corner, 0, image.shape[:2])
        high = np.clip(corner + size, low, image.shape[:2])
        (top, left), (bottom, right) = low - corner, high - corner
        glimpse[top:bottom, left:right] = image[low[0] : high[0], low[1] : high[1]]
    return glimpses
