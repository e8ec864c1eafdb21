"""Graphs with their collections and savers as MetaGraphDef messages: the .meta files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..graph.core.graph import Graph, Operation, Tensor
from ..graph.core.scopes import GraphKeys, get_default_graph
from ..graph.format.graphdef import to_graph_def
from ..graph.variables.variables import Variable
from ..schema import proto
from ..schema.files import remove_leftovers, write_atomic

if TYPE_CHECKING:
    pass

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
        export_scope: Not supported.
        clear_devices: Whether to leave devices out.
        clear_extraneous_savers: Whether to leave out the nodes of other savers.
        strip_default_attrs: Whether to leave out attributes with default values.
        save_debug_info: Taken for TensorFlow's sake.

    Raises:
        ValueError: The graph has more than 2 GB.
    """
    if export_scope:
        raise NotImplementedError(f"export_scope must be None, got '{export_scope}'")
    graph = get_default_graph() if graph is None else graph
    message = proto.MetaGraphDef()
    if meta_info_def is not None:
        message.meta_info_def.CopyFrom(meta_info_def)
    message.meta_info_def.stripped_default_attrs = strip_default_attrs
    message.graph_def.CopyFrom(to_graph_def(graph) if graph_def is None else graph_def)
    if strip_default_attrs:
        _strip_defaults(graph, message.graph_def)
    for node in message.graph_def.node if clear_devices else ():
        node.device = ""
    if saver_def is not None:
        message.saver_def.CopyFrom(saver_def)
    keys = sorted(graph.scopes.collections) if collection_list is None else collection_list
    for key in keys:
        _write_collection(message, key, graph.get_collection(key))
    if message.ByteSize() > MAX_BYTES:
        raise ValueError(f"a graph may have {MAX_BYTES} bytes, got {message.ByteSize()}")
    if filename is not None:
        text = str(message).encode() if as_text else message.SerializeToString(deterministic=True)
        write_atomic(filename, text)
        remove_leftovers(filename)
    return message


def _strip_defaults(graph: Graph, graph_def) -> None:
    """Removes attributes that say what goes without saying."""
    for node in graph_def.node:
        op = graph.get_operation_by_name(node.name)
        for name, declared in (op.signature.attrs if op.signature else {}).items():
            if name in op.attrs and op.attrs[name] is declared.default:
                del node.attr[name]


def _write_collection(message, key: str, items: list) -> None:
    """Writes a collection; one with items that have no form in a message is left out."""
    if not items:
        return
    rows = [_written(item) for item in items]
    kinds = {kind for kind, _ in rows}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is not None:
        getattr(message.collection_def[key], kind).value.extend(value for _, value in rows)


def _written(item) -> tuple[str | None, Any]:
    """The kind of list an item belongs to, and its form there."""
    if isinstance(item, Variable):
        return "bytes_list", item.to_proto().SerializeToString(deterministic=True)
    if isinstance(item, Tensor | Operation):
        return "node_list", item.name
    if isinstance(item, str | bytes):
        return "bytes_list", item.encode() if isinstance(item, str) else item
    return NUMBERS.get(type(item)), item
