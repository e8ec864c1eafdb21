"""States: TensorBuffers that are input and output of one run, such as the caches of a decoder."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import ref

import numpy as np

from ..engine.plan.arena import address

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
    """Which buffers lie in the memory of inputs, where runs read and write them without a copy.

    Args:
        interpreter: whose plans overwrite their inputs.
    """

    def __init__(self, interpreter: Interpreter):
        self._interpreter = interpreter
        self._buffers: dict[tuple[int, int], ref[TensorBuffer]] = {}

    def separate(
        self,
        subgraph: int,
        buffers: Mapping[int, TensorBuffer],
        outputs: Collection[TensorBuffer],
    ) -> None:
        """Moves buffers out of the memory of inputs that a run is about to overwrite.

        Args:
            subgraph: the one that is run.
            buffers: of its inputs.
            outputs: of its outputs; what is among them is meant to be overwritten.
        """
        for tensor, buffer in buffers.items():
            reference = self._buffers.get((subgraph, tensor))
            before = None if reference is None else reference()
            if before is not None and not (before is buffer and before in outputs):
                before._leave()
                del self._buffers[subgraph, tensor]

    def keeps(self, subgraph: int, tensor: int, buffer: TensorBuffer, result: np.ndarray) -> bool:
        """Whether `result` lies in the memory of an input, and its buffer does so from now on."""
        memory = self._interpreter._allocation.memory(subgraph, tensor)
        if address(memory) != address(result) or not buffer._lie_in(result):
            return False
        self._buffers[subgraph, tensor] = ref(buffer)
        return True
