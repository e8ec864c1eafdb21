"""MetaGraphDef messages, which .meta files hold, as graphs with collections and savers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from ...graph.core.graph import Graph
from ...graph.core.scopes import GraphKeys, get_default_graph
from ...graph.format.importing import import_graph_def
from ...graph.variables.variable_lists import global_variables
from ...graph.variables.variables import Variable
from ...schema import proto
from ...schema.files import read_bytes
from ..checkpoints.saver import Saver
from ..sessions.queue_runner import QueueRunner
from .meta_graph import UNBOUND_COLLECTION, VARIABLES

if TYPE_CHECKING:
    from ...graph.format.messages import VariableDef


def import_meta_graph(
    meta_graph_or_file,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> Saver | None:
    """Adds a graph and its collections to the default graph.

    Args:
        meta_graph_or_file: A MetaGraphDef message, or the path of a .meta file, binary or text.
        clear_devices: Whether to leave devices out.
        import_scope: Put before all names.
        **kwargs: `input_map`, tensors by the names of what to read in their place, all of the
            collection "unbound_inputs" when there is one; `restore_collections_predicate`, which
            says of a collection's name whether to add it; `graph`, the default one by default;
            and arguments of the saver, where the message describes none.

    Returns:
        The saver that the message describes, else one of its variables; None when there are none.

    Raises:
        OSError: There is no such file, or it holds no graph.
        ValueError: The graph is malformed, or reads what `input_map` lacks.
    """
    graph = kwargs.pop("graph", None)
    if graph is not None:
        with graph.as_default():
            return import_meta_graph(meta_graph_or_file, clear_devices, import_scope, **kwargs)
    message = _read(meta_graph_or_file)
    graph = get_default_graph()
    if clear_devices:
        for node in message.graph_def.node:
            node.device = ""
    input_map = kwargs.pop("input_map", None)
    is_restored = kwargs.pop("restore_collections_predicate", lambda key: True)
    _check_unbound(message, input_map or {})
    scope = graph.unique_name(import_scope or "", mark_as_used=False)
    import_graph_def(message.graph_def, input_map=input_map, name=import_scope or scope)
    scope = scope.removesuffix("/") or None
    variables: dict[bytes, Variable] = {}
    for key, collection in sorted(message.collection_def.items()):
        kind = collection.WhichOneof("kind")
        if kind is None or kind == "any_list" or key == UNBOUND_COLLECTION:
            continue
        if is_restored(key):
            for value in getattr(collection, kind).value:
                graph.add_to_collection(key, _item(graph, key, kind, value, scope, variables))
    if message.HasField("saver_def"):
        return Saver.from_proto(message.saver_def, scope)
    # As in TensorFlow, none within a name scope, whose name the variables begin with.
    has_variables = global_variables(import_scope) or graph.get_collection(
        GraphKeys.SAVEABLE_OBJECTS, import_scope
    )
    return Saver(**kwargs) if has_variables else None


def _check_unbound(message, input_map) -> None:
    """Raises ValueError unless all that the graph reads from outside is mapped."""
    if UNBOUND_COLLECTION not in message.collection_def:
        return
    names = message.collection_def[UNBOUND_COLLECTION].bytes_list.value
    missing = [name.decode() for name in names if name.decode() not in input_map]
    if missing:
        raise ValueError(
            f"Graph contains unbound inputs: {','.join(missing)}. Must provide these inputs "
            "through input_map."
        )


def _item(graph: Graph, key: str, kind: str, value, scope: str | None, variables: dict):
    """An item of a collection; a variable that several have is one object."""
    if key in VARIABLES and kind == "bytes_list":
        if value not in variables:
            definition = cast("VariableDef", proto.parse("VariableDef", value))
            variables[value] = Variable.from_proto(definition, import_scope=scope)
        return variables[value]
    if key == GraphKeys.SAVERS and kind == "bytes_list":
        return Saver.from_proto(proto.parse("SaverDef", value), scope)
    if key == GraphKeys.QUEUE_RUNNERS and kind == "bytes_list":
        return QueueRunner.from_proto(proto.parse("QueueRunnerDef", value), scope)
    if kind == "node_list":
        return graph.as_graph_element(f"{scope}/{value}" if scope else value)
    if kind == "bytes_list" and scope:  # any text is taken for a name
        return f"{scope}/{value.decode()}"
    return value


def _read(source):
    """A message of our own, which may be changed."""
    if hasattr(source, "SerializeToString"):
        return proto.parse("MetaGraphDef", source.SerializeToString())
    path = os.fspath(source)
    if not os.path.exists(path):
        raise OSError(f"File does not exist. Received: {path}.")
    content = read_bytes(path)
    try:
        return proto.parse("MetaGraphDef", content)
    except ValueError as error:
        try:
            return proto.parse_text("MetaGraphDef", content)
        except ValueError:
            raise OSError(f"Cannot parse file {path}: {error}.") from None
