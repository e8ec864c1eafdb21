"""Functions that call one another deeply: every so many calls go on in a thread of their own.

A thread's stack ends after about a thousand frames of Python. What calls itself may well be deeper,
as it is in TensorFlow.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ...schema.errors import OpError, ResourceExhaustedError

if TYPE_CHECKING:
    from .state import State

    Result = TypeVar("Result")

MAX_DEPTH = 8192
"""Calls of functions within one another."""
CALLS_PER_THREAD = 32
"""Calls within one another on one thread's stack; one takes about 8 frames, a compiler 100."""


class _Depth(threading.local):
    calls = 0
    """Calls of functions that have begun and not ended, on this thread and those it runs for."""


_DEPTH = _Depth()


def nested(state: State, function: Callable[[], Result]) -> Result:
    """What `function` gives, which runs the body of a function within a Session's run.

    Raises ResourceExhaustedError where MAX_DEPTH calls are under way.
    """
    depth = _DEPTH.calls
    if depth >= MAX_DEPTH:
        words = f"functions may call one another at most {MAX_DEPTH} deep: does one without end?"
        raise ResourceExhaustedError(None, None, words)
    if depth and depth % CALLS_PER_THREAD == 0:
        return _in_thread(state, function, depth + 1)
    _DEPTH.calls = depth + 1
    try:
        return function()
    finally:
        _DEPTH.calls = depth


def _in_thread(state: State, function: Callable[[], Result], depth: int) -> Result:
    """What `function` gives, called in a thread of its own as part of the run of this one."""
    control = state.control
    results: list[Result] = []
    errors: list[BaseException] = []

    def work() -> None:
        _DEPTH.calls = depth
        outer = state.begin_run(control)
        try:
            results.append(function())
        except BaseException as error:  # of the user's own code, too; raised where it is waited for
            errors.append(error.with_traceback(None) if isinstance(error, OpError) else error)
        finally:
            state.leave_run(outer)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException as error:  # an interrupt, which has to end what runs in the thread
        control.end(error)
        raise
    if errors:
        raise errors[0]
    return results[0]
