"""VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE: variables that last from one invoke to the next."""

import numpy as np

from ...schema.dtypes import RESOURCE
from ..registry import op


@op("VAR_HANDLE")
def var_handle(node):
    """The handle of the variable that `container` and `shared_name` name."""
    shape = node.outputs[0].shape or ()
    value = None
    if node.scope is not None:
        options = node.options
        number = node.scope.resource(options.container or "", options.shared_name or "")
        value = np.full(shape, np.array((number,), RESOURCE), RESOURCE)
    node.result(shape, RESOURCE, value)


@op("READ_VARIABLE")
def read_variable(node):
    """The value of a variable."""
    _require_handle(node)

    def run(handle):
        value = node.scope.resources.get(_number(handle))
        node.require(value is not None, "the variable is read before a value was assigned to it")
        return [value]

    return node.dynamic_result(run, [node.outputs[0].shape or ()])


@op("ASSIGN_VARIABLE")
def assign_variable(node):
    """Gives a variable the value of the second input."""
    _require_handle(node)

    def run(handle, value):
        node.scope.resources[_number(handle)] = value.copy()
        return []

    return node.dynamic_result(run, ())


def _require_handle(node):
    handle = node.inputs[0]
    node.require(
        handle.dtype == RESOURCE and handle.size == 1,
        f"the first input must be one resource handle, got {handle.dtype} {handle.shape}",
    )


def _number(handle):
    return int(handle["resource"].ravel()[0])
