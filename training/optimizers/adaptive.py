"""Update rules with a rate of its own for each element: Adagrad, Adadelta, RMSProp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...graph.core.build import ops
from ...graph.core.composite.indexed_slices import IndexedSlices
from ...graph.core.create import convert_to_tensor
from ...graph.core.graph import Operation, Tensor
from ...graph.variables.initializers import Constant
from ...graph.variables.variables import Variable
from .optimizer import Optimizer, cast, hyperparameter

if TYPE_CHECKING:
    from .descent import Number


class OneOpOptimizer(Optimizer):
    """An optimizer whose update is one op `Apply<KIND>`, with a sparse form `SparseApply<KIND>`.

    `_hyperparameters` says which operands stand before and behind the gradient.
    """

    KIND: str
    SLOTS: tuple[str, ...] = ()
    HYPERPARAMETERS: tuple[tuple[str, str], ...] = ()

    def _prepare(self) -> None:
        self._tensors = {
            attribute: hyperparameter(getattr(self, attribute), name)
            for attribute, name in self.HYPERPARAMETERS
        }

    def _kind(self) -> str:
        return self.KIND

    def _slot_names(self) -> tuple[str, ...]:
        """The slots in the order of the op's operands."""
        return self.SLOTS

    def _targets(self, var: Variable) -> list[Variable]:
        """The variable and its slots."""
        slots = [self.get_slot(var, name) for name in self._slot_names()]
        return [var, *(slot for slot in slots if slot is not None)]

    def _hyperparameters(self, var: Variable) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        """Operands before the gradient, and behind it."""
        return [cast(tensor, var) for tensor in self._tensors.values()], []

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        before, behind = self._hyperparameters(var)
        return self._apply(f"Apply{self._kind()}", self._targets(var), *before, grad, *behind)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        before, behind = self._hyperparameters(var)
        rows = grad.values, grad.indices
        kind = f"SparseApply{self._kind()}"
        return self._apply(kind, self._targets(var), *before, *rows, *behind)


class AdagradOptimizer(OneOpOptimizer):
    """accumulator += gradient**2; variable -= learning_rate * gradient / sqrt(accumulator).

    The slot is called "accumulator", its variable `<variable>/Adagrad`.

    Args:
        learning_rate: A number or tensor.
        initial_accumulator_value: What the accumulators start at, positive.
        use_locking: Noted on the operations.
        name: The scope of the operations and the last part of the slots' names.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.
    """

    KIND, SLOTS = "Adagrad", ("accumulator",)
    HYPERPARAMETERS = (("_learning_rate", "learning_rate"),)

    def __init__(
        self,
        learning_rate: Number,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ):
        require_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Variable]) -> None:
        initializer = Constant(self._initial_accumulator_value)
        for variable in var_list:
            self._get_or_make_slot_with_initializer(
                variable, initializer, variable.sizes, variable.dtype, "accumulator", self._name
            )


class AdagradDAOptimizer(OneOpOptimizer):
    """Adagrad with dual averaging: a step counts the mean of all gradients so far.

    variable = -learning_rate * shrunk / (l2 * step * learning_rate + sqrt(sum of gradient**2)),
    where `shrunk` is the sum of the gradients, nearer to 0 by l1 * step. The slots are
    "gradient_accumulator" and "gradient_squared_accumulator".

    Args:
        learning_rate: A number or tensor.
        global_step: The variable that counts the steps.
        initial_gradient_squared_accumulator_value: What that sum starts at, positive.
        l1_regularization_strength, l2_regularization_strength: At least 0.
        use_locking: Noted on the operations.
        name: The scope of the operations and the last part of the slots' names.

    Raises:
        ValueError: `initial_gradient_squared_accumulator_value` is not positive.
    """

    KIND = "AdagradDA"
    SLOTS = ("gradient_accumulator", "gradient_squared_accumulator")
    HYPERPARAMETERS = (("_learning_rate", "learning_rate"),)

    def __init__(
        self,
        learning_rate: Number,
        global_step: Variable,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ):
        value = initial_gradient_squared_accumulator_value
        require_positive("initial_gradient_squared_accumulator_value", value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._global_step = global_step
        self._initial_value = value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength

    def _create_slots(self, var_list: list[Variable]) -> None:
        for variable in var_list:
            for name, value in zip(self.SLOTS, (0.0, self._initial_value), strict=True):
                self._get_or_make_slot_with_initializer(
                    variable, Constant(value), variable.sizes, variable.dtype, name, self._name
                )

    def _prepare(self) -> None:
        super()._prepare()
        step = ops.Identity(convert_to_tensor(self._global_step))
        self._next_step = ops.AddV2(step, np.ones((), step.dtype))

    def _hyperparameters(self, var: Variable) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        dtype = np.dtype(var.dtype)
        strengths = [convert_to_tensor(value, dtype) for value in (self._l1, self._l2)]
        step = self._next_step
        step = step if step.dtype == np.int64 else ops.Cast(step, DstT=np.dtype(np.int64))
        return [], [cast(self._tensors["_learning_rate"], var), *strengths, step]


class AdadeltaOptimizer(OneOpOptimizer):
    """Steps as large as the last ones, by the root of mean squares of steps over gradients.

    The slots are "accum" and "accum_update", their variables `<variable>/Adadelta` and
    `<variable>/Adadelta_1`. The paper has a learning rate of 1.

    Args:
        learning_rate: A number or tensor.
        rho: How slowly the mean squares follow.
        epsilon: Keeps the quotient finite and gets the steps going.
        use_locking: Noted on the operations.
        name: The scope of the operations and the last part of the slots' names.
    """

    KIND, SLOTS = "Adadelta", ("accum", "accum_update")
    HYPERPARAMETERS = (("_lr", "lr"), ("_rho", "rho"), ("_epsilon", "epsilon"))

    def __init__(
        self,
        learning_rate: Number = 0.001,
        rho: Number = 0.95,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ):
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _create_slots(self, var_list: list[Variable]) -> None:
        for variable in var_list:
            for name in self.SLOTS:
                self._zeros_slot(variable, name, self._name)


class RMSPropOptimizer(OneOpOptimizer):
    """Gradients over the root of their running mean square, with momentum.

    rms = decay * rms + (1 - decay) * gradient**2
    momentum_slot = momentum * momentum_slot + learning_rate * gradient / sqrt(rms + epsilon)
    variable -= momentum_slot

    Of a sparse gradient only the rows it has are touched. The slots are "rms", "momentum" and,
    where `centered`, "mg".

    Args:
        learning_rate: A number or tensor.
        decay: How slowly rms follows the gradients.
        momentum: A number or tensor.
        epsilon: Keeps the quotient finite.
        use_locking: Noted on the operations.
        centered: Whether the variance takes the place of the mean square.
        name: The scope of the operations and the last part of the slots' names.
    """

    HYPERPARAMETERS = (
        ("_learning_rate", "learning_rate"),
        ("_decay", "decay"),
        ("_momentum", "momentum"),
        ("_epsilon", "epsilon"),
    )

    def __init__(
        self,
        learning_rate: Number,
        decay: Number = 0.9,
        momentum: Number = 0.0,
        epsilon: Number = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ):
        super().__init__(use_locking, name)
        self._learning_rate, self._decay = learning_rate, decay
        self._momentum, self._epsilon = momentum, epsilon
        self._centered = centered

    def _kind(self) -> str:
        return "CenteredRMSProp" if self._centered else "RMSProp"

    def _slot_names(self) -> tuple[str, ...]:
        return ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")

    def _create_slots(self, var_list: list[Variable]) -> None:
        for variable in var_list:
            self._get_or_make_slot_with_initializer(
                variable, Constant(1.0), variable.sizes, variable.dtype, "rms", self._name
            )
            if self._centered:
                self._zeros_slot(variable, "mg", self._name)
            self._zeros_slot(variable, "momentum", self._name)


def require_positive(name: str, value: float) -> None:
    """Raises ValueError, in TensorFlow's words, unless a number is positive."""
    if value <= 0.0:
        raise ValueError(f"{name} must be positive: {value}")
