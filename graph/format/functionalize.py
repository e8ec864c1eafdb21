r"""Branches and loops of Switch, Merge and frames as If and While with functions.

/ 0 ------------------------> Exit -> y
x -> Enter -> Merge -> Switch                              becomes    x -> While -> y
^        \ 1 -> body -> NextIteration
|______________________________|

What lives under the same conditions (dataflow_graph.py) becomes a function: the side of a branch,
the body of a loop. Only what is run is looked at, so the graph stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..core.function_graph import ABSENT, FunctionGraph, define, is_stateful, unify, unify_behind
from ..core.graph import Graph, Operation, Tensor
from ..core.order import copied_from, ordered
from ..core.registry import row_of
from ..core.shapes import Shape, common_shape, is_static
from .dataflow_graph import ENTERS, EXITS, ITERATIONS, MERGES, TRIGGER, Frame
from .functional_run import PASSING, PLACED, NotFunctionalizable, Run

if TYPE_CHECKING:
    from ..core.protocols import AttrValue
    from .dataflow_graph import ControlFlow, Deadness
    from .functional_run import Feeds, Item


class Functional(NamedTuple):
    """A graph without control flow that does what a run of another one does.

    Attributes:
        graph: It.
        tensors: Fetched and fed tensors of the other graph -> those of this one.
        operations: Fetched operations of the other graph -> what to run for them.
        origins: Operations of this graph, and of its functions -> those of the other one.
    """

    graph: Graph
    tensors: dict[Tensor, Tensor]
    operations: dict[Operation, list[Operation]]
    origins: dict[Operation, Operation]


def functionalize(
    flow: ControlFlow,
    fetches: Iterable[Tensor | Operation],
    feeds: Feeds,
    has_effects: bool = True,
) -> Functional | None:
    """What a run does, by functions; None where it has a form that TensorFlow does not write.

    Without `has_effects`, only what the fetches are computed from, in any order.
    """
    try:
        return _functional(Run(flow, feeds, list(fetches), has_effects))
    except (NotFunctionalizable, ValueError):
        return None


def _functional(run: Run) -> Functional:
    """The graph for the fetches."""
    flow, fetches = run.flow, run.fetches
    fetched = [item for item in fetches if isinstance(item, Tensor)]
    if any(t not in run.feeds and flow.of_tensor(t) for t in fetched):
        raise NotFunctionalizable
    graph = Graph(fetches[0].graph.functions)
    graph.scopes.extras = fetches[0].graph.scopes.extras
    root = _Region(run, graph, None, frozenset())
    tensors: dict[Tensor, Tensor] = {}
    for tensor, (shape, dtype) in run.feeds.items():
        name = graph.unique_name(tensor.op.name)
        attrs: dict[str, AttrValue] = {"dtype": np.dtype(dtype), "shape": shape}
        if tensor.dtype.kind in "OV":
            attrs["dtype"] = tensor.dtype
        tensors[tensor] = root.values[tensor] = graph.add("Placeholder", name, (), attrs).outputs[0]
    fed = {tensor.op for tensor in run.feeds}
    whole = [op for op in flow.root.operations if op not in fed or not run.is_fed(op)]
    root.emit([*whole, *flow.root.children])
    tensors.update((t, root.value(t)) for t in fetched)
    operations = {
        op: root.ends([op]) for op in fetches if isinstance(op, Operation) and op in flow.frames
    }
    return Functional(graph, tensors, operations, run.origins)


class _Branch(NamedTuple):
    """What is behind a condition, as far as it can be done at once."""

    condition: Tensor
    depth: int


_Unit: TypeAlias = "Item | _Branch"


class _Region:
    """A graph in the making: that of the run, of a side of a branch, or of a part of a loop.

    Attributes:
        values: What stands here for tensors of the run.
        outputs: The results of the function.
        outer: Operations around that something in here waits for.
        earlier: Operations that have run before anything in here.
    """

    def __init__(self, run: Run, graph: Graph, parent: _Region | None, literals: Deadness):
        self.run, self.graph, self.parent, self.literals = run, graph, parent, literals
        self.values: dict[Tensor, Tensor] = {}
        self.outputs: list[Tensor] = []
        self.done: dict[Operation, Operation] = {}
        self.outer: dict[Operation, None] = {}
        self.earlier: set[Operation] = set()
        self.inside: set[Operation] = set()
        self._units: dict[Operation, _Unit] = {}
        self._counts = Counter[Tensor]()

    def child(self, literals: Deadness) -> _Region:
        """A region for a function that is called here."""
        return _Region(self.run, FunctionGraph(self.graph), self, literals)

    def value(self, tensor: Tensor) -> Tensor:
        """What stands here for a tensor."""
        key = self.run.source(tensor)
        value = self.values.get(key)
        if value is None:
            if self.parent is None or key.op in self.inside:
                raise NotFunctionalizable
            value = self.values[key] = self.graph.capture(self.parent.value(key))
        return value

    def ends(self, operations: Iterable[Operation]) -> list[Operation]:
        """What to wait for here, in the place of some operations; those around are noted."""
        ends: dict[Operation, None] = {}
        seen, stack = set[Operation](), list(operations) if self.run.has_effects else []
        while stack:
            op = stack.pop()
            if op in seen or op in self.earlier or op not in self.run.flow.frames:
                continue
            seen.add(op)
            if op in self.done:
                ends[self.done[op]] = None
            elif op.type in PASSING:
                stack += [*op.control_inputs, *(t.op for t in op.inputs if t not in self.run.feeds)]
            elif op in self.inside:
                raise NotFunctionalizable
            elif self.parent is not None:
                self.outer[op] = None
        return list(ends)

    def emit(self, items: Sequence[Item]) -> None:
        """Adds what is to be done for items that live here, or under conditions within."""
        run = self.run
        items = [x for x in items if run.is_needed(x)]
        items = [x for x in items if isinstance(x, Frame) or x.type not in PLACED]
        for item in items:
            self.inside.update(run.inner(item))
        for item in items:
            self._counts.update(self._conditions(item))
        contents = self._grouped(items)

        def before(unit: _Unit) -> list[_Unit]:
            parts = contents[unit] if isinstance(unit, _Branch) else [unit]
            units = [x for part in parts for x in run.nearest(part, self._units)]
            return [x for x in dict.fromkeys(units) if x != unit]

        for unit in ordered([*contents], before):
            if isinstance(unit, _Branch):
                self._emit_branch(unit, contents[unit])
            elif isinstance(unit, Frame):
                self._emit_loop(unit)
            else:
                self._emit_copy(unit)

    def _conditions(self, item: Item) -> list[Tensor]:
        """The conditions within this region that decide on an item; of a Merge its own, too."""
        literals = [*(self.run.deadness(item) - self.literals)]
        if isinstance(item, Operation) and item.type in MERGES:
            literals += self._decided(item)
        conditions = [condition for condition, value in literals if value >= 0]
        if len(conditions) < len(literals):
            raise NotFunctionalizable
        return [x for x in dict.fromkeys(conditions) if isinstance(x, Tensor)]

    def _decided(self, merge: Operation) -> list[tuple[object, int]]:
        """The literal that lets the first input of a Merge live, and not the second one."""
        flow = self.run.flow
        sides = flow.sides(merge)
        literals = [*(sides[0] - flow.deadness[merge])]
        if len(sides) != 2 or len(literals) != 1:
            raise NotFunctionalizable
        return literals

    def _unit(self, item: Item, depth: int) -> _Unit:
        conditions = self._conditions(item)
        if not conditions:
            return item
        return _Branch(max(conditions, key=lambda x: self._counts[x]), depth)

    def _grouped(self, items: Sequence[Item]) -> dict[_Unit, list[Item]]:
        """The units of items: what is behind one condition together, unless that makes a cycle."""
        run, inside = self.run, {op: item for item in items for op in self.run.inner(item)}
        depths: dict[Item, int] = {}
        dependents: dict[Item, list[Item]] = {}

        def before(item: Item) -> list[Item]:
            return [x for x in run.nearest(item, inside) if x is not item]

        order = ordered(items, before)
        for item in order:
            depth = 0
            mine = self._unit(item, 0)
            for other in before(item):
                dependents.setdefault(other, []).append(item)
                unit = self._units[next(iter(run.inner(other)))]
                leaves = isinstance(unit, _Branch) and not (
                    isinstance(mine, _Branch) and mine.condition is unit.condition
                )
                leaves = leaves or (
                    isinstance(mine, _Branch)
                    and isinstance(unit, _Branch)
                    and isinstance(other, Operation)
                    and other.type in MERGES
                    and not (run.deadness(other) - self.literals)
                )
                depth = max(depth, depths[other] + leaves)
            depths[item] = depth
            self._units.update(dict.fromkeys(run.inner(item), self._unit(item, depth)))
        self._put_off(order, dependents)
        contents: dict[_Unit, list[Item]] = {}
        for item in order:
            contents.setdefault(self._units[next(iter(run.inner(item)))], []).append(item)
        return contents

    def _put_off(self, order: Sequence[Item], dependents: Mapping[Item, Sequence[Item]]) -> None:
        """Lets a later part of a branch compute what that part alone reads."""
        for item in reversed(order):
            if not isinstance(item, Operation) or item.type in MERGES:
                continue
            unit, row = self._units[item], row_of(item.type)
            if not isinstance(unit, _Branch) or row is None or not row.is_pure:
                continue
            later = [self._units[next(iter(self.run.inner(x)))] for x in dependents.get(item, ())]
            depths = [
                x.depth for x in later if isinstance(x, _Branch) and x.condition is unit.condition
            ]
            readers = [x for tensor in item.outputs for x in self.run.readers.get(tensor, ())]
            if depths and len(depths) == len(later) and self.inside.issuperset(readers):
                self._units[item] = _Branch(unit.condition, min(depths))

    def _emit_copy(self, op: Operation) -> None:
        run = self.run
        controls = self.ends(run.waits(op))
        if op.type == TRIGGER:
            copy = self.graph.add("NoOp", op.name, (), {}, controls, op.device)
        else:
            inputs = [self.value(tensor) for tensor in op.inputs]
            attrs = run.elements.attrs(op, inputs[1].sizes if len(inputs) > 1 else None)
            name = op.name if op.name not in self.graph else self.graph.unique_name(op.name)
            copy = self.graph.add(
                op.type, name, inputs, attrs, controls, op.device, len(op.outputs)
            )
            run.elements.note(op, copy)
        run.origins[copy] = op
        self.done[op] = copy
        for tensor, new in zip(op.outputs, copy.outputs, strict=True):
            self.values.setdefault(tensor, new)

    def _emit_branch(self, unit: _Branch, items: Sequence[Item]) -> None:
        run = self.run
        inner = {op for item in items for op in run.inner(item)}
        merges = [x for x in items if isinstance(x, Operation) and self._ends_here(x)]
        sides: list[_Region] = []
        for number in (1, 0):
            literal = (unit.condition, number)
            side = self.child(self.literals | {literal})
            side.emit([x for x in items if literal in run.deadness(x)])
            sides.append(side)
        results: list[Tensor] = []
        for merge in merges:
            indices = [
                next(i for i, side in enumerate(run.flow.sides(merge)) if literal in side)
                for literal in ((unit.condition, 1), (unit.condition, 0))
            ]
            for side, index in zip(sides, indices, strict=True):
                side.outputs.append(side.value(merge.inputs[index]))
            results.append(merge.outputs[0])
            if merge.outputs[1] in run.readers:
                for side, index in zip(sides, indices, strict=True):
                    side.outputs.append(_constant(side.graph, np.array(index, np.int32)))
                results.append(merge.outputs[1])
        for side, other in (sides, sides[::-1]):
            for tensor in self._escaping(side, inner):
                value = side.values[tensor]
                side.outputs.append(value)
                shape = () if run.has_effects else value.sizes
                other.outputs.append(_absent(other.graph, tensor, shape))
                results.append(tensor)
        name = merges[0].name if merges else f"{unit.condition.op.name}/If"
        self._call_branch(unit, sides, name, results, inner)

    def _ends_here(self, op: Operation) -> bool:
        return op.type in MERGES and not (self.run.deadness(op) - self.literals)

    def _escaping(self, side: _Region, inner: Collection[Operation]) -> list[Tensor]:
        """What a side computes and something behind the branch reads."""
        return [
            tensor
            for tensor in side.values
            if tensor.op in side.inside
            and any(x not in inner for x in self.run.readers.get(tensor, ()))
        ]

    def _call_branch(
        self,
        unit: _Branch,
        sides: Sequence[_Region],
        name: str,
        results: Sequence[Tensor],
        inner: Iterable[Operation],
    ) -> None:
        run, bodies = self.run, [side.finished() for side in sides]
        condition = self._scalar(self.value(unit.condition))
        operands = unify(bodies)
        outputs = [[tensor.sizes for tensor in body.outputs] for body in bodies]
        attrs: dict[str, AttrValue] = {
            "Tcond": condition.dtype,
            "Tin": [tensor.dtype for tensor in operands],
            "Tout": [tensor.dtype for tensor in bodies[0].outputs],
            "output_shapes": [common_shape(shapes) for shapes in zip(*outputs, strict=True)],
            "then_branch": define(bodies[0], f"{name}_true"),
            "else_branch": define(bodies[1], f"{name}_false"),
        }
        kind = "If" if is_stateful(bodies) else "StatelessIf"
        controls = self.ends(op for side in sides for op in side.outer)
        call = self.graph.add(
            kind, self.graph.unique_name(name), [condition, *operands], attrs, controls
        )
        run.origins[call] = unit.condition.op
        self.values.update(zip(results, call.outputs, strict=True))
        self.done.update(dict.fromkeys(inner, call))

    def _scalar(self, condition: Tensor) -> Tensor:
        """A condition that is one value; another one is an error of what looks at it."""
        if condition.sizes == ():
            return condition
        if condition.sizes is not None:
            raise NotFunctionalizable
        name, attrs = self.graph.unique_name(condition.op.name), {"shape": ()}
        return self.graph.add("EnsureShape", name, [condition], attrs).outputs[0]

    def finished(self) -> FunctionGraph:
        """The graph as a function, which also runs what nobody in it reads."""
        body = self.graph
        assert isinstance(body, FunctionGraph)
        body.outputs = self.outputs
        if any(tensor.is_reference for tensor in body.outputs):
            raise NotFunctionalizable
        used = {tensor.op for op in body.operations for tensor in op.inputs}
        used.update(other for op in body.operations for other in op.control_inputs)
        used.update(tensor.op for tensor in body.outputs)
        controls = {op for op in self.done.values() if op not in used}.union(body.control_outputs)
        controls = controls if self.run.has_effects else set[Operation]()
        body.control_outputs = [op for op in body.operations if op in controls]
        return body

    def _emit_loop(self, frame: Frame) -> None:
        loop = _Loop(self, frame)
        shapes = [self.value(start).sizes for start in loop.starts]
        while True:
            condition, body = loop.functions(shapes)
            pairs = zip(shapes, body.outputs, strict=True)
            following = [common_shape([shape, tensor.sizes]) for shape, tensor in pairs]
            if following == shapes:
                break
            shapes = following
        graphs = [condition.finished(), body.finished()]
        n = len(shapes)
        captured = unify_behind(graphs, n)
        graphs[1].outputs += graphs[1].inputs[n:]
        operands = [*(self.value(start) for start in loop.starts), *captured]
        name = loop.condition.name.rpartition("/")[0] or loop.condition.name
        attrs: dict[str, AttrValue] = {
            "T": [tensor.dtype for tensor in operands],
            "output_shapes": [*shapes, *(tensor.sizes for tensor in captured)],
            "parallel_iterations": 10,
            "cond": define(graphs[0], f"{name}_cond"),
            "body": define(graphs[1], f"{name}_body"),
        }
        waits = [x for op in frame.of_type(ENTERS) for x in self.run.waits(op)]
        controls = self.ends([*waits, *condition.outer, *body.outer])
        kind = "While" if is_stateful(graphs) else "StatelessWhile"
        call = self.graph.add(kind, self.graph.unique_name(name), operands, attrs, controls)
        self.run.origins[call] = loop.condition
        positions = {merge.outputs[0]: i for i, merge in enumerate(loop.merges)}
        for end in [x for x in frame.of_type(EXITS) if x in self.run.needed]:
            source = self.run.source(end.inputs[0])
            if source in positions:
                self.values[end.outputs[0]] = call.outputs[positions[source]]
            elif source.op in self.run.members[frame]:
                raise NotFunctionalizable
            else:
                self.values[end.outputs[0]] = self.value(source)
        self.done.update(dict.fromkeys(self.run.members[frame], call))


class _Loop:
    """The parts of a frame.

    Attributes:
        merges: What begins the iterations of each variable.
        starts: The variables' first values.
        condition: The LoopCond.
    """

    def __init__(self, region: _Region, frame: Frame):
        self.region, self.run, self.frame = region, region.run, frame
        flow = self.run.flow
        if not flow.is_regular(frame):
            raise NotFunctionalizable
        merges = [op for op in frame.of_type(MERGES) if op in self.run.needed]
        self.merges = [op for op in merges if _begins_iterations(op)]
        self.starts: list[Tensor] = []
        self.nexts: list[Operation] = []
        for merge in self.merges:
            enters = [
                t.op for t in merge.inputs if self.run.brings(t.op) and t not in self.run.feeds
            ]
            ends = [t.op for t in merge.inputs if t.op.type in ITERATIONS]
            if len(enters) != 1 or len(ends) != 1 or merge.outputs[1] in self.run.readers:
                raise NotFunctionalizable
            if any(x not in (merge,) for x in self.run.readers.get(enters[0].outputs[0], ())):
                raise NotFunctionalizable
            self.starts.append(enters[0].inputs[0])
            self.nexts.append(ends[0])
        (self.condition,) = frame.of_type(["LoopCond"])
        if not self.merges:
            raise NotFunctionalizable
        self.around = flow.around(frame)
        self.within = self.around | {(copied_from(self.condition.outputs[0]), 1)}
        self.checks: list[Item] = []
        self.steps: list[Item] = []
        for item in [*frame.operations, *frame.children]:
            if isinstance(item, Operation) and (item.type in PLACED or item in self.merges):
                continue
            if not self.run.is_needed(item):
                continue
            self._place(item)
        self._repeat_checks()

    def _place(self, item: Item) -> None:
        """Puts an item to the condition or to the body."""
        deadness = self.run.deadness(item)
        if self.within <= deadness or (isinstance(item, Operation) and item.type == TRIGGER):
            self.steps.append(item)
        elif any(condition is self.condition.outputs[0] for condition, _ in deadness):
            raise NotFunctionalizable
        else:
            self.checks.append(item)

    def _repeat_checks(self) -> None:
        """Lets the body compute anew what it reads of the condition."""
        of = {op: item for item in self.checks for op in self.run.inner(item)}
        waiting = [op for item in self.steps for op in self.run.inner(item)]
        waiting += self.nexts
        repeated: dict[Operation, None] = {}
        while waiting:
            op = waiting.pop()
            for tensor in op.inputs:
                source = self.run.source(tensor).op
                if source in of and source not in repeated:
                    row = row_of(source.type)
                    if isinstance(of[source], Frame) or row is None or not row.is_pure:
                        raise NotFunctionalizable
                    repeated[source] = None
                    waiting.append(source)
        self.steps = [*repeated, *self.steps]

    def functions(self, shapes: Sequence[Shape]) -> tuple[_Region, _Region]:
        """The condition and the body for variables of these shapes."""
        condition, body = (self.region.child(x) for x in (self.around, self.within))
        for part in (condition, body):
            assert isinstance(part.graph, FunctionGraph)
            for merge, start, shape in zip(self.merges, self.starts, shapes, strict=True):
                like = self.region.value(start)
                if like.is_reference:
                    raise NotFunctionalizable
                argument = part.graph.argument(like, "variable", shape)
                part.values[merge.outputs[0]] = argument
            part.earlier.update(self.merges)
        body.earlier.update(op for item in self.checks for op in self.run.inner(item))
        condition.emit(self.checks)
        condition.outputs.append(condition.value(self.condition.inputs[0]))
        body.emit(self.steps)
        for end in self.nexts:
            body.outputs.append(body.value(end.inputs[0]))
        waits = [x for end in self.nexts for x in self.run.waits(end)]
        body.graph.control_outputs = body.ends(waits)
        return condition, body


def _begins_iterations(merge: Operation) -> bool:
    return any(tensor.op.type in ITERATIONS for tensor in merge.inputs)


def _constant(graph: Graph, value: np.ndarray) -> Tensor:
    attrs: dict[str, AttrValue] = {"value": value, "dtype": value.dtype}
    return graph.add("Const", graph.unique_name("Const"), (), attrs).outputs[0]


def _absent(graph: Graph, tensor: Tensor, shape: Shape) -> Tensor:
    """What a side gives in the place of a value that only the other one has: one of its shape."""
    if tensor.dtype.kind in "OV":
        raise NotFunctionalizable
    absent = _constant(graph, np.zeros(shape if is_static(shape) else (), tensor.dtype))
    absent.op.attrs[ABSENT] = True
    return absent
