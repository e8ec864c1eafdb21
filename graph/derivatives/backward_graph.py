"""The bodies of the functions that gradients of calls and loops call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...schema import dtypes
from ..core.build import ops
from ..core.composite.indexed_slices import dense
from ..core.function_graph import (
    VARIABLES,
    FunctionGraph,
    copy_graph,
    define,
    origin,
)
from ..core.graph import Graph, Operation, Tensor
from ..core.scopes import get_default_graph, name_scope
from ..core.shapes import is_static
from ..core.signatures.attributes import FunctionRef
from ..format.dataflow_graph import variable_of
from .gradients import gradients, is_trainable

if TYPE_CHECKING:
    from ..core.protocols import DTypeAttr
    from ..core.shapes import Shape
    from .registry import Gradient


class BackwardGraph(FunctionGraph):
    """What computes the gradients of a function's body, from values that the body had.

    Args:
        body: The function's body; its tensors are at hand inside.
        bring: Says how a tensor of the body gets here: gives what stands for it inside.

    Attributes:
        outside: Tensors of the graph of the call, or around it -> the argument for each.
    """

    def __init__(
        self, body: FunctionGraph, bring: Callable[[BackwardGraph, Tensor], Tensor]
    ) -> None:
        super().__init__(body)
        self.body = body
        self.caller = get_default_graph()
        self.outside: dict[Tensor, Tensor] = {}
        self._bring = bring

    @property
    def parents(self) -> Sequence[Graph]:
        """The body, and the graph in which the gradients are needed."""
        return [self.body, self.caller]

    def _captured(self, tensor: Tensor) -> Tensor:
        op = tensor.op
        if op.type == "Const":
            return self.add("Const", self.unique_name("Const"), (), op.attrs).outputs[0]
        if op.type in VARIABLES and tensor.graph is self.body:
            return self.add(op.type, self.unique_name("variable"), (), op.attrs).outputs[0]
        if tensor.graph is not self.body:
            inside = self.outside[tensor] = self.captures[tensor] = self.argument(tensor)
            return inside
        return self._bring(self, tensor)

    def flow(
        self, ys: list[Tensor], grad_ys: list[Tensor], xs: list[Tensor]
    ) -> list[Gradient | None]:
        """The gradients of results of the body by its arguments."""
        return gradients(ys, xs, list(grad_ys)) if ys else [None] * len(xs)

    def whole(self, gradient: Gradient) -> Tensor:
        """A gradient inside, as one tensor."""
        return self.capture(dense(gradient))


def source_of(body: FunctionGraph, argument: Tensor) -> Tensor:
    """What carries the value of an argument inside of a body."""
    return body.sources.get(argument, argument)


def body_of(op: Operation, attribute: str) -> tuple[FunctionGraph, FunctionRef]:
    """The body of a function that only `op` calls, which may therefore be changed."""
    reference = op.get_attr(attribute)
    assert isinstance(reference, FunctionRef)
    body = op.graph.functions.body(reference)
    if isinstance(body, FunctionGraph):
        return body, reference
    fresh = FunctionGraph(op.graph)
    copies = copy_graph(body, fresh)
    fresh.inputs = [copies[tensor] for tensor in body.inputs or ()]
    fresh.outputs = [copies[tensor] for tensor in body.outputs or ()]
    by_name = fresh.get_operation_by_name
    fresh.control_outputs = [by_name(control.name) for control in body.control_outputs]
    reference = op.attrs[attribute] = define(fresh, reference.name)
    return fresh, reference


def passed_on(call: Operation, name: str) -> list[Tensor]:
    """The results of a call, under names that they keep where it is written as Switch and Merge."""
    with name_scope(f"{call.name}/"):
        return [ops.Identity(tensor, name=name) for tensor in call.outputs]


def flows(tensor: Tensor) -> bool:
    """Whether a gradient can flow to an argument of a function, or from a result."""
    return tensor.dtype is not None and is_trainable(tensor)


def is_handle(operand: Tensor) -> bool:
    """Whether what a call is given is a handle, of a variable as a rule."""
    return operand.dtype == dtypes.RESOURCE


def variable_behind(operand: Tensor) -> Operation:
    """The operation of the variable that a handle is of; of another handle what gives it."""
    handle = origin(operand)
    return variable_of(handle) or handle.op


def gradient_dtype(operand: Tensor) -> DTypeAttr:
    """The dtype of the gradient of what a call is given; of a handle, that of its variable."""
    return variable_behind(operand).get_attr("dtype") if is_handle(operand) else operand.dtype


def zeros_for(operand: Tensor) -> Tensor:
    """Zeros like the gradient of what a call is given."""
    if not is_handle(operand):
        return ops.ZerosLike(operand)
    shape, dtype = variable_behind(operand).get_attr("shape"), gradient_dtype(operand)
    if is_static(shape):
        return ops.Fill(np.array(shape, np.int32), np.zeros((), dtype))
    return ops.Fill(ops.VariableShape(operand), np.zeros((), dtype))


def shape_for(operand: Tensor) -> Tensor:
    """The shape of the gradient of what a call is given, as a vector."""
    return ops.VariableShape(operand) if is_handle(operand) else ops.Shape(operand)


def shape_of(operand: Tensor) -> Shape:
    """What is known of the shape of the gradient of what a call is given."""
    return variable_behind(operand).get_attr("shape") if is_handle(operand) else operand.sizes


def is_variable(operand: Tensor) -> bool:
    """Whether what a call is given is the handle of a variable of floats, or no handle."""
    if not is_handle(operand):
        return True
    handle = variable_behind(operand)
    return handle.type == "VarHandleOp" and np.dtype(handle.get_attr("dtype")).kind in "fcV"
