"""Thread pools that run the chunks of a program's instructions.

A pool is the thread that runs a program, the caller, and the workers that help it. Programs of as
many threads have a set of pools in common. A program keeps to the pool it ran with last and takes
another when that one is busy: so there are as many pools as programs run at once. Workers start
with the first run that has chunks for them. They are gone when the last program that could use them
is, before the process forks (the child has none of its parent's threads), and at exit.

How a pool partitions an instruction is written in run/native/threads.py. Nobody waits for a worker
that holds no chunk, so a pool whose workers are gone still does everything, by its caller alone.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import threading
import weakref
from typing import TYPE_CHECKING

import numpy as np

from .. import abi
from ..build import target
from ..plan import arena
from .native._stealing import N_STOLEN
from .plan_runner import loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOST = 256
"""The highest number of threads, and of chunks of an instruction."""
SPINS = 10_000  # pauses, about 100 us, before a thread that has nothing to do falls asleep
SPINS_OVERSUBSCRIBED = 100  # the same where there are more threads than processors
_SPINS_AWAKE = 100_000  # where sleeping needs Python
_JOIN_TIMEOUT = 1.0  # seconds to wait for a worker to end what it does
_pool_sets: weakref.WeakValueDictionary[int, PoolSet] = weakref.WeakValueDictionary()


class ThreadPool:
    """The state that caller and workers share, and the workers.

    Attributes:
        address: of the state.

    Without `native_sleep` the workers sleep in Python, as they do where the system has no futex.
    """

    def __init__(self, threads: int, native_sleep: bool):
        n_words = abi.SLOTS + threads * abi.SLOT_WORDS
        self._state = state = arena.allocate(n_words * abi.WORD).view(np.int64)
        self.address = address = arena.address(state)
        spins = SPINS if threads <= available_processors() else SPINS_OVERSUBSCRIBED
        state[abi.SPINS] = spins if native_sleep else _SPINS_AWAKE
        state[abi.NATIVE_SLEEP] = native_sleep
        state[abi.THREADS] = threads
        slots = range(abi.SLOTS, n_words, abi.SLOT_WORDS)
        for i, slot in enumerate(slots):
            state[slot + abi.INDEX], state[slot + abi.POOL_OF] = i, address
        work, self._native_halt = (_native(name) for name in ("work", "halt"))
        self._wake_locks = [threading.Lock() for _ in range(threads - 1)]
        self._workers: list[threading.Thread] = []
        with contextlib.suppress(RuntimeError):  # the system has no more threads: do with fewer
            for slot, lock in zip(slots[1:], self._wake_locks, strict=True):
                lock.acquire()
                worker = threading.Thread(
                    target=_work_loop,
                    args=(work, state, slot * abi.WORD, lock),
                    name="flatlite",
                    daemon=True,
                )
                worker.start()
                state[slot + abi.SYSTEM_ID] = worker.native_id or -1
                self._workers.append(worker)
        self._finalizer = weakref.finalize(self, _halt, self._native_halt, state, self._wake_locks)
        self._finalizer.atexit = False
        self._native_sleep = native_sleep

    @property
    def is_busy(self) -> bool:
        """Whether a program runs with it, or it is closed."""
        return bool(self._state[abi.BUSY])

    @property
    def n_stolen(self) -> int:
        """How many times what was on offer was not done by the threads it was meant for."""
        return int(self._state[N_STOLEN])

    def wake(self) -> None:
        """Wakes the workers that sleep in Python."""
        if not self._native_sleep:
            _release(self._wake_locks)

    def close(self) -> bool:
        """Ends the workers, unless a program runs with them; gives whether it did."""
        if not self._native_halt(self.address):
            return False
        self._finalizer.detach()
        _release(self._wake_locks)
        for worker in self._workers:
            worker.join(_JOIN_TIMEOUT)
        return True


class PoolSet:
    """Thread pools of one number of threads.

    Attributes:
        needs_wake: whether Python has to wake the workers before each run.
    """

    def __init__(self, threads: int, native_sleep: bool = bool(target.FUTEX)):
        self.threads, self.needs_wake = threads, not native_sleep
        self._pools: list[ThreadPool] = []

    def idle_pool(self) -> ThreadPool:
        """A pool no program runs with just now; another may be quicker."""
        for pool in self._pools:
            if not pool.is_busy:
                return pool
        pool = ThreadPool(self.threads, not self.needs_wake)
        self._pools.append(pool)
        return pool

    def close_idle(self) -> None:
        """Ends the workers of pools that no program runs with."""
        self._pools = [pool for pool in self._pools if not pool.close()]

    def discard(self) -> None:
        """Drops the pools of the parent process, whose workers are not in this one."""
        self._pools = []


def pool_set(threads: int) -> PoolSet:
    """The pools for programs of `threads` threads, which end with the last of these."""
    threads = min(threads, MOST)
    pools = _pool_sets.get(threads)
    if pools is None:
        pools = _pool_sets.setdefault(threads, PoolSet(threads))
    return pools


def available_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _native(name: str) -> Callable[[int], int]:
    """A function of run/native/threads.py that takes one address."""
    address = loaded("threads").addresses[name]
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)


def _work_loop(
    work: Callable[[int], int], state: np.ndarray, offset: int, lock: threading.Lock
) -> None:
    """The life of a worker. It must not know the pool, which ends it by being gone."""
    address = arena.address(state) + offset
    while work(address):
        lock.acquire()


def _halt(halt: Callable[[int], int], state: np.ndarray, locks: Iterable[threading.Lock]) -> None:
    halt(arena.address(state))
    _release(locks)


def _release(locks: Iterable[threading.Lock]) -> None:
    for lock in locks:
        if lock.locked():
            lock.release()


def _close_all_idle() -> None:
    for pools in list(_pool_sets.values()):
        pools.close_idle()


def _discard_all() -> None:
    for pools in list(_pool_sets.values()):
        pools.discard()


atexit.register(_close_all_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_all_idle, after_in_child=_discard_all)
