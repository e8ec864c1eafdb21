"""What a custom operator keeps from one run to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..plan.scope import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..plan.node import Node
    from ..plan.scope import Resource


def state_of(
    node: Node, name: str, initial: np.ndarray, owner: str = ""
) -> Callable[[], np.ndarray]:
    """A function that gives the array that an operator keeps under a name, to be changed in place.

    It begins as `initial`, and again after reset_all_variables and where its shape has changed.
    Operators with the same `owner`, in all subgraphs, keep one together.
    """
    by_node: dict[int, Resource] = {}
    number, scope = 0, node.scope
    if scope is not None:
        subgraph = -1 if node.planner is None or owner else node.planner.spec.index
        number = scope.resource(OPERATORS, f"{subgraph}.{owner or node.index}.{name}")

    def current() -> np.ndarray:
        resources = by_node if scope is None else scope.resources
        array = resources.get(number)
        if (
            not isinstance(array, np.ndarray)
            or array.shape != initial.shape
            or array.dtype != initial.dtype
        ):
            array = resources[number] = initial.copy()
        return array

    return current
