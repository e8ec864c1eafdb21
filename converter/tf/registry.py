"""Which function lowers which TF operation, and what such a function sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lowering.node import SourceNode
from ..lowering.registry import Homes, Lowerings
from .homes import HOMES

if TYPE_CHECKING:
    from ...graph.core.graph import Operation
    from ..ir.graph import Tensor

LOWERINGS = Lowerings("TF operation", __package__, Homes(HOMES))
lower, lower_rows = LOWERINGS.lower, LOWERINGS.lower_rows


class Node(SourceNode):
    """A TF operation as its lowering sees it: attributes, and inputs already lowered to the IR."""

    def __init__(self, op: Operation, inputs: list[Tensor]) -> None:
        super().__init__(op.type, op.name, inputs)
        self.op = op

    def attr(self, name: str) -> Any:
        """The attribute's value, TF's default where the graph does not state it."""
        return self.op.get_attr(name)

    def text(self, name: str) -> str:
        """A bytes attribute as str."""
        return self.attr(name).decode()
