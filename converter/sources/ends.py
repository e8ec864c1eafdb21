"""The inputs and outputs of a frozen graph whose user did not name them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .source import op_name, some

PLACEHOLDERS = ("Placeholder", "PlaceholderV2")
DEFAULTED = ("PlaceholderWithDefault",)
NEVER_OUTPUTS = frozenset((*PLACEHOLDERS, *DEFAULTED, "Assert", "Const", "NoOp"))
"""Operations that are never an output, whether or not somebody reads them."""
_EXITS = ("Exit", "RefExit")


def unread_operations(graph_def, input_arrays: Iterable[str] | None) -> list[str]:
    """The operations that compute something from the inputs which no other operation reads.

    Args:
        graph_def: the message.
        input_arrays: names of the inputs; None for the placeholders.

    Raises ValueError when there are none, or when they do not all need the same inputs: then some
    may be left from training.
    """
    nodes = {node.name: node for node in graph_def.node}
    read = {op_name(name) for node in graph_def.node for name in data_inputs(node)}
    stops = _with_type(nodes, PLACEHOLDERS) or _with_type(nodes, DEFAULTED)
    if input_arrays is not None:
        stops = {op_name(name) for name in input_arrays}
    needs = {
        name: reached & stops
        for name, node in nodes.items()
        if name not in read and node.op not in NEVER_OUTPUTS and name not in stops
        if (reached := _closure(nodes, [name], stops)) & stops and not _is_in_a_loop(nodes, name)
    }
    # what loops leave behind is an output only when there is no other
    needs = {name: of for name, of in needs.items() if nodes[name].op not in _EXITS} or needs
    if not needs:
        raise ValueError(
            "Cannot tell the outputs of the graph: no operation that nobody reads is computed from "
            "an input; name the outputs with output_arrays (--outputs)"
        )
    if len(set(map(frozenset, needs.values()))) > 1:
        rows = [f"  '{name}' needs {some(sorted(inputs))}" for name, inputs in needs.items()]
        listed = "\n".join(rows[:8] + ([f"  and {len(rows) - 8} more"] if len(rows) > 8 else []))
        raise ValueError(
            "Cannot tell the outputs of the graph: these operations, which nobody reads, do not "
            f"need the same inputs:\n{listed}\nName the outputs with output_arrays (--outputs)."
        )
    return list(needs)


def _is_in_a_loop(nodes, name: str) -> bool:
    """Whether an operation runs once for each iteration of a loop, which nobody can fetch."""
    exits = {exit_name for exit_name, node in nodes.items() if node.op in _EXITS}
    reached = _closure(nodes, [name], exits)
    return any(
        nodes[exit_name].op in ("Enter", "RefEnter")
        for exit_name in reached - exits
        if exit_name in nodes
    )


def needed_placeholders(graph_def, roots: Sequence[str]) -> list[str]:
    """The placeholders that the operations `roots` need, in the graph's order.

    A placeholder with a default is one only when there is no other. Raises ValueError when there
    are none at all.
    """
    nodes = {node.name: node for node in graph_def.node}
    reached = _closure(nodes, roots, ())
    for kinds in (PLACEHOLDERS, DEFAULTED):
        placeholders = [
            node.name for node in graph_def.node if node.op in kinds and node.name in reached
        ]
        if placeholders:
            return placeholders
    raise ValueError(
        f"Cannot tell the inputs of the graph: {some(roots)} need no placeholder; name the inputs "
        "with input_arrays (--inputs)"
    )


def data_inputs(node) -> list[str]:
    """The tensors a node of a GraphDef takes."""
    return [name for name in node.input if not name.startswith("^")]


def _with_type(nodes, kinds: Iterable[str]) -> set[str]:
    return {name for name, node in nodes.items() if node.op in kinds}


def _closure(nodes, roots: Iterable[str], stops) -> set[str]:
    """`roots` and what they are computed from, up to and with `stops`."""
    reached: set[str] = set()
    stack = [name for name in roots if name in nodes]
    while stack:
        name = stack.pop()
        if name in reached:
            continue
        reached.add(name)
        if name not in stops:
            stack += [
                producer for producer in map(op_name, data_inputs(nodes[name])) if producer in nodes
            ]
    return reached
