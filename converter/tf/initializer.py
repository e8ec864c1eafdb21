"""The graph that runs once, before all else: it fills tables and gives variables their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..ir.builder import Builder, make_options
from ..ir.graph import Graph, Op, Tensor

if TYPE_CHECKING:
    from ..sources.state import State

NAME = "initialize"
FIRST_TABLE = 1 << 16
"""LiteRT keeps tables and variables, which it counts from 0, by one number."""


class Initializer:
    """Makes the graph of a state, which all computations of a model share.

    Attributes:
        is_used: whether something was lowered that needs it.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.is_used = False

    def _builder(self) -> Builder:
        self.is_used = True
        if self.state.initializer is None:
            self.state.initializer = Graph(NAME)
        return Builder(self.state.initializer)

    def table(
        self, name: str, keys: np.ndarray, values: np.ndarray, types: Mapping[str, int]
    ) -> int:
        """The number of a table, which is filled when the graph runs."""
        b = self._builder()
        numbers = self.state.table_numbers
        if name not in numbers:
            numbers[name] = FIRST_TABLE + len(numbers)
            handle = b.HASHTABLE(table_id=numbers[name], **types)
            operands = [handle, b.constant(keys), b.constant(values)]
            b.graph.append(
                Op("HASHTABLE_IMPORT", operands, [], make_options("HASHTABLE_IMPORT", {}))
            )
        return numbers[name]

    def variable(self, name: str, b: Builder) -> Tensor:
        """The handle of a variable, which gets its first value when the graph runs."""
        first = self._builder()
        if name not in self.state.assigned:
            self.state.assigned.add(name)
            value = first.constant(self.state.variables[name])
            assign(first, handle_of(first, name), value)
        return handle_of(b, name)


def handle_of(b: Builder, name: str) -> Tensor:
    """The handle of a variable."""
    return b.VAR_HANDLE(container="", shared_name=name)


def read(b: Builder, handle: Tensor, name: str, value: np.ndarray) -> Tensor:
    """What a variable holds, of the type and shape of its first value."""
    result = Tensor(name, value.dtype, value.shape)
    b.graph.append(Op("READ_VARIABLE", [handle], [result], make_options("READ_VARIABLE", {})))
    return result


def assign(b: Builder, handle: Tensor, value: Tensor) -> None:
    """Gives a variable a value."""
    options = make_options("ASSIGN_VARIABLE", {})
    b.graph.append(Op("ASSIGN_VARIABLE", [handle, value], [], options))


def call_once(graph: Graph, initializer: Graph) -> None:
    """Lets a graph begin with the initializer."""
    op = Op("CALL_ONCE", [], [], make_options("CALL_ONCE", {}), graphs=[initializer])
    if graph.ops:
        graph.insert_before(graph.ops[0], op)
    else:
        graph.append(op)
