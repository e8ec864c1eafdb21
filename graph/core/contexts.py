"""Loops and branches around a graph, for errors: where a tensor cannot be read; their version."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .graph import Graph, Tensor

_DEFAULTS = {"control_flow_v2": True}


def control_flow_v2(yes: bool | None = None) -> bool:
    """Whether graphs are written with branches and loops that call functions; set by `yes`.

    Else they are written as TensorFlow 1 does. Inside they call functions in any case.
    """
    if yes is not None:
        _DEFAULTS["control_flow_v2"] = yes
    return _DEFAULTS["control_flow_v2"]


class Context(NamedTuple):
    """What a graph is the body of: a "while loop" or a "cond", under a name scope."""

    kind: str
    scope: str


def _enclosing(graph: Graph, kind: str) -> Graph | None:
    around: Graph | None = graph
    while around is not None and (around.context is None or around.context.kind != kind):
        around = around.outer
    return around


def unreachable(tensor: Tensor, graph: Graph, user: str) -> str | None:
    """Why an operation `user` of a graph cannot read a tensor of a loop or branch; None elsewhere.

    The words for loops are TensorFlow's.
    """
    source = tensor.op.name
    words = f"Cannot use '{source}' as input to '{user}' because"
    if _enclosing(tensor.graph, "while loop") is not None:
        if _enclosing(graph, "while loop") is not None:
            return f"{words} they are in different while loops. See info log for more details."
        return f"{words} '{source}' is in a while loop. See info log for more details."
    if _enclosing(tensor.graph, "cond") is not None:
        return f"{words} '{source}' is in a branch of a cond; let the branch return it."
    return None
