"""A stage of a plan, and operations as they are seen where they are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...engine.plan.buffer import Buffer
from ...engine.plan.program import Program
from ..core.graph import Operation, Tensor

if TYPE_CHECKING:
    import numpy as np

    from ..core.protocols import MaybeDType
    from ..core.shapes import Shape


class SiteTensor:
    """An input as shape functions and emitters see it, with the sizes it has here."""

    __slots__ = ("dtype", "op", "shape", "value")

    def __init__(self, tensor: Tensor, buffer: Buffer):
        self.op = tensor.op
        self.dtype: MaybeDType = tensor.dtype
        self.shape: Shape = buffer.shape
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


class Stage:
    """One program of a plan.

    Attributes:
        program: Its instructions and host steps.
        inputs: The buffers to bind before each run, by the tensor whose array they show.
        outputs: The buffers to read after each run.
        reads: For each variable that must have a value before, the operation that reads it.
        writes: The variables that have a value afterwards.
        cut: The operation to run after it, None at the end of the plan.
        values: Every tensor known so far.
        following: The stages after it by the sizes that `cut` gave.
    """

    __slots__ = (
        *("cut", "following", "inputs", "outputs", "program", "reads", "stop", "values", "writes"),
    )

    def __init__(self, values: dict[Tensor, Buffer], n_threads: int):
        self.program = Program(threads=n_threads)
        self.values = values
        self.inputs: dict[Tensor, Buffer] = {}
        self.outputs: dict[Tensor, Buffer] = {}
        self.reads: dict[str, Operation] = {}
        self.writes: set[str] = set()
        self.cut: Operation | None = None
        self.stop = 0
        self.following: dict[tuple[tuple[tuple[int, ...], np.dtype], ...], Stage] = {}
