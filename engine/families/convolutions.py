"""What convolutions of every type in tiles do to their filters and inputs before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant
from ..plan.view import View
from ..records import ConvGeometry
from .layout import move

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Sliding

_MAX_RUN_DEPTH = 32
"""Channels up to which a row of taps is read as one run of a padded copy."""


def reads_runs(weights: Buffer, sliding: Sliding, groups: int) -> bool:
    """Whether the input under a row of taps is read as one run."""
    _, _, width, depth = weights.shape
    return groups == 1 and sliding.dilation[1] == 1 and depth <= _MAX_RUN_DEPTH and width > 1


def phases(
    program: Program,
    weights: Buffer,
    out: Buffer,
    sliding: Sliding,
    fill: int,
) -> Iterator[tuple[Buffer, ConvGeometry]]:
    """A transposed convolution as convolutions, one for each phase of the stride.

    Gives their filters and geometries. Result p sums over the taps t for which p + before - t is a
    multiple of the stride, hence those from (p + before) % stride on in steps of the stride, the
    last of them on the first input. Where there are none, the filter is one tap of `fill`, beside
    `x`.
    """
    n, *taps, depth = weights.shape
    stride, before, _ = sliding
    for phase in product(
        *(range(min(s, size)) for s, size in zip(stride, out.shape[1:3], strict=True))
    ):
        view = View.of(weights)
        phase_before: list[int] = []
        counts: list[int] = []
        for axis in (0, 1):
            step, reach = stride[axis], phase[axis] + before[axis]
            first = reach % step
            count = len(range(first, taps[axis], step))
            view = view.part(1 + axis, first + (count - 1) * step, count, -step)
            phase_before.append(count - 1 - reach // step)
            counts.append(len(range(phase[axis], out.shape[1 + axis], step)))
        if prod(view.shape[1:3]):
            phase_filter = arena(view.shape, weights.dtype)
            move(program, view, phase_filter)
        else:
            phase_filter = constant(np.full((n, 1, 1, depth), fill, weights.dtype))
            phase_before = counts  # beside x, as 0 * inf is nan
        yield phase_filter, ConvGeometry(counts, (1, 1), (1, 1), phase_before, stride, phase)


def pad_input(
    program: Program,
    x: Buffer,
    counts: Sequence[int],
    taps: Sequence[int],
    sliding: Sliding,
    zero: int = 0,
) -> Buffer:
    """`x` padded as far as the filter reaches: with 0, or with `zero` if it is int8 or int16."""
    shape = sliding.reached(x.shape, counts, taps)
    if shape == x.shape:
        return x
    out = arena(shape, x.dtype)
    kernel, numbers = "gemm_f32_packing.pad", {}
    if x.is_integer:
        kernel, numbers = "gemm_i8_input.pad", {"zero": zero}
    copy_padded(program, kernel, x, out, sliding.before, **numbers)
    return out


def copy_padded(
    program: Program, kernel: str, x: Buffer, out: Buffer, before: Sequence[int], **numbers: int
) -> None:
    """Copies images amid the padding by a kernel such as gemm_i8_input.pad."""
    (batch, *sizes, channels), (_, *padded_sizes, _) = x.shape, out.shape
    program.call(
        kernel,
        x.reshape((batch, sizes[0], sizes[1] * channels)),
        out.reshape((batch, padded_sizes[0], padded_sizes[1] * channels)),
        split=batch * padded_sizes[0],
        top=before[0],
        left=before[1] * channels,
        **numbers,
    )
