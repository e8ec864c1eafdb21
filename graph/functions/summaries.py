"""`tf.summary`: operations whose results an event file keeps for TensorBoard."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema import proto
from ..core.arrays import type_name
from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.scopes import GraphKeys, add_to_collections, get_collection, name_scope
from .array.casting import cast as cast_to

if TYPE_CHECKING:
    from ...schema.proto import Message
    from ..core.graph import Tensor
    from ..core.typing import TensorLike

Collections = Iterable[str] | None
_ILLEGAL = re.compile(r"[^-/\w.]")


def clean_tag(name: str | None) -> str | None:
    """A name with "_" for each character that names of operations may not have."""
    if name is None:
        return None
    tag = _ILLEGAL.sub("_", name).lstrip("/")
    if tag != name:
        logging.getLogger("flatlite").info(
            "Summary name %s is illegal; using %s instead.", name, tag
        )
    return tag


@contextlib.contextmanager
def summary_scope(
    name: str, family: str | None, values: Sequence[object], default_name: str | None = None
) -> Generator[tuple[str, str]]:
    """The tag of a summary, and the name scope it is made in."""
    name, family = clean_tag(name) or "", clean_tag(family)
    scope_name = name if family is None else f"{family}/{name}"
    with name_scope(scope_name, default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def _collected(summary: Tensor, collections: Collections, default: Sequence[str] = ()) -> Tensor:
    add_to_collections(list(default if collections is None else collections), summary)
    return summary


def scalar(
    name: str, tensor: TensorLike, collections: Collections = None, family: str | None = None
) -> Tensor:
    """A summary of one number.

    Args:
        name: Of the operation; in its scope it is the tag.
        tensor: A real number.
        collections: Those it is added to; GraphKeys.SUMMARIES by default.
        family: What comes before the tag.

    Returns a serialized Summary message, as a string tensor.
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        summary = ops.ScalarSummary(tag, tensor, name=scope)
    return _collected(summary, collections, [GraphKeys.SUMMARIES])


def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: Collections = None,
    family: str | None = None,
) -> Tensor:
    """A summary of images.

    Args:
        name: Of the operation; the tags are `name/image`, or `name/image/0` and so on.
        tensor: [batch, height, width, 1, 3 or 4]; of uint8, or of floating point: those are scaled
            for each image to 0 to 255, where 0 stays 0, or becomes 128 if some are negative.
        max_outputs: How many images at most.
        collections: Those it is added to; GraphKeys.SUMMARIES by default.
        family: What comes before the tag.
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        summary = ops.ImageSummary(tag, tensor, max_images=max_outputs, name=scope)
    return _collected(summary, collections, [GraphKeys.SUMMARIES])


def histogram(
    name: str, values: TensorLike, collections: Collections = None, family: str | None = None
) -> Tensor:
    """A summary of how many of the values lie where.

    Args:
        name: Of the operation; in its scope it is the tag.
        values: Real numbers, of any shape; InvalidArgumentError when one is not finite.
        collections: Those it is added to; GraphKeys.SUMMARIES by default.
        family: What comes before the tag.
    """
    with summary_scope(name, family, [values], "HistogramSummary") as (tag, scope):
        summary = ops.HistogramSummary(tag, values, name=scope)
    return _collected(summary, collections, [GraphKeys.SUMMARIES])


def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Collections = None,
    family: str | None = None,
) -> Tensor:
    """A summary of sound.

    Args:
        name: Of the operation; the tags are `name/audio`, or `name/audio/0` and so on.
        tensor: [batch, frames] or [batch, frames, channels] numbers in [-1, 1].
        sample_rate: Frames per second.
        max_outputs: How many clips at most.
        collections: Those it is added to; GraphKeys.SUMMARIES by default.
        family: What comes before the tag.
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, np.float32, "sample_rate")
        summary = ops.AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=scope)
    return _collected(summary, collections, [GraphKeys.SUMMARIES])


def text(name: str, tensor: Tensor, collections: Collections = None) -> Tensor:
    """A summary of strings, which TensorBoard shows as Markdown.

    Raises ValueError when the tensor is not of strings.
    """
    if tensor.dtype.kind != "O":
        raise ValueError(
            f"Expected tensor {tensor.name} to have dtype string, "
            f"got <dtype: '{type_name(tensor.dtype)}'>"
        )
    metadata = proto.SummaryMetadata()
    metadata.plugin_data.plugin_name = "text"
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def tensor_summary(
    name: str,
    tensor: TensorLike,
    summary_description: str | None = None,
    collections: Collections = None,
    summary_metadata: Message | None = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A summary of any tensor.

    Args:
        name: Of the operation; in its scope it is the tag.
        tensor: Of any type and shape.
        summary_description: What TensorBoard says of it.
        collections: Those it is added to; GraphKeys.SUMMARIES by default.
        summary_metadata: A SummaryMetadata that says which plugin of TensorBoard shows it.
        family: What comes before the tag.
        display_name: Its name in TensorBoard.
    """
    metadata = proto.SummaryMetadata()
    if summary_metadata is not None:
        metadata.CopyFrom(summary_metadata)
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    content = metadata.SerializeToString(deterministic=True)
    with summary_scope(name, family, [tensor]) as (tag, scope):
        summary = ops.TensorSummaryV2(tag, tensor, content, name=scope)
    return _collected(summary, collections, [GraphKeys.SUMMARIES])


def merge(
    inputs: Sequence[TensorLike], collections: Collections = None, name: str | None = None
) -> Tensor:
    """One summary with the values of `inputs`, a list of summaries.

    Raises InvalidArgumentError, when it runs, when two have one tag.
    """
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        summary = ops.MergeSummary(list(inputs), name=name)
    return _collected(summary, collections)


def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """One summary of all in a collection, of `scope` alone if it is given; None without any."""
    summaries = cast("list[Tensor]", get_collection(key, scope))
    return merge(summaries, name=name) if summaries else None


def all_v2_summary_ops() -> list[object]:
    """Summaries that TensorFlow 2's functions have put into this graph: there are none."""
    return []


def get_summary_description(node_def: Message) -> Message:
    """The SummaryDescription that a TensorSummary node carries as JSON.

    Raises ValueError for a node of another type.
    """
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    from google.protobuf import json_format

    content = node_def.attr["description"].s.decode()
    return json_format.Parse(content, proto.SummaryDescription())


def scalar_summary(
    tags: TensorLike,
    values: TensorLike,
    collections: Collections = None,
    name: str | None = None,
) -> Tensor:
    """A summary of a number for each tag.

    Args:
        tags: Strings of any shape.
        values: Real numbers of that shape.
        collections: Where it is put; SUMMARIES by default.
        name: Of the operation.
    """
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        summary = ops.ScalarSummary(tags, cast_to(values, np.float32), name=scope)
    return _collected(summary, collections, [GraphKeys.SUMMARIES])


def histogram_summary(
    tag: TensorLike,
    values: TensorLike,
    collections: Collections = None,
    name: str | None = None,
) -> Tensor:
    """A summary of how many of the values lie where.

    Args:
        tag: A scalar of strings.
        values: Real numbers of any shape.
        collections: Where it is put; SUMMARIES by default.
        name: Of the operation.

    Raises InvalidArgumentError, when it runs, for values that are not finite.
    """
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        summary = ops.HistogramSummary(tag, values, name=scope)
    return _collected(summary, collections, [GraphKeys.SUMMARIES])


def image_summary(
    tag: TensorLike,
    tensor: TensorLike,
    max_images: int = 3,
    collections: Collections = None,
    name: str | None = None,
) -> Tensor:
    """A summary of images under a tag; see `image`.

    Args:
        tag: A scalar of strings.
        tensor: [batch, height, width, 1, 3 or 4 channels], uint8 or real floats.
        max_images: How many of a batch at most.
        collections: Where it is put; SUMMARIES by default.
        name: Of the operation.
    """
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        summary = ops.ImageSummary(tag, tensor, max_images=max_images, name=scope)
    return _collected(summary, collections, [GraphKeys.SUMMARIES])


def audio_summary(
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Collections = None,
    name: str | None = None,
) -> Tensor:
    """A summary of sound under a tag; see `audio`.

    Args:
        tag: A scalar of strings.
        tensor: float32 [batch, samples] or [batch, samples, channels], in [-1, 1].
        sample_rate: Samples per second, a float32 scalar.
        max_outputs: How many of a batch at most.
        collections: Where it is put; SUMMARIES by default.
        name: Of the operation.
    """
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = convert_to_tensor(sample_rate, np.float32, "sample_rate")
        summary = ops.AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=scope)
    return _collected(summary, collections, [GraphKeys.SUMMARIES])


def merge_summary(
    inputs: Sequence[TensorLike], collections: Collections = None, name: str | None = None
) -> Tensor:
    """One summary with the values of `inputs`, a list of summaries, scalars of strings.

    Raises InvalidArgumentError, when it runs, when two have one tag.
    """
    return merge(inputs, collections, name)


def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Tensor | None:
    """One summary of all in a collection; None without any."""
    return merge_all(key)
