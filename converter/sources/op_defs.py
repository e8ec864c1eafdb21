"""Result types of operations that TensorFlow itself lacks, as attributes of their nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...graph.core.signatures.signatures import signature_of
from ...schema import proto

TYPES, SHAPES = "_output_types", "_output_shapes"


def parsed_op_defs(text: str) -> dict[str, Any]:
    """OpDef messages by name, of texts that are separated by commas.

    Raises ValueError when there is something else.
    """
    definitions = {}
    for part in filter(str.strip, text.split(",")):
        try:
            definition = proto.parse_text("OpDef", part.encode())
        except ValueError as error:
            raise ValueError(f"custom_opdefs must be OpDefs in text, and has {error}") from None
        definitions[definition.name] = definition
    return definitions


def note_types(nodes: Iterable[Any], definitions: Mapping[str, Any]) -> None:
    """Notes in NodeDefs of operations without a signature what types an OpDef gives them."""
    for node in nodes:
        definition = definitions.get(node.op)
        if definition is None or signature_of(node.op) is not None or TYPES in node.attr:
            continue
        values = {attr.name: attr.default_value for attr in definition.attr} | dict(node.attr)
        types = [kind for argument in definition.output_arg for kind in _types(values, argument)]
        node.attr[TYPES].list.type.extend(types)


def _types(values: Mapping[str, Any], argument: Any) -> list[int]:
    """The types that an argument of an OpDef stands for in a node of these attributes."""
    if argument.type_list_attr:
        return list(values[argument.type_list_attr].list.type)
    kind = values[argument.type_attr].type if argument.type_attr else argument.type
    return [kind] * (values[argument.number_attr].i if argument.number_attr else 1)


def note_results(nodes: Iterable[Any], graph: Any) -> None:
    """Notes in NodeDefs of a running TensorFlow's graph what it knows of types and shapes."""
    operations = {op.name: op for op in graph.get_operations() if signature_of(op.type) is None}
    for node in nodes:
        op = operations.get(node.name)
        if op is None or TYPES in node.attr:
            continue
        node.attr[TYPES].list.type.extend(x.dtype.as_datatype_enum for x in op.outputs)
        del node.attr[SHAPES].list.shape[:]
        for x in op.outputs:
            shape = x.shape.as_proto().SerializeToString()
            node.attr[SHAPES].list.shape.add().ParseFromString(shape)
