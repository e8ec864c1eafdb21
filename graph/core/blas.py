"""How many threads numpy's BLAS takes for the products of an evaluation.

OpenBLAS's threads spin after each product. Between many short ones that takes more of the
processors than the threads save: an evaluation begins with one, and has all once it is long.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache
from threading import Lock

SECONDS = 0.5  # from when on an evaluation is long
_NAMES = (("scipy_openblas", "64_"), ("openblas", "64_"), ("scipy_openblas", ""), ("openblas", ""))
"""How the functions of OpenBLAS are called that numpy's wheels, and systems' packages, have."""


class _Threads:
    """The threads of the process's BLAS; `n_evaluations` are inside, since `start`."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.n_evaluations = self.usual = 0
        self.start = 0.0
        self.are_few = False

    def restore(self) -> None:
        """Gives it the threads that it had; the lock is held."""
        control = _control()
        if self.are_few and control is not None:
            control[1](self.usual)
        self.are_few = False


_threads = _Threads()


@contextmanager
def one_thread_at_first() -> Generator[None, None, None]:
    """Within, numpy's products have one thread, in all of the process, until `check` finds it long.

    Nothing happens where numpy has no OpenBLAS.
    """
    control = _control()
    if control is None:
        yield
        return
    get, put = control
    with _threads.lock:
        _threads.n_evaluations += 1
        if _threads.n_evaluations == 1:
            _threads.usual, _threads.start, _threads.are_few = get(), time.monotonic(), True
            put(1)
    try:
        yield
    finally:
        with _threads.lock:
            _threads.n_evaluations -= 1
            if not _threads.n_evaluations:
                _threads.restore()


def check() -> None:
    """Gives BLAS its threads back where the evaluation is long; called between operations."""
    if _threads.are_few and time.monotonic() - _threads.start > SECONDS:
        with _threads.lock:
            _threads.restore()


@cache
def _control() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """What tells and sets the number of threads; None where there is no such function."""
    modules = (sys.modules.get(f"numpy.{core}._multiarray_umath") for core in ("_core", "core"))
    path = next((module.__file__ for module in modules if module is not None), None)
    if path is None:
        return None
    library = ctypes.CDLL(path)  # which is loaded, and finds what it is linked with
    for start, end in _NAMES:
        with suppress(AttributeError):
            get, put = (library[f"{start}_{verb}_num_threads{end}"] for verb in ("get", "set"))
            put.argtypes, put.restype = [ctypes.c_int], None
            return get, put
    return None
