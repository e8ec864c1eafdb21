"""Objects of a TensorFlow in this process: frozen or saved by their own public methods.

TensorFlow is never imported: whoever has such an object has it imported already.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...graph.core.graph import Operation
from ...schema.errors import noted
from . import frozen, saved_model
from .graph_def import message_of
from .op_defs import note_results
from .source import GraphSource, Shapes, op_name

DEFAULT_KEY = "serving_default"
SAVE_ERRORS = (AssertionError, ValueError, TypeError, AttributeError)
"""What tf.saved_model.save raises of objects and signatures that it cannot save: untracked
variables and tables, arguments that are no tensors, objects that are not trackable."""
PROVIDE = "give the object that owns them (the tf.Module or Keras model) as trackable_obj"


class SaveError(ValueError):
    """Functions that TensorFlow cannot save with the object that is said to own them."""


def is_session(session: Any) -> bool:
    """Whether an object is a session of a TensorFlow in this process."""
    v1 = getattr(getattr(sys.modules.get("tensorflow"), "compat", None), "v1", None)
    return v1 is not None and isinstance(session, (v1.Session, v1.InteractiveSession))


def from_session(
    session: Any, inputs: Sequence[Any], outputs: Sequence[Any], shapes: Shapes
) -> GraphSource:
    """The computation of `outputs` from `inputs` in a session's graph, its variables as now.

    Raises:
        ValueError: A tensor is of another graph, or the outputs need a placeholder that is not
            among the inputs.
        FailedPreconditionError: TensorFlow's own, when a variable has no value.
    """
    for tensor in (*inputs, *outputs):
        if getattr(tensor, "graph", session.graph) is not session.graph:
            raise ValueError(f"'{tensor.name}' must be of the session's graph, and is of another")
    names = [tensor.name for tensor in inputs], [tensor.name for tensor in outputs]
    message = sys.modules["tensorflow"].compat.v1.graph_util.convert_variables_to_constants(
        session, session.graph.as_graph_def(), list(dict.fromkeys(map(op_name, names[1])))
    )
    message = message_of(message)
    note_results(message.node, session.graph)
    return frozen.load(message, *names, shapes, model="session")


def saved(functions: Sequence[Any], owner: Any, folder: str) -> list[GraphSource]:
    """Functions that were written to a SavedModel in `folder`, a signature for each.

    The key is "serving_default" for a single function, else the function's name.

    Raises:
        ValueError: Two functions have one name.
        SaveError: TensorFlow cannot save them.
    """
    names = [function.graph.name for function in functions]
    keys = [DEFAULT_KEY] if len(functions) == 1 else names
    if len(set(keys)) < len(keys):
        raise ValueError(
            f"Functions must have distinct names, which become signature keys, got {names}"
        )
    save = sys.modules["tensorflow"].saved_model.save
    try:
        save(owner, folder, signatures=dict(zip(keys, functions, strict=True)))
    except SAVE_ERRORS as error:
        first_line = str(error).partition("\n")[0]
        raise noted(
            SaveError(f"TensorFlow cannot save the functions {names}: {first_line}"),
            "trackable_obj must own all variables and tables that the functions use",
        ) from error
    sources = saved_model.load(folder, signature_keys=keys, api_version=2)
    return [replace(source, model="concrete_functions") for source in sources]


def frozen_function(function: Any) -> GraphSource:
    """A function without an owner: what it captures becomes constants and variables of the graph.

    Raises ValueError when it captures what has no value, as a table.
    """
    graph = function.graph
    message = message_of(graph.as_graph_def())
    note_results(message.node, graph)
    nodes = {node.name: node for node in message.node}
    variables = {id(variable.handle): variable for variable in function.variables}
    values: dict[str, np.ndarray] = {}
    for outer, inner in graph.captures:
        node = nodes[op_name(inner.name)]
        variable = variables.get(id(outer))
        if variable is not None:
            _make_variable(node, variable)
            values[node.name] = variable.numpy()
        elif outer.dtype.name not in ("resource", "variant") and hasattr(outer, "numpy"):
            _make_constant(node, outer)
        else:
            raise noted(
                ValueError(
                    f"Function '{graph.name}' must capture only variables and constants, and "
                    f"captures '{inner.name}' of type {outer.dtype.name}"
                ),
                PROVIDE,
            )

    def read(operations: list[Operation]) -> Mapping[Operation, np.ndarray]:
        return {op: values[op.name] for op in operations}

    captured = {inner.name for _, inner in graph.captures}
    inputs = [tensor for tensor in function.inputs if tensor.name not in captured]
    names = [tensor.name for tensor in inputs], [tensor.name for tensor in function.outputs]
    return frozen.load(message, *names, values=read, model="concrete_functions")


def _make_variable(node: Any, variable: Any) -> None:
    """Makes a placeholder for a resource the variable itself."""
    node.op = "VarHandleOp"
    node.attr.clear()
    node.attr["dtype"].type = variable.dtype.as_datatype_enum
    node.attr["shape"].shape.ParseFromString(variable.shape.as_proto().SerializeToString())
    node.attr["shared_name"].s = node.name.encode()


def _make_constant(node: Any, tensor: Any) -> None:
    """Makes a placeholder for a tensor outside the function that tensor's value."""
    value = sys.modules["tensorflow"].make_tensor_proto(tensor)
    node.op = "Const"
    node.attr.clear()
    node.attr["dtype"].type = tensor.dtype.as_datatype_enum
    node.attr["value"].tensor.ParseFromString(value.SerializeToString())
