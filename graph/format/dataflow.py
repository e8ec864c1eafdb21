"""Branches and loops as TensorFlow 1 writes them: Switch, Merge and frames in place of functions.

    If, While, Case -> Graph of Switch, Merge, Enter, Exit, ...       (dataflow_form)

What is written has the names that TensorFlow gives it: `cond/Switch`, `while/Enter`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ..core.function_graph import FunctionGraph
from ..core.graph import Graph, Operation, Tensor
from ..core.library import FunctionLibrary
from ..core.order import data_and_control_inputs, is_back_edge, ordered
from .flow_contexts import BranchContext, FlowContext, LoopContext
from .inline import LOOPS
from .rebuild import Copy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.protocols import AttrValue
    from ..core.signatures.attributes import FunctionRef

    _Bring = Callable[[str], Tensor]

BRANCHES = ("If", "StatelessIf")
CASES = ("Case", "StatelessCase")
FUNCTIONS = {
    **dict.fromkeys(BRANCHES, ("then_branch", "else_branch")),
    **dict.fromkeys(LOOPS, ("cond", "body")),
    **dict.fromkeys(CASES, ("branches",)),
}
"""The attributes of calls that name their functions."""
_PASSED_ON = ("Identity", "StopGradient")
"""What passes on a result of a call that was traced."""


class Written(NamedTuple):
    """A graph of which branches and loops are written as TensorFlow 1 does.

    Attributes:
        graph: It, with the functions that are still called.
        contexts: Its outermost branches and loops.
        positions: How many operations stood before the one that each operation comes of.
    """

    graph: Graph
    contexts: list[FlowContext]
    positions: dict[Operation, int]


def dataflow_form(graph: Graph) -> Written | None:
    """A copy of a graph without calls of branches and loops; None where it has none.

    Those alone are written so that were made here: functions of an imported graph stay.
    """
    return _Writer(graph).written() if any(map(_is_traced, graph.operations)) else None


def _references(op: Operation) -> list[FunctionRef]:
    """The functions that a branch or loop calls."""
    values = [op.get_attr(name) for name in FUNCTIONS[op.type]]
    listed = [r for value in values for r in (value if isinstance(value, list) else [value])]
    return cast("list[FunctionRef]", listed)


def _is_traced(op: Operation) -> bool:
    """Whether it is a branch or loop whose functions were traced, not imported."""
    if op.type not in FUNCTIONS:
        return False
    functions = [op.graph.functions.get(reference.name) for reference in _references(op)]
    return all(function is not None and function.message is None for function in functions)


class _Body(Copy):
    """The copy of a body, or of the whole graph, that is being made.

    Attributes:
        call: The name of what calls it; empty for the graph itself.
        context: The branch or loop that it is.
        arguments: Tensors of the body -> what makes the tensor that stands for one, once it is
            read, for a reader of this name.
        aliases: Operations in whose place others are already.
    """

    def __init__(self, graph: Graph, call: str, context: FlowContext | None):
        super().__init__(graph)
        self.call = call
        self.context = context
        self.arguments: dict[Tensor, _Bring] = {}
        self.aliases: set[Operation] = set()

    def resolve(self, tensor: Tensor, reader: str) -> Tensor:
        """What the new graph has for a tensor of the body."""
        if tensor not in self.tensors:
            self.tensors[tensor] = self.arguments[tensor](reader)
        return self.tensors[tensor]

    def take(self, source: Graph, bring: Sequence[_Bring]) -> None:
        """Says what stands for the arguments of the function that is copied."""
        sources = source.sources if isinstance(source, FunctionGraph) else {}
        for argument, bringing in zip(source.inputs or (), bring, strict=True):
            self.arguments[argument] = bringing
            self.aliases.add(argument.op)
            if argument in sources:  # a variable within stands for the one around
                self.arguments[sources[argument]] = bringing
                self.aliases.add(sources[argument].op)


class _Writer:
    """Writes a graph."""

    def __init__(self, source: Graph):
        self.source = source
        self.graph = Graph(source.functions)
        self.taken = {op.name for op in source.operations}
        self.contexts: list[FlowContext] = []
        self.called: set[str] = set()
        self.origins: dict[Tensor, Tensor] = {}
        self.position = 0
        self.positions: dict[Operation, int] = {}

    def written(self) -> Written:
        """The whole."""
        top = _Body(self.graph, "", None)
        before = {op: i for i, op in enumerate(self.source.operations)}
        order = ordered(self.source.operations, data_and_control_inputs)
        for op in order:
            self.position = before[op]
            self._place(op, top)
        for op in order:
            if op.outputs and op not in top.aliases and not _is_traced(op):
                top.close_loops(op)
        for op in self.graph.operations:
            self._drop_absent_colocations(op)
        functions = self.source.functions
        self.graph.functions = FunctionLibrary(
            functions[name] for name in functions if name not in self.called
        )
        self.graph.functions.gradients.update(functions.gradients)
        inputs, outputs = self.source.inputs, self.source.outputs
        self.graph.inputs = None if inputs is None else [top.tensors[x] for x in inputs]
        self.graph.outputs = None if outputs is None else [top.tensors[x] for x in outputs]
        self.graph.control_outputs = [
            new for op in self.source.control_outputs for new in top.controls[op]
        ]
        return Written(self.graph, self.contexts, self.positions)

    def _drop_absent_colocations(self, op: Operation) -> None:
        """Leaves out colocation with what has another name now."""
        colocations = cast("list[bytes]", op.attrs.get("_class"))
        if colocations:
            there = [p for p in colocations if p.decode().removeprefix("loc:@") in self.graph]
            op.attrs = {**op.attrs, "_class": cast("AttrValue", there)}

    def _free(self, name: str) -> str:
        """A name that nothing has, here or in the graph that is written."""
        candidate, n = name, 0
        while candidate in self.taken:
            n += 1
            candidate = f"{name}_{n}"
        self.taken.add(candidate)
        return candidate

    def _name(self, op: Operation, body: _Body) -> str:
        """The name of an operation of a body in the whole graph.

        Bodies of branches and loops have such names already; others get the call's before theirs.
        """
        if not body.call:
            return op.name
        scope, _, within = op.name.partition("/")
        is_whole = bool(within) and scope == body.call.partition("/")[0]
        return self._free(op.name if is_whole else f"{body.call}/{op.name}")

    def _add(
        self,
        kind: str,
        name: str,
        inputs: Sequence[Tensor | None],
        context: FlowContext | None,
        controls: Iterable[Operation] = (),
        attrs: Mapping[str, AttrValue] | None = None,
        like: Operation | None = None,
    ) -> Operation:
        """Adds an operation of a branch or loop."""
        device, n_outputs = ("", 0) if like is None else (like.device, len(like.outputs))
        op = self.graph.add(kind, name, inputs, attrs, controls, device, n_outputs, like)
        if context is not None:
            context.include(op.outputs)
        self.positions[op] = self.position
        return op

    def _place(self, op: Operation, body: _Body) -> None:
        """Puts an operation of a body into the graph."""
        if op in body.aliases:
            return
        name = self._name(op, body)
        if _is_traced(op):
            self.called.update(reference.name for reference in _references(op))
            write = self._loop if op.type in LOOPS else self._branches
            write(op, name, body)
            return
        inputs = [
            None if is_back_edge(op.type, tensor.op.type) else body.resolve(tensor, name)
            for tensor in op.inputs
        ]
        controls, context = body.control_inputs(op), body.context
        if context is not None and not controls and context.is_free(inputs):
            controls = context.pivots
        new = self._add(op.type, name, inputs, context, controls, op.attrs, op)
        for tensor, other in zip(new.outputs, op.outputs, strict=True):
            tensor.set_shape(other.sizes)
        body.maps_to(op, new.outputs, [new])

    def _outputs(
        self, source: Graph, call: str, context: FlowContext, bring: Sequence[_Bring]
    ) -> list[Tensor]:
        """Puts a function into the graph; its results, which come after its effects."""
        body = _Body(self.graph, call, context)
        body.take(source, bring)
        for op in ordered(source.operations, data_and_control_inputs):
            self._place(op, body)
        outputs = [body.resolve(tensor, call) for tensor in source.outputs or ()]
        ends = [new for op in source.control_outputs for new in body.controls[op]]
        if not ends:
            return outputs
        name = f"{call}/Identity"
        return [
            self._add("Identity", self._free(name), [tensor], context, ends).outputs[0]
            for tensor in outputs
        ]

    def _result_names(self, op: Operation, word: str, name: str, body: _Body) -> list[str]:
        """Names for the results of a call.

        They take the place of operations of such names, which have passed them on.
        """
        form = re.compile(rf"{re.escape(op.name)}/{word}(_\d+)?")
        names: list[str] = []
        for tensor in op.outputs:
            passing = [
                other
                for other in tensor.consumers()
                if other.type in _PASSED_ON and form.fullmatch(other.name)
            ][:1]
            body.aliases.update(passing)
            names += [self._name(other, body) for other in passing] or [
                self._free(f"{name}/{word}")
            ]
        return names

    def _replace(self, op: Operation, results: Mapping[int, Operation], body: _Body) -> None:
        """Lets results of a call, by their positions, be those of operations."""
        for i, new in results.items():
            tensor = op.outputs[i]
            new.outputs[0].set_shape(tensor.sizes)
            body.tensors[tensor] = new.outputs[0]
            for other in tensor.consumers():
                if other in body.aliases:
                    new.outputs[0].set_shape(other.outputs[0].sizes)
                    body.maps_to(other, new.outputs[:1], [new])

    def _branches(self, op: Operation, name: str, body: _Body) -> None:
        r"""Writes an If or a Case.

        x -> Switch(p) -> f -> Merge -> y      in the place of      x -> If(p, f, g) -> y
                      \-> g ----/
        """
        sources = [op.graph.functions.body(reference) for reference in _references(op)]
        sources = sources if len(sources) > 1 else sources * 2
        names = self._result_names(op, "Merge", name, body)
        merges = self._select(op, name, body, sources, body.control_inputs(op), names)
        self._replace(op, dict(enumerate(merges[: len(op.outputs)])), body)
        body.controls[op] = merges

    def _select(
        self,
        op: Operation,
        name: str,
        body: _Body,
        sources: Sequence[Graph],
        controls: Sequence[Operation],
        names: Sequence[str],
    ) -> list[Operation]:
        """Writes branches, the first against all others; the Merge operations of their results."""
        context = body.context
        title = self._free(f"{name}/Switch")
        condition = body.resolve(op.inputs[0], title)
        if op.type in CASES:
            position = len(_references(op)) - len(sources)
            condition = self._is_index(condition, position, name, body)
        pivots = self._add("Switch", title, [condition] * 2, context, controls).outputs
        sides = [
            self._add("Identity", self._free(f"{name}/{word}"), [tensor], context)
            for word, tensor in zip(("switch_f", "switch_t"), pivots, strict=True)
        ]
        predicate = self._add(
            "Identity", self._free(f"{name}/pred_id"), [condition], context, controls
        ).outputs[0]
        results: dict[int, list[Tensor]] = {}
        for side, chosen in ((1, sources[:1]), (0, sources[1:])):
            text = self._free(f"{name}/cond_text")
            branch = BranchContext(text, context, sides[side], predicate, side)
            if context is None:
                self.contexts.append(branch)
            bring = {t: self._switching(t, body, branch, predicate, side) for t in op.inputs}
            if len(chosen) == 1:
                operands = [bring[tensor] for tensor in op.inputs[1:]]
                results[side] = self._outputs(chosen[0], name, branch, operands)
            else:
                inner = _Body(self.graph, body.call, branch)
                inner.arguments = bring
                within = [self._free(f"{name}/Merge") for _ in names]
                merges = self._select(op, name, inner, chosen, (), within)
                results[side] = [merge.outputs[0] for merge in merges]
        if not names:  # what waits for the branches
            names = [self._free(f"{name}/Merge")]
            results = {side: [sides[side].outputs[0]] for side in results}
        columns = zip(names, results[0], results[1], strict=True)
        return [self._add("Merge", title, both, context) for title, *both in columns]

    def _is_index(self, index: Tensor, position: int, name: str, body: _Body) -> Tensor:
        """Whether the index of a Case is that of one of its functions."""
        controls = [] if body.context is None else body.context.pivots
        attrs: dict[str, AttrValue] = {"value": np.array(position, np.int32), "dtype": np.int32}
        at = self._add("Const", self._free(f"{name}/Equal/y"), (), body.context, controls, attrs)
        inputs = [index, at.outputs[0]]
        return self._add("Equal", self._free(f"{name}/Equal"), inputs, body.context).outputs[0]

    def _bring(self, context: FlowContext, outside: Tensor, inside: Tensor) -> None:
        """Notes what stands in a context for a tensor of any graph around it."""
        source = self.origins.get(outside, outside)
        self.origins[inside] = source
        context.bring(source, inside)

    def _switching(
        self, tensor: Tensor, outer: _Body, context: BranchContext, predicate: Tensor, side: int
    ) -> _Bring:
        """What brings a tensor from around into a branch."""
        known: list[Tensor] = []

        def bring(reader: str) -> Tensor:
            if not known:
                outside = outer.resolve(tensor, reader)
                name = self._free(f"{reader}/Switch")
                kind = "RefSwitch" if outside.is_reference else "Switch"
                switch = self._add(kind, name, [outside, predicate], None)
                known.append(switch.outputs[side])
                context.include(known)
                if context.outer is not None:
                    context.bring(outside, outside)
                self._bring(context, outside, known[0])
            return known[0]

        return bring

    def _loop(self, op: Operation, name: str, body: _Body) -> None:
        r"""Writes a While.

        x -> Enter -> Merge -> Switch -> Exit -> y
                        ^         \-> Identity -> f -> NextIteration
                        \_____________________________/
        """
        condition, inner = [op.graph.functions.body(r) for r in _references(op)]
        context = LoopContext(
            f"{name}/while_context", body.context, op.get_attr("parallel_iterations")
        )
        if body.context is None:
            self.contexts.append(context)
        varying = _varying(op, inner)

        def add(kind: str, *columns: Sequence[Tensor]) -> list[Operation]:
            return [
                self._add(kind, self._free(f"{name}/{kind}"), inputs, context)
                for inputs in zip(*columns, strict=True)
            ]

        bring = [
            self._entering(op, i, i not in varying, body, context) for i in range(len(op.inputs))
        ]
        enters = [bring[i](name) for i in varying]
        context.enters = [tensor.op for tensor in enters]
        for tensor, i in zip(enters, varying, strict=True):
            attrs: dict[str, AttrValue] = {"T": tensor.dtype, "N": 2}
            merge = self._add(
                "Merge", self._free(f"{name}/Merge"), [tensor, None], context, (), attrs
            )
            merge.outputs[0].set_shape((inner.inputs or ())[i].sizes)
            context.merges.append(merge)
        merged = [merge.outputs[0] for merge in context.merges]
        context.pivots = context.merges[:1]
        for tensor, i in zip(merged, varying, strict=True):
            bring[i] = _constantly(tensor)
        goes_on = self._outputs(condition, name, context, bring)
        (context.condition,) = add("LoopCond", goes_on)
        switches = add("Switch", merged, context.condition.outputs * len(varying))
        context.bodies = add("Identity", [switch.outputs[1] for switch in switches])
        context.pivots = context.bodies[:1]
        for identity, i in zip(context.bodies, varying, strict=True):
            bring[i] = _constantly(identity.outputs[0])
        results = self._outputs(inner, name, context, bring)
        following = add("NextIteration", [results[i] for i in varying])
        for merge, iteration in zip(context.merges, following, strict=True):
            merge.set_input(1, iteration.outputs[0])
        names = self._result_names(op, "Exit", name, body)
        context.exits = [
            self._add("Exit", names[i], switch.outputs[:1], body.context)
            for switch, i in zip(switches, varying, strict=True)
        ]
        for leaving in context.exits:  # to TensorFlow it is of both
            context.include(leaving.outputs)
        self._replace(op, dict(zip(varying, context.exits, strict=True)), body)
        body.controls[op] = context.exits

    def _entering(
        self, op: Operation, i: int, is_constant: bool, body: _Body, context: LoopContext
    ) -> _Bring:
        """What brings operand `i` of a While into its frame, by one Enter when first read."""
        controls = body.control_inputs(op)
        known: list[Tensor] = []

        def bring(reader: str) -> Tensor:
            if not known:
                outside = body.resolve(op.inputs[i], reader)
                kind = "RefEnter" if outside.is_reference else "Enter"
                attrs: dict[str, AttrValue] = {
                    "frame_name": context.name.encode(),
                    "is_constant": is_constant,
                    "parallel_iterations": op.get_attr("parallel_iterations"),
                }
                enter = self._add(
                    kind, self._free(f"{reader}/Enter"), [outside], context, controls, attrs
                )
                if is_constant:
                    self._bring(context, outside, enter.outputs[0])
                known.append(enter.outputs[0])
            return known[0]

        return bring


def _varying(op: Operation, inner: Graph) -> list[int]:
    """The loop variables of a While that its body changes or something reads after it."""
    same = [
        argument is result and not output.consumers()
        for argument, result, output in zip(
            inner.inputs or (), inner.outputs or (), op.outputs, strict=True
        )
    ]
    return [i for i, is_same in enumerate(same) if not is_same] or [0]


def _constantly(tensor: Tensor) -> _Bring:
    return lambda reader: tensor
