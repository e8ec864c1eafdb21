"""AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.families.windows import pool
from ...engine.sizes import largest
from ...schema.dtypes import tf_name
from ..checks import (
    NO_LIMIT,
    clamp_of,
    limits_of,
    name_of_dtype,
    one_scale,
    rank,
    required,
    supported,
    windows,
)
from ..plan.substitution import small_floats
from ..registry import op
from .quantized import QUANTIZED_TYPES, is_quantized, quantized_limits

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node, Operand


POOLS = {
    "AVERAGE_POOL_2D": "average",
    "MAX_POOL_2D": "maximum",
    "L2_POOL_2D": "root_mean_square",
}


@op(*POOLS)
@small_floats
def pool_2d(node: Node) -> Emit:
    """One value for each position of the window; padding takes no part in it."""
    (x,) = required(node, 1)
    rank(node, "input", x, 4)
    if is_quantized(x) and node.kind != "L2_POOL_2D":
        clamp = same_limits(node, x)
    elif name_of_dtype(x.dtype) in QUANTIZED_TYPES and node.kind != "L2_POOL_2D":
        clamp = _limits_without_scales(node, x)
    else:
        supported(node, (x,))
        clamp = clamp_of(node)
    taps = (node.options.filter_height, node.options.filter_width)
    spans = windows(node, taps)
    n, *sizes, channels = x.shape
    counts = [largest(span.positions(size), 0) for span, size in zip(spans, sizes, strict=True)]
    out = node.result((n, *counts, channels), x.dtype)
    stride = tuple(span.stride for span in spans)
    before = tuple(span.before(size) for span, size in zip(spans, sizes, strict=True))

    def emit(program: Program) -> None:
        pool(
            program, POOLS[node.kind], x, out, size=taps, stride=stride, before=before, clamp=clamp
        )

    return emit


def _limits_without_scales(node: Node, x: Operand) -> tuple[int, int]:
    """The limits of small integers that stand for themselves."""
    node.require(
        node.outputs[0].quantization is None,
        f"input has no scale, output has one: {tf_name(x.dtype)}",
    )
    is_open = all(abs(limit) >= NO_LIMIT for limit in clamp_of(node))
    node.require(is_open, f"{tf_name(x.dtype)} without a scale takes no activation function")
    return limits_of(x.dtype)


def same_limits(node: Node, x: Operand) -> tuple[int, int]:
    """The quantized limits of a result that must have the scale of `x`."""
    before, after = one_scale(node, x)
    node.require(
        abs(before.scale - after.scale) <= 1e-6 and before.zero_point == after.zero_point,
        "input and output must have one scale and zero point",
    )
    return quantized_limits(node, x.dtype, after)
