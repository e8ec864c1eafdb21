"""XLA's folds of windows: pools, running sums, or any function, one element after another."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..ir import dims
from ..ir.graph import Tensor
from ..lowering.moves import cropped, int32s, like, spread, transposed
from .control import body_of, inlined
from .registry import lower
from .xla import extents, surrounded
from .xla_reduce import fold_of, is_neutral, only_operation, subgraph_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...graph.core import graph as tf
    from ..ir.builder import Builder

MAX_FOLDS = 64
"""Elements along one dimension of a window that a function folds one by one."""
POOLS = {"REDUCE_MAX": "MAX_POOL_2D", "SUM": "AVERAGE_POOL_2D"}


@dataclass
class Window:
    """Windows over all dimensions, as an operation describes them.

    Attributes:
        kernel: their sizes, numbers or expressions.
        pads: [[before, after], ...], numbers or expressions; negative ones cut off.
        padding: the same as a tensor of int32.
        base: steps between the elements of what they lie in.
    """

    kernel: list[Any]
    strides: list[int]
    base: list[int]
    dilations: list[int]
    pads: list[list[Any]]
    padding: Tensor

    @property
    def is_known(self) -> bool:
        """Whether sizes and padding are numbers."""
        return all(isinstance(n, int) for n in (*self.kernel, *chain(*self.pads)))

    def permuted(self, order: list[int]) -> Window:
        """As of an input whose dimensions come in another order; of known padding."""
        rows: tuple[list[Any], ...] = (self.kernel, self.strides, self.base, self.dilations)
        kernel, strides, base, dilations = ([row[i] for i in order] for row in rows)
        pads = [self.pads[i] for i in order]
        return Window(kernel, strides, base, dilations, pads, self.padding)


@lower("XlaReduceWindow")
def reduce_window(node, b):
    """Windows folded by a function: pools, running sums, or element by element."""
    x, start = node.inputs[:2]
    strides, base, dilations = (node.constant(i).tolist() for i in range(3, 6))
    edges = extents(node, 6)
    pads = [list(pair) for pair in zip(edges[::2], edges[1::2], strict=True)]
    window = Window(extents(node, 2), strides, base, dilations, pads, node.inputs[6])
    body = body_of(node, "computation")
    kind = fold_of(body)
    axis = _running(x, window) if kind == "SUM" and is_neutral(kind, start) else None
    if axis is not None:
        return b.CUMSUM(x, np.int32(axis), reverse=pads[axis][0] == 0)
    for i, size in enumerate(window.kernel):
        node.require(
            isinstance(size, int), f"the size {i} of its windows must be known, got {size}"
        )
    inner = _pooled_axes(x, window)
    if kind in POOLS and inner is not None and is_neutral(kind, start):
        return _pool(kind, x, start, window, inner, b)
    if kind is not None and window.is_known and min(np.ravel(window.pads)) >= 0:
        return _windows(kind, x, start, window, b)
    for size in window.kernel:
        node.require(
            size <= MAX_FOLDS, f"its windows must be at most {MAX_FOLDS} wide, got {window.kernel}"
        )
    return _folded(body, kind, x, start, window, b)


def _running(x: Tensor, window: Window) -> int | None:
    """The only axis of windows that take all elements before or after each."""
    axes = [i for i, size in enumerate(window.kernel) if size != 1]
    if len(axes) != 1 or max(*window.strides, *window.dilations, *window.base) > 1:
        return None
    (axis,) = axes
    size = window.kernel[axis]
    is_running = bool(x.sizes) and x.sizes[axis] == size
    is_whole = [dims.add(size, -1), 0] in (window.pads[axis], window.pads[axis][::-1])
    others = [n for i, pair in enumerate(window.pads) if i != axis for n in pair]
    return axis if is_running and is_whole and all(n == 0 for n in others) else None


def _pooled_axes(x: Tensor, window: Window) -> tuple[int, int] | None:
    """The two dimensions of float32 images that windows lie in."""
    axes = [i for i, step in enumerate(window.strides) if step != 1 or window.kernel[i] != 1]
    if x.rank != 4 or len(axes) > 2 or max(*window.dilations, *window.base) > 1:
        return None
    axes += [i for i in (1, 2, 3) if i not in axes][: 2 - len(axes)]
    outer = [n for i, pair in enumerate(window.pads) if i not in axes for n in pair]
    is_image = x.dtype == np.float32 and all(n == 0 for n in outer)
    return (min(axes), max(axes)) if is_image else None


def _is_same(x: Tensor, window: Window, axes: tuple[int, int]) -> bool:
    """Whether the padding is what TensorFlow calls SAME."""
    for axis in axes:
        size, step, kernel = x.dims[axis], window.strides[axis], window.kernel[axis]
        if size is None:
            return step == 1 and all(_centred(window, i) and window.strides[i] == 1 for i in axes)
        total = max((-(-size // step) - 1) * step + kernel - size, 0)
        if window.pads[axis] != [total // 2, total - total // 2]:
            return False
    return True


def _centred(window: Window, axis: int) -> bool:
    """Whether as much is added to a dimension as windows with a step of 1 take from it."""
    total = window.kernel[axis] - 1
    return window.pads[axis] == [total // 2, total - total // 2]


def _pool(
    kind: str, x: Tensor, start: Tensor, window: Window, axes: tuple[int, int], b: Builder
) -> Tensor:
    """The largest element or the sum of windows in an image, whose dimensions may be any two."""
    if axes != (1, 2) and not window.is_known:
        raise ValueError("windows over other dimensions than 1 and 2 must have known padding")
    order = [i for i in range(4) if i not in axes]
    order = [order[0], *axes, order[1]]
    x, window = transposed(x, order, b), window if axes == (1, 2) else window.permuted(order)
    height, width = window.kernel[1:3]
    options = {
        "stride_h": window.strides[1],
        "stride_w": window.strides[2],
        "filter_height": height,
        "filter_width": width,
    }
    is_same = _is_same(x, window, (1, 2)) and (kind == "REDUCE_MAX" or None not in x.dims[1:3])
    if not is_same:
        x = _padded(x, start, window, b)
    y = b.op(POOLS[kind], x, padding="SAME" if is_same else "VALID", **options)
    if kind == "SUM":
        counts = _counts(x, window) if is_same else np.float32(height * width)
        y = b.MUL(y, counts if is_same else like(y, counts, b))
    return transposed(y, np.argsort(order).tolist(), b)


def _counts(x: Tensor, window: Window) -> np.ndarray:
    """[1, h, w, 1]: of how many elements each window with padding SAME has the mean."""
    lines = []
    for axis in (1, 2):
        size, step = cast("int", x.dims[axis]), window.strides[axis]
        first = np.arange(-(-size // step)) * step - window.pads[axis][0]
        last = np.minimum(first + window.kernel[axis], size)
        lines.append(last - np.maximum(first, 0))
    return np.multiply.outer(*lines).astype(np.float32)[None, :, :, None]


def _padded(x: Tensor, start: Tensor, window: Window, b: Builder) -> Tensor:
    """`x` with the start around it; by a computed number of elements where they are not known."""
    if window.is_known:
        return surrounded(x, window.pads, start, b)
    return b.PADV2(x, b.RESHAPE(window.padding, int32s([-1, 2])), start)


def _windows(kind: str, x: Tensor, start: Tensor, window: Window, b: Builder) -> Tensor:
    """Windows folded by LiteRT's kernel for StableHLO."""
    return b.STABLEHLO_REDUCE_WINDOW(
        x,
        start,
        graphs=(subgraph_of(kind, x.dtype, b),),
        window_dimensions=window.kernel,
        window_strides=window.strides,
        base_dilations=window.base,
        window_dilations=window.dilations,
        padding=np.ravel(window.pads).tolist(),
    )


def _folded(
    body: tf.Graph, kind: str | None, x: Tensor, start: Tensor, window: Window, b: Builder
) -> Tensor:
    """The elements of windows folded one after another, along one dimension after another."""
    x = _padded(spread(x, window.base, start, b), start, window, b)
    rows = zip(window.kernel, window.strides, window.dilations, strict=True)
    for axis, (size, stride, dilation) in enumerate(rows):
        if size > 1 or stride > 1:
            x = _fold_windows(body, x, axis, size, stride, dilation, b)
    if kind is not None and is_neutral(kind, start):
        return x
    return inlined(body, b, [start, x])[0]


def _fold_windows(
    body: tf.Graph, x: Tensor, axis: int, size: int, stride: int, dilation: int, b: Builder
) -> Tensor:
    """The elements of windows along one axis, folded one after another."""
    span, parts = (size - 1) * dilation, []
    for i in range(size):
        crops = [[0, 0]] * len(x.dims)
        crops[axis] = [i * dilation, span - i * dilation]
        part = cropped(x, crops, b)
        steps = [stride if k == axis else 1 for k in range(len(x.dims))]
        parts.append(strided(part, steps, b))
    return functools.reduce(lambda x, y: inlined(body, b, [x, y])[0], parts)


PREFERENCES = {"GreaterEqual": "GREATER", "Greater": "GREATER_EQUAL", "LessEqual": "LESS",
               "Less": "LESS_EQUAL"}  # fmt: skip
"""The only operation of a function that prefers the first of two -> when it is the second."""


@lower("XlaSelectAndScatter")
def select_and_scatter(node, b):
    """The source's elements, added where each window has its largest or smallest element.

    Which element of its windows that is, is counted; each one's sources, with zeros between and
    around them, are a part of the sum.
    """
    x, source, start = (node.inputs[i] for i in (0, 4, 5))
    kernel, strides, pads = (node.constant(i).tolist() for i in (1, 2, 3))
    type_, operands = only_operation(body_of(node, "select"))
    node.require(
        type_ in PREFERENCES and operands == [0, 1] and x.dtype.kind == "f",
        "its first function must compare two floats",
    )
    node.require(
        fold_of(body_of(node, "scatter")) == "SUM", "its second function must add two numbers"
    )
    sizes = node.shape(0)
    windowed = [i for i, size in enumerate(kernel) if size > 1 or strides[i] > 1 or any(pads[i])]
    node.require(
        None not in [sizes[i] for i in windowed],
        f"the sizes of the dimensions with windows must be known, got {sizes}",
    )
    worst = like(x, np.inf if type_.startswith("Less") else -np.inf, b)
    taps = [*np.ndindex(*kernel)]
    parts = [_tap(surrounded(x, pads, worst, b), tap, kernel, strides, b) for tap in taps]
    best, chosen = parts[0], None
    for i, part in enumerate(parts[1:], 1):
        is_better = b.op(PREFERENCES[type_], part, best)
        number, first = np.int32(i), b.constant(np.int32(0)) if chosen is None else chosen
        chosen = b.SELECT_V2(is_better, number, first)
        best = b.SELECT_V2(is_better, part, best) if i < len(parts) - 1 else best
    total = None
    zero, counts = like(x, 0, b), node.shape(4)
    for i, tap in enumerate(taps):
        is_chosen = None if chosen is None else b.EQUAL(chosen, np.int32(i))
        part = source if is_chosen is None else b.SELECT_V2(is_chosen, source, zero)
        edges = [[0, 0]] * len(kernel)
        for axis in windowed:
            low, span = tap[axis] - pads[axis][0], (counts[axis] - 1) * strides[axis] + 1
            edges[axis] = [low, sizes[axis] - low - span]
        part = surrounded(part, edges, zero, b, strides)
        total = part if total is None else b.ADD(total, part)
    return total if is_neutral("SUM", start) else b.ADD(total, start)


def _tap(
    x: Tensor, tap: Sequence[int], kernel: Sequence[int], strides: Sequence[int], b: Builder
) -> Tensor:
    """The element at one place of each window."""
    crops = [[i, size - 1 - i] for i, size in zip(tap, kernel, strict=True)]
    return strided(cropped(x, crops, b), strides, b)


def strided(x: Tensor, steps: Sequence[int], b: Builder) -> Tensor:
    """Each so manieth element along the dimensions."""
    if max(steps, default=1) == 1:
        return x
    zeros, mask = int32s([0] * len(steps)), (1 << len(steps)) - 1
    return b.STRIDED_SLICE(x, zeros, zeros, int32s(steps), end_mask=mask)
