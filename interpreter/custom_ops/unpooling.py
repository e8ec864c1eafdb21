"""MaxUnpooling2D: the largest numbers of windows put back to where they stood.

Source: LiteRT's and MediaPipe's operators of this name, which differ in what the indices count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..checks import Window, rank
from ..numpy_calls import by_numpy
from .options import pool_params
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..plan.node import HostCall, Node, Operand


@custom("MaxUnpooling2D", "LiteRtMaxUnpooling2D")
def max_unpooling_2d(node: Node) -> HostCall:
    """Zeros, and each number where the second input says.

    That is an int32, (y * width + x) * channels + c in the image, or MediaPipe's float32, the place
    within the number's own window.
    """
    x, indices = exactly(node, 2)
    rank(node, "input", x, 4)
    node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported")
    node.require_equal(
        indices.shape,
        x.shape,
        f"indices must have the input's shape {x.shape}, got {indices.shape}",
    )
    spans = pool_params(node)
    if indices.dtype == np.float32:
        return _within_windows(node, x, spans)
    node.require(
        indices.dtype == np.int32, f"indices must be int32 or float32, got {tf_name(indices.dtype)}"
    )
    sizes = [
        n * span.stride if span.padding == "SAME" else (n - 1) * span.stride + span.size
        for n, span in zip(x.shape[1:3], spans, strict=True)
    ]
    shape = (x.shape[0], *sizes, x.shape[3])

    def run(x: np.ndarray, indices: np.ndarray) -> list[np.ndarray]:
        out = np.zeros((shape[0], shape[1] * shape[2] * shape[3]), np.float32)
        _require_inside(node, indices, out.shape[1])
        images = np.arange(shape[0]).reshape((-1, 1))
        out[images, indices.reshape(shape[0], -1)] = x.reshape(shape[0], -1)
        return [out.reshape(shape)]

    return by_numpy(node, run, (shape, np.float32))


def _within_windows(node: Node, x: Operand, spans: tuple[Window, Window]) -> HostCall:
    """MediaPipe's operator, whose result is as many times as large as its windows."""
    vertical, horizontal = spans
    shape = (x.shape[0], x.shape[1] * vertical.size, x.shape[2] * horizontal.size, x.shape[3])
    pads = [
        max((n - 1) * span.stride + span.size - n * span.size, 0) // 2
        for n, span in zip(x.shape[1:3], spans, strict=True)
    ]

    def run(x: np.ndarray, indices: np.ndarray) -> list[np.ndarray]:
        _require_inside(node, np.trunc(indices), vertical.size * horizontal.size)
        row, column = np.divmod(indices.astype(np.int64), horizontal.size)
        rows = np.arange(int(x.shape[1])).reshape((-1, 1, 1)) * vertical.stride - pads[0] + row
        columns = np.arange(int(x.shape[2])).reshape((-1, 1)) * horizontal.stride - pads[1] + column
        _require_inside(node, rows, shape[1])
        _require_inside(node, columns, shape[2])
        out = np.zeros(shape, np.float32)
        images = np.arange(int(x.shape[0])).reshape((-1, 1, 1, 1))
        out[images, rows, columns, np.arange(int(x.shape[3]))] = x
        return [out]

    return by_numpy(node, run, (shape, np.float32))


def _require_inside(node: Node, indices: np.ndarray, n: int) -> None:
    """Refuses indices that would lie outside: LiteRT writes there."""
    if indices.size:
        low, high = indices.min(), indices.max()
        node.require(low >= 0 and high < n, f"indices must be in [0, {n}), got {low} to {high}")
