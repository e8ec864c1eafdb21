"""What a plan is a chain of: operators that run without looking at data in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy as np

    from ..engine.plan.program import Program
    from .node import DynamicResult, Emit, Node, Operand


class PlanError(RuntimeError):
    """An operator failed to prepare or to run; the message ends with its number and kind."""


class Stage:
    """Operators that run without looking at data in between.

    Attributes:
        program: their instructions.
        steps: while the stage is made, its operators, each with what its `prepare` gave.
        repeatable: whether it may run again from its start when it did not come to its end.
        operands: every tensor known so far, by index.
        arrays: memory of the tensors that stay readable.
        bound: the operands whose memory was there before the stage.
        stop: position of the first operator that is not in this stage.
        cut: why it ended: (node, DynamicResult) to run between the stages, (node, tensor) to read,
            or None at the end of the subgraph.
        results: tensors of the `DynamicResult` step before this stage, copied in at each run.
        following: the stages after this one, by what was read.
        outputs: the subgraph's outputs and whether they are lent, once they were asked for.
        shapes: of tensors that have no operand here, where they are not as the file says.
    """

    __slots__ = (
        *("arrays", "bound", "cut", "following", "operands", "outputs", "program", "results"),
        *("repeatable", "shapes", "steps", "stop"),
    )

    def __init__(
        self,
        operands: dict[int, Operand],
        arrays: dict[int, np.ndarray],
        stop: int,
        program: Program,
    ):
        self.program = program
        self.steps: list[tuple[Node, Emit | None]] = []
        self.repeatable = True
        self.operands = operands
        self.arrays = arrays
        self.bound = {t: operands[t] for t in arrays}
        self.stop = stop
        self.cut: tuple[Node, DynamicResult | int] | None = None
        self.results: tuple[int, ...] = ()
        self.following: dict[Hashable, Stage] = {}
        self.outputs: list[tuple[np.ndarray, bool]] | None = None
        self.shapes: dict[int, tuple[int, ...]] = {}
