"""`tf.import_graph_def`: the operations of a GraphDef among those of the default graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, cast

from ...schema import proto
from ..core.attributes import write
from ..core.create import convert_to_tensor
from ..core.graph import Graph, Operation, Tensor
from ..core.order import data_and_control_inputs, ordered
from ..core.scopes import get_default_graph, name_scope
from . import graphdef
from .rebuild import Copy

if TYPE_CHECKING:
    from ..core.protocols import AttrValue
    from ..core.typing import TensorLike
    from .messages import GraphDef, Message


def import_graph_def(
    graph_def: Message | bytes | bytearray | memoryview,
    input_map: Mapping[str, TensorLike] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Mapping[str, Message] | None = None,
    producer_op_list: Message | None = None,
) -> list[Tensor | Operation] | None:
    """Adds the operations of a GraphDef to the default graph.

    Args:
        graph_def: A GraphDef message (ours or TensorFlow's), or its bytes.
        input_map: What to read in place of tensors of the GraphDef, by their names; also of such
            that are read there and not computed.
        return_elements: Names of operations and tensors to give back.
        name: The name scope they come into, "import" by default; "" for none.
        op_dict, producer_op_list: Taken for TensorFlow's sake.

    Returns:
        The elements that were asked for, None when none were.

    Raises:
        TypeError: An argument is of another kind.
        ValueError: A name is not in the GraphDef, or the GraphDef is not valid.
    """
    message = _message(graph_def)
    if not isinstance(input_map or {}, Mapping) or not all(
        isinstance(key, str) for key in input_map or {}
    ):
        raise TypeError(
            "Argument `input_map` must be a dictionary. Keys must be strings, got "
            f"{type(input_map).__name__}"
        )
    graph = get_default_graph()
    with name_scope("import" if name is None else name) as scope:
        mapped = {_full(key): convert_to_tensor(value) for key, value in (input_map or {}).items()}
        unbound = _add_unbound(message, mapped)
        mapped = {unbound.get(key, key): tensor for key, tensor in mapped.items()}
        source = graphdef.import_graph_def(message)
        copy = _copied(source, graph, scope, _replaced(source, mapped), set(unbound.values()))
    if return_elements is None:
        return None
    return [_element(source, copy, text) for text in return_elements]


def _full(name: str) -> str:
    """The name of a tensor with its output, "x:0" for "x"."""
    return name if ":" in name else f"{name}:0"


def _add_unbound(message: GraphDef, mapped: Mapping[str, Tensor]) -> dict[str, str]:
    """Adds placeholders for mapped tensors that the GraphDef reads without having them.

    The names of the placeholders by those of the tensors.
    """
    names = {node.name for node in message.node}
    missing = {key for key in mapped if key.rpartition(":")[0] not in names}
    unbound: dict[str, str] = {}
    for node in list(message.node) if missing else ():
        inputs = list(node.input)
        for i, name in enumerate(inputs):
            key = _full(name)
            if key in missing and key not in unbound:
                unbound[key] = f"{unique_in(names, 'unbound')}:0"
            inputs[i] = unbound.get(key, name)
        del node.input[:]
        node.input.extend(inputs)
    for key, name in unbound.items():
        node = message.node.add(name=name.removesuffix(":0"), op="Placeholder")
        node.attr["dtype"].CopyFrom(write(mapped[key].dtype, "type"))
    return unbound


def unique_in(names: set[str], stem: str) -> str:
    """A name that is not among `names` yet, to which it is added."""
    name = next(name for i in count() if (name := f"{stem}_{i}") not in names)
    names.add(name)
    return name


def _message(graph_def: Message | bytes | bytearray | memoryview) -> GraphDef:
    """A message of our own."""
    if hasattr(graph_def, "SerializeToString"):
        graph_def = cast("Message", graph_def).SerializeToString()
    if not isinstance(graph_def, (bytes, bytearray, memoryview)):
        raise TypeError(
            f"Argument `graph_def` must be a GraphDef proto. Received: {type(graph_def).__name__}"
        )
    return cast("GraphDef", proto.parse("GraphDef", bytes(graph_def)))


def _replaced(source: Graph, mapped: Mapping[str, Tensor]) -> dict[Tensor, Tensor]:
    """What is read in place of tensors of the GraphDef."""
    names = {tensor.name: tensor for op in source.operations for tensor in op.outputs}
    missing = [key for key in mapped if key not in names]
    if missing:
        raise ValueError(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]"
        )
    return {names[key]: value for key, value in mapped.items()}


def _copied(
    source: Graph, graph: Graph, scope: str, replaced: dict[Tensor, Tensor], unbound: set[str]
) -> Copy:
    """The operations of `source` added to `graph`, their names after `scope`.

    Those whose outputs are `unbound` are only replaced.
    """
    for function in source.functions.values():
        graph.functions.add(function)
    existing = [op.name for op in source.operations if f"{scope}{op.name}" in graph]
    if existing:
        raise ValueError(f"Node name '{existing[0]}' already exists in the Graph")
    copy = Copy(graph)
    order = ordered(source.operations, data_and_control_inputs)
    for op in order:
        if f"{op.name}:0" in unbound:
            copy.maps_to(op, [replaced[op.outputs[0]]], [])
            continue
        new = copy.add(op, f"{scope}{op.name}", attrs=_attrs(op, scope))
        graph.scopes.record(new)
        copy.maps_to(op, new.outputs, [new])
        copy.tensors.update((t, replaced[t]) for t in op.outputs if t in replaced)
    for op in order:
        copy.close_loops(op)
    return copy


def _attrs(op: Operation, scope: str) -> dict[str, AttrValue]:
    """The attributes, with the places of other operations under their new names."""
    attrs, mark = dict(op.attrs), b"loc:@"
    locations = attrs.get("_class")
    if isinstance(locations, list):
        attrs["_class"] = [
            mark + scope.encode() + location[len(mark) :] if location.startswith(mark) else location
            for location in cast("list[bytes]", locations)
        ]
    return attrs


def _element(source: Graph, copy: Copy, text: str) -> Tensor | Operation:
    if not isinstance(text, str):
        raise TypeError(
            f"Argument `return_elements` must be a list of strings. Received: {type(text).__name__}"
        )
    try:
        element = source.as_graph_element(text)
    except (KeyError, ValueError):
        raise ValueError(f"Requested return_element {text!r} not found in graph_def.") from None
    if isinstance(element, Tensor):
        return copy.tensors[element]
    return copy.controls[element][0]
