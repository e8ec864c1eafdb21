"""Object graphs: objects and the names by which they hold each other, as in TensorFlow.

A checkpoint of this kind holds a TrackableObjectGraph: nodes, of which the first is the root, and
named references between them. Variables are found by these names on the way from the root, not by
their own; the slots of an optimizer belong to it and to the variable they serve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...graph.functions.resources.lookup import LookupTable, StaticHashTable, TableInitializer
from ...graph.functions.resources.mutable_tables import MutableTable
from ...graph.functions.rnn.cells import RNNCell
from ...graph.variables.variables import Variable
from ...schema import proto
from ..optimizers.optimizer import Optimizer
from .python_state import PythonState

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The tensor of a checkpoint with the serialized TrackableObjectGraph."""
ATTRIBUTES = ".ATTRIBUTES"
SLOTS = ".OPTIMIZER_SLOT"
ATTRIBUTE_OF = {Variable: "VARIABLE_VALUE", PythonState: "py_state", MutableTable: "table"}
"""What the value of an object is called in a checkpoint."""
LEAVES = (Variable, PythonState, LookupTable, TableInitializer)
"""What holds no other objects, but for a static table its contents."""


class Trackable:
    """An object whose attributes are references of the object graph, in the order they were set.

    Attributes that are no trackable objects are ordinary ones.
    """

    _references: dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "_references", {})

    def __setattr__(self, name: str, value: Any) -> None:
        if is_trackable(value):
            self._references[name] = value
        else:
            self._references.pop(name, None)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._references.pop(name, None)
        object.__delattr__(self, name)


@dataclass
class ObjectGraph:
    """The objects that are reached from a root, breadth first, slots last."""

    objects: list[Any] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    """From the root, "" for itself; names are escaped."""
    slots: list[tuple[int, int, str, int]] = field(default_factory=list)
    """Node of the optimizer, of the variable, the slot's name, node of the slot."""
    _ids: dict[int, int] = field(default_factory=dict)

    def node_id(self, value: Any) -> int | None:
        """The node of an object, None when it is not reached."""
        return self._ids.get(id(value))

    def add(self, value: Any, path: str) -> int:
        """The node of an object, a new one when it has none."""
        if id(value) not in self._ids:
            self._ids[id(value)] = len(self.objects)
            self.objects.append(value)
            self.paths.append(path)
        return self._ids[id(value)]

    def with_values(self) -> Iterator[tuple[int, Any, str]]:
        """Node, object and attribute of all objects that have a value of their own."""
        for node, value in enumerate(self.objects):
            attribute = attribute_of(value)
            if attribute is not None:
                yield node, value, attribute


def is_trackable(value: Any) -> bool:
    """Whether an object can be a node of an object graph."""
    kinds = (*LEAVES, Optimizer, Trackable, RNNCell, list, tuple, Mapping)
    return isinstance(value, kinds)


def attribute_of(value: Any) -> str | None:
    """What the value of an object is called in a checkpoint; None for one without."""
    return next((name for kind, name in ATTRIBUTE_OF.items() if isinstance(value, kind)), None)


def references(value: Any) -> dict[str, Any]:
    """The objects that an object holds, by name.

    Raises:
        ValueError: A dict has a key that is no string beside trackable values.
    """
    if isinstance(value, Trackable):
        children: Mapping[Any, Any] = value._references
    elif isinstance(value, Optimizer):
        children = value.dependencies()
    elif isinstance(value, RNNCell):
        children = {v.op.name.rpartition("/")[2]: v for v in value.variables}
    elif isinstance(value, StaticHashTable):
        children = {"_initializer": value.contents}
    elif isinstance(value, Mapping):
        children = value
    elif isinstance(value, list | tuple):
        children = {str(i): item for i, item in enumerate(value)}
    else:
        return {}
    trackables = {name: item for name, item in children.items() if is_trackable(item)}
    for name in trackables:
        if not isinstance(name, str):
            raise ValueError(
                f"Unable to save the object {value}: a dictionary in a checkpoint must have "
                f"strings as keys, got {name!r}; use strings, or a list"
            )
    return trackables


def object_graph(root: Any) -> ObjectGraph:
    """The object graph that begins at `root`.

    Raises:
        ValueError: A slot variable is referenced by something else too, or a key is no string.
    """
    graph = ObjectGraph()
    graph.add(root, "")
    position = 0
    while position < len(graph.objects):
        value, path = graph.objects[position], graph.paths[position]
        for name, item in references(value).items():
            graph.add(item, f"{path}/{escaped(name)}" if path else escaped(name))
        position += 1
    for optimizer in range(position):
        if isinstance(graph.objects[optimizer], Optimizer):
            _add_slots(graph, optimizer, position)
    return graph


def _add_slots(graph: ObjectGraph, optimizer: int, n_objects: int) -> None:
    owner, owner_path = graph.objects[optimizer], graph.paths[optimizer]
    for name in owner.get_slot_names():
        for node in range(n_objects):
            variable = graph.objects[node]
            slot = owner.get_slot(variable, name) if isinstance(variable, Variable) else None
            if slot is None:
                continue
            if graph.node_id(slot) is not None:
                raise ValueError(
                    f"A slot variable was re-used as a dependency of a trackable object: "
                    f"'{slot.name}' at '{graph.paths[graph.add(slot, '')]}'; remove the reference, "
                    "the optimizer saves it"
                )
            path = f"{graph.paths[node]}/{SLOTS}/{owner_path}/{escaped(name)}"
            graph.slots.append((optimizer, node, name, graph.add(slot, path)))


def escaped(name: str) -> str:
    """A name as a part of a path."""
    return name.replace(".", "..").replace("/", ".S")


def checkpoint_key(path: str, attribute: str) -> str:
    """Where the checkpoint has the value of the object at `path`."""
    return f"{path}/{ATTRIBUTES}/{escaped(attribute)}"


def as_message(graph: ObjectGraph):
    """The TrackableObjectGraph message of an object graph."""
    message = proto.TrackableObjectGraph()
    for value in graph.objects:
        node = message.nodes.add()
        for name, item in references(value).items():
            node.children.add(node_id=graph.node_id(item), local_name=name)
    for node_id, value, attribute in graph.with_values():
        message.nodes[node_id].attributes.add(
            name=attribute,
            full_name=value.op.name if isinstance(value, Variable) else "",
            checkpoint_key=checkpoint_key(graph.paths[node_id], attribute),
        )
    for optimizer, variable, name, slot in graph.slots:
        message.nodes[optimizer].slot_variables.add(
            original_variable_node_id=variable, slot_name=name, slot_variable_node_id=slot
        )
    _mark_values(message)
    return message


def _mark_values(message) -> None:
    """Says of each node whether it, or one that it leads to, has a value."""
    parents: dict[int, set[int]] = {}
    marked: set[int] = set()
    for node_id, node in enumerate(message.nodes):
        if node.attributes or node.slot_variables:
            marked.add(node_id)
        for child in node.children:
            parents.setdefault(child.node_id, set()).add(node_id)
    pending = list(marked)
    while pending:
        for parent in parents.get(pending.pop(), ()):
            if parent not in marked:
                marked.add(parent)
                pending.append(parent)
    for node_id, node in enumerate(message.nodes):
        node.has_checkpoint_values.value = node_id in marked


def node_names(message) -> list[str]:
    """How each node of a TrackableObjectGraph is reached, such as "(root).model.w"."""
    names = {0: "(root)"}
    pending = [0]
    for node_id in pending:
        for child in message.nodes[node_id].children:
            if child.node_id not in names:
                names[child.node_id] = f"{names[node_id]}.{child.local_name}"
                pending.append(child.node_id)
    for node_id, node in enumerate(message.nodes):
        for slot in node.slot_variables:
            owner, variable = names.get(node_id), names.get(slot.original_variable_node_id)
            names[slot.slot_variable_node_id] = f"{owner}'s state '{slot.slot_name}' for {variable}"
    return [names.get(node_id, f"(node {node_id})") for node_id in range(len(message.nodes))]


def match(root: Any, message) -> dict[int, Any]:
    """Node of a TrackableObjectGraph -> the object that is there on the way from `root`."""
    matched = {0: root}
    pending = [0]
    for node_id in pending:
        children = references(matched[node_id])
        for child in message.nodes[node_id].children:
            if child.node_id not in matched and child.local_name in children:
                matched[child.node_id] = children[child.local_name]
                pending.append(child.node_id)
    for node_id, value in list(matched.items()):
        for slot in message.nodes[node_id].slot_variables if isinstance(value, Optimizer) else ():
            variable = matched.get(slot.original_variable_node_id)
            slot_variable = (
                value.get_slot(variable, slot.slot_name) if variable is not None else None
            )
            if slot_variable is not None:
                matched[slot.slot_variable_node_id] = slot_variable
    return matched


def string_tensor(content: bytes) -> np.ndarray:
    """A single string as a checkpoint has it."""
    return np.array(content, object)
