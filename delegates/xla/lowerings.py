"""Operators in JAX: one row each, function(op, *inputs) -> result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
from jax import lax
from jax import numpy as jnp

from ...interpreter.checks import clamp_of
from ...interpreter.ops.activation import CLAMPS
from ...schema.registry import Registry
from ..float_ops import paddings, window_of

EXACT = lax.Precision.HIGHEST  # products of float32, which TPUs and GPUs round to less by default


class Lowering(NamedTuple):
    """How an operator is computed.

    Attributes:
        function: function(op, *inputs), None in the place of parameters and omitted inputs.
        parameters: positions of the inputs it reads as `op.constant(i)`.
    """

    function: Callable[..., Any]
    parameters: tuple[int, ...] = ()


LOWERINGS: Registry[Lowering] = Registry("XLA lowering of operator", __package__, ())


def lower(*kinds: str, parameters: tuple[int, ...] = ()) -> Callable[[Any], Any]:
    """Registers the decorated function for the operators `kinds`."""

    def register(function):
        for kind in kinds:
            LOWERINGS.add(kind, Lowering(function, parameters))
        return function

    return register


BINARY = {"ADD": jnp.add, "SUB": jnp.subtract, "MUL": jnp.multiply, "DIV": jnp.divide}
"""Operators on two inputs with a fused activation."""

UNARY = {
    "ABS": jnp.abs,
    "ELU": jax.nn.elu,
    "EXP": jnp.exp,
    "NEG": jnp.negative,
    "SQUARE": jnp.square,
    "TANH": jnp.tanh,
    "LOGISTIC": jax.nn.sigmoid,
    "HARD_SWISH": lambda x: x * jnp.clip(x + 3, 0, 6) / 6,
    **{
        kind: lambda x, low=low, high=high: jnp.clip(x, low, high)
        for kind, (low, high) in CLAMPS.items()
    },
}
"""Operators on one element."""


@lower(*UNARY)
def unary(op, x):
    """A function of each element."""
    return UNARY[op.kind](x)


@lower("LEAKY_RELU")
def leaky_relu(op, x):
    """Each element, those below 0 times alpha."""
    return jnp.where(x >= 0, x, x * op.options.alpha)


@lower(*BINARY)
def binary(op, a, b):
    """A function of each pair of elements, within the limits of the fused activation."""
    low, high = clamp_of(op)
    limits = [None if abs(x) >= jnp.finfo(jnp.float32).max else x for x in (low, high)]
    return jnp.clip(BINARY[op.kind](a, b), *limits)


EITHER = {"MAXIMUM": lambda a, b: a > b, "MINIMUM": lambda a, b: a < b}
"""Operator -> when it gives the first of two elements."""


@lower(*EITHER)
def either(op, a, b):
    """One of each pair of elements; the second where one is not a number."""
    return jnp.where(EITHER[op.kind](a, b), a, b)


@lower("SQUARED_DIFFERENCE")
def squared_difference(op, a, b):
    """(a - b) ** 2 of each pair of elements."""
    return jnp.square(a - b)


@lower("BATCH_MATMUL")
def batch_matmul(op, x, y):
    """Products of the matrices in the last two dimensions, transposed as the options say."""
    a, b = (
        jnp.swapaxes(matrices, -1, -2) if is_adjoint else matrices
        for matrices, is_adjoint in ((x, op.options.adj_x), (y, op.options.adj_y))
    )
    return jnp.matmul(a, b, precision=EXACT)


@lower("TRANSPOSE", parameters=(1,))
def transpose(op, x, _):
    """`x` with its dimensions in another order."""
    return jnp.transpose(x, [int(axis) for axis in op.constant(1).ravel()])


@lower("CONV_2D")
def conv_2d(op, x, weights, bias=None):
    """Filters [n, height, width, channels] over `x`, in groups when they have fewer channels."""
    return _convolution(op, x, weights, bias, "OHWI", x.shape[3] // weights.shape[3])


@lower("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(op, x, weights, bias=None):
    """Filters [1, height, width, n] over `x`, each on one channel."""
    return _convolution(op, x, weights, bias, "IHWO", x.shape[3])


@lower("FULLY_CONNECTED")
def fully_connected(op, x, weights, bias=None):
    """Rows of `x` times the transpose of the weights."""
    n, depth = weights.shape
    rows = x.reshape(op.results[0].size // n, depth)
    y = jnp.matmul(rows, weights.T, precision=EXACT)
    return _finish(op, y, bias).reshape(op.results[0].shape)


@lower("AVERAGE_POOL_2D")
def average_pool(op, x):
    """The mean of the elements in the window; padding is none of them."""
    return _clamped(op, _pooled(op, x, 0.0, lax.add) / _pooled(op, jnp.ones_like(x), 0.0, lax.add))


@lower("MAX_POOL_2D")
def max_pool(op, x):
    """The largest of the elements in the window; NaN is passed over."""
    numbers = jnp.where(jnp.isnan(x), -jnp.inf, x)
    return _clamped(op, _pooled(op, numbers, -jnp.inf, lax.max))


@lower("MEAN", parameters=(1,))
def mean(op, x, _):
    """The mean along some dimensions."""
    axes = tuple({int(axis) % x.ndim for axis in op.constant(1).ravel()}) if x.ndim else ()
    return jnp.mean(x, axes).reshape(op.results[0].shape)


@lower("SUM", parameters=(1,))
def total(op, x, _):
    """The sum along some dimensions."""
    axes = tuple({int(axis) % x.ndim for axis in op.constant(1).ravel()}) if x.ndim else ()
    return jnp.sum(x, axes).reshape(op.results[0].shape)


@lower("SOFTMAX")
def softmax(op, x):
    """exp(beta * x) over its sum along the last dimension."""
    return jax.nn.softmax(x * op.options.beta)


@lower("RESHAPE", "SQUEEZE", "EXPAND_DIMS", parameters=(1,))
def reshape(op, x, _=None):
    """`x` under another shape."""
    return x.reshape(op.results[0].shape)


@lower("CONCATENATION")
def concatenation(op, *parts):
    """The inputs one after the other."""
    return jnp.concatenate(parts, op.options.axis)


@lower("PAD", "PADV2", parameters=(1,))
def pad(op, x, _, value=None):
    """`x` with a border of zeros or of `value`."""
    value = jnp.float32(0) if value is None else value.reshape(())
    return lax.pad(x, value, [(int(a), int(b), 0) for a, b in op.constant(1)])


def _convolution(op, x, weights, bias, layout, groups):
    spans = window_of(op)
    y = lax.conv_general_dilated(
        x,
        weights,
        [span.stride for span in spans],
        paddings(op),
        rhs_dilation=[span.dilation for span in spans],
        dimension_numbers=("NHWC", layout, "NHWC"),
        feature_group_count=groups,
        precision=EXACT,
    )
    return _finish(op, y, bias)


def _finish(op, y, bias):
    return _clamped(op, y if bias is None else y + bias.ravel())


def _clamped(op, y):
    return jnp.clip(y, *clamp_of(op))


def _pooled(op, x, start, function):
    spans = window_of(op)
    sizes = (1, *(span.size for span in spans), 1)
    strides = (1, *(span.stride for span in spans), 1)
    padding = [(0, 0), *paddings(op), (0, 0)]
    return lax.reduce_window(x, jnp.float32(start), function, sizes, strides, padding)
