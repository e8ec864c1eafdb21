"""Operations one by one as messages: NodeDef, OpDef, and `Graph.create_op`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ...schema import dtypes, proto
from ..core.create import append
from ..core.graph import Graph, Operation, Tensor
from ..core.hooks import hook
from ..core.scopes import graph_name_scope
from ..core.signatures import attributes
from ..core.signatures.attributes import AttributeReader
from ..core.signatures.signatures import REQUIRED, Argument, Signature
from .graphdef import tensor_name
from .nodedef import write_node

if TYPE_CHECKING:
    from ..core.protocols import AttrValue, DTypeAttr
    from ..core.typing import DTypeLike
    from . import messages


@hook("node_def")
def node_def(op: Operation) -> messages.NodeDef:
    """The NodeDef message of an operation."""
    node = cast("messages.NodeDef", proto.NodeDef())
    write_node(op, node, tensor_name)
    return node


@hook("op_def")
def op_def(op: Operation) -> messages.OpDef:
    """The OpDef message of an operation's type; ValueError where the type is not known."""
    if op.signature is None:
        raise ValueError(f"Op type not registered '{op.type}'")
    return write_op_def(op.type, op.signature)


def write_op_def(kind: str, signature: Signature) -> messages.OpDef:
    """The OpDef message of a type of operation."""
    message = cast("messages.OpDef", proto.OpDef(name=kind, is_stateful=signature.is_stateful))
    for arguments, into in (
        (signature.inputs, message.input_arg),
        (signature.outputs, message.output_arg),
    ):
        for argument in arguments:
            _write_argument(argument, into.add(name=argument.name))
    for attribute in signature.attrs.values():
        declared = message.attr.add(name=attribute.name, type=attribute.kind)
        if attribute.default is not REQUIRED:
            default = attributes.write(attribute.default, attribute.kind)
            declared.default_value.CopyFrom(default)
    return message


def _write_argument(argument: Argument, message: messages.ArgDef) -> None:
    message.is_ref = argument.is_reference
    if argument.count:
        message.number_attr = argument.count
    if argument.is_list:
        message.type_list_attr = str(argument.dtype)
    elif isinstance(argument.dtype, str):
        message.type_attr = argument.dtype
    else:
        message.type = dtypes.tf_enum(argument.dtype)


@hook("create_op")
def create_op(
    graph: Graph,
    kind: str,
    inputs: Sequence[Tensor],
    result_types: Sequence[DTypeLike],
    name: str | None,
    messages_of: Mapping[str, messages.AttrValueMessage],
) -> Operation:
    """Appends an operation of a type, as Graph.create_op does."""
    for index, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"Input #{index} is not a tensor: {tensor}")
    graph.check_not_finalized()
    signature = graph.functions.signature_of(kind)
    known = signature.attrs if signature else {}
    read = AttributeReader().read
    attrs: dict[str, AttrValue] = {
        key: read(message, known[key].kind if key in known else None, f"{kind}: attribute {key}")
        for key, message in messages_of.items()
    }
    if signature is None:
        from ..core.dtype import as_numpy

        attrs["_output_types"] = cast("list[DTypeAttr]", [as_numpy(t) for t in result_types])
    with graph_name_scope(graph, name or kind) as scope:
        pass
    return append(graph, kind, scope[:-1], inputs, attrs)
