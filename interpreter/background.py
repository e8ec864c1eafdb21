"""Work in a thread of its own, and its Future."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread


def background(function: Callable[[], None], leave: Callable[[], None]) -> Future[None]:
    """Runs function(), then leave(), in another thread; the Future has the end or the error.

    The thread does not keep the process from ending.
    """
    future: Future[None] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            function()
        except BaseException as error:
            leave()
            future.set_exception(error)
        else:
            leave()
            future.set_result(None)

    Thread(target=run, daemon=True, name="flatlite invoke").start()
    return future
