"""VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE: variables that last from one invoke to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.run.stages import aligned
from ...schema.dtypes import RESOURCE, tf_name
from ..checks import required_input, scope_of
from ..registry import op

if TYPE_CHECKING:
    from ..plan.node import Arrays, DynamicResult, Node


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
def read_variable(node: Node) -> DynamicResult:
    """The value of a variable."""
    _require_handle(node)

    def run(handle: np.ndarray) -> list[np.ndarray]:
        value = scope_of(node).resources.get(_number(handle))
        if not isinstance(value, np.ndarray):
            node.fail("the variable is read before a value was assigned to it")
        return [value]

    def is_done(inputs: Arrays, results: Arrays) -> bool:
        value = results[0]
        return value is not None and scope_of(node).resources.get(variable) is value

    variable = _constant_number(node)
    lends = node.planner is not None and node.planner.may_lend(node)
    return node.dynamic_result(run, [node.outputs[0].shape or ()], is_done, lends)


@op("ASSIGN_VARIABLE")
def assign_variable(node: Node) -> DynamicResult:
    """Gives a variable the value of the second input."""
    _require_handle(node)
    becomes_variable = node.planner is not None and node.planner.becomes_variable(node)

    def run(handle: np.ndarray, value: np.ndarray) -> list[np.ndarray]:
        resources, number = scope_of(node).resources, _number(handle)
        before = resources.get(number)
        if becomes_variable:
            resources[number] = value
        elif (
            isinstance(before, np.ndarray)
            and (before.shape, before.dtype) == (value.shape, value.dtype)
            and not value.dtype.hasobject
        ):
            before[...] = value  # whoever read it has a copy; new memory costs more than this
        else:
            memory = aligned(value.shape, value.dtype)
            memory[...] = value
            resources[number] = memory
        return []

    def is_done(inputs: Arrays, results: Arrays) -> bool:
        value = inputs[1]
        return value is not None and scope_of(node).resources.get(variable) is value

    variable = _constant_number(node)
    return node.dynamic_result(run, (), is_done)


def _require_handle(node: Node) -> None:
    handle = required_input(node, 0)
    node.require(
        handle.dtype in (RESOURCE, np.int32) and handle.size == 1,
        f"the first input must be one resource handle, got {tf_name(handle.dtype)} {handle.shape}",
    )


def _constant_number(node: Node) -> int:
    """The number of the variable, where it is known before; else -1, which none has."""
    handle = required_input(node, 0).value
    return -1 if handle is None else _number(handle)


def _number(handle: np.ndarray) -> int:
    numbers = handle["resource"] if handle.dtype == RESOURCE else handle
    return int(numbers.ravel()[0])
