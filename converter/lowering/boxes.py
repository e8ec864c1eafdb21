"""Boxes as TFLite's NON_MAX_SUPPRESSION takes them, where sources suppress otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .moves import as_type, int32s, positions, reshaped

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor

TINY = np.finfo(np.float32).tiny
FAR = -(2.0**24)  # where coordinates are whole numbers still, and no image is


def with_areas(boxes: Tensor, b: Builder) -> Tensor:
    """Boxes [..., n, 4] of which those without an area are others far away, each at its place.

    Those overlap nothing, and LiteRT, which leaves a box out once it overlaps itself, would choose
    the same one again and again.
    """
    axis = len(boxes.dims) - 2
    zeros, all_of = [0] * (axis + 1), [-1] * (axis + 1)
    low, high = (b.SLICE(boxes, int32s([*zeros, i]), int32s([*all_of, 2])) for i in (0, 2))
    area = b.REDUCE_PROD(b.SUB(high, low), int32s([axis + 1]), keep_dims=True)
    row_numbers = reshaped(as_type(positions(boxes, axis, b), np.float32, b), (-1, 1), b)
    corners = np.array([[FAR, FAR, FAR + 1, FAR + 1]], np.float32)
    if row_numbers.value is not None:
        far = b.constant(row_numbers.value * np.float32(2) + corners)
    else:
        far = b.ADD(b.MUL(row_numbers, np.float32(2)), corners)
    return b.SELECT_V2(b.EQUAL(area, np.float32(0)), far, boxes)


def beyond(overlap: Tensor, b: Builder) -> Tensor:
    """The next larger overlap: TFLite leaves boxes out from a threshold on, sources above it."""
    if overlap.value is not None:
        return b.constant(np.clip(np.nextafter(overlap.value, np.float32(2)), TINY, np.float32(1)))
    larger = b.MUL(overlap, np.float32(1 + np.finfo(np.float32).eps))
    return b.MINIMUM(b.MAXIMUM(larger, TINY), np.float32(1))
