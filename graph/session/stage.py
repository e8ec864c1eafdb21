"""A stage of a plan, and operations as they are seen where they are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...engine.plan.buffer import Buffer
from ..core.graph import Operation, Tensor

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    from ...engine.run.stages import Stage as EngineStage
    from ..core.protocols import MaybeDType
    from ..core.shapes import Shape

    Stage: TypeAlias = EngineStage[Tensor, Buffer, "StageVariables"]
    """A stage whose tensors are those of a graph."""


class SiteTensor:
    """An input as shape functions and emitters see it, with the sizes it has here."""

    __slots__ = ("dtype", "op", "sizes", "value")

    def __init__(self, tensor: Tensor, buffer: Buffer):
        self.op = tensor.op
        self.dtype: MaybeDType = tensor.dtype
        self.sizes: Shape = buffer.shape
        self.value: np.ndarray | None = buffer.value


class Site:
    """An operation where it is compiled: its inputs have sizes, some have values."""

    __slots__ = (
        "attrs",
        "get_attr",
        "graph",
        "inputs",
        "name",
        "op",
        "outputs",
        "signature",
        "type",
    )

    def __init__(self, op: Operation, buffers: Sequence[Buffer]):
        self.op = op
        self.type, self.name, self.attrs, self.graph = op.type, op.name, op.attrs, op.graph
        self.signature, self.get_attr = op.signature, op.get_attr
        self.inputs = [SiteTensor(t, b) for t, b in zip(op.inputs, buffers, strict=True)]
        self.outputs = op.outputs


class StageVariables:
    """What is kept with a stage of its variables.

    Attributes:
        reads: for each that must have a value before, the operation that reads it.
        writes: those that have a value afterwards.
    """

    __slots__ = ("reads", "writes")

    def __init__(self) -> None:
        self.reads: dict[str, Operation] = {}
        self.writes: set[str] = set()
