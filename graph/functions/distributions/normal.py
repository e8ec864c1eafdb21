"""Normal and StudentT."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...core.build import number, ops
from ...core.dtype import as_dtype
from ...core.scopes import name_scope
from ..array.array import concat, expand_dims
from ..math.special import lbeta
from ..random import random_normal
from ..random_draws import random_gamma
from .base import FULLY_REPARAMETERIZED
from .divergence import RegisterKL
from .events import ScalarDistribution, above_one
from .location_scale import LocationScale
from .parameters import another_seed, same_floats

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike
    from .base import Count

_LIMITS = {"float32": (-10.0, 5.0), "float64": (-20.0, 8.0)}
"""Below the first an asymptotic series tells log_ndtr, beyond the second the other tail."""


def ndtr(x: Tensor) -> Tensor:
    """The standard normal distribution's probability of events up to x: erfc(-x / sqrt(2)) / 2."""
    with name_scope("ndtr", values=[x]):
        _limits(x, "handled, see docstring for supported types")
        return 0.5 * ops.Erfc(x * -math.sqrt(0.5))


def log_ndtr(x: Tensor) -> Tensor:
    """log(ndtr(x)), exact in both tails (Abramowitz and Stegun 26.2.12 in the lower one)."""
    with name_scope("log_ndtr", values=[x]):
        lower, upper = _limits(x, "supported")
        far, near = ops.Minimum(x, number(lower, x)), ops.Maximum(x, number(lower, x))
        inverse = ops.Reciprocal(ops.Square(far))
        series = 1.0 + inverse * (-1.0 + inverse * (3.0 - 15.0 * inverse))
        scale = -0.5 * ops.Square(far) - ops.Log(-far) - 0.5 * math.log(2 * math.pi)
        below = ops.SelectV2(x > lower, ops.Log(ndtr(near)), scale + ops.Log(series))
        return ops.SelectV2(x > upper, -ndtr(-x), below)


def _limits(x: Tensor, words: str) -> tuple[float, float]:
    """Those of the type of `x`; TypeError with `words` when it has none."""
    limits = _LIMITS.get(as_dtype(x.dtype).name)
    if limits is None:
        raise TypeError(f"x.dtype={as_dtype(x.dtype)!s} is not {words}.")
    return limits


class Normal(LocationScale):
    """exp(-((x - loc) / scale)^2 / 2) / (scale sqrt(2 pi)).

    Args:
        loc: The means.
        scale: The standard deviations, of the same type of floats.
        validate_args: Whether `scale` is looked at.
        allow_nan_stats: See Distribution.
        name: Before the names of operations.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        noise = random_normal(self._drawn_shape(n), dtype=self.dtype, seed=seed)
        return noise * self.scale + self.loc

    def _log_prob(self, value: Tensor) -> Tensor:
        normalization = 0.5 * math.log(2 * math.pi) + ops.Log(self.scale)
        return -0.5 * ops.Square(self._z(value)) - normalization

    def _log_cdf(self, value: Tensor) -> Tensor:
        return log_ndtr(self._z(value))

    def _cdf(self, value: Tensor) -> Tensor:
        return ndtr(self._z(value))

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return log_ndtr(-self._z(value))

    def _survival_function(self, value: Tensor) -> Tensor:
        return ndtr(-self._z(value))

    def _quantile(self, value: Tensor) -> Tensor:
        p = ops.Minimum(ops.Maximum(value, number(0, value)), number(1, value))
        return ops.Ndtri(p) * self.scale + self.loc

    def _entropy(self) -> Tensor:
        return 0.5 * math.log(2 * math.pi * math.e) + ops.Log(self._stddev())

    def _mean(self) -> Tensor:
        return self.loc * ops.OnesLike(self.scale)

    def _mode(self) -> Tensor:
        return self._mean()

    def _stddev(self) -> Tensor:
        return self.scale * ops.OnesLike(self.loc)

    def _z(self, x: Tensor) -> Tensor:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


@RegisterKL(Normal, Normal)
def _kl_normal_normal(p: Normal, q: Normal, name: str | None = None) -> Tensor:
    """(p.loc - q.loc)^2 / (2 q.scale^2) + (r - 1 - log r) / 2, r = (p.scale / q.scale)^2."""
    with name_scope(name, "kl_normal_normal", [p.loc, q.loc]):
        variance = ops.Square(q.scale)
        ratio = ops.Square(p.scale) / variance
        distance = ops.SquaredDifference(p.loc, q.loc) / (2.0 * variance)
        return distance + 0.5 * (ratio - 1.0 - ops.Log(ratio))


class StudentT(ScalarDistribution):
    """(1 + y^2 / df)^(-(df + 1) / 2) / Z, y = (x - loc) / scale.

    Args:
        df: The degrees of freedom.
        loc: The middles.
        scale: What y is counted in; all three are of one type of floats.
        validate_args: Whether `df` is looked at.
        allow_nan_stats: Whether what small degrees of freedom lack is NaN, rather than an error.
        name: Before the names of operations.
    """

    _PARAMETERS = ("df", "loc", "scale")

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as scope:
            tensors = same_floats(validate_args, (df,), df=df, loc=loc, scale=scale)
            self._df, self._loc, self._scale = tensors
        super().__init__(
            self._scale.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            tensors,
            scope,
        )

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self) -> Tensor:
        """The middles."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """What distances from the middle are counted in."""
        return self._scale

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        noise = random_normal(self._drawn_shape(n), dtype=self.dtype, seed=seed)
        df, half = self._over_batch(self.df), number(0.5, self.df)
        seed = another_seed(seed, "student_t")
        drawn = random_gamma([n], 0.5 * df, beta=half, dtype=self.dtype, seed=seed)
        return noise * ops.Rsqrt(drawn / df) * self.scale + self.loc

    def _log_prob(self, value: Tensor) -> Tensor:
        y = (value - self.loc) / self.scale
        half = 0.5 * (self.df + 1.0)
        normalization = self._log_width() + 0.5 * math.log(math.pi)
        normalization += ops.Lgamma(0.5 * self.df) - ops.Lgamma(half)
        return -half * ops.Log1p(ops.Square(y) / self.df) - normalization

    def _log_width(self) -> Tensor:
        return ops.Log(ops.Abs(self.scale)) + 0.5 * ops.Log(self.df)

    def _cdf(self, value: Tensor) -> Tensor:
        y = (value - self.loc) / ops.Abs(self.scale)
        x = self.df / (ops.Square(y) + self.df)
        tail = 0.5 * ops.Betainc(0.5 * self.df, number(0.5, x), x)
        return ops.SelectV2(y < 0.0, tail, 1.0 - tail)

    def _entropy(self) -> Tensor:
        df = expand_dims(self._over_batch(self.df), -1)
        half = 0.5 * (self.df + 1.0)
        beta = lbeta(concat([df, ops.OnesLike(df)], -1) / 2.0)
        return self._log_width() + beta + half * (ops.Digamma(half) - ops.Digamma(0.5 * self.df))

    def _mean(self) -> Tensor:
        words = "mean not defined for components of df <= 1"
        return above_one(self, self._over_batch(self.loc), {words: self.df})

    def _variance(self) -> Tensor:
        is_finite = self.df > 2.0
        denominator = ops.SelectV2(is_finite, self.df - 2.0, number(1, self.df))
        variance = self._over_batch(ops.Square(self.scale)) * self.df / denominator
        variance = ops.SelectV2(is_finite, variance, number(math.inf, variance))
        words = "variance not defined for components of df <= 1"
        return above_one(self, variance, {words: self.df})

    def _mode(self) -> Tensor:
        return ops.Identity(self.loc)
