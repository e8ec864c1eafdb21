"""Convolution over windows. Images come in with channels second, are moved to channels last and
back; passes remove the moves between two such operators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ir.sizes import as_size
from ..lowering.moves import (
    extent,
    regrouped,
    reshaped,
    to_channels_first,
    to_channels_last,
    transposed,
)
from .registry import lower


@dataclass(frozen=True)
class Window:
    """What slides over an image of two dimensions.

    Attributes:
        size: height and width.
        stride: steps.
        dilation: distances between its elements.
        pads: (before, after) of height and of width.
        sizes: of the image, None where unknown.
    """

    size: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pads: tuple[tuple[int, int] | None, ...]
    sizes: tuple[int | None, ...]

    @property
    def is_same(self) -> bool:
        """Whether the padding is TFLite's SAME."""
        return all(pads is None or pads == self._same(axis) for axis, pads in enumerate(self.pads))

    def _same(self, axis):
        size, stride = self.sizes[axis], self.stride[axis]
        effective_size = (self.size[axis] - 1) * self.dilation[axis] + 1
        if size is None:
            total = max(effective_size - 1, 0) if stride == 1 else None
        else:
            total = max((-(-size // stride) - 1) * stride + effective_size - size, 0)
        return None if total is None else (total // 2, total - total // 2)

    @property
    def padding(self) -> str:
        """TFLite's word for the padding; "" where it has none."""
        if all(pair == (0, 0) for pair in self.pads):
            return "VALID"
        return "SAME" if self.is_same else ""

    @property
    def steps(self) -> dict[str, int]:
        """The stride as TFLite's options have it."""
        return {"stride_h": self.stride[0], "stride_w": self.stride[1]}

    @property
    def dilations(self) -> dict[str, int]:
        """The dilation as TFLite's options have it."""
        return {"dilation_h_factor": self.dilation[0], "dilation_w_factor": self.dilation[1]}


VOLUME = 3
"""Dimensions of what a 3-D convolution slides over."""


@dataclass(frozen=True)
class Span:
    """What slides along one axis.

    Attributes:
        size, stride, dilation: of the window.
        before, after: padding.
        length: of the axis; None where unknown.
    """

    size: int
    stride: int
    dilation: int
    before: int
    after: int
    length: int | None

    @property
    def reach(self) -> int:
        """From the first to the last element of a window."""
        return (self.size - 1) * self.dilation + 1

    @property
    def count(self) -> int:
        """How many windows there are along a known length."""
        assert self.length is not None
        return (self.length + self.before + self.after - self.reach) // self.stride + 1


def spans_of(node, size, sizes):
    """What slides along each axis of an image of any number of dimensions."""
    stride, dilation, pads = slides_of(node, size, sizes)
    node.require(None not in pads, f"the padding needs known image sizes, got {sizes}")
    columns = zip(size, stride, dilation, pads, sizes, strict=True)
    return [Span(k, s, d, *pair, length) for k, s, d, pair, length in columns]


def slides_of(node, size, sizes, rounds_later=False):
    """(strides, dilations, pads) of a node, for each axis.

    Pads are None for as TFLite's SAME, of an unknown size. What ceil_mode adds to an unknown size
    in another way is not among them, and refused unless the caller `rounds_later`.
    """
    n = len(size)
    stride = node.attr("strides", [1] * n)
    dilation = node.attr("dilations", [1] * n)
    lists = {"kernel_shape": size, "strides": stride, "dilations": dilation}
    for name, values in lists.items():
        is_valid = len(values) == len(sizes) and all(v > 0 for v in values)
        node.require(is_valid, f"{name} must be {len(sizes)} positive numbers, got {list(values)}")
    pads = _pads(node, size, stride, dilation, sizes)
    if node.attr("ceil_mode", 0) and None not in pads:
        pads = _ceil_pads(node, pads, size, stride, dilation, sizes, rounds_later)
    if "Pool" in node.type:
        pads = _truncated_pads(pads, size, stride, dilation, sizes)
    return stride, dilation, pads


def window_of(node, size, sizes):
    """The Window of a node over an image with these spatial sizes."""
    n = len(size)
    node.require(len(sizes) in (1, 2), f"an image must have 1 or 2 dimensions, got {len(sizes)}")
    stride, dilation, pads = slides_of(node, size, sizes)
    if n == 1:  # a line is an image of one row
        size, stride, dilation, sizes = ((1, *v) for v in (size, stride, dilation, sizes))
        pads = [(0, 0), *pads]
    return Window(tuple(size), tuple(stride), tuple(dilation), tuple(pads), tuple(sizes))


def _pads(node, size, stride, dilation, sizes):
    """(before, after) of each axis."""
    n, mode = len(size), node.attr("auto_pad", "NOTSET")
    modes = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
    node.require(mode in modes, f"auto_pad must be one of {modes}, got '{mode}'")
    if mode == "VALID":
        return [(0, 0)] * n
    if mode == "NOTSET":
        pads = node.attr("pads", [0] * (2 * n))
        is_valid = len(pads) == 2 * n and min(pads) >= 0
        node.require(
            is_valid, f"pads must be {2 * n} numbers that are not negative, got {list(pads)}"
        )
        return list(zip(pads[:n], pads[n:], strict=True))
    same_pads = []
    for k, s, d, length in zip(size, stride, dilation, sizes, strict=True):
        if length is None and s > 1:
            node.require(mode == "SAME_UPPER", f"auto_pad {mode} needs a known image size")
            same_pads.append(None)
            continue
        effective_size = (k - 1) * d + 1
        total = (
            effective_size - 1
            if length is None
            else max((-(-length // s) - 1) * s + effective_size - length, 0)
        )
        small, large = total // 2, total - total // 2
        same_pads.append((small, large) if mode == "SAME_UPPER" else (large, small))
    return same_pads


def _ceil_pads(node, pads, size, stride, dilation, sizes, rounds_later):
    """Padding with as much more at the end as makes the number of windows round up.

    A window that would start in the padding at the end is none.
    """
    ceil_pads = []
    for (before, after), k, s, d, length in zip(pads, size, stride, dilation, sizes, strict=True):
        reach = (k - 1) * d + 1
        if length is None:
            is_same = (before, after, s, reach) == (0, 0, 2, 2)
            node.require(is_same or rounds_later, "ceil_mode=1 needs a known image size")
            ceil_pads.append(None if is_same else (before, after))
            continue
        last_start = length + before + after - reach
        count = -(-last_start // s) + 1
        if (count - 1) * s >= length + before:
            count -= 1
        ceil_pads.append((before, max(after, after + (count - 1) * s - last_start)))
    return ceil_pads


def _truncated_pads(pads, size, stride, dilation, sizes):
    """Padding with as much more at the end as a first window lacks, where that is below a stride.

    ONNX Runtime pools such a window: it divides what there is behind it toward zero, not down.
    """
    truncated_pads = []
    for pair, k, s, d, length in zip(pads, size, stride, dilation, sizes, strict=True):
        if pair is not None and length is not None:
            before, after = pair
            missing = (k - 1) * d + 1 - (length + before + after)
            pair = (before, after + (missing if 0 < missing < s else 0))
        truncated_pads.append(pair)
    return truncated_pads


def image_of(node, b, index=0):
    """An input with channels last, as an image of two dimensions."""
    x, rank = node.inputs[index], node.rank(index)
    node.require(rank in (3, 4), f"input {index} must have 3 or 4 dimensions, got {rank}")
    x = to_channels_last(x, b)
    return b.EXPAND_DIMS(x, np.int32(1)) if rank == 3 else x


def result_of(node, b, out):
    """A result with channels second, in the rank of the input."""
    if node.rank() == 3:
        out = b.SQUEEZE(out, squeeze_dims=np.asarray([1], np.int32))
    return to_channels_first(out, b)


def padded(b, x, window, value=None):
    """The image padded as the window says; zeros by default."""
    pairs = np.asarray([(0, 0), *window.pads, (0, 0)], np.int32)
    if not pairs.any():
        return x
    return b.PAD(x, pairs) if value is None else b.PADV2(x, pairs, b.constant(value))


@lower("Conv")
def conv(node, b):
    """Convolution; ONNX's filters are OI and the window, TFLite's O, the window, I."""
    filters, bias = node.inputs[1], node.input(2)
    n, group_channels, *size = node.shape(1)
    channels, sizes = node.shape()[1], node.shape()[2:]
    node.require(None not in (n, group_channels, *size), "the shape of the filters must be known")
    groups = node.attr("group", 1)
    if channels is None:
        channels = groups * group_channels
        node = node.with_inputs(_with_channels(node, b, channels), *node.inputs[1:])
    node.require(
        channels == groups * group_channels and n % groups == 0,
        f"{groups} groups of {group_channels} channels must be the image's {channels} channels "
        f"and divide the {n} filters",
    )
    if len(size) == VOLUME:
        return _conv3d(node, b, size, groups)
    window = window_of(node, size, sizes)
    x = image_of(node, b)
    filters = reshaped(filters, (n, group_channels, *window.size), b) if len(size) == 1 else filters
    if window.padding:
        padding = window.padding
    else:
        x, padding = padded(b, x, window), "VALID"
    options = {"padding": padding, **window.steps, **window.dilations}
    if group_channels == 1 and groups > 1:
        filters = transposed(filters, (1, 2, 3, 0), b)
        out = b.DEPTHWISE_CONV_2D(x, filters, bias, depth_multiplier=n // groups, **options)
    else:
        out = b.CONV_2D(x, transposed(filters, (0, 2, 3, 1), b), bias, **options)
    return result_of(node, b, out)


def _with_channels(node, b, channels):
    """The image, of as many channels; where it has others, its elements do not fill the shape.

    A size that is an input's is assumed to be that number instead.
    """
    x = node.inputs[0]
    size = None if x.sizes is None else x.sizes[1]
    assumption = None if size is None else b.graph.scope.assume(as_size(size), channels)
    if assumption is not None:
        raise assumption
    last = to_channels_last(x, b)
    sizes = [extent(last, axis, b) for axis in range(node.rank() - 1)]
    return to_channels_first(regrouped(last, [*sizes, channels], b), b)


def _conv3d(node, b, size, groups):
    """CONV_3D of volumes with channels last, group by group; the filters as DHWIO."""
    spans = spans_of(node, size, node.shape()[2:])
    x, filters, bias = to_channels_last(node.inputs[0], b), node.inputs[1], node.input(2)
    pairs = np.asarray([(0, 0), *((s.before, s.after) for s in spans), (0, 0)], np.int32)
    x = b.PAD(x, pairs) if pairs.any() else x
    filters = transposed(filters, (2, 3, 4, 1, 0), b)
    options = {f"stride_{axis}": s.stride for axis, s in zip("dhw", spans, strict=True)}
    options |= {f"dilation_{a}_factor": s.dilation for a, s in zip("dhw", spans, strict=True)}
    parts = [(x, filters)]
    if groups > 1:
        halves = (b.SPLIT(np.int32(4), part, num_splits=groups) for part in (x, filters))
        parts = list(zip(*halves, strict=True))
    results = [b.CONV_3D(*part, padding="VALID", **options) for part in parts]
    out = results[0] if len(results) == 1 else b.CONCATENATION(*results, axis=4)
    return to_channels_first(out if bias is None else b.ADD(out, bias), b)
