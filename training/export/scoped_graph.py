"""Parts of GraphDef messages: what lies in a name scope, what belongs to other savers."""

from __future__ import annotations

from typing import Any

UNBOUND = "$unbound_inputs_"
"""Put before the names of tensors that are read from outside of a scope."""
SAVING = ("SaveV2", "RestoreV2", "Save", "SaveSlices", "Restore", "RestoreSlice", "ShardedFilename")
"""Operations that only savers have."""


def is_within(name: str, scope: str | None) -> bool:
    """Whether a name lies in a scope; any does without one."""
    return not scope or name.startswith(_prefix(scope))


def without_scope(name: str, scope: str | None) -> str:
    """A name of an operation or tensor, also after "^" or "loc:@", as it is within a scope."""
    for mark in ("^", "loc:@", ""):
        if scope and name.startswith(mark + _prefix(scope)):
            return mark + name[len(mark + _prefix(scope)) :]
    return name


def _prefix(scope: str) -> str:
    return f"{scope.rstrip('/')}/"


def keep_scope(graph_def: Any, scope: str) -> list[str]:
    """Leaves in a GraphDef message what lies in a scope, under the names it has there.

    What is read from outside gets UNBOUND before its name; those names.
    """
    nodes = [node for node in graph_def.node if is_within(node.name, scope)]
    unbound: list[str] = []
    for node in nodes:
        for i, name in enumerate(node.input):
            if is_within(name.removeprefix("^"), scope):
                node.input[i] = without_scope(name, scope)
            else:
                mark = "^" if name.startswith("^") else ""
                node.input[i] = mark + UNBOUND + name.removeprefix("^")
                unbound.append(node.input[i])
        node.name = without_scope(node.name, scope)
        _rename_colocation(node, scope)
    _replace_nodes(graph_def, nodes)
    return list(dict.fromkeys(unbound))


def _rename_colocation(node: Any, scope: str) -> None:
    """Names of operations in attributes: those outside of the scope are left out."""
    if "_class" in node.attr:
        texts = [text.decode() for text in node.attr["_class"].list.s]
        inner = [text for text in texts if is_within(text.removeprefix("loc:@"), scope)]
        node.attr["_class"].list.s[:] = [without_scope(text, scope).encode() for text in inner]
    if node.op in ("Enter", "RefEnter"):
        name = node.attr["frame_name"].s.decode()
        node.attr["frame_name"].s = without_scope(name, scope).encode()


def remove_other_savers(graph_def: Any, saver_def: Any) -> set[str]:
    """Removes the scopes of all savers but one, which may be None; the names of their nodes."""
    ours = set()
    if saver_def is not None:
        for name in (saver_def.save_tensor_name, saver_def.restore_op_name):
            ours.add(name.partition(":")[0].rpartition("/")[0])
    scopes = {node.name.rpartition("/")[0] for node in graph_def.node if node.op in SAVING}
    removed = {
        node.name
        for node in graph_def.node
        if any(node.name.startswith(f"{scope}/") for scope in scopes - ours - {""})
    }
    _replace_nodes(graph_def, [node for node in graph_def.node if node.name not in removed])
    return removed


def _replace_nodes(graph_def: Any, nodes: list[Any]) -> None:
    contents = [node.SerializeToString() for node in nodes]
    del graph_def.node[:]
    for content in contents:
        graph_def.node.add().ParseFromString(content)
