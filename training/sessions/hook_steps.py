"""The steps that hooks count: which is the first, and when the next is due."""

from __future__ import annotations

import time

from ...graph.core.graph import Tensor
from ..global_step import global_step_read
from .session_run_hook import SessionRunHook


class SecondOrStepTimer:
    """Says when something is due: after so many seconds, or steps.

    Raises ValueError unless exactly one of both is given.
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None):
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Forgets when it was triggered."""
        self._last_step: int | None = None
        self._last_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is due at a step; the first time always, at the same step never again."""
        if self._last_step is None or self._last_time is None:
            return True
        if step == self._last_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        return self._every_steps is not None and step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes that it was triggered; seconds and steps since the time before."""
        now = time.time()
        elapsed = None, None
        if self._last_time is not None and self._last_step is not None:
            elapsed = now - self._last_time, step - self._last_step
        self._last_time, self._last_step = now, step
        return elapsed

    def last_triggered_step(self) -> int | None:
        """The step at which it was triggered."""
        return self._last_step


def required_step(hook: SessionRunHook) -> Tensor:
    """The global step before each run; RuntimeError when there is none."""
    step = global_step_read()
    if step is None:
        raise RuntimeError(f"Global step should be created to use {type(hook).__name__}.")
    return step
