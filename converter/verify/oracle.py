"""Oracles: what tells the right answers of a source model, without the engine's help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...graph.core.evaluate import evaluate
from ...graph.core.registry import is_pure, kernel_of

if TYPE_CHECKING:
    from ...graph.core.graph import Graph, Operation, Tensor
    from ..sources.source import Typed


class NotVerified(Exception):
    """The source cannot be run to compare with; the message says why."""


class Oracle(Protocol):
    """A source model that can be run."""

    @property
    def inputs(self) -> Sequence[Typed]:
        """What it takes, in order."""
        ...

    @property
    def outputs(self) -> Sequence[str]:
        """Names of what it gives, in order."""
        ...

    @property
    def integer_casts(self) -> Sequence[tuple[str, np.dtype]]:
        """Names of tensors that are cast to integers, and the types they are cast to."""
        ...

    def check(self) -> None:
        """Raises NotVerified when it cannot be run, or has no one right answer."""
        ...

    def changed(self, change: Callable[[np.ndarray], np.ndarray]) -> Oracle:
        """The same model with other constants, where they are floats and can be replaced."""
        ...

    def requantized(
        self, change: Callable[[np.ndarray], np.ndarray], name: str, arrays: Sequence[np.ndarray]
    ) -> Oracle:
        """The same model for these inputs, with other results of FakeQuant than tensor `name`."""
        ...

    def run(
        self,
        names: Sequence[str],
        arrays: Sequence[np.ndarray],
        seconds: float | None = None,
        memory: int | None = None,
    ) -> list[np.ndarray]:
        """The tensors of these names, for one array per input.

        Args:
            names: tensors of the source, intermediate ones too.
            arrays: the inputs.
            seconds: how long it may take; None for no limit.
            memory: bytes that it may use; None for most of what is free.

        Raises:
            OpError, ValueError: the source does not take the inputs; DeadlineExceededError when it
                takes longer.
        """
        ...


class GraphOracle:
    """A frozen graph on graph/'s numpy kernels, some of its tensors replaced.

    Only the first `n_outputs` of its outputs are looked at.
    """

    def __init__(
        self,
        graph: Graph,
        replaced: dict[Tensor, np.ndarray] | None = None,
        n_outputs: int | None = None,
    ) -> None:
        self.graph = graph
        self.replaced = replaced or {}
        self.n_outputs = n_outputs
        self.inputs = [tensor for tensor in graph.inputs or () if tensor not in self.replaced]
        self.outputs = [tensor.name for tensor in list(graph.outputs or ())[:n_outputs]]
        self._constants: dict[Tensor, np.ndarray] | None = None

    @property
    def integer_casts(self) -> list[tuple[str, np.dtype]]:
        """Names of floats that the graph casts to integers, and the types they are cast to."""
        casts = [op for op in self.graph.operations if op.type == "Cast"]
        pairs = [(op.inputs[0], np.dtype(op.outputs[0].dtype)) for op in casts]
        return [(x.name, y) for x, y in pairs if x.dtype.kind in "fV" and y.kind in "iu"]

    def check(self) -> None:
        """Raises NotVerified when the graph has operations without a reference kernel."""
        fed = {tensor.op for tensor in (*self.inputs, *self.replaced)}
        for op in self.graph.operations:
            if op in fed or kernel_of(op.type) is not None or not op.outputs:
                continue
            is_stateful = op.signature is not None and op.signature.is_stateful
            reason = (
                "gives random numbers or has a state" if is_stateful else "has no reference kernel"
            )
            raise NotVerified(f"{op.type} '{op.name}' {reason}")

    def changed(self, change: Callable[[np.ndarray], np.ndarray]) -> GraphOracle:
        """The same graph with other constants, where they are floats."""
        constants = [op.outputs[0] for op in self.graph.operations if op.type == "Const"]
        arrays = zip(constants, evaluate(self.graph, constants, {}), strict=True)
        changed = {t: change(a) for t, a in arrays if a.dtype.kind in "fc"}
        return GraphOracle(self.graph, self.replaced | changed, self.n_outputs)

    def requantized(
        self, change: Callable[[np.ndarray], np.ndarray], name: str, arrays: Sequence[np.ndarray]
    ) -> GraphOracle:
        """The same graph for these inputs, with other results of FakeQuant than tensor `name`."""
        rounded = [
            tensor
            for op in self.graph.operations
            if op.type.startswith("FakeQuant")
            for tensor in op.outputs
            if tensor.name != name and tensor not in self.inputs
        ]
        values = map(change, self.run([tensor.name for tensor in rounded], arrays))
        changed = dict(zip(rounded, values, strict=True))
        return GraphOracle(self.graph, self.replaced | changed, self.n_outputs)

    def run(
        self,
        names: Sequence[str],
        arrays: Sequence[np.ndarray],
        seconds: float | None = None,
        memory: int | None = None,
    ) -> list[np.ndarray]:
        """The tensors of these names, for one array per input."""
        if self._constants is None:
            constants = self._constant_tensors()
            values = evaluate(self.graph, constants, self.replaced, memory=memory, seconds=seconds)
            self._constants = dict(zip(constants, values, strict=True))
        tensors = [self.graph.get_tensor(name) for name in names]
        feeds = self._constants | self.replaced | dict(zip(self.inputs, arrays, strict=True))
        return evaluate(self.graph, tensors, feeds, memory=memory, seconds=seconds)

    def _constant_tensors(self) -> list[Tensor]:
        """What no input changes and others are computed from, which every run has in common."""
        fed = {tensor.op for tensor in self.inputs}
        varying: set[Operation] = set()
        constants: dict[Tensor, None] = {}
        for op in self.graph.operations:  # each after those it reads
            if op in fed or not is_pure(op.type) or any(t.op in varying for t in op.inputs):
                varying.add(op)
                constants.update((t, None) for t in op.inputs if t.op not in varying)
        return list(constants)
