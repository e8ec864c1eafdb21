"""The derivative of a loop: a loop that goes back, over the values of each turn.

The forward loop is changed to count its turns and to keep, in lists, what the backward one reads:

    while c(x): x = f(x)           becomes      while c(x): n, list, x = n + 1, list + [v], f(x)
    while n: dx = df(dx, list.pop()); n = n - 1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.create import create
from ..core.function_graph import FunctionGraph, add_outputs, define, is_stateful, redefine
from ..core.graph import Operation, Tensor
from ..core.scopes import control_dependencies
from .backward_graph import (
    BackwardGraph,
    body_of,
    flows,
    gradient_dtype,
    is_variable,
    source_of,
    zeros_for,
)
from .registry import gradient

if TYPE_CHECKING:
    from ..core.protocols import AttrValue
    from ..core.shapes import Shape


def _list_shape(shape: Shape) -> np.ndarray:
    """The shape of a list's elements, -1 for what is not known."""
    if shape is None:
        return np.array(-1, np.int32)
    return np.array([-1 if size is None else size for size in shape], np.int32)


class _Loop:
    """A loop and its backward function."""

    def __init__(self, op: Operation):
        self.op = op
        self.body, self.body_reference = body_of(op, "body")
        self.condition, self.condition_reference = body_of(op, "cond")
        arguments, results = self.body.inputs, self.body.outputs
        self.places = {argument: i for i, argument in enumerate(arguments)}
        same = [a is r for a, r in zip(arguments, results, strict=True)]
        able = [flows(a) and is_variable(x) for a, x in zip(arguments, op.inputs, strict=True)]
        self.same = same
        self.carried = [i for i, yes in enumerate(able) if yes and not same[i]]
        self.constant = [i for i, yes in enumerate(able) if yes and same[i]]
        self.graph = BackwardGraph(self.body, self._bring)
        self.invariant: dict[int, Tensor] = {}
        self.popped: list[tuple[Tensor, Tensor, Tensor]] = []

    def _bring(self, graph: BackwardGraph, tensor: Tensor) -> Tensor:
        place = self.places.get(tensor)
        if place is not None and self.same[place]:
            inside = graph.argument(tensor)
            self.invariant[place] = graph.captures[tensor] = inside
            return inside
        like = ops.EmptyTensorList(np.int32(-1), np.int32(-1), element_dtype=tensor.dtype)
        before = graph.argument(like, "list")
        shape = _list_shape(tensor.sizes)
        after, value = ops.TensorListPopBack(before, shape, element_dtype=tensor.dtype)
        value.set_shape(tensor.sizes)
        self.popped.append((tensor, before, after))
        return value

    def trace(self) -> tuple[list[Tensor], list[Tensor]]:
        """Arguments and results of the backward function: the count, gradients, sums."""
        graph, op = self.graph, self.op
        with graph.as_default():
            remaining = graph.argument(ops.Identity(np.int32(0)), "remaining")
            dys = [graph.argument(op.outputs[i], "dy") for i in self.carried]
            sums = [self._sum_argument(i) for i in self.constant]
            ys = [self.body.outputs[i] for i in self.carried]
            places = [*self.carried, *self.constant]
            xs = [source_of(self.body, self.body.inputs[i]) for i in places]
            captured = [x if x is None else graph.capture(x) for x in graph.flow(ys, dys, xs)]
            n = len(self.carried)
            flown = [
                ops.ZerosLike(dy) if new is None else new
                for dy, new in zip(dys, captured[:n], strict=True)
            ]
            added = [
                total if new is None else ops.AddN([total, new])
                for total, new in zip(sums, captured[n:], strict=True)
            ]
            fewer = ops.Sub(remaining, np.int32(1))
        return [remaining, *dys, *sums], [fewer, *flown, *added]

    def _sum_argument(self, place: int) -> Tensor:
        operand = self.op.inputs[place]
        like = ops.Empty(np.zeros(0, np.int32), dtype=gradient_dtype(operand))
        shape = None if operand.dtype.names else operand.sizes
        if operand.dtype != gradient_dtype(operand):
            return self.graph.argument(like, "sum", None)
        return self.graph.argument(operand, "sum", shape)

    def keep_values(self) -> tuple[Tensor, list[Tensor]]:
        """Lets the forward loop count and keep values; gives the count and the lists after it."""
        op, popped = self.op, [tensor for tensor, _, _ in self.popped]
        with op.graph.as_default(), control_dependencies(None):
            starts = [ops.Identity(np.int32(0))]
            for tensor in popped:
                shape = _list_shape(tensor.sizes)
                starts.append(ops.EmptyTensorList(shape, np.int32(-1), element_dtype=tensor.dtype))
        with self.body.as_default():
            inside = [self.body.argument(start, "kept") for start in starts]
            results = [ops.AddV2(inside[0], np.int32(1))]
            results += [
                ops.TensorListPushBack(before, tensor)
                for before, tensor in zip(inside[1:], popped, strict=True)
            ]
        self.body.outputs += results
        for start in starts:
            self.condition.argument(start, "kept")
            op.add_input(start)
        outputs = add_outputs(op, starts, "T")
        redefine(self.body_reference, self.body)
        redefine(self.condition_reference, self.condition)
        return outputs[0], outputs[1:]

    def gradients(self, dys: list[Tensor | None]) -> list[Tensor | None]:
        """Adds the backward loop; gives the gradients by the operands."""
        op, graph = self.op, self.graph
        arguments, results = self.trace()
        count, lists = self.keep_values()
        starts = [
            ops.ZerosLike(op.outputs[i]) if dys[i] is None else cast("Tensor", dys[i])
            for i in self.carried
        ]
        sums = [zeros_for(op.inputs[i]) for i in self.constant]
        operands = [count, *starts, *sums, *lists]
        arguments += [before for _, before, _ in self.popped]
        results += [after for _, _, after in self.popped]
        for place, inside in self.invariant.items():
            operands.append(op.inputs[place])
            arguments.append(inside)
            results.append(inside)
        for tensor, inside in graph.outside.items():
            operands.append(tensor)
            arguments.append(inside)
            results.append(inside)
        graph.inputs, graph.outputs = arguments, results
        for index, argument in enumerate(arguments):
            argument.op.attrs["index"] = index
        outputs = _while(graph, operands)
        of_inputs: list[Tensor | None] = [None] * len(op.inputs)
        for i, output in zip([*self.carried, *self.constant], outputs[1:], strict=False):
            of_inputs[i] = output
        return of_inputs


def _while(graph: BackwardGraph, operands: list[Tensor]) -> list[Tensor]:
    """The outputs of a loop that runs while its first variable is positive."""
    condition = FunctionGraph(graph.caller)
    with condition.as_default():
        remaining, *_ = [condition.argument(argument) for argument in graph.inputs]
        condition.outputs = [ops.Greater(remaining, np.int32(0))]
    attrs: dict[str, AttrValue] = {
        "T": [tensor.dtype for tensor in operands],
        "output_shapes": [argument.sizes for argument in graph.inputs],
        "parallel_iterations": 10,
        "cond": define(condition, "backward_cond"),
        "body": define(graph, "backward_body"),
    }
    kind = "While" if is_stateful([graph]) else "StatelessWhile"
    return create(kind, [operands], attrs, "while").outputs


@gradient("While", "StatelessWhile")
def while_(op: Operation, *dys: Tensor | None) -> list[Tensor | None]:
    """Back through the turns, the last one first."""
    if all(dy is None for dy in dys):
        return [None] * len(op.inputs)
    return _Loop(op).gradients(list(dys))
