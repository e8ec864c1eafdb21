"""Images changed at random, as training sets are made larger."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.named_results import with_names
from ...core.scopes import name_scope
from ..array.casting import cast as cast_to
from ..flow.conditional import cond
from ..random import op_seeds, random_uniform
from ..rows import unary
from . import colors, cropping, files
from .shapes import image_of

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike

MAX_QUALITY = 100


def _flipped(
    image: TensorLike, seed: int | None, scope: str, flip: Callable[[TensorLike], Tensor]
) -> Tensor:
    with name_scope(None, scope, [image]):
        x = image_of(image)
        if x.sizes is not None and len(x.sizes) == 4:
            drawn = random_uniform(ops.Shape(x)[:1], 0, 1.0, seed=seed)
            flips = ops.Reshape(ops.Round(drawn), [-1, 1, 1, 1])
            chosen = cast_to(flips, x.dtype)
            return chosen * flip(x) + (ops.OnesLike(chosen) - chosen) * x
        is_flipped = ops.Less(random_uniform([], 0, 1.0, seed=seed), np.float32(0.5))
        return cast("Tensor", cond(is_flipped, lambda: flip(x), lambda: x))


def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Each image flipped or not, both as likely; ValueError for another rank than 3 or 4."""
    return _flipped(image, seed, "random_flip_left_right", cropping.flip_left_right)


def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Each image flipped or not, both as likely; ValueError for another rank than 3 or 4."""
    return _flipped(image, seed, "random_flip_up_down", cropping.flip_up_down)


@unary
def random_brightness(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """`adjust_brightness` of `image` by a delta in [-max_delta, max_delta), drawn in each run.

    Raises ValueError for a negative `max_delta`.
    """
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    delta = random_uniform([], -max_delta, max_delta, seed=seed)
    return colors.adjust_brightness(image, delta)


def _factor(lower: float, upper: float, seed: int | None) -> Tensor:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return random_uniform([], lower, upper, seed=seed)


def random_contrast(
    image: TensorLike, lower: float, upper: float, seed: int | None = None
) -> Tensor:
    """`adjust_contrast` of `image` [..., height, width, channels] by a factor in [lower, upper).

    Raises ValueError unless 0 <= lower < upper.
    """
    return colors.adjust_contrast(image, _factor(lower, upper, seed))


def random_saturation(
    image: TensorLike, lower: float, upper: float, seed: int | None = None
) -> Tensor:
    """`adjust_saturation` of `image` [..., 3] by a factor in [lower, upper), drawn in each run.

    Raises ValueError unless 0 <= lower < upper.
    """
    return colors.adjust_saturation(image, _factor(lower, upper, seed))


def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """`adjust_hue` of `image` [..., 3] by a delta in [-max_delta, max_delta), drawn in each run.

    Raises ValueError when `max_delta` is not in [0, 0.5].
    """
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return colors.adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """`adjust_jpeg_quality` of `image` by a quality in [min_jpeg_quality, max_jpeg_quality).

    Args:
        image: [height, width, 1 or 3], integers or real floats.
        min_jpeg_quality, max_jpeg_quality: From 0 to 100.
        seed: Of the draws.

    Raises ValueError for other qualities.
    """
    limits = min_jpeg_quality, max_jpeg_quality
    if min(limits) < 0 or max(limits) > MAX_QUALITY:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_uniform([], *limits, seed=seed, dtype=np.int32)
    return files.adjust_jpeg_quality(image, quality)


@with_names("SampleDistortedBoundingBoxV2")
def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: tuple[float, float] | None = None,
    area_range: tuple[float, float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """A part of an image, at random, that covers enough of one of its boxes.

    Args:
        image_size: Height, width and channels.
        bounding_boxes: [batch, boxes, 4] corners (y, x, y, x) in parts of the size.
        seed, seed2: Of the draws; other ones in each Session when both are 0.
        min_object_covered: How much of a box the part must cover.
        aspect_ratio_range: Width by height of the part, at least and at most; (0.75, 1.33).
        area_range: How much of the image it is, at least and at most; (0.05, 1).
        max_attempts: After how many draws it is the whole image; 100.
        use_image_if_no_bounding_boxes: Whether without boxes the image is the box. Else that is an
            InvalidArgumentError when it runs.
        name: Of the operation.

    Returns begin and size for `tf.slice`, and a box [1, 1, 4] to draw.
    """
    with name_scope(name, "sample_distorted_bounding_box", [image_size, bounding_boxes]):
        results = ops.SampleDistortedBoundingBoxV2(
            image_size,
            bounding_boxes,
            min_object_covered,
            aspect_ratio_range=aspect_ratio_range or (0.75, 1.33),
            area_range=area_range or (0.05, 1.0),
            max_attempts=100 if max_attempts is None else max_attempts,
            use_image_if_no_bounding_boxes=bool(use_image_if_no_bounding_boxes),
            seed=seed or 0,
            seed2=seed2 or 0,
        )
        return cast("tuple[Tensor, Tensor, Tensor]", tuple(results))


@with_names("SampleDistortedBoundingBoxV2")
def sample_distorted_bounding_box_v2(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int = 0,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: tuple[float, float] | None = None,
    area_range: tuple[float, float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """TF2's `sample_distorted_bounding_box`, whose second seed is the graph's.

    Args:
        image_size: Height, width and channels: [3], integers.
        bounding_boxes: float32 [batch, boxes, 4], corners (y, x, y, x) in parts of the size.
        seed: Of the draws; other ones in each Session when it is 0.
        min_object_covered: How much of a box the part must cover, a float32 scalar.
        aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes, name: Of
            `sample_distorted_bounding_box`.

    Returns begin and size for `tf.slice`, and a box [1, 1, 4] to draw.
    """
    seeds = op_seeds(seed) if seed else {}
    return sample_distorted_bounding_box(
        image_size,
        bounding_boxes,
        min_object_covered=min_object_covered,
        aspect_ratio_range=aspect_ratio_range,
        area_range=area_range,
        max_attempts=max_attempts,
        use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
        name=name,
        **seeds,
    )
