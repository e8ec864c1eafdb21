"""Coordinator: threads that stop together, and whose first error is the program's."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...schema.errors import OutOfRangeError

LOGGER = logging.getLogger("flatlite")


class Coordinator:
    """Lets threads ask all others to stop, and keeps the first exception for `join` to raise.

    Args:
        clean_stop_exception_types: Exceptions that mean a regular end; OutOfRangeError alone by
            default.
    """

    def __init__(self, clean_stop_exception_types: Sequence[type[BaseException]] | None = None):
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (OutOfRangeError,)
        self._clean = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._threads: set[threading.Thread] = set()

    def request_stop(self, ex=None) -> None:
        """Asks all threads to stop.

        Args:
            ex: An exception, or what `sys.exc_info()` gives: the reason, which `join` raises; the
                first one counts. One of the types for a clean stop is no reason.
        """
        error = ex[1] if isinstance(ex, tuple) else ex
        if isinstance(error, self._clean):
            error = None
        elif ex is not None and not isinstance(error, BaseException):
            error = ValueError(
                f"ex must be a tuple or sys.exc_info must return the current exception: {ex!r}"
            )
        with self._lock:
            if self._joined and error is not None:
                raise error
            if self._stop.is_set():
                return
            if error is not None:
                LOGGER.info("Error reported to Coordinator: %s, %s", type(error), error)
                self._error = error
            self._stop.set()

    def clear_stop(self) -> None:
        """Lets it be used again after a stop."""
        with self._lock:
            self._joined, self._error = False, None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether a stop was asked for."""
        return self._stop.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self):
        """A block whose exception asks for a stop, and goes no further."""
        try:
            yield
        except BaseException:
            self.request_stop(sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is asked for, so many seconds at most; whether it was."""
        return self._stop.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Notes a thread that `join` waits for."""
        with self._lock:
            self._threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits until the threads have ended, and raises the reason of the stop if there is one.

        Args:
            threads: Those to wait for beside the registered ones.
            stop_grace_period_secs: How long they may go on after a stop was asked for.
            ignore_live_threads: Whether threads that still go on then are no error.

        Raises RuntimeError when threads do not end in time.
        """
        with self._lock:
            waited = list(self._threads.union(threads or ()))
        while any(thread.is_alive() for thread in waited) and not self._stop.wait(0.05):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            thread.join(max(end - time.monotonic(), 0.001)) if thread.is_alive() else None
        live = " ".join(thread.name for thread in waited if thread.is_alive())
        with self._lock:
            self._joined = True
            self._threads = set()
            if self._error is not None:
                raise self._error
        if live and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {live}")
        if live:
            LOGGER.info("Coordinator stopped with threads still running: %s", live)

    @property
    def joined(self) -> bool:
        """Whether `join` has come to its end."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the reason of the stop, if there is one."""
        with self._lock:
            if self._error is not None:
                raise self._error


class LooperThread(threading.Thread):
    """A thread that does something again and again until its coordinator stops.

    Args:
        coord: The Coordinator, which waits for it and hears of its exceptions.
        timer_interval_secs: From one start to the next; None for no pause.
        target: What it does, where `run_loop` is not overridden.
        args, kwargs: Of `target`.

    Raises ValueError when `coord` is none, or arguments have no target.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., object] | None = None,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        if target is None and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        super().__init__(daemon=True)
        self._coord = coord
        self._interval = timer_interval_secs
        self._looped = target
        self._arguments = tuple(args or ()), dict(kwargs or {})
        coord.register_thread(self)

    def isAlive(self) -> bool:
        """Whether it runs: the name that threads had in Python 2."""
        return self.is_alive()

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., object],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Starts such a thread."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """Loops until the coordinator stops."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._interval is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                due = time.monotonic()
                while not self._coord.wait_for_stop(max(due - time.monotonic(), 0)):
                    due += self._interval
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """What is done before the first time."""

    def stop_loop(self) -> None:
        """What is done after the last time."""

    def run_loop(self) -> None:
        """What is done each time."""
        if self._looped is not None:
            args, kwargs = self._arguments
            self._looped(*args, **kwargs)
