"""The kernel of parts of images at random that cover enough of a box."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ....engine.philox import Words
from ...ops.stateless_random import stream_of
from ..hosted import hosted

if TYPE_CHECKING:
    from ....engine.philox import Philox
    from ...core.graph import Operation
    from ..state import State

_EPSILON = 1e-7


class Rectangle(NamedTuple):
    """A part of an image, its ends not included."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def area(self) -> int:
        """How many elements it has."""
        return max(self.bottom - self.top, 0) * max(self.right - self.left, 0)

    def shared(self, other: Rectangle) -> int:
        """How many elements both have."""
        low = map(max, self[:2], other[:2])
        high = map(min, self[2:], other[2:])
        return Rectangle(*low, *high).area


def _crop(
    height: int, width: int, aspect: float, areas: tuple[float, float], words: Words
) -> Rectangle | None:
    """A part of an image of one aspect ratio; None where none has an area in the range."""
    least, most = (part * width * height for part in areas)
    new = round(sqrt(least / aspect))
    highest = round(sqrt(most / aspect))
    if round(highest * aspect) > width:
        highest = int((width + 0.5 - _EPSILON) / aspect)
        if round(highest * aspect) > width:
            highest -= 1
    highest = min(highest, height)
    new = min(new, highest)
    if new < highest:
        new += words.below(highest - new + 1, 32)
    if round(new * aspect) * new < least:
        new += 1
    if round(new * aspect) * new > most:
        new -= 1
    across = round(new * aspect)
    if not least <= new * across <= most or not 0 < across <= width or not 0 < new <= height:
        return None
    top = words.below(height - new, 32) if new < height else 0
    left = words.below(width - across, 32) if across < width else 0
    return Rectangle(top, left, top + new, left + across)


def _boxes(op: Operation, boxes: np.ndarray, height: int, width: int) -> list[Rectangle]:
    """The boxes as parts of the image."""
    rows = boxes.reshape(-1, 4)
    if not len(rows):
        if not op.get_attr("use_image_if_no_bounding_boxes"):
            raise ValueError(
                "No bounding boxes provided as input. One must enable "
                "use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes."
            )
        return [Rectangle(0, 0, height, width)]
    outside = rows[(rows < 0) | (rows > 1)]
    if outside.size:
        raise ValueError(f"All bounding box coordinates must be in [0.0, 1.0]: {outside[0]}")
    scaled = (rows * np.array([height, width, height, width], np.float32)).astype(np.int64)
    return [Rectangle(*row) for row in scaled.tolist()]


@hosted("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2")
def sample_distorted_bounding_box(
    op: Operation,
    state: State,
    image_size: np.ndarray,
    boxes: np.ndarray,
    min_object_covered: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Begin and size of a part of the image, and its corners in parts of the size."""
    return _sampled(op, state.stream(op), image_size, boxes, min_object_covered)


@hosted("StatelessSampleDistortedBoundingBox")
def stateless_sample_distorted_bounding_box(
    op: Operation,
    state: State,
    image_size: np.ndarray,
    boxes: np.ndarray,
    min_object_covered: np.ndarray,
    seed: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As sample_distorted_bounding_box, with numbers that follow from a seed."""
    return _sampled(op, stream_of(seed), image_size, boxes, min_object_covered)


def _sampled(
    op: Operation,
    stream: Philox,
    image_size: np.ndarray,
    boxes: np.ndarray,
    min_object_covered: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    height, width = (int(size) for size in image_size[:2])
    covered = (
        cast("float", op.get_attr("min_object_covered"))
        if min_object_covered is None
        else float(min_object_covered)
    )
    attempts = cast("int", op.get_attr("max_attempts"))
    lowest, highest = cast("list[float]", op.get_attr("aspect_ratio_range"))
    areas = cast("list[float]", op.get_attr("area_range"))
    objects = _boxes(op, boxes, height, width)
    words = Words(stream.advanced(0))
    stream.skip(attempts)
    part = Rectangle(0, 0, height, width)
    for _ in range(attempts):
        aspect = words.single() * (highest - lowest) + lowest
        crop = _crop(height, width, aspect, (areas[0], areas[1]), words)
        if crop and any(crop.shared(o) >= covered * o.area for o in objects if o.area):
            part = crop
            break
    dtype = image_size.dtype
    begin = np.array([part.top, part.left, 0], dtype)
    size = np.array([part.bottom - part.top, part.right - part.left, -1], dtype)
    corners = np.array(part, np.float32) / np.array([height, width] * 2, np.float32)
    return begin, size, corners.reshape(1, 1, 4)
