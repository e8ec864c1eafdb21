"""L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION along the last dimension."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..checks import BYTES, clamp_of, one_scale, rank, required, supported
from ..plan.substitution import small_floats
from ..registry import op
from .quantized import is_quantized, require_prescribed

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node, Operand, Prepared


SMALLEST_LENGTH = 1e-6
"""What L2_NORMALIZATION divides by at least."""


@op("L2_NORMALIZATION")
@small_floats
def l2_normalization(node: Node) -> Prepared:
    """`x` divided by its length."""
    (x,) = required(node, 1)
    node.require(x.ndim >= 1, "input must have 1 dimension or more, got a scalar")
    limits = clamp_of(node)
    node.require(limits[0] == -limits[1], "fused_activation_function must be NONE")
    if is_quantized(x):
        return _dynamic_rows(node, x)
    supported(node, (x,))
    return _rows(node, "softmax.l2_normalize", smallest=SMALLEST_LENGTH)


@op("LOCAL_RESPONSE_NORMALIZATION")
@small_floats
def local_response_normalization(node: Node) -> Prepared:
    """`x` divided by a power of the sum of squares of its neighbours among the channels."""
    (x,) = required(node, 1)
    rank(node, "input", x, 4)
    supported(node, (x,))
    options = node.options
    node.require(options.radius >= 0, f"radius must not be negative, got {options.radius}")
    numbers = {name: float(getattr(options, name)) for name in ("bias", "alpha", "beta")}
    return _rows(node, "softmax.local_response", radius=int(options.radius), **numbers)


def _rows(node: Node, kernel: str, **numbers: float) -> Emit:
    """What emits `kernel` for each row of the last dimension."""
    (x,) = required(node, 1)
    out = node.result(x.shape, x.dtype)
    rows = (prod(x.shape[:-1]), x.shape[-1])

    def emit(program: Program) -> None:
        if x.size:
            program.call(kernel, x.reshape(rows), out.reshape(rows), split=rows[0], **numbers)

    return emit


def _dynamic_rows(node: Node, x: Operand) -> Emit:
    """What emits the kernel for quantized integers; the result is in steps of 1 / 128."""
    input_params, _ = one_scale(node, x)
    node.require(x.dtype in BYTES, f"quantized {tf_name(x.dtype)} is not supported")
    limits, zero_point = np.iinfo(x.dtype.name), require_prescribed(node, x.dtype).zero_point
    return _rows(
        node,
        "quantized.l2_normalize",
        x_zero=input_params.zero_point,
        left=7 if zero_point else 0,
        out_zero=zero_point,
        low=int(limits.min),
        high=int(limits.max),
    )
