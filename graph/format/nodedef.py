"""NodeDef messages to operations and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from ...schema.errors import ModelError
from ..core.graph import Graph, Operation, Tensor
from ..core.order import Cycle, is_back_edge, ordered
from ..core.signatures import attributes
from ..core.signatures.attributes import AttributeReader
from ..core.signatures.input_checks import runtime_words

if TYPE_CHECKING:
    from ..core.protocols import AttrValue
    from .messages import NodeDef, Repeated


class Reference:
    """What one input of a node says: a node, one of its outputs, or that it must run before."""

    __slots__ = ("index", "is_control", "node", "output")

    def __init__(self, text: str):
        self.is_control = text.startswith("^")
        self.node, *parts = text.removeprefix("^").split(":")
        self.output = parts[0] if len(parts) == 2 else ""
        index = parts[-1] if parts else "0"
        self.index = int(index) if index.isdecimal() and len(parts) <= 2 else -1


class NodeImporter:
    """Adds the nodes of a message to a graph, each after those it reads.

    `arguments` are the tensors of names that no node has: those of a function's arguments.
    """

    def __init__(
        self,
        graph: Graph,
        nodes: Repeated[NodeDef],
        arguments: Mapping[str, list[Tensor]] | None = None,
    ):
        self.graph = graph
        self.nodes = {node.name: node for node in nodes}
        if len(self.nodes) != len(nodes):
            ((name, _),) = Counter(node.name for node in nodes).most_common(1)
            raise ModelError(f"Node '{name}' is not unique")
        self.types = {name: node.op for name, node in self.nodes.items()}
        self.has_loops = any(is_back_edge("Merge", type_) for type_ in self.types.values())
        self.arguments: Mapping[str, list[Tensor]] = arguments or {}
        self.read = AttributeReader().read
        self.substitute: Callable[[AttrValue], AttrValue] | None = None
        self.references = {node.name: [Reference(text) for text in node.input] for node in nodes}
        self._check_references()

    def run(self, output: Callable[[Operation, Reference], Tensor]) -> None:
        """Adds all nodes; `output` finds the tensor a reference means among a node's outputs."""
        self._output = output
        n_outputs = self._read_outputs()
        try:
            names = ordered(self.nodes, self._before)
        except Cycle as cycle:
            raise ModelError(f"{cycle}; only NextIteration may close a loop") from None
        for name in names:
            self._add(self.nodes[name], n_outputs.get(name, 1))
        for name in names if self.has_loops else ():
            for position, reference in enumerate(self.references[name]):
                if self._is_back_edge(name, reference):
                    tensor = self.tensor(name, reference)
                    self.graph.get_operation_by_name(name).set_input(position, tensor)

    def _check_references(self) -> None:
        for name, references in self.references.items():
            for reference, text in zip(references, self.nodes[name].input, strict=True):
                if reference.node not in self.nodes and reference.node not in self.arguments:
                    raise ModelError(f"Node '{name}': Unknown input node '{text}'")
                if reference.index < 0:
                    raise ModelError(f"Node '{name}': input '{text}' is not a tensor name")

    def _is_back_edge(self, name: str, reference: Reference) -> bool:
        if not self.has_loops or reference.is_control or reference.node not in self.nodes:
            return False
        return is_back_edge(self.types[name], self.types[reference.node])

    def _before(self, name: str) -> Iterator[str]:
        return (
            reference.node
            for reference in self.references[name]
            if reference.node in self.nodes and not self._is_back_edge(name, reference)
        )

    def _read_outputs(self) -> dict[str, int]:
        """How many outputs of each node are read; an opaque operation has these, or one."""
        counts: dict[str, int] = {}
        for references in self.references.values():
            for reference in references:
                if not reference.is_control:
                    counts[reference.node] = max(counts.get(reference.node, 0), reference.index + 1)
        return counts

    def _add(self, node: NodeDef, n_outputs: int) -> None:
        inputs: list[Tensor | None] = []
        control_inputs: list[Operation] = []
        for reference in self.references[node.name]:
            if reference.is_control:
                if reference.node in self.nodes:
                    control_inputs.append(self.graph.get_operation_by_name(reference.node))
            elif control_inputs:
                raise ModelError(f"Node '{node.name}': control inputs must follow other inputs")
            elif self._is_back_edge(node.name, reference):
                inputs.append(None)
            else:
                inputs.append(self.tensor(node.name, reference))
        if not node.op:
            raise ModelError(f"Node '{node.name}' does not specify an operation")
        if not self.arguments:  # those of functions do not say what memory they stand for
            self._require_memory(node, inputs)
        attrs = self._attributes(node)
        try:
            self.graph.add(
                node.op, node.name, inputs, attrs, control_inputs, node.device, n_outputs
            )
        except ValueError as error:
            raise ModelError(str(error)) from None

    def _require_memory(self, node: NodeDef, inputs: list[Tensor | None]) -> None:
        """Raises ModelError where an operation that writes memory reads what is no variable."""
        signature = self.graph.functions.signature_of(node.op)
        arguments = signature.inputs if signature else ()
        for i, (argument, tensor) in enumerate(zip(arguments, inputs, strict=False)):
            if argument.is_list:
                return
            if argument.is_reference and tensor is not None and not tensor.is_reference:
                dtype = runtime_words(tensor.dtype)
                raise ModelError(
                    f"Input {i} of node {node.name} was passed {dtype} from {tensor.name} "
                    f"incompatible with expected {dtype}_ref."
                )

    def _attributes(self, node: NodeDef) -> dict[str, AttrValue]:
        type_, substitute = node.op, self.substitute
        signature = self.graph.functions.signature_of(type_)
        known = signature.attrs if signature else {}
        where = f"{type_} '{node.name}': attribute"
        attrs: dict[str, AttrValue] = {}
        for name, message in sorted(node.attr.items()):
            kind = known[name].kind if name in known else None
            value = self.read(message, kind, f"{where} {name}")
            attrs[name] = substitute(value) if substitute else value
        return attrs

    def tensor(self, name: str, reference: Reference) -> Tensor:
        """The tensor that `reference`, an input of node `name`, means."""
        if reference.node in self.arguments and reference.node not in self.nodes:
            tensors = self.arguments[reference.node]
            if reference.index < len(tensors):
                return tensors[reference.index]
            raise ModelError(
                f"Node '{name}': Connecting to invalid output {reference.index} of argument "
                f"{reference.node} which has {len(tensors)} outputs."
            )
        op = self.graph.get_operation_by_name(reference.node)
        try:
            return self._output(op, reference)
        except ValueError as error:
            raise ModelError(f"Node '{name}': {error}") from None


def write_node(op: Operation, node: NodeDef, name_of: Callable[[Tensor], str]) -> None:
    """Writes `op` into a NodeDef message; `name_of` says how inputs are named."""
    node.name, node.op, node.device = op.name, op.type, op.device
    node.input.extend(name_of(tensor) for tensor in op.inputs)
    node.input.extend(f"^{before.name}" for before in op.control_inputs)
    known = op.signature.attrs if op.signature else {}
    for name, value in op.attrs.items():
        if value is None and name not in known:
            node.attr[name].SetInParent()
            continue
        kind = known[name].kind if name in known else None
        node.attr[name].CopyFrom(attributes.write(value, kind))
