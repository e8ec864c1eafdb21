"""Exponential moving averages of variables and tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...graph.core.build import ops
from ...graph.core.create import convert_to_tensor
from ...graph.core.graph import Operation, Tensor
from ...graph.core.scopes import GraphKeys, control_dependencies, get_default_graph, name_scope
from ...graph.functions.flow.control_flow import group
from ...graph.variables.get_variable import get_variable
from ...graph.variables.initializers import zeros_initializer
from ...graph.variables.variable_lists import (
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from ...graph.variables.variable_scope import get_variable_scope, variable_scope
from ...graph.variables.variables import Updated, Variable
from .optimizer import FLOATS, cast
from .slots import create_slot, create_zeros_slot


class ExponentialMovingAverage:
    """Shadow variables: shadow = decay * shadow + (1 - decay) * value at each update.

    The shadow of a variable is called `<variable>/ExponentialMovingAverage` and starts with the
    variable's initial value, that of a tensor starts with zeros.

    Args:
        decay: A number near 1, or a tensor.
        num_updates: A count; the decay is then at most (1 + num_updates) / (10 + num_updates).
        zero_debias: Whether shadows of tensors are freed of what the zeros at the start do.
        name: The last part of the shadows' names.
    """

    def __init__(
        self,
        decay,
        num_updates=None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[int, tuple[Variable | Tensor, Variable]] = {}

    @property
    def name(self) -> str:
        """The last part of the shadows' names."""
        return self._name

    def apply(self, var_list: Sequence[Variable | Tensor] | None = None) -> Operation:
        """Makes shadows where there are none, and gives the operation that updates all of them.

        Args:
            var_list: Variables and tensors; all trainable variables by default.

        Raises:
            TypeError: One is not of floats.
        """
        items = list(trainable_variables() if var_list is None else var_list)
        debiased: set[int] = set()
        for item in items:
            if np.dtype(item.dtype).name not in FLOATS:
                raise TypeError(f"The variables must be half, float, or double: {item.name}")
            if id(item) not in self._averages:
                with control_dependencies(None):
                    self._averages[id(item)] = (item, self._shadow(item))
                if self._zero_debias and not isinstance(item, Variable):
                    debiased.add(id(item))
        with name_scope(self._name) as scope:
            decay = convert_to_tensor(self._decay, np.float32, name="decay")
            if self._num_updates is not None:
                count = ops.Cast(self._num_updates, DstT=np.dtype(np.float32), name="num_updates")
                decay = ops.Minimum(decay, (1.0 + count) / (10.0 + count))
            updates = [
                assign_moving_average(
                    self._averages[id(item)][1], item, decay, zero_debias=id(item) in debiased
                )
                for item in items
            ]
            return group(*updates, name=scope)

    def _shadow(self, item: Variable | Tensor) -> Variable:
        if not isinstance(item, Variable):
            return create_zeros_slot(item, self._name)
        get_default_graph().add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, item)
        return create_slot(item, item.initialized_value(), self._name)

    def average(self, var: Variable | Tensor) -> Variable | None:
        """The shadow of `var`, a variable or tensor; None when it has none."""
        pair = self._averages.get(id(var))
        return None if pair is None else pair[1]

    def average_name(self, var: Variable | Tensor) -> str:
        """The name of the shadow of `var`, also of one that is yet to be made."""
        average = self.average(var)
        if average is not None:
            return average.op.name
        graph = get_default_graph()
        return graph.unique_name(f"{var.op.name}/{self._name}", mark_as_used=False)

    def variables_to_restore(
        self, moving_avg_variables: Sequence[Variable] | None = None
    ) -> dict[str, Variable]:
        """Name in a checkpoint -> variable: the shadow's name for those that have averages.

        Args:
            moving_avg_variables: Those that take the shadow's value; all that are trainable or
                have moving averages by default.
        """
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = dict.fromkeys(moving_avg_variables)
        names = {self.average_name(variable): variable for variable in averaged}
        taken = {variable.name for variable in averaged}
        for variable in global_variables():
            if variable.name not in taken and variable.op.name not in names:
                names[variable.op.name] = variable
        return names


def assign_moving_average(
    variable: Variable,
    value,
    decay,
    zero_debias: bool = True,
    name: str | None = None,
) -> Updated:
    """The variable after variable -= (1 - decay) * (variable - value).

    With `zero_debias` two more variables hold the sum so far and the number of updates, and the
    variable is their quotient.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        decay = convert_to_tensor(decay) if isinstance(decay, Tensor) else decay
        complement = cast(convert_to_tensor(1.0 - decay, name="decay"), variable)
        value = value.read_value() if isinstance(value, Variable) else convert_to_tensor(value)
        if not zero_debias:
            return variable.assign_sub((variable.value() - value) * complement, name=scope)
        biased, steps = _debias_variables(variable)
        new_biased = biased.assign_sub((biased.value() - value) * complement)
        new_steps = steps.assign_add(np.ones((), steps.dtype))
        unbiased = new_biased / (1 - ops.Pow(1 - complement, new_steps))
        return variable.assign(unbiased, name=scope)


def _debias_variables(variable: Variable) -> tuple[Variable, Variable]:
    """The variables behind a debiased average: `biased` and `local_step`."""
    with control_dependencies(None), variable_scope(variable.op.name):
        scope = get_variable_scope()
        taken = {v.op.name for v in scope.global_variables()}

        def free(name: str) -> str:
            count, candidate = 0, name
            while f"{scope.name}/{candidate}" in taken:
                count += 1
                candidate = f"{name}_{count}"
            return candidate

        biased = get_variable(
            free("biased"),
            shape=variable.sizes,
            dtype=variable.dtype,
            initializer=zeros_initializer(),
            trainable=False,
        )
        steps = get_variable(
            free("local_step"),
            shape=[],
            dtype=variable.dtype,
            initializer=zeros_initializer(),
            trainable=False,
        )
    return biased, steps
