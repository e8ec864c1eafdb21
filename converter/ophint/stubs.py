"""Functions marked by OpHints, each replaced by one operation."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ...graph.core.order import data_and_control_inputs
from ...graph.format.rebuild import Copy, rebuild
from .ophint import ATTRIBUTE, OpHint

if TYPE_CHECKING:
    from ...graph.core.graph import Graph, Operation, Tensor
    from ...graph.format.messages import GraphDef

CONSTANTS = frozenset({"Const"})
"""Operations without inputs that a function may have inside: the stub gets their values."""


@dataclass
class Argument:
    """What becomes one argument of the operation: marked identities and how they are joined."""

    aggregate: str = ""
    identities: list[Operation] = field(default_factory=list)

    def tensors(self) -> list[Operation]:
        """The identities in their order, only those that count."""
        key = OpHint.FUNCTION_SORT_INDEX_ATTR
        identities = sorted(self.identities, key=lambda op: cast("int", op.attrs.get(key, 0)))
        if self.aggregate == OpHint.AGGREGATE_FIRST:
            return identities[:1]
        return identities[-1:] if self.aggregate == OpHint.AGGREGATE_LAST else identities


@dataclass
class HintedFunction:
    """One marked use of a function.

    Attributes:
        name: the function's.
        inputs, outputs: arguments by index.
        attributes: constants by name.
    """

    name: str
    inputs: dict[int, Argument] = field(default_factory=lambda: defaultdict(Argument))
    outputs: dict[int, Argument] = field(default_factory=lambda: defaultdict(Argument))
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def output_identities(self) -> list[Operation]:
        """All identities of the outputs."""
        return [op for argument in self.outputs.values() for op in argument.identities]

    @property
    def input_identities(self) -> list[Operation]:
        """All identities of the inputs."""
        return [op for argument in self.inputs.values() for op in argument.identities]


def convert_op_hints_to_stubs(
    session: Any = None,
    graph_def: Any = None,
    write_callback: Callable[[Any, str], None] = lambda graph_def, comments: None,
) -> Any:
    """A GraphDef in which each function marked by an OpHint is one operation of its name.

    Args:
        session: whose graph to take.
        graph_def: the graph, as a message or serialized; instead of a session.
        write_callback: called with (GraphDef, comment) before and after.

    Raises:
        ValueError: not just one of session and graph_def is given; a function is not closed: an
            edge leaves or enters it past its hints.
    """
    from ...graph.format.graphdef import import_graph_def, to_graph_def
    from ..sources.graph_def import message_of

    if (session is None) == (graph_def is None):
        raise ValueError("Provide only one of session and graph_def.")
    if graph_def is None:
        graph = session.graph
    else:
        graph = import_graph_def(cast("GraphDef", message_of(graph_def)))
    write_callback(to_graph_def(graph), "before")
    collapsed = to_graph_def(collapse(graph))
    write_callback(collapsed, "after")
    return collapsed


def collapse(graph: Graph) -> Graph:
    """A copy of `graph` in which each marked function is one operation; `graph` when none is.

    The operation has the function's name as type and the constants as attributes. What read an
    output goes on under its name.

    Raises ValueError, naming a node, when a function is not closed.
    """
    functions = hinted_functions(graph)
    if not functions:
        return graph
    function_of: dict[Operation, HintedFunction] = {}
    for function in functions:
        for op in interior(function):
            function_of[op] = function
    for function in functions:
        check_closed(function, function_of)
    outputs = {op: function for function in functions for op in function.output_identities}
    fetched = {tensor.op for tensor in graph.outputs or ()}
    removed = (set(function_of) | {op for f in functions for op in f.input_identities}) - fetched

    def before(op: Operation) -> Iterable[Operation]:
        if op in outputs:
            return [x.inputs[0].op for a in outputs[op].inputs.values() for x in a.tensors()]
        return data_and_control_inputs(op)

    stubs: dict[int, list[Tensor]] = {}

    def replace(op: Operation, copy: Copy) -> bool:
        function = outputs.get(op)
        if function is None:
            return False
        if id(function) not in stubs:
            stubs[id(function)] = _stub(function, op, copy)
        source = stubs[id(function)][_position(function, op)]
        attrs = {key: value for key, value in op.attrs.items() if not key.startswith("_tflite")}
        new = copy.graph.add("Identity", op.name, [source], attrs, (), op.device)
        copy.maps_to(op, new.outputs, [new])
        return True

    operations = [op for op in graph.operations if op not in removed]
    return rebuild(graph, operations, replace, before)


def hinted_functions(graph: Graph) -> list[HintedFunction]:
    """The uses of functions that identities of the graph mark.

    Raises ValueError for a use without outputs, and for nested hints.
    """
    functions: dict[bytes, HintedFunction] = {}
    for op in graph.operations:
        attrs = op.attrs
        if OpHint.FUNCTION_UUID_ATTR not in attrs:
            continue
        name = cast("bytes", attrs[OpHint.FUNCTION_NAME_ATTR]).decode()
        mapping = json.loads(cast("bytes", attrs.get(OpHint.CHILDREN_INPUTS_MAPPINGS, b"null")))
        if attrs.get(OpHint.FUNCTION_LEVEL_ATTR, 1) != 1 or mapping:
            raise ValueError(f"OpHint {name} at '{op.name}': nested hints are not supported yet")
        uuid = cast("bytes", attrs[OpHint.FUNCTION_UUID_ATTR])
        function = functions.setdefault(uuid, HintedFunction(name))
        for side, key in (
            (function.inputs, OpHint.FUNCTION_INPUT_INDEX_ATTR),
            (function.outputs, OpHint.FUNCTION_OUTPUT_INDEX_ATTR),
        ):
            if key in attrs:
                argument = side[cast("int", attrs[key])]
                argument.identities.append(op)
                aggregate = cast("bytes", attrs.get(OpHint.FUNCTION_AGGREGATE_ATTR, b""))
                argument.aggregate = aggregate.decode()
        for key, value in attrs.items():
            if key.startswith(ATTRIBUTE):
                function.attributes[key.removeprefix(ATTRIBUTE)] = value
    for function in functions.values():
        for side, words in ((function.inputs, "inputs"), (function.outputs, "outputs")):
            if sorted(side) != list(range(len(side))):
                raise ValueError(
                    f"OpHint {function.name}: its {words} are numbered {sorted(side)}, with gaps"
                )
    return [function for function in functions.values() if function.outputs]


def interior(function: HintedFunction) -> list[Operation]:
    """The operations between a function's inputs and outputs, without its identities."""
    inputs, reached = set(function.input_identities), dict.fromkeys(function.output_identities)
    stack = list(reached)
    while stack:
        for producer in data_and_control_inputs(stack.pop()):
            if producer not in inputs and producer not in reached:
                reached[producer] = None
                stack.append(producer)
    return [op for op in reached if op not in set(function.output_identities)]


def check_closed(function: HintedFunction, function_of: dict[Operation, HintedFunction]) -> None:
    """Raises ValueError when an edge enters or leaves a function past its hints."""
    interior_ops = {op for op, owner in function_of.items() if owner is function}
    dependent = _dependent(function, interior_ops)
    for op in interior_ops:
        if not op.inputs and op.type not in CONSTANTS:
            raise ValueError(
                f"OpHint {function.name}: {op.type} '{op.name}' enters the function past its "
                "inputs; pass it through add_input"
            )
        readers = [reader for tensor in op.outputs for reader in tensor.consumers()]
        outside = [
            reader
            for reader in readers
            if reader not in interior_ops and reader not in function.output_identities
        ]
        if op in dependent and outside:
            raise ValueError(
                f"OpHint {function.name}: '{op.name}' inside the function is read by "
                f"'{outside[0].name}' outside; pass it through add_output"
            )


def _dependent(function: HintedFunction, interior_ops: set[Operation]) -> set[Operation]:
    """The operations of a function that its inputs reach."""
    reached: set[Operation] = set()
    stack = function.input_identities
    while stack:
        for tensor in stack.pop().outputs:
            new = [op for op in tensor.consumers() if op in interior_ops and op not in reached]
            reached.update(new)
            stack += new
    return reached


def _stub(function: HintedFunction, op: Operation, copy: Copy) -> list[Tensor]:
    """Adds the operation of a function; gives what each marked output reads from it, in order."""
    graph, name = copy.graph, op.name.rpartition("/")[0]
    scope = f"{name}/" if name else ""
    arguments = []
    for i in range(len(function.inputs)):
        argument = function.inputs[i]
        tensors = [copy.tensors[identity.inputs[0]] for identity in argument.tensors()]
        if argument.aggregate == OpHint.AGGREGATE_STACK:
            label = graph.unique_name(f"{scope}{function.name}/stack_{i}")
            tensors = [graph.add("Pack", label, tensors, {"axis": 0}).outputs[0]]
        arguments.append(tensors[0])
    outputs = [function.outputs[i] for i in range(len(function.outputs))]
    kinds, shapes = zip(*(_declared(output) for output in outputs), strict=True)
    attrs = {**function.attributes, "_output_types": list(kinds), "_output_shapes": list(shapes)}
    label = graph.unique_name(f"{scope}{function.name}")
    stub = graph.add(function.name, label, arguments, attrs, n_outputs=len(outputs))
    results: list[Tensor] = []
    for i, output in enumerate(outputs):
        stub_outputs = [stub.outputs[i]]
        if output.aggregate == OpHint.AGGREGATE_STACK:
            label = graph.unique_name(f"{scope}{function.name}/unstack_{i}")
            count = {"num": len(output.identities), "axis": 0}
            stub_outputs = graph.add("Unpack", label, stub_outputs, count).outputs
        elif len(output.identities) > 1:
            stub_outputs = stub_outputs * len(output.identities)
        results += stub_outputs
    return results


def _position(function: HintedFunction, op: Operation) -> int:
    """Which of what `_stub` gave an output's identity reads."""
    key, position = OpHint.FUNCTION_SORT_INDEX_ATTR, 0
    for i in range(len(function.outputs)):
        output = function.outputs[i]
        for identity in sorted(output.identities, key=lambda op: cast("int", op.attrs.get(key, 0))):
            if identity is op:
                return position
            position += 1
    raise LookupError(op.name)


def _declared(argument: Argument) -> tuple[Any, tuple[int | None, ...] | None]:
    """Type and shape of an argument."""
    tensor, shape = argument.identities[0].outputs[0], argument.identities[0].outputs[0].sizes
    if argument.aggregate == OpHint.AGGREGATE_STACK and shape is not None:
        shape = (len(argument.identities), *shape)
    return tensor.dtype, shape
