"""FakeQuant: what a quantized tensor would hold. The quantizer takes its ranges from here."""

from __future__ import annotations

import numpy as np

from ...graph.ops.quantize import fake_quant_with_min_max_vars
from ..lowering.fake_quant import FakeQuantized
from .registry import lower


@lower("FakeQuantWithMinMaxArgs")
def fake_quant_with_min_max_args(node, b):
    """x, rounded; the range is an attribute."""
    return fake_quantized(node, b, np.float32(node.attr("min")), np.float32(node.attr("max")))


@lower("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quant_with_min_max_vars_(node, b):
    """x, rounded; the range is an input."""
    low, high = (np.asarray(node.constant(i), np.float32) for i in (1, 2))
    return fake_quantized(node, b, low, high)


def fake_quantized(node, b, low, high):
    """A constant that knows its range, or FAKE_QUANT."""
    x = node.inputs[0]
    bits, narrow = node.attr("num_bits"), bool(node.attr("narrow_range"))
    if x.value is not None:
        array = fake_quant_with_min_max_vars(
            x.value, low, high, num_bits=bits, narrow_range=narrow
        ).astype(np.float32)
        result = b.constant(array)
        result.fake_quant = FakeQuantized(low.ravel(), high.ravel(), array.ndim - 1, bits, narrow)
        return result
    node.require(low.size == 1, f"one range is needed for a computed tensor, got {low.size}")
    return b.FAKE_QUANT(
        x, min=float(low.ravel()[0]), max=float(high.ravel()[0]), num_bits=bits, narrow_range=narrow
    )
