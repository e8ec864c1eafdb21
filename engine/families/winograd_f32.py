"""Convolutions of 3x3 in float32 by fewer products (kernels/float32/winograd_f32.py).

What is infinite or nan reaches all four results of a tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant, zeros

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Clamp, Sliding

ELEMENTS = 16  # of a transformed tile
_MIN_CHANNELS = 16  # of inputs and results, for which fewer products make up for the transforms
_MIN_TILES = 32  # for which they make up for filters that are 16 / 9 as large
_BLOCK_BYTES = 2 << 20  # of transformed inputs and sums at a time
_PAGE = 4096  # bytes: matrices a multiple of it apart lie in the same few places of a cache


def fits(weights: Buffer, out: Buffer, sliding: Sliding) -> bool:
    """Whether the kernels support the convolution of one group, and it is worth the transforms."""
    batch, height, width, n = out.shape
    return (
        weights.is_constant
        and weights.shape[1:3] == (3, 3)
        and tuple(sliding.stride) == tuple(sliding.dilation) == (1, 1)
        and min(weights.shape[3], n) >= _MIN_CHANNELS
        and batch * ceil(height / 2) * ceil(width / 2) >= _MIN_TILES
    )


def convolution(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    clamp: Clamp,
) -> None:
    """`gemm.conv2d` with filters of 3x3, without steps."""
    from . import gemm_f32  # winograd_i8.py needs the tiles alone

    batch, height, width, n = out.shape
    channels = weights.shape[3]
    tiles_h, tiles_w = ceil(height / 2), ceil(width / 2)
    filters = arena((ELEMENTS, n, channels), np.float32)
    program.call("winograd_f32.filters", weights, filters, split=n)
    panels = gemm_f32.pack(program, filters, None, by_columns=True)
    each = constant(np.arange(ELEMENTS, dtype=np.int32))
    no_bias = zeros((n,), np.float32)
    for begin, rows, tiles in blocks(batch * tiles_h, tiles_w, 4 * channels, 4 * n):
        inputs = arena((ELEMENTS, tiles, channels), np.float32)
        program.call(
            "winograd_f32.inputs",
            x,
            zeros((channels,), np.float32),
            inputs,
            split=rows,
            tiles_h=tiles_h,
            tiles_w=tiles_w,
            top=sliding.before[0],
            left=sliding.before[1],
            begin=begin,
        )
        sums = arena((ELEMENTS, tiles, n), np.float32)
        gemm_f32.matmul(program, inputs, panels, each, each, sums, (-np.inf, np.inf))
        program.call(
            "winograd_f32.results",
            sums,
            no_bias if bias is None else bias.ravel(),
            out,
            split=rows,
            low=clamp[0],
            high=clamp[1],
            begin=begin,
        )


def blocks(
    rows: int, tiles_w: int, input_bytes: int, sum_bytes: int
) -> Iterator[tuple[int, int, int]]:
    """(first row of tiles, rows, tiles there is room for) of parts whose matrices stay near.

    `input_bytes` and `sum_bytes` are those of the channels of one element of a tile.
    """
    row_bytes = ELEMENTS * tiles_w * (input_bytes + sum_bytes)
    count = max(ceil(_MIN_TILES / tiles_w), _BLOCK_BYTES // row_bytes)
    count = ceil(rows / ceil(rows / count))
    for begin in range(0, rows, count):
        n_rows = min(count, rows - begin)
        tiles = n_rows * tiles_w
        yield begin, n_rows, tiles + (tiles * input_bytes % _PAGE == 0)
