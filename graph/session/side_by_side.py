"""Python functions of one run that do not need one another: they run side by side, in threads.

TensorFlow runs them so; functions that wait for one another, by a queue of Python's, come to their
ends. A run starts all of those whose operands are there before it waits for the first one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..core.order import data_and_control_inputs

if TYPE_CHECKING:
    from ..core.graph import Operation
    from ..core.protocols import KernelResult

FUNCTIONS = ("EagerPyFunc", "PyFunc", "PyFuncStateless")
WAIT_SECONDS = 0.05
"""How long a run waits before it looks whether it is to end."""
START_SECONDS = 0.02
"""How long the next function waits for the one before: quick ones run in the graph's order."""


class Call:
    """A call of a function in a thread of its own; it has begun, and may have ended."""

    def __init__(self, function: Callable[[], KernelResult]):
        self._function = function
        self._result: KernelResult | None = None
        self._error: BaseException | None = None
        self._is_done = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()
        self._is_done.wait(START_SECONDS)

    def _run(self) -> None:
        try:
            self._result = self._function()
        except BaseException as error:  # of the user's own code; raised where it is waited for
            self._error = error
        finally:
            self._is_done.set()

    def result(self, check: Callable[[], object]) -> KernelResult:
        """What the function gives or raises; `check` raises where the run is to end before."""
        while not self._is_done.wait(WAIT_SECONDS):
            check()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result


def side_by_side(
    operations: Sequence[Operation],
) -> tuple[Sequence[Operation], dict[Operation, list[Operation]]]:
    """An order in which functions that do not need one another are neighbours, and such groups.

    Gives each group, of two and more, by its first operation; without any the order stays.
    """
    if sum(op.type in FUNCTIONS for op in operations) <= 1:
        return operations, {}
    depths: dict[Operation, int] = {}
    for op in operations:
        before = (x for x in data_and_control_inputs(op) if x in depths)
        # What reads a function's results comes behind all functions that are as deep.
        depth = max((depths[x] + depths[x] % 2 for x in before), default=0)
        depths[op] = depth + (op.type in FUNCTIONS)
    groups: dict[int, list[Operation]] = {}
    for op in operations:
        if op.type in FUNCTIONS:
            groups.setdefault(depths[op], []).append(op)
    parallel = {group[0]: group for group in groups.values() if len(group) > 1}
    return (sorted(operations, key=depths.__getitem__) if parallel else operations), parallel
