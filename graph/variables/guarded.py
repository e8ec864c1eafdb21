"""Initial values that do not need other variables to be initialised before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.create import append
from ..core.elements import Tensor
from ..core.order import Cycle, data_and_control_inputs, ordered
from ..core.scopes import GraphKeys

if TYPE_CHECKING:
    from ..core.graph import Graph
    from .variables import Variable

UNGUARDED = ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "If", "StatelessIf")
VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


def guarded(initial: Tensor, name: str) -> Tensor:
    """`initial` with the initial values of variables that it reads, where these have no value yet.

    Operations on the way from a variable to it are copied; their names end with the name of the
    variable that is initialised, `name`.
    """
    try:
        before = ordered([initial.op], data_and_control_inputs)
    except Cycle:
        return initial
    if not any(op.type in VARIABLES for op in before):
        return initial
    return _Guard(initial.graph, name).tensor(initial)


class _Guard:
    def __init__(self, graph: Graph, name: str):
        self._graph = graph
        self._name = name.replace(":", "_")
        self._copies: dict[Tensor, Tensor] = {}
        collections = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
        self._variables: dict[str, Variable] = {
            variable.op.name: variable
            for key in collections
            for variable in graph.get_collection(key)
            if hasattr(variable, "initialized_value")
        }

    def tensor(self, tensor: Tensor) -> Tensor:
        """What stands for a tensor: itself, where no variable is read on the way to it."""
        op = tensor.op
        if tensor in self._copies:
            return self._copies[tensor]
        result = tensor
        if op.type in VARIABLES:
            variable = self._variables.get(op.name)
            if variable is not None and variable.initial_value is not None:
                result = variable.initialized_value()
        elif op.type not in UNGUARDED:
            inputs = [self.tensor(source) for source in op.inputs]
            if any(new is not old for new, old in zip(inputs, op.inputs, strict=True)):
                with self._graph.name_scope(None):
                    name = self._graph.unique_name(f"{op.name}_{self._name}")
                copy = append(self._graph, op.type, name, inputs, op.attrs)
                self._copies.update(zip(op.outputs, copy.outputs, strict=True))
                return self._copies[tensor]
        self._copies[tensor] = result
        return result
