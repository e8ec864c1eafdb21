"""L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION along the last dimension."""

from math import prod

import numpy as np

from ..checks import clamp_of, one_scale, rank, required, supported
from ..registry import op
from .quantized import is_quantized, require_prescribed

SMALLEST_LENGTH = 1e-6
"""What L2_NORMALIZATION divides by at least."""


@op("L2_NORMALIZATION")
def l2_normalization(node):
    """`x` divided by its length."""
    (x,) = required(node, 1)
    node.require(x.ndim >= 1, "input must have 1 dimension or more, got a scalar")
    limits = clamp_of(node)
    node.require(limits[0] == -limits[1], "fused_activation_function must be NONE")
    if is_quantized(x):
        return _stored_rows(node, x)
    supported(node, (x,))
    return _rows(node, "softmax.l2_normalize", smallest=SMALLEST_LENGTH)


@op("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(node):
    """`x` divided by a power of the sum of squares of its neighbours among the channels."""
    (x,) = required(node, 1)
    rank(node, "input", x, 4)
    supported(node, (x,))
    options = node.options
    node.require(options.radius >= 0, f"radius must not be negative, got {options.radius}")
    numbers = {name: float(getattr(options, name)) for name in ("bias", "alpha", "beta")}
    return _rows(node, "softmax.local_response", radius=int(options.radius), **numbers)


def _rows(node, kernel, **numbers):
    """What emits `kernel` for each row of the last dimension."""
    x = node.inputs[0]
    out = node.result(x.shape, x.dtype)
    rows = (prod(x.shape[:-1]), x.shape[-1])

    def emit(program):
        if x.size:
            program.call(kernel, x.reshape(rows), out.reshape(rows), split=rows[0], **numbers)

    return emit


def _stored_rows(node, x):
    """What emits the kernel for quantized integers; the result is in steps of 1 / 128."""
    one_scale(node, x)
    node.require(x.dtype in (np.int8, np.uint8), f"quantized {x.dtype} is not supported")
    limits, zero_point = np.iinfo(x.dtype), require_prescribed(node, x.dtype).zero_point
    return _rows(
        node,
        "quantized.l2_normalize",
        x_zero=x.quantization.zero_point,
        left=7 if zero_point else 0,
        out_zero=zero_point,
        low=int(limits.min),
        high=int(limits.max),
    )
