"""Operators as launches of CUDA kernels: one row each, function(op) -> launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...interpreter.checks import clamp_of
from ...interpreter.ops.activation import CLAMPS
from ...interpreter.plan.node import Node, Operand
from ...schema.registry import Registry
from ..float_ops import paddings, reason_against_types, window_of

MAX_DIMENSIONS = 5
_LARGEST = float(np.finfo(np.float32).max)


class Launch(NamedTuple):
    """One call of a kernel of kernels.py.

    Attributes:
        kernel: its name.
        out: the operand it writes.
        inputs: what it reads, operands or arrays.
        sizes: integers, the first of them the number of results.
        numbers: floats.
    """

    kernel: str
    out: Operand
    inputs: Sequence[Operand | np.ndarray]
    sizes: tuple[int, ...]
    numbers: tuple[float, ...] = ()


class Row(NamedTuple):
    """How an operator is run.

    Attributes:
        launches: function(op) that gives the Launches, in order.
        parameters: positions of the inputs that are read beforehand.
        by_index: whether its kernel takes shapes apart, which it does for five dimensions.
    """

    launches: Callable[[Node], list[Launch]]
    parameters: tuple[int, ...] = ()
    by_index: bool = False


LAUNCHES: Registry[Row] = Registry("CUDA kernel of operator", __package__, ())


def launches(*kinds: str, **fields: Any) -> Callable[[Any], Any]:
    """Registers the decorated function for the operators `kinds`."""

    def register(function):
        for kind in kinds:
            LAUNCHES.add(kind, Row(function, **fields))
        return function

    return register


def reason_against(op: Node) -> str | None:
    """Why no kernel runs `op`, None if one does."""
    row = LAUNCHES.get(op.kind)
    if row is None:
        return f"{op.kind} has no CUDA kernel"
    rank = max(x.ndim for x in (*op.inputs[:1], *op.results) if x is not None)
    if row.by_index and rank > MAX_DIMENSIONS:
        return f"its kernel takes {MAX_DIMENSIONS} dimensions, got {rank}"
    return reason_against_types(op, row.parameters)


BINARY = {"ADD": "add", "SUB": "subtract", "MUL": "multiply", "DIV": "divide"}
"""Operators on two inputs with a fused activation -> kernel."""

UNARY = {"TANH": "tanh", "LOGISTIC": "logistic", "HARD_SWISH": "hard_swish"}
"""Operators on one element -> kernel."""

POOLS = {"AVERAGE_POOL_2D": "average_pool", "MAX_POOL_2D": "max_pool"}
"""Operators on a window of one channel -> kernel."""


@launches(*UNARY)
def unary(op):
    """A function of each element."""
    out = op.results[0]
    return [Launch(UNARY[op.kind], out, op.inputs, (out.size,))]


@launches(*CLAMPS)
def clamp(op):
    """Each element within two limits."""
    out = op.results[0]
    return [Launch("clamp", out, op.inputs, (out.size,), CLAMPS[op.kind])]


@launches("LEAKY_RELU")
def leaky_relu(op):
    """Each element, those below 0 times alpha."""
    out = op.results[0]
    return [Launch("leaky_relu", out, op.inputs, (out.size,), (float(op.options.alpha),))]


@launches(*BINARY, by_index=True)
def binary(op):
    """A function of each pair of elements, within the limits of the fused activation."""
    out = op.results[0]
    shape = _padded_shape(out.shape)
    strides = [n for x in op.inputs for n in _broadcast_strides(x.shape, shape)]
    limits = tuple(float("inf") * x if abs(x) >= _LARGEST else x for x in clamp_of(op))
    return [Launch(BINARY[op.kind], out, op.inputs, (out.size, *shape, *strides), limits)]


@launches("CONV_2D")
def conv_2d(op):
    """Filters [n, height, width, channels] over the input, in groups of channels."""
    x, weights = op.inputs[:2]
    n, taps_h, taps_w, depth = weights.shape
    strides = (taps_h * taps_w * depth, taps_w * depth, depth, 1)
    return [_convolution(op, weights, depth, n * depth // x.shape[3], strides)]


@launches("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(op):
    """Filters [1, height, width, n] over the input, each on one channel."""
    x, weights = op.inputs[:2]
    _, _, taps_w, n = weights.shape
    return [_convolution(op, weights, 1, n // x.shape[3], (1, taps_w * n, n, 1))]


@launches("FULLY_CONNECTED")
def fully_connected(op):
    """Rows of the input times the transpose of the weights: a convolution of one pixel."""
    weights, out = op.inputs[1], op.results[0]
    n, depth = weights.shape
    pixel, once = (1, 1), (1, 1, 1, 1)
    sizes = (out.size, *pixel, depth, *pixel, n, *pixel, depth, n, *once, 0, 0, depth, 0, 0, 1)
    inputs = (op.inputs[0], weights, _bias(op, n))
    return [Launch("convolution", out, inputs, sizes, clamp_of(op))]


@launches(*POOLS)
def pool(op):
    """One value for each position of a window."""
    (x,), out = op.inputs, op.results[0]
    spans, borders = window_of(op), paddings(op)
    sizes = (
        *(out.size, *x.shape[1:], *out.shape[1:3]),
        *(span.size for span in spans),
        *(span.stride for span in spans),
        *(before for before, _ in borders),
    )
    return [Launch(POOLS[op.kind], out, (x,), sizes, clamp_of(op))]


@launches("MEAN", parameters=(1,), by_index=True)
def mean(op):
    """The mean along some dimensions."""
    x, out = op.inputs[0], op.results[0]
    axes = {int(axis) % x.ndim for axis in op.constant(1).ravel()} if x.ndim else set()
    out_shape = _padded_shape([1 if i in axes else n for i, n in enumerate(x.shape)])
    reduced = _padded_shape([n if i in axes else 1 for i, n in enumerate(x.shape)])
    sizes = (out.size, prod(reduced), *out_shape, *reduced, *_strides(_padded_shape(x.shape)))
    return [Launch("mean", out, (x,), sizes)]


@launches("SOFTMAX")
def softmax(op):
    """exp(beta * x) over its sum along the last dimension."""
    (x,), out = op.inputs, op.results[0]
    rows = prod(x.shape[:-1])
    return [Launch("softmax", out, (x,), (rows, x.shape[-1]), (float(op.options.beta),))]


@launches("PAD", parameters=(1,), by_index=True)
def pad(op):
    """The input with a border of zeros."""
    x, out = op.inputs[0], op.results[0]
    before = (0,) * (MAX_DIMENSIONS - x.ndim) + tuple(map(int, op.constant(1)[:, 0]))
    sizes = (out.size, *_padded_shape(out.shape), *_padded_shape(x.shape), *before)
    return [Launch("pad", out, (x,), sizes, (0.0,))]


@launches("CONCATENATION")
def concatenation(op):
    """The inputs one after the other."""
    out = op.results[0]
    axis = op.options.axis % out.ndim
    inner = prod(out.shape[axis + 1 :])
    copies, first = [], 0
    for x in op.inputs:
        if x.size:
            row = x.shape[axis] * inner
            sizes = (x.size, row, out.shape[axis] * inner, first)
            copies.append(Launch("concat_rows", out, (x,), sizes))
            first += row
    return copies


@launches("RESHAPE", "SQUEEZE", "EXPAND_DIMS", parameters=(1,))
def reshape(op):
    """The same memory under another shape."""
    return []


def _convolution(op, weights, depth, group_filters, strides):
    x, out = op.inputs[0], op.results[0]
    spans, borders = window_of(op), paddings(op)
    sizes = (
        *(out.size, *x.shape[1:], *out.shape[1:]),
        *(*weights.shape[1:3], depth, group_filters),
        *(span.stride for span in spans),
        *(span.dilation for span in spans),
        *(before for before, _ in borders),
        *strides,
    )
    inputs = (x, weights, _bias(op, out.shape[3]))
    return Launch("convolution", out, inputs, sizes, clamp_of(op))


def _bias(op, n):
    bias = op.optional(2)
    return np.zeros(n, np.float32) if bias is None else bias


def _padded_shape(shape):
    return (1,) * (MAX_DIMENSIONS - len(shape)) + tuple(shape)


def _strides(shape):
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def _broadcast_strides(shape, out_shape):
    """Steps through an array of `shape` repeated to `out_shape`."""
    shape = _padded_shape(shape)
    pairs = zip(shape, out_shape, _strides(shape), strict=True)
    return [0 if n == 1 and n != m else stride for n, m, stride in pairs]
