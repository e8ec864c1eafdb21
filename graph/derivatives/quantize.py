"""Derivatives of fake quantization: straight through within the range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.build import ops, same_attrs
from .registry import constant, gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor

ATTRS = ("num_bits", "narrow_range")


@gradient("FakeQuantWithMinMaxArgs")
def fake_quant_with_min_max_args(op: Operation, dy: Tensor) -> Tensor:
    """To what is within the range."""
    attrs = same_attrs(op, "min", "max", *ATTRS)
    return ops.FakeQuantWithMinMaxArgsGradient(dy, op.inputs[0], **attrs)


@gradient("FakeQuantWithMinMaxVars")
def fake_quant_with_min_max_vars(op: Operation, dy: Tensor) -> list[Tensor]:
    """To what is within the range, and to the ends of the range."""
    return ops.FakeQuantWithMinMaxVarsGradient(dy, *op.inputs, **same_attrs(op, *ATTRS))


@gradient("FakeQuantWithMinMaxVarsPerChannel")
def fake_quant_with_min_max_vars_per_channel(op: Operation, dy: Tensor) -> list[Tensor]:
    """To what is within the range, and to the ends of each channel's range."""
    return ops.FakeQuantWithMinMaxVarsPerChannelGradient(dy, *op.inputs, **same_attrs(op, *ATTRS))


@gradient("QuantizeAndDequantizeV2")
def quantize_and_dequantize(op: Operation, dy: Tensor) -> tuple[Tensor, None, None]:
    """`dy` to the input, nothing to the range."""
    return dy, None, None


@gradient("QuantizeAndDequantizeV4")
def quantize_and_dequantize_v4(op: Operation, dy: Tensor) -> list[Tensor]:
    """`dy` within the range, which itself gets zeros."""
    return ops.QuantizeAndDequantizeV4Grad(dy, *op.inputs, **same_attrs(op, "axis"))


constant(
    *("FakeQuantWithMinMaxArgsGradient", "FakeQuantWithMinMaxVarsGradient"),
    *("FakeQuantWithMinMaxVarsPerChannelGradient", "QuantizeV2", "QuantizedConcat"),
)
