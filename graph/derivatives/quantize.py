"""Derivatives of fake quantization: what is rounded is passed on, what is cut off is not."""

from __future__ import annotations

from ..core.build import ops
from ..core.graph import Operation, Tensor
from .registry import gradient

Gradients = tuple[Tensor | None, ...]


@gradient("FakeQuantWithMinMaxArgs")
def fake_quant_args(op: Operation, dy: Tensor) -> Tensor:
    """`dy` inside of the range."""
    names = ("min", "max", "num_bits", "narrow_range")
    attrs = {name: op.get_attr(name) for name in names}
    return ops.FakeQuantWithMinMaxArgsGradient(dy, op.inputs[0], **attrs)


@gradient("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quant_vars(op: Operation, dy: Tensor) -> Gradients:
    """`dy` inside of the range, and to its ends what lies outside."""
    attrs = {name: op.get_attr(name) for name in ("num_bits", "narrow_range")}
    return tuple(getattr(ops, f"{op.type}Gradient")(dy, *op.inputs, **attrs))


@gradient("QuantizeAndDequantizeV2")
def quantize_and_dequantize(op: Operation, dy: Tensor) -> Gradients:
    """`dy` to the input, nothing to the range."""
    return dy, None, None
