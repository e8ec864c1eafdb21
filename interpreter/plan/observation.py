"""The values of each float32 tensor, measured by instructions of the model's own programs.

    x -> CONV_2D -> y        becomes        x -> CONV_2D -> y;  y -> extent -> a row of a table

Bodies of loops and branches are measured in every iteration, wherever they run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.buffer import PERSISTENT, Buffer, Storage
from ...engine.tiling import HISTOGRAM

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..interpreter import Interpreter
    from ..model import LoadedModel
    from ..spec import SubgraphSpec
    from .node import Node

FLOAT32 = np.dtype(np.float32)
SEEN, LOW, HIGH, START, WIDTH, COUNT, FIRST = range(7)
"""Columns of a row: whether a value was seen, the smallest, the largest; of a histogram where its
intervals start, how wide they are, how many there are, and how many values are in the first."""


def observe_ranges(interpreter: Interpreter, histograms: bool = False) -> Observation:
    """Lets a model measure its float32 tensors in every run, and gives what holds that.

    Every operator is followed by an instruction that does; bodies of loops are measured in each
    iteration. With `histograms` the spread of values is measured, too.

    Raises RuntimeError after `allocate_tensors`.
    """
    if interpreter._plans:
        raise RuntimeError("ranges are observed from the start: call it before allocating")
    observation = interpreter._scope.observation = Observation(interpreter._model, histograms)
    return observation


class Observation:
    """What was measured of the tensors of a model.

    Args:
        model: the model.
        histograms: whether the spread of values is measured, too.

    Attributes:
        table: [tensors, columns] of float32, float64 with histograms; a row of zeros where nothing
            was seen.
    """

    def __init__(self, model: LoadedModel, histograms: bool = False) -> None:
        counts = [len(model.subgraph(i).tensors) for i in range(model.n_subgraphs)]
        self._first: list[int] = np.cumsum([0, *counts]).tolist()
        self._kernel = "statistics.histogram" if histograms else "statistics.extent"
        columns, dtype = (FIRST + 2 * HISTOGRAM + 2, np.float64) if histograms else (4, np.float32)
        self.table = np.zeros((self._first[-1], columns), dtype)
        memory = self.table.reshape(-1).view(np.uint8)
        self._storage = Storage(PERSISTENT, memory.nbytes, memory, "observation")

    def rows(self, subgraph: int) -> np.ndarray:
        """The rows of the tensors of a subgraph, a view."""
        return self.table[self._first[subgraph] : self._first[subgraph + 1]]

    def results(self, program: Program, node: Node) -> None:
        """Adds instructions that measure the results of a node, behind its own."""
        assert node.planner is not None
        spec = node.planner.spec
        outputs = spec.operators[node.index].outputs
        self.operands(program, spec, zip(outputs, node.results, strict=True))

    def inner(
        self,
        program: Program,
        node: Node,
        inputs: Mapping[int, Buffer],
        intermediates: Mapping[int, Buffer],
    ) -> None:
        """Adds instructions that measure what a node keeps, and what it computes within.

        Args:
            program: where the instructions go, behind those of the node.
            node: the node.
            inputs: what its inputs at these positions hold now: its states.
            intermediates: the values that its intermediate tensors at these positions stand for.
        """
        assert node.planner is not None
        spec = node.planner.spec
        operator = spec.operators[node.index]
        values = [(operator.inputs[i], x) for i, x in inputs.items()]
        values += [
            (operator.intermediates[i], x)
            for i, x in intermediates.items()
            if i < len(operator.intermediates)
        ]
        self.operands(program, spec, values)

    def operands(
        self, program: Program, spec: SubgraphSpec, operands: Iterable[tuple[int, Buffer]]
    ) -> None:
        """Adds instructions that measure operands of a subgraph, by tensor."""
        columns, dtype = self.table.shape[1:], self.table.dtype
        for tensor, operand in operands:
            if tensor >= 0 and operand.dtype == FLOAT32:
                offset = (self._first[spec.index] + tensor) * self.table.strides[0]
                row = Buffer(dtype, columns, self._storage, offset)
                program.call(self._kernel, operand.ravel(), row)
