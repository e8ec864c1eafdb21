"""Products with weights of 4 or 8 bits in blocks (kernels/int8/gemm_blockwise.py)."""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant, zeros
from ..tiling import HEADER_ROWS, PANEL
from .quantization import Blockwise, Hybrid

if TYPE_CHECKING:
    from ..plan.program import Program

CHUNK = 32
"""Blocks are multiples of it, and rows are filled up to them."""
_BITS = 32


def fits(b: Buffer, bias: Buffer | None) -> bool:
    """Whether weights [n, k] and a bias can be packed once for all runs."""
    return b.is_constant and (bias is None or bias.is_constant)


def fits_blocks(shape: tuple[int, ...], block: tuple[int, ...]) -> bool:
    """Whether there are kernels for weights of a shape with a scale for each `block`."""
    return len(shape) == 2 and block[0] == 1 and block[1] % CHUNK == 0


def matmul(
    program: Program,
    a: Buffer,
    b: Buffer,
    bias: Buffer | None,
    out: Buffer,
    *,
    scheme: Blockwise | Hybrid,
    transpose_b: bool,
) -> None:
    """out = a @ b.T + bias of rows `a` and weights [n, bytes of k signed integers].

    These have 8, 4 or 2 bits each in the bytes, the low ones first; and values of 4 bits if the
    scheme is Hybrid.
    """
    assert transpose_b
    if not out.size:
        return
    rows, n, depth = prod(out.shape[:-1]), out.shape[-1], a.shape[-1]
    if not depth:  # sums of nothing: one product with 0 instead
        depth, a, b = 1, zeros((rows, 1), np.float32), zeros((n, 1), np.uint8)
    padded = CHUNK * ceil(depth / CHUNK)
    if isinstance(scheme, Blockwise):
        block, bits, kind = scheme.block, scheme.bits, "blocks"
        n_words, numbers = ceil(depth / block) * (1 + block * bits // _BITS), {"block": block}
    else:
        block, bits, kind, numbers = padded, 4, "channels", {}
        n_words = padded * bits // _BITS
    panels = arena((ceil(n / PANEL), 2 * (HEADER_ROWS + n_words) * PANEL), np.int16)
    program.call(
        f"gemm_blockwise.pack_i{bits}_{kind}",
        b,
        _scales(program, scheme),
        zeros((n,), np.float32) if bias is None else bias.ravel(),
        panels,
        split=panels.shape[0],
        depth=depth,
        stored_bits=8 * b.shape[1] // depth,
        **numbers,
    )
    q = arena((rows, 2 * padded), np.uint8)
    scales, zero_points = arena((rows,), np.float32), arena((rows,), np.int32)
    starts = arena((rows, padded // CHUNK), np.int32)
    program.call(
        f"gemm_blockwise.inputs_i{bits}",
        a.reshape((rows, depth)),
        q,
        scales,
        zero_points,
        starts,
        split=rows,
        block=block,
        asymmetric=int(scheme.asymmetric),
    )
    n_parts = 1 if panels.shape[0] >= program.threads else program.threads
    item_rows = ceil(rows / n_parts)
    program.call(
        f"gemm_blockwise.i{bits}_{kind}",
        q,
        scales,
        zero_points,
        starts,
        panels,
        out.reshape((rows, n)),
        split=panels.shape[0] * ceil(rows / item_rows),
        block=block,
        rows=item_rows,
        low=scheme.clamp[0],
        high=scheme.clamp[1],
    )


def _scales(program: Program, scheme: Blockwise | Hybrid) -> Buffer:
    """The scales of a scheme as float32 in two dimensions."""
    if isinstance(scheme, Hybrid):
        return constant(scheme.scales.reshape((-1, 1)))
    scales = scheme.scales
    if scales.dtype == np.float32:
        return scales
    out = arena(scales.shape, np.float32)
    program.call("cast.from_half", scales.view(np.uint16).ravel(), out.ravel(), split=out.size)
    return out
