"""GraphDef messages to Graph and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ...schema import proto
from ...schema.errors import ModelError
from ..core.contexts import control_flow_v2
from ..core.graph import Graph, Operation, Tensor
from ..core.hooks import hook
from ..core.signatures import attributes
from ..core.version import GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER
from .dataflow import Written, dataflow_form
from .functiondef import export_library, import_library
from .nodedef import NodeImporter, Reference, write_node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.library import FunctionLibrary
    from . import messages

MAX_NODES = 10**6


def import_graph_def(graph_def: messages.GraphDef) -> Graph:
    """The Graph of a GraphDef message, its function library included.

    Nodes may stand in any order. Op types that are not known become opaque operations.

    Raises:
        ModelError: a node's inputs or attributes are wrong, names are taken twice, or nodes wait
            for one another other than through a loop; the message names the node.
    """
    graph = Graph(import_library(graph_def.library))
    if len(graph_def.node) > MAX_NODES:
        raise ModelError(f"a graph may have {MAX_NODES} nodes, got {len(graph_def.node)}")
    NodeImporter(graph, graph_def.node).run(_indexed)
    return graph


def _indexed(op: Operation, reference: Reference) -> Tensor:
    """The output that "node:1" means."""
    if reference.output or reference.index >= len(op.outputs):
        output = reference.output or reference.index
        raise ValueError(
            f"Connecting to invalid output {output} of source node {op.name} "
            f"which has {len(op.outputs)} outputs."
        )
    return op.outputs[reference.index]


@hook("as_graph_def")
def as_graph_def(
    graph: Graph, from_version: int | None = None, add_shapes: bool = False
) -> messages.GraphDef:
    """The GraphDef message of `graph` and its functions, of which control flow v1 has few.

    Args:
        graph: The graph.
        from_version: How many of its first operations to leave out.
        add_shapes: Whether nodes have the shapes of their results as "_output_shapes".
    """
    written = written_graph(graph)
    if written is None:
        operations, functions = graph.operations[from_version or 0 :], graph.functions
    else:
        first, functions = from_version or 0, written.graph.functions
        operations = [op for op in written.graph.operations if written.positions[op] >= first]
    message = _message(operations, functions, version_def(graph))
    for op, node in zip(operations, message.node, strict=True) if add_shapes else ():
        if op.outputs:
            shapes = [tensor.sizes for tensor in op.outputs]
            node.attr["_output_shapes"].CopyFrom(attributes.write(shapes, "list(shape)"))
    return message


def written_graph(graph: Graph) -> Written | None:
    """The form in which a graph's branches and loops are written; None where they stay calls."""
    return None if control_flow_v2() else dataflow_form(graph)


@hook("to_graph_def")
def to_graph_def(graph: Graph) -> messages.GraphDef:
    """The GraphDef message of `graph` as it is: its branches and loops call functions."""
    return _message(graph.operations, graph.functions, version_def(graph))


def _message(
    operations: Sequence[Operation], functions: FunctionLibrary, versions: messages.VersionDef
) -> messages.GraphDef:
    message = cast("messages.GraphDef", proto.GraphDef())
    for op in operations:
        write_node(op, message.node.add(), tensor_name)
    export_library(functions, message.library)
    message.versions.CopyFrom(versions)
    return message


@hook("version_def")
def version_def(graph: Graph) -> messages.VersionDef:
    """The VersionDef message of `graph`: of the graphs that were imported into it, or ours."""
    versions = graph.scopes.extras.get("versions")
    if versions is None:
        versions = proto.VersionDef(
            producer=GRAPH_DEF_VERSION, min_consumer=GRAPH_DEF_VERSION_MIN_CONSUMER
        )
    return cast("messages.VersionDef", versions)


def merge_versions(graph: Graph, imported: messages.VersionDef) -> None:
    """Notes the versions of an imported GraphDef: the older producer, the newer consumer."""
    known = cast("messages.VersionDef | None", graph.scopes.extras.get("versions"))
    if known is None:
        graph.scopes.extras["versions"] = known = cast("messages.VersionDef", proto.VersionDef())
        known.CopyFrom(imported)
    known.producer = min(known.producer, imported.producer)
    known.min_consumer = max(known.min_consumer, imported.min_consumer)


def tensor_name(tensor: Tensor) -> str:
    """A tensor as GraphDef inputs name it: the first output goes without its number."""
    return tensor.name if tensor.value_index else tensor.op.name


def import_node(graph: Graph, content: bytes, inputs: Sequence[Tensor]) -> Operation:
    """The operation of a serialized NodeDef, added to `graph` with these tensors as its inputs.

    Its name and the inputs it names are left out of account. Raises ModelError.
    """
    node = cast("messages.NodeDef", proto.parse("NodeDef", content))
    node.name = graph.unique_name(node.op or "Operation", mark_as_used=False)
    names = [f"{node.name}_argument_{i}" for i in range(len(inputs))]
    del node.input[:]
    node.input.extend(names)
    arguments = {name: [tensor] for name, tensor in zip(names, inputs, strict=True)}
    NodeImporter(graph, cast("messages.Repeated[messages.NodeDef]", [node]), arguments).run(
        _indexed
    )
    return graph.get_operation_by_name(node.name)
