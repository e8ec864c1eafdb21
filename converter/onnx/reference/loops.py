"""Loop, of which the ONNX project's evaluator gets something wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import numpy as np

from ....schema.errors import DeadlineExceededError, ResourceExhaustedError

_LIMITS: ContextVar[tuple[float | None, int | None]] = ContextVar("limits", default=(None, None))
"""Until when loops may run, and how many bytes they may carry from one iteration to the next."""
GROWTH = 4  # by which one iteration may enlarge what it carries, before that is looked at


@contextmanager
def limited(end: float | None, memory: int | None) -> Iterator[None]:
    """Loops that run inside it end with DeadlineExceededError or ResourceExhaustedError when they
    run on after `end`, a time.monotonic(), or carry more than a part of `memory` bytes.
    """
    token = _LIMITS.set((end, memory))
    try:
        yield
    finally:
        _LIMITS.reset(token)


def _check_limits(iteration: int, n_bytes: int) -> None:
    end, memory = _LIMITS.get()
    if end is not None and time.monotonic() > end:
        raise DeadlineExceededError(None, None, f"Loop in iteration {iteration}")
    if memory is not None and n_bytes > memory // GROWTH:
        message = f"Loop carries {n_bytes:,} bytes after iteration {iteration}"
        raise ResourceExhaustedError(None, None, message)


@cache
def corrected() -> list[type[Any]]:
    """Loop in the place of the evaluator's.

    Its own never runs without a condition, and joins rows along their first axis.
    """
    from onnx.reference.ops.op_loop import Loop

    def run(
        self: Any,
        limit: np.ndarray | None,
        condition: np.ndarray | None,
        *state: Any,
        context: Mapping[str, Any] | None = None,
        body: Any = None,
        attributes: Any = None,
        bindings: Any = None,
    ) -> tuple[Any, ...]:
        names = self.body.input_names
        state, rows = state[: self.N], [[] for _ in range(self.K)]
        iteration, runs, n_bytes = 0, condition is None or bool(np.all(condition)), 0
        while runs and (limit is None or iteration < limit):
            values = [np.asarray(iteration, np.int64), np.asarray(True), *state]
            inputs = {**(context or {}), **dict(zip(names, values, strict=True))}
            results = self._run_body(inputs, attributes=attributes, bindings=bindings)
            runs, state = bool(np.all(results[0])), tuple(results[1 : 1 + self.N])
            for column, row in zip(rows, results[1 + self.N :], strict=True):
                column.append(row)
                n_bytes += np.asarray(row).nbytes
            _check_limits(iteration, n_bytes + sum(np.asarray(x).nbytes for x in state))
            iteration += 1
        # without an iteration rows have no shape: stack raises ValueError
        return self._check_and_fix_outputs((*state, *(np.stack(column) for column in rows)))

    return [type("Loop", (Loop,), {"_run": run})]
