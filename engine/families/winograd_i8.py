"""Convolutions of 3x3 in int8 by fewer products (kernels/int8/winograd_i8.py)."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..build.target import multiplies_bytes
from ..plan.buffer import Buffer, arena, constant
from ..tiling import PANEL, TILE_LANES
from . import gemm_i8
from .multipliers import value_of
from .quantization import Hybrid, Scheme
from .winograd_f32 import ELEMENTS, blocks
from .winograd_f32 import fits as fits_tiles

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Sliding

_MAX_CHANNELS = 1024  # whose sums, four times as large, are int32
_ROWS = 48  # tiles of an item of the products


def fits(
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    scheme: Scheme,
    sliding: Sliding,
) -> bool:
    """Whether the kernels support the convolution of one group, and are faster."""
    channels = weights.shape[3]
    is_constant = bias is None or bias.is_constant
    return (
        not multiplies_bytes()
        and fits_tiles(weights, out, sliding)
        and is_constant
        and weights.dtype == np.int8
        and channels % TILE_LANES == 0
        and channels <= _MAX_CHANNELS
        and gemm_i8.fits(x, weights, bias, out, scheme)
        and scheme.zero_points[1] == 0
        and (x.shape[0] == 1 or not isinstance(scheme, Hybrid))
    )


def convolution(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    scheme: Scheme,
) -> None:
    """`quantized_gemm.conv2d` with filters of 3x3, without steps."""
    batch, height, width, n = out.shape
    channels, panels = weights.shape[3], ceil(n / PANEL)
    tiles_h, tiles_w = ceil(height / 2), ceil(width / 2)
    packed = arena((ELEMENTS, panels, PANEL * channels), np.int16)
    program.call("winograd_i8.filters", weights, packed, split=panels)
    operand = scheme.int8_input(program, x, 1, channels)
    zero, padding = operand.zero_point, None
    if zero is None:
        scale, zero_buffer, padding = operand.row_terms
        scaled = (scale, zero_buffer)
    else:
        scaled, zero_buffer = (), constant(np.array([zero], np.int32))
        padding = constant(np.full(channels, zero, np.int8))
    start = np.zeros(panels * PANEL, np.int32)
    if bias is None:
        bias = constant(np.zeros(n, np.float32 if scaled else np.int32))
    elif not scaled:
        start[:n] = value_of(bias).ravel()
    zeros = -1 if zero is None else zero, 0
    terms, numbers = gemm_i8.result_terms(scheme, bias, 1, n, out.dtype, zeros, 9 * channels)
    start_buffer = constant(start)
    for begin, rows, tiles in blocks(batch * tiles_h, tiles_w, 2 * channels, 4 * panels * PANEL):
        inputs = arena((ELEMENTS, tiles, channels), np.int16)
        program.call(
            "winograd_i8.inputs",
            operand.values.reshape(x.shape),
            padding.ravel(),
            zero_buffer,
            inputs,
            split=rows,
            tiles_h=tiles_h,
            tiles_w=tiles_w,
            top=sliding.before[0],
            left=sliding.before[1],
            begin=begin,
        )
        sums = arena((ELEMENTS, tiles, panels * PANEL), np.int32)
        program.call(
            "winograd_i8.products",
            inputs,
            packed,
            sums,
            split=ELEMENTS * ceil(tiles / _ROWS),
            n=n,
            rows=_ROWS,
        )
        program.call(
            "winograd_i8.results_float32" if scaled else "winograd_i8.results",
            sums,
            start_buffer,
            terms.reshape(terms.shape[1:]),
            *scaled,
            out,
            split=rows,
            begin=begin,
            **numbers,
        )
