"""Nodes against what ONNX declares of their operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..ir.graph import Tensor
from .names import domain_of, schema_of
from .slices import structure

if TYPE_CHECKING:
    from onnx import NodeProto
    from onnx.defs import OpSchema

    from .registry import Node


def check_declaration(node: Node, proto: NodeProto, opsets: Mapping[str, int]) -> None:
    """Raises ConverterError unless a node has such inputs and attributes as declared.

    Nothing is known of operators that ONNX does not declare, or whose version the model leaves out.
    """
    domain = domain_of(proto.domain)
    schema = schema_of(proto.op_type, domain, opsets[domain]) if domain in opsets else None
    if schema is None:
        return
    min_inputs, max_inputs = schema.min_input, schema.max_input
    if not min_inputs <= len(proto.input) <= max_inputs:
        number = str(min_inputs) if min_inputs == max_inputs else f"{min_inputs} to {max_inputs}"
        node.fail(f"must have {number} inputs, got {len(proto.input)}")
    _check_sequences(node, schema)
    for attribute in proto.attribute:
        declared = schema.attributes.get(attribute.name)
        if declared is None:
            node.fail(
                f"attribute {attribute.name} must be one of those of operator set "
                f"{opsets[domain]}: {', '.join(schema.attributes) or 'none'}"
            )
        if attribute.type != declared.type.value:
            kind = type(attribute).AttributeType.Name(attribute.type)
            node.fail(f"attribute {attribute.name} must be {declared.type.name}, got {kind}")


def _check_sequences(node: Node, schema: OpSchema) -> None:
    """Raises ConverterError for a sequence in place of a tensor, or the other way round."""
    for i, value in enumerate(node.inputs):
        types = schema.inputs[min(i, len(schema.inputs) - 1)].types
        takes_sequences = any("seq(" in name for name in types)
        takes_tensors = not all("seq(" in name for name in types)
        if value is None or (takes_tensors if isinstance(value, Tensor) else takes_sequences):
            continue
        expected = "a tensor" if takes_tensors else "a sequence"
        node.fail(f"input {i} must be {expected}, got {structure(value)}")
