"""Loop, of which the ONNX project's evaluator gets something wrong."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np


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
        iteration, runs = 0, condition is None or bool(np.all(condition))
        while runs and (limit is None or iteration < limit):
            values = [np.asarray(iteration, np.int64), np.asarray(True), *state]
            inputs = {**(context or {}), **dict(zip(names, values, strict=True))}
            results = self._run_body(inputs, attributes=attributes, bindings=bindings)
            runs, state = bool(np.all(results[0])), tuple(results[1 : 1 + self.N])
            for column, row in zip(rows, results[1 + self.N :], strict=True):
                column.append(row)
            iteration += 1
        # without an iteration rows have no shape: stack raises ValueError
        return self._check_and_fix_outputs((*state, *(np.stack(column) for column in rows)))

    return [type("Loop", (Loop,), {"_run": run})]
