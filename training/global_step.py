"""The global step: a variable that counts the steps of a training."""

from __future__ import annotations

import numpy as np

from ..graph.core.graph import Graph, Tensor
from ..graph.core.registry import row_of
from ..graph.core.scopes import GraphKeys, get_default_graph
from ..graph.variables.get_variable import get_variable
from ..graph.variables.initializers import zeros_initializer
from ..graph.variables.variables import Variable


def global_step(sess, global_step_tensor) -> int:
    """The number of steps so far.

    Args:
        sess: The Session to ask.
        global_step_tensor: The variable, or a tensor with its value.
    """
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Graph | None = None) -> Variable | None:
    """The global step of a graph, the default one when None; None when there is none.

    Raises:
        TypeError: It is not a single integer.
    """
    graph = get_default_graph() if graph is None else graph
    steps = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(steps) == 1:
        step = steps[0]
    elif steps:
        raise TypeError(f"Multiple tensors in global_step collection: {steps}")
    else:
        by_name = {variable.name: variable for variable in _all_variables(graph)}
        step = by_name.get("global_step:0")
        if step is None:
            return None
    assert_global_step(step)
    return step


def _all_variables(graph: Graph) -> list[Variable]:
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
    return [variable for key in keys for variable in graph.get_collection(key)]


def create_global_step(graph: Graph | None = None) -> Variable:
    """A new global step, of int64, that starts at 0.

    Raises:
        ValueError: The graph has one already.
    """
    graph = get_default_graph() if graph is None else graph
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=(),
            dtype=np.dtype(np.int64),
            initializer=zeros_initializer(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Graph | None = None) -> Variable:
    """The global step of a graph, a new one when there is none."""
    graph = get_default_graph() if graph is None else graph
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_global_step(global_step_tensor: Variable | Tensor) -> None:
    """Raises TypeError unless `global_step_tensor` is a single integer."""
    if not isinstance(global_step_tensor, Variable | Tensor):
        raise TypeError('Existing "global_step" must be a Variable or Tensor.')
    dtype, shape = np.dtype(global_step_tensor.dtype), global_step_tensor.sizes
    if dtype.kind not in "iu":
        raise TypeError(
            f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}'
        )
    if shape is not None and len(shape) != 0:
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


READ_KEY = "global_step_read_op_cache"


def global_step_read(graph: Graph | None = None) -> Tensor | None:
    """A tensor with the global step before the run's training step; None without one.

    What changes the step and is there already waits for it.

    Raises RuntimeError when there are several such tensors.
    """
    graph = get_default_graph() if graph is None else graph
    reads = graph.get_collection(READ_KEY)
    if len(reads) > 1:
        raise RuntimeError(
            f"There are multiple items in collection {READ_KEY}. There should be only one."
        )
    if reads:
        return reads[0]
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default(), graph.name_scope(f"{step.op.name}/"):
        value = step.read_value() if isinstance(step, Variable) else step
        read = value + np.zeros((), np.dtype(step.dtype))
    graph.add_to_collection(READ_KEY, read)
    for op in step.op.outputs[0].consumers() if isinstance(step, Variable) else ():
        row = row_of(op.type)
        is_set = op.type in ("Assign", "AssignVariableOp") and op is not step.initializer
        if is_set or (row is not None and row.writes):
            op.add_control_input(read.op)
    return read
