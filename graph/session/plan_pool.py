"""The compiled runs of a Session: each is run by one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from ..core.graph import Tensor
    from .delegated import DelegationReport, Step

Key = TypeVar("Key", bound=Hashable)


class RunPlan(Protocol):
    """Fetches that are compiled, as a Session runs them."""

    report: DelegationReport | None

    @property
    def is_stale(self) -> bool:
        """Whether it has to be compiled anew."""
        ...

    @property
    def positions(self) -> Mapping[Step, int]:
        """Where each operation stands in the run."""
        ...

    def fetch(
        self,
        feeds: Mapping[Tensor, np.ndarray],
        times: list[tuple[object, float]] | None = None,
    ) -> Mapping[Tensor, np.ndarray]:
        """Runs; gives the arrays of the fetched tensors, which the next run overwrites."""
        ...


class PlanPool(Generic[Key]):
    """Plans that no thread runs just now.

    Args:
        limit: How many are kept; those of the key that was not used for longest go first.
    """

    def __init__(self, limit: int):
        self._limit = limit
        self._idle: dict[Key, list[RunPlan]] = {}
        self._n_idle = 0
        self._lock = threading.Lock()

    def take(self, key: Key) -> RunPlan | None:
        """An idle plan, which is the caller's until it is given back; None where there is none."""
        with self._lock:
            idle = self._idle.get(key)
            if not idle:
                return None
            self._n_idle -= 1
            return idle.pop()

    def items(self) -> list[tuple[Key, RunPlan]]:
        """The idle plans, each with its key."""
        return [(key, plan) for key, plans in self._idle.items() for plan in plans]

    def clear(self) -> None:
        """Drops all that are idle."""
        with self._lock:
            self._idle.clear()
            self._n_idle = 0

    def give_back(self, key: Key, plan: RunPlan) -> None:
        """Lets others have a plan that is not running any more."""
        with self._lock:
            plans = self._idle.pop(key, None) or []
            plans.append(plan)
            self._idle[key] = plans
            self._n_idle += 1
            while self._n_idle > self._limit:
                first = next(iter(self._idle))
                if self._idle[first]:
                    self._n_idle -= 1
                    self._idle[first].pop(0)
                if not self._idle[first]:
                    del self._idle[first]
