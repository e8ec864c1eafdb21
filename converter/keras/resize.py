"""Images in other sizes, by each interpolation that Keras has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph.core.graph import Tensor
from .registry import Call

RESIZES = {
    "nearest": "ResizeNearestNeighbor",
    "bilinear": "ResizeBilinear",
    "bicubic": "ResizeBicubic",
    "area": "ResizeArea",
}
"""TF's operations by Keras' name of an interpolation."""
WINDOWS = ("gaussian", "lanczos3", "lanczos5", "mitchellcubic")
"""Interpolations by a window, of TF's name."""
SMOOTHED = {"bilinear": "triangle", "bicubic": "keyscubic", **{name: name for name in WINDOWS}}
"""The windows of interpolations that antialias makes wider."""
INTERPOLATIONS = (*RESIZES, *WINDOWS)


def interpolation_of(call: Call) -> str:
    """The interpolation of a layer."""
    return call.text("interpolation", *INTERPOLATIONS)


def resize_images(
    call: Call,
    x: Tensor,
    size: Sequence[int] | Tensor,
    interpolation: str,
    antialias: bool = False,
) -> Tensor:
    """Images [batch, height, width, channels] of another height and width."""
    target = size if isinstance(size, Tensor) else call.constant(list(size))
    is_window = interpolation in WINDOWS or (antialias and interpolation in SMOOTHED)
    if not is_window:
        kind = RESIZES[interpolation]
        options: dict[str, Any] = {} if interpolation == "area" else {"half_pixel_centers": True}
        return call.op(kind, x, target, **options)
    call.require(
        not isinstance(size, Tensor), f"the sizes must be known for interpolation '{interpolation}'"
    )
    old = [call.known(n, "height and width") for n in call.shape(x)[1:3]]
    ratios = [np.float32(m) / np.float32(n) for m, n in zip(size, old, strict=True)]
    return call.op(
        "ScaleAndTranslate",
        x,
        target,
        call.constant_of(ratios, np.float32),
        call.constant_of([0, 0], np.float32),
        kernel_type=SMOOTHED[interpolation],
        antialias=antialias,
    )
