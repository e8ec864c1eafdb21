"""`tf.layers.batch_normalization`: normalisation by the batch, and by averages of batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.scopes import GraphKeys, get_default_graph
from ..variables.get_variable import get_variable
from ..variables.initializers import ones_initializer, zeros_initializer
from ..variables.variable_scope import variable_scope
from . import array, creation, normalization
from .conditional import cond

if TYPE_CHECKING:
    from ..core.typing import TensorLike
    from ..variables.variable_scope import InitializerLike, Regularizer, Reuse
    from ..variables.variables import Constraint, Variable


def batch_normalization(
    inputs: TensorLike,
    axis: int = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: InitializerLike | None = None,
    gamma_initializer: InitializerLike | None = None,
    moving_mean_initializer: InitializerLike | None = None,
    moving_variance_initializer: InitializerLike | None = None,
    beta_regularizer: Regularizer | None = None,
    gamma_regularizer: Regularizer | None = None,
    beta_constraint: Constraint | None = None,
    gamma_constraint: Constraint | None = None,
    training: bool | Tensor = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Reuse = None,
    renorm: bool = False,
    renorm_clipping: object = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: object = None,
) -> Tensor:
    """(inputs - mean) / sqrt(variance + epsilon) * gamma + beta, along all axes but one.

    In training mean and variance are the batch's, and two operations in UPDATE_OPS move the
    averages `moving_mean` and `moving_variance` towards them; else they are these averages.

    Args:
        inputs: Of known depth.
        axis: That of the channels.
        momentum: How slowly the averages move.
        epsilon: Keeps the quotient finite.
        center, scale: Whether there are `beta` and `gamma`.
        training: A truth value, or a tensor of one.
        trainable, name, reuse, and the initializers, regularizers and constraints: As of `dense`.
        fused: None for the fused operation where inputs are images with channels last.
        renorm, virtual_batch_size, adjustment and what belongs to them: Not supported.

    Raises:
        ValueError: The depth is not known.
        NotImplementedError: Something is asked for that is not supported.
    """
    if renorm or virtual_batch_size is not None or adjustment is not None:
        raise NotImplementedError("renorm, virtual batches and adjustments are not supported")
    x = convert_to_tensor(inputs)
    shape = x.shape
    if shape is None or shape[axis] is None:
        raise ValueError(f"Input has undefined `axis` dimension. Input shape: {x.get_shape()}")
    place, depth = axis % len(shape), shape[axis]
    with variable_scope(name, "batch_normalization", reuse=reuse):

        def variable(
            label: str,
            start: InitializerLike,
            regularizer: Regularizer | None = None,
            constraint: Constraint | None = None,
            is_trained: bool = False,
        ) -> Variable:
            kind = np.float32 if x.dtype.itemsize == 2 else x.dtype
            return get_variable(
                label, [depth], kind, start, regularizer, is_trained, constraint=constraint
            )

        ones, zeros = ones_initializer(), zeros_initializer()
        gamma = beta = None
        if scale:
            more = gamma_regularizer, gamma_constraint, trainable
            gamma = variable("gamma", gamma_initializer or ones, *more)
        if center:
            more = beta_regularizer, beta_constraint, trainable
            beta = variable("beta", beta_initializer or zeros, *more)
        mean = variable("moving_mean", moving_mean_initializer or zeros)
        variance = variable("moving_variance", moving_variance_initializer or ones)
        is_image = len(shape) == 4 and place == 3
        run = _fused if (is_image if fused is None else fused and is_image) else _written_out
        y, batch_mean, batch_variance = _chosen(
            training,
            lambda: run(x, gamma, beta, None, None, epsilon, place),
            lambda: run(x, gamma, beta, mean.value(), variance.value(), epsilon, place),
        )
        rate: float | Tensor = 1.0 - momentum
        if isinstance(training, Tensor):
            rate = ops.SelectV2(training, np.float32(rate), np.float32(0))
        if isinstance(training, Tensor) or training:
            for average, now in ((mean, batch_mean), (variance, batch_variance)):
                factor = np.asarray(rate, average.dtype) if isinstance(rate, float) else rate
                update = average.assign_sub((average.value() - now) * factor)
                get_default_graph().add_to_collection(GraphKeys.UPDATE_OPS, update)
        return y


def _chosen(
    training: bool | Tensor,
    train: Callable[[], Sequence[Tensor]],
    infer: Callable[[], Sequence[Tensor]],
) -> Sequence[Tensor]:
    if isinstance(training, Tensor):
        return cast("Sequence[Tensor]", cond(training, train, infer))
    return train() if training else infer()


def _fused(
    x: Tensor,
    gamma: Variable | None,
    beta: Variable | None,
    mean: Tensor | None,
    variance: Tensor | None,
    epsilon: float,
    place: int,
) -> Sequence[Tensor]:
    """By the fused operation, whose variance of a batch is that of n - 1 elements."""
    depth = x.shape[place] if x.shape else None
    scale = creation.ones([depth]) if gamma is None else gamma.value()
    offset = creation.zeros([depth]) if beta is None else beta.value()
    is_training = mean is None
    return normalization.fused_batch_norm(
        x, scale, offset, mean, variance, epsilon=epsilon, is_training=is_training
    )[:3]


def _written_out(
    x: Tensor,
    gamma: Variable | None,
    beta: Variable | None,
    mean: Tensor | None,
    variance: Tensor | None,
    epsilon: float,
    place: int,
) -> Sequence[Tensor]:
    """By single operations, on any shape."""
    shape = x.shape or ()
    if mean is None or variance is None:
        axes = [i for i in range(len(shape)) if i != place]
        mean, variance = normalization.moments(x, axes)
    inner = [1] * len(shape)
    inner[place] = -1

    def spread(values: Tensor | None) -> Tensor | None:
        if values is None or place == len(shape) - 1:
            return values
        return array.reshape(values, inner)

    scale = None if gamma is None else spread(gamma.value())
    offset = None if beta is None else spread(beta.value())
    wide_mean, wide_variance = (cast("Tensor", spread(t)) for t in (mean, variance))
    y = normalization.batch_normalization(x, wide_mean, wide_variance, offset, scale, epsilon)
    return y, mean, variance
