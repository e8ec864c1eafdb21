"""Ranges that fake quantization learns while a graph runs: what was learned is what counts.

variable -> Assign(moving average) -> FakeQuantWithMinMaxVars      becomes
variable -> FakeQuantWithMinMaxVars
"""

from __future__ import annotations

from ...graph.core.graph import Graph, Tensor
from ...graph.format.rebuild import rebuild

ROUNDING = (
    *("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"),
    *("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"),
)
ENDS = (1, 2)
"""The inputs of these that are the range."""
WRITING = ("Assign", "AssignAdd", "AssignSub")


def stop_learning(graph: Graph) -> Graph:
    """The graph with ranges read, where it writes and reads them; itself where it does not."""
    changed = False
    for op in graph.operations:
        if op.type not in ROUNDING:
            continue
        for i in ENDS:
            variable = _learned(op.inputs[i])
            if variable is not None:
                op.set_input(i, variable)
                changed = True
    return rebuild(graph, [tensor.op for tensor in graph.outputs or ()]) if changed else graph


def _learned(end: Tensor) -> Tensor | None:
    """The variable that a range is written to before it is read; None for other ranges."""
    while end.op.type == "Identity":
        end = end.op.inputs[0]
    return end.op.inputs[0] if end.op.type in WRITING else None
