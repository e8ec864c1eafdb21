"""Sessions: graphs built and trained here, with the values their variables have now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...graph.core.graph import Operation
from ...graph.format.graphdef import to_graph_def
from ...graph.session.session import Session
from . import frozen
from .source import GraphSource, Shapes
from .state import Table
from .tables import used_entries


def load(
    session: Session, inputs: Sequence[Any], outputs: Sequence[Any], shapes: Shapes
) -> GraphSource:
    """The computation of `outputs` from `inputs`, tensors of the session's graph, as it is now.

    Later training changes nothing in what was loaded.

    Raises:
        TypeError: `session` is no Session.
        ValueError: A tensor is of another graph, or the outputs need a placeholder that is not
            among the inputs.
        FailedPreconditionError: A variable that is needed has no value.
    """
    if not isinstance(session, Session):
        raise TypeError(f"sess must be a Session, got {type(session).__name__}")
    for tensor in (*inputs, *outputs):
        if getattr(tensor, "graph", session.graph) is not session.graph:
            raise ValueError(f"'{tensor.name}' must be of the session's graph, and is of another")

    def values(operations: list[Operation]) -> Mapping[Operation, np.ndarray]:
        return {op: session.state.value(session.state.variable_key(op)) for op in operations}

    def table(op: Operation) -> Table | None:
        contents = session.state.tables.get(session.state.variable_key(op))
        return None if contents is None else used_entries(op, *contents.export())

    names = [tensor.name for tensor in inputs], [tensor.name for tensor in outputs]
    definition = to_graph_def(session.graph)
    return frozen.load(definition, *names, shapes, values, "session", table)
