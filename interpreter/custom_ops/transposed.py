"""Convolution2DTransposeBias: MediaPipe's TRANSPOSE_CONV, whose result has a size of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import gemm
from ...engine.families.parameters import Sliding
from ...schema.dtypes import tf_name
from ..checks import CLAMPS, rank
from .options import transpose_conv_params
from .registry import custom, exactly

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node

_MOST_STRIDE = 64
"""Beyond that there would be too many instructions, one for each step of a stride."""


@custom("Convolution2DTransposeBias")
def convolution_2d_transpose_bias(node: Node) -> Emit:
    """The convolution with filters [n, height, width, channels] turned round, plus the bias.

    With padding, as much is cut off as lies over what a convolution of the result would see.
    """
    x, weights, bias = exactly(node, 3)
    rank(node, "input", x, 4)
    rank(node, "filter", weights, 4)
    for operand in (x, weights, bias):
        node.require(operand.dtype == np.float32, f"{tf_name(operand.dtype)} is not supported")
    n, *taps, channels = weights.shape
    node.require_equal(
        channels, x.shape[3], f"filters must have {x.shape[3]} channels, got {channels}"
    )
    node.require(bias.shape == (n,), f"bias must have shape ({n},), got {bias.shape}")
    spans = transpose_conv_params(node, taps)
    most = max(span.stride for span in spans)
    node.require(most <= _MOST_STRIDE, f"strides must be at most {_MOST_STRIDE}, got {most}")
    cut = [
        max(span.size - (size - 1) % span.stride - 1, 0) if span.padding == "SAME" else 0
        for span, size in zip(spans, x.shape[1:3], strict=True)
    ]
    sizes = [
        span.stride * (size - 1) + span.size - pad
        for span, size, pad in zip(spans, x.shape[1:3], cut, strict=True)
    ]
    out = node.result((x.shape[0], *sizes, n), np.float32)
    sliding = Sliding([span.stride for span in spans], [pad // 2 for pad in cut])

    def emit(program: Program) -> None:
        gemm.transpose_conv2d(program, x, weights, bias, out, sliding, clamp=CLAMPS["NONE"])

    return emit
