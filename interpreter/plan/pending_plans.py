"""Plans on disk, and those that wait to be written there.

Writing must not delay the first result of a process: a thread writes plans DELAY seconds after the
first of them was made; so does the end of the process, and a request for one of them.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import allocate_lock, start_new_thread
from typing import TYPE_CHECKING

from ... import __version__
from ...engine.build import cache, image
from ...engine.run.disk_cache import CacheEntry

if TYPE_CHECKING:
    from collections.abc import Callable

DELAY = 1.0
_PACKAGE = __name__.partition(".")[0]
_SOURCES = tuple(f"{_PACKAGE}.{name}." for name in ("engine", "interpreter", "schema"))


def cache_entry_of(
    status: os.stat_result, n_threads: int, consumes_inputs: bool = False
) -> CacheEntry:
    """The cache entry of a file's plan for a number of threads.

    It is another one for plans that overwrite their inputs.
    """
    return CacheEntry(status, __version__, n_threads, consumes_inputs)


def stored_plan(
    status: os.stat_result, n_threads: int | None, consumes_inputs: bool
) -> tuple[CacheEntry, memoryview | None]:
    """The cache entry of a file's plan, and the plan if there is one, of this process or others."""
    entry = cache_entry_of(status, n_threads or 1, consumes_inputs)
    store_now(entry.key)
    return entry, entry.read()


def sources() -> list[str]:
    """The files that have made the plans of this process: its modules, and those of kernels."""
    modules = [module for name, module in [*sys.modules.items()] if name.startswith(_SOURCES)]
    files = {module.__file__ for module in modules if module.__file__ is not None}
    for module in image.modules():
        files.update(cache.sources(module))
    return sorted(files)


class PendingPlan:
    """A plan to be stored once, by the first thread that asks.

    Args:
        entry: where it is stored; None for what only this process shares.
        serialize: gives its bytes, None where it cannot be stored.
    """

    __slots__ = ("_lock", "_serialize", "_serialized", "entry")

    def __init__(self, entry: CacheEntry | None, serialize: Callable[[], bytes | None]) -> None:
        self.entry = entry
        self._serialize: Callable[[], bytes | None] | None = serialize
        self._serialized: bytes | None = None
        self._lock = allocate_lock()

    def store(self) -> bytes | None:
        """Stores it, unless it is; the bytes, None where it cannot be."""
        with self._lock:
            if self._serialize is not None:
                serialize, self._serialize = self._serialize, None
                self._serialized = serialize()
                if self._serialized is not None and self.entry is not None:
                    self.entry.store(self._serialized, sources())
        return self._serialized


class _Queue:
    """The plans of this process that are not stored yet, by the keys of their entries."""

    def __init__(self) -> None:
        self.plans: dict[str, PendingPlan] = {}
        self.lock = allocate_lock()
        self.is_waiting = self.is_registered = False

    def put(self, key: str, plan: PendingPlan) -> None:
        with self.lock:
            self.plans[key] = plan
            must_wait, self.is_waiting = not self.is_waiting, True
            must_register, self.is_registered = not self.is_registered, True
        if must_register:
            import atexit

            atexit.register(store_all)
        if must_wait:
            start_new_thread(self.wait, ())

    def wait(self) -> None:
        time.sleep(DELAY)
        self.is_waiting = False
        store_all()

    def take(self) -> list[PendingPlan]:
        with self.lock:
            plans = [*self.plans.values()]
            self.plans.clear()
        return plans


_queue = _Queue()


def postpone(plan: PendingPlan) -> None:
    """Lets a plan be stored later, where it has an entry."""
    if plan.entry is not None:
        _queue.put(plan.entry.key, plan)


def store_all() -> None:
    """Stores all that wait, now."""
    for plan in _queue.take():
        plan.store()


def store_now(key: str) -> None:
    """Stores the plan of an entry's key, if one waits."""
    plan = _queue.plans.pop(key, None)
    if plan is not None:
        plan.store()


def _forget() -> None:
    """In a forked child, which lacks the thread: the parent stores them."""
    global _queue
    _queue = _Queue()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
