"""Functions marked by OpHints, each replaced by one operation."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...graph.core.order import data_and_control_inputs
from ...graph.format.rebuild import Copy, rebuild
from .ophint import ATTRIBUTE, OpHint

if TYPE_CHECKING:
    from ...graph.core.graph import Graph, Operation, Tensor

BAKED = frozenset({"Const"})
"""Operations without inputs that a function may have inside: it is told what they hold."""


@dataclass
class Argument:
    """What becomes one argument of the operation: marked identities and how they are joined."""

    aggregate: str = ""
    identities: list[Operation] = field(default_factory=list)

    def tensors(self) -> list[Operation]:
        """The identities in their order, only those that count."""
        key = OpHint.FUNCTION_SORT_INDEX_ATTR
        found = sorted(self.identities, key=lambda op: op.attrs.get(key, 0))
        if self.aggregate == OpHint.AGGREGATE_FIRST:
            return found[:1]
        return found[-1:] if self.aggregate == OpHint.AGGREGATE_LAST else found


@dataclass
class Hinted:
    """One marked use of a function.

    Attributes:
        name: the function's.
        inputs, outputs: arguments by place.
        attributes: constants by name.
    """

    name: str
    inputs: dict[int, Argument] = field(default_factory=lambda: defaultdict(Argument))
    outputs: dict[int, Argument] = field(default_factory=lambda: defaultdict(Argument))
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def ends(self) -> list[Operation]:
        """All identities of the outputs."""
        return [op for argument in self.outputs.values() for op in argument.identities]

    @property
    def starts(self) -> list[Operation]:
        """All identities of the inputs."""
        return [op for argument in self.inputs.values() for op in argument.identities]


def collapse(graph: Graph) -> Graph:
    """A copy of `graph` in which each marked function is one operation; `graph` when none is.

    The operation has the function's name as type and the constants as attributes. What read an
    output goes on under its name.

    Raises ValueError, naming a node, when a function is not closed.
    """
    functions = marked(graph)
    if not functions:
        return graph
    inside: dict[Operation, Hinted] = {}
    for function in functions:
        for op in interior(function):
            inside[op] = function
    for function in functions:
        check_closed(function, inside)
    ends = {op: function for function in functions for op in function.ends}
    fetched = {tensor.op for tensor in graph.outputs or ()}
    gone = (set(inside) | {op for f in functions for op in f.starts}) - fetched

    def before(op: Operation) -> Iterable[Operation]:
        if op in ends:
            return [x.inputs[0].op for a in ends[op].inputs.values() for x in a.tensors()]
        return data_and_control_inputs(op)

    stubs: dict[int, list[Tensor]] = {}

    def replace(op: Operation, copy: Copy) -> bool:
        function = ends.get(op)
        if function is None:
            return False
        if id(function) not in stubs:
            stubs[id(function)] = _stub(function, op, copy)
        source = stubs[id(function)][_position(function, op)]
        attrs = {key: value for key, value in op.attrs.items() if not key.startswith("_tflite")}
        new = copy.graph.add("Identity", op.name, [source], attrs, (), op.device)
        copy.maps_to(op, new.outputs, [new])
        return True

    kept = [op for op in graph.operations if op not in gone]
    return rebuild(graph, kept, replace, before)


def marked(graph: Graph) -> list[Hinted]:
    """The uses of functions that identities of the graph mark.

    Raises ValueError for a use without outputs, and for nested hints.
    """
    found: dict[bytes, Hinted] = {}
    for op in graph.operations:
        attrs = op.attrs
        if OpHint.FUNCTION_UUID_ATTR not in attrs:
            continue
        name = attrs[OpHint.FUNCTION_NAME_ATTR].decode()
        mapping = json.loads(attrs.get(OpHint.CHILDREN_INPUTS_MAPPINGS, b"null"))
        if attrs.get(OpHint.FUNCTION_LEVEL_ATTR, 1) != 1 or mapping:
            raise ValueError(f"OpHint {name} at '{op.name}': nested hints are not supported yet")
        function = found.setdefault(attrs[OpHint.FUNCTION_UUID_ATTR], Hinted(name))
        for side, key in (
            (function.inputs, OpHint.FUNCTION_INPUT_INDEX_ATTR),
            (function.outputs, OpHint.FUNCTION_OUTPUT_INDEX_ATTR),
        ):
            if key in attrs:
                argument = side[attrs[key]]
                argument.identities.append(op)
                argument.aggregate = attrs.get(OpHint.FUNCTION_AGGREGATE_ATTR, b"").decode()
        for key, value in attrs.items():
            if key.startswith(ATTRIBUTE):
                function.attributes[key.removeprefix(ATTRIBUTE)] = value
    for function in found.values():
        for side, words in ((function.inputs, "inputs"), (function.outputs, "outputs")):
            if sorted(side) != list(range(len(side))):
                raise ValueError(
                    f"OpHint {function.name}: its {words} are numbered {sorted(side)}, with gaps"
                )
    return [function for function in found.values() if function.outputs]


def interior(function: Hinted) -> list[Operation]:
    """The operations between a function's inputs and outputs, its own identities left out."""
    starts, seen = set(function.starts), dict.fromkeys(function.ends)
    left = list(seen)
    while left:
        for before in data_and_control_inputs(left.pop()):
            if before not in starts and before not in seen:
                seen[before] = None
                left.append(before)
    return [op for op in seen if op not in set(function.ends)]


def check_closed(function: Hinted, inside: dict[Operation, Hinted]) -> None:
    """Raises ValueError when an edge enters or leaves a function past its hints."""
    own = {op for op, owner in inside.items() if owner is function}
    dependent = _dependent(function, own)
    for op in own:
        if not op.inputs and op.type not in BAKED:
            raise ValueError(
                f"OpHint {function.name}: {op.type} '{op.name}' enters the function past its "
                "inputs; pass it through add_input"
            )
        readers = [one for tensor in op.outputs for one in tensor.consumers()]
        outside = [one for one in readers if one not in own and one not in function.ends]
        if op in dependent and outside:
            raise ValueError(
                f"OpHint {function.name}: '{op.name}' inside the function is read by "
                f"'{outside[0].name}' outside; pass it through add_output"
            )


def _dependent(function: Hinted, own: set[Operation]) -> set[Operation]:
    """The operations of a function that its inputs reach."""
    found: set[Operation] = set()
    left = function.starts
    while left:
        for tensor in left.pop().outputs:
            new = [op for op in tensor.consumers() if op in own and op not in found]
            found.update(new)
            left += new
    return found


def _stub(function: Hinted, op: Operation, copy: Copy) -> list[Tensor]:
    """Adds the operation of a function; gives what each marked output reads from it, in order."""
    graph, name = copy.graph, op.name.rpartition("/")[0]
    scope = f"{name}/" if name else ""
    arguments = []
    for i in range(len(function.inputs)):
        argument = function.inputs[i]
        tensors = [copy.tensors[one.inputs[0]] for one in argument.tensors()]
        if argument.aggregate == OpHint.AGGREGATE_STACK:
            label = graph.unique_name(f"{scope}{function.name}/stack_{i}")
            tensors = [graph.add("Pack", label, tensors, {"axis": 0}).outputs[0]]
        arguments.append(tensors[0])
    places = [function.outputs[i] for i in range(len(function.outputs))]
    kinds, shapes = zip(*(_declared(place) for place in places), strict=True)
    attrs = {**function.attributes, "_output_types": list(kinds), "_output_shapes": list(shapes)}
    label = graph.unique_name(f"{scope}{function.name}")
    stub = graph.add(function.name, label, arguments, attrs, n_outputs=len(places))
    results: list[Tensor] = []
    for i, place in enumerate(places):
        parts = [stub.outputs[i]]
        if place.aggregate == OpHint.AGGREGATE_STACK:
            label = graph.unique_name(f"{scope}{function.name}/unstack_{i}")
            count = {"num": len(place.identities), "axis": 0}
            parts = graph.add("Unpack", label, parts, count).outputs
        elif len(place.identities) > 1:
            parts = parts * len(place.identities)
        results += parts
    return results


def _position(function: Hinted, op: Operation) -> int:
    """Which of what `_stub` gave an output's identity reads."""
    key, position = OpHint.FUNCTION_SORT_INDEX_ATTR, 0
    for i in range(len(function.outputs)):
        place = function.outputs[i]
        for one in sorted(place.identities, key=lambda one: one.attrs.get(key, 0)):
            if one is op:
                return position
            position += 1
    raise LookupError(op.name)


def _declared(place: Argument) -> tuple[Any, tuple[int | None, ...] | None]:
    """Type and shape of an argument."""
    tensor, shape = place.identities[0].outputs[0], place.identities[0].outputs[0].shape
    if place.aggregate == OpHint.AGGREGATE_STACK and shape is not None:
        shape = (len(place.identities), *shape)
    return tensor.dtype, shape
