"""Flex operators on what the interpreter keeps: variables, tables, arrays, stacks and queues.

A handle is a number, as those of VAR_HANDLE are. Variables are those of READ_VARIABLE, too: a file
may change by one what it reads by the other. Tensor arrays and stacks live for a run, queues as
long as the interpreter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..engine.run.stages import Control
from ..graph.core.infer import each_output
from ..graph.core.registry import row_of
from ..graph.session.hosted import HOSTED
from ..graph.session.kernel_calls import call_kernel
from ..graph.session.keys import shared_name
from ..graph.session.resources import handle_of
from ..graph.session.state import State
from ..graph.session.tables import Table
from ..schema.dtypes import RESOURCE
from ..schema.errors import FailedPreconditionError
from .checks import scope_of
from .ops.variable import assign, number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..graph.core.graph import Operation, Tensor
    from .plan.node import Node
    from .plan.scope import Scope

    Kernel = Callable[[Sequence[np.ndarray]], list[np.ndarray]]

_TABLES = {
    *("HashTableV2", "MutableHashTableV2", "MutableHashTableOfTensorsV2"),
    *("MutableDenseHashTableV2", "InitializeTableV2", "LookupTableImportV2"),
    *("LookupTableFindV2", "LookupTableSizeV2", "LookupTableInsertV2", "LookupTableRemoveV2"),
    "LookupTableExportV2",
}
_ARRAYS = {
    *(f"TensorArray{word}V3" for word in ("", "Grad", "Write", "Read", "Gather", "Scatter")),
    *(f"TensorArray{word}V3" for word in ("Concat", "Split", "Size", "Close")),
    *("TensorArrayGradWithShape", "StackV2", "StackPushV2", "StackPopV2", "StackCloseV2"),
}
_QUEUES = {
    *("FIFOQueueV2", "PaddingFIFOQueueV2", "QueueCloseV2", "QueueDequeueManyV2"),
    *("QueueDequeueUpToV2", "QueueDequeueV2", "QueueEnqueueManyV2", "QueueEnqueueV2"),
    *("QueueIsClosedV2", "QueueSizeV2"),
}
_OBJECTS = _TABLES | _ARRAYS | _QUEUES
_READERS = {"ResourceGather", "ResourceGatherNd", "VariableShape"}
_STUCK = "waits for what nothing else does while the model runs: the queue is empty or full"
_TABLE, _ARRAY = "Flex table", "Flex array"
"""What tells a table's or an array's number from others of the interpreter."""


def state_kernel(node: Node, op: Operation, name: str) -> Kernel | None:
    """What computes an operation on a state that may be kept; None for others.

    `name` is that of what the operation stands for.
    """
    if op.type in _OBJECTS:
        return _object_kernel(node, op, name)
    if op.type == "VarHandleOp":
        container = cast("bytes", op.get_attr("container")).decode()
        return lambda arrays: [_handle(scope_of(node).resource(container, name))]
    if op.type in _VARIABLES:
        scope, function = scope_of, _VARIABLES[op.type]
        return lambda arrays: function(op, scope(node), arrays)
    if op.type in _READERS or writes_variables(op.type):
        return lambda arrays: _on_values(op, scope_of(node), arrays)
    return None


def keeps_state(kind: str) -> bool:
    """Whether `state_kernel` has a kernel for operations of a type."""
    return (
        kind in _OBJECTS | _READERS | {"VarHandleOp"}
        or kind in _VARIABLES
        or writes_variables(kind)
    )


def writes_variables(kind: str) -> bool:
    """Whether an operation changes variables behind handles, in place."""
    row = row_of(kind)
    is_of_handles = kind.startswith("Resource") or kind.endswith("VariableOp")
    return is_of_handles and row is not None and bool(row.writes)


def is_handle(tensor: Tensor) -> bool:
    """Whether a tensor stands for something that is kept."""
    return tensor.dtype is not None and tensor.dtype.dtype == RESOURCE


def _object_kernel(node: Node, op: Operation, name: str) -> Kernel:
    """What makes, fills or reads a table or an array, which its number stands for."""
    function = HOSTED.known(op.type)

    def run(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        scope, state = scope_of(node), State()
        control = Control()
        if op.type in _QUEUES:
            control.end(FailedPreconditionError(None, op, _STUCK))
            state.begin_run(control)
        known: dict[int, object] = {**scope.resources, **scope.objects}
        operands = [
            handle_of(known.get(number_of(x))) if is_handle(tensor) else x
            for tensor, x in zip(op.inputs, arrays, strict=True)
        ]
        number = -1
        if any(map(is_handle, op.outputs)):
            position = -1 if node.planner is None else node.planner.spec.index, node.index
            is_array = op.type in _ARRAYS
            number = scope.resource(*((_ARRAY, f"{position}") if is_array else (_TABLE, name)))
            if isinstance(scope.resources.get(number), Table):
                state.tables[state.variable_key(op)] = cast("Table", scope.resources[number])
            if op.type in _QUEUES and number in scope.objects:
                state.resources[state.placed(op, shared_name(op) or f"/{op.name}")] = scope.objects[
                    number
                ]
        results = [np.asarray(one) for one in each_output(op, function(op, state, *operands))]
        state.wait_for_put_off(control)
        for i, tensor in enumerate(op.outputs):
            if is_handle(tensor):
                value = results[i].flat[0]
                if isinstance(value, Table):
                    scope.resources[number] = value
                else:
                    scope.objects[number] = value
                results[i] = _handle(number)
        return results

    return run


def _handle(number: int) -> np.ndarray:
    return np.array((number,), RESOURCE)


def _assign(op: Operation, scope: Scope, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    assign(scope, number_of(arrays[0]), arrays[1])
    return []


def _read(op: Operation, scope: Scope, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [_value(op, scope, arrays[0]).copy()]


def _is_initialized(op: Operation, scope: Scope, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [np.array(isinstance(scope.resources.get(number_of(arrays[0])), np.ndarray))]


_VARIABLES: dict[str, Callable[[Operation, Scope, Sequence[np.ndarray]], list[np.ndarray]]] = {
    "AssignVariableOp": _assign,
    "ReadVariableOp": _read,
    "VarIsInitializedOp": _is_initialized,
}


def _on_values(op: Operation, scope: Scope, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of an operation on variables' memory, which it may change."""
    values = [
        _value(op, scope, x) if is_handle(tensor) else x
        for tensor, x in zip(op.inputs, arrays, strict=True)
    ]
    return call_kernel(op, State(), values, in_place=not op.outputs)


def _value(op: Operation, scope: Scope, handle: np.ndarray) -> np.ndarray:
    """The memory of a variable.

    Raises ValueError when it has no value.
    """
    value = scope.resources.get(number_of(handle))
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{op.type} takes a variable to which a value was assigned")
    return value
