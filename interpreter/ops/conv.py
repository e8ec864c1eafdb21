"""CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, CONV_3D, CONV_3D_TRANSPOSE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.families.parameters import Sliding
from ...engine.sizes import is_plain, negative
from ..checks import clamp_of, rank, required, slide, supported, windows
from ..plan.substitution import small_floats
from ..registry import op
from .arithmetic import arithmetic, one_scale_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.plan.program import Program
    from ..checks import Window
    from ..plan.node import Emit, Node, Operand


def _bias(node: Node, i: int, n: int) -> Operand | None:
    """Input `i`: one element for each of `n` output channels, or None."""
    bias = node.optional(i)
    if bias is not None:
        node.require_equal(
            bias.size, n, f"bias must have {n} elements, one a channel, got shape {bias.shape}"
        )
    return bias


@op("CONV_2D")
@small_floats
def conv_2d(node: Node) -> Emit:
    """Filters [n, height, width, channels] over `x`; fewer channels than `x` has mean groups."""
    x, weights = required(node, 2)
    rank(node, "input", x, 4)
    rank(node, "filter", weights, 4)
    n, *taps, of_group = weights.shape
    channels = x.shape[3]
    message = (
        f"channels of the filter must divide those of the input, got {of_group} and {channels}"
    )
    node.require(of_group > 0, message)
    if not is_plain(channels):
        node.require_equal(channels, of_group, message)
    node.require_equal(channels % of_group, 0, message)
    groups = max(channels // of_group, 1)
    node.require(
        channels > 0 and n % groups == 0,
        f"the {groups} groups must divide the {n} filters",
    )
    bias = _bias(node, 2, n)
    asymmetric = x.is_float and (groups > 1 or _differ(weights))
    family, kernel, epilogue = arithmetic(
        node, x, weights, bias, clamp_of(node), asymmetric=asymmetric
    )
    one_scale_each(node, epilogue, n)
    spans = windows(node, taps)
    out = node.result((x.shape[0], *slide(node, spans, x.shape[1:3]), n), x.dtype)
    sliding = _sliding(spans, x.shape[1:3])

    def emit(program: Program) -> None:
        family.conv2d(program, x, kernel, bias, out, sliding, groups=groups, **epilogue)

    return emit


@op("DEPTHWISE_CONV_2D")
@small_floats
def depthwise_conv_2d(node: Node) -> Emit:
    """A filter [1, height, width, channels * multiplier], for each channel its own."""
    x, weights = required(node, 2)
    rank(node, "input", x, 4)
    rank(node, "filter", weights, 4)
    first, *taps, n = weights.shape
    channels = x.shape[3]
    node.require(first == 1, f"filter must have 1 as first dimension, got shape {weights.shape}")
    node.require(
        channels > 0 and n % channels == 0,
        f"channels of the filter must be a multiple of the input's {channels}, got {n}",
    )
    bias = _bias(node, 2, n)
    family, kernel, epilogue = arithmetic(node, x, weights, bias, clamp_of(node), asymmetric=True)
    one_scale_each(node, epilogue, n)
    spans = windows(node, taps)
    out = node.result((x.shape[0], *slide(node, spans, x.shape[1:3]), n), x.dtype)
    sliding = _sliding(spans, x.shape[1:3])

    def emit(program: Program) -> None:
        filters = kernel.reshape(kernel.shape[1:])
        offsets = None if bias is None else bias.ravel()
        family.depthwise(program, x, filters, offsets, out, sliding, **epilogue)

    return emit


@op("CONV_3D")
@small_floats
def conv_3d(node: Node) -> Emit:
    """Filters [depth, height, width, channels, n] over `x`."""
    x, weights = required(node, 2)
    rank(node, "input", x, 5)
    rank(node, "filter", weights, 5)
    *taps, channels, n = weights.shape
    _same_channels(node, channels, x)
    bias = _bias(node, 2, n)
    supported(node, (x, weights, bias))
    clamp = clamp_of(node)
    spans = windows(node, taps, "dhw")
    out = node.result((x.shape[0], *slide(node, spans, x.shape[1:4]), n), x.dtype)
    sliding = _sliding(spans, x.shape[1:4])

    def emit(program: Program) -> None:
        from ...engine.families import gemm

        gemm.convolution(program, x, weights, bias, out, sliding, clamp=clamp)

    return emit


@op("TRANSPOSE_CONV")
@small_floats
def transpose_conv(node: Node) -> Emit:
    """The convolution with filters [n, height, width, channels] turned round: `x` spread out."""
    _, weights, x = required(node, 3)
    rank(node, "input", x, 4)
    rank(node, "filter", weights, 4)
    n, *taps, channels = weights.shape
    _same_channels(node, channels, x)
    bias = _bias(node, 3, n)
    family, kernel, epilogue = arithmetic(node, x, weights, bias, clamp_of(node), asymmetric=True)
    one_scale_each(node, epilogue, n)
    spans = windows(node, taps)
    out = node.result(_spread_shape(node, x, n, spans), x.dtype)
    sliding = _sliding(spans, out.shape[1:3])

    def emit(program: Program) -> None:
        family.transpose_conv2d(program, x, kernel, bias, out, sliding, **epilogue)

    return emit


@op("CONV_3D_TRANSPOSE")
@small_floats
def conv_3d_transpose(node: Node) -> Emit:
    """The convolution with filters [depth, height, width, n, channels] turned round."""
    _, weights, x = required(node, 3)
    rank(node, "input", x, 5)
    rank(node, "filter", weights, 5)
    *taps, n, channels = weights.shape
    _same_channels(node, channels, x)
    bias = _bias(node, 3, n)
    supported(node, (x, weights, bias))
    clamp = clamp_of(node)
    spans = windows(node, taps, "dhw")
    out = node.result(_spread_shape(node, x, n, spans), x.dtype)
    sliding = _sliding(spans, out.shape[1:4])

    def emit(program: Program) -> None:
        from ...engine.families import gemm
        from ...engine.families.products import permute

        filters = permute(program, weights, (0, 1, 2, 4, 3))
        gemm.transposed_convolution(program, x, filters, bias, out, sliding, clamp=clamp)

    return emit


def _differ(weights: Operand) -> bool:
    """Whether filters have different scales: float32 inputs get a zero point then."""
    scheme = weights.quantization
    return scheme is not None and bool((scheme.scales != scheme.scales[0]).any())


def _same_channels(node: Node, channels: int, x: Operand) -> None:
    message = f"filter and input must have equal channels, got {channels} and {x.shape[-1]}"
    node.require(channels > 0, message)
    node.require_equal(x.shape[-1], channels, message)


def _sliding(spans: Sequence[Window], sizes: Sequence[int]) -> Sliding:
    """How windows go over `sizes`."""
    return Sliding(
        tuple(span.stride for span in spans),
        tuple(span.before(n) for span, n in zip(spans, sizes, strict=True)),
        tuple(span.dilation for span in spans),
    )


def _spread_shape(node: Node, x: Operand, n: int, spans: Sequence[Window]) -> tuple[int, ...]:
    """The first input, if a convolution takes that shape to the shape of `x`."""
    shape = tuple(node.sizes(0))
    node.require_equal(
        (*shape[:1], *shape[-1:]) if len(shape) == x.ndim else None,
        (x.shape[0], n),
        f"output shape must be ({x.shape[0]}, ..., {n}) in {x.ndim} dimensions, got {shape}",
    )
    node.require(not negative(shape), f"output shape must not be negative, got {shape}")
    counts = slide(node, spans, shape[1:-1])
    node.require_equal(
        counts,
        x.shape[1:-1],
        f"a convolution over output shape {shape} must give the input's {x.shape[1:-1]}, "
        f"gives {counts}",
    )
    return shape
