"""Threads that run the chunks of a program's rows together.

A crew is the thread that runs a program and the workers that help it. Programs of as many threads
share a pool of crews. A program keeps to the crew it ran with last and takes another when that one
is busy: so there are as many crews as programs run at once. Workers start with the first run that
has something to share. They are gone when the last program that could use them is, before the
process forks (the child has none of its parent's threads), and at exit.

How a crew shares a row out is written in run/native/threads.py. Nobody waits for a worker that
holds no chunk, so a crew whose workers are gone still does everything, by its leader alone.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import threading
import weakref

import numpy as np

from .. import abi
from ..build import image, target
from ..plan import arena

MOST = 256
"""The highest number of threads, and of chunks of a row."""
PATIENCE = 10_000  # pauses, about 100 us, before a thread that has nothing to do falls asleep
HURRY = 100  # the same where there are more threads than processors
_PATIENCE_AWAKE = 100_000  # where sleeping needs Python
_FAREWELL = 1.0  # seconds to wait for a worker to end what it does
_pools = weakref.WeakValueDictionary()


class Crew:
    """The state that leader and workers share, and the workers.

    Attributes:
        address: of the state.

    With `parks` false the workers sleep in Python, as they do where the system has no futex.
    """

    def __init__(self, threads, parks):
        n_words = abi.PLACES + threads * abi.APART
        self._state = state = arena.allocate(n_words * abi.WORD).view(np.int64)
        self.address = address = arena.address(state)
        patience = PATIENCE if threads <= _processors() else HURRY
        state[abi.PATIENCE] = patience if parks else _PATIENCE_AWAKE
        state[abi.PARKS] = parks
        state[abi.THREADS] = threads
        places = range(abi.PLACES, n_words, abi.APART)
        for i, place in enumerate(places):
            state[place + abi.OWN], state[place + abi.CREW_OF] = i, address
        serve, self._native_halt = (_native(name) for name in ("serve", "halt"))
        self._bells = [threading.Lock() for _ in range(threads - 1)]
        self._workers = []
        with contextlib.suppress(RuntimeError):  # the system has no more threads: do with fewer
            for place, bell in zip(places[1:], self._bells, strict=True):
                bell.acquire()
                worker = threading.Thread(
                    target=_work,
                    args=(serve, state, place * abi.WORD, bell),
                    name="flatlite",
                    daemon=True,
                )
                worker.start()
                self._workers.append(worker)
        self._end = weakref.finalize(self, _halt, self._native_halt, state, self._bells)
        self._end.atexit = False
        self._parks = parks

    @property
    def is_busy(self):
        """Whether a program runs with it, or it is closed."""
        return bool(self._state[abi.BUSY])

    def call(self):
        """Calls the workers that sleep in Python."""
        if not self._parks:
            _ring(self._bells)

    def close(self):
        """Ends the workers, unless a program runs with them; gives whether it did."""
        if not self._native_halt(self.address):
            return False
        self._end.detach()
        _ring(self._bells)
        for worker in self._workers:
            worker.join(_FAREWELL)
        return True


class Pool:
    """Crews of a number of threads.

    Attributes:
        needs_calls: whether Python has to call the workers before each run.
    """

    def __init__(self, threads, parks=bool(target.FUTEX)):
        self.threads, self.needs_calls, self._crews = threads, not parks, []

    def crew(self):
        """A crew no program runs with just now; another may be quicker."""
        for crew in self._crews:
            if not crew.is_busy:
                return crew
        crew = Crew(self.threads, not self.needs_calls)
        self._crews.append(crew)
        return crew

    def rest(self):
        """Ends the workers of crews that no program runs with."""
        self._crews = [crew for crew in self._crews if not crew.close()]

    def forget(self):
        """Drops the crews of the parent process, whose workers are not in this one."""
        self._crews = []


def pool(threads):
    """The pool for programs of `threads` threads, which is gone when none of them is left."""
    threads = min(threads, MOST)
    found = _pools.get(threads)
    if found is None:
        found = _pools.setdefault(threads, Pool(threads))
    return found


def _processors():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _native(name):
    """A function of run/native/threads.py that takes the address of a crew's state."""
    address = image.loaded("threads").addresses[name]
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)


def _work(serve, state, place, bell):
    """The life of a worker. It must not know the crew, which ends it by being gone."""
    address = arena.address(state) + place
    while serve(address):
        bell.acquire()


def _halt(halt, state, bells):
    halt(arena.address(state))
    _ring(bells)


def _ring(bells):
    for bell in bells:
        if bell.locked():
            bell.release()


def _rest_all():
    for one in list(_pools.values()):
        one.rest()


def _forget_all():
    for one in list(_pools.values()):
        one.forget()


atexit.register(_rest_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_rest_all, after_in_child=_forget_all)
