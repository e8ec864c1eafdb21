"""Derivatives of the tensor arrays of TensorFlow 1: each computation of gradients has its array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.build import ops
from ..core.function_graph import outermost
from ..core.scopes import get_default_graph
from .registry import constant, gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor

constant("TensorArrayV3", "TensorArraySizeV3", "TensorArrayCloseV3")


def _array(op: Operation, flow: Tensor) -> tuple[Tensor, Tensor]:
    """The handle and the flow of the array of gradients, once `flow` is there."""
    handle, after = ops.TensorArrayGradV3(op.inputs[0], flow, source=_source())
    return handle, after


def _source() -> bytes:
    """What names the computation of gradients that is under way: its scope."""
    scope = outermost(get_default_graph()).scopes.name
    parts = scope.split("/")
    last = max((i for i, part in enumerate(parts) if part.startswith("grad")), default=len(parts))
    return "/".join(parts[: last + 1]).encode()


@gradient("TensorArrayGradV3")
def of_gradients(op: Operation, _: Tensor | None, dflow: Tensor) -> list[Tensor | None]:
    """To what wrote the array of gradients before."""
    return [None, dflow]


@gradient("TensorArrayReadV3")
def read(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """Written where it was read."""
    handle, flow = _array(op, op.inputs[2])
    return [None, None, ops.TensorArrayWriteV3(handle, op.inputs[1], dy, flow)]


@gradient("TensorArrayWriteV3")
def write(op: Operation, dflow: Tensor) -> list[Tensor | None]:
    """What was written there, once all of it has been."""
    handle, flow = _array(op, dflow)
    value = op.inputs[2]
    dx = ops.TensorArrayReadV3(handle, op.inputs[1], flow, dtype=value.dtype)
    dx.set_shape(value.sizes)
    return [None, None, dx, dflow]


@gradient("TensorArrayGatherV3")
def gather(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """Its slices written where they were read."""
    handle, flow = _array(op, op.inputs[2])
    return [None, None, ops.TensorArrayScatterV3(handle, op.inputs[1], dy, flow)]


@gradient("TensorArrayScatterV3")
def scatter(op: Operation, dflow: Tensor) -> list[Tensor | None]:
    """What was written there, on top of one another."""
    handle, flow = _array(op, dflow)
    value = op.inputs[2]
    dx = ops.TensorArrayGatherV3(handle, op.inputs[1], flow, dtype=value.dtype)
    dx.set_shape(value.sizes)
    return [None, None, dx, dflow]


@gradient("TensorArrayConcatV3")
def concat(op: Operation, dy: Tensor, _: Tensor | None) -> list[Tensor | None]:
    """Its parts written where they were read."""
    handle, flow = _array(op, op.inputs[1])
    return [None, ops.TensorArraySplitV3(handle, dy, op.outputs[1], flow)]


@gradient("TensorArraySplitV3")
def split(op: Operation, dflow: Tensor) -> list[Tensor | None]:
    """What was written there, one behind another."""
    handle, flow = _array(op, dflow)
    value = op.inputs[1]
    dx, _ = ops.TensorArrayConcatV3(handle, flow, dtype=value.dtype)
    dx.set_shape(value.sizes)
    return [None, dx, None, dflow]
