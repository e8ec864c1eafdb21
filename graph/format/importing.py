"""`tf.import_graph_def`: the operations of a GraphDef among those of the default graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, cast

from ...schema import proto
from ..core.create import convert_to_tensor
from ..core.device_spec import merged_device
from ..core.graph import Graph, Operation, Tensor
from ..core.order import data_and_control_inputs, ordered
from ..core.scopes import get_default_graph, name_scope
from ..core.signatures.attributes import write
from ..core.signatures.signatures import signature_of
from ..core.version import GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_PRODUCER, VERSION
from . import graphdef
from .rebuild import Copy

if TYPE_CHECKING:
    from ..core.protocols import AttrValue
    from ..core.shapes import Shape
    from ..core.typing import TensorLike
    from .messages import GraphDef, Message, OpList, VersionDef

MARK = "loc:@"
"""Before the name of an operation that another one stands with."""

_SCALAR_MEANS_ANY_SHAPE = 21


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
    keys = _checked_keys(input_map)
    _check_return_elements(return_elements)
    graph = get_default_graph()
    graph.check_not_finalized()
    version = _checked_version(message.versions)
    _drop_future_attrs(message, producer_op_list)
    _forget_scalar_shapes(message)
    _check_colocation(message)
    if name == "" and not all(isinstance(value, Tensor) for value in keys.values()):
        raise ValueError(
            "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor "
            "values. Try calling tf.convert_to_tensor() on `input_map` values before calling "
            "tf.import_graph_def()."
        )
    with name_scope("import" if name is None else name) as scope:
        mapped = {_full(key): convert_to_tensor(value) for key, value in keys.items()}
        unbound = _add_unbound(message, mapped)
        mapped = {unbound.get(key, key): tensor for key, tensor in mapped.items()}
        source = graphdef.import_graph_def(message)
        copy = _copied(source, graph, scope, _replaced(source, mapped), set(unbound.values()))
    _place([op for ends in copy.controls.values() for op in ends], graph)
    if len(message.node):
        graphdef.merge_versions(graph, version)
    if return_elements is None:
        return None
    return [_element(source, copy, _text(element)) for element in return_elements]


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _checked_keys(input_map: object) -> dict[str, TensorLike]:
    """`input_map` with its keys as text; TypeError when it is no such thing."""
    if input_map is None:
        return {}
    keys = cast("Mapping[object, object]", input_map)
    if not isinstance(input_map, Mapping) or not all(isinstance(key, (str, bytes)) for key in keys):
        raise TypeError(
            f"Argument `input_map` must be a dictionary. Obtained {type(keys).__name__}; its "
            "keys must be strings"
        )
    items = cast("Mapping[str | bytes, TensorLike]", input_map).items()
    return {_text(key): value for key, value in items}


def _check_return_elements(elements: object) -> None:
    """Raises TypeError unless they are names of tensors or operations."""
    if elements is None:
        return
    listed = cast("Sequence[object]", elements)
    if not isinstance(elements, (list, tuple)) or not all(
        isinstance(element, (str, bytes)) for element in listed
    ):
        raise TypeError(
            f"Argument `return_elements` must be a list of strings. Obtained {elements!r}."
        )


def _checked_version(versions: VersionDef) -> VersionDef:
    """The versions of a GraphDef; ValueError when it is too old or too new."""
    if versions.producer < GRAPH_DEF_VERSION_MIN_PRODUCER:
        raise ValueError(
            f"GraphDef producer version {versions.producer} below min producer "
            f"{GRAPH_DEF_VERSION_MIN_PRODUCER} supported by TensorFlow {VERSION}.  Please "
            "regenerate your graph."
        )
    if versions.min_consumer > GRAPH_DEF_VERSION:
        raise ValueError(
            f"GraphDef min consumer version {versions.min_consumer} above current version "
            f"{GRAPH_DEF_VERSION} for TensorFlow {VERSION}.  Please upgrade TensorFlow."
        )
    return versions


def _forget_scalar_shapes(message: GraphDef) -> None:
    """Old graphs say of a placeholder of any shape that it is a scalar."""
    if message.versions.producer > _SCALAR_MEANS_ANY_SHAPE:
        return
    for node in message.node:
        if node.op == "Placeholder" and not node.attr["shape"].shape.dim:
            node.attr["shape"].shape.unknown_rank = True


def _drop_future_attrs(message: GraphDef, producer_op_list: Message | None) -> None:
    """Takes attributes away that only the producer knew of and that have its defaults."""
    if producer_op_list is None:
        return
    content = producer_op_list.SerializeToString()
    produced = {op.name: op for op in cast("OpList", proto.parse("OpList", content)).op}
    for node in message.node:
        signature = signature_of(node.op)
        if signature is None or node.op not in produced:
            continue
        for attribute in produced[node.op].attr:
            is_new = attribute.name in node.attr and attribute.name not in signature.attrs
            if is_new and node.attr[attribute.name] == attribute.default_value:
                del node.attr[attribute.name]


def _check_colocation(message: GraphDef) -> None:
    """Raises ValueError where a node is to stand with one that there is not."""
    names = {node.name for node in message.node}
    for node in message.node:
        for group in node.attr["_class"].list.s if "_class" in node.attr else ():
            place = group.decode()
            if place.startswith(MARK) and place.removeprefix(MARK) not in names:
                raise ValueError(
                    f"Node '{node.name}' expects to be colocated with unknown node "
                    f"'{place.removeprefix(MARK)}'"
                )


def _place(operations: Sequence[Operation], graph: Graph) -> None:
    """Gives imported operations the devices of the open blocks, and those of their neighbours."""
    scopes = graph.scopes
    outside = list(scopes.device_blocks)
    colocated: list[Operation] = []
    for op in operations:
        device, op.device = op.device, ""
        if op.colocation_groups() != [f"{MARK}{op.name}".encode()]:
            colocated.append(op)
            continue
        if device:
            scopes.device_blocks.append([device])
        try:
            op.device = scopes.device_of(op)
        finally:
            scopes.device_blocks[:] = outside
    for op in colocated:
        for group in op.colocation_groups():
            place = group.decode().removeprefix(MARK)
            device = graph.get_operation_by_name(place).device if place in graph else ""
            if device:
                op.device = merged_device("", device)
                break


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
    descriptor = getattr(graph_def, "DESCRIPTOR", None)
    if descriptor is not None and descriptor.name == "GraphDef":
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
    graph.functions.gradients.update(source.functions.gradients)
    names = _unique_names([op.name for op in source.operations], graph, scope)
    copy = Copy(graph)
    order = ordered(source.operations, data_and_control_inputs)
    for op in order:
        if f"{op.name}:0" in unbound:
            copy.maps_to(op, [replaced[op.outputs[0]]], [])
            continue
        try:
            new = copy.add(op, names[op.name], attrs=_attrs(op, names))
        except ValueError as error:
            words = str(error).removeprefix(f"{op.type} '{names[op.name]}': ")
            raise ValueError(words) from None
        _check_shapes(new)
        graph.scopes.record(new)
        copy.maps_to(op, new.outputs, [new])
        copy.tensors.update((t, replaced[t]) for t in op.outputs if t in replaced)
    for op in order:
        copy.close_loops(op)
    return copy


def _unique_names(names: Sequence[str], graph: Graph, scope: str) -> dict[str, str]:
    """The names of imported operations within a scope, with numbers where they are taken."""
    full = {name: f"{scope}{name}" for name in names}
    taken: set[str] = set()
    for op in graph.operations:
        parts = op.name.split("/")
        taken.update("/".join(parts[:i]) for i in range(1, len(parts) + 1))
    if taken.isdisjoint(full.values()):
        return full
    for name, stem in full.items():
        numbered = (f"{stem}_{i}" for i in count(1))
        inside = taken | set(full.values()) - {stem}
        full[name] = stem if stem not in taken else next(n for n in numbered if n not in inside)
        taken.add(full[name])
    return full


def _check_shapes(op: Operation) -> None:
    """Raises ValueError where "_output_shapes" contradicts what is known of the results."""
    noted = op.attrs.get("_output_shapes")
    if isinstance(noted, list) and len(noted) == len(op.outputs):
        for tensor, shape in zip(op.outputs, cast("list[Shape]", noted), strict=True):
            tensor.set_shape(shape)


def _attrs(op: Operation, names: Mapping[str, str]) -> dict[str, AttrValue]:
    """The attributes, with the places of other operations under their new names."""
    attrs = dict(op.attrs)
    colocations = attrs.get("_class")
    if isinstance(colocations, list):
        attrs["_class"] = [_renamed(place, names) for place in cast("list[bytes]", colocations)]
    return attrs


def _renamed(place: bytes, names: Mapping[str, str]) -> bytes:
    text = place.decode()
    if not text.startswith(MARK):
        return place
    name = text.removeprefix(MARK)
    return f"{MARK}{names.get(name, name)}".encode()


def _element(source: Graph, copy: Copy, text: str) -> Tensor | Operation:
    if ":" not in text:
        if text not in source:
            raise ValueError(f"Requested return node '{text}' not found in graph def")
        return copy.controls[source.get_operation_by_name(text)][0]
    name, _, index = text.partition(":")
    if not index.isdecimal():
        raise ValueError(
            f"Cannot convert {text!r} to a tensor name. Tensor names should not contain more than "
            f"1 `:`. Obtained {text.count(':')}"
        )
    if name not in source:
        raise ValueError(f"Requested return tensor '{text}' not found in graph def")
    outputs = source.get_operation_by_name(name).outputs
    if int(index) >= len(outputs):
        raise ValueError(
            f"Invalid return output {index} of node '{name}', which has {len(outputs)} output(s)"
        )
    return copy.tensors[outputs[int(index)]]
