"""VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE: variables that last from one invoke to the next."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.layout import copy
from ...engine.run.stages import aligned
from ...schema.dtypes import RESOURCE, tf_name
from ..checks import required_input, scope_of
from ..registry import op

if TYPE_CHECKING:
    from ..plan.node import Node, Operand, Prepared
    from ..plan.scope import Scope


@op("VAR_HANDLE")
def var_handle(node: Node) -> None:
    """The handle of the variable that `container` and `shared_name` name: in old files an int32."""
    shape = node.outputs[0].shape or ()
    dtype = RESOURCE if node.outputs[0].dtype != np.int32 else np.dtype(np.int32)
    value = None
    if node.scope is not None:
        options = node.options
        number = node.scope.resource(options.container or "", options.shared_name or "")
        value = np.full(shape, number, np.int32)
        if dtype == RESOURCE:
            value = np.full(shape, np.array((number,), RESOURCE), RESOURCE)
    node.result(shape, dtype, value)


@op("READ_VARIABLE")
def read_variable(node: Node) -> Prepared:
    """The value of a variable."""
    _require_handle(node)
    declared, memory = node.outputs[0], _memory(node)
    if memory is not None and (memory.shape, memory.dtype) == (declared.shape, declared.dtype):
        assert node.planner is not None  # it has told the memory
        if node.planner.reads_in_place(node):
            node.alias(memory, memory.shape)
            return None
        return partial(copy, source=memory, target=node.result(memory.shape, memory.dtype))

    def run(handle: np.ndarray) -> list[np.ndarray]:
        value = scope_of(node).resources.get(number_of(handle))
        if not isinstance(value, np.ndarray):
            node.fail("the variable is read before a value was assigned to it")
        return [value]

    return node.dynamic_result(run, [declared.shape or ()])


@op("ASSIGN_VARIABLE")
def assign_variable(node: Node) -> Prepared:
    """Gives a variable the value of the second input."""
    _require_handle(node)
    value, memory = required_input(node, 1), _memory(node)
    if memory is not None and (memory.shape, memory.dtype) == (value.shape, value.dtype):
        return partial(copy, source=value, target=memory)

    def run(handle: np.ndarray, value: np.ndarray) -> list[np.ndarray]:
        assign(scope_of(node), number_of(handle), value)
        return []

    return node.dynamic_result(run, ())


def assign(scope: Scope, number: int, value: np.ndarray) -> None:
    """Gives the variable of a number a copy of `value`."""
    before = scope.resources.get(number)
    if (
        isinstance(before, np.ndarray)
        and (before.shape, before.dtype) == (value.shape, value.dtype)
        and not value.dtype.hasobject
    ):
        before[...] = value  # whoever read it has a copy; new memory costs more than this
    else:
        memory = aligned(value.shape, value.dtype)
        memory[...] = value
        scope.resources[number] = memory


def _memory(node: Node) -> Operand | None:
    """The variable's memory, where instructions may use it; None where a Python step has to."""
    handle = required_input(node, 0).value
    if handle is None or node.planner is None:
        return None
    return node.planner.variable(node, number_of(handle))


def _require_handle(node: Node) -> None:
    handle = required_input(node, 0)
    node.require(
        handle.dtype in (RESOURCE, np.int32) and handle.size == 1,
        f"the first input must be one resource handle, got {tf_name(handle.dtype)} {handle.shape}",
    )


def number_of(handle: np.ndarray) -> int:
    """The id of what a handle stands for."""
    numbers = handle["resource"] if handle.dtype == RESOURCE else handle
    return int(numbers.ravel()[0])
