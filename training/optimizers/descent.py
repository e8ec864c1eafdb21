"""The update rules, in order of what they keep: nothing, one slot, two."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ...graph.core.build import ops
from ...graph.core.composite.indexed_slices import IndexedSlices
from ...graph.core.graph import Operation, Tensor
from ...graph.core.scopes import control_dependencies
from ...graph.functions.flow.control_flow import group
from ...graph.variables.variables import Updated, Variable
from .optimizer import Optimizer, cast, hyperparameter

Number: TypeAlias = "float | Tensor | Callable[[], float]"


class GradientDescentOptimizer(Optimizer):
    """variable -= learning_rate * gradient.

    Args:
        learning_rate: A number or tensor, such as `exponential_decay` gives.
        use_locking: Noted on the operations.
        name: The scope of the operations.
    """

    def __init__(
        self, learning_rate: Number, use_locking: bool = False, name: str = "GradientDescent"
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _prepare(self) -> None:
        self._learning_rate_tensor = hyperparameter(self._learning_rate, "learning_rate")

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        return self._apply(
            "ApplyGradientDescent", [var], cast(self._learning_rate_tensor, var), grad
        )

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Operation:
        delta = grad.values * cast(self._learning_rate_tensor, var)
        return var.scatter_sub(IndexedSlices(delta, grad.indices), self._use_locking).op

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Variable, indices: Tensor
    ) -> Operation:
        delta = -grad * cast(self._learning_rate_tensor, handle)
        return ops.ResourceScatterAdd(handle.op.outputs[0], indices, delta)


class MomentumOptimizer(Optimizer):
    """accumulation = momentum * accumulation + gradient; variable -= learning_rate * accumulation.

    Of a sparse gradient only the rows it has are touched. The slot is called "momentum", its
    variable `<variable>/Momentum`.

    Args:
        learning_rate: A number or tensor.
        momentum: A number or tensor.
        use_locking: Noted on the operations.
        name: The scope of the operations and the last part of the slots' names.
        use_nesterov: Whether the variables run ahead by momentum * accumulation.
    """

    def __init__(
        self,
        learning_rate: Number,
        momentum: Number,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: list[Variable]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = hyperparameter(self._learning_rate, "learning_rate")
        self._momentum_tensor = hyperparameter(self._momentum, "momentum")

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        return self._apply(
            "ApplyMomentum",
            [var, self._zeros_slot(var, "momentum", self._name)],
            cast(self._learning_rate_tensor, var),
            grad,
            cast(self._momentum_tensor, var),
            use_nesterov=self._use_nesterov,
        )

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        return self._apply(
            "SparseApplyMomentum",
            [var, self._zeros_slot(var, "momentum", self._name)],
            cast(self._learning_rate_tensor, var),
            grad.values,
            grad.indices,
            cast(self._momentum_tensor, var),
            use_nesterov=self._use_nesterov,
        )


class AdamOptimizer(Optimizer):
    """Adam, with epsilon outside of the correction for the first steps.

    rate = learning_rate * sqrt(1 - beta2**t) / (1 - beta1**t)
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient**2
    variable -= rate * m / (sqrt(v) + epsilon)

    A sparse gradient does what the same dense one would: m and v decay in all rows. The slots are
    "m" and "v", their variables `<variable>/Adam` and `<variable>/Adam_1`; the powers of beta1 and
    beta2 are variables too.

    Args:
        learning_rate: A number or tensor.
        beta1, beta2: How slowly m and v follow the gradients.
        epsilon: Keeps the quotient finite.
        use_locking: Noted on the operations.
        name: The scope of the operations and the last part of the slots' names.
    """

    def __init__(
        self,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon

    def _create_slots(self, var_list: list[Variable]) -> None:
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for variable in var_list:
            self._moments(variable)

    def _moments(self, var: Variable) -> tuple[Variable, Variable]:
        return self._zeros_slot(var, "m", self._name), self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = hyperparameter(self._learning_rate, "learning_rate")
        self._beta1_tensor = hyperparameter(self._beta1, "beta1")
        self._beta2_tensor = hyperparameter(self._beta2, "beta2")
        self._epsilon_tensor = hyperparameter(self._epsilon, "epsilon")

    def _powers(self, graph) -> tuple[Variable, Variable]:
        names = ("beta1_power", "beta2_power")
        first, second = (self._get_non_slot_variable(name, graph) for name in names)
        return first, second

    def _numbers(self, var: Variable) -> list[Tensor]:
        """The powers of beta1 and beta2, the learning rate, beta1, beta2 and epsilon."""
        powers = [variable.value() for variable in self._powers(var.graph)]
        others = (
            self._learning_rate_tensor,
            self._beta1_tensor,
            self._beta2_tensor,
            self._epsilon_tensor,
        )
        return [cast(tensor, var) for tensor in (*powers, *others)]

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        return self._apply("ApplyAdam", [var, *self._moments(var)], *self._numbers(var), grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        beta1_power, beta2_power, learning_rate, beta1, beta2, epsilon = self._numbers(var)
        rate = learning_rate * ops.Sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self._moments(var)
        rows = grad.values
        new_m = self._decayed(m, beta1, IndexedSlices(rows * (1 - beta1), grad.indices))
        new_v = self._decayed(v, beta2, IndexedSlices(rows * rows * (1 - beta2), grad.indices))
        step = rate * new_m / (ops.Sqrt(new_v) + epsilon)
        return group(var.assign_sub(step, self._use_locking), new_m, new_v)

    def _decayed(self, mean: Variable, beta: Tensor, rows: IndexedSlices) -> Updated:
        """A running mean after its decay and the addition of rows."""
        decay = mean.assign(mean.value() * beta, self._use_locking)
        with control_dependencies([decay]):
            return mean.scatter_add(rows, self._use_locking)

    def _finish(self, update_ops: list, name_scope: str) -> Operation:
        """The powers change when all updates have used them."""
        graph = update_ops[0].graph
        betas = self._beta1_tensor, self._beta2_tensor
        with control_dependencies(update_ops):
            powers = [
                variable.assign(variable.value() * cast(beta, variable), self._use_locking)
                for variable, beta in zip(self._powers(graph), betas, strict=True)
            ]
        return group(*update_ops, *powers, name=name_scope)
