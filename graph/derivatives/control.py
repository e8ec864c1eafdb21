"""Derivatives of operations that call functions: branches and calls; loops are in loop.py.

What the backward function reads of the forward one's values becomes more results of the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...schema import dtypes
from ..core.build import ops
from ..core.create import constant, create
from ..core.function_graph import FunctionGraph, add_outputs, define, is_stateful, redefine, unify
from ..core.graph import Operation, Tensor
from .backward_graph import (
    BackwardGraph,
    body_of,
    flows,
    is_variable,
    source_of,
    zeros_for,
)
from .registry import gradient

if TYPE_CHECKING:
    from ..core.protocols import AttrValue
    from ..core.shapes import Shape
    from ..core.signatures.attributes import FunctionRef


class _Branch:
    """One function of a call, and its backward one."""

    def __init__(self, op: Operation, body: FunctionGraph, reference: FunctionRef, first: int):
        self.body, self.reference = body, reference
        self.operands = dict(zip(body.inputs, op.inputs[first:], strict=True))
        self.values: dict[Tensor, Tensor] = {}
        self.backward = BackwardGraph(body, self._bring)

    def _bring(self, graph: BackwardGraph, tensor: Tensor) -> Tensor:
        inside = graph.argument(tensor)
        operand = self.operands.get(tensor)
        if operand is None:
            self.values[tensor] = inside
        else:
            graph.captures[operand] = inside
        return inside

    def trace(self, dys: dict[int, Tensor], operands: Sequence[int]) -> list[Tensor | None]:
        """The gradients by the arguments `operands`, inside of the backward function."""
        with self.backward.as_default():
            ys = [self.body.outputs[i] for i in dys]
            grad_ys = [self.backward.capture(dy) for dy in dys.values()]
            xs = [source_of(self.body, self.body.inputs[i]) for i in operands]
            return self.backward.flow(ys, grad_ys, xs)


def _absent(body: FunctionGraph, tensor: Tensor) -> Tensor:
    """What a function gives in the place of a value that another one has."""
    with body.as_default():
        if tensor.dtype == dtypes.VARIANT:
            none = np.int32(-1)
            return ops.EmptyTensorList(none, none, element_dtype=np.dtype(np.float32))
        empty = b"" if tensor.dtype.kind == "O" else np.zeros((), tensor.dtype)
        return constant(empty)


def _add_results(op: Operation, branches: Sequence[_Branch], types: str) -> None:
    """Lets the call give the values that the backward functions read."""
    for branch in branches:
        for tensor, inside in branch.values.items():
            for other in branches:
                is_branch = other is branch
                other.body.outputs.append(tensor if is_branch else _absent(other.body, tensor))
            (output,) = add_outputs(op, [tensor], types, have_shapes=len(branches) == 1)
            branch.backward.captures[output] = inside
    for branch in branches:
        redefine(branch.reference, branch.body)


def _flow_back(
    op: Operation, references: Sequence[str | int], first: int, dys: Sequence[Tensor | None]
) -> list[Tensor | None]:
    """The gradients of a call of one of several functions by what it is given."""
    branches = [_Branch(op, *_body(op, where), first) for where in references]
    operands = op.inputs[first:]
    differentiable = [i for i, x in enumerate(operands) if flows(x) and is_variable(x)]
    arrived = {i: dy for i, dy in enumerate(dys) if dy is not None and flows(op.outputs[i])}
    traced = [branch.trace(arrived, differentiable) for branch in branches]
    used = [
        j
        for j in range(len(differentiable))
        if any(of_operands[j] is not None for of_operands in traced)
    ]
    for branch, of_operands in zip(branches, traced, strict=True):
        graph = branch.backward
        with graph.as_default():
            for j in used:
                value = of_operands[j]
                value = (
                    zeros_for(graph.capture(operands[differentiable[j]]))
                    if value is None
                    else value
                )
                graph.outputs.append(graph.capture(value))
    _add_results(op, branches, "Tout")
    results: list[Tensor | None] = [None] * len(op.inputs)
    outputs = _call(op, [branch.backward for branch in branches], first)
    for j, output in zip(used, outputs, strict=True):
        results[first + differentiable[j]] = output
    return results


def _body(op: Operation, where: str | int) -> tuple[FunctionGraph, FunctionRef]:
    """A function of a call: that of an attribute, or one of its list `branches`."""
    if isinstance(where, str):
        return body_of(op, where)
    listed = list(op.get_attr("branches"))
    op.attrs["branch"] = listed[where]
    body, listed[where] = body_of(op, "branch")
    del op.attrs["branch"]
    op.attrs["branches"] = listed
    return body, listed[where]


def _call(op: Operation, graphs: Sequence[BackwardGraph], first: int) -> list[Tensor]:
    """Adds the call of one of the backward functions, chosen as the forward one was."""
    if not graphs[0].outputs:
        return []
    operands = unify(graphs)
    references = [define(graph, "backward") for graph in graphs]
    results = list(zip(*(graph.outputs for graph in graphs), strict=True))
    shapes: list[Shape] = [
        a.sizes if all(t.sizes == a.sizes for t in column) else None
        for column in results
        for a in column[:1]
    ]
    attrs: dict[str, AttrValue] = {
        "Tin": [tensor.dtype for tensor in operands],
        "Tout": [column[0].dtype for column in results],
    }
    kind = op.type.removeprefix("Stateless").removeprefix("Stateful")
    stateful = is_stateful(graphs)
    if kind == "PartitionedCall":
        kind = "StatefulPartitionedCall" if stateful else kind
        called = create(kind, [operands], {**attrs, "f": references[0]}, "gradient")
        for output, shape in zip(called.outputs, shapes, strict=True):
            output.set_shape(shape)
        return called.outputs
    attrs["output_shapes"] = shapes
    if kind == "If":
        attrs["then_branch"], attrs["else_branch"] = references
    else:
        attrs["branches"] = references
    kind = kind if stateful else f"Stateless{kind}"
    return create(kind, [op.inputs[0], operands], attrs, "gradient").outputs


@gradient("If", "StatelessIf")
def if_(op: Operation, *dys: Tensor | None) -> list[Tensor | None]:
    """Through the branch that was taken."""
    return _flow_back(op, ["then_branch", "else_branch"], 1, dys)


@gradient("Case", "StatelessCase")
def case(op: Operation, *dys: Tensor | None) -> list[Tensor | None]:
    """Through the branch that was taken."""
    return _flow_back(op, list(range(len(op.get_attr("branches")))), 1, dys)


@gradient("PartitionedCall", "StatefulPartitionedCall")
def partitioned_call(op: Operation, *dys: Tensor | None) -> list[Tensor | None]:
    """Through the function."""
    return _flow_back(op, ["f"], 0, dys)
