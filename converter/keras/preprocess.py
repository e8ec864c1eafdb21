"""Preprocessing: sizes of images, categories, lookups of integers in vocabularies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph.core.graph import Tensor
from .files.architecture import Layer
from .files.weights import StoredWeight
from .functions.selection import one_hot
from .registry import ANY, Call, is_integer, is_number, layer
from .resize import interpolation_of, resize_images

MAX_VOCABULARY = 1 << 16


def as_images(call: Call, x: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """A batch of images with channels last, and what gives such a batch the layout of `x`."""
    is_one, is_first = len(call.shape(x, 3, 4)) == 3, call.is_channels_first()
    if is_one:
        x = call.op("ExpandDims", x, call.constant(0))
    if is_first:
        x = call.op("Transpose", x, call.constant([0, 2, 3, 1]))

    def restored(y: Tensor) -> Tensor:
        if is_first:
            y = call.op("Transpose", y, call.constant([0, 3, 1, 2]))
        return call.op("Squeeze", y, squeeze_dims=[0]) if is_one else y

    return x, restored


def cropped(call: Call, x: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """A part of images."""
    return call.op(
        "Slice", x, call.constant([0, top, left, 0]), call.constant([-1, height, width, -1])
    )


def to_aspect(call: Call, x: Tensor, height: int, width: int) -> Tensor:
    """The largest centred part of images that has the form of another size."""
    rows, columns = (call.known(n, "height and width") for n in call.shape(x)[1:3])
    crop_rows = max(min(rows, int(float(columns * height) / width)), 1)
    crop_columns = max(min(columns, int(float(rows * width) / height)), 1)
    top, left = int(float(rows - crop_rows) / 2), int(float(columns - crop_columns) / 2)
    return cropped(call, x, top, left, crop_rows, crop_columns)


def padded_to_aspect(call: Call, x: Tensor, height: int, width: int, fill_value: float) -> Tensor:
    """Images with as many values on both sides so that they have the form of another size.

    A row or column that would be left over is not added, as in Keras.
    """
    rows, columns = (call.known(n, "height and width") for n in call.shape(x)[1:3])
    pad_rows = max(rows, int(float(columns * height) / width)) - rows
    pad_columns = max(columns, int(float(rows * width) / height)) - columns
    pairs = [[n // 2, n // 2] for n in (pad_rows, pad_columns)]
    value = call.constant(fill_value, x)
    return call.op("PadV2", x, call.constant([[0, 0], *pairs, [0, 0]]), value)


def resized(
    call: Call, x: Tensor, height: int, width: int, interpolation: str, antialias: bool = False
) -> Tensor:
    """Images of another size; the same where they have it already."""
    if call.shape(x)[1:3] == (height, width):
        return x
    return resize_images(call, x, [height, width], interpolation, antialias)


@layer("Resizing")
def resizing(call: Call, x: Tensor) -> Tensor:
    """Images of the size the layer has, cut or padded to its form first where it says so."""
    (height,), (width,) = call.integers("height", 1), call.integers("width", 1)
    x, restored = as_images(call, x)
    interpolation = interpolation_of(call)
    dtype = x.dtype if call.is_keras3 else np.dtype(np.float32)
    if x.dtype.kind != "f" and interpolation != "nearest":
        x = call.cast(x, np.float32)
    if call.flag("crop_to_aspect_ratio"):
        x = to_aspect(call, x, height, width)
    elif call.flag("pad_to_aspect_ratio"):
        x = padded_to_aspect(call, x, height, width, call.number("fill_value", 0.0))
    y = resized(call, x, height, width, interpolation, call.flag("antialias"))
    if dtype.kind != "f" and y.dtype.kind == "f":
        y = call.op("Round", y)
    return restored(call.cast(y, dtype))


@layer("CenterCrop", "RandomCrop")
def center_crop(call: Call, x: Tensor) -> Tensor:
    """The middle of images; of smaller ones the part of that form, made larger."""
    (height,), (width,) = call.integers("height", 1), call.integers("width", 1)
    if call.layer.kind == "RandomCrop" and call.is_keras3:
        return call.cast(x, np.float32)
    x, restored = as_images(call, call.cast(x, np.float32))
    rows, columns = (call.known(n, "height and width") for n in call.shape(x)[1:3])
    is_crop = call.layer.kind == "CenterCrop" and rows >= height and columns >= width
    if is_crop:
        y = cropped(call, x, (rows - height) // 2, (columns - width) // 2, height, width)
    else:
        y = resized(call, to_aspect(call, x, height, width), height, width, "bilinear")
    return restored(y)


def encoded(call: Call, indices: Tensor, depth: int, weights: Any = None) -> Tensor:
    """Indices as the output mode has them: themselves, or which of `depth` there are."""
    mode = call.text("output_mode", "int", "one_hot", "multi_hot", "count")
    if mode == "int":
        return indices
    call.require(not call.flag("sparse"), "sparse results are not supported")
    rank = len(call.shape(indices))
    if mode == "one_hot":
        if rank and call.shape(indices)[-1] == 1:
            indices = call.op("Squeeze", indices, squeeze_dims=[rank - 1])
        return one_hot(call, indices, depth)
    if rank == 1 and not call.is_keras3:
        indices, rank = call.op("ExpandDims", indices, call.constant(-1)), 2
    hot = one_hot(call, indices, depth)
    if weights is not None:
        weights = call.op("ExpandDims", call.cast(weights, np.float32), call.constant(-1))
        hot = call.op("Mul", hot, weights)
    return call.op("Max" if mode == "multi_hot" else "Sum", hot, call.constant([rank - 1]))


@layer("CategoryEncoding", takes=ANY)
def category_encoding(call: Call, inputs: Tensor, count_weights: Any = None) -> Tensor:
    """Which categories there are, or how many of each."""
    (depth,) = call.integers("num_tokens", 1)
    call.layer.config.setdefault("output_mode", "multi_hot")
    return encoded(call, call.cast(inputs, np.int32), depth, count_weights)


def summary_of(layer: Layer) -> tuple[str, ...]:
    """The weight of a layer that was adapted, which Keras 2 writes in place of boundaries."""
    is_adapted = layer.config.get("bin_boundaries") is None and layer.config.get("num_bins")
    return ("summary",) if is_adapted else ()


def adapted_boundaries(call: Call) -> list[float]:
    """Quantiles that part the data to which Keras 2 adapted a layer into bins of one weight.

    The file has a summary of the data, [values, weights] with the values in ascending order.
    """
    (n_bins,) = call.integers("num_bins", 1)
    weight = call.layer.stored_weights["summary"]
    shape = weight.store.shape(weight.path) if isinstance(weight, StoredWeight) else None
    n_values = shape[-1] if shape else 0
    call.require(n_values > 0, "must be adapted before the model is saved")
    values, weights = call.weight_value("summary", (2, n_values))
    if n_values >= n_bins:
        shares = 1.0 / n_bins + np.arange(0.0, 1.0, 1.0 / n_bins)
        total = weights.cumsum()
        values = np.interp(shares, total / total[-1], values).astype(np.float32)
    return [float(value) for value in values[:-1]]


@layer("Discretization", weights=summary_of)
def discretization(call: Call, x: Tensor) -> Tensor:
    """In which interval a number lies."""
    boundaries: Any = call.setting("bin_boundaries")
    if "summary" in call.layer.stored_weights:
        boundaries = adapted_boundaries(call)
    is_valid = isinstance(boundaries, list) and all(map(is_number, boundaries))
    call.check(is_valid and boundaries == sorted(boundaries), "bin_boundaries", "ascending numbers")
    bins = call.op("Bucketize", x, boundaries=[float(b) for b in boundaries])
    y = encoded(call, bins, len(boundaries) + 1)
    return call.cast(y, np.int64) if y is bins and not call.is_keras3 else y


def vocabulary_of(call: Call) -> list[Any]:
    """A layer's vocabulary: in its settings, or in a file of the archive, a word in each line."""
    vocabulary = call.setting("vocabulary")
    content = call.layer.assets.get("vocabulary.txt")
    if vocabulary is None and content is not None:
        return list(content.split(b"\n"))
    call.check(
        isinstance(vocabulary, list),
        "vocabulary",
        "a list; where the layer was adapted, save the model as .keras, whose archive has it",
    )
    return list(vocabulary or ())


def stripped(words: list[Any], special: list[Any]) -> list[Any]:
    """A vocabulary without the words that have a place of their own, which may come first."""
    return words[len(special) :] if words[: len(special)] == special else words


def integers_of(call: Call) -> list[int]:
    """The integers of a vocabulary."""
    words = vocabulary_of(call)
    try:
        words = [int(w) if isinstance(w, bytes) else w for w in words]
    except ValueError:
        words = []
    is_valid = 0 < len(words) <= MAX_VOCABULARY
    call.check(
        is_valid and all(is_integer(v) and abs(v) < 1 << 31 for v in words),
        "vocabulary",
        "integers; give it when the layer is made, or save the model as a SavedModel",
    )
    mask, others = call.setting("mask_token"), call.setting("num_oov_indices", 1)
    is_count = is_integer(others) and 0 <= others <= MAX_VOCABULARY
    call.check(is_count, "num_oov_indices", "a number of indices")
    special = [mask] if mask is not None and call.setting("output_mode", "int") == "int" else []
    special += [call.setting("oov_token", -1)] * others
    return stripped(words, special)


@layer("IntegerLookup")
def integer_lookup(call: Call, x: Tensor) -> Tensor:
    """The place of integers in a vocabulary, or the integers at places."""
    vocabulary = np.asarray(integers_of(call), np.int32)
    x = call.cast(x, np.int32)
    return at_places(call, x, vocabulary) if call.flag("invert") else looked_up(call, x, vocabulary)


def at_places(call: Call, x: Tensor, vocabulary: np.ndarray) -> Tensor:
    """The integers of a vocabulary at places that start after those of tokens for others."""
    mask, other = call.setting("mask_token"), call.setting("oov_token", -1)
    call.check(mask is None or is_integer(mask), "mask_token", "an integer")
    call.check(is_integer(other) and abs(other) < 1 << 31, "oov_token", "an integer")
    before = [] if mask is None else [mask]
    before += [other] * call.setting("num_oov_indices", 1)
    table = np.array([*before, *vocabulary, other], np.int32)
    last = call.constant(len(table) - 1)
    is_outside = call.op(
        "LogicalOr", call.op("Less", x, call.constant(0)), call.op("Greater", x, last)
    )
    places = call.op("SelectV2", is_outside, last, x)
    y = call.op("GatherV2", call.constant(table), places, call.constant(0))
    return call.cast(y, np.int64)


def looked_up(call: Call, x: Tensor, vocabulary: np.ndarray) -> Tensor:
    """1 + where in the vocabulary, by comparison with each word: tokens for others come first."""
    mask_token = call.setting("mask_token")
    call.check(mask_token is None or is_integer(mask_token), "mask_token", "an integer")
    n_others = call.setting("num_oov_indices", 1)
    first = n_others + (mask_token is not None)
    matches = call.op(
        "Equal",
        call.op("ExpandDims", x, call.constant(-1)),
        call.constant_of(vocabulary, vocabulary.dtype),
    )
    # known words weigh their place, less the one of unknown words, which is added to all
    is_spread = n_others > 1
    unknown = int(mask_token is not None and n_others == 1)
    positions = np.arange(len(vocabulary), dtype=np.int32) + first - unknown
    weighted = call.op("Mul", call.cast(matches, np.int32), call.constant(positions))
    index = call.op("Sum", weighted, call.constant([-1]))
    if is_spread:  # others go by their remainder
        other = call.op("FloorMod", x, call.constant(n_others))
        other = call.op("AddV2", other, call.constant(first - n_others))
        is_known = call.op("Greater", index, call.constant(0))
        index = call.op("SelectV2", is_known, index, other)
    elif unknown:
        index = call.op("AddV2", index, call.constant(unknown))
    if mask_token is not None:
        is_mask = call.op("Equal", x, call.constant(mask_token, x))
        index = call.op("SelectV2", is_mask, call.constant(0), index)
    depth = len(vocabulary) + first
    if call.flag("pad_to_max_tokens"):
        (depth,) = call.integers("max_tokens", 1)
    y = encoded(call, index, depth)
    return call.cast(y, np.int64) if y is index or call.is_keras3 else y
