"""Learning rates that change with the global step."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...graph.core.build import number, ops, shape_of
from ...graph.core.create import convert_to_tensor, is_tensor_like
from ...graph.core.dtype import as_dtype
from ...graph.core.graph import Tensor
from ...graph.core.scopes import name_scope
from ...graph.functions.random import random_normal


def _step(global_step, dtype) -> Tensor:
    """The step as a number of the learning rate's dtype."""
    if global_step is None:
        raise ValueError("global_step is required")
    step = convert_to_tensor(global_step)
    return step if step.dtype == dtype else ops.Cast(step, DstT=dtype)


def _like(value, rate: Tensor) -> Tensor:
    """A number or tensor in the learning rate's dtype."""
    if not is_tensor_like(value):
        return convert_to_tensor(value, rate.dtype)
    tensor = convert_to_tensor(value)
    return tensor if tensor.dtype == rate.dtype else ops.Cast(tensor, DstT=rate.dtype)


def _progress(global_step, decay_steps, rate: Tensor, staircase: bool) -> Tensor:
    """How many times `decay_steps` have passed; whole ones on a staircase."""
    passed = _step(global_step, rate.dtype) / _like(decay_steps, rate)
    return ops.Floor(passed) if staircase else passed


def exponential_decay(
    learning_rate,
    global_step,
    decay_steps,
    decay_rate,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * decay_rate ** (global_step / decay_steps).

    Args:
        learning_rate: The rate at step 0.
        global_step: The variable that counts the steps.
        decay_steps: After how many steps the rate is multiplied by `decay_rate`.
        decay_rate: A number.
        staircase: Whether it changes only when `decay_steps` have passed, all at once.
        name: Of the operations.

    Raises:
        ValueError: There is no global step.
    """
    with name_scope(name, "ExponentialDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        exponent = _progress(global_step, decay_steps, rate, staircase)
        return ops.Mul(rate, ops.Pow(_like(decay_rate, rate), exponent), name=scope)


def natural_exp_decay(
    learning_rate,
    global_step,
    decay_steps,
    decay_rate,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * exp(-decay_rate * global_step / decay_steps).

    Args:
        learning_rate: The rate at step 0, a real float scalar.
        global_step: The variable that counts the steps.
        decay_steps: After how many steps the exponent is `decay_rate`.
        decay_rate: A number.
        staircase: Whether it changes only when `decay_steps` have passed, all at once.
        name: Of the operations.

    Raises ValueError when there is no global step.
    """
    with name_scope(name, "ExponentialDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        exponent = _progress(global_step, decay_steps, rate, staircase)
        return ops.Mul(rate, ops.Exp(-_like(decay_rate, rate) * exponent), name=scope)


def inverse_time_decay(
    learning_rate,
    global_step,
    decay_steps,
    decay_rate,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps).

    Args:
        learning_rate: The rate at step 0, a real float scalar.
        global_step: The variable that counts the steps.
        decay_steps: How many steps count as one.
        decay_rate: A number.
        staircase: Whether it changes only when `decay_steps` have passed, all at once.
        name: Of the operations.

    Raises ValueError when there is no global step.
    """
    with name_scope(name, "InverseTimeDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        growth = _progress(global_step, decay_steps, rate, staircase) * _like(decay_rate, rate)
        return ops.RealDiv(rate, 1 + growth, name=scope)


def polynomial_decay(
    learning_rate,
    global_step,
    decay_steps,
    end_learning_rate=0.0001,
    power=1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """From `learning_rate` to `end_learning_rate`, by the part of the way left to a power.

    (learning_rate - end) * (1 - global_step / decay_steps) ** power + end

    Args:
        learning_rate: The rate at step 0.
        global_step: The variable that counts the steps.
        decay_steps: When the end is reached.
        end_learning_rate: What it stays at.
        power: 1 for a straight line.
        cycle: Whether `decay_steps` grows by itself whenever it is passed.
        name: Of the operations.

    Raises:
        ValueError: There is no global step.
    """
    with name_scope(name, "PolynomialDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        step, length = _step(global_step, rate.dtype), _like(decay_steps, rate)
        end = _like(end_learning_rate, rate)
        if cycle:
            zero, one = number(0, rate), number(1, rate)
            rounds = ops.SelectV2(ops.Equal(step, zero), one, ops.Ceil(step / length))
            length = length * rounds
        else:
            step = ops.Minimum(step, length)
        left = ops.Pow(1 - step / length, _like(power, rate))
        return ops.AddV2((rate - end) * left, end, name=scope)


def cosine_decay(
    learning_rate, global_step, decay_steps, alpha: float = 0.0, name: str | None = None
) -> Tensor:
    """From `learning_rate` to alpha times that, along half a cosine.

    Raises:
        ValueError: There is no global step.
    """
    with name_scope(name, "CosineDecay"):
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        length = _like(decay_steps, rate)
        passed = ops.Minimum(_step(global_step, rate.dtype), length) / length
        wave = 0.5 * (1 + ops.Cos(number(math.pi, rate) * passed))
        return rate * ((1 - alpha) * wave + alpha)


def piecewise_constant(
    x, boundaries: Sequence, values: Sequence, name: str | None = None
) -> Tensor:
    """The first of `values` up to and with the first of `boundaries`, then the second, ...

    Args:
        x: The variable that counts the steps, or any single number.
        boundaries: Rising numbers.
        values: One more than there are boundaries.
        name: Of the operations.

    Raises:
        ValueError: The lengths do not fit, the values have several dtypes, or `x` and the
            boundaries have.
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with name_scope(name, "PiecewiseConstant"):
        x = convert_to_tensor(x)
        chosen = [convert_to_tensor(value) for value in values]
        if len({value.dtype for value in chosen}) > 1:
            raise ValueError(
                "Values must have elements all with the same dtype "
                f"({' vs '.join(str(as_dtype(v.dtype)) for v in chosen)})."
            )
        limits = [_boundary(boundary, x) for boundary in boundaries]
        result = chosen[-1]
        for limit, value in reversed(list(zip(limits, chosen[:-1], strict=True))):
            result = ops.SelectV2(ops.LessEqual(x, limit), value, result)
        return result


def _boundary(value, x: Tensor) -> Tensor:
    """A boundary as a number of the type of `x`: int32 is taken for int64, too."""
    limit = convert_to_tensor(value)
    if limit.dtype == np.int32 and x.dtype == np.int64:
        return ops.Cast(limit, DstT=x.dtype)
    if limit.dtype != x.dtype:
        raise ValueError(
            f"Boundaries ({as_dtype(limit.dtype)!s}) must have the same dtype as x "
            f"({as_dtype(x.dtype)!s})."
        )
    return limit


def cosine_decay_restarts(
    learning_rate,
    global_step,
    first_decay_steps,
    t_mul=2.0,
    m_mul=1.0,
    alpha=0.0,
    name: str | None = None,
) -> Tensor:
    """Half cosines one after another, each `t_mul` times as long and `m_mul` times as high.

    Args:
        learning_rate: The rate at step 0.
        global_step: The variable that counts the steps.
        first_decay_steps: The length of the first one.
        t_mul: How much longer each is than the one before.
        m_mul: How much higher each starts than the one before.
        alpha: The lowest rate, as a part of `learning_rate`.
        name: Of the operations.

    Raises:
        ValueError: There is no global step.
    """
    with name_scope(name, "SGDRDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        passed = _step(global_step, rate.dtype) / _like(first_decay_steps, rate)
        growth, least, one = _like(t_mul, rate), _like(alpha, rate), number(1, rate)
        even_count = ops.Floor(passed)
        is_even = ops.Equal(growth, one)
        base = ops.SelectV2(is_even, number(2, rate), growth)
        count = ops.Floor(ops.Log(1 - passed * (1 - base)) / ops.Log(base))
        length = ops.Pow(base, count)
        restarted = (passed - (1 - length) / (1 - base)) / length
        count = ops.SelectV2(is_even, even_count, count)
        part = ops.SelectV2(is_even, passed - even_count, restarted)
        height = ops.Pow(_like(m_mul, rate), count)
        wave = 0.5 * height * (1 + ops.Cos(number(math.pi, rate) * part))
        return ops.Mul(rate, (1 - least) * wave + least, name=scope)


def linear_cosine_decay(
    learning_rate,
    global_step,
    decay_steps,
    num_periods=0.5,
    alpha=0.0,
    beta=0.001,
    name: str | None = None,
) -> Tensor:
    """learning_rate * ((alpha + what is left of a straight line) * cosine + beta).

    Args:
        learning_rate: The rate at step 0.
        global_step: The variable that counts the steps.
        decay_steps: When the end is reached.
        num_periods: How many periods the cosine has until then.
        alpha, beta: Numbers.
        name: Of the operations.

    Raises:
        ValueError: There is no global step.
    """
    with name_scope(name, "LinearCosineDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        left, wave, _ = _linear_cosine(rate, global_step, decay_steps, num_periods)
        return ops.Mul(rate, (_like(alpha, rate) + left) * wave + _like(beta, rate), name=scope)


def noisy_linear_cosine_decay(
    learning_rate,
    global_step,
    decay_steps,
    initial_variance=1.0,
    variance_decay=0.55,
    num_periods=0.5,
    alpha=0.0,
    beta=0.001,
    name: str | None = None,
) -> Tensor:
    """As linear_cosine_decay, with noise on the line whose variance decays.

    The variance is initial_variance / (1 + global_step) ** variance_decay.
    """
    with name_scope(name, "NoisyLinearCosineDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        left, wave, step = _linear_cosine(rate, global_step, decay_steps, num_periods)
        decay = ops.Pow(1 + step, _like(variance_decay, rate))
        deviation = ops.Sqrt(_like(initial_variance, rate) / decay)
        noise = random_normal(shape_of(left), dtype=rate.dtype) * deviation
        line = _like(alpha, rate) + left + noise
        return ops.Mul(rate, line * wave + _like(beta, rate), name=scope)


def _linear_cosine(
    rate: Tensor, global_step, decay_steps, num_periods
) -> tuple[Tensor, Tensor, Tensor]:
    """What is left of the line, the cosine, and the step, which stays at the end."""
    length = _like(decay_steps, rate)
    step = ops.Minimum(_step(global_step, rate.dtype), length)
    turns = 2 * _like(num_periods, rate) * (step / length)
    wave = 0.5 * (1 + ops.Cos(number(math.pi, rate) * turns))
    return (length - step) / length, wave, step
