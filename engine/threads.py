"""Threads that run the chunks of a program's rows together.

A crew is the thread that runs a program and the workers that help it. Programs of as many threads
share a pool of crews and borrow one whenever they run machine code: so there are as many crews as
programs run at once, and what is free is what ran last. Workers start with the first run that has
something to share. They are gone when the last program that could use them is, before the process
forks (the child has none of its parent's threads), and at exit.

How a crew shares a row out is written in kernels/crew.py. Nobody waits for a worker that holds no
chunk, so a crew whose workers are gone still does everything, by its leader alone.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import threading
import weakref

import numpy as np

from . import arena, image, target, words

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
        home: the list of idle crews it was taken from.

    With `parks` false the workers sleep in Python, as they do where the system has no futex.
    """

    def __init__(self, threads, parks):
        self.home: list = []
        state = arena.allocate(words.CREW_WORDS * words.WORD).view(np.int64)
        self.address = arena.address(state)
        patience = PATIENCE if threads <= _processors() else HURRY
        state[words.CLAIM] = words.NOTHING
        state[words.PATIENCE] = patience if parks else _PATIENCE_AWAKE
        state[words.PARKS] = parks
        serve, halt = (_native(name) for name in ("serve", "halt"))
        self._bells = [threading.Lock() for _ in range(threads - 1)]
        self._workers = []
        with contextlib.suppress(RuntimeError):  # the system has no more threads: do with fewer
            for bell in self._bells:
                bell.acquire()
                worker = threading.Thread(
                    target=_work, args=(serve, state, bell), name="flatlite", daemon=True
                )
                worker.start()
                self._workers.append(worker)
        self._halt = weakref.finalize(self, _halt, halt, state, self._bells)
        self._halt.atexit = False
        self._parks = parks

    def call(self):
        """Calls the workers that sleep in Python."""
        if not self._parks:
            _ring(self._bells)

    def close(self):
        """Ends the workers."""
        self._halt()
        for worker in self._workers:
            worker.join(_FAREWELL)


class Pool:
    """Crews of a number of threads."""

    def __init__(self, threads, parks=bool(target.FUTEX)):
        self.threads, self._parks, self._idle = threads, parks, []

    def borrow(self):
        """A crew for one run; hand it back."""
        idle = self._idle
        try:
            crew = idle.pop()
        except IndexError:
            crew = Crew(self.threads, self._parks)
        crew.home = idle
        crew.call()
        return crew

    def hand_back(self, crew):
        """Lets others borrow a crew; in a child process, forgets one of the parent's."""
        crew.home.append(crew)

    def rest(self):
        """Ends the workers of idle crews."""
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().close()

    def forget(self):
        """Drops the idle crews of the parent process, whose workers are not in this one."""
        self._idle = []


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
    """A function of kernels/crew.py that takes the address of a crew's state."""
    address = image.loaded("crew").addresses[name]
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)


def _work(serve, state, bell):
    """The life of a worker. It must not know the crew, which ends it by being gone."""
    address = arena.address(state)
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
