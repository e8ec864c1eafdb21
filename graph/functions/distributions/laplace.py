"""Laplace."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ..random import random_uniform
from .location_scale import LocationScale

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike
    from .base import Count


def _log_cdf(z: Tensor) -> Tensor:
    """The logarithm of the standard distribution's probability of events up to z."""
    upper = ops.Log1p(-0.5 * ops.Exp(-ops.Abs(z)))
    return ops.SelectV2(z < 0.0, z - math.log(2), upper)


class Laplace(LocationScale):
    """exp(-|x - loc| / scale) / (2 scale).

    Args:
        loc: The means.
        scale: The widths, of the same type of floats.
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
        name: str = "Laplace",
    ):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        kind = self.dtype.dtype.type
        drawn = random_uniform(
            self._drawn_shape(n),
            minval=np.nextafter(kind(-1), kind(0)),
            maxval=kind(1),
            dtype=self.dtype,
            seed=seed,
        )
        return self.loc - self.scale * ops.Sign(drawn) * ops.Log1p(-ops.Abs(drawn))

    def _log_prob(self, value: Tensor) -> Tensor:
        return -ops.Abs(self._z(value)) - (math.log(2) + ops.Log(self.scale))

    def _log_cdf(self, value: Tensor) -> Tensor:
        return _log_cdf(self._z(value))

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return _log_cdf(-self._z(value))

    def _cdf(self, value: Tensor) -> Tensor:
        z = self._z(value)
        return 0.5 + 0.5 * ops.Sign(z) * (1.0 - ops.Exp(-ops.Abs(z)))

    def _entropy(self) -> Tensor:
        return math.log(2) + 1.0 + ops.Log(self.scale + ops.ZerosLike(self.loc))

    def _mean(self) -> Tensor:
        return self.loc + ops.ZerosLike(self.scale)

    def _mode(self) -> Tensor:
        return self._mean()

    def _stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale + ops.ZerosLike(self.loc)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale
