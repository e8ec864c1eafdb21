"""Scales of losses, which keep the gradients of 16-bit floats from becoming 0."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...graph.core.build import ops
from ...graph.core.composite.indexed_slices import IndexedSlices
from ...graph.core.composite.structure import flatten
from ...graph.core.create import convert_to_tensor
from ...graph.core.graph import Operation, Tensor
from ...graph.functions.flow.conditional import cond
from ...graph.functions.flow.control_flow import group, no_op
from ...graph.functions.math.reductions import reduce_all
from ...graph.variables.variables import Variable
from ..checkpoints.object_graph import Trackable

if TYPE_CHECKING:
    from ...graph.derivatives.registry import Gradient


class LossScale(Trackable, abc.ABC):
    """A number the loss is multiplied by before gradients are taken, and these are divided by.

    A subclass says what it is (`__call__`), what becomes of it after each step (`update`) and how
    it is made again (`get_config`).
    """

    @abc.abstractmethod
    def __call__(self) -> Tensor:
        """The scale, a float32 number."""

    @abc.abstractmethod
    def update(self, grads: Iterable[Gradient | None]) -> tuple[Operation, Tensor | bool]:
        """The operation that changes the scale, and whether the step is to be made.

        Args:
            grads: Those of the loss itself, divided by the scale; None is left out.
        """

    @abc.abstractmethod
    def get_config(self) -> dict[str, float]:
        """The arguments that make another one like this."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> LossScale:
        """One of these arguments."""
        return cls(**config)

    def weights(self) -> list[Variable]:
        """The variables it keeps."""
        return [cast("Variable", item) for item in self._references.values()]


class FixedLossScale(LossScale):
    """Always the same scale.

    Args:
        loss_scale_value: A number of 1 or more.

    Raises:
        ValueError: It is no number, or below 1.
    """

    def __init__(self, loss_scale_value: float):
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Tensor:
        """The scale, a float32 number."""
        return convert_to_tensor(np.float32(self._loss_scale_value))

    def update(self, grads: Iterable[Gradient | None]) -> tuple[Operation, bool]:
        """An operation that does nothing, and True: every step is to be made."""
        return no_op(), True

    def get_config(self) -> dict[str, float]:
        """The arguments that make another one like this."""
        return {"loss_scale_value": self._loss_scale_value}

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"


class DynamicLossScale(LossScale):
    """A scale as large as gradients stay finite with.

    It grows after so many steps of finite gradients; a step whose gradients are not is left out,
    and the scale shrinks, to 1 at least.

    Args:
        initial_loss_scale: At the beginning.
        increment_period: After how many good steps it grows.
        multiplier: By what it grows and shrinks.
    """

    def __init__(
        self,
        initial_loss_scale: float = 2**15,
        increment_period: int = 2000,
        multiplier: float = 2.0,
    ):
        super().__init__()
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self.current_loss_scale = _weight(
            "current_loss_scale", np.float32(self._initial_loss_scale)
        )
        self.good_steps = _weight("good_steps", np.int64(0))

    @property
    def initial_loss_scale(self) -> float:
        """The scale at the beginning."""
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        """After how many good steps it grows."""
        return self._increment_period

    @property
    def multiplier(self) -> float:
        """By what it grows and shrinks."""
        return self._multiplier

    def __call__(self) -> Tensor:
        """The scale, a float32 number."""
        return convert_to_tensor(self.current_loss_scale)

    def update(self, grads: Iterable[Gradient | None]) -> tuple[Operation, Tensor]:
        """The change of the scale, and whether all gradients are finite."""
        is_finite = _are_finite(flatten(list(grads)))
        changed = cond(is_finite, self._after_good_step, self._after_bad_step)
        return cast("Operation", changed), is_finite

    def _after_good_step(self) -> Operation:
        steps = self.good_steps.read_value() + np.int64(1)
        is_due = ops.GreaterEqual(steps, np.int64(self._increment_period))
        grown = self.current_loss_scale.read_value() * np.float32(self._multiplier)
        grows = ops.LogicalAnd(is_due, ops.IsFinite(grown))
        scale = ops.SelectV2(grows, grown, self.current_loss_scale.read_value())
        counted = ops.SelectV2(is_due, np.int64(0), steps)
        return group(self.current_loss_scale.assign(scale), self.good_steps.assign(counted))

    def _after_bad_step(self) -> Operation:
        less = self.current_loss_scale.read_value() / np.float32(self._multiplier)
        scale = ops.Maximum(less, np.float32(1))
        return group(self.good_steps.assign(np.int64(0)), self.current_loss_scale.assign(scale))

    def get_config(self) -> dict[str, float]:
        """The arguments that make another one like this."""
        return {
            "initial_loss_scale": self._initial_loss_scale,
            "increment_period": self._increment_period,
            "multiplier": self._multiplier,
        }

    def __repr__(self) -> str:
        return (
            f"DynamicLossScale(initial_loss_scale={self._initial_loss_scale}, "
            f"increment_period={self._increment_period}, multiplier={self._multiplier})"
        )


def _weight(name: str, value: np.generic) -> Variable:
    return Variable(value, name=name, trainable=False, use_resource=True)


def _are_finite(grads: Iterable[object]) -> Tensor:
    """Whether all numbers of all gradients are finite."""
    values = [g.values if isinstance(g, IndexedSlices) else g for g in grads if g is not None]
    parts = [reduce_all(ops.IsFinite(cast("Tensor", value))) for value in values]
    return reduce_all(ops.Pack(parts)) if parts else convert_to_tensor(True)


def loss_scale_of(identifier: float | str | LossScale) -> LossScale:
    """The scale that a number, "dynamic" or a scale stands for; ValueError for anything else."""
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    if isinstance(identifier, LossScale):
        return identifier
    if identifier == "dynamic":
        return DynamicLossScale()
    if identifier is None:
        raise ValueError("loss_scale cannot be None")
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")
