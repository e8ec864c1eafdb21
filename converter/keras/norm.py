"""Normalisation."""

from __future__ import annotations

from .architecture import Layer
from .registry import Call, layer


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


@layer("LayerNormalization", weights=scale_and_centre)
def layer_normalization(call: Call, x):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, with the means of the input."""
    call.require(not call.flag("rms_scaling"), "rms_scaling is not supported")
    shape = call.shape(x)
    axes = call.axes("axis", len(shape))
    call.check(axes == sorted(set(axes)), "axis", "different axes in their order")
    sizes = [call.known(shape[axis], "each normalised dimension") for axis in axes]
    axes_tensor = call.constant(axes)
    mean = call.op("Mean", x, axes_tensor, keep_dims=True)
    variance = call.op("Mean", call.op("SquaredDifference", x, mean), axes_tensor, keep_dims=True)
    epsilon = call.constant(call.number("epsilon", 1e-3), x)
    inverse_stddev = call.op("Rsqrt", call.op("AddV2", variance, epsilon))
    y = call.op("Mul", call.op("Sub", x, mean), inverse_stddev)
    weight_shape = [shape[i] if i in axes else 1 for i in range(len(shape))]
    for kind, name in (("Mul", "gamma"), ("AddV2", "beta")):
        if name in scale_and_centre(call.layer):
            weight = call.weight(name, sizes)
            if axes[0] + len(axes) != len(shape):
                weight = call.op("Reshape", weight, call.constant(weight_shape))
            y = call.op(kind, y, weight)
    return y
