"""Operators that are defined by others: by ONNX itself, or by a model's own functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..ir.graph import Tensor
from .names import domain_of, schema_of
from .registry import Node

if TYPE_CHECKING:
    from onnx import FunctionProto, NodeProto


@dataclass(frozen=True)
class Body:
    """What a function does.

    Attributes:
        inputs, outputs: names of values.
        nodes: with the attributes of the call.
        opsets: versions of the operator sets they are meant in, by domain.
    """

    inputs: Sequence[str]
    outputs: Sequence[str]
    nodes: Sequence[NodeProto]
    opsets: Mapping[str, int]


def body_of(node: Node, function: FunctionProto | None) -> Body | None:
    """The definition of a node's operator: the model's function, else ONNX's, else None."""
    schema = None
    if function is None:
        schema = schema_of(node.type, node.domain, node.opset)
        function = None if schema is None else _defined(node, schema)
    if function is None:
        return None
    attributes = {a.name: a for a in function.attribute_proto}
    if schema is not None:
        defaults = {name: a.default_value for name, a in schema.attributes.items()}
        attributes |= {name: a for name, a in defaults.items() if a.type}
    attributes |= {a.name: a for a in node.proto.attribute}
    opsets = dict(node.block.opsets)
    opsets |= {domain_of(entry.domain): entry.version for entry in function.opset_import}
    nodes = [_with_attributes(inner, attributes) for inner in function.node]
    return Body(function.input, function.output, nodes, opsets)


def _defined(node: Node, schema: Any) -> FunctionProto | None:
    """ONNX's function for an operator in the newest form that its operator set has."""
    from onnx import FunctionProto

    for versions, of_types in (
        (schema.function_opset_versions, False),
        (schema.context_dependent_function_opset_versions, True),
    ):
        usable = [version for version in versions if version <= node.opset]
        if not usable:
            continue
        if of_types:
            types = [_type_of(x) for x in node.inputs]
            content = schema.get_context_dependent_function_with_opset_version(
                max(usable), node.proto.SerializeToString(), types
            )
        else:
            content = schema.get_function_with_opset_version(max(usable))
        if content:
            function = FunctionProto()
            function.ParseFromString(content)
            return function
    return None


def _type_of(x: Any) -> bytes:
    """The type of a value as ONNX's message; empty for an omitted one."""
    from onnx import TypeProto, helper

    if not isinstance(x, Tensor):
        return TypeProto().SerializeToString()
    code = helper.np_dtype_to_tensor_dtype(x.dtype)
    return helper.make_tensor_type_proto(code, x.shape).SerializeToString()


def _with_attributes(node: NodeProto, attributes: Mapping[str, Any]) -> NodeProto:
    """A node whose attributes that refer to the function's have their values."""
    from onnx import NodeProto

    result = NodeProto()
    result.CopyFrom(node)
    del result.attribute[:]
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name not in attributes:
                continue
            entry = result.attribute.add()
            entry.CopyFrom(attributes[attribute.ref_attr_name])
            entry.name = attribute.name
        else:
            entry = result.attribute.add()
            entry.CopyFrom(attribute)
            if attribute.HasField("g"):
                del entry.g.node[:]
                entry.g.node.extend(_with_attributes(n, attributes) for n in attribute.g.node)
    return result
