"""Modules of StableHLO, which JAX writes into SavedModels, as graphs that a session runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.evaluate import as_results
from ...stablehlo.expand import module_body
from ..hosted import hosted
from .control import RunnableGraph

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ..state import State
    from .control import Arrays


@hosted("XlaCallModule")
def call_module(op: Operation, state: State, *arrays: np.ndarray) -> np.ndarray | Arrays:
    """What the module computes."""
    body = state.modules.get(op)
    if body is None:
        graph = module_body(op)
        body = RunnableGraph(state, graph, graph.inputs or (), graph.outputs or ())
        state.modules[op] = body
    return as_results(body.run(arrays))
