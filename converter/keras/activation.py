"""Activations: by name inside other layers, and as layers of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np

from ...graph.core.graph import Tensor
from .registry import ANY, Call, layer

SQRT_HALF = 0.5**0.5
SQRT_2_OVER_PI = (2 / np.pi) ** 0.5


def unary(kind: str):
    """An activation that is one TF operation."""
    return lambda call, x: call.op(kind, x)


def swish(call: Call, x):
    """x * sigmoid(x)."""
    return call.op("Mul", x, call.op("Sigmoid", x))


def mish(call: Call, x):
    """x * tanh(softplus(x))."""
    return call.op("Mul", x, call.op("Tanh", call.op("Softplus", x)))


def gelu(call: Call, x):
    """x / 2 * (1 + erf(x / sqrt(2)))."""
    half = call.op("Mul", x, call.constant(0.5, x))
    erf = call.op("Erf", call.op("Mul", x, call.constant(SQRT_HALF, x)))
    return call.op("Mul", half, call.op("AddV2", erf, call.constant(1, x)))


def hard_sigmoid(call: Call, x):
    """relu6(x + 3) / 6 in Keras 3, clip(x / 5 + 1 / 2, 0, 1) in Keras 2."""
    if call.is_keras3:
        return relu6_sigmoid(call, x)
    line = call.op("AddV2", call.op("Mul", x, call.constant(0.2, x)), call.constant(0.5, x))
    return clipped(call, line, 0, 1)


def hard_silu(call: Call, x):
    """x * relu6(x + 3) / 6."""
    return call.op("Mul", x, relu6_sigmoid(call, x))


def relu6_sigmoid(call: Call, x):
    """relu6(x + 3) / 6."""
    shifted = call.op("Relu6", call.op("AddV2", x, call.constant(3, x)))
    return call.op("Mul", shifted, call.constant(1 / 6, x))


def softmax(call: Call, x, axis: int = -1):
    """exp(x) / sum(exp(x)) along `axis`."""
    rank = len(call.shape(x))
    axis %= max(rank, 1)
    if axis == rank - 1:
        return call.op("Softmax", x)
    order = [i for i in range(rank) if i != axis] + [axis]
    y = call.op("Softmax", call.op("Transpose", x, call.constant(order)))
    return call.op("Transpose", y, call.constant(np.argsort(order)))


def clipped(call: Call, x, low: float, high: float):
    """min(max(x, low), high)."""
    return call.op("Minimum", call.op("Maximum", x, call.constant(low, x)), call.constant(high, x))


def clip(low: float, high: float):
    """An activation between two numbers."""
    return lambda call, x: clipped(call, x, low, high)


def log_sigmoid(call: Call, x):
    """-softplus(-x)."""
    return call.op("Neg", call.op("Softplus", call.op("Neg", x)))


def where(call: Call, kind: str, x, limit: float, y, other):
    """`y` where x compares with a number, else the other."""
    return call.op("SelectV2", call.op(kind, x, call.constant(limit, x)), y, other)


def hard_shrink(call: Call, x, threshold: float = 0.5):
    """x where it is larger than the threshold or less than the negative one, else 0."""
    return where(call, "Greater", call.op("Abs", x), threshold, x, call.op("ZerosLike", x))


def soft_shrink(call: Call, x, threshold: float = 0.5):
    """x nearer to 0 by the threshold."""
    return call.op("Sub", x, clipped(call, x, -threshold, threshold))


def tanh_shrink(call: Call, x):
    """x - tanh(x)."""
    return call.op("Sub", x, call.op("Tanh", x))


def squareplus(call: Call, x, b: float = 4):
    """(x + sqrt(x ** 2 + b)) / 2."""
    root = call.op("Sqrt", call.op("AddV2", call.op("Square", x), call.constant(b, x)))
    return call.op("Mul", call.op("AddV2", x, root), call.constant(0.5, x))


def sparse_plus(call: Call, x):
    """0 to -1, (x + 1) ** 2 / 4 to 1, then x."""
    shifted = call.op("AddV2", clipped(call, x, -1, 1), call.constant(1, x))
    curve = call.op("Mul", call.op("Square", shifted), call.constant(0.25, x))
    return where(call, "Less", x, 1, curve, x)


def sparse_sigmoid(call: Call, x):
    """(x + 1) / 2 between 0 and 1."""
    return clipped(call, call.op("Mul", _plus(call, x, 1), call.constant(0.5, x)), 0, 1)


def _plus(call: Call, x, number: float):
    return call.op("AddV2", x, call.constant(number, x))


def celu(call: Call, x, alpha: float = 1.0):
    """x, alpha * (exp(x / alpha) - 1) where it is negative."""
    if alpha == 1:
        return call.op("Elu", x)
    y = call.op("Elu", call.op("Mul", x, call.constant(1 / alpha, x)))
    return call.op("Mul", y, call.constant(alpha, x))


def glu(call: Call, x, axis: int = -1):
    """One half of an axis times the sigmoid of the other."""
    split = call.ops("Split", call.constant(axis % len(call.shape(x))), x, num_split=2)
    return call.op("Mul", split[0], call.op("Sigmoid", split[1]))


def threshold(call: Call, x, limit: float, value: float):
    """x where it is larger than a limit, else a number."""
    other = call.op("AddV2", call.op("ZerosLike", x), call.constant(value, x))
    return where(call, "Greater", x, limit, x, other)


def sparsemax(call: Call, x, axis: int = -1):
    """max(x - t, 0) with t = (sum of the running sums in the support - 1) / their number.

    That is Keras' t; Martins and Astudillo's (arXiv:1602.02068) has the last of the sums instead.
    """
    rank, last = len(call.shape(x)), len(call.shape(x)) - 1
    if axis % rank != last:
        order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
        y = sparsemax(call, call.op("Transpose", x, call.constant(order)))
        return call.op("Transpose", y, call.constant(np.argsort(order).tolist()))
    n = call.known(call.shape(x)[last], "the axis")
    ordered = call.ops("TopKV2", x, call.constant(n), sorted=True)[0]
    sums = call.op("Cumsum", ordered, call.constant(last))
    ranks = call.constant(np.arange(1, n + 1).tolist(), x)
    thresholds = call.op("RealDiv", _plus(call, sums, -1), ranks)
    is_support = call.op("Greater", ordered, thresholds)
    support = call.cast(is_support, x.dtype)
    count = call.op("Sum", support, call.constant([last]), keep_dims=True)
    total = call.op("Mul", sums, support)
    total = _plus(call, call.op("Sum", total, call.constant([last]), keep_dims=True), -1)
    return call.op("Relu", call.op("Sub", x, call.op("RealDiv", total, count)))


def gelu_tanh(call: Call, x):
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))."""
    cube = call.op("Mul", call.op("Mul", x, x), x)
    inner = call.op("AddV2", x, call.op("Mul", cube, call.constant(0.044715, x)))
    tanh = call.op("Tanh", call.op("Mul", inner, call.constant(SQRT_2_OVER_PI, x)))
    return call.op("Mul", call.op("Mul", x, call.constant(0.5, x)), _plus(call, tanh, 1))


ACTIVATIONS = {
    "celu": celu,
    "glu": glu,
    "hard_shrink": hard_shrink,
    "hard_tanh": clip(-1, 1),
    "linear": lambda call, x: x,
    "elu": unary("Elu"),
    "exponential": unary("Exp"),
    "gelu": gelu,
    "hard_sigmoid": hard_sigmoid,
    "hard_silu": hard_silu,
    "hard_swish": hard_silu,
    "leaky_relu": lambda call, x: call.op("LeakyRelu", x, alpha=0.2),
    "log_sigmoid": log_sigmoid,
    "log_softmax": unary("LogSoftmax"),
    "mish": mish,
    "relu": unary("Relu"),
    "relu6": unary("Relu6"),
    "selu": unary("Selu"),
    "sigmoid": unary("Sigmoid"),
    "silu": swish,
    "sparsemax": sparsemax,
    "softmax": softmax,
    "soft_shrink": soft_shrink,
    "softplus": unary("Softplus"),
    "softsign": unary("Softsign"),
    "sparse_plus": sparse_plus,
    "sparse_sigmoid": sparse_sigmoid,
    "squareplus": squareplus,
    "swish": swish,
    "tanh": unary("Tanh"),
    "tanh_shrink": tanh_shrink,
}


def activation_name(setting: Any) -> str | None:
    """The name in ACTIVATIONS of what a setting says, None when it is another function."""
    if setting is None:
        return "linear"
    if isinstance(setting, dict) and setting.get("class_name") == "function":
        module, setting = setting.get("module"), setting.get("config")
        if module not in (None, "builtins") and not str(module).startswith("keras."):
            return None
    return setting if isinstance(setting, str) and setting in ACTIVATIONS else None


def activation_of(setting: Any) -> Callable[[Call, Tensor], Tensor] | None:
    """What a setting says, None when it is a function that nobody has brought."""
    if callable(setting):
        return partial(_traced, cast("Callable[[Tensor], Tensor]", setting))
    name = activation_name(setting)
    return None if name is None else ACTIVATIONS[name]


def _traced(function: Callable[[Tensor], Tensor], call: Call, x: Tensor) -> Tensor:
    """What a function of the program gives, of flatlite's own operations."""
    with call.graph.as_default(), call.graph.name_scope(f"{call.scope}/"):
        y = function(x)
    call.require(
        isinstance(y, Tensor) and y.graph is call.graph,
        f"its custom function must give a tensor of flatlite's operations, got {y!r:.60}",
    )
    return y


def activated(call: Call, x):
    """`x` after the activation in a layer's settings."""
    activation = activation_of(call.setting("activation"))
    return activation(call, x) if activation else x


@layer("Activation")
def activation(call: Call, x):
    """The function of that name."""
    return activated(call, x)


@layer("Softmax", takes=ANY)
def softmax_layer(call: Call, inputs: Tensor, mask: Any = None):
    """Along one axis or several, of what a mask allows."""
    rank = len(call.shape(inputs))
    axes = call.axes("axis", rank)
    x = inputs
    if mask is not None:
        mask = call.cast(mask, bool)
        x = call.op("SelectV2", mask, x, call.constant(-1e9, x))
    y = softmax_along(call, x, axes)
    if mask is not None and call.is_keras3:
        y = call.op("SelectV2", mask, y, call.constant(0, y))
    return y


def softmax_along(call: Call, x: Tensor, axes: list[int]):
    """Along axes together."""
    if len(axes) == 1:
        return softmax(call, x, axes[0])
    along = call.constant(axes)
    exponent = call.op("Sub", x, call.op("Max", x, along, keep_dims=True))
    y = call.op("Exp", exponent)
    return call.op("RealDiv", y, call.op("Sum", y, along, keep_dims=True))


@layer("ThresholdedReLU")
def thresholded_relu(call: Call, x):
    """x where it is larger than theta, else 0."""
    return threshold(call, x, call.number("theta", 1.0), 0)


@layer("ReLU")
def relu_layer(call: Call, x):
    """x above the threshold, slope * (x - threshold) below it, at most max_value."""
    slope, threshold = call.number("negative_slope"), call.number("threshold")
    max_value = None if call.setting("max_value") is None else call.number("max_value")
    if threshold == 0 and max_value is None and slope:
        return call.op("LeakyRelu", x, alpha=float(slope))
    if threshold == 0 and max_value == 6:
        y = call.op("Relu6", x)
    elif threshold == 0:
        y = call.op("Relu", x)
        y = y if max_value is None else call.op("Minimum", y, call.constant(max_value, x))
    else:
        is_above_threshold = call.op("Greater", x, call.constant(threshold, x))
        if call.is_keras3:
            y = call.op("SelectV2", is_above_threshold, x, call.constant(0, x))
        else:
            y = call.op("Mul", x, call.cast(is_above_threshold, x.dtype))
        y = y if max_value is None else clipped(call, y, 0, max_value)
    if not slope:
        return y
    negative_part = call.op("Relu", call.op("Sub", call.constant(threshold, x), x))
    return call.op("Sub", y, call.op("Mul", negative_part, call.constant(slope, x)))


@layer("LeakyReLU")
def leaky_relu(call: Call, x):
    """x, times the slope where it is negative."""
    name = "negative_slope" if "negative_slope" in call.layer.config else "alpha"
    return call.op("LeakyRelu", x, alpha=float(call.number(name, 0.3)))


@layer("ELU")
def elu(call: Call, x):
    """x, alpha * (exp(x) - 1) where it is negative."""
    alpha, y = call.number("alpha", 1.0), call.op("Elu", x)
    if alpha == 1:
        return y
    is_positive = call.op("Greater", x, call.constant(0, x))
    return call.op("SelectV2", is_positive, x, call.op("Mul", y, call.constant(alpha, x)))


@layer("PReLU", weights=lambda layer: ("alpha",))
def prelu(call: Call, x):
    """x, times a learned slope where it is negative."""
    shape = list(call.shape(x)[1:])
    if call.setting("shared_axes") is not None:
        for axis in call.axes("shared_axes", len(shape) + 1):
            call.check(axis > 0, "shared_axes", "axes after the batch")
            shape[axis - 1] = 1
    alpha = call.weight("alpha", [call.known(n, "each dimension after the first") for n in shape])
    negative_part = call.op("Relu", call.op("Neg", x))
    return call.op("Sub", call.op("Relu", x), call.op("Mul", alpha, negative_part))
