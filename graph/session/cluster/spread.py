"""A run of which other processes run parts."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ....schema.errors import UnimplementedError
from ...core.graph import Operation, Tensor
from ...format.dataflow_graph import has_control_flow
from .parts import Part, PartRunner, divided

if TYPE_CHECKING:
    import numpy as np

    from ..delegated import DelegationReport, Step
    from ..executor import Times
    from ..state import State


class SpreadPlan:
    """Fetches whose operations stand on several processes' tasks.

    Args:
        state: The session's, which runs on a task of a cluster.
        fetches: Tensors to compute and operations to run.
        feeds: What is fed.
        n_threads: How many threads share the instructions of parts that run here.
        operations: What the fetches need, each behind what it reads and waits for.

    Raises:
        InvalidArgumentError: An operation stands on no task of the cluster.
        UnimplementedError: There are loops or branches of TensorFlow 1; or what `divided` raises.
    """

    report: DelegationReport | None = None
    is_stale = False

    def __init__(
        self,
        state: State,
        fetches: Sequence[Tensor | Operation],
        feeds: Mapping[Tensor, object],
        n_threads: int,
        operations: Sequence[Operation],
    ):
        if has_control_flow(operations):
            raise UnimplementedError(
                None,
                None,
                "loops and branches of Switch and Merge run within one process; tf.while_loop and "
                "tf.cond of flatlite make functional ones",
            )
        task = state.task
        assert task is not None  # a run without one stays in its process
        self.state = state
        self.fetched = [item for item in fetches if isinstance(item, Tensor)]
        self.steps = divided(operations, fetches, feeds, task.place_of)
        self.positions: dict[Step, int] = {op: i for i, op in enumerate(operations)}
        self._runner = PartRunner(state, n_threads)
        self._graph = operations[0].graph

    def fetch(
        self, feeds: Mapping[Tensor, np.ndarray], times: Times | None = None
    ) -> Mapping[Tensor, np.ndarray]:
        """Runs all parts; those that need not wait for one another at the same time.

        Raises:
            UnavailableError: A task's process is gone.
            OpError: An operation failed.
        """
        values = dict(feeds)
        for parts in self.steps:
            if len(parts) == 1:
                values |= self._run(parts[0], values)
            else:
                for results in self._at_once(parts, values):
                    values |= results
        return values

    def _run(self, part: Part, values: Mapping[Tensor, np.ndarray]) -> dict[Tensor, np.ndarray]:
        feeds = {tensor: values[tensor] for tensor in part.feeds}
        peer = self.state.peer(part.place)
        if peer is None:
            return self._runner.run(part.operations, part.results, feeds)
        return peer.run(self._graph, part, feeds, self.state.control)

    def _at_once(
        self, parts: Sequence[Part], values: Mapping[Tensor, np.ndarray]
    ) -> list[dict[Tensor, np.ndarray]]:
        """The results of parts that run side by side; the first error ends the others."""
        control = self.state.control
        results: list[dict[Tensor, np.ndarray]] = []
        errors: list[BaseException] = []

        def run(part: Part) -> None:
            outer = self.state.begin_run(control)
            try:
                results.append(self._run(part, values))
            except BaseException as error:  # raised again in the thread of the caller
                errors.append(error)
                control.end(error)
            finally:
                self.state.end_run(control, outer)

        threads = [threading.Thread(target=run, args=(part,), daemon=True) for part in parts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return results
