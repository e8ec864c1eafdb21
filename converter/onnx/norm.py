"""Normalisation and softmax."""

from __future__ import annotations

import numpy as np

from ..lowering import formulas
from ..lowering.moves import extent, like, regrouped, reshaped, transposed
from .registry import lower

SOFTMAX = {"Softmax": "SOFTMAX", "LogSoftmax": "LOG_SOFTMAX"}


@lower(*SOFTMAX)
def softmax(node, b):
    """Along one axis; before opset 13 along all axes from `axis` on, taken as one."""
    x, rank, options = node.inputs[0], node.rank(), {"beta": 1.0} if node.type == "Softmax" else {}
    kind = getattr(b, SOFTMAX[node.type])
    if node.opset < 13:
        axis = node.axis(node.attr("axis", 1))
        if axis == rank - 1:
            return kind(x, **options)
        sizes = node.shape()[axis:]
        if None in sizes:
            flat = regrouped(x, (*(extent(x, i, b) for i in range(axis)), -1), b)
        else:
            flat = b.RESHAPE(x, np.asarray([-1, np.prod(sizes)], np.int32))
        return b.RESHAPE(kind(flat, **options), b.SHAPE(x, out_type="INT32"))
    axis = node.axis(node.attr("axis", -1))
    order = [i for i in range(rank) if i != axis] + [axis]
    out = kind(transposed(x, order, b), **options)
    return transposed(out, np.argsort(order).tolist(), b)


@lower("BatchNormalization")
def batch_normalization(node, b):
    """(x - mean) / sqrt(variance + epsilon) * scale + offset for each channel.

    In training with the statistics of the batch, which the running ones then take part of.
    """
    x, rank = node.inputs[0], node.rank()
    epsilon, channel_shape = node.attr("epsilon", 1e-5), (-1, *[1] * (rank - 2))
    if node.attr("training_mode", 0):
        return _training_step(node, b, epsilon, channel_shape)
    node.require(not node.has_output(1), "running statistics need training_mode=1")
    parameters = [node.known(i) for i in (1, 2, 3, 4)]
    if all(values is not None for values in parameters):
        return formulas.folded_batch_norm(b, x, parameters, epsilon, channel_shape)
    scale, offset, mean, variance = (reshaped(y, channel_shape, b) for y in node.inputs[1:])
    factor = b.MUL(scale, b.RSQRT(b.ADD(variance, like(x, epsilon, b))))
    return b.ADD(b.MUL(b.SUB(x, mean), factor), offset)


def _training_step(node, b, epsilon, channel_shape):
    """(result, mean, variance) by the batch, whose statistics have their share of the running."""
    x, scale, offset, *running = node.inputs
    axes = np.asarray([0, *range(2, node.rank())], np.int32)
    out, mean, _ = formulas.standardized(b, x, axes, like(x, epsilon, b))
    factors = (reshaped(y, channel_shape, b) for y in (scale, offset))
    out = formulas.scaled(b, out, *factors)
    variance = b.MEAN(b.SQUARE(b.SUB(x, mean)), axes)
    momentum = node.attr("momentum", 0.9)
    updated = [
        b.ADD(b.MUL(old, like(x, momentum, b)), b.MUL(new, like(x, 1 - momentum, b)))
        for old, new in zip(running, (reshaped(mean, (-1,), b), variance), strict=True)
    ]
    return out, *updated


@lower("LayerNormalization")
def layer_normalization(node, b):
    """Mean 0 and variance 1 over the axes from `axis` on, then scaled and shifted."""
    x, scale, offset = node.inputs[0], node.inputs[1], node.input(2)
    axes = np.arange(node.axis(node.attr("axis", -1)), node.rank(), dtype=np.int32)
    epsilon = like(x, node.attr("epsilon", 1e-5), b)
    if node.n_outputs == 1:
        return formulas.scaled(b, b.LAYER_NORM(x, axes, epsilon), scale, offset)
    out, mean, inverse = formulas.standardized(b, x, axes, epsilon)
    return formulas.scaled(b, out, scale, offset), mean, inverse


@lower("InstanceNormalization")
def instance_normalization(node, b):
    """Mean 0 and variance 1 of each channel of each image, then scaled and shifted."""
    x, *factors = node.inputs
    axes, shape = np.arange(2, node.rank(), dtype=np.int32), (-1, *[1] * (node.rank() - 2))
    scale, offset = (reshaped(y, shape, b) for y in factors)
    epsilon = like(x, node.attr("epsilon", 1e-5), b)
    return formulas.scaled(b, b.LAYER_NORM(x, axes, epsilon), scale, offset)
