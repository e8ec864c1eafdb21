"""Boxes of images: the best of those that overlap, drawn, cut out."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.named_results import with_names
from ...core.scopes import name_scope
from ..arguments import one_of
from ..flow.functional import map_fn
from ..rows import functions

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike

ONE_TO_ONE = """
extract_patches ExtractImagePatches images sizes:ksizes strides rates padding \
    # The elements of each window in a row, [batch, rows, columns, sizes times channels]
"""
globals().update(functions(ONE_TO_ONE, __name__))
LOWEST = float("-inf")


def _float(number: TensorLike) -> Tensor:
    return convert_to_tensor(number, np.float32)


def _as_float(tensor: Tensor) -> Tensor:
    if tensor.dtype == np.float32:
        return tensor
    return ops.Cast(tensor, DstT=np.dtype(np.float32))


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike | None = None,
    crop_size: TensorLike | None = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: TensorLike | None = None,
) -> Tensor:
    """Boxes cut out of images and resized.

    Args:
        image: [batch, height, width, channels].
        boxes: [boxes, 4] corners (y, x, y, x), 1 being the last element; the other way round they
            flip the part.
        box_ind: [boxes] int32, the image of each; `box_indices` is its newer name.
        crop_size: Two numbers, height and width.
        method: "bilinear" or "nearest".
        extrapolation_value: What lies outside of an image.
        name: Of the operation.
        box_indices: Another name of `box_ind`.

    Returns [boxes, height, width, channels] float32.
    """
    return ops.CropAndResize(
        image,
        boxes,
        one_of("box_indices", box_indices, "box_ind", box_ind),
        crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )


def draw_bounding_boxes(
    images: TensorLike,
    boxes: TensorLike,
    name: str | None = None,
    colors: TensorLike | None = None,
) -> Tensor:
    """Images with the edges of boxes.

    Args:
        images: [batch, height, width, channels] floats.
        boxes: [batch, boxes, 4] corners (y, x, y, x) in parts of the size.
        name: Of the operation.
        colors: [colours, channels] that the boxes take in turn; ten of TensorFlow's without.
    """
    if colors is None:
        return ops.DrawBoundingBoxes(images, boxes, name=name)
    return ops.DrawBoundingBoxesV2(images, boxes, colors, name=name)


def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = LOWEST,
    name: str | None = None,
) -> Tensor:
    """The best boxes, none of which overlaps a better one by more than a threshold.

    Args:
        boxes: [boxes, 4] corners (y, x, y, x), any two that are opposite.
        scores: [boxes].
        max_output_size: How many boxes there are at most.
        iou_threshold: Intersection by union from which boxes count as the same one.
        score_threshold: Boxes of lower scores are left out.
        name: Of the operation.

    Returns their places, the best first: int32 [at most max_output_size].
    """
    with name_scope(name, "non_max_suppression"):
        thresholds = _float(iou_threshold), _float(score_threshold)
        return ops.NonMaxSuppressionV3(boxes, scores, max_output_size, *thresholds)


def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = LOWEST,
    soft_nms_sigma: TensorLike = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`non_max_suppression` and the scores; with a sigma, scores of boxes that overlap shrink.

    Args:
        boxes: float32 [boxes, 4], corners (y, x, y, x).
        scores: float32 [boxes].
        max_output_size: How many are taken at most, an int32 scalar.
        iou_threshold: A box that overlaps a better one by a larger share is left out.
        score_threshold: Boxes of a lower score are left out.
        soft_nms_sigma: Scores are multiplied by exp(-iou**2 / (2 sigma)); 0 for none.
        name: Of the operation.

    Returns int32 [taken], the best first, and their scores.

    Source: Bodla et al., Soft-NMS: Improving Object Detection With One Line of Code, 2017.
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        indices, chosen, _ = ops.NonMaxSuppressionV5(
            boxes,
            scores,
            max_output_size,
            _float(iou_threshold),
            _float(score_threshold),
            _float(soft_nms_sigma),
            pad_to_max_output_size=False,
        )
        return indices, chosen


def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = LOWEST,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """`non_max_suppression` filled up with 0, and how many boxes count; of several images, too.

    Args:
        boxes: [..., boxes, 4], of any real type.
        scores: [..., boxes], of the type of `score_threshold`: float32 where that is a number.
        max_output_size, iou_threshold, score_threshold, name: See `non_max_suppression`.
        pad_to_max_output_size: Whether the places are filled up; a must for several images.
        sorted_input, canonicalized_coordinates, tile_size: Taken for TensorFlow's sake: what they
            promise spares time there, and gives the same.

    Raises ValueError for several images without padding, TypeError for scores of another type.
    """
    with name_scope(name, "non_max_suppression_padded"):
        all_boxes, all_scores = convert_to_tensor(boxes), convert_to_tensor(scores)
        threshold = convert_to_tensor(score_threshold)
        if all_scores.dtype != threshold.dtype:
            raise TypeError(
                f"Input 'y' of 'Greater' Op has type {threshold.dtype.name} that does not match "
                f"type {all_scores.dtype.name} of argument 'x'."
            )
        all_boxes, all_scores, threshold = map(_as_float, (all_boxes, all_scores, threshold))
        rank = None if all_boxes.sizes is None else len(all_boxes.sizes)
        if not pad_to_max_output_size and rank is not None and rank > 2:
            raise ValueError(
                f"'pad_to_max_output_size' (value {pad_to_max_output_size}) must be True for "
                "batched input"
            )

        def best(pair: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            indices, count = ops.NonMaxSuppressionV4(
                *pair,
                max_output_size,
                _float(iou_threshold),
                threshold,
                pad_to_max_output_size=pad_to_max_output_size,
            )
            return indices, count

        if rank is None or rank <= 2:
            return best((all_boxes, all_scores))
        batch = ops.Shape(all_boxes)[:-2]
        flat = (
            ops.Reshape(all_boxes, ops.ConcatV2([[-1], ops.Shape(all_boxes)[-2:]], np.int32(0))),
            ops.Reshape(all_scores, ops.ConcatV2([[-1], ops.Shape(all_scores)[-1:]], np.int32(0))),
        )
        mapped = map_fn(best, flat, dtype=(np.int32, np.int32))
        indices, counts = cast("tuple[Tensor, Tensor]", mapped)
        size = ops.ExpandDims(convert_to_tensor(max_output_size, np.int32), np.int32(0))
        return (
            ops.Reshape(indices, ops.ConcatV2([batch, size], np.int32(0))),
            ops.Reshape(counts, batch),
        )


def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = LOWEST,
    name: str | None = None,
) -> Tensor:
    """`non_max_suppression` by a matrix of how much each box overlaps each.

    Args:
        overlaps: float32 [boxes, boxes].
        scores: float32 [boxes].
        max_output_size: How many are taken at most, an int32 scalar.
        overlap_threshold: A box that overlaps a better one by more is left out.
        score_threshold: Boxes of a lower score are left out.
        name: Of the operation.

    Returns int32 [taken], the best first.
    """
    with name_scope(name, "non_max_suppression_overlaps"):
        thresholds = _float(overlap_threshold), _float(score_threshold)
        return ops.NonMaxSuppressionWithOverlaps(overlaps, scores, max_output_size, *thresholds)


@with_names("CombinedNonMaxSuppression")
def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: TensorLike,
    max_total_size: TensorLike,
    iou_threshold: float = 0.5,
    score_threshold: float = LOWEST,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`non_max_suppression` of each class of each image, and the best of these.

    Args:
        boxes: [batch, boxes, 1 or classes, 4] corners (y, x, y, x).
        scores: [batch, boxes, classes].
        max_output_size_per_class: How many boxes of a class there are at most.
        max_total_size: How many there are of an image.
        iou_threshold, score_threshold: See `non_max_suppression`.
        pad_per_class: Whether there are at most as many rows as all classes may have.
        clip_boxes: Whether corners are held within [0, 1].
        name: Of the operation.

    Returns boxes [batch, rows, 4], scores and classes [batch, rows], filled up with 0, and how many
    rows of each image count.
    """
    with name_scope(name, "combined_non_max_suppression"):
        max_total_size = convert_to_tensor(max_total_size, name="max_total_size")
        results = ops.CombinedNonMaxSuppression(
            boxes,
            scores,
            max_output_size_per_class,
            max_total_size,
            _float(iou_threshold),
            _float(score_threshold),
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )
        return cast("tuple[Tensor, Tensor, Tensor, Tensor]", tuple(results))


def extract_glimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """A window of each image around a place, filled with noise where it leaves the image.

    Args:
        input: [batch, height, width, channels] float32.
        size: Two numbers, height and width of the windows.
        offsets: [batch, 2] their middles (y, x).
        centered: Whether (0, 0) is the middle of the image, and not its first element.
        normalized: Whether offsets are parts of the size: [-1, 1] when centered, else [0, 1].
        uniform_noise: Whether the noise is uniform, and not normal.
        name: Of the operation.
    """
    return ops.ExtractGlimpse(
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=uniform_noise,
        name=name,
    )


def extract_glimpse_v2(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """TF2's `extract_glimpse`: windows of `size` of images around `offsets`.

    Args:
        input: float32 [batch, height, width, channels].
        size: int32 [2], height and width of a window, above 0.
        offsets: float32 [batch, 2], their centres (y, x).
        centered, normalized, name: Of `extract_glimpse`.
        noise: What stands outside of images: "uniform", "gaussian" or "zero".
    """
    return ops.ExtractGlimpseV2(
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=False,
        noise=noise,
        name=name,
    )
