"""Loops of Switch, Merge and frames, as TensorFlow 1 writes them, made While operations in place.

A gradient flows through the functions of a While (loop.py). So a loop that it meets becomes one
first: what were its Exit operations give the While's results, under their names.

    Enter -> Merge -> Switch -> Exit -> y         becomes         While -> Identity -> y
               |__________|
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from ..core.build import ops
from ..core.function_graph import FunctionGraph
from ..core.graph import Graph, Operation, Tensor
from ..core.order import Cycle, copied_from, data_and_control_inputs, ordered
from ..core.scopes import control_dependencies, name_scope
from ..core.shapes import Shape, common_shape
from ..format.dataflow_graph import (
    CONTROL,
    ENTERS,
    EXITS,
    ITERATIONS,
    MERGES,
    SWITCHES,
    ControlFlow,
    reached,
)
from ..functions.flow.conditional import call_one_of
from ..functions.flow.loops import functional_while


class UnknownForm(ValueError):
    """A loop or branch has another form than TensorFlow gives it."""


class Choice(NamedTuple):
    """What decides which input of a Merge is alive.

    Attributes:
        condition: A boolean tensor.
        true_index: Which input is alive where it holds.
    """

    condition: Tensor
    true_index: int


Deadness: TypeAlias = "frozenset[tuple[Tensor, int]]"
"""Conditions of branches and their values at which something is alive."""


def choice_of(merge: Operation, deadness: Mapping[Operation, Deadness] | None = None) -> Choice:
    """What decides which input of the Merge of a branch is alive.

    `deadness` is that of operations; of what the Merge needs by default. Raises UnknownForm where
    it is not one condition that decides.
    """
    if deadness is None:
        deadness = deadness_of([merge])
    sides = [_of_tensor(tensor, deadness) for tensor in merge.inputs]
    both = frozenset[tuple[Tensor, int]].intersection(*sides)
    beside = [side - both for side in sides]
    if len(sides) == 2 and all(len(literals) == 1 for literals in beside):
        ((source, value),), ((other, other_value),) = beside
        if source is other and value != other_value:
            return Choice(source, 0 if value else 1)
    raise UnknownForm(f"Merge '{merge.name}' does not end two branches of one condition")


def _is_of_loop(switch: Operation) -> bool:
    return switch.inputs[1].op.type == "LoopCond"


def _is_back_edge(tensor: Tensor) -> bool:
    return tensor.op.type in ITERATIONS


def _of_tensor(tensor: Tensor, deadness: Mapping[Operation, Deadness]) -> Deadness:
    op = tensor.op
    if op.type not in SWITCHES or _is_of_loop(op):
        return deadness[op]
    return deadness[op] | {(copied_from(op.inputs[1]), tensor.value_index)}


def deadness_of(operations: Iterable[Operation]) -> dict[Operation, Deadness]:
    """At which conditions of branches operations, and what they need, are alive."""
    deadness: dict[Operation, Deadness] = {}
    for op in ordered(operations, data_and_control_inputs):
        sides = [_of_tensor(t, deadness) for t in op.inputs if not _is_back_edge(t)]
        if op.type in MERGES and len(sides) == len(op.inputs):
            deadness[op] = sides[0].intersection(*sides[1:])
        else:
            sides += [deadness[x] for x in op.control_inputs if x in deadness]
            deadness[op] = frozenset[tuple[Tensor, int]]().union(*sides)
    return deadness


@dataclass
class _Loop:
    """A frame of TensorFlow 1.

    Attributes:
        condition: Its LoopCond.
        enters, merges, next_values: Of each variable the Enter, the Merge, and its value in the
            next iteration.
        positions: Each Switch -> its variable.
        exits: Each Exit -> its variable.
    """

    condition: Operation
    enters: list[Operation]
    merges: list[Operation]
    next_values: list[Tensor]
    positions: dict[Operation, int]
    exits: dict[Operation, int]

    @classmethod
    def of(cls, exit_: Operation) -> _Loop:
        """The loop that an Exit leaves; raises UnknownForm where it is no while_loop."""
        switch = exit_.inputs[0].op
        if switch.type not in SWITCHES or switch.inputs[1].op.type != "LoopCond":
            raise UnknownForm(f"'{exit_.name}' does not leave a loop by its condition")
        loop = cls(switch.inputs[1].op, [], [], [], {}, {})
        for switch in dict.fromkeys(loop.condition.outputs[0].consumers()):
            if switch.type in SWITCHES:
                loop._add(switch)
        return loop

    def _add(self, switch: Operation) -> None:
        merge = switch.inputs[0].op
        ends = {t.op.type: t for t in merge.inputs}
        enters = [ends[kind].op for kind in ENTERS if kind in ends]
        nexts = [ends[kind].op for kind in ITERATIONS if kind in ends]
        if merge.type not in MERGES or len(merge.inputs) != 2 or not enters or not nexts:
            raise UnknownForm(f"'{switch.name}' is not the Switch of a loop's variable")
        self.positions[switch] = len(self.merges)
        for reader in switch.outputs[0].consumers():
            if reader.type in EXITS:
                self.exits[reader] = len(self.merges)
        self.enters.append(enters[0])
        self.merges.append(merge)
        self.next_values.append(nexts[0].inputs[0])

    @property
    def starts(self) -> list[Tensor]:
        """What the variables begin with, around the loop."""
        return [enter.inputs[0] for enter in self.enters]


class _Source:
    """What is known of the operations that loops become functions of."""

    def __init__(self, operations: Sequence[Operation]):
        self.operations = operations

    @cached_property
    def effects(self) -> set[Operation]:
        """Operations with effects, and what follows them between branches and loops."""
        effects: set[Operation] = set()
        for op in ordered(self.operations, data_and_control_inputs):
            if op.type in CONTROL:
                continue
            is_stateful = op.signature is None or op.signature.is_stateful
            if is_stateful or any(x in effects for x in data_and_control_inputs(op)):
                effects.add(op)
        return effects

    @cached_property
    def _choices(self) -> dict[Tensor, dict[Operation, Choice]]:
        """The Merges of branches, by the condition."""
        choices: dict[Tensor, dict[Operation, Choice]] = {}
        deadness = deadness_of(self.operations)
        for op in self.operations:
            if op.type in MERGES and not any(map(_is_back_edge, op.inputs)):
                choice = choice_of(op, deadness)
                choices.setdefault(choice.condition, {})[op] = choice
        return choices

    @cached_property
    def choices(self) -> dict[Operation, Choice]:
        """What decides about each Merge of a branch."""
        return {op: choice for merges in self._choices.values() for op, choice in merges.items()}

    def together(self, merge: Operation) -> dict[Operation, Choice]:
        """The Merges that end the same branches as `merge`: none needs another one's result."""
        merges = self._choices[self.choices[merge].condition]
        needed = {m: self._needed(m, merges) for m in merges}
        return {m: merges[m] for m in merges if needed[m] == needed[merge]}

    @staticmethod
    def _needed(merge: Operation, merges: Iterable[Operation]) -> set[Operation]:
        """Those of `merges` that one of them needs."""
        return set(ordered([merge], data_and_control_inputs)[:-1]) & set(merges)


class _Region:
    """A function in the making: of what stands within a loop, or on one side of a branch.

    Args:
        source: What is known of all operations.
        graph: The function.
        outer: The region around; None in the graph of the loops.
        values: Tensors -> what stands for them here.
        side: The condition of a branch and its value here; None in loops.
    """

    def __init__(
        self,
        source: _Source,
        graph: Graph,
        outer: _Region | None = None,
        values: Mapping[Tensor, Tensor] | None = None,
        side: tuple[Tensor, int] | None = None,
    ):
        self._source, self._graph, self._outer, self._side = source, graph, outer, side
        self._values = dict(values or {})
        self._copies: dict[Operation, Operation] = {}

    def value(self, tensor: Tensor) -> Tensor:
        """What stands here for a tensor; made with all it needs."""
        if self._outer is None:
            return tensor
        if not self._comes_from_outside(tensor):
            self._make([tensor.op])
        return self._of(tensor)

    def _make(self, operations: Sequence[Operation]) -> None:
        for op in ordered(operations, self._needs):
            if op not in self._copies and not all(t in self._values for t in op.outputs or [None]):
                self._emit(op)

    def _comes_from_outside(self, tensor: Tensor) -> bool:
        return tensor.op.type in (*SWITCHES, *ENTERS) or self._has(tensor)

    def _has(self, tensor: Tensor) -> bool:
        """Whether this region has a value for a tensor, or one around it."""
        return tensor in self._values or (self._outer is not None and self._outer._has(tensor))

    def _needs(self, op: Operation) -> list[Operation]:
        """What has to be made here before an operation."""
        if op in self._copies:
            return []
        tensors = list(op.inputs)
        if op.type in EXITS:
            tensors = _Loop.of(op).starts
        elif op.type in MERGES:
            tensors = [self._source.choices[op].condition]
        inside = [t.op for t in tensors if not self._comes_from_outside(t)]
        if op.type in CONTROL:
            return inside
        waits = [x for x in self._awaited(op) if not any(map(self._has, x.outputs[:1]))]
        return [*inside, *waits]

    def _awaited(self, op: Operation) -> list[Operation]:
        """The operations with effects for which one waits."""
        kinds, effects = (*EXITS, *MERGES), self._source.effects
        return [x for x in op.control_inputs if x.type in kinds or x in effects]

    def _of(self, tensor: Tensor) -> Tensor:
        """What stands for a tensor that is made, or comes from the region around."""
        if tensor not in self._values:
            self._values[tensor] = self._graph.capture(self._from_outside(tensor))
        return self._values[tensor]

    def _from_outside(self, tensor: Tensor) -> Tensor:
        op, outer = tensor.op, self._outer
        assert outer is not None
        if outer._has(tensor):
            return outer.value(tensor)
        if op.type in SWITCHES:
            if self._side == (copied_from(op.inputs[1]), tensor.value_index):
                return outer.value(op.inputs[0])
            if self._side is not None:
                return outer.value(tensor)
        elif op.type in ENTERS:
            return outer.value(tensor if self._side is not None else op.inputs[0])
        raise UnknownForm(f"'{op.name}' ({op.type}) stands in another loop or branch")

    def _emit(self, op: Operation) -> None:
        if op.type in EXITS:
            self._add_loop(_Loop.of(op))
        elif op.type in MERGES:
            self._add_branches(self._source.together(op))
        elif op.type in CONTROL and op.type != "LoopCond":
            raise UnknownForm(f"'{op.name}' ({op.type}) stands in another loop or branch")
        else:
            self._copy(op)

    def _copy(self, op: Operation) -> None:
        graph = self._graph
        controls = [self._copies[x] for x in self._awaited(op) if x in self._copies]
        inputs = [self._of(tensor) for tensor in op.inputs]
        name, n_outputs = graph.unique_name(op.name), len(op.outputs)
        copied = graph.add(op.type, name, inputs, op.attrs, controls, op.device, n_outputs)
        self._copies[op] = copied
        for old, new in zip(op.outputs, copied.outputs, strict=True):
            new.set_shape(old.sizes)
            self._values[old] = new

    def _add_branches(self, merges: Mapping[Operation, Choice]) -> None:
        """An If for all Merges that end the same branches."""
        first = next(iter(merges.values()))
        selector, name = self.value(first.condition), next(iter(merges)).name
        bodies = [self._side_of(merges, first.condition, value) for value in (1, 0)]
        with self._graph.as_default():
            outputs = call_one_of("If", selector, bodies, [f"{name}_true", f"{name}_false"], name)
        for (merge, choice), output in zip(merges.items(), outputs, strict=True):
            self._values[merge.outputs[0]] = output
            self._copies[merge] = output.op
            if merge.outputs[1].consumers():
                with self._graph.as_default():
                    index = ops.Cast(selector, DstT=np.dtype(np.int32))
                    is_first = choice.true_index == 0
                    index = ops.Sub(np.int32(1), index) if is_first else index
                self._values[merge.outputs[1]] = index

    def _side_of(
        self, merges: Mapping[Operation, Choice], condition: Tensor, value: int
    ) -> FunctionGraph:
        """The function of the branch that is taken where the condition has a value."""
        body = FunctionGraph(self._graph)
        region = _Region(self._source, body, self, side=(condition, value))
        for merge, choice in merges.items():
            index = choice.true_index if value else 1 - choice.true_index
            body.outputs.append(body.capture(region.value(merge.inputs[index])))
        return body

    def _add_loop(self, loop: _Loop) -> None:
        outputs = self.add_loop(loop)
        for exit_, i in loop.exits.items():
            self._values[exit_.outputs[0]] = outputs[i]
            self._copies[exit_] = outputs[i].op

    def add_loop(self, loop: _Loop) -> list[Tensor]:
        """A While here; gives its variables after it."""
        starts = [self.value(tensor) for tensor in loop.starts]
        shapes = [
            start.sizes if merge.outputs[0].sizes is None else merge.outputs[0].sizes
            for start, merge in zip(starts, loop.merges, strict=True)
        ]
        while True:
            body = self._body(loop, shapes)
            results = zip(shapes, body.outputs[: len(shapes)], strict=True)
            after = [common_shape([shape, t.sizes]) for shape, t in results]
            if after == shapes:
                break
            shapes = after
        condition = self._function(loop, shapes, loop.condition.inputs[:1], has_switches=False)
        scope = loop.condition.name.rpartition("/")[0] or "while"
        with self._graph.as_default():
            return functional_while(condition, body, starts, shapes, scope)

    def _body(self, loop: _Loop, shapes: Sequence[Shape]) -> FunctionGraph:
        return self._function(loop, shapes, loop.next_values, has_switches=True)

    def _function(
        self, loop: _Loop, shapes: Sequence[Shape], results: Sequence[Tensor], has_switches: bool
    ) -> FunctionGraph:
        """The condition or the body of a loop, with arguments of these shapes."""
        graph = FunctionGraph(self._graph)
        region = _Region(self._source, graph, self)
        for merge, shape in zip(loop.merges, shapes, strict=True):
            region._values[merge.outputs[0]] = graph.argument(merge.outputs[0], shape=shape)
        if has_switches:
            for switch, i in loop.positions.items():
                region._values[switch.outputs[1]] = graph.inputs[i]
        graph.outputs = [graph.capture(region.value(tensor)) for tensor in results]
        return graph


def functionalize_loops(ys: Sequence[Tensor], xs: Sequence[Tensor]) -> None:
    """Makes the loops between `xs` and `ys` While operations, in their place.

    Raises LookupError, naming an Exit, where one has another form than TensorFlow gives it.
    """
    operations = reached(ys, ())
    if not any(op.type in EXITS for op in operations):
        return
    affected = {x.op for x in xs}
    waiting = [op for op in operations if op in affected]
    inside = set(operations)
    while waiting:
        readers = {r for t in waiting.pop().outputs for r in t.consumers() if r in inside}
        waiting += readers - affected
        affected |= readers
    frames = ControlFlow(operations, ()).frames
    exits = [op for op in operations if op.type in EXITS and op in affected]
    region = _Region(_Source(operations), ys[0].graph)
    for op in exits:
        frame = frames[op].parent
        if op.type in EXITS and frame is not None and frame.parent is None:
            _replace(op, region)


def _replace(exit_: Operation, region: _Region) -> None:
    """Puts a While in the place of the loop that an Exit leaves."""
    try:
        loop = _Loop.of(exit_)
        with name_scope(None), control_dependencies(None):
            outputs = region.add_loop(loop)
    except (Cycle, UnknownForm) as error:
        raise LookupError(
            f"No gradient defined for operation '{exit_.name}' (op type: {exit_.type}). {error}"
        ) from None
    for op, i in loop.exits.items():
        op.type, op.signature = "Identity", op.graph.functions.signature_of("Identity")
        op.set_input(0, outputs[i])
        op.outputs[0].set_shape(outputs[i].sizes)
