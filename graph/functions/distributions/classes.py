"""Bernoulli and Categorical."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.dtype import as_dtype
from ...core.scopes import name_scope
from ...core.shapes import is_static
from ...core.tensor_shape import TensorShape
from ..array.array import concat, expand_dims, sequence_mask
from ..array.casting import cast
from ..math.reductions import argmax, reduce_sum
from ..nn.losses import (
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from ..random import random_uniform
from ..random_draws import multinomial
from .base import NOT_REPARAMETERIZED, Distribution
from .divergence import RegisterKL
from .events import ScalarDistribution
from .parameters import classes, logits_and_probs, whole_numbers

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import DTypeLike, TensorLike
    from .base import Count


class Bernoulli(ScalarDistribution):
    """probs for 1, 1 - probs for 0.

    Args:
        logits: log(p / (1 - p)); or else
        probs: p.
        dtype: Of events.
        validate_args: Whether `probs`, and values, are looked at.
        allow_nan_stats: See Distribution.
        name: Before the names of operations.

    Raises ValueError unless one of the two is there.
    """

    _PARAMETERS = ("logits",)

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = np.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ):
        parameters = dict(locals())
        with name_scope(name) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, validate_args, scope)
        super().__init__(
            dtype,
            NOT_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._logits, self._probs],
            scope,
        )

    @property
    def logits(self) -> Tensor:
        """log(p / (1 - p))"""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """Of 1."""
        return self._probs

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        drawn = random_uniform(self._drawn_shape(n), dtype=self.probs.dtype, seed=seed)
        return cast(drawn < self.probs, self.dtype)

    def _log_prob(self, value: Tensor) -> Tensor:
        x = whole_numbers(value, np.bool_) if self.validate_args else value
        x, logits = cast(x, self.logits.dtype), self.logits
        if not is_static(x.sizes) or x.sizes != logits.sizes:
            x, logits = ops.OnesLike(logits) * x, ops.OnesLike(x) * logits
        return -sigmoid_cross_entropy_with_logits(labels=x, logits=logits)

    def _entropy(self) -> Tensor:
        return self.logits * (1.0 - ops.Sigmoid(self.logits)) + ops.Softplus(-self.logits)

    def _mean(self) -> Tensor:
        return ops.Identity(self.probs)

    def _variance(self) -> Tensor:
        return self.probs * (1.0 - self.probs)

    def _mode(self) -> Tensor:
        return cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(p: Bernoulli, q: Bernoulli, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_bernoulli_bernoulli", [p.logits, q.logits]):
        ones = ops.Softplus(-q.logits) - ops.Softplus(-p.logits)
        zeros = ops.Softplus(q.logits) - ops.Softplus(p.logits)
        return ops.Sigmoid(p.logits) * ones + ops.Sigmoid(-p.logits) * zeros


class Categorical(Distribution):
    """probs[..., k] for the class k.

    Args:
        logits: [*batch, classes], logarithms of what the probabilities are proportional to; or
        probs: [*batch, classes].
        dtype: Of events.
        validate_args: Whether parameters, and values, are looked at.
        allow_nan_stats: See Distribution.
        name: Before the names of operations.

    Raises ValueError unless one of the two is there, for scalars, and, with `validate_args`, for
    fewer than two classes.
    """

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = np.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as scope:
            both = logits_and_probs(logits, probs, validate_args, scope, of_classes=True)
            self._logits, self._probs = both
            if validate_args:
                self._logits = classes(self._logits)
            known = self._logits.get_shape().with_rank_at_least(1)
            sizes = ops.Shape(self._logits, name="logits_shape")
            n_classes = None if known.ndims is None else known.as_list()[-1]
            self._event_size = (
                sizes[-1] if n_classes is None else convert_to_tensor(n_classes, name="event_size")
            )
            self._batch_sizes = sizes[:-1]
        super().__init__(
            dtype,
            NOT_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._logits, self._probs],
            scope,
        )

    @property
    def event_size(self) -> Tensor:
        """The number of classes."""
        return self._event_size

    @property
    def logits(self) -> Tensor:
        """[*batch, classes]"""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """[*batch, classes]"""
        return self._probs

    def _batch_shape(self) -> TensorShape:
        return self.logits.get_shape()[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return ops.Identity(self._batch_sizes)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor(np.array([], np.int32))

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        rows = ops.Reshape(self.logits, [-1, self.event_size])
        kind = np.int64 if self.dtype.size > 4 else np.int32
        drawn = multinomial(rows, n, seed=seed, output_dtype=kind)
        shape = concat([[n], self.batch_shape_tensor()], 0)
        return cast(
            ops.Reshape(ops.Transpose(drawn, np.array([1, 0], np.int32)), shape), self.dtype
        )

    def _cdf(self, value: Tensor) -> Tensor:
        k, probs = self._together(value, self.probs)
        is_below = sequence_mask(k, self.event_size)
        return reduce_sum(ops.SelectV2(is_below, probs, ops.ZerosLike(probs)), -1)

    def _log_prob(self, value: Tensor) -> Tensor:
        k, logits = self._together(value, self.logits)
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _together(self, value: Tensor, parameter: Tensor) -> tuple[Tensor, Tensor]:
        """Numbers of classes [...] and a parameter [..., classes], repeated for each other.

        Raises TypeError for classes that are no numbers.
        """
        k = whole_numbers(value, np.int32) if self.validate_args else value
        dtype = as_dtype(k.dtype)
        if dtype.is_floating:
            k = cast(k, np.int32)
        elif not dtype.is_integer:
            raise TypeError(f"`value` should have integer `dtype` or `self.dtype` ({self.dtype!r})")
        if is_static(k.sizes) and parameter.sizes is not None and parameter.sizes[:-1] == k.sizes:
            return k, parameter
        parameter = parameter * cast(expand_dims(ops.OnesLike(k), -1), parameter.dtype)
        k = k * ops.Fill(ops.Shape(parameter)[:-1], np.ones((), k.dtype))
        if parameter.sizes is not None:
            k.set_shape(parameter.sizes[:-1])
        return k, parameter

    def _entropy(self) -> Tensor:
        return -reduce_sum(ops.LogSoftmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Tensor:
        return cast(argmax(self.logits, axis=-1), self.dtype)


@RegisterKL(Categorical, Categorical)
def _kl_categorical_categorical(p: Categorical, q: Categorical, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_categorical_categorical", [p.logits, q.logits]):
        logs = ops.LogSoftmax(p.logits) - ops.LogSoftmax(q.logits)
        return reduce_sum(ops.Softmax(p.logits) * logs, -1)
