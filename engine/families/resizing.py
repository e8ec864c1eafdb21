"""Resizing of images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, constant

if TYPE_CHECKING:
    from ..plan.program import Program


def bilinear(program: Program, x: Buffer, out: Buffer, scales: Sequence[float], half: bool) -> None:
    """out = means of the four pixels of `x` around, both float32 [batch, height, width, channels].

    Args:
        program: where the instruction goes.
        x: the images; each must have an element.
        out: the images in their new size.
        scales: steps in `x` for one step in `out`, in height and width.
        half_pixel_centers: whether the coordinate of a pixel is that of its centre.
    """
    column = 4 * x.shape[3]
    rows, below = _around(out.shape[1], scales[0], half, x.shape[1], column * x.shape[2])
    columns, right = _around(out.shape[2], scales[1], half, x.shape[2], column)
    split = out.shape[0] * out.shape[1]
    program.call("resize_f32.bilinear", x, rows, below, columns, right, out, split=split)


@lru_cache(64)
def _around(n: int, scale: float, half: bool, size: int, step: int) -> tuple[Buffer, Buffer]:
    """Where the pixels before and after each of `n` begin, and how much those after count.

    In the arithmetic of TFLite's reference kernel, which is float32.
    """
    value = np.arange(n, dtype=np.float32)
    value = (
        (value + np.float32(0.5)) * np.float32(scale) - np.float32(0.5)
        if half
        else (value * np.float32(scale))
    )
    before = np.clip(np.floor(value).astype(np.int64), 0, size - 1)
    after = np.minimum(np.ceil(value).astype(np.int64), size - 1)
    weights = (value - before.astype(np.float32)).astype(np.float32)
    return constant(np.stack([before, after]) * step), constant(weights)
