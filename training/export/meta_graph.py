"""Graphs with their collections and savers as MetaGraphDef messages: the .meta files."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ...graph.core.graph import Graph, Operation, Tensor
from ...graph.core.scopes import GraphKeys, get_default_graph
from ...graph.core.version import GIT_VERSION, VERSION
from ...graph.format.flow_contexts import FlowContext
from ...graph.format.graphdef import written_graph
from ...graph.format.node_messages import write_op_def
from ...graph.variables.variables import Variable
from ...schema import proto
from ...schema.files import remove_leftovers, write_atomic
from .scoped_graph import is_within, keep_scope, remove_other_savers, without_scope

VARIABLES = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.CONCATENATED_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.GLOBAL_STEP,
)
"""Collections whose items are variables, each as a VariableDef message."""
AS_MESSAGES = (*VARIABLES, GraphKeys.SAVERS, GraphKeys.QUEUE_RUNNERS)
"""Collections whose items are written as messages; what is in others is written by its name."""
UNBOUND_COLLECTION = "unbound_inputs"
"""The collection with the tensors that a scope reads from outside of it."""
NUMBERS = {bool: "int64_list", int: "int64_list", float: "float_list"}
MAX_BYTES = 2**31 - 1


def export_meta_graph(
    filename=None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Sequence[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
):
    """A graph, its collections and a saver as a MetaGraphDef message.

    Args:
        filename: Where to write it; None does not.
        meta_info_def: The message's part of that name.
        graph_def: The nodes; those of `graph` by default.
        saver_def: How to save and restore the variables.
        collection_list: The collections to write; all by default.
        as_text: Whether the file is text.
        graph: The default graph when left out.
        export_scope: The name scope to write alone, under the names it has within. Tensors read
            from outside get "$unbound_inputs_" before their names, which the collection
            "unbound_inputs" lists; `import_meta_graph` takes them as `input_map`.
        clear_devices: Whether to leave devices out.
        clear_extraneous_savers: Whether to leave out the nodes of other savers.
        strip_default_attrs: Whether to leave out attributes with default values.
        save_debug_info: Taken for TensorFlow's sake.

    Raises:
        ValueError: The graph has more than 2 GB.
    """
    graph = get_default_graph() if graph is None else graph
    message = proto.MetaGraphDef()
    if meta_info_def is not None:
        message.meta_info_def.CopyFrom(meta_info_def)
    message.graph_def.CopyFrom(graph.as_graph_def() if graph_def is None else graph_def)
    _describe(message, graph, strip_default_attrs)
    written = written_graph(graph)
    if strip_default_attrs:
        _strip_defaults(written.graph if written else graph, message.graph_def)
    for node in message.graph_def.node if clear_devices else ():
        node.device = ""
    removed: set[str] = set()
    if clear_extraneous_savers:
        removed = remove_other_savers(message.graph_def, saver_def)
    unbound = keep_scope(message.graph_def, export_scope) if export_scope else []
    if saver_def is not None:
        message.saver_def.CopyFrom(saver_def)
    keys = sorted(graph.scopes.collections) if collection_list is None else collection_list
    for key in keys:
        items = [
            item
            for item in graph.get_collection(key)
            if _is_written(item, export_scope) and _operation_name(item) not in removed
        ]
        _write_collection(message, key, items, export_scope)
    if written is not None:
        _write_contexts(message, written.contexts, collection_list, export_scope)
    if unbound:
        names = [name.encode() for name in unbound]
        message.collection_def[UNBOUND_COLLECTION].bytes_list.value[:] = names
    if message.ByteSize() > MAX_BYTES:
        raise ValueError(f"a graph may have {MAX_BYTES} bytes, got {message.ByteSize()}")
    if filename is not None:
        text = str(message).encode() if as_text else message.SerializeToString(deterministic=True)
        write_atomic(filename, text)
        remove_leftovers(filename)
    return message


def _describe(message, graph: Graph, strip_default_attrs: bool) -> None:
    """Writes the version, and the signatures of the operations unless they are there already."""
    about = message.meta_info_def
    about.tensorflow_version, about.tensorflow_git_version = VERSION, GIT_VERSION
    about.stripped_default_attrs = strip_default_attrs
    if not about.HasField("stripped_op_list"):
        functions = message.graph_def.library.function
        nodes = itertools.chain(message.graph_def.node, *(f.node_def for f in functions))
        kinds = {node.op for node in nodes} - {f.signature.name for f in functions}
        for kind in sorted(kinds):
            signature = graph.functions.signature_of(kind)
            if signature is not None:
                about.stripped_op_list.op.add().CopyFrom(write_op_def(kind, signature))


def _strip_defaults(graph: Graph, graph_def) -> None:
    """Removes attributes that say what goes without saying."""
    for node in graph_def.node:
        op = graph.get_operation_by_name(node.name)
        for name, declared in (op.signature.attrs if op.signature else {}).items():
            if name in op.attrs and op.attrs[name] is declared.default:
                del node.attr[name]


def _operation_name(item) -> str | None:
    """The name of the operation that an item is, or is computed by; texts count as names."""
    definition = getattr(item, "saver_def", None)
    if definition is not None:
        return definition.filename_tensor_name.partition(":")[0]
    name = item if isinstance(item, str) else getattr(item, "name", None)
    return name.partition(":")[0] if isinstance(name, str) else None


def _is_written(item, scope: str | None) -> bool:
    """Whether an item lies in a scope, or is none of the graph's."""
    name = _operation_name(item)
    return name is None or is_within(name, scope)


def _write_collection(message, key: str, items: list, scope: str | None) -> None:
    """Writes a collection; one with items that have no form in a message is left out."""
    if not items:
        return
    rows = [_written(item, scope, key in AS_MESSAGES) for item in items]
    kinds = {kind for kind, _ in rows}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is not None:
        getattr(message.collection_def[key], kind).value.extend(value for _, value in rows)


def _write_contexts(
    message, contexts: Sequence[FlowContext], keys: Sequence[str] | None, scope: str | None
) -> None:
    """Writes what TensorFlow has to know of branches and loops to find gradients of them."""
    for context in contexts:
        key = context.collection
        if is_within(context.name, scope) and (keys is None or key in keys):
            definition = context.message(lambda name: without_scope(name, scope))
            content = definition.SerializeToString(deterministic=True)
            message.collection_def[key].bytes_list.value.append(content)


def _written(item, scope: str | None, as_message: bool) -> tuple[str | None, Any]:
    """The kind of list an item belongs to, and its form there."""
    if as_message and hasattr(item, "to_proto"):
        definition = item.to_proto(export_scope=scope and scope.rstrip("/"))
        if definition is not None:
            return "bytes_list", definition.SerializeToString(deterministic=True)
    if isinstance(item, Tensor | Operation | Variable):
        return "node_list", without_scope(item.name, scope)
    if isinstance(item, str | bytes):
        return "bytes_list", item.encode() if isinstance(item, str) else item
    return NUMBERS.get(type(item)), item
