"""Functions of keras.ops on signals, images, segments and places; losses and normalisation."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..pool import pooled_axis
from ..registry import Call, is_integer, is_number
from .arrange import integers
from .layouts import channels_last
from .numerics import like
from .operations import axis_of, floating, operands, operation, tensor
from .products import dims_of
from .reductions import log_softmax, reduced, sorted_along
from .selection import one_hot

EPSILON = 1e-7
"""Keras' backend.epsilon()."""
MAX_KERNEL = 1 << 10


def number_of(call: Call, value: Any, what: str) -> float:
    """A setting that is a number."""
    call.require(is_number(value), f"{what} must be a number, got {str(value)[:40]}")
    return float(value)


def positive(call: Call, value: Any, what: str) -> int:
    """A setting that is a positive integer."""
    is_valid = is_integer(value) and 0 < value < 1 << 31
    call.require(is_valid, f"{what} must be a positive integer, got {str(value)[:40]}")
    return int(value)


def _complex(call: Call, x: Any) -> Tensor:
    """A pair of real and imaginary parts as complex numbers."""
    call.require(isinstance(x, list) and len(x) == 2, "must be called with two parts")
    return call.op("Complex", *(floating(call, part) for part in x))


def _parts(call: Call, x: Tensor) -> list[Tensor]:
    """The real and the imaginary parts."""
    return [call.op("Real", x), call.op("Imag", x)]


for _kind, _op in {"FFT": "FFT", "FFT2": "FFT2D", "IFFT2": "IFFT2D"}.items():
    operation(_kind)(lambda call, x, op=_op: _parts(call, call.op(op, _complex(call, x))))


def _length(call: Call, x: Tensor, length: Any, default: int | None = None) -> Tensor:
    """The length of a transform along the last axis."""
    n = call.shape(x)[-1] if default is None else default
    if length is not None:
        return call.constant([positive(call, length, "fft_length")])
    return call.constant([call.known(n, "the last axis")])


@operation("RFFT")
def rfft(call: Call, x: Any, fft_length: Any = None) -> list[Tensor]:
    """Half of the transform of a real signal."""
    x = floating(call, x)
    return _parts(call, call.op("RFFT", x, _length(call, x, fft_length)))


@operation("IRFFT")
def irfft(call: Call, x: Any, fft_length: Any = None) -> Tensor:
    """The real signal of half of its transform."""
    values = _complex(call, x)
    bins = call.known(call.shape(values)[-1], "the last axis")
    return call.op("IRFFT", values, _length(call, values, fft_length, 2 * (bins - 1)))


@operation("ExtractSequences")
def extract_sequences(call: Call, x: Any, sequence_length: Any, sequence_stride: Any) -> Tensor:
    """Stretches of the last axis, each a number of steps after the one before."""
    x = tensor(call, x)
    n = call.known(call.shape(x)[-1], "the last axis")
    length = positive(call, sequence_length, "sequence_length")
    call.require(length <= n, f"sequence_length must be at most {n}, got {length}")
    step = positive(call, sequence_stride, "sequence_stride")
    positions = np.arange(0, n - length + 1, step)[:, None] + np.arange(length)
    return call.op("GatherV2", x, call.constant(positions), call.constant(len(call.shape(x)) - 1))


@operation("InTopK")
def in_top_k(call: Call, targets: Any, predictions: Any, k: Any) -> Tensor:
    """Whether each target is among the k best predictions of its row."""
    targets = call.cast(tensor(call, targets), np.int32)
    k = call.constant(positive(call, k, "k"))
    return call.op("InTopKV2", floating(call, predictions), targets, k)


def segments(kind: str) -> Callable:
    """A reduction of rows that belong together."""

    def write(
        call: Call, data: Any, segment_ids: Any, num_segments: Any = None, sorted: Any = False
    ) -> Tensor:
        ids = call.cast(tensor(call, segment_ids), np.int32)
        if num_segments is None:  # as many as there are different ones
            n = call.size(call.op("Unique", ids), 0)
        else:
            n = call.constant(positive(call, num_segments, "num_segments"))
        return call.op(f"UnsortedSegment{kind}", tensor(call, data), ids, n)

    return write


for _kind in ("Sum", "Max", "Min", "Prod"):
    operation(f"Segment{_kind}")(segments(_kind))


@operation("Scatter")
def scatter(call: Call, indices: Any, values: Any, shape: Any) -> Tensor:
    """Values at places of zeros; those of one place are added."""
    indices = call.cast(tensor(call, indices), np.int32)
    return call.op(
        "ScatterNd", indices, tensor(call, values), call.constant(integers(call, shape, "shape"))
    )


SCATTERS = {None: "Update", "add": "Add", "max": "Max", "min": "Min"}


@operation("ScatterUpdate")
def scatter_update(
    call: Call, inputs: Any, indices: Any, updates: Any, reduction: Any = None
) -> Tensor:
    """`inputs` with other values at some places."""
    is_known = reduction is None or (isinstance(reduction, str) and reduction in SCATTERS)
    call.require(is_known, f"reduction must be add, max or min, got {str(reduction)[:20]}")
    x, updates = operands(call, inputs, updates)
    indices = call.cast(tensor(call, indices), np.int32)
    return call.op(f"TensorScatter{SCATTERS[reduction]}", x, indices, updates)


@operation("SliceUpdate")
def slice_update(call: Call, inputs: Any, start_indices: Any, updates: Any) -> Tensor:
    """`inputs` with a block in the place of another."""
    x, updates = operands(call, inputs, updates)
    starts = start_indices
    if isinstance(starts, list) and any(isinstance(item, Tensor) for item in starts):
        starts = call.op("Pack", *(call.cast(tensor(call, s), np.int32) for s in starts), axis=0)
    return call.op("XlaDynamicUpdateSlice", x, updates, call.cast(tensor(call, starts), np.int32))


@operation("SearchSorted")
def search_sorted(call: Call, sorted_sequence: Any, values: Any, side: Any = "left") -> Tensor:
    """Where values would be put into a sorted row."""
    call.require(side in ("left", "right"), f"side must be left or right, got {str(side)[:20]}")
    row, x = operands(call, sorted_sequence, values)
    flat = call.op("Reshape", x, call.constant([1, -1]))
    kind = "LowerBound" if side == "left" else "UpperBound"
    positions = call.op(kind, call.op("ExpandDims", row, call.constant(0)), flat)
    return call.op("Reshape", positions, call.sizes(dims_of(call, x)))


@operation("UnravelIndex")
def unravel_index(call: Call, indices: Any, shape: Any) -> list[Tensor]:
    """The place along each axis of positions among all values."""
    remaining, results = tensor(call, indices), []
    for n in reversed(integers(call, shape, "shape")):
        results.append(call.op("FloorMod", remaining, like(call, n, remaining)))
        remaining = call.op("FloorDiv", remaining, like(call, n, remaining))
    return results[::-1]


@operation("Meshgrid")
def mesh_grid(call: Call, *x: Any, indexing: Any = "xy") -> list[Tensor]:
    """Vectors, each along an axis of its own and the same along the others."""
    rows = [call.op("Reshape", tensor(call, v), call.constant([-1])) for v in x]
    order = list(range(len(rows)))
    if indexing == "xy" and len(rows) > 1:
        order[:2] = [1, 0]
    sizes = [call.size(rows[i], 0) for i in order]
    results = []
    for i, row in enumerate(rows):
        form = [-1 if order[axis] == i else 1 for axis in range(len(rows))]
        shaped = call.op("Reshape", row, call.constant(form))
        results.append(call.op("BroadcastTo", shaped, call.op("Pack", *sizes, axis=0)))
    return results


@operation("Nonzero")
def nonzero(call: Call, x: Any) -> list[Tensor]:
    """Where the values that are not 0 are, a row for each axis."""
    x = tensor(call, x)
    positions = call.cast(call.op("Where", call.op("NotEqual", x, like(call, 0, x))), np.int32)
    return call.ops("Unpack", positions, num=len(call.shape(x)), axis=1)


@operation("Sparsemax")
def sparsemax(call: Call, x: Any, axis: Any = -1) -> Tensor:
    """max(x - threshold, 0); Keras' threshold has all sums where the paper has the last."""
    x = floating(call, x)
    axis = axis_of(call, axis, len(call.shape(x)))
    n = call.known(call.shape(x)[axis], "the axis")
    shape = [n if i == axis else 1 for i in range(len(call.shape(x)))]
    counts = call.constant(np.arange(1, n + 1).reshape(shape), x)
    ordered = sorted_along(call, x, axis, False)[0]
    sums = call.op("Cumsum", ordered, call.constant(axis))
    bound = call.op("AddV2", call.op("Mul", counts, ordered), like(call, 1, x))
    in_support = call.cast(call.op("Greater", bound, sums), x.dtype)
    support_size = reduced(call, "Sum", in_support, axis, True)
    total = reduced(call, "Sum", call.op("Mul", in_support, sums), axis, True)
    threshold = call.op("RealDiv", call.op("Sub", total, like(call, 1, x)), support_size)
    return call.op("Maximum", call.op("Sub", x, threshold), like(call, 0, x))


@operation("AdaptiveAveragePool", "AdaptiveMaxPool")
@channels_last(is_batched=True)
def adaptive_pool(call: Call, inputs: Tensor, output_size: Any, data_format: Any = None) -> Tensor:
    """The mean or the largest of as many windows as the result has places."""
    rank = len(call.shape(inputs, 3, 4, 5))
    sizes = integers(call, output_size, "output_size")
    sizes = sizes * (rank - 2) if len(sizes) == 1 else sizes
    kind = "Max" if call.layer.kind == "ops.AdaptiveMaxPool" else "Mean"
    call.require(len(sizes) == rank - 2 and min(sizes) > 0, "output_size must be positive")
    for axis, size in enumerate(sizes, 1):
        length = call.known(call.shape(inputs)[axis], "each dimension that is pooled")
        inputs = pooled_axis(call, inputs, axis, length, size, kind)
    return inputs


@operation("BatchNorm")
def batch_normalization(
    call: Call,
    x: Tensor,
    mean: Any,
    variance: Any,
    offset: Any = None,
    scale: Any = None,
    axis: Any = -1,
    epsilon: Any = 1e-3,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset along an axis."""
    rank = len(call.shape(x))
    axis = axis_of(call, axis, rank)
    form = call.constant([-1 if i == axis else 1 for i in range(rank)])

    def along(value: Any) -> Tensor:
        return call.op("Reshape", tensor(call, value, x), form)

    least = like(call, number_of(call, epsilon, "epsilon"), x)
    inverse = call.op("Rsqrt", call.op("AddV2", along(variance), least))
    inverse = inverse if scale is None else call.op("Mul", inverse, along(scale))
    y = call.op("Mul", call.op("Sub", x, along(mean)), inverse)
    return y if offset is None else call.op("AddV2", y, along(offset))


@operation("BinaryCrossentropy")
def binary_crossentropy(call: Call, target: Any, output: Any, from_logits: Any = False) -> Tensor:
    """The loss of probabilities, or logits, of yes and no."""
    target, x = (floating(call, v) for v in operands(call, target, output))
    if from_logits is True:
        linear = call.op("Mul", x, target)
        return call.op("Sub", call.op("Softplus", x), linear)
    one = like(call, 1, x)
    x = _probability(call, x)
    yes = call.op("Mul", target, call.op("Log", x))
    no = call.op("Mul", call.op("Sub", one, target), call.op("Log", call.op("Sub", one, x)))
    return call.op("Neg", call.op("AddV2", yes, no))


def _probability(call: Call, x: Tensor) -> Tensor:
    """`x` cut off just beside 0 and 1."""
    x = call.op("Maximum", x, like(call, EPSILON, x))
    return call.op("Minimum", x, like(call, 1 - EPSILON, x))


@operation("CategoricalCrossentropy")
def categorical_crossentropy(
    call: Call, target: Any, output: Any, from_logits: Any = False, axis: Any = -1
) -> Tensor:
    """The loss of probabilities, or logits, of classes."""
    target, x = (floating(call, v) for v in operands(call, target, output))
    rank = len(call.shape(x))
    axis = axis_of(call, axis, rank)
    if from_logits is True:
        log = log_softmax(call, x, axis)
    else:
        x = call.op("RealDiv", x, reduced(call, "Sum", x, axis, True))
        log = call.op("Log", _probability(call, x))
    return call.op("Neg", reduced(call, "Sum", call.op("Mul", target, log), axis))


@operation("SparseCategoricalCrossentropy")
def sparse_crossentropy(
    call: Call, target: Any, output: Any, from_logits: Any = False, axis: Any = -1
) -> Tensor:
    """The loss of probabilities, or logits, of classes that numbers say."""
    x, labels = floating(call, output), tensor(call, target)
    rank = len(call.shape(x))
    axis = axis_of(call, axis, rank)
    if len(call.shape(labels)) == rank and call.shape(labels)[-1] == 1:
        labels = call.op("Squeeze", labels, squeeze_dims=[-1])
    hot = one_hot(call, labels, call.known(call.shape(x)[axis], "the classes"), axis)
    return categorical_crossentropy(call, hot, x, from_logits, axis)


@operation("PSNR")
def peak_signal_to_noise(call: Call, x1: Any, x2: Any, max_val: Any) -> Tensor:
    """20 log10(max_val) - 10 log10 of the mean squared difference."""
    x, y = (floating(call, v) for v in operands(call, x1, x2))
    error = reduced(call, "Mean", call.op("SquaredDifference", x, y), None)
    decibels = call.op("Mul", call.op("Log", error), like(call, -10 / np.log(10), x))
    most = number_of(call, max_val, "max_val")
    call.require(most > 0, f"max_val must be positive, got {most:g}")
    return call.op("AddV2", decibels, like(call, 20 * np.log10(most), x))


def colours(kind: str) -> Callable:
    """Colours of images in another form."""

    @channels_last()
    def write(call: Call, images: Tensor, data_format: Any = None) -> Tensor:
        return call.op(kind, images)

    return write


operation("RGBToHSV")(colours("RGBToHSV"))
operation("HSVToRGB")(colours("HSVToRGB"))


@operation("ExtractPatches")
@channels_last()
def extract_patches(
    call: Call,
    images: Tensor,
    size: Any,
    strides: Any = None,
    dilation_rate: Any = 1,
    padding: Any = "valid",
    data_format: Any = None,
) -> Tensor:
    """Windows of images, the values of each in a row."""
    from .neural import padding_of

    rank = len(call.shape(images, 3, 4, 5))
    if isinstance(size, list) and len(size) == 3:
        return _patches_of_volumes(call, images, size, strides, dilation_rate, padding)
    images = call.op("ExpandDims", images, call.constant(0)) if rank == 3 else images
    pairs = []
    for value in (size, size if strides is None else strides, dilation_rate):
        numbers = integers(call, value, "size, strides and dilation_rate")
        pairs.append([1, *(numbers * 2 if len(numbers) == 1 else numbers), 1])
    attrs = dict(zip(("ksizes", "strides", "rates"), pairs, strict=True))
    y = call.op("ExtractImagePatches", images, padding=padding_of(call, padding), **attrs)
    return call.op("Squeeze", y, squeeze_dims=[0]) if rank == 3 else y


def _patches_of_volumes(
    call: Call, x: Tensor, size: list[int], strides: Any, dilation_rate: Any, padding: Any
) -> Tensor:
    """Windows of volumes: a convolution with one kernel for each value of a window."""
    from .neural import padding_of, window_attributes

    is_one = len(call.shape(x)) == 4
    x = call.op("ExpandDims", x, call.constant(0)) if is_one else x
    n = call.known(call.shape(x)[4], "the channels")
    n_values = n * prod(positive(call, length, "size") for length in size)
    call.require(n_values <= MAX_KERNEL, f"windows must have at most {MAX_KERNEL} values")
    kernel = np.eye(n_values).reshape(*size, n, n_values)
    steps = size if strides is None else strides
    attrs = window_attributes(call, 5, strides=steps, dilations=dilation_rate)
    y = call.op("Conv3D", x, call.constant(kernel, x), padding=padding_of(call, padding), **attrs)
    return call.op("Squeeze", y, squeeze_dims=[0]) if is_one else y


SIDES = ("top", "bottom", "left", "right")


def _margins(call: Call, images: Tensor, amounts: list[Any], target: list[Any], sign: int):
    """What is before and behind height and width; the side that is not said follows from a size."""
    rank = len(call.shape(images, 3, 4))
    margins = []
    for axis in (0, 1):
        first, last = amounts[2 * axis : 2 * axis + 2]
        if first is None or last is None:
            size = call.known(call.shape(images)[rank - 3 + axis], "height and width")
            whole = sign * (positive(call, target[axis], "target") - size)
            is_valid = all(side is None or is_integer(side) for side in (first, last))
            call.require(is_valid, "margins must be integers")
            first = whole - (last or 0) if first is None else first
            last = whole - first if last is None else last
        is_valid = is_integer(first) and is_integer(last) and min(first, last) >= 0
        call.require(is_valid, f"margins must not be negative, got {first} and {last}")
        margins.append((first, last))
    return margins


@operation("PadImages")
@channels_last()
def pad_images(
    call: Call,
    images: Tensor,
    top_padding: Any = None,
    left_padding: Any = None,
    bottom_padding: Any = None,
    right_padding: Any = None,
    target_height: Any = None,
    target_width: Any = None,
    data_format: Any = None,
) -> Tensor:
    """Zeros around images."""
    paddings = [top_padding, bottom_padding, left_padding, right_padding]
    margins = _margins(call, images, paddings, [target_height, target_width], 1)
    rank = len(call.shape(images))
    return call.op("Pad", images, call.constant([(0, 0)] * (rank - 3) + margins + [(0, 0)]))


@operation("CropImages")
@channels_last()
def crop_images(
    call: Call,
    images: Tensor,
    top_cropping: Any = None,
    left_cropping: Any = None,
    bottom_cropping: Any = None,
    right_cropping: Any = None,
    target_height: Any = None,
    target_width: Any = None,
    data_format: Any = None,
) -> Tensor:
    """The inside of images."""
    crops = [top_cropping, bottom_cropping, left_cropping, right_cropping]
    margins = _margins(call, images, crops, [target_height, target_width], -1)
    rank = len(call.shape(images))
    begin, sizes = [0] * rank, [-1] * rank
    for axis, (first, last) in enumerate(margins, rank - 3):
        size = call.known(call.shape(images)[axis], "height and width")
        begin[axis], sizes[axis] = first, size - first - last
    return call.op("Slice", images, call.constant(begin), call.constant(sizes))


def gaussian(size: int, width: float) -> np.ndarray:
    """Weights that fall off from the middle and sum up to 1."""
    with np.errstate(all="ignore"):
        weights = np.exp(-0.5 * ((np.arange(size) - (size - 1) / 2) / width) ** 2)
        return weights / weights.sum()


@operation("GaussianBlur")
@channels_last()
def gaussian_blur(
    call: Call,
    images: Tensor,
    kernel_size: Any = (3, 3),
    sigma: Any = (1.0, 1.0),
    data_format: Any = None,
) -> Tensor:
    """Images, each pixel a weighted mean of those around it."""
    rank = len(call.shape(images, 3, 4))
    x = call.op("ExpandDims", images, call.constant(0)) if rank == 3 else images
    n = call.known(call.shape(x)[3], "the channels")
    sizes = integers(call, kernel_size, "kernel_size")
    is_valid = isinstance(sigma, list | tuple) and len(sigma) == len(sizes) == 2
    is_valid = is_valid and all(0 < size <= MAX_KERNEL for size in sizes)
    call.require(is_valid, "kernel_size and sigma must be two numbers each")
    columns, rows = (
        gaussian(size, number_of(call, width, "sigma"))
        for size, width in zip(sizes, sigma, strict=True)
    )
    kernel = np.multiply.outer(rows, columns).reshape(*sizes, 1, 1) * np.ones((1, 1, n, 1))
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    y = call.op("DepthwiseConv2dNative", x, call.constant(kernel, x), **attrs)
    return call.op("Squeeze", y, squeeze_dims=[0]) if rank == 3 else y


@operation("Rearrange")
def rearrange(call: Call, tensor: Tensor, pattern: Any, **axes_lengths: Any) -> Tensor:
    """The axes of a tensor taken apart, in another order and put together, as einops says."""
    call.require(isinstance(pattern, str) and pattern.count("->") == 1, "pattern must be a -> b")
    before, after = (_groups(call, side) for side in pattern.split("->"))
    shape = call.shape(tensor)
    call.require(len(before) == len(shape), f"pattern must name {len(shape)} axes, got {pattern}")
    sizes: dict[str, int | None] = {
        name: positive(call, n, name) for name, n in axes_lengths.items()
    }
    for group, n in zip(before, shape, strict=True):
        unknown = [name for name in group if sizes.get(name) is None]
        known = int(np.prod([sizes[name] or 1 for name in group if name not in unknown]))
        call.require(len(unknown) <= 1, f"the sizes of {unknown} must be given")
        if unknown:
            sizes[unknown[0]] = None if n is None else n // known
    names = [name for group in before for name in group]
    order = [name for group in after for name in group]
    call.require(sorted(names) == sorted(order), f"both sides must have the same axes: {pattern}")
    open_axes = [name for name in names if sizes[name] is None]
    call.require(len(open_axes) <= 1, f"at most one axis may have no known size, got {open_axes}")

    def form(groups: list[list[str]]) -> Tensor:
        dims = [[-1 if sizes[name] is None else sizes[name] or 1 for name in g] for g in groups]
        return call.constant([-1 if -1 in d else int(np.prod(d)) for d in dims])

    x = call.op("Reshape", tensor, form([[name] for name in names]))
    x = call.op("Transpose", x, call.constant([names.index(name) for name in order]))
    return call.op("Reshape", x, form(after))


def _groups(call: Call, text: str) -> list[list[str]]:
    """The axes of a side of a pattern: "a (b c)" -> [[a], [b, c]]."""
    groups: list[list[str]] = []
    is_open = False
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word in "()":
            is_open = word == "("
            groups += [[]] if is_open else []
        else:
            call.require(word.isidentifier() or word == "1", f"axes must be names, got {word}")
            if is_open:
                groups[-1].append(word)
            else:
                groups.append([word])
    return groups
