"""TransformTensorBilinear, Resampler, DenseImageWarp: images at points between their pixels.

Source: MediaPipe's operators of the first two names, LiteRT's of the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..checks import rank
from ..numpy_calls import by_numpy
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..plan.node import HostCall, Node, Operand

_HALF, _ONE = np.float32(0.5), np.float32(1)


@custom("TransformTensor", "TransformTensorBilinear")
def transform_tensor_bilinear(node: Node) -> HostCall:
    """An image of the declared size, of the points where a 4x4 matrix moves its pixels; 0 outside.

    Version 2 moves their centres, version 1 their corners.
    """
    x, matrix = _images(node)
    node.require(matrix.size == 16, f"the matrix must have 16 numbers, got {matrix.shape}")
    declared = node.outputs[0].shape if node.outputs else None
    if (
        declared is None
        or len(declared) != 4
        or not declared[0] == x.shape[0] == 1
        or declared[3] != x.shape[3]
    ):
        node.fail(f"one image of {x.shape} must become one of the declared shape, got {declared}")
    shape = declared
    centred = node.version > 1

    def run(x: np.ndarray, matrix: np.ndarray) -> list[np.ndarray]:
        rows = matrix.reshape(4, 4)[:2].copy()
        if centred:
            rows[:, 3] += rows[:, 0] * _HALF + rows[:, 1] * _HALF - _HALF
        down = np.arange(shape[1], dtype=np.float32).reshape((-1, 1))
        across = np.arange(shape[2], dtype=np.float32)
        x_at, y_at = (row[0] * across + row[1] * down + row[3] for row in rows)
        height, width = x.shape[1:3]
        inside = (x_at >= 0) & (x_at <= width - 1) & (y_at >= 0) & (y_at <= height - 1)
        return [np.where(inside[..., None], _between(x[0], y_at, x_at), _ONE * 0)[None]]

    return by_numpy(node, run, (shape, np.float32))


@custom("Resampler")
def resampler(node: Node) -> HostCall:
    """The image at the points (x, y) that the second input has for each pixel; 0 off its edge."""
    x, points = _images(node)
    node.require_equal(
        points.shape,
        (*x.shape[:3], 2),
        f"there must be a point for each pixel of {x.shape}, got {points.shape}",
    )

    def run(x: np.ndarray, points: np.ndarray) -> list[np.ndarray]:
        x_at, y_at = points[..., 0], points[..., 1]
        height, width = x.shape[1:3]
        inside = (x_at > -1) & (y_at > -1) & (x_at < width) & (y_at < height)
        pairs = zip(x, y_at, x_at, strict=True)
        values = np.stack([_between(image, down, across) for image, down, across in pairs])
        return [np.where(inside[..., None], values, _ONE * 0)]

    return by_numpy(node, run, (x.shape, np.float32))


@custom("DenseImageWarp")
def dense_image_warp(node: Node) -> HostCall:
    """The image at the points that lie off each pixel by less (y, x), its edge going on outside."""
    x, flow = _images(node)
    node.require_equal(
        flow.shape,
        (*x.shape[:3], 2),
        f"there must be a flow for each pixel of {x.shape}, got {flow.shape}",
    )
    node.require(min(x.shape[1:3]) >= 2, f"images must have 2 by 2 pixels, got {x.shape}")

    def run(x: np.ndarray, flow: np.ndarray) -> list[np.ndarray]:
        height, width = x.shape[1:3]
        y_at = np.arange(height, dtype=np.float32).reshape((-1, 1)) - flow[..., 0]
        x_at = np.arange(width, dtype=np.float32) - flow[..., 1]
        y_at, x_at = np.nan_to_num(y_at, nan=0.0), np.nan_to_num(x_at, nan=0.0)
        row = np.clip(np.floor(y_at), 0, height - 2).astype(np.int64)
        column = np.clip(np.floor(x_at), 0, width - 2).astype(np.int64)
        down = np.clip(y_at - row.astype(np.float32), 0, 1)[..., None]
        across = np.clip(x_at - column.astype(np.float32), 0, 1)[..., None]
        image = np.arange(int(x.shape[0])).reshape((-1, 1, 1))
        near, far = (
            x[image, row + d, column]
            + across * (x[image, row + d, column + 1] - x[image, row + d, column])
            for d in (0, 1)
        )
        return [near + down * (far - near)]

    return by_numpy(node, run, (x.shape, np.float32))


def _images(node: Node) -> tuple[Operand, Operand]:
    x, points = exactly(node, 2)
    rank(node, "input", x, 4)
    for operand in (x, points):
        node.require(operand.dtype == np.float32, f"{tf_name(operand.dtype)} is not supported")
    return x, points


def _between(image: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """An image at points between its pixels, 0 where these lie outside."""
    height, width = image.shape[:2]
    padded = np.zeros((height + 2, width + 2, image.shape[2]), np.float32)
    padded[1:-1, 1:-1] = image
    near_y = np.clip(np.nan_to_num(np.floor(y), nan=-1.0), -1, height - 1)
    near_x = np.clip(np.nan_to_num(np.floor(x), nan=-1.0), -1, width - 1)
    down, across = (y - near_y)[..., None], (x - near_x)[..., None]
    row, column = near_y.astype(np.int64) + 1, near_x.astype(np.int64) + 1
    upper = (_ONE - across) * padded[row, column] + across * padded[row, column + 1]
    lower = (_ONE - across) * padded[row + 1, column] + across * padded[row + 1, column + 1]
    return down * lower + (_ONE - down) * upper
