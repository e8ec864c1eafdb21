"""ai.onnx.preview.training: one step of an optimizer."""

from __future__ import annotations

import numpy as np

from ..lowering.moves import as_type, like
from .registry import lower
from .term import Term, sqrt

DOMAIN = "ai.onnx.preview.training."


def _groups(node, b, n_states):
    """(rate, step) and for each variable the terms of it, its gradient and its states."""
    rate, step, *operands = node.inputs
    n = len(operands) // (2 + n_states)
    columns = [operands[i * n : (i + 1) * n] for i in range(2 + n_states)]
    groups = [[Term(b, x) for x in group] for group in zip(*columns, strict=True)]
    return Term(b, rate), Term(b, as_type(step, np.float32, b)), groups


def _in_order(groups):
    """Results of variables as ONNX orders them: the first of each, then the second of each."""
    return tuple(x.tensor for column in zip(*groups, strict=True) for x in column)


@lower(f"{DOMAIN}Adagrad")
def adagrad(node, b):
    """The step is divided by the root of all squared gradients."""
    rate, step, groups = _groups(node, b, 1)
    rate = rate / (step * node.attr("decay_factor", 0.0) + 1.0)
    results = []
    for x, gradient, total in groups:
        gradient = x * node.attr("norm_coefficient", 0.0) + gradient
        total = total + gradient * gradient
        results.append([x - rate * gradient / (sqrt(total) + node.attr("epsilon", 1e-6)), total])
    return _in_order(results)


@lower(f"{DOMAIN}Adam")
def adam(node, b):
    """Moving averages of gradients and their squares, corrected for their start."""
    rate, step, groups = _groups(node, b, 2)
    alpha, beta = node.attr("alpha", 0.9), node.attr("beta", 0.999)
    started = b.GREATER(step.tensor, like(step.tensor, 0, b))
    powers = [Term(b, b.POW(like(step.tensor, n, b), step.tensor)) for n in (alpha, beta)]
    corrected = rate * sqrt(1.0 - powers[1]) / (1.0 - powers[0])
    rate = Term(b, b.SELECT_V2(started, corrected.tensor, rate.tensor))
    results = []
    for x, gradient, mean, square in groups:
        gradient = x * node.attr("norm_coefficient", 0.0) + gradient
        mean = mean * alpha + gradient * (1.0 - alpha)
        square = square * beta + gradient * gradient * (1.0 - beta)
        new = x - rate * mean / (sqrt(square) + node.attr("epsilon", 1e-6))
        results.append([new * (1.0 - node.attr("norm_coefficient_post", 0.0)), mean, square])
    return _in_order(results)


@lower(f"{DOMAIN}Momentum")
def momentum(node, b):
    """A velocity that gradients change; Nesterov's looks a step ahead."""
    rate, step, groups = _groups(node, b, 1)
    alpha, beta, mode = node.attr("alpha"), node.attr("beta"), node.attr("mode")
    is_first = b.EQUAL(step.tensor, like(step.tensor, 0, b))
    weight = Term(b, b.SELECT_V2(is_first, np.float32(1), np.float32(beta)))
    results = []
    for x, gradient, velocity in groups:
        gradient = x * node.attr("norm_coefficient") + gradient
        velocity = velocity * alpha + gradient * weight
        direction = gradient + velocity * alpha if mode == "nesterov" else velocity
        results.append([x - rate * direction, velocity])
    return _in_order(results)
