"""Plans of shapes that an interpreter had before, so that going back to them prepares nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from .plan import Plan

MOST = 1
"""Plans of each subgraph beside the one in use: resizing back and forth needs no more."""


class RecentPlans:
    """Plans that were replaced by one for other shapes; the oldest go first."""

    def __init__(self) -> None:
        self._plans: dict[int, list[Plan]] = {}

    def put(self, subgraph: int, plan: Plan) -> None:
        """Keeps a plan that is no longer in use, until `take` asks for yet another."""
        self._plans.setdefault(subgraph, []).append(plan)

    def take(
        self,
        subgraph: int,
        shape_of: Callable[[int], tuple[int, ...]],
        inputs: Mapping[int, np.ndarray],
    ) -> Plan | None:
        """The plan for inputs of these shapes, as if it had just been made; None without one.

        Its inputs of the same shape take the values of `inputs`.
        """
        plans = self._plans.get(subgraph, [])
        for plan in plans:
            if all(plan.first.arrays[t].shape == shape_of(t) for t in plan.inputs):
                plans.remove(plan)
                plan.restart(inputs)
                return plan
        del plans[:-MOST]
        return None
