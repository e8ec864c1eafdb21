r"""Loops and branches of TensorFlow 1, made of Switch and Merge, as While and If with functions.

/ 0 ------------------------> Exit -> y
x -> Enter -> Merge -> Switch                              becomes    x -> While -> y
^        \ 1 -> body -> NextIteration
|______________________________|
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...graph.core.graph import Graph, Operation, Tensor
from ...graph.core.library import Function
from ...graph.core.order import copied_from, data_inputs, ordered
from ...graph.core.signatures.attributes import FunctionRef
from ...graph.format.rebuild import Copy, rebuild

if TYPE_CHECKING:
    from ...graph.core.protocols import AttrValue

_STARTS = ("Placeholder", "_Arg")
_CONTROL = frozenset(["Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch"])


def functionalize_control_flow(graph: Graph) -> Graph:
    """`graph`, or a copy in which loops and branches are calls of functions, inner ones first.

    What has another form than TensorFlow gives it stays as it is.
    """
    n_ops = _count_control_flow(graph)
    while n_ops:
        call = next(iter(_candidates(graph)), None)
        if call is None:
            return graph
        functional = _replaced(graph, call)
        n_before, n_ops = n_ops, _count_control_flow(functional)
        if n_ops >= n_before:
            return graph
        graph = functional
    return graph


def _count_control_flow(graph: Graph) -> int:
    """How many operations there are that start a loop or end a branch."""
    return sum(op.type in ("Enter", "Merge") for op in graph.operations)


class _Call(NamedTuple):
    """An operation that replaces others.

    Attributes:
        name, type, attrs: its own.
        inputs: tensors of the old graph.
        results: tensor of the old graph -> the output it maps to.
    """

    name: str
    type: str
    attrs: dict[str, AttrValue]
    inputs: list[Tensor]
    results: dict[Tensor, int]


class _NotFunctionalizable(Exception):
    """A region has another loop or branch within, or a form TensorFlow does not write."""


def _candidates(graph: Graph) -> Iterable[_Call]:
    """The loops and branches without others within."""
    frames: dict[object, list[Operation]] = {}
    for op in graph.operations:
        if op.type == "Enter":
            frames.setdefault(op.get_attr("frame_name"), []).append(op)
    ends = [op for op in graph.operations if op.type == "Merge" and not _is_loop_merge(op)]
    attempts: list[tuple[Callable[..., _Call], object]] = [
        *((_loop, enters) for enters in frames.values()),
        *((_branch, merge) for merge in ends),
    ]
    for functionalize, region in attempts:
        call = _attempt(functionalize, graph, region)
        if call is not None:
            yield call


def _is_loop_merge(merge: Operation) -> bool:
    """Whether a Merge begins the iterations of a loop, and does not end a branch."""
    return any(tensor.op.type in ("Enter", "NextIteration") for tensor in merge.inputs)


def _attempt(functionalize: Callable[..., _Call], graph: Graph, region: object) -> _Call | None:
    try:
        return functionalize(graph, region)
    except _NotFunctionalizable:
        return None


def _replaced(graph: Graph, call: _Call) -> Graph:
    """A copy of `graph` with a call instead of the operations it replaces."""
    calls: list[Operation] = []

    def before(op: Operation) -> list[Operation]:
        if any(tensor in call.results for tensor in op.outputs):
            return [tensor.op for tensor in call.inputs]
        return data_inputs(op)

    def replace(op: Operation, copy: Copy) -> bool:
        if not any(tensor in call.results for tensor in op.outputs):
            return False
        if not calls:
            inputs = [copy.tensors[tensor] for tensor in call.inputs]
            name = copy.graph.unique_name(call.name)
            calls.append(copy.graph.add(call.type, name, inputs, call.attrs))
        outputs = [calls[0].outputs[call.results.get(tensor, 0)] for tensor in op.outputs]
        copy.maps_to(op, outputs, calls)
        return True

    return rebuild(graph, [tensor.op for tensor in graph.outputs or ()], replace, before)


def _loop(graph: Graph, enters: Sequence[Operation]) -> _Call:
    """The While of one frame.

    Raises _NotFunctionalizable when it has others within, or an unknown form.
    """
    merges = [_reader(enter.outputs[0], "Merge") for enter in enters]
    variables = [(e, m) for e, m in zip(enters, merges, strict=True) if m is not None]
    invariant_enters = [e for e, m in zip(enters, merges, strict=True) if m is None]
    if not variables:
        raise _NotFunctionalizable
    states = {merge.outputs[0]: i for i, (_, merge) in enumerate(variables)}
    invariants = {e.outputs[0]: len(variables) + i for i, e in enumerate(invariant_enters)}
    conditions, switches, next_values = [], {}, []
    for i, (enter, merge) in enumerate(variables):
        ends = [t for t in merge.inputs if t.op is not enter]
        if len(ends) != 1 or ends[0].op.type != "NextIteration":
            raise _NotFunctionalizable
        next_values.append(ends[0].op.inputs[0])
        for switch in merge.outputs[0].consumers():
            if switch.type == "Switch" and switch.inputs[1].op.type == "LoopCond":
                switches[switch.outputs[1]] = i
                conditions.append((switch.inputs[1].op, switch, i))
    if not conditions or len({op for op, _, _ in conditions}) != 1:
        raise _NotFunctionalizable
    condition = conditions[0][0]
    inputs = [enter.inputs[0] for enter in [e for e, _ in variables] + invariant_enters]
    name = condition.name.rpartition("/")[0] or condition.name
    cond = _function(graph, f"{name}_cond", condition.inputs, {**states, **invariants}, inputs)
    body = _function(
        graph,
        f"{name}_body",
        [*next_values, *invariants],
        {**states, **switches, **invariants},
        inputs,
    )
    attrs = {"T": [t.dtype for t in inputs], "cond": cond, "body": body, "output_shapes": []}
    results = {
        reader.outputs[0]: i
        for _, switch, i in conditions
        for reader in switch.outputs[0].consumers()
        if reader.type == "Exit"
    }
    return _Call(name, "StatelessWhile", attrs, inputs, results)


def _branch(graph: Graph, merge: Operation) -> _Call:
    """The If of a Merge.

    Raises _NotFunctionalizable when it has others within, or an unknown form.
    """
    if len(merge.inputs) != 2 or merge.outputs[1].consumers():
        raise _NotFunctionalizable
    sides = [_switches(tensor) for tensor in merge.inputs]
    switched = [tensor for side in sides for tensor in side]
    predicates = {copied_from(tensor.op.inputs[1]) for tensor in switched}
    if len(predicates) != 1:
        raise _NotFunctionalizable
    indices = [{tensor.value_index for tensor in side} for side in sides]
    if any(len(numbers) > 1 for numbers in indices) or indices[0] == indices[1]:
        raise _NotFunctionalizable
    order = (0, 1) if indices[0] == {0} or indices[1] == {1} else (1, 0)
    otherwise, then = (merge.inputs[i] for i in order)
    (predicate,) = predicates
    values = list(dict.fromkeys(tensor.op.inputs[0] for tensor in switched))
    outer = [t for tensor in merge.inputs for t in _starts(tensor)]
    inputs = list(dict.fromkeys([*values, *outer]))
    positions = {tensor: inputs.index(tensor.op.inputs[0]) for tensor in switched}
    positions |= {tensor: inputs.index(tensor) for tensor in outer}
    branches = {
        f"{name}_branch": _function(graph, f"{merge.name}_{name}", [tensor], positions, inputs)
        for name, tensor in (("then", then), ("else", otherwise))
    }
    attrs = {
        "Tcond": predicate.dtype,
        "Tin": [tensor.dtype for tensor in inputs],
        "Tout": [then.dtype],
        "output_shapes": [],
        **branches,
    }
    results = {merge.outputs[0]: 0}
    return _Call(merge.name, "StatelessIf", attrs, [predicate, *inputs], results)


def _region(tensor: Tensor) -> list[Operation]:
    """What a side of a branch computes: back to its switches, which are not among it."""

    def before(op: Operation) -> list[Operation]:
        return [t.op for t in op.inputs if t.op.type != "Switch"]

    if tensor.op.type == "Switch":
        return []
    return ordered([tensor.op], before)


def _switches(tensor: Tensor) -> list[Tensor]:
    """The outputs of switches that a side of a branch reads."""
    if tensor.op.type == "Switch":
        return [tensor]
    read = [t for op in _region(tensor) for t in op.inputs]
    switched = list(dict.fromkeys(t for t in read if t.op.type == "Switch"))
    if any(t.op.inputs[1].op.type == "LoopCond" for t in switched):
        raise _NotFunctionalizable
    return switched


def _starts(tensor: Tensor) -> list[Tensor]:
    """The inputs of the graph, or of a loop, that a side of a branch reads without a switch."""
    kinds = (*_STARTS, "Enter")
    return [op.outputs[0] for op in _region(tensor) if op.type in kinds]


def _reader(tensor: Tensor, kind: str) -> Operation | None:
    return next((op for op in tensor.consumers() if op.type == kind), None)


def _function(
    graph: Graph,
    name: str,
    outputs: Sequence[Tensor],
    positions: Mapping[Tensor, int],
    inputs: Sequence[Tensor],
) -> FunctionRef:
    """Adds the function that gives `outputs`.

    `positions` says which argument a tensor maps to; `inputs` have the arguments' types and shapes.
    Raises _NotFunctionalizable when it would contain a part of another loop or branch.
    """
    body = Graph(graph.functions)
    copy = Copy(body)
    arguments = []
    for i, tensor in enumerate(inputs):
        attrs = {"T": tensor.dtype, "index": i}
        arguments.append(body.add("_Arg", f"arg{i}", (), attrs).outputs[0])
        arguments[-1].set_shape(tensor.sizes)
    for tensor, i in positions.items():
        copy.tensors[tensor] = arguments[i]

    def before(op: Operation) -> list[Operation]:
        is_refused = op.type in _CONTROL  # what it waits for may be a round of another loop
        return [] if is_refused else [t.op for t in op.inputs if t not in positions]

    for op in ordered([t.op for t in outputs if t not in positions], before):
        if op.type in _CONTROL or op.type in _STARTS:
            raise _NotFunctionalizable
        new = copy.add(op, control_inputs=())
        copy.maps_to(op, new.outputs, [new])
    body.inputs, body.outputs = arguments, [copy.tensors[tensor] for tensor in outputs]
    unique = graph.functions.unique_name(name)
    graph.functions.add(Function.of(unique, body))
    return FunctionRef(unique)
