"""Multinomial and DirichletMultinomial."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import cast as cast_type

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.scopes import name_scope
from ..array.array import concat, expand_dims
from ..array.casting import cast
from ..array.creation import one_hot
from ..flow.functional import map_fn
from ..math.reductions import reduce_sum
from ..math.special import lbeta
from ..random_draws import multinomial, random_gamma
from .base import NOT_REPARAMETERIZED
from .events import VectorDistribution
from .parameters import (
    another_seed,
    classes,
    counts,
    counts_of,
    log_combinations,
    logits_and_probs,
    positive_concentration,
)

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike
    from .base import Count


def _total(total_count: TensorLike, validate_args: bool) -> Tensor:
    total = convert_to_tensor(total_count, name="total_count")
    return counts(total) if validate_args else total


class Multinomial(VectorDistribution):
    """How often each class comes among `total_count` draws.

    Args:
        total_count: [*batch], floats.
        logits: [*batch, classes], logarithms of what the probabilities are proportional to; or
        probs: [*batch, classes], of the type of `total_count`.
        validate_args: Whether parameters, and values, are looked at.
        allow_nan_stats: See Distribution.
        name: Before the names of operations.

    Raises ValueError unless one of the two is there.
    """

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as scope:
            self._total_count = _total(total_count, validate_args)
            both = logits_and_probs(logits, probs, validate_args, scope, of_classes=True)
            self._logits, self._probs = both
            self._whole = expand_dims(self._total_count, -1) * self._probs
        super().__init__(
            self._probs.dtype,
            NOT_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._total_count, self._logits, self._probs],
            scope,
        )

    @property
    def total_count(self) -> Tensor:
        """[*batch]: the numbers of draws."""
        return self._total_count

    @property
    def logits(self) -> Tensor:
        """[*batch, classes]"""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """[*batch, classes]"""
        return self._probs

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        k = self.event_shape_tensor()[0]
        n_draws = cast(self.total_count, np.int32)
        n_draws = cast(ops.OnesLike(self.logits[..., 0]), np.int32) * n_draws
        logits = cast(expand_dims(ops.OnesLike(n_draws), -1), self.logits.dtype) * self.logits

        def draw(row: tuple[Tensor, Tensor]) -> Tensor:
            row_logits, row_draws = row
            drawn = multinomial(expand_dims(row_logits, 0), row_draws, seed)
            positions = one_hot(ops.Reshape(drawn, [n, -1]), k, dtype=self.dtype)
            return reduce_sum(positions, -2)

        rows = [ops.Reshape(logits, [-1, k]), n * ops.Reshape(n_draws, [-1])]
        drawn = cast_type("Tensor", map_fn(draw, rows, dtype=self.dtype))
        drawn = ops.Transpose(drawn, np.array([1, 0, 2], np.int32))
        return ops.Reshape(drawn, concat([[n], self.batch_shape_tensor(), [k]], 0))

    def _log_prob(self, value: Tensor) -> Tensor:
        x = self._checked(value)
        logs = reduce_sum(x * ops.LogSoftmax(self.logits), -1)
        return logs + log_combinations(self.total_count, x)

    def _mean(self) -> Tensor:
        return ops.Identity(self._whole)

    def _covariance(self) -> Tensor:
        return self._outer_covariance(self._whole, self._batch_probs())

    def _variance(self) -> Tensor:
        return self._whole - self._whole * self._batch_probs()

    def _batch_probs(self) -> Tensor:
        return self.probs * expand_dims(ops.OnesLike(self.total_count), -1)

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        return counts_of(x, self.total_count, "counts must sum to `self.total_count`")


class DirichletMultinomial(VectorDistribution):
    """How often each class comes among draws whose probabilities are a Dirichlet's.

    Args:
        total_count: [*batch], floats.
        concentration: [*batch, classes], of the same type.
        validate_args: Whether both, and values, are looked at.
        allow_nan_stats: See Distribution.
        name: Before the names of operations.
    """

    def __init__(
        self,
        total_count: TensorLike,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as scope:
            self._total_count = _total(total_count, validate_args)
            tensor = convert_to_tensor(concentration, name="concentration")
            tensor = classes(tensor) if validate_args else tensor
            self._whole = positive_concentration(tensor, validate_args)
            self._total_concentration = reduce_sum(self._whole, -1)
        super().__init__(
            self._whole.dtype,
            NOT_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._total_count, self._whole],
            scope,
        )

    @property
    def total_count(self) -> Tensor:
        """[*batch]: the numbers of draws."""
        return self._total_count

    @property
    def concentration(self) -> Tensor:
        """[*batch, classes]"""
        return self._whole

    @property
    def total_concentration(self) -> Tensor:
        """[*batch]: their sum."""
        return self._total_concentration

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        k = self.event_shape_tensor()[0]
        drawn = random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        logits = ops.Reshape(ops.Log(drawn), [-1, k])
        n_draws = cast(self.total_count, np.int32)
        chosen = multinomial(logits, n_draws, another_seed(seed, "dirichlet_multinomial"))
        numbers = reduce_sum(one_hot(chosen, k, dtype=self.dtype), -2)
        return ops.Reshape(numbers, concat([[n], self.batch_shape_tensor(), [k]], 0))

    def _log_prob(self, value: Tensor) -> Tensor:
        x = self._checked(value)
        ordered = lbeta(self.concentration + x) - lbeta(self.concentration)
        return ordered + log_combinations(self.total_count, x)

    def _mean(self) -> Tensor:
        parts = self.concentration / expand_dims(self.total_concentration, -1)
        return self.total_count * parts

    def _covariance(self) -> Tensor:
        x = self._variance_scale() * self._mean()
        return self._outer_covariance(x, x)

    def _variance(self) -> Tensor:
        scale = self._variance_scale()
        x = scale * self._mean()
        return x * (self.total_count * scale - x)

    def _variance_scale(self) -> Tensor:
        total = expand_dims(self.total_concentration, -1)
        return ops.Sqrt((1.0 + total / self.total_count) / (1.0 + total))

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        words = "counts last-dimension must sum to `self.total_count`"
        return counts_of(x, self.total_count, words)
