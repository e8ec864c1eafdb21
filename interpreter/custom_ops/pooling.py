"""AvgPool3D, MaxPool3D, MaxPoolWithArgmax, MaxPoolingWithArgmax2D: windows over an image or volume.

Source: TensorFlow's operations of these names; MaxPoolingWithArgmax2D is MediaPipe's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine.sizes import largest
from ...schema.dtypes import tf_name
from ..checks import Window, rank, slide
from ..numpy_calls import by_numpy
from .options import Options, pool_clamp, pool_params
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..plan.node import HostCall, Node, Operand

_LOWEST = np.finfo(np.float32).min
_WITHIN = np.float32(0.1)
"""What MediaPipe adds to a position within a window, so that it is cut down to the right one."""


@custom("AvgPool3D", "MaxPool3D")
def pool_3d(node: Node) -> HostCall:
    """The mean or the largest number of each window, of those that lie in the volume."""
    (x,) = exactly(node, 1)
    rank(node, "input", x, 5)
    node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported")
    options = Options(node)
    layout = options.text("data_format") if "data_format" in options else "NDHWC"
    node.require(layout == "NDHWC", f"data_format must be NDHWC, got {layout}")
    spans = options.windows(5)
    shape = (x.shape[0], *slide(node, spans, x.shape[1:4]), x.shape[4])
    average = node.kind == "AvgPool3D"

    def run(x: np.ndarray) -> list[np.ndarray]:
        taps = _taps(x, spans, 0.0 if average else -np.inf)
        axes = tuple(range(-len(spans), 0))
        if not average:
            return [taps.max(axes)]
        inside = _taps(np.ones_like(x[:1, ..., :1]), spans, 0.0)
        return [taps.sum(axes, dtype=np.float32) / inside.sum(axes)]

    return by_numpy(node, run, (shape, np.float32))


@custom("MaxPoolWithArgmax")
def max_pool_with_argmax(node: Node) -> HostCall:
    """The largest number of each window, and where it stands in its image, (y * width + x) * c."""
    options = Options(node)
    (x,) = _image(node, 1)
    spans = options.windows(4)
    node.require(
        not options.flag("include_batch_in_index") or x.shape[0] == 1,
        "include_batch_in_index is not supported for several images, as in LiteRT",
    )
    shape = _pooled(node, x, spans)
    declared = node.outputs[1].dtype if len(node.outputs) == 2 else None
    dtype = np.dtype(np.int32) if declared is None else declared
    node.require(
        dtype.name in ("int32", "int64"), f"positions must be int32 or int64, got {tf_name(dtype)}"
    )
    height, width, channels = x.shape[1:]

    def run(x: np.ndarray) -> list[np.ndarray]:
        values, (row, column) = _largest(x, spans)
        rows = np.arange(shape[1]).reshape((-1, 1, 1)) * spans[0].stride - spans[0].before(height)
        columns = np.arange(shape[2]).reshape((-1, 1)) * spans[1].stride - spans[1].before(width)
        indices = ((rows + row) * width + columns + column) * channels + np.arange(channels)
        nothing = values == _LOWEST  # as in LiteRT: no number of the window is larger than that
        return [values, np.where(nothing, np.arange(channels), indices)]

    return by_numpy(node, run, (shape, np.float32), (shape, dtype))


@custom("MaxPoolingWithArgmax2D")
def max_pooling_with_argmax_2d(node: Node) -> HostCall:
    """The largest number of each window, and where it stands in it, a float a little above that."""
    (x,) = _image(node, 1)
    spans, clamp = pool_params(node), pool_clamp(node)
    shape = _pooled(node, x, spans)

    def run(x: np.ndarray) -> list[np.ndarray]:
        values, (row, column) = _largest(x, spans)
        indices = (row * spans[1].size + column).astype(np.float32) + _WITHIN
        return [np.clip(values, *clamp), np.where(values == _LOWEST, _WITHIN, indices)]

    return by_numpy(node, run, (shape, np.float32), (shape, np.float32))


def _image(node: Node, count: int) -> list[Operand]:
    operands = exactly(node, count)
    rank(node, "input", operands[0], 4)
    node.require(operands[0].dtype == np.float32, f"{tf_name(operands[0].dtype)} is not supported")
    return operands


def _pooled(node: Node, x: Operand, spans: Sequence[Window]) -> tuple[int, ...]:
    return (x.shape[0], *slide(node, spans, x.shape[1:3]), x.shape[3])


def _largest(
    x: np.ndarray, spans: Sequence[Window]
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """The first largest number of each window, float32's lowest or more, its row and column."""
    taps = _taps(np.where(x > _LOWEST, x, _LOWEST), spans, -np.inf)
    taps = taps.reshape((*taps.shape[:-2], spans[0].size * spans[1].size))
    best = taps.argmax(-1) if taps.size else np.zeros(taps.shape[:-1], np.int64)
    values = np.take_along_axis(taps, best[..., None], -1)[..., 0]
    row, column = np.divmod(best, spans[1].size)
    return values, (row, column)


def _taps(x: np.ndarray, spans: Sequence[Window], padding: float) -> np.ndarray:
    """The numbers of each window, in further dimensions at the end; `padding` outside of `x`."""
    pads = [(0, 0)]
    for n, span in zip(x.shape[1:-1], spans, strict=True):
        reach = (largest(span.positions(n), 1) - 1) * span.stride + span.size
        pads.append((span.before(n), max(reach - n - span.before(n), 0)))
    padded = np.pad(x, (*pads, (0, 0)), constant_values=padding)
    axes = tuple(range(1, x.ndim - 1))
    view = np.lib.stride_tricks.sliding_window_view(padded, [s.size for s in spans], axes)
    counts = [span.positions(n) for n, span in zip(x.shape[1:-1], spans, strict=True)]
    steps = [slice(0, max(c, 0) * s.stride, s.stride) for c, s in zip(counts, spans, strict=True)]
    return view[(slice(None), *steps)]
