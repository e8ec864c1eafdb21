"""Summaries: what TensorBoard shows, as serialized Summary messages."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema import proto
from ...core.registry import op
from ...core.shapes import scalar, shown
from ...format.media import encode_png, encode_wav
from ...format.tensor_proto import write

if TYPE_CHECKING:
    from ....schema.proto import Message
    from ...core.graph import Operation

SMALLEST_BUCKET, LARGEST_BUCKET, BUCKET_GROWTH = 1e-12, 1e20, 1.1
INFINITE = "Infinity in Histogram"
_DARK = np.float32(1e-6)
"""An image whose largest value is below is black."""


def _serialized(summary: Message) -> np.ndarray:
    return np.array(summary.SerializeToString(deterministic=True), object)


def _tag(tag: np.ndarray, words: str) -> str:
    """A single tag; ValueError with `words` when there are several."""
    if tag.ndim:
        raise ValueError(words)
    return cast("bytes", tag[()]).decode("utf-8", "replace")


@op("ScalarSummary", shape=scalar)
def scalar_summary(tags: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A number for each tag."""
    if tags.shape != values.shape:
        one = f" (tag '{tags.flat[0].decode()}')" if tags.size == 1 else ""
        raise ValueError(
            f"tags and values are not the same shape: {shown(tags.shape)} != "
            f"{shown(values.shape)}{one}"
        )
    summary = proto.Summary()
    for tag, value in zip(tags.flat, values.astype(np.float32).flat, strict=True):
        summary.value.add(tag=cast("bytes", tag).decode(), simple_value=float(value))
    return _serialized(summary)


@functools.cache
def bucket_limits() -> np.ndarray:
    """Upper limits of a histogram's buckets: each a tenth wider than the one before, both ways."""
    limits: list[float] = []
    limit = SMALLEST_BUCKET
    while limit < LARGEST_BUCKET:
        limits.append(limit)
        limit *= BUCKET_GROWTH
    limits.append(sys.float_info.max)
    return np.array([*(-limit for limit in reversed(limits)), 0.0, *limits])


@op("HistogramSummary", shape=scalar)
def histogram_summary(tag: np.ndarray, values: np.ndarray, *, op: Operation) -> np.ndarray:
    """How many values lie in each bucket, and their least, largest, sum and sum of squares."""
    name = _tag(tag, "tags must be scalar")
    numbers = values.astype(np.float64).ravel()
    for is_bad, words in ((np.isnan, "Nan in summary histogram"), (np.isinf, INFINITE)):
        if is_bad(numbers).any():
            raise ValueError(f"{words} for: {op.name}")
    summary = proto.Summary()
    histogram = summary.value.add(tag=name).histo
    write_histogram(histogram, numbers)
    return _serialized(summary)


def write_histogram(message: Message, numbers: np.ndarray) -> None:
    """Fills a HistogramProto; of neighbouring empty buckets only the last is written."""
    limits = bucket_limits()
    positions = np.minimum(np.searchsorted(limits, numbers, "right"), len(limits) - 1)
    counts = np.bincount(positions, minlength=len(limits))
    keep = np.ones(len(limits), bool)
    keep[:-1] = (counts[:-1] > 0) | (counts[1:] > 0)
    message.min = float(numbers.min(initial=sys.float_info.max))
    message.max = float(numbers.max(initial=-sys.float_info.max))
    message.num = float(numbers.size)
    message.sum = _sum(numbers)
    message.sum_squares = _sum(numbers * numbers)
    message.bucket_limit.extend(limits[keep].tolist())
    message.bucket.extend(counts[keep].astype(np.float64).tolist())


def _sum(numbers: np.ndarray) -> float:
    """The sum in float64, one number after the other, as TensorFlow adds them."""
    return float(np.add.accumulate(numbers)[-1]) if numbers.size else 0.0


def _numbered(base: str, kind: str, limit: int, i: int) -> str:
    """The tag of one of several parts."""
    return f"{base}/{kind}/{i}" if limit > 1 else f"{base}/{kind}"


@op("ImageSummary", shape=scalar)
def image_summary(
    tag: np.ndarray, tensor: np.ndarray, *, max_images: int, bad_color: np.ndarray
) -> np.ndarray:
    """The first images of a batch, those of floating point scaled to 0 to 255."""
    name = _tag(tag, "Tags must be a scalar")
    if tensor.ndim != 4 or tensor.shape[3] not in (1, 3, 4):
        raise ValueError(f"Tensor must be 4-D with last dim 1, 3, or 4, not {shown(tensor.shape)}")
    _, height, width, depth = tensor.shape
    if not height * width:
        sizes = ", ".join(map(str, tensor.shape))
        raise ValueError(f"input tensor must have non-zero dims. Found: [{sizes}].")
    if bad_color.dtype != np.uint8:
        raise ValueError(f"bad_color must be uint8, got {bad_color.dtype}")
    if bad_color.ndim != 1:
        raise ValueError(f"bad_color must be a vector, got shape {shown(bad_color.shape)}")
    if tensor.dtype != np.uint8 and len(bad_color) < depth:
        raise ValueError(
            f"expected depth <= bad_color.size, got depth = {depth}, bad_color.size = "
            f"{len(bad_color)}"
        )
    summary = proto.Summary()
    for i, pixels in enumerate(tensor[:max_images]):
        image = summary.value.add(tag=_numbered(name, "image", max_images, i)).image
        image.height, image.width, image.colorspace = height, width, depth
        whole = pixels if pixels.dtype == np.uint8 else _scaled(pixels, bad_color[:depth])
        image.encoded_image_string = encode_png(whole)
    return _serialized(summary)


def _scaled(pixels: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """An image of floating point in uint8: 0 stays 0, or becomes 128 where some are negative."""
    finite = np.asarray(np.isfinite(pixels).all(-1))
    used = pixels[finite].astype(np.float32)
    least, largest = (np.float32(x) for x in (used.min(initial=np.inf), used.max(initial=-np.inf)))
    middle, steps = (128, np.float32(127)) if least < 0 else (0, np.float32(255))
    if least < 0:
        largest = max(abs(least), abs(largest))
    scale = np.float32(0) if largest < _DARK else steps / largest
    type_ = pixels.dtype.type
    values = pixels * type_(scale) + type_(middle)
    whole = np.empty(pixels.shape, np.uint8)
    whole[finite], whole[~finite] = values[finite].astype(np.uint8), bad_color
    return whole


@op("AudioSummary", shape=scalar)
def audio_summary(
    tag: np.ndarray, tensor: np.ndarray, *, sample_rate: float, max_outputs: int
) -> np.ndarray:
    """The first clips of a batch; the rate is an attribute."""
    rate = np.array(sample_rate, np.float32)
    return audio_summary_v2(tag, tensor, rate, max_outputs=max_outputs)


@op("AudioSummaryV2", shape=scalar)
def audio_summary_v2(
    tag: np.ndarray, tensor: np.ndarray, sample_rate: np.ndarray, *, max_outputs: int
) -> np.ndarray:
    """The first clips of a batch, as WAV files of 16 bits."""
    name = _tag(tag, "Tag must be a scalar")
    if tensor.ndim not in (2, 3):
        raise ValueError(f"Tensor must be 3-D or 2-D, got: {shown(tensor.shape)}")
    if sample_rate.size != 1:
        raise ValueError("sample_rate must be rank-0 or contain a single value")
    rate = float(sample_rate.flat[0])
    if not rate > 0:
        raise ValueError("sample_rate must be > 0")
    clips = tensor if tensor.ndim == 3 else tensor[:, :, None]
    summary = proto.Summary()
    for i, clip in enumerate(clips[:max_outputs]):
        audio = summary.value.add(tag=_numbered(name, "audio", max_outputs, i)).audio
        audio.sample_rate, audio.content_type = rate, "audio/wav"
        audio.length_frames, audio.num_channels = clip.shape
        audio.encoded_audio_string = encode_wav(clip, max(round(rate), 1))
    return _serialized(summary)


@op("TensorSummary", shape=scalar)
def tensor_summary(tensor: np.ndarray, *, op: Operation) -> np.ndarray:
    """A tensor under its operation's name."""
    summary = proto.Summary()
    value = summary.value.add(node_name=op.name)
    value.tensor.CopyFrom(write(tensor))
    return _serialized(summary)


@op("TensorSummaryV2", shape=scalar)
def tensor_summary_v2(
    tag: np.ndarray, tensor: np.ndarray, serialized_summary_metadata: np.ndarray
) -> np.ndarray:
    """A tensor with a tag, and what says which plugin of TensorBoard shows it."""
    name = _tag(tag, "tag must be scalar")
    if serialized_summary_metadata.ndim:
        raise ValueError("serialized_summary_metadata must be scalar")
    summary = proto.Summary()
    value = summary.value.add(tag=name)
    value.tensor.CopyFrom(write(np.copy(tensor)))
    value.metadata.SetInParent()
    value.metadata.MergeFromString(cast("bytes", serialized_summary_metadata[()]))
    return _serialized(summary)


@op("MergeSummary", shape=scalar)
def merge_summary(*inputs: np.ndarray) -> np.ndarray:
    """The values of all summaries; no two may have one tag."""
    summary, tags = proto.Summary(), set[str]()
    for content in (
        text for array in inputs for text in cast("list[bytes]", array.ravel().tolist())
    ):
        try:
            values = proto.parse("Summary", content).value
        except ValueError:
            raise ValueError("Could not parse one of the summary inputs") from None
        for value in values:
            if value.tag and value.tag in tags:
                raise ValueError(f"Duplicate tag {value.tag} found in summary inputs ")
            tags.add(value.tag)
        summary.value.extend(values)
    return _serialized(summary)
