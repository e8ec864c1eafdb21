"""Variables and tables of the model, which keep their content from run to run.

What CALL_ONCE fills them with are their first values: it adds no operations by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.core import graph as tf
from ...graph.core.build import ops
from ...graph.core.function_graph import outermost
from ...graph.core.scopes import GraphKeys, get_default_graph
from ...graph.variables.variables import Variable
from ...schema.dtypes import numpy_dtype
from ..ir import graph as ir
from .node import Node
from .registry import raise_rows, raises

raise_rows("""
HASHTABLE_FIND LookupTableFindV2
""")

FILLED = ("ASSIGN_VARIABLE", "HASHTABLE_IMPORT")
HANDLES = ("VAR_HANDLE", "HASHTABLE")


class Resources:
    """The variables and tables of a model, made when they are first asked for.

    Args:
        graphs: all graphs of the model.

    Attributes:
        variables: by their names in the model.
        tables: handles by their numbers in the model.
        initializers: operations that fill the tables.
    """

    def __init__(self, graphs: list[ir.Graph]) -> None:
        self.variables: dict[str, Variable] = {}
        self.tables: dict[int, tf.Tensor] = {}
        self.initializers: list[tf.Operation] = []
        self._first = first_values(graphs)
        self._seen = {key: t for graph in graphs for key, t in _contents(graph).items()}

    def variable(self, node: Node) -> Variable:
        """The variable that VAR_HANDLE names."""
        name = key_of(node.op)
        if name not in self.variables:
            value = self._first.get(name)
            if value is None:
                content = self._seen.get(name)
                if content is None or not content.is_static:
                    node.fail("the variable must be read or written as a tensor of known shape")
                value = np.zeros(tuple(n or 0 for n in content.dims), content.dtype)
            self.variables[name] = node.body.raiser.model_variable(name, value)
        return self.variables[name]

    def table(self, node: Node) -> tf.Tensor:
        """The handle of the table that HASHTABLE numbers."""
        number = int(node.options.table_id)
        if number not in self.tables:
            types = [
                numpy_dtype(int(getattr(node.options, f"{k}_dtype"))) for k in ("key", "value")
            ]
            graph = outermost(get_default_graph())
            with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None):
                handle = ops.HashTableV2(
                    key_dtype=types[0], value_dtype=types[1], name=f"table_{number}"
                )
                filled = self._first.get(key_of(node.op))
                if filled is not None:
                    made = ops.InitializeTableV2(handle, *filled)
                    graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, made)
                    self.initializers.append(made)
            self.tables[number] = handle
        return self.tables[number]


def key_of(op: ir.Op) -> Any:
    """What a VAR_HANDLE or HASHTABLE names, a string for a variable."""
    if op.kind == "HASHTABLE":
        return ("table", int(op.options.table_id))
    return "/".join(filter(None, (op.options.container, op.options.shared_name)))


def first_values(graphs: list[ir.Graph]) -> dict[Any, Any]:
    """What the graphs of CALL_ONCE fill variables and tables with, where it is constant."""
    values = {}
    for graph in graphs:
        for call in graph.ops:
            if call.kind != "CALL_ONCE":
                continue
            for op in call.graphs[0].ops:
                handle = op.input(0)
                maker = None if handle is None else handle.producer
                contents = [t.value for t in op.present_inputs[1:]]
                if op.kind in FILLED and maker is not None and maker.kind in HANDLES:
                    is_known = all(value is not None for value in contents)
                    filled = contents if maker.kind == "HASHTABLE" else contents[0]
                    if is_known:
                        values[key_of(maker)] = filled
    return values


def _contents(graph: ir.Graph) -> dict[Any, ir.Tensor]:
    """A tensor that each variable of a graph is read or written as."""
    found = {}
    for op in graph.ops:
        handle = op.input(0)
        maker = None if handle is None else handle.producer
        if maker is not None and maker.kind == "VAR_HANDLE":
            if op.kind == "READ_VARIABLE":
                found.setdefault(key_of(maker), op.output)
            elif op.kind == "ASSIGN_VARIABLE":
                found[key_of(maker)] = op.inputs[1]
    return found


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
        known = op.kind in (*FILLED, *HANDLES) and (
            op.kind in HANDLES or all(t.value is not None for t in op.present_inputs[1:])
        )
        is_constant = bool(op.outputs) and all(t.value is not None for t in op.outputs)
        node.require(
            known or is_constant,
            f"the first values of variables must be constants, and {op.kind} computes one",
        )
    return ops.NoOp()


@raises("HASHTABLE")
def hashtable(node):
    """The handle of a table."""
    return node.body.raiser.resources.table(node)


@raises("HASHTABLE_IMPORT")
def hashtable_import(node, handle, keys, values):
    """Fills a table."""
    return ops.LookupTableImportV2(handle, keys, values)


@raises("HASHTABLE_SIZE")
def hashtable_size(node, handle):
    """How many entries a table has, as a vector of one number."""
    return ops.Reshape(ops.LookupTableSizeV2(handle), np.array([1], np.int32))
