"""The derivative of a loop: a loop that goes back, over the values of each turn.

The forward loop is changed to count its turns and to keep, in lists, what the backward one reads:

    while c(x): x = f(x)           becomes      while c(x): n, list, x = n + 1, list + [v], f(x)
    while n: dx = df(dx, list.pop()); n = n - 1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.composite.indexed_slices import IndexedSlices, dense
from ..core.create import create
from ..core.function_graph import FunctionGraph, add_outputs, define, is_stateful, redefine
from ..core.graph import Operation, Tensor
from ..core.scopes import control_dependencies
from ..core.shapes import is_static
from .backward_graph import (
    BackwardGraph,
    body_of,
    flows,
    gradient_dtype,
    is_variable,
    passed_on,
    shape_for,
    shape_of,
    source_of,
    zeros_for,
)
from .reach import reached_variables
from .registry import gradient

if TYPE_CHECKING:
    from ..core.protocols import AttrValue
    from ..core.shapes import Shape
    from .registry import Gradient


def _list_shape(shape: Shape) -> np.ndarray:
    """The shape of a list's elements, -1 for what is not known."""
    if shape is None:
        return np.array(-1, np.int32)
    return np.array([-1 if size is None else size for size in shape], np.int32)


class _Loop:
    """A loop and its backward function.

    Args:
        op: The loop.
        dys: The gradients of its results, None where nothing reads them.
    """

    def __init__(self, op: Operation, dys: Sequence[Tensor | None]):
        self.op = op
        self.body, self.body_reference = body_of(op, "body")
        self.condition, self.condition_reference = body_of(op, "cond")
        arguments, results = self.body.inputs, self.body.outputs
        self.positions = {argument: i for i, argument in enumerate(arguments)}
        same = [a is r for a, r in zip(arguments, results, strict=True)]
        able = [flows(a) and is_variable(x) for a, x in zip(arguments, op.inputs, strict=True)]
        self.same = same
        reached = reached_variables(self.body, [i for i, dy in enumerate(dys) if dy is not None])
        self.carried = [i for i in reached if able[i] and not same[i]]
        self.constant = [i for i in reached if able[i] and same[i]]
        self.graph = BackwardGraph(self.body, self._bring)
        self.invariant: dict[int, Tensor] = {}
        self.popped: list[tuple[Tensor, Tensor, Tensor]] = []
        self.totals: dict[int, _Rows | _Sum] = {}

    def _is_same(self, tensor: Tensor) -> bool:
        """Whether it is an argument of the body that stays what it is."""
        place = self.positions.get(tensor)
        return place is not None and self.same[place]

    def _bring(self, graph: BackwardGraph, tensor: Tensor) -> Tensor:
        if self._is_same(tensor):
            place = self.positions[tensor]
            inside = graph.argument(tensor)
            self.invariant[place] = graph.captures[tensor] = inside
            return inside
        if tensor.op.type == "TensorListLength" and self._is_same(tensor.op.inputs[0]):
            return ops.TensorListLength(graph.capture(tensor.op.inputs[0]))
        like = ops.EmptyTensorList(np.int32(-1), np.int32(-1), element_dtype=tensor.dtype)
        before = graph.argument(like, "list")
        shape = _list_shape(tensor.sizes)
        after, value = ops.TensorListPopBack(before, shape, element_dtype=tensor.dtype)
        value.set_shape(tensor.sizes)
        self.popped.append((tensor, before, after))
        return value

    def trace(self) -> tuple[list[Tensor], list[Tensor]]:
        """Arguments and results of the backward function: the count, gradients, totals."""
        graph, op = self.graph, self.op
        with graph.as_default():
            remaining = graph.argument(ops.Identity(np.int32(0)), "remaining")
            dys = [graph.argument(op.outputs[i], "dy") for i in self.carried]
            ys = [self.body.outputs[i] for i in self.carried]
            variables = [*self.carried, *self.constant]
            xs = [source_of(self.body, self.body.inputs[i]) for i in variables]
            derivatives = graph.flow(ys, dys, xs)
            n = len(self.carried)
            flown = [
                ops.ZerosLike(dy) if new is None else graph.whole(new)
                for dy, new in zip(dys, derivatives[:n], strict=True)
            ]
            for i, new in zip(self.constant, derivatives[n:], strict=True):
                if new is None:
                    continue
                rows = _as_rows(new, op.inputs[i])
                total = _Sum(self, i, new) if rows is None else _Rows(self, i, rows)
                self.totals[i] = total
            fewer = ops.Sub(remaining, np.int32(1))
        totals = self.totals.values()
        arguments = [tensor for total in totals for tensor in total.arguments]
        results = [tensor for total in totals for tensor in total.results]
        return [remaining, *dys, *arguments], [fewer, *flown, *results]

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

    def gradients(self, dys: list[Tensor | None]) -> list[Gradient | None]:
        """Adds the backward loop; gives the gradients by the operands."""
        op, graph = self.op, self.graph
        if not self.carried:
            return [dy if i in self.constant else None for i, dy in enumerate(dys)]
        arguments, results = self.trace()
        count, lists = self.keep_values()
        starts = [
            ops.ZerosLike(op.outputs[i]) if dys[i] is None else cast("Tensor", dys[i])
            for i in self.carried
        ]
        totals = [start for total in self.totals.values() for start in total.starts()]
        operands = [count, *starts, *totals, *lists]
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
        outputs = iter(passed_on(_while(graph, operands), "Exit")[1:])
        of_inputs: list[Gradient | None] = [None] * len(op.inputs)
        for i in self.carried:
            of_inputs[i] = next(outputs)
        for i, total in self.totals.items():
            of_inputs[i] = total.gradient([next(outputs) for _ in total.results])
        for i in self.constant:
            of_inputs[i] = _both(of_inputs[i], dys[i])
        return of_inputs


def _both(total: Gradient | None, dy: Tensor | None) -> Gradient | None:
    """The gradient by what a loop reads and gives out as it is."""
    if total is None or dy is None:
        return dy if total is None else total
    return ops.AddN([dense(total), dy])


class _Sum:
    """The gradient by what is the same in all turns: the sum of theirs.

    Attributes:
        arguments, results: Of the backward function.
    """

    def __init__(self, loop: _Loop, place: int, new: Gradient):
        self._operand, graph = loop.op.inputs[place], loop.graph
        like, sizes = self._operand, self._operand.sizes
        if like.dtype != gradient_dtype(like):
            like = ops.Empty(np.zeros(0, np.int32), dtype=gradient_dtype(like))
            sizes = None
        elif like.dtype.names:
            sizes = None
        total = graph.argument(like, "sum", sizes)
        self.arguments = [total]
        self.results = [ops.AddN([total, graph.whole(new)])]

    def starts(self) -> list[Tensor]:
        """What the backward loop begins with."""
        return [zeros_for(self._operand)]

    def gradient(self, outputs: list[Tensor]) -> Tensor:
        """The sum, of what comes out of the backward loop."""
        return outputs[0]


def _as_rows(gradient: Gradient, operand: Tensor) -> IndexedSlices | None:
    """A gradient of rows whose sizes are known, which lists can hold; None for any other."""
    if not isinstance(gradient, IndexedSlices):
        return None
    whole = shape_of(operand)
    if whole is not None and is_static(whole[1:]):
        gradient.values.set_shape([None, *whole[1:]])
    gradient.indices.set_shape([None])
    sizes = gradient.values.sizes
    return None if sizes is None or not is_static(sizes[1:]) else gradient


class _Rows:
    """The gradient by something in which each turn looks rows up: the rows of all turns.

    Before them comes a row of zeros for index 0, as in TensorFlow, whose optimizers see it.

    Attributes:
        arguments, results: Of the backward function.
    """

    def __init__(self, loop: _Loop, place: int, new: IndexedSlices):
        self._operand, graph = loop.op.inputs[place], loop.graph
        self._parts = [graph.capture(part) for part in (new.values, new.indices)]
        self.arguments = [graph.argument(_empty_list(part), "rows") for part in self._parts]
        self.results = [
            ops.TensorListPushBack(before, part)
            for before, part in zip(self.arguments, self._parts, strict=True)
        ]

    def starts(self) -> list[Tensor]:
        """What the backward loop begins with."""
        return [_empty_list(part) for part in self._parts]

    def gradient(self, outputs: list[Tensor]) -> IndexedSlices:
        """The rows, of what comes out of the backward loop."""
        values, indices = (
            _joined(rows, part) for rows, part in zip(outputs, self._parts, strict=True)
        )
        return IndexedSlices(values, indices, shape_for(self._operand))


def _empty_list(part: Tensor) -> Tensor:
    """A list of tensors like `part`."""
    shape = _list_shape(part.sizes)
    return ops.EmptyTensorList(shape, np.int32(-1), element_dtype=part.dtype)


def _joined(rows: Tensor, part: Tensor) -> Tensor:
    """The tensors of a list one behind the other, behind a row of zeros."""
    sizes = part.sizes or ()
    tail = [size for size in sizes[1:] if size is not None]
    zero = np.zeros((1, *tail), part.dtype)
    if is_static(sizes):
        stacked = ops.TensorListStack(rows, _list_shape(part.sizes), element_dtype=part.dtype)
        joined = ops.Reshape(stacked, np.array([-1, *tail], np.int32))
    else:
        joined, _ = ops.TensorListConcatV2(
            rows, _list_shape(part.sizes), np.zeros(0, np.int64), element_dtype=part.dtype
        )
    return ops.ConcatV2([zero, joined], np.int32(0))


def _while(graph: BackwardGraph, operands: list[Tensor]) -> Operation:
    """A loop that runs while its first variable is positive."""
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
    return create(kind, [operands], attrs, "while")


@gradient("While", "StatelessWhile")
def while_(op: Operation, *dys: Tensor | None) -> list[Gradient | None]:
    """Back through the turns, the last one first."""
    if all(dy is None for dy in dys):
        return [None] * len(op.inputs)
    return _Loop(op, dys).gradients(list(dys))
