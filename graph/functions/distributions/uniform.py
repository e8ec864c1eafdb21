"""Uniform."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...core.build import number, ops
from ...core.scopes import control_dependencies, name_scope
from ..checks import assert_less
from ..random import random_uniform
from .base import FULLY_REPARAMETERIZED
from .events import ScalarDistribution
from .parameters import same_floats

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike
    from .base import Count


class Uniform(ScalarDistribution):
    """1 / (high - low) in [low, high).

    Args:
        low, high: The limits, of one type of floats.
        validate_args: Whether low < high is looked at.
        allow_nan_stats: See Distribution.
        name: Before the names of operations.
    """

    _PARAMETERS = ("low", "high")

    def __init__(
        self,
        low: TensorLike = 0.0,
        high: TensorLike = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as scope:
            words = "uniform not defined when low >= high."
            checks = [assert_less(low, high, message=words)] if validate_args else []
            with control_dependencies(checks):
                self._low, self._high = same_floats(validate_args, low=low, high=high)
        super().__init__(
            self._low.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._low, self._high],
            scope,
        )

    @property
    def low(self) -> Tensor:
        """The lower limits, which can be drawn."""
        return self._low

    @property
    def high(self) -> Tensor:
        """The upper limits, which cannot."""
        return self._high

    def range(self, name: str = "range") -> Tensor:
        """high - low"""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        drawn = random_uniform(self._drawn_shape(n), dtype=self.dtype, seed=seed)
        return self.low + self.range() * drawn

    def _prob(self, value: Tensor) -> Tensor:
        x = self._over_batch(value)
        is_outside = ops.LogicalOr(x < self.low, x >= self.high)
        density = ops.SelectV2(is_outside, ops.ZerosLike(x), ops.OnesLike(x) / self.range())
        return ops.SelectV2(ops.IsNan(x), x, density)

    def _cdf(self, value: Tensor) -> Tensor:
        x = self._over_batch(value)
        part = ops.SelectV2(x < self.low, number(0, x), (x - self.low) / self.range())
        return ops.SelectV2(x >= self.high, number(1, x), part)

    def _entropy(self) -> Tensor:
        return ops.Log(self.range())

    def _mean(self) -> Tensor:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Tensor:
        return ops.Square(self.range()) / 12.0

    def _stddev(self) -> Tensor:
        return self.range() / math.sqrt(12)
