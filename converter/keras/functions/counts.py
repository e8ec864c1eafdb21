"""Functions of keras.ops that count, and that decode and join sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..registry import Call, is_integer
from .arrange import integers
from .numerics import like
from .operations import floating, operation, tensor
from .products import dims_of
from .transforms import positive
from .windows import window_of


@operation("Bincount")
def bincount(
    call: Call, x: Any, weights: Any = None, minlength: Any = 0, sparse: Any = False
) -> Tensor:
    """How often each number is there, in each row."""
    call.require(weights is None and sparse is not True, "weights and sparse are not supported")
    call.require(is_integer(minlength) and minlength >= 0, "minlength must be an integer")
    x = call.cast(tensor(call, x), np.int32)
    rank = len(call.shape(x, 1, 2))
    largest = call.op("Max", x, call.constant(list(range(rank))))
    size = call.op("Maximum", call.op("AddV2", largest, call.constant(1)), call.constant(minlength))
    return call.op("DenseBincount", x, size, call.constant_of(np.zeros(0), np.int32))


@operation("Unique")
def unique(
    call: Call,
    x: Any,
    sorted: Any = True,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    size: Any = None,
    fill_value: Any = None,
) -> Tensor | list[Tensor]:
    """The different numbers; where they are first, which each element is, how often they are."""
    x = tensor(call, x)
    rank = len(call.shape(x))
    call.require(axis is None or rank == 1, "axis must be None")
    row = call.op("Reshape", x, call.constant([-1]))
    y, inverse, counts = call.ops("UniqueWithCounts", row)
    n = call.size(y, 0)
    positions = call.op("Range", call.constant(0), call.size(row, 0), call.constant(1))
    first = call.op("UnsortedSegmentMin", positions, inverse, n)
    if sorted is not False:
        order = call.ops("TopKV2", call.op("Neg", y), n)[1]
        y, first, counts = (
            call.op("GatherV2", v, order, call.constant(0)) for v in (y, first, counts)
        )
        inverse = call.op(
            "GatherV2", call.op("InvertPermutation", order), inverse, call.constant(0)
        )
    if size is not None:
        length = positive(call, size, "size")
        fill = 0 if fill_value is None else fill_value
        y, first, counts = (
            _resized(call, v, length, value) for v, value in ((y, fill), (first, 1), (counts, 0))
        )
    inverse = call.op("Reshape", inverse, call.sizes(dims_of(call, x)))
    flags = ((return_index, first), (return_inverse, inverse), (return_counts, counts))
    results = [y, *(result for is_asked, result in flags if is_asked is True)]
    return results[0] if len(results) == 1 else results


def _resized(call: Call, x: Tensor, size: int, value: Any) -> Tensor:
    """The first elements, and a value after them, `size` in all."""
    row = call.op("Fill", call.constant([size]), like(call, value, x))
    longer = call.op("ConcatV2", x, row, call.constant(0))
    return call.op("Slice", longer, call.constant([0]), call.constant([size]))


@operation("CTCDecode")
def ctc_decode(
    call: Call,
    inputs: Any,
    sequence_lengths: Any,
    strategy: Any = "greedy",
    beam_width: Any = 100,
    top_paths: Any = 1,
    merge_repeated: Any = True,
    mask_index: Any = 0,
) -> list[Tensor]:
    """The likeliest labels of [batch, time, classes], -1 after them; their scores."""
    call.require(strategy == "greedy", f"strategy must be greedy, got {str(strategy)[:20]}")
    call.require(is_integer(mask_index), "mask_index must be an integer")
    x, lengths = floating(call, inputs), call.cast(tensor(call, sequence_lengths), np.int32)
    steps = call.op("Transpose", x, call.constant([1, 0, 2]))
    attrs = {"merge_repeated": merge_repeated is not False, "blank_index": mask_index}
    positions, labels, _, scores = call.ops("CTCGreedyDecoder", steps, lengths, **attrs)
    shape = call.cast(call.sizes(dims_of(call, x)[:2]), np.int64)
    dense = call.op("SparseToDense", positions, shape, labels, call.constant_of(-1, np.int64))
    return [call.cast(call.op("ExpandDims", dense, call.constant(0)), np.int32), scores]


def _joined(
    call: Call, x: Tensor, window: list[int], steps: list[int], rates: list[int], sizes: list[int]
) -> Tensor:
    """[n, h, w, window] as [n, *sizes, 1]: windows added up where they lie."""
    area = window[0] * window[1]
    kernel = np.eye(area, dtype=np.float32).reshape(*window, 1, area)
    shape = call.sizes([call.size(x, 0), *sizes, 1])
    attrs = {"strides": [1, *steps, 1], "dilations": [1, *rates, 1], "padding": "VALID"}
    return call.op("Conv2DBackpropInput", shape, like(call, kernel, x), x, **attrs)


@operation("Fold")
def fold(
    call: Call,
    x: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Images with channels second, of [n, channels * window, places]."""
    x = floating(call, x)
    _, depth, _ = call.shape(x, 3)
    sizes, window, rates, pads, steps = (
        [value] * 2 if is_integer(value) else integers(call, value, name)
        for value, name in (
            (output_size, "output_size"),
            (kernel_size, "kernel_size"),
            (dilation, "dilation"),
            (padding, "padding"),
            (stride, "stride"),
        )
    )
    area = window[0] * window[1]
    channels = call.known(depth, "the number of channels") // area
    padded = [n + 2 * pad for n, pad in zip(sizes, pads, strict=True)]
    counts = [
        (n - rate * (k - 1) - 1) // step + 1
        for n, k, rate, step in zip(padded, window, rates, steps, strict=True)
    ]
    parts = call.op("Reshape", x, call.constant([-1, area, counts[0] * counts[1]]))
    parts = call.op("Transpose", parts, call.constant([0, 2, 1]))
    parts = call.op("Reshape", parts, call.constant([-1, *counts, area]))
    y = _joined(call, parts, window, steps, rates, padded)
    y = call.op("Slice", y, call.constant([0, *pads, 0]), call.constant([-1, *sizes, 1]))
    return call.op("Reshape", y, call.constant([-1, channels, *sizes]))


@operation("ISTFT")
def inverse_stft(
    call: Call,
    x: Any,
    sequence_length: Any,
    sequence_stride: Any,
    fft_length: Any,
    length: Any = None,
    window: Any = "hann",
    center: Any = True,
) -> Tensor:
    """The signal of the transforms of its stretches, [..., stretches, frequencies] in two parts."""
    call.require(isinstance(x, list) and len(x) == 2, "must be called with two parts")
    parts = [floating(call, part) for part in x]
    names = ("sequence_length", "sequence_stride", "fft_length")
    values = (sequence_length, sequence_stride, fft_length)
    extent, step, size = (positive(call, v, name) for v, name in zip(values, names, strict=True))
    shape = call.shape(parts[0])
    count = call.known(shape[-2], "the number of stretches")
    frames = call.op("IRFFT", call.op("Complex", *parts), call.constant([size]))
    if window is not None:
        frames = call.op(
            "Mul", frames, like(call, _inverse_window(call, window, extent, step, size), frames)
        )
    frames = call.op("Reshape", frames, call.constant([-1, 1, count, size]))
    whole = step * (count - 1) + size
    y = _joined(call, frames, [1, size], [1, step], [1, 1], [1, whole])
    start = 0 if center is False else size // 2
    end = whole - size // 2 if center is True else whole
    if length is not None:
        end = min(start + positive(call, length, "length"), whole)
    y = call.op("Reshape", y, call.constant([-1, whole]))
    y = call.op("Slice", y, call.constant([0, start]), call.constant([-1, end - start]))
    return call.op("Reshape", y, call.sizes([*dims_of(call, parts[0])[:-2], end - start]))


def _inverse_window(call: Call, window: Any, extent: int, step: int, size: int) -> np.ndarray:
    """Factors of stretches that overlap, so that those of the transform are undone."""
    before = (size - extent) // 2
    factors = np.pad(window_of(call, window, extent), (before, size - extent - before))
    overlaps = -(-size // step)
    squares = np.pad(factors**2, (0, overlaps * step - size)).reshape(overlaps, step).sum(0)
    return factors / np.tile(squares, overlaps)[:size]
