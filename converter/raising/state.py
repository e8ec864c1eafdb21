"""Variables of the model, which keep their content from run to run.

What CALL_ONCE fills them with are their first values: it adds no operations by itself.
"""

from __future__ import annotations

import numpy as np

from ...graph.core.build import ops
from ...graph.variables.variables import Variable
from ..ir import graph as ir
from .node import Node
from .quantized import dequantized, dtype_of
from .registry import raises


class Resources:
    """The variables of a model by their names in it, made when they are first asked for.

    Args:
        graphs: all graphs of the model.

    Attributes:
        names: of all of them.
        first_names: of those of reals that get a value at first.
    """

    def __init__(self, graphs: list[ir.Graph]) -> None:
        self.variables: dict[str, Variable] = {}
        self._first = first_values(graphs)
        self.first_names = [name for name, value in self._first.items() if value.dtype.kind == "f"]
        self._by_name = {key: t for graph in graphs for key, t in _contents(graph).items()}
        self.names = list(dict.fromkeys([*self._first, *self._by_name]))

    def variable(self, node: Node) -> Variable:
        """The variable that VAR_HANDLE names."""
        name = key_of(node.op.output) or ""
        if name not in self.variables:
            value = self._first.get(name)
            if value is None:
                content = self._by_name.get(name)
                if content is None or not content.is_static:
                    node.fail("the variable must be read or written as a tensor of known shape")
                value = np.zeros(tuple(n or 0 for n in content.dims), dtype_of(content))
            self.variables[name] = node.body.raiser.model_variable(name, value)
        return self.variables[name]


def key_of(handle: ir.Tensor | None) -> str | None:
    """The name of the variable that a handle leads to, None where that is not known."""
    op = None if handle is None else handle.producer
    if op is None or op.kind != "VAR_HANDLE":
        return None
    return "/".join(filter(None, (op.options.container, op.options.shared_name)))


def first_values(graphs: list[ir.Graph]) -> dict[str, np.ndarray]:
    """What the graphs of CALL_ONCE give variables, where it is constant."""
    once = [call.graphs[0] for graph in graphs for call in graph.ops if call.kind == "CALL_ONCE"]
    return {
        name: dequantized(op.inputs[1])
        for graph in once
        for op in graph.ops
        if (name := key_of(op.input(0))) is not None and is_filled(op)
    }


def is_filled(op: ir.Op) -> bool:
    """Whether an operator gives a variable a constant."""
    return op.kind == "ASSIGN_VARIABLE" and op.inputs[1].value is not None


def _contents(graph: ir.Graph) -> dict[str, ir.Tensor]:
    """A tensor that each variable of a graph is read or written as."""
    contents: dict[str, ir.Tensor] = {}
    for op in graph.ops:
        name = key_of(op.input(0))
        if name is not None and op.kind == "READ_VARIABLE":
            contents.setdefault(name, op.output)
        elif name is not None and op.kind == "ASSIGN_VARIABLE":
            contents[name] = op.inputs[1]
    return contents


@raises("VAR_HANDLE")
def var_handle(node):
    """The handle of a variable."""
    return node.body.raiser.resources.variable(node).handle


@raises("READ_VARIABLE")
def read_variable(node, handle):
    """What a variable holds."""
    return ops.ReadVariableOp(handle, dtype=node.result_dtype())


@raises("ASSIGN_VARIABLE")
def assign_variable(node, handle, value):
    """Gives a variable a value."""
    return ops.AssignVariableOp(handle, value)


@raises("CALL_ONCE")
def call_once(node):
    """Nothing: its graph says the first values, all of which must be constant."""
    for op in node.op.graphs[0].ops:
        is_constant = bool(op.outputs) and all(t.value is not None for t in op.outputs)
        node.require(
            op.kind == "VAR_HANDLE" or is_filled(op) or is_constant,
            f"the first values of variables must be constants, and {op.kind} computes one",
        )
    return ops.NoOp()
