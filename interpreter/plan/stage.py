"""What is kept with a stage of a subgraph's plan, and the error of its operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import numpy as np

    from ...engine.run.stages import Stage as EngineStage
    from ..delegation.partition import AnyDelegate
    from .node import Emit, Node, Operand

    Stage: TypeAlias = EngineStage[int, Operand, "StageNotes"]
    """A stage whose tensors are known by their index."""


class PlanError(RuntimeError):
    """An operator failed to prepare or to run; the message ends with its number and kind."""


class StageNotes:
    """What is kept with a stage.

    Attributes:
        start: position of its first operator.
        delegates: who may run partitions of it.
        steps: while the stage is made, its operators, each with what its `prepare` gave.
        outputs: the subgraph's outputs and whether they are lent, once they were asked for.
        shapes: of tensors that have no operand here, where they are not as the file says.
    """

    __slots__ = ("delegates", "outputs", "shapes", "start", "steps")

    def __init__(self) -> None:
        self.start = 0
        self.delegates: Sequence[AnyDelegate] = ()
        self.steps: list[tuple[Node, Emit | None]] = []
        self.outputs: list[tuple[np.ndarray, bool]] | None = None
        self.shapes: dict[int, tuple[int, ...]] = {}
