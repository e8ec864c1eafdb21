"""Update rules that keep weights at 0: FTRL-proximal, proximal gradient descent and Adagrad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...graph.core.build import ops
from ...graph.core.create import convert_to_tensor
from ...graph.core.graph import Tensor
from ...graph.core.scopes import name_scope
from ...graph.variables.initializers import Constant
from ...graph.variables.variables import Variable
from .adaptive import OneOpOptimizer, require_positive
from .optimizer import cast

if TYPE_CHECKING:
    from .descent import Number

_SMALLEST_RATE = 1e-36


class FtrlOptimizer(OneOpOptimizer):
    """Follow the regularized leader, proximal: weights that l1 takes to 0 are exactly 0.

    The slots are "accum" and "linear", their variables `<variable>/Ftrl` and `<variable>/Ftrl_1`.

    Args:
        learning_rate: A number or tensor.
        learning_rate_power: At most 0: the sum of gradient**2 to this power scales the rate.
        initial_accumulator_value: What that sum starts at, at least 0.
        l1_regularization_strength, l2_regularization_strength: At least 0.
        use_locking: Noted on the operations.
        name: The scope of the operations and the last part of the slots' names.
        accum_name, linear_name: Names of the slots in place of `name`.
        l2_shrinkage_regularization_strength: At least 0; acts on the gradient.
        beta: A number that is added, over twice the rate, to the l2 strength.

    Raises:
        ValueError: A number is out of its range.
    """

    SLOTS = ("accum", "linear")

    def __init__(
        self,
        learning_rate: Number,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ):
        super().__init__(use_locking, name)
        for label, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        ):
            if value < 0.0:
                raise ValueError(f"{label} {value:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or zero"
            )
        self._learning_rate, self._learning_rate_power = learning_rate, learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage = l2_shrinkage_regularization_strength
        self._beta = 0.0 if beta is None else beta
        self._accum_name, self._linear_name = accum_name, linear_name

    def _kind(self) -> str:
        return "FtrlV2" if self._shrinkage > 0.0 else "Ftrl"

    def _create_slots(self, var_list: list[Variable]) -> None:
        initializer = Constant(self._initial_accumulator_value)
        for variable in var_list:
            self._get_or_make_slot_with_initializer(
                variable,
                initializer,
                variable.sizes,
                variable.dtype,
                "accum",
                self._accum_name or self._name,
            )
            self._zeros_slot(variable, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        rate = self._learning_rate() if callable(self._learning_rate) else self._learning_rate
        adjusted = self._l2
        if isinstance(rate, Tensor):
            with name_scope("adjusted_l2"):
                adjusted = self._l2 + self._beta / (2.0 * ops.Maximum(rate, _SMALLEST_RATE))
        elif self._beta:
            adjusted = self._l2 + self._beta / (2.0 * max(rate, _SMALLEST_RATE))
        values = [
            (rate, "learning_rate"),
            (self._l1, "l1_regularization_strength"),
            (adjusted, "adjusted_l2_regularization_strength"),
        ]
        if self._shrinkage > 0.0:
            values.append((self._shrinkage, "l2_shrinkage_regularization_strength"))
        values.append((self._learning_rate_power, "learning_rate_power"))
        self._tensors = {name: convert_to_tensor(value, name=name) for value, name in values}

    def _hyperparameters(self, var: Variable) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        return [], [cast(tensor, var) for tensor in self._tensors.values()]


class ProximalGradientDescentOptimizer(OneOpOptimizer):
    """Gradient descent whose result comes nearer to 0 by l1 * rate, over 1 + l2 * rate.

    Args:
        learning_rate: A number or tensor.
        l1_regularization_strength, l2_regularization_strength: At least 0.
        use_locking: Noted on the operations.
        name: The scope of the operations.
    """

    KIND = "ProximalGradientDescent"
    HYPERPARAMETERS = (
        ("_learning_rate", "learning_rate"),
        ("_l1", "l1_regularization_strength"),
        ("_l2", "l2_regularization_strength"),
    )

    def __init__(
        self,
        learning_rate: Number,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength


class ProximalAdagradOptimizer(OneOpOptimizer):
    """Proximal gradient descent with learning_rate / sqrt(accumulator) as the rate.

    The slot is called "accumulator", its variable `<variable>/ProximalAdagrad`.

    Args:
        learning_rate: A number or tensor.
        initial_accumulator_value: What the accumulators start at, positive.
        l1_regularization_strength, l2_regularization_strength: At least 0.
        use_locking: Noted on the operations.
        name: The scope of the operations and the last part of the slots' names.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.
    """

    KIND, SLOTS = "ProximalAdagrad", ("accumulator",)
    HYPERPARAMETERS = ProximalGradientDescentOptimizer.HYPERPARAMETERS

    def __init__(
        self,
        learning_rate: Number,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ):
        require_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _create_slots(self, var_list: list[Variable]) -> None:
        initializer = Constant(self._initial_accumulator_value)
        for variable in var_list:
            self._get_or_make_slot_with_initializer(
                variable, initializer, variable.sizes, variable.dtype, "accumulator", self._name
            )
