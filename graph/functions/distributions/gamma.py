"""Gamma and Exponential."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.scopes import name_scope
from ..array.array import concat
from ..checks import assert_positive
from ..flow.control_flow import with_dependencies
from ..random import random_uniform
from ..random_draws import random_gamma
from ..shape_checks import assert_same_float_dtype
from .base import FULLY_REPARAMETERIZED
from .divergence import RegisterKL
from .events import ScalarDistribution, above_one
from .parameters import same_floats

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike
    from .base import Count


class Gamma(ScalarDistribution):
    """x^(concentration - 1) exp(-rate x) rate^concentration / Gamma(concentration), x > 0.

    Args:
        concentration: The shape parameters.
        rate: The inverse scales, of the same type of floats.
        validate_args: Whether both, and values, are looked at.
        allow_nan_stats: Whether modes for concentrations up to 1 are NaN, rather than an error.
        name: Before the names of operations.
    """

    _PARAMETERS = ("concentration", "rate")

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as scope:
            self._concentration, self._rate = same_floats(
                validate_args, (concentration, rate), concentration=concentration, rate=rate
            )
        super().__init__(
            self._concentration.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._concentration, self._rate],
            scope,
        )

    @property
    def concentration(self) -> Tensor:
        """The shape parameters."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The inverse scales."""
        return self._rate

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        return random_gamma([n], self.concentration, self.rate, self.dtype, seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        x = self._checked(value)
        unnormalized = ops.Xlogy(self.concentration - 1.0, x) - self.rate * x
        logs = self.concentration * ops.Log(self.rate)
        return unnormalized - (ops.Lgamma(self.concentration) - logs)

    def _cdf(self, value: Tensor) -> Tensor:
        return ops.Igamma(self.concentration, self.rate * self._checked(value))

    def _entropy(self) -> Tensor:
        c = self.concentration
        return c - ops.Log(self.rate) + ops.Lgamma(c) + (1.0 - c) * ops.Digamma(c)

    def _mean(self) -> Tensor:
        return self.concentration / self.rate

    def _variance(self) -> Tensor:
        return self.concentration / ops.Square(self.rate)

    def _stddev(self) -> Tensor:
        return ops.Sqrt(self.concentration) / self.rate

    def _mode(self) -> Tensor:
        words = "mode not defined when any concentration <= 1"
        mode = (self.concentration - 1.0) / self.rate
        return above_one(self, mode, {words: self.concentration})

    def _checked(self, x: Tensor) -> Tensor:
        assert_same_float_dtype([x], self.dtype)
        return with_dependencies([assert_positive(x)], x) if self.validate_args else x


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(p: Gamma, q: Gamma, name: str | None = None) -> Tensor:
    values = [p.concentration, p.rate, q.concentration, q.rate]
    with name_scope(name, "kl_gamma_gamma", values):
        return (
            (p.concentration - q.concentration) * ops.Digamma(p.concentration)
            + (ops.Lgamma(q.concentration) - ops.Lgamma(p.concentration))
            + q.concentration * (ops.Log(p.rate) - ops.Log(q.rate))
            + p.concentration * (q.rate / p.rate - 1.0)
        )


class Exponential(Gamma):
    """rate exp(-rate x), x > 0: the gamma distribution of concentration 1.

    Args:
        rate: The inverse scales, floats.
        validate_args: Whether they, and values, are looked at.
        allow_nan_stats: Whether modes are NaN, rather than an error.
        name: Before the names of operations.
    """

    _PARAMETERS = ("rate",)

    def __init__(
        self,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as scope:
            rates = convert_to_tensor(rate, name="rate")
        one = np.ones((), rates.dtype)
        super().__init__(one, rates, validate_args, allow_nan_stats, scope)
        self._parameters = parameters

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        shape = concat([[n], ops.Shape(self.rate)], 0)
        tiny, one = np.finfo(self.dtype.dtype).tiny, np.ones((), self.dtype.dtype)
        drawn = random_uniform(shape, minval=tiny, maxval=one, dtype=self.dtype, seed=seed)
        return -ops.Log(drawn) / self.rate

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return self._log_prob(value) - ops.Log(self.rate)
