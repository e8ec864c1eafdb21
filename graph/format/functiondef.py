"""FunctionDef messages to graphs and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...schema import dtypes
from ...schema.errors import ModelError
from ..core.graph import Graph, Operation, Tensor
from ..core.hooks import hook
from ..core.library import Function, FunctionLibrary
from ..core.signatures import attributes
from ..core.signatures.attributes import FunctionAttr, FunctionRef
from ..core.signatures.signatures import REQUIRED, Signature
from .nodedef import NodeImporter, Reference, write_node

if TYPE_CHECKING:
    from ..core.protocols import AttrValue
    from ..core.signatures.signatures import Argument
    from .messages import FunctionDef, FunctionDefLibrary, OpDef


@hook("import_body")
def import_body(
    message: FunctionDef,
    signature: Signature,
    attrs: Mapping[str, AttrValue],
    library: FunctionLibrary,
) -> Graph:
    """The body of a function as a graph with inputs and outputs.

    Each argument is an `_Arg` operation of its name; `attrs` are put where the body refers to the
    attributes of the call.
    """
    graph = Graph(library)
    substitute = _Substitution(attrs, signature)
    arguments: dict[str, list[Tensor]] = {}
    graph.inputs = []
    for argument in signature.inputs:
        arguments[argument.name] = _add_argument(graph, argument, substitute, len(graph.inputs))
        graph.inputs += arguments[argument.name]
    importer = NodeImporter(graph, message.node_def, arguments)
    importer.substitute = substitute
    importer.run(_named)
    graph.outputs = [_result(message, importer, a.name) for a in signature.outputs]
    controls = sorted({*message.control_ret.values()})
    graph.control_outputs = [_control_result(graph, name, signature.type) for name in controls]
    return graph


class _Substitution:
    """Replaces the attributes of a call in the attributes of a body's node."""

    def __init__(self, attrs: Mapping[str, AttrValue], signature: Signature):
        self.attrs = attrs
        self.signature = signature

    def __call__(self, value: AttrValue) -> AttrValue:
        if isinstance(value, FunctionAttr):
            if value.name not in self.attrs:
                raise ModelError(
                    f"function '{self.signature.type}': attribute {value.name} is not given"
                )
            return self.attrs[value.name]
        if isinstance(value, FunctionRef):
            return FunctionRef(value.name, {name: self(v) for name, v in value.attrs.items()})
        return value

    def get_attr(self, name: str) -> AttrValue:
        """The value of an attribute of the call."""
        return self(FunctionAttr(name))


def _add_argument(
    graph: Graph, argument: Argument, substitute: _Substitution, first: int
) -> list[Tensor]:
    """The tensors of one argument."""
    types = argument.dtypes(substitute.get_attr)
    names = (
        [argument.name] if len(types) == 1 else [f"{argument.name}_{i}" for i in range(len(types))]
    )
    tensors: list[Tensor] = []
    for i, (name, dtype) in enumerate(zip(names, types, strict=True)):
        attrs = {"T": dtype, "index": first + i}
        tensors.append(graph.add("_Arg", name, (), attrs).outputs[0])
    return tensors


def _named(op: Operation, reference: Reference) -> Tensor:
    """The output that "node:output:0" means."""
    position = _position(op, reference)
    if position >= len(op.outputs):
        raise ValueError(
            f"Connecting to invalid output {reference.output}:{reference.index} of source node "
            f"{op.name} which has {len(op.outputs)} outputs."
        )
    return op.outputs[position]


def _position(op: Operation, reference: Reference) -> int:
    signature = op.signature
    if signature is None or not reference.output:
        return reference.index
    position = 0
    for argument in signature.outputs:
        count = len(argument.dtypes(op.get_attr))
        if argument.name == reference.output:
            return position + reference.index if reference.index < count else len(op.outputs)
        position += count
    return len(op.outputs)


def _result(message: FunctionDef, importer: NodeImporter, name: str) -> Tensor:
    """The tensor a result of the function stands for."""
    where = f"function '{message.signature.name}'"
    text = message.ret.get(name)
    if text is None:
        raise ModelError(f"{where}: result {name} is not in ret")
    reference = Reference(text)
    if reference.node not in importer.nodes and reference.node not in importer.arguments:
        raise ModelError(f"{where}: result {name} is of an unknown node '{reference.node}'")
    return importer.tensor(name, reference)


def _control_result(graph: Graph, name: str, function: str) -> Operation:
    if name not in graph:
        raise ModelError(f"function '{function}': control output of an unknown node '{name}'")
    return graph.get_operation_by_name(name)


def export_body(function: Function, body: Graph, message: FunctionDef) -> None:
    """Writes a function made from a graph into a FunctionDef message."""
    write_signature(function, message.signature)
    arguments = {tensor.op for tensor in body.inputs or ()}
    for op in body.operations:
        if op not in arguments:
            write_node(op, message.node_def.add(), output_name)
    for argument, tensor in zip(function.signature.outputs, body.outputs or (), strict=True):
        message.ret[argument.name] = output_name(tensor)
    for op in body.control_outputs:
        message.control_ret[op.name] = op.name
        message.signature.control_output.append(op.name)


def output_name(tensor: Tensor) -> str:
    """A tensor as function bodies name it: `node:output:0`, or the argument's name."""
    op = tensor.op
    if op.type == "_Arg":
        return op.name
    position = 0
    for argument in op.signature.outputs if op.signature else ():
        count = len(argument.dtypes(op.get_attr))
        if tensor.value_index < position + count:
            return f"{op.name}:{argument.name}:{tensor.value_index - position}"
        position += count
    return f"{op.name}:output:{tensor.value_index}"


def import_library(message: FunctionDefLibrary) -> FunctionLibrary:
    """The FunctionLibrary of a FunctionDefLibrary message; bodies are read when asked for."""
    library = FunctionLibrary(Function(definition) for definition in message.function)
    if len(library) != len(message.function):
        names = Counter(definition.signature.name for definition in message.function)
        raise ModelError(f"function '{names.most_common(1)[0][0]}' is defined twice")
    library.gradients.update((item.function_name, item.gradient_func) for item in message.gradient)
    return library


def export_library(library: FunctionLibrary, message: FunctionDefLibrary) -> None:
    """Writes the functions of `library` into a FunctionDefLibrary message."""
    for name in sorted(library):
        function = library[name]
        if function.message is not None:
            message.function.add().CopyFrom(function.message)
        else:
            export_body(function, function.body(library), message.function.add())
    for name, gradient in sorted(library.gradients.items()):
        message.gradient.add(function_name=name, gradient_func=gradient)


def write_signature(function: Function, message: OpDef) -> None:
    """Writes a function's signature into an OpDef message."""
    signature = function.signature
    message.name = signature.type
    message.is_stateful = signature.is_stateful
    for arguments, field in ((signature.inputs, "input_arg"), (signature.outputs, "output_arg")):
        for argument in arguments:
            getattr(message, field).add(name=argument.name, type=dtypes.tf_enum(argument.dtype))
    for attr in signature.attrs.values():
        item = message.attr.add(name=attr.name, type=attr.kind)
        if attr.default is not REQUIRED:
            item.default_value.CopyFrom(attributes.write(attr.default, attr.kind))
