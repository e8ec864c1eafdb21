"""MaxUnpooling2D: the largest numbers of windows put back to where they stood.

Source: LiteRT's and MediaPipe's operators of this name, which differ in what the places are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..checks import Window, rank
from ..numpy_calls import by_numpy
from .options import pool_params
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..node import HostCall, Node, Operand


@custom("MaxUnpooling2D", "LiteRtMaxUnpooling2D")
def max_unpooling_2d(node: Node) -> HostCall:
    """Zeros, and each number where the second input says.

    That is an int32, (y * width + x) * channels + c in the image, or MediaPipe's float32, the place
    within the number's own window.
    """
    x, places = exactly(node, 2)
    rank(node, "input", x, 4)
    node.require(x.dtype == np.float32, f"{x.dtype} is not supported")
    node.require_equal(
        places.shape,
        x.shape,
        f"places must have the input's shape {x.shape}, got {places.shape}",
    )
    spans = pool_params(node)
    if places.dtype == np.float32:
        return _within_windows(node, x, spans)
    node.require(places.dtype == np.int32, f"places must be int32 or float32, got {places.dtype}")
    sizes = [
        n * span.stride if span.padding == "SAME" else (n - 1) * span.stride + span.size
        for n, span in zip(x.shape[1:3], spans, strict=True)
    ]
    shape = (x.shape[0], *sizes, x.shape[3])

    def run(x: np.ndarray, places: np.ndarray) -> list[np.ndarray]:
        out = np.zeros((shape[0], shape[1] * shape[2] * shape[3]), np.float32)
        _require_inside(node, places, out.shape[1])
        images = np.arange(shape[0]).reshape((-1, 1))
        out[images, places.reshape(shape[0], -1)] = x.reshape(shape[0], -1)
        return [out.reshape(shape)]

    return by_numpy(node, run, (shape, np.float32))


def _within_windows(node: Node, x: Operand, spans: tuple[Window, Window]) -> HostCall:
    """MediaPipe's operator, whose result is as many times as large as its windows."""
    high, wide = spans
    shape = (x.shape[0], x.shape[1] * high.size, x.shape[2] * wide.size, x.shape[3])
    pads = [
        max((n - 1) * span.stride + span.size - n * span.size, 0) // 2
        for n, span in zip(x.shape[1:3], spans, strict=True)
    ]

    def run(x: np.ndarray, places: np.ndarray) -> list[np.ndarray]:
        _require_inside(node, np.trunc(places), high.size * wide.size)
        row, column = np.divmod(places.astype(np.int64), wide.size)
        rows = np.arange(int(x.shape[1])).reshape((-1, 1, 1)) * high.stride - pads[0] + row
        columns = np.arange(int(x.shape[2])).reshape((-1, 1)) * wide.stride - pads[1] + column
        _require_inside(node, rows, shape[1])
        _require_inside(node, columns, shape[2])
        out = np.zeros(shape, np.float32)
        images = np.arange(int(x.shape[0])).reshape((-1, 1, 1, 1))
        out[images, rows, columns, np.arange(int(x.shape[3]))] = x
        return [out]

    return by_numpy(node, run, (shape, np.float32))


def _require_inside(node: Node, places: np.ndarray, n: int) -> None:
    """Refuses places that would lie outside: LiteRT writes there."""
    if places.size:
        low, high = places.min(), places.max()
        node.require(low >= 0 and high < n, f"places must be in [0, {n}), got {low} to {high}")
