"""Matrix products and convolutions with their backward forms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import gemm, gradients
from ...engine.families.elementwise import elementwise
from ...engine.families.layout import move
from ...engine.families.parameters import Sliding
from ...engine.families.reductions import reduce
from ...engine.plan.buffer import Buffer, arena
from ...engine.plan.view import View
from ..ops.window import Windows
from .elementwise import no_limits
from .registry import emit
from .shapes import result

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..session.stage import Site
    from .registry import Emitted

FLOATS = (np.dtype(np.float32),)
_LINE = 512
"""Elements that a row of biases is repeated to: short rows are slow."""


@emit("MatMul", dtypes=FLOATS)
def mat_mul(program: Program, op: Site, a: Buffer, b: Buffer) -> Emitted:
    """The product of two matrices."""
    out = result(op)
    if out is not None:
        transpose_a, transpose_b = op.get_attr("transpose_a"), op.get_attr("transpose_b")
        gradients.product(program, a, b, out, transpose_a=transpose_a, transpose_b=transpose_b)
    return out


@emit("BatchMatMul", "BatchMatMulV2", dtypes=FLOATS)
def batch_mat_mul(program: Program, op: Site, a: Buffer, b: Buffer) -> Emitted:
    """The products of stacks of matrices."""
    out = result(op)
    if out is not None:
        adj_x, adj_y = bool(op.get_attr("adj_x")), bool(op.get_attr("adj_y"))
        gemm.matmul(program, a, b, None, out, transpose_a=adj_x, transpose_b=adj_y)
    return out


@emit("BiasAdd", "BiasAddV1", dtypes=FLOATS)
def bias_add(program: Program, op: Site, x: Buffer, bias: Buffer) -> Emitted:
    """`x` with a number added to each channel."""
    if op.type == "BiasAdd" and op.get_attr("data_format") != b"NHWC":
        return None
    out = arena(x.shape, x.dtype)
    rows, n = x.size // max(bias.size, 1), bias.size
    times = next((k for k in range(_LINE // max(n, 1), 1, -1) if rows % k == 0), 1)
    if times > 1:
        line = arena((times, n), x.dtype)
        move(program, View.of(bias).insert(0, times), line)
        x, bias = x.reshape((rows // times, times * n)), line.ravel()
    elementwise(program, "arithmetic.add", (x, bias), out.reshape(x.shape), no_limits(x.dtype))
    return out


@emit("BiasAddGrad", dtypes=FLOATS)
def bias_add_grad(program: Program, op: Site, dy: Buffer) -> Emitted:
    """The sum of each channel."""
    if op.get_attr("data_format") != b"NHWC":
        return None
    out = arena(dy.shape[-1:], dy.dtype)
    reduce(program, "add", dy, range(dy.ndim - 1), out)
    return out


def sliding_of(op: Site, taps: Iterable[int], x_shape: tuple[int, ...]) -> Sliding | None:
    """How the filter of a convolution goes over images in NHWC; None for another layout."""
    if op.get_attr("data_format") != b"NHWC":
        return None
    strides, dilations = op.get_attr("strides"), op.get_attr("dilations")
    if (strides[0], strides[3], dilations[0], dilations[3]) != (1, 1, 1, 1):
        return None
    windows = _windows(op, taps)
    before = tuple(pair[0] for pair in windows.pads(x_shape[1:3]))
    return Sliding(windows.strides, before, windows.dilations)


def _windows(op: Site, taps: Iterable[int]) -> Windows[int]:
    """The windows of a convolution of images in NHWC."""
    strides, dilations = op.get_attr("strides"), op.get_attr("dilations")
    padding, explicit = op.get_attr("padding"), ()
    if padding == b"EXPLICIT":
        numbers = op.get_attr("explicit_paddings")
        explicit = ((numbers[2], numbers[3]), (numbers[4], numbers[5]))
    return Windows(tuple(taps), tuple(strides[1:3]), tuple(dilations[1:3]), padding, explicit)


@emit("Conv2D", dtypes=FLOATS)
def conv2d(program: Program, op: Site, x: Buffer, filters: Buffer) -> Emitted:
    """A convolution over height and width."""
    sliding = sliding_of(op, filters.shape[:2], x.shape)
    out = result(op)
    if out is None or sliding is None or filters.shape[2] != x.shape[3]:
        return None
    gradients.convolve(program, x, filters, out, sliding)
    return out


@emit("Conv2DBackpropInput")
def conv2d_backprop_input(
    program: Program, op: Site, sizes: Buffer, filters: Buffer, dy: Buffer
) -> Emitted:
    """What flows back through a convolution to its input."""
    out = result(op)
    if out is None or sizes.value is None or filters.dtype != np.float32:
        return None
    sliding = sliding_of(op, filters.shape[:2], out.shape)
    if sliding is None or sliding.dilation != (1, 1) or filters.shape[2] != out.shape[3]:
        return None
    counts = _windows(op, filters.shape[:2]).outputs(out.shape[1:3])
    if dy.shape != (out.shape[0], *counts, filters.shape[3]):
        return None
    gradients.input_gradient(program, filters, dy, out, sliding)
    return out


@emit("Conv2DBackpropFilter")
def conv2d_backprop_filter(
    program: Program, op: Site, x: Buffer, sizes: Buffer, dy: Buffer
) -> Emitted:
    """What flows back through a convolution to its filter."""
    out = result(op)
    if out is None or sizes.value is None or x.dtype != np.float32:
        return None
    sliding = sliding_of(op, out.shape[:2], x.shape)
    if sliding is None or out.shape[2] != x.shape[3]:
        return None
    gradients.filter_gradient(program, x, dy, out, sliding)
    return out


@emit("DepthwiseConv2dNative", dtypes=FLOATS)
def depthwise(program: Program, op: Site, x: Buffer, filters: Buffer) -> Emitted:
    """A convolution of each channel by itself."""
    sliding = sliding_of(op, filters.shape[:2], x.shape)
    out = result(op)
    if out is None or sliding is None:
        return None
    weights = filters.reshape((*filters.shape[:2], filters.shape[2] * filters.shape[3]))
    gemm.depthwise(program, x, weights, None, out, sliding)
    return out
