"""Normalisation."""

from __future__ import annotations

import numpy as np

from ...graph.core.graph import Tensor
from .files.architecture import Layer
from .functions.products import dims_of, reshaped
from .registry import LIST, Call, layer


def scale_and_centre(layer: Layer) -> tuple[str, ...]:
    """The learned factor and offset, where a layer has them."""
    flags = (("gamma", "scale"), ("beta", "center"))
    return tuple(name for name, flag in flags if layer.config.get(flag, True))


def batch_weights(layer: Layer) -> tuple[str, ...]:
    """Weights of a batch normalisation."""
    return (*scale_and_centre(layer), "moving_mean", "moving_variance")


@layer("BatchNormalization", "BatchNormalizationV2", weights=batch_weights)
def batch_normalization(call: Call, x):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, with the means of training."""
    shape = call.shape(x)
    axis = call.axis("axis", len(shape))
    n = call.known(shape[axis], "the normalised dimension")
    mean, variance = (call.weight(f"moving_{name}", [n]) for name in ("mean", "variance"))
    names = scale_and_centre(call.layer)
    gamma = call.weight("gamma", [n]) if "gamma" in names else call.constant([1] * n, x)
    beta = call.weight("beta", [n]) if "beta" in names else call.constant([0] * n, x)
    epsilon = float(call.number("epsilon", 1e-3))
    if len(shape) == 4 and axis in (1, 3):
        return call.op(
            "FusedBatchNormV3",
            *(x, gamma, beta, mean, variance),
            epsilon=epsilon,
            data_format="NHWC" if axis == 3 else "NCHW",
            is_training=False,
        )
    inverse_stddev = call.op("Rsqrt", call.op("AddV2", variance, call.constant(epsilon, x)))
    scale = call.op("Mul", gamma, inverse_stddev)
    offset = call.op("Sub", beta, call.op("Mul", mean, scale))
    if axis != len(shape) - 1:
        weight_shape = call.constant([n if i == axis else 1 for i in range(len(shape))])
        scale, offset = (
            call.op("Reshape", scale, weight_shape),
            call.op("Reshape", offset, weight_shape),
        )
    return call.op("AddV2", call.op("Mul", x, scale), offset)


def normalized_axes(call: Call, x: Tensor, name: str = "axis") -> tuple[list[int], list[int]]:
    """The axes that are normalised, in the order that weights have them, and their sizes."""
    shape = call.shape(x)
    axes = list(dict.fromkeys(call.axes(name, len(shape))))
    return axes, [call.known(shape[axis], "each normalised dimension") for axis in axes]


def along(call: Call, x: Tensor, weight: Tensor, axes: list[int]) -> Tensor:
    """A weight with one value for each place along `axes`, in a shape that broadcasts.

    Axes in another order than the input's are reshaped, not transposed, as Keras does.
    """
    shape = call.shape(x)
    if axes == list(range(axes[0], len(shape))):
        return weight
    dims = [n if i in axes else 1 for i, n in enumerate(shape)]
    return call.op("Reshape", weight, call.constant(dims))


def root_mean_square(call: Call, x: Tensor, axes: list[int], epsilon: float) -> Tensor:
    """x / sqrt(mean(x ** 2) + epsilon)."""
    mean = call.op("Mean", call.op("Square", x), call.constant(axes), keep_dims=True)
    return call.op("Mul", x, call.op("Rsqrt", call.op("AddV2", mean, call.constant(epsilon, x))))


def layer_weights(layer: Layer) -> tuple[str, ...]:
    """Weights of a layer normalisation; with `rms_scaling` there is no offset."""
    return ("gamma",) if layer.config.get("rms_scaling") else scale_and_centre(layer)


@layer("LayerNormalization", weights=layer_weights)
def layer_normalization(call: Call, x):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, with the means of the input."""
    axes, sizes = normalized_axes(call, x)
    axes_tensor = call.constant(axes)
    mean = call.op("Mean", x, axes_tensor, keep_dims=True)
    variance = call.op("Mean", call.op("SquaredDifference", x, mean), axes_tensor, keep_dims=True)
    epsilon = call.constant(call.number("epsilon", 1e-3), x)
    inverse_stddev = call.op("Rsqrt", call.op("AddV2", variance, epsilon))
    if call.flag("rms_scaling"):
        y = call.op("Mul", x, inverse_stddev)
        return call.op("Mul", y, along(call, x, call.weight("gamma", sizes), axes))
    y = call.op("Mul", call.op("Sub", x, mean), inverse_stddev)
    for kind, name in (("Mul", "gamma"), ("AddV2", "beta")):
        if name in scale_and_centre(call.layer):
            y = call.op(kind, y, along(call, x, call.weight(name, sizes), axes))
    return y


@layer("RMSNormalization", weights=lambda layer: ("scale",))
def rms_normalization(call: Call, x):
    """scale * x / sqrt(mean(x ** 2) + epsilon)."""
    axes, sizes = normalized_axes(call, x)
    y = root_mean_square(call, x, axes, call.number("epsilon", 1e-6))
    return call.op("Mul", y, along(call, x, call.weight("scale", sizes), axes))


@layer("UnitNormalization")
def unit_normalization(call: Call, x):
    """x divided by its length along axes."""
    axes = call.constant(call.axes("axis", len(call.shape(x))))
    total = call.op("Sum", call.op("Square", x), axes, keep_dims=True)
    least = 1e-24 if call.is_keras3 else 1e-12
    return call.op("Mul", x, call.op("Rsqrt", call.op("Maximum", total, call.constant(least, x))))


@layer("GroupNormalization", weights=scale_and_centre)
def group_normalization(call: Call, x):
    """Normalisation of groups of channels: x -> [batch, ..., groups, channels / groups] -> x."""
    shape = call.shape(x)
    axis = call.axis("axis", len(shape))
    channels = call.known(shape[axis], "the number of channels")
    groups = channels if call.setting("groups") == -1 else call.integers("groups", 1, 32)[0]
    call.check(channels % groups == 0, "groups", f"a divisor of {channels} channels")
    dims = dims_of(call, x)
    y = reshaped(call, x, [*dims[:axis], groups, channels // groups, *dims[axis + 1 :]])
    axes = call.constant([i for i in range(1, len(shape) + 1) if i != axis])
    mean = call.op("Mean", y, axes, keep_dims=True)
    variance = call.op("Mean", call.op("SquaredDifference", y, mean), axes, keep_dims=True)
    epsilon = call.constant(call.number("epsilon", 1e-3), x)
    inverse_stddev = call.op("Rsqrt", call.op("AddV2", variance, epsilon))
    y = reshaped(call, call.op("Mul", call.op("Sub", y, mean), inverse_stddev), dims)
    y.set_shape(shape)
    for kind, name in (("Mul", "gamma"), ("AddV2", "beta")):
        if name in scale_and_centre(call.layer):
            y = call.op(kind, y, along(call, x, call.weight(name, [channels]), [axis]))
    return y


@layer("LayerScale", weights=lambda layer: ("gamma",))
def layer_scale(call: Call, x):
    """x times a weight for each channel."""
    n = call.known(call.shape(x)[-1], "the last dimension")
    return call.op("Mul", x, call.weight("gamma", [n]))


@layer("CustomScaleLayer", "Custom>CustomScaleLayer", takes=LIST)
def custom_scale(call: Call, inputs):
    """The first input plus the second times a number: a class of keras.applications, which tf_keras
    registers as if it were a program's.
    """
    call.require(len(inputs) == 2, f"takes two tensors, got {len(inputs)}")
    scaled = call.op("Mul", inputs[1], call.constant(call.number("scale", 1.0), inputs[1]))
    return call.op("AddV2", inputs[0], scaled)


def learned_moments(layer: Layer) -> tuple[str, ...]:
    """Weights of a Normalization that was adapted."""
    return () if layer.config.get("mean") is not None else ("mean", "variance", "count")


@layer("Normalization", weights=learned_moments)
def normalization(call: Call, x):
    """(x - mean) / sqrt(variance), with moments of the data, or back."""
    x = call.cast(x, np.float32)
    shape = call.shape(x)
    axes, sizes = [], []
    if call.setting("axis", -1) not in (None, []):
        axes, sizes = normalized_axes(call, x)
    mean, variance = (moment(call, name, shape, axes, sizes) for name in ("mean", "variance"))
    deviation = np.maximum(np.sqrt(variance), np.float32(1e-7))
    if call.flag("invert"):
        y = call.op("Mul", x, call.constant(np.maximum(np.sqrt(variance), 1e-7), x))
        return call.op("AddV2", y, call.constant(mean, x))
    return call.op(
        "RealDiv", call.op("Sub", x, call.constant(mean, x)), call.constant(deviation, x)
    )


def moment(call: Call, name: str, shape: tuple, axes: list[int], sizes: list[int]) -> np.ndarray:
    """Mean or variance, from the settings or adapted, in a shape that broadcasts."""
    full = [n if i in axes else 1 for i, n in enumerate(shape)]
    if not learned_moments(call.layer):
        value = call.setting(name)
        try:
            array = np.asarray(value, np.float32)
            return (
                array.reshape(full)
                if array.size == np.prod(sizes)
                else np.broadcast_to(array, full)
            )
        except (TypeError, ValueError):
            call.check(False, name, f"numbers of shape {sizes}")
    return call.weight_value(name, sizes).reshape(full)
