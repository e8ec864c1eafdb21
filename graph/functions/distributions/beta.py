"""Beta and Dirichlet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import number, ops
from ...core.create import convert_to_tensor
from ...core.scopes import name_scope
from ..array.array import expand_dims
from ..array.casting import cast
from ..checks import assert_less, assert_near, assert_positive
from ..flow.control_flow import with_dependencies
from ..math.reductions import reduce_all, reduce_sum
from ..math.special import lbeta
from ..random_draws import random_gamma
from ..shape_checks import assert_rank_at_least, assert_same_float_dtype
from .base import FULLY_REPARAMETERIZED
from .divergence import RegisterKL
from .events import ScalarDistribution, VectorDistribution, above_one
from .parameters import another_seed, positive_concentration

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike
    from .base import Count


class Beta(ScalarDistribution):
    """x^(concentration1 - 1) (1 - x)^(concentration0 - 1) / Beta(...), 0 < x < 1.

    Args:
        concentration1, concentration0: Of successes and failures, of one type of floats.
        validate_args: Whether both, and values, are looked at.
        allow_nan_stats: Whether modes for concentrations up to 1 are NaN, rather than an error.
        name: Before the names of operations.
    """

    _PARAMETERS = ("concentration1", "concentration0")

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as scope:
            one = convert_to_tensor(concentration1, name="concentration1")
            zero = convert_to_tensor(concentration0, name="concentration0")
            self._concentration1 = positive_concentration(one, validate_args)
            self._concentration0 = positive_concentration(zero, validate_args)
            assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        super().__init__(
            self._total_concentration.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._concentration1, self._concentration0, self._total_concentration],
            scope,
        )

    @property
    def concentration1(self) -> Tensor:
        """Of successes."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """Of failures."""
        return self._concentration0

    @property
    def total_concentration(self) -> Tensor:
        """The sum of both."""
        return self._total_concentration

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        ones = ops.OnesLike(self.total_concentration)
        seeds = seed, another_seed(seed, "beta")
        x, y = (
            random_gamma([n], ones * concentration, dtype=self.dtype, seed=op_seed)
            for concentration, op_seed in zip(
                (self.concentration1, self.concentration0), seeds, strict=True
            )
        )
        return x / (x + y)

    def _log_prob(self, value: Tensor) -> Tensor:
        x = self._checked(value)
        successes = ops.Xlogy(self.concentration1 - 1.0, x)
        failures = (self.concentration0 - 1.0) * ops.Log1p(-x)
        return successes + failures - self._log_normalization()

    def _cdf(self, value: Tensor) -> Tensor:
        return ops.Betainc(self.concentration1, self.concentration0, value)

    def _log_normalization(self) -> Tensor:
        """log Beta(concentration1, concentration0)"""
        logs = ops.Lgamma(self.concentration1) + ops.Lgamma(self.concentration0)
        return logs - ops.Lgamma(self.total_concentration)

    def _entropy(self) -> Tensor:
        one, zero, total = self.concentration1, self.concentration0, self.total_concentration
        return (
            self._log_normalization()
            - (one - 1.0) * ops.Digamma(one)
            - (zero - 1.0) * ops.Digamma(zero)
            + (total - 2.0) * ops.Digamma(total)
        )

    def _mean(self) -> Tensor:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Tensor:
        mean = self._mean()
        return mean * (1.0 - mean) / (1.0 + self.total_concentration)

    def _mode(self) -> Tensor:
        mode = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        parameters = {
            "Mode undefined for concentration1 <= 1.": self.concentration1,
            "Mode undefined for concentration0 <= 1.": self.concentration0,
        }
        return above_one(self, mode, parameters)

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        checks = [
            assert_positive(x, message="sample must be positive"),
            assert_less(x, number(1, x), message="sample must be less than `1`."),
        ]
        return with_dependencies(checks, x)


@RegisterKL(Beta, Beta)
def _kl_beta_beta(p: Beta, q: Beta, name: str | None = None) -> Tensor:
    pairs = [
        (p.concentration1, q.concentration1),
        (p.concentration0, q.concentration0),
        (p.total_concentration, q.total_concentration),
    ]
    with name_scope(name, "kl_beta_beta", [tensor for pair in pairs for tensor in pair]):
        one, zero, total = (ops.Digamma(of_p) * (of_q - of_p) for of_p, of_q in pairs)
        return q._log_normalization() - p._log_normalization() - one - zero + total


class Dirichlet(VectorDistribution):
    """prod(x^(concentration - 1)) / Beta(concentration), over the simplex sum(x) = 1.

    Args:
        concentration: [*batch, k], floats.
        validate_args: Whether they, and values, are looked at.
        allow_nan_stats: Whether modes for concentrations up to 1 are NaN, rather than an error.
        name: Before the names of operations.
    """

    def __init__(
        self,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration]) as scope:
            tensor = convert_to_tensor(concentration, name="concentration")
            self._whole = _several(tensor) if validate_args else tensor
            self._total_concentration = reduce_sum(self._whole, -1)
        super().__init__(
            self._whole.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._whole, self._total_concentration],
            scope,
        )

    @property
    def concentration(self) -> Tensor:
        """[*batch, k]"""
        return self._whole

    @property
    def total_concentration(self) -> Tensor:
        """[*batch]: their sum."""
        return self._total_concentration

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        drawn = random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        return drawn / reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, value: Tensor) -> Tensor:
        x = self._checked(value)
        logs = reduce_sum(ops.Xlogy(self.concentration - 1.0, x), -1)
        return logs - lbeta(self.concentration)

    def _entropy(self) -> Tensor:
        total = self.total_concentration
        parts = (self.concentration - 1.0) * ops.Digamma(self.concentration)
        whole = (total - self._n_classes()) * ops.Digamma(total)
        return lbeta(self.concentration) + whole - reduce_sum(parts, -1)

    def _mean(self) -> Tensor:
        return self.concentration / expand_dims(self.total_concentration, -1)

    def _covariance(self) -> Tensor:
        x = self._variance_scale() * self._mean()
        return self._outer_covariance(x, x)

    def _variance(self) -> Tensor:
        scale = self._variance_scale()
        x = scale * self._mean()
        return x * (scale - x)

    def _variance_scale(self) -> Tensor:
        return ops.Rsqrt(1.0 + expand_dims(self.total_concentration, -1))

    def _mode(self) -> Tensor:
        denominator = expand_dims(self.total_concentration, -1) - self._n_classes()
        defined = reduce_all(self.concentration > 1.0, axis=-1, keepdims=True)
        words = {"Mode undefined when any concentration <= 1": self.concentration}
        return above_one(self, (self.concentration - 1.0) / denominator, words, defined)

    def _n_classes(self) -> Tensor:
        return cast(self.event_shape_tensor()[0], self.dtype)

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        words = "sample last-dimension must sum to `1`"
        checks = [
            assert_positive(x, message="samples must be positive"),
            assert_near(number(1, x), reduce_sum(x, -1), message=words),
        ]
        return with_dependencies(checks, x)


def _several(concentration: Tensor) -> Tensor:
    """`concentration`, when it is positive and there are two or more."""
    flat = "Concentration parameter must have >=1 dimensions."
    few = "Concentration parameter must have event_size >= 2."
    checks = [
        assert_positive(concentration, message="Concentration parameter must be positive."),
        assert_rank_at_least(concentration, 1, message=flat),
        assert_less(np.int32(1), ops.Shape(concentration)[-1], message=few),
    ]
    return with_dependencies(checks, concentration)


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(p: Dirichlet, q: Dirichlet, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_dirichlet_dirichlet", [p.concentration, q.concentration]):
        total = reduce_sum(p.concentration, -1, keepdims=True)
        logs = ops.Digamma(p.concentration) - ops.Digamma(total)
        expected = reduce_sum((p.concentration - q.concentration) * logs, -1)
        return expected - lbeta(p.concentration) + lbeta(q.concentration)
