"""The compiled runs of a Session: each is run by one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from .executor import Plan

Key = TypeVar("Key", bound=Hashable)


class PlanPool(Generic[Key]):
    """Plans that no thread runs just now.

    Args:
        limit: How many are kept; those of the key that was not used for longest go first.
    """

    def __init__(self, limit: int):
        self._limit = limit
        self._idle: dict[Key, list[Plan]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return sum(map(len, self._idle.values()))

    @contextmanager
    def plan(self, key: Key, make: Callable[[], Plan]) -> Generator[Plan]:
        """A block that has a plan for itself: an idle one, or a new one where there is none."""
        with self._lock:
            idle = self._idle.get(key)
            plan = idle.pop() if idle else None
        if plan is None or plan.is_stale:
            plan = make()
        try:
            yield plan
        finally:
            self._give_back(key, plan)

    def items(self) -> list[tuple[Key, Plan]]:
        """The idle plans, each with its key."""
        return [(key, plan) for key, plans in self._idle.items() for plan in plans]

    def clear(self) -> None:
        """Drops all that are idle."""
        with self._lock:
            self._idle.clear()

    def _give_back(self, key: Key, plan: Plan) -> None:
        with self._lock:
            plans = self._idle.pop(key, [])
            plans.append(plan)
            self._idle[key] = plans
            while len(self) > self._limit:
                first = next(iter(self._idle))
                self._idle[first].pop(0)
                if not self._idle[first]:
                    del self._idle[first]
