"""States: TensorBuffers that are input and output of one run, such as the caches of a decoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..engine.plan.arena import address
from ..engine.run.stages import aligned

if TYPE_CHECKING:
    from .interpreter import Interpreter
    from .litert.tensor_buffer import TensorBuffer
    from .plan.plan import Plan


class Repetition:
    """A run on the same buffers as one before: what has to be copied is known.

    Args:
        plan: what was run, in one native call.
        buffers: of its inputs and outputs.
        writes: pairs of an input's memory and the array that is copied there.
        reads: pairs of a buffer's array and the memory of the output that is copied there.
    """

    def __init__(
        self,
        plan: Plan,
        buffers: Sequence[TensorBuffer],
        writes: Sequence[tuple[np.ndarray, np.ndarray]],
        reads: Sequence[tuple[np.ndarray, np.ndarray]],
    ):
        self.plan, self.writes, self.reads = plan, writes, reads
        self._buffers = [(buffer, buffer.array) for buffer in buffers]

    def fits(self, plan: Plan | None, buffers: Sequence[TensorBuffer]) -> bool:
        """Whether a run of `plan` on `buffers`, wherever these now lie, is the same."""
        return (
            plan is self.plan
            and len(buffers) == len(self._buffers)
            and all(
                buffer is other and buffer.array is array
                for buffer, (other, array) in zip(buffers, self._buffers, strict=True)
            )
        )


class States:
    """Inputs of plans in the memory of buffers that runs read and overwrite, without a copy.

    Args:
        interpreter: whose plans overwrite their inputs.
    """

    def __init__(self, interpreter: Interpreter):
        self._interpreter = interpreter
        self._results: dict[tuple[int, int], int] = {}  # which output lies in an input's memory
        self._placed: dict[int, set[int]] = {}  # inputs in the memory of buffers

    def place(
        self, subgraph: int, inputs: Mapping[int, TensorBuffer], outputs: Sequence[TensorBuffer]
    ) -> None:
        """Moves inputs into the buffers that a run is to overwrite, and out of all others.

        Args:
            subgraph: the one that is run.
            inputs: buffers of its inputs, by tensor.
            outputs: buffers of its outputs, in order.
        """
        arrays: dict[int, np.ndarray] = {}
        for tensor, buffer in inputs.items():
            position = self._results.get((subgraph, tensor))
            if (
                position is not None
                and outputs[position] is buffer
                and [*inputs.values()].count(buffer) == outputs.count(buffer) == 1
                and (array := buffer._private_array) is not None
            ):
                arrays[tensor] = array
        self._move(subgraph, arrays)

    def take_back(self, subgraph: int) -> None:
        """Moves the inputs of a subgraph, whose plan is about to change, out of all buffers."""
        self._move(subgraph, {})
        self._results = {key: x for key, x in self._results.items() if key[0] != subgraph}

    def notes(self, subgraph: int, tensor: int, position: int, result: np.ndarray) -> bool:
        """Whether `result`, the output at `position`, lies in an input's memory, as is new."""
        memory = self._interpreter._allocation.memory(subgraph, tensor)
        if self._results.get((subgraph, tensor)) == position or address(memory) != address(result):
            return False
        self._results[subgraph, tensor] = position
        return True

    def _move(self, subgraph: int, arrays: Mapping[int, np.ndarray]) -> None:
        """Inputs lie in `arrays`; others that lie in a buffer, in memory that no buffer has."""
        placed = self._placed.setdefault(subgraph, set())
        if not (placed or arrays):
            return
        first = self._interpreter._plans[subgraph].first
        pairs: list[tuple[np.ndarray, np.ndarray]] = []
        for tensor in placed | arrays.keys():
            memory, array = first.arrays[tensor], arrays.get(tensor)
            if array is None:
                array = aligned(memory.shape, memory.dtype)
            if address(array) != address(memory) and array.nbytes == memory.nbytes:
                pairs.append((memory, array))
        if pairs:
            first.move(pairs)
        self._placed[subgraph] = {*arrays}
