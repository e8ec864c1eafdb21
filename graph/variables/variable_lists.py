"""The variables of a graph by what they are for, and what initialises them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.create import convert_to_tensor, output
from ..core.graph import Operation, Tensor
from ..core.scopes import GraphKeys, get_collection, name_scope
from .variables import Variable


def global_variables(scope: str | None = None) -> list[Variable]:
    """The variables of the default graph that are shared by all its users."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Variable]:
    """The variables of the default graph that are this process' own."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Variable]:
    """The variables of the default graph that belong to the model."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Variable]:
    """The variables of the default graph that optimizers change."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Variable]:
    """The variables of the default graph that have moving averages."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list: Sequence[Variable], name: str = "init") -> Operation:
    """An operation that initialises the variables of a list."""
    from ..functions.flow.control_flow import group

    if var_list:
        return group(*[variable.initializer for variable in var_list], name=name)
    return group(name=name)


def global_variables_initializer() -> Operation:
    """An operation that initialises all global variables."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """An operation that initialises all local variables."""
    return variables_initializer(local_variables())


def report_uninitialized_variables(
    var_list: Sequence[Variable] | None = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """The names of the variables without a value; of all global and local ones by default."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    with name_scope(name):
        if not var_list:
            return convert_to_tensor(np.array([], object), name="Const")
        flags = [variable.is_initialized() for variable in var_list]
        missing = output("LogicalNot", [output("Pack", [flags])])
        names = np.array([variable.op.name.encode() for variable in var_list], object)
        where = output("Where", [missing])
        rows = output("Squeeze", [where], {"squeeze_dims": [1]})
        return output("GatherV2", [names, rows, np.int32(0)])


def assert_variables_initialized(var_list: Sequence[Variable] | None = None) -> Tensor | None:
    """What raises FailedPreconditionError when it is run and a variable has no value.

    Of all global and local ones by default; None when there are none.
    """
    if var_list is None:
        var_list = global_variables() + local_variables()
    if not var_list:
        return None
    ranks = [output("Rank", [variable.value()]) for variable in var_list]
    return ranks[0] if len(ranks) == 1 else output("Pack", [ranks])
