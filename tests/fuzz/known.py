"""Faults of LiteRT that random models meet: there it is wrong, and this interpreter is kept.

A row holds an operator, a condition on the model around it, and the reason. A case is known when a
row holds for an operator whose results the differing outputs depend on; rows are as narrow as what
is known of the fault.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """One fault: `holds(use)` for a use of `op`."""

    op: str
    holds: Callable[[Use], Any]
    reason: str


class Use:
    """An operator of a drawn model, as conditions ask about it."""

    def __init__(self, case, step):
        self.tensors = case.graph.tensors
        self.step = step
        self.feeds = dict(zip(case.graph.inputs, case.feeds, strict=True))

    @property
    def inputs(self):
        """Its operands, without those left out."""
        return [self.tensors[i] for i in self.step.inputs if i >= 0]

    @property
    def dtype(self):
        """The type of the first operand."""
        return self.inputs[0].dtype

    @property
    def scales(self):
        """The scale of every quantized operand."""
        return [float(t.quantization.scale[0]) for t in self.inputs if t.quantization]

    @property
    def options(self):
        """Its options."""
        return self.step.options

    def value(self, position):
        """What an operand holds, None where it is computed."""
        index = self.step.inputs[position]
        found = self.tensors[index].data
        return self.feeds.get(index) if found is None else found


FAULTS: tuple[Fault, ...] = ()


def reason(case, verdict) -> str:
    """Why LiteRT is wrong about a case, empty when nothing is known."""
    for step in case.graph.operators:
        for fault in FAULTS:
            if fault.op == step.op and fault.holds(Use(case, step)):
                return fault.reason
    return ""
