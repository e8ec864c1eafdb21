"""Functions of keras.ops.nn and tf.nn outside of layers: activations, convolutions, pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from .. import activation
from ..conv import transposed_length
from ..registry import Call, is_integer, is_number
from ..resize import INTERPOLATIONS, resize_images
from .arrange import integers
from .layouts import channels_last, over_sequences
from .operations import floating, operation, tensor
from .reductions import moments, reduced

PLAIN = {
    "HardSigmoid": "hard_sigmoid",
    "HardSilu": "hard_silu",
    "HardTanh": "hard_tanh",
    "LogSigmoid": "log_sigmoid",
    "Silu": "silu",
    "SparsePlus": "sparse_plus",
    "SparseSigmoid": "sparse_sigmoid",
    "TanhShrink": "tanh_shrink",
}
for _kind, _name in PLAIN.items():
    operation(_kind)(activation.ACTIVATIONS[_name])
operation("tf.nn.silu", "tf.nn.swish", features="x")(activation.swish)
operation("tf.math.log_sigmoid")(activation.log_sigmoid)


@operation("Gelu", "tf.nn.gelu", features="x")
def gelu(call: Call, x: Tensor, approximate: Any = None) -> Tensor:
    """x / 2 * (1 + erf(x / sqrt(2))), or its approximation by tanh."""
    default = not call.layer.kind.startswith("tf.")
    approximate = default if approximate is None else approximate
    return (activation.gelu_tanh if approximate else activation.gelu)(call, x)


@operation("LeakyRelu", "tf.nn.leaky_relu", features="x", alpha="negative_slope")
def leaky_relu(call: Call, x: Tensor, negative_slope: Any = 0.2) -> Tensor:
    """x, times the slope where it is negative."""
    return call.op("LeakyRelu", x, alpha=float(negative_slope))


@operation("Elu", "Celu")
def elu(call: Call, x: Tensor, alpha: Any = 1.0) -> Tensor:
    """x, a curve to -alpha where it is negative."""
    call.require(isinstance(alpha, int | float) and alpha > 0, "alpha must be positive")
    if call.layer.kind == "ops.Celu" or alpha == 1:
        return activation.celu(call, x, alpha)
    y = call.op("Mul", call.op("Elu", x), call.constant(alpha, x))
    return activation.where(call, "Greater", x, 0, x, y)


@operation("Glu")
def glu(call: Call, x: Tensor, axis: Any = -1) -> Tensor:
    """One half of an axis times the sigmoid of the other."""
    call.require(is_integer(axis), "axis must be an integer")
    return activation.glu(call, x, axis)


@operation("HardShrink")
def hard_shrink(call: Call, x: Tensor, threshold: Any = 0.5) -> Tensor:
    """x where it is far from 0."""
    return activation.hard_shrink(call, x, float(threshold))


@operation("SoftShrink")
def soft_shrink(call: Call, x: Tensor, threshold: Any = 0.5) -> Tensor:
    """x nearer to 0."""
    return activation.soft_shrink(call, x, float(threshold))


@operation("Squareplus")
def squareplus(call: Call, x: Tensor, b: Any = 4) -> Tensor:
    """(x + sqrt(x ** 2 + b)) / 2."""
    return activation.squareplus(call, x, float(b))


@operation("Threshold")
def threshold(
    call: Call, x: Tensor, threshold: Any = None, default_value: Any = None, value: Any = None
) -> Tensor:
    """x where it is larger than a limit, else a number."""
    other = default_value if value is None else value
    return activation.threshold(call, x, float(threshold), float(other))


def window_attributes(call: Call, rank: int, **settings: Any) -> dict[str, Any]:
    """TF's attributes of windows: numbers for each spatial dimension, channels last."""
    n = rank - 2
    attrs: dict[str, Any] = {}
    for name, value in settings.items():
        values = [value] * n if is_integer(value) else integers(call, value, name)
        call.require(len(values) == n and min(values) > 0, f"{name} must be {n} positive integers")
        attrs[name] = [1, *values, 1]
    return attrs


def padding_of(call: Call, padding: Any) -> str:
    """TF's name of a padding."""
    name = str(padding).upper()
    call.require(name in ("SAME", "VALID"), f"padding must be same or valid, got {name[:20]}")
    return name


@operation("MaxPool", "AveragePool")
@channels_last(is_batched=True)
@over_sequences
def pool(
    call: Call,
    inputs: Tensor,
    pool_size: Any,
    strides: Any = None,
    padding: Any = "valid",
    data_format: Any = None,
) -> Tensor:
    """The largest or the mean of windows of images."""
    rank = len(call.shape(inputs, 4, 5))
    strides = pool_size if strides is None else strides
    attrs = window_attributes(call, rank, ksize=pool_size, strides=strides)
    kind = "MaxPool" if call.layer.kind == "ops.MaxPool" else "AvgPool"
    kind += "3D" if rank == 5 else ""
    return call.op(kind, inputs, padding=padding_of(call, padding), **attrs)


@operation("Conv", "DepthwiseConv")
@channels_last(is_batched=True)
@over_sequences
def conv(
    call: Call,
    inputs: Tensor,
    kernel: Any,
    strides: Any = 1,
    padding: Any = "valid",
    data_format: Any = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """A convolution of images with a kernel that is given."""
    rank = len(call.shape(inputs, 4, 5))
    attrs = window_attributes(call, rank, strides=strides, dilations=dilation_rate)
    kind = "DepthwiseConv2dNative" if call.layer.kind == "ops.DepthwiseConv" else f"Conv{rank - 2}D"
    return call.op(kind, inputs, tensor(call, kernel), padding=padding_of(call, padding), **attrs)


@operation("ConvTranspose")
@channels_last(is_batched=True)
@over_sequences
def conv_transpose(
    call: Call,
    inputs: Tensor,
    kernel: Any,
    strides: Any = 1,
    padding: Any = "valid",
    output_padding: Any = None,
    data_format: Any = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """What each pixel spreads by a kernel [*window, filters, channels]."""
    shape = call.shape(inputs, 4, 5)
    n = len(shape) - 2
    kernel = tensor(call, kernel)
    attrs = window_attributes(call, n + 2, strides=strides, dilations=dilation_rate)
    *window, filters, _ = (call.known(size, "the kernel's shape") for size in call.shape(kernel))
    pads = output_padding if isinstance(output_padding, list) else [output_padding] * n
    is_same, lengths = padding_of(call, padding) == "SAME", []
    for i in range(n):
        size = call.size(inputs, i + 1) if shape[i + 1] is None else shape[i + 1]
        extent = (window[i] - 1) * attrs["dilations"][i + 1] + 1
        step = attrs["strides"][i + 1]
        lengths.append(transposed_length(call, size, extent, step, is_same, pads[i]))
    batch = call.size(inputs, 0) if shape[0] is None else shape[0]
    kind = "Conv3DBackpropInputV2" if n == 3 else "Conv2DBackpropInput"
    sizes = call.sizes([batch, *lengths, filters])
    return call.op(kind, sizes, kernel, inputs, padding=padding_of(call, padding), **attrs)


@operation("tf.nn.bias_add")
def bias_add(call: Call, value: Tensor, bias: Any, data_format: Any = None) -> Tensor:
    """`value` plus a number for each channel."""
    layout = "NCHW" if str(data_format).startswith("NC") else "NHWC"
    return call.op("BiasAdd", value, tensor(call, bias), data_format=layout)


@operation("Resize", "tf.image.resize", images="inputs", method="interpolation")
@channels_last()
def resize(
    call: Call,
    inputs: Tensor,
    size: Any,
    interpolation: Any = "bilinear",
    antialias: Any = False,
    crop_to_aspect_ratio: Any = False,
    pad_to_aspect_ratio: Any = False,
    preserve_aspect_ratio: Any = False,
    fill_value: Any = 0.0,
    data_format: Any = None,
    **others: Any,
) -> Tensor:
    """Images of another size."""
    call.require(not preserve_aspect_ratio, "preserve_aspect_ratio is not supported")
    names = ", ".join(INTERPOLATIONS)
    call.require(interpolation in INTERPOLATIONS, f"interpolation must be one of {names}")
    size = size if isinstance(size, Tensor) else integers(call, size, "size")
    is_one = len(call.shape(inputs, 3, 4)) == 3
    inputs = call.op("ExpandDims", inputs, call.constant(0)) if is_one else inputs
    if crop_to_aspect_ratio or pad_to_aspect_ratio:
        call.require(isinstance(size, list) and len(size) == 2, "the size must be two integers")
        inputs = _in_aspect(call, inputs, size, fill_value if pad_to_aspect_ratio else None)
    y = resize_images(call, inputs, size, interpolation, bool(antialias))
    return call.op("Squeeze", y, squeeze_dims=[0]) if is_one else y


def _in_aspect(call: Call, images: Tensor, size: list[int], fill_value: Any) -> Tensor:
    """Images cut to the form of a size, or padded to it where there is a value to pad with."""
    from ..preprocess import padded_to_aspect, to_aspect

    if fill_value is None:
        return to_aspect(call, images, *size)
    call.require(is_number(fill_value), f"fill_value must be a number, got {str(fill_value)[:20]}")
    return padded_to_aspect(call, images, size[0], size[1], fill_value)


@operation("RGBToGrayscale", "tf.image.rgb_to_grayscale", images="inputs")
def grayscale(call: Call, inputs: Tensor, data_format: Any = None) -> Tensor:
    """0.2989 red + 0.587 green + 0.114 blue."""
    is_last = data_format in (None, "channels_last")
    shape, axis = ([3], -1) if is_last else ([3, 1, 1], -3)
    weights = call.constant(np.reshape([0.2989, 0.587, 0.114], shape), inputs)
    return call.op("Sum", call.op("Mul", inputs, weights), call.constant([axis]), keep_dims=True)


def _epsilon(call: Call, epsilon: Any, x: Tensor) -> Tensor:
    """What is added to a variance; Keras' own number where the model says none."""
    number = 1e-7 if epsilon is None else epsilon
    call.require(is_number(number), f"epsilon must be a number, got {str(number)[:40]}")
    return call.constant(float(number), x)


@operation("LayerNorm")
def layer_norm(
    call: Call,
    x: Tensor,
    gamma: Any = None,
    beta: Any = None,
    axis: Any = -1,
    epsilon: Any = None,
    rms_scaling: Any = False,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon), scaled and moved."""
    call.require(rms_scaling is not True, "rms_scaling is not supported")
    mean, variance = moments(call, x, axis, True)
    inverse = call.op("Rsqrt", call.op("AddV2", variance, _epsilon(call, epsilon, x)))
    y = call.op("Mul", call.op("Sub", x, mean), inverse)
    y = y if gamma is None else call.op("Mul", y, floating(call, gamma))
    return y if beta is None else call.op("AddV2", y, floating(call, beta))


@operation("RMSNorm")
def rms_norm(
    call: Call, x: Tensor, scale: Any = None, axis: Any = -1, epsilon: Any = None
) -> Tensor:
    """x / sqrt(mean(x ** 2) + epsilon), scaled."""
    mean = reduced(call, "Mean", call.op("Square", x), axis, True)
    y = call.op("Mul", x, call.op("Rsqrt", call.op("AddV2", mean, _epsilon(call, epsilon, x))))
    return y if scale is None else call.op("Mul", y, floating(call, scale))


@operation(
    "DepthToSpace", "SpaceToDepth", "tf.nn.depth_to_space", "tf.nn.space_to_depth", input="x"
)
@channels_last()
def blocks(call: Call, x: Tensor, block_size: Any, data_format: Any = None) -> Tensor:
    """Blocks of pixels from channels, or into them."""
    to_space = call.layer.kind in ("ops.DepthToSpace", "tf.nn.depth_to_space")
    return call.op("DepthToSpace" if to_space else "SpaceToDepth", x, block_size=block_size)


@operation("tf.nn.dropout")
def dropout(call: Call, x: Tensor, rate: Any = None, **others: Any) -> Tensor:
    """Refused: it drops values when the model runs, too."""
    call.require(
        rate in (0, 0.0), "drops values at random when the model runs; use a Dropout layer"
    )
    return x


@operation("MultiHot")
def multi_hot(
    call: Call,
    inputs: Tensor,
    num_classes: Any,
    axis: Any = -1,
    dtype: Any = None,
    sparse: Any = False,
) -> Tensor:
    """1 where an index is among those along the second dimension, or the only one."""
    from .selection import one_hot

    hot = one_hot(call, inputs, num_classes, axis, dtype, sparse)
    reduced_axis = 1 if len(call.shape(inputs)) > 1 else 0
    kind = "Any" if hot.dtype.kind == "b" else "Max"
    return call.op(kind, hot, call.constant([reduced_axis]))


@operation("Digitize")
def digitize(call: Call, x: Tensor, bins: Any) -> Tensor:
    """In which of the intervals between boundaries a number lies."""
    bins = bins.tolist() if isinstance(bins, np.ndarray) else bins
    is_valid = isinstance(bins, list) and all(isinstance(b, int | float) for b in bins)
    call.require(is_valid, "bins must be numbers")
    return call.op("Bucketize", x, boundaries=[float(b) for b in bins])
