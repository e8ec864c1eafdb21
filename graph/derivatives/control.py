"""Derivatives of operations that call functions: branches and calls; loops are in loop.py.

What the backward function reads of the forward one's values becomes more results of the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...schema import dtypes
from ..core.build import ops
from ..core.calls import CALLS, call_type, called_function
from ..core.composite.indexed_slices import IndexedSlices
from ..core.create import constant, create
from ..core.function_graph import (
    ABSENT,
    FunctionGraph,
    add_outputs,
    define,
    is_stateful,
    redefine,
    unify,
)
from ..core.graph import Operation, Tensor
from ..core.signatures.attributes import FunctionRef
from .backward_graph import (
    BackwardGraph,
    body_of,
    flows,
    is_variable,
    passed_on,
    shape_for,
    shape_of,
    source_of,
    zeros_for,
)
from .registry import gradient

if TYPE_CHECKING:
    from ..core.protocols import AttrValue
    from ..core.shapes import Shape
    from .registry import Gradient


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

    def trace(self, dys: dict[int, Tensor], operands: Sequence[int]) -> list[Gradient | None]:
        """The gradients by the arguments `operands`, inside of the backward function."""
        with self.backward.as_default():
            ys = [self.body.outputs[i] for i in dys]
            grad_ys = [self.backward.capture(dy) for dy in dys.values()]
            xs = [source_of(self.body, self.body.inputs[i]) for i in operands]
            return self.backward.flow(ys, grad_ys, xs)

    def whole(self, operand: Tensor, gradient: Gradient | None) -> Tensor:
        """A gradient by an operand inside of the backward function; zeros where it is None."""
        with self.backward.as_default():
            if gradient is None:
                gradient = zeros_for(self.backward.capture(operand))
            return self.backward.whole(gradient)

    def rows(
        self, operand: Tensor, gradient: Gradient | None, index: np.dtype
    ) -> tuple[Tensor, Tensor]:
        """Rows of a gradient inside of the backward function and where they stand, of type `index`.

        All of them, zeros, where the gradient is None, as in TensorFlow, whose optimizers see it.
        """
        graph = self.backward
        with graph.as_default():
            if isinstance(gradient, IndexedSlices):
                indices = ops.Cast(gradient.indices, DstT=index)
                return graph.capture(gradient.values), graph.capture(indices)
            zeros = zeros_for(graph.capture(operand))
            n_rows = ops.Cast(ops.Shape(zeros)[0], DstT=index)
            return zeros, ops.Range(np.zeros((), index), n_rows, np.ones((), index))


def _index_dtype(gradients: Sequence[Gradient | None]) -> np.dtype | None:
    """The type of the indices where all gradients are rows, or None; None where they are not."""
    present = [gradient for gradient in gradients if gradient is not None]
    sliced = [gradient for gradient in present if isinstance(gradient, IndexedSlices)]
    if len(sliced) < len(present):
        return None
    return np.result_type(*(gradient.indices.dtype for gradient in sliced))


def _absent(body: FunctionGraph, tensor: Tensor) -> Tensor:
    """What a function gives in the place of a value that another one has: no rows of its rank."""
    with body.as_default():
        if tensor.dtype == dtypes.VARIANT:
            none = np.int32(-1)
            return ops.EmptyTensorList(none, none, element_dtype=np.dtype(np.float32))
        sizes = (0, *(size or 0 for size in tensor.sizes[1:])) if tensor.sizes else ()
        empty = constant(b"" if tensor.dtype.kind == "O" else np.zeros(sizes, tensor.dtype))
        empty.op.attrs[ABSENT] = True
        return empty


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
) -> list[Gradient | None]:
    """The gradients of a call of one of several functions by what it is given.

    Where all functions only look rows up, the gradient is of these rows.
    """
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
    indices = {j: _index_dtype([of_operands[j] for of_operands in traced]) for j in used}
    for branch, of_operands in zip(branches, traced, strict=True):
        for j, index in indices.items():
            operand, new = operands[differentiable[j]], of_operands[j]
            if index is None:
                branch.backward.outputs.append(branch.whole(operand, new))
            else:
                branch.backward.outputs += branch.rows(operand, new, index)
    _add_results(op, branches, "Tout")
    results: list[Gradient | None] = [None] * len(op.inputs)
    outputs = iter(_call(op, [branch.backward for branch in branches], first))
    for j, index in indices.items():
        place, new = first + differentiable[j], next(outputs)
        if index is None:
            results[place] = new
        else:
            results[place] = _rows_of(new, next(outputs), op.inputs[place])
    return results


def _rows_of(values: Tensor, indices: Tensor, operand: Tensor) -> IndexedSlices:
    """What flows back to an operand of which rows were looked up."""
    whole = shape_of(operand)
    values.set_shape(None if whole is None else [None, *whole[1:]])
    indices.set_shape([None])
    return IndexedSlices(values, indices, shape_for(operand))


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
    return passed_on(create(kind, [op.inputs[0], operands], attrs, "gradient"), "Merge")


@gradient("If", "StatelessIf")
def if_(op: Operation, *dys: Tensor | None) -> list[Gradient | None]:
    """Through the branch that was taken."""
    return _flow_back(op, ["then_branch", "else_branch"], 1, dys)


@gradient("Case", "StatelessCase")
def case(op: Operation, *dys: Tensor | None) -> list[Gradient | None]:
    """Through the branch that was taken."""
    return _flow_back(op, list(range(len(op.get_attr("branches")))), 1, dys)


@gradient("PartitionedCall", "StatefulPartitionedCall")
def partitioned_call(op: Operation, *dys: Tensor | None) -> list[Gradient | None]:
    """Through the function, or as the one computes that its library names as its gradient."""
    reference = called_function(op)
    assert reference is not None
    name = op.graph.functions.gradients.get(reference.name)
    if name is not None:
        return _by_gradient_function(op, FunctionRef(name, reference.attrs), dys)
    if op.type != call_type(op):
        _call_by_attribute(op, reference)
    return _flow_back(op, ["f"], 0, dys)


def _by_gradient_function(
    op: Operation, reference: FunctionRef, dys: Sequence[Tensor | None]
) -> list[Gradient | None]:
    """What a function gives for the operands of a call and the gradients of its results."""
    arrived = [
        ops.ZerosLike(y) if dy is None else dy for y, dy in zip(op.outputs, dys, strict=True)
    ]
    operands = [*op.inputs, *arrived]
    types: dict[str, AttrValue] = {
        "Tin": [tensor.dtype for tensor in operands],
        "Tout": [tensor.dtype for tensor in op.inputs],
    }
    is_stateful = op.graph.functions[reference.name].signature.is_stateful
    call = create(CALLS[is_stateful], [operands], {**types, "f": reference}, "gradient")
    for operand, output in zip(op.inputs, call.outputs, strict=True):
        output.set_shape(operand.sizes)
    return list(call.outputs)


def _call_by_attribute(op: Operation, reference: FunctionRef) -> None:
    """Turns an operation whose type is a function's name into one that can get more results."""
    op.type = call_type(op)
    op.signature = op.graph.functions.signature_of(op.type)
    op.attrs["f"] = reference
    op.attrs["Tin"] = [tensor.dtype for tensor in op.inputs]
    op.attrs["Tout"] = [tensor.dtype for tensor in op.outputs]
