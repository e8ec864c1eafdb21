"""What core/ asks of the rooms above it, which register their functions here.

    HOOKS.known("to_graph_def")(graph)      imports the module that has it, where that was not done

So a Tensor knows how to be evaluated, and core/ imports nothing that imports it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ...schema.registry import Registry

Function = TypeVar("Function", bound=Callable[..., Any])

HOMES = {
    "apply_operator": ".functions.operators",
    "import_body": ".format.functiondef",
    "new_graph": ".core.graph",
    "session_for": ".session.session",
    "to_graph_def": ".format.graphdef",
}
"""Name of a hook -> the module that registers it, from graph/."""

HOOKS: Registry[Callable[..., Any]] = Registry(
    "hook", __package__, lambda name: HOMES.get(name, "")
)


def hook(name: str) -> Callable[[Function], Function]:
    """Registers the decorated function, or class, for core/ to call."""

    def register(function: Function) -> Function:
        HOOKS.add(name, function)
        return function

    return register
