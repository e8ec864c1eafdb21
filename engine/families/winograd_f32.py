"""Convolutions of 3x3 in float32 by fewer products (kernels/float32/winograd_f32.py)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant, zeros
from . import gemm_f32
from .parameters import Clamp

if TYPE_CHECKING:
    from ..plan.program import Program

ELEMENTS = 16  # of a transformed tile
_MIN_CHANNELS = 16  # of inputs and results, for which fewer products make up for the transforms
_MIN_TILES = 32  # for which they make up for filters that are 16 / 9 as large
PAGE = 4096  # bytes: matrices a multiple of it apart lie in the same few places of a cache


def fits(weights: Buffer, out: Buffer, stride: Sequence[int], dilation: Sequence[int]) -> bool:
    """Whether the kernels support the convolution of one group, and it is worth the transforms."""
    batch, height, width, n = out.shape
    return (
        weights.is_constant
        and weights.shape[1:3] == (3, 3)
        and tuple(stride) == tuple(dilation) == (1, 1)
        and min(weights.shape[3], n) >= _MIN_CHANNELS
        and batch * ceil(height / 2) * ceil(width / 2) >= _MIN_TILES
    )


def convolution(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    *,
    before: Sequence[int],
    clamp: Clamp,
) -> None:
    """`gemm.conv2d` with filters of 3x3, without steps."""
    batch, height, width, n = out.shape
    channels = weights.shape[3]
    tiles_h, tiles_w = ceil(height / 2), ceil(width / 2)
    rows = batch * tiles_h * tiles_w
    rows += rows * 4 * channels % PAGE == 0
    filters = arena((ELEMENTS, n, channels), np.float32)
    program.call("winograd_f32.filters", weights, filters, split=n)
    panels = gemm_f32.pack(program, filters, None, by_columns=True)
    inputs = arena((ELEMENTS, rows, channels), np.float32)
    program.call(
        "winograd_f32.inputs",
        x,
        zeros((channels,), np.float32),
        inputs,
        split=batch * tiles_h,
        tiles_h=tiles_h,
        tiles_w=tiles_w,
        top=before[0],
        left=before[1],
    )
    sums = arena((ELEMENTS, rows, n), np.float32)
    each = constant(np.arange(ELEMENTS, dtype=np.int32))
    gemm_f32.matmul(program, inputs, panels, each, each, sums, (-np.inf, np.inf))
    program.call(
        "winograd_f32.results",
        sums,
        zeros((n,), np.float32) if bias is None else bias.ravel(),
        out,
        split=batch * tiles_h,
        low=clamp[0],
        high=clamp[1],
    )
