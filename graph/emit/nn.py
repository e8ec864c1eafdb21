"""Pooling and losses, with their gradients."""

from __future__ import annotations

from math import inf, prod
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ...engine.families import gradients
from ...engine.families.windows import pool
from ...engine.plan.buffer import Buffer, arena
from ..ops.window import Windows
from .registry import emit
from .shapes import result

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..session.stage import Site
    from .registry import Emitted

FLOATS = (np.float32,)


class PoolWindows(TypedDict):
    """The windows of a pooling, as the engine takes them."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    before: tuple[int, ...]


def _windows(op: Site, shape: tuple[int, ...]) -> PoolWindows | None:
    """Size, stride and the padding before, of images in NHWC; None for another layout."""
    size, stride = op.get_attr("ksize"), op.get_attr("strides")
    if (
        op.get_attr("data_format") != b"NHWC"
        or (size[0], size[3], stride[0], stride[3]) != (1,) * 4
    ):
        return None
    padding = op.get_attr("padding")
    if padding not in (b"SAME", b"VALID"):
        return None
    windows = Windows(tuple(size[1:3]), tuple(stride[1:3]), (1, 1), padding)
    before = tuple(pair[0] for pair in windows.pads(shape[1:3]))
    return {"size": windows.kernel, "stride": windows.strides, "before": before}


@emit("MaxPool", "AvgPool", dtypes=FLOATS)
def pooling(program: Program, op: Site, x: Buffer) -> Emitted:
    """One value for each position of a window."""
    windows, out = _windows(op, x.shape), result(op)
    if out is None or windows is None:
        return None
    kind = "maximum" if op.type == "MaxPool" else "average"
    pool(program, kind, x, out, clamp=(-inf, inf), **windows)
    return out


@emit("MaxPoolGrad", dtypes=FLOATS)
def max_pool_grad(program: Program, op: Site, x: Buffer, y: Buffer, dy: Buffer) -> Emitted:
    """What flows back through MaxPool."""
    windows = _windows(op, x.shape)
    if windows is None:
        return None
    out = arena(x.shape, x.dtype)
    gradients.max_pool_gradient(program, x, y, dy, out, **windows)
    return out


@emit("AvgPoolGrad")
def average_pool_grad(program: Program, op: Site, sizes: Buffer, dy: Buffer) -> Emitted:
    """What flows back through AvgPool."""
    if sizes.value is None or dy.dtype != np.float32:
        return None
    shape = tuple(sizes.value.tolist())
    windows = _windows(op, shape)
    if windows is None:
        return None
    out = arena(shape, dy.dtype)
    gradients.average_pool_gradient(program, dy, out, **windows)
    return out


@emit("Softmax", dtypes=FLOATS)
def softmax(program: Program, op: Site, x: Buffer) -> Emitted:
    """exp(x) over its sum, row by row."""
    return _rows(program, x, "softmax.softmax", beta=1.0)


@emit("LogSoftmax", dtypes=FLOATS)
def log_softmax(program: Program, op: Site, x: Buffer) -> Emitted:
    """The logarithm of softmax."""
    return _rows(program, x, "softmax.log_softmax")


def _rows(program: Program, x: Buffer, kernel: str, **numbers: float) -> Emitted:
    if not x.ndim:
        return None
    rows = (prod(x.shape[:-1]), x.shape[-1])
    out = arena(x.shape, x.dtype)
    if x.size:
        program.call(kernel, x.reshape(rows), out.reshape(rows), split=rows[0], **numbers)
    return out


@emit("SoftmaxCrossEntropyWithLogits", dtypes=FLOATS)
def cross_entropy(program: Program, op: Site, x: Buffer, labels: Buffer) -> Emitted:
    """The loss of each row, and its gradient."""
    if x.shape != labels.shape or not x.size:
        return None
    return _losses(program, "backward.cross_entropy", x, labels)


@emit("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(program: Program, op: Site, x: Buffer, labels: Buffer) -> Emitted:
    """The loss of each row, and its gradient."""
    if x.dtype != np.float32 or labels.shape != x.shape[:1] or not x.size:
        return None
    return _losses(program, "backward.sparse_cross_entropy", x, labels)


def _losses(program: Program, kernel: str, x: Buffer, labels: Buffer) -> list[Buffer]:
    loss, gradient = arena(x.shape[:1], x.dtype), arena(x.shape, x.dtype)
    program.call(kernel, x, labels, loss, gradient, split=x.shape[0])
    return [loss, gradient]
