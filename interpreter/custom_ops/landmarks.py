"""TransformLandmarks, Landmarks2TransformMatrix: points of a face, and the crop that shows some.

Source: MediaPipe's operators of these names; of the latter version 2 alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..checks import rank
from ..numpy_calls import by_numpy
from .options import Options
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..plan.node import HostCall, Node


@custom("TransformLandmarks")
def transform_landmarks(node: Node) -> HostCall:
    """Points of two or three numbers with the first two moved by a 4x4 matrix.

    In version 1 all stand in the last dimension and `scale` is that of what the matrix adds.
    """
    x, matrix = exactly(node, 2)
    for operand in (x, matrix):
        node.require(operand.dtype == np.float32, f"{tf_name(operand.dtype)} is not supported")
    node.require(matrix.size == 16, f"the matrix must have 16 numbers, got {matrix.shape}")
    scale = np.float32(1)
    if node.version > 1:
        rank(node, "input", x, 3)
        n = x.shape[2]
    else:
        rank(node, "input", x, 4)
        options = Options(node)
        n, scale = options.integer("dimensions"), np.float32(options.number("scale", 1.0))
        node.require(scale != 0, "option scale must not be 0")
    node.require(
        n in (2, 3) and x.shape[-1] % n == 0,
        f"points must have 2 or 3 numbers, got {n} in shape {x.shape}",
    )

    def run(x: np.ndarray, matrix: np.ndarray) -> list[np.ndarray]:
        points = x.reshape(-1, n)
        out = points.copy()
        for i, row in enumerate(matrix.reshape(4, 4)[:2]):
            out[:, i] = row[0] * points[:, 0] + row[1] * points[:, 1] + row[3] * scale
        return [out.reshape(x.shape)]

    return by_numpy(node, run, (x.shape, np.float32))


@custom("Landmarks2TransformMatrix")
def landmarks_to_transform_matrix(node: Node) -> HostCall:
    """The matrix from a crop to the image, around some points with two of them on a level."""
    (x,) = exactly(node, 1)
    node.require(node.version > 1, f"version {node.version} is not supported; version 2 is")
    rank(node, "input", x, 3)
    node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported")
    options = Options(node)
    left, right = options.integer("left_rotation_idx"), options.integer("right_rotation_idx")
    subset = options.integers("subset_idxs")
    sizes = [options.positive(f"output_{side}") for side in ("width", "height")]
    scales = [options.number(f"scale_{axis}") for axis in "xy"]
    level = options.number("target_rotation_radians")
    n_points = x.size // 3
    node.require(
        subset and all(0 <= i < n_points for i in (left, right, *subset)),
        f"points must be in [0, {n_points}), got {[left, right, *subset]}",
    )
    node.require(min(scales) > 0, f"scales must be positive, got {scales}")

    def run(x: np.ndarray) -> list[np.ndarray]:
        points = x.ravel()[: 3 * n_points].reshape(-1, 3)[:, :2].astype(np.float32)
        slope = points[right] - points[left]
        angle = np.float32(level) - np.arctan2(slope[1], slope[0])
        turned = points[subset] @ _rotation(angle).T
        low, high = turned.min(0), turned.max(0)
        centre = _rotation(-angle) @ ((low + high) / 2)
        steps = np.array(scales, np.float32) * (high - low) / np.array(sizes, np.float32)
        matrix = np.eye(4, dtype=np.float32)
        matrix[:2, :2] = _rotation(-angle) * steps
        matrix[:2, 3] = centre - matrix[:2, :2] @ (np.array(sizes, np.float32) / 2)
        return [matrix[None]]

    return by_numpy(node, run, ((1, 4, 4), np.float32))


def _rotation(angle: np.floating) -> np.ndarray:
    """The matrix that turns points by an angle."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin], [sin, cos]], np.float32)
