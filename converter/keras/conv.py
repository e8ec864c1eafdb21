"""Convolutions in one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .core import bias_of, biased, kernel_and_bias
from .files.architecture import Layer
from .registry import Call, is_integer, layer

CHANNELS = {3: ("NWC", "NCW"), 4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}


def layout(call: Call, rank: int) -> tuple[str, slice, int]:
    """TF's name of the layout, where the spatial dimensions are, and the channels."""
    if call.is_channels_first():
        return CHANNELS[rank][1], slice(2, rank), 1
    return CHANNELS[rank][0], slice(1, rank - 1), rank - 1


def in_two_dimensions(function: Callable) -> Callable:
    """Lets `function(call, x)` on images serve sequences [batch, steps, channels].

    x -> ExpandDims(1) -> function -> Squeeze(1)
    """

    def write(call: Call, x):
        call.shape(x, 3)
        call.require(not call.is_channels_first(), "channels_first is not supported here")
        y = function(call, call.op("ExpandDims", x, call.constant(1)))
        return call.op("Squeeze", y, squeeze_dims=[1])

    return write


def sizes(call: Call, name: str, n_spatial: int, rank: int) -> list[int]:
    """A setting per spatial dimension; of a sequence that was made an image, 1 and its own."""
    return [1] * (rank - 2 - n_spatial) + call.integers(name, n_spatial)


def attributes(call: Call, n: int, rank: int) -> dict:
    """Strides, dilations, layout of an `n`-dimensional convolution on a tensor of `rank`."""
    name, spatial, _ = layout(call, rank)
    attrs: dict = {"data_format": name}
    for attribute, setting in (("strides", "strides"), ("dilations", "dilation_rate")):
        full = [1] * rank
        full[spatial] = sizes(call, setting, n, rank)
        attrs[attribute] = full
    if max(attrs["dilations"]) > 1:
        call.require(max(attrs["strides"]) == 1, "strides and dilation_rate must not both be > 1")
    return attrs


def padded(call: Call, x, n: int, window: list[int], attrs: dict):
    """The input and TF's padding; a causal one becomes a Pad before the steps."""
    padding = call.text("padding", "valid", "same", *(("causal",) if n == 1 else ()))
    if padding != "causal":
        return x, padding.upper()
    before = (window[-1] - 1) * attrs["dilations"][2]
    return call.op("Pad", x, call.constant([[0, 0], [0, 0], [before, 0], [0, 0]])), "VALID"


def convolution(kind: str, n: int) -> Callable:
    """Writes an `n`-dimensional convolution as a TF operation."""

    def write(call: Call, x):
        shape = call.shape(x, max(n, 2) + 2)
        rank = len(shape)
        attrs, window = attributes(call, n, rank), sizes(call, "kernel_size", n, rank)
        channels = call.known(shape[layout(call, rank)[2]], "the number of channels")
        (filters,), (groups,) = call.integers("filters", 1), call.integers("groups", 1)
        call.check(channels % groups == 0, "groups", f"a divisor of {channels} channels")
        kernel_shape = [*window[-n:], channels // groups, filters]
        kernel = call.weight("kernel", kernel_shape)
        if n == 1:
            kernel = call.op("ExpandDims", kernel, call.constant(0))
        x, padding = padded(call, x, n, window, attrs)
        y = call.op(kind, x, kernel, padding=padding, **attrs)
        return biased(call, y, filters, attrs["data_format"])

    return write


layer("Conv1D", "Convolution1D", weights=kernel_and_bias)(
    in_two_dimensions(convolution("Conv2D", 1))
)
layer("Conv2D", "Convolution2D", weights=kernel_and_bias)(convolution("Conv2D", 2))


@layer("Conv3D", "Convolution3D", weights=kernel_and_bias)
def conv3d(call: Call, x):
    """A 3-D convolution, channels last."""
    call.require(not call.is_channels_first(), "channels_first is not supported here")
    return convolution("Conv3D", 3)(call, x)


def depthwise(call: Call, x, n: int, weight: str):
    """Each channel with filters of its own; also the attributes used and the channels' number."""
    shape = call.shape(x, 4)
    attrs, window = attributes(call, n, 4), sizes(call, "kernel_size", n, 4)
    if n == 1:
        attrs["strides"][1] = attrs["strides"][2]
    channels = call.known(shape[layout(call, 4)[2]], "the number of channels")
    (multiplier,) = call.integers("depth_multiplier", 1)
    kernel = call.weight(weight, [*window[-n:], channels, multiplier])
    if n == 1:
        kernel = call.op("ExpandDims", kernel, call.constant(0))
    x, padding = padded(call, x, n, window, attrs)
    y = call.op("DepthwiseConv2dNative", x, kernel, padding=padding, **attrs)
    return y, attrs["data_format"], channels * multiplier


def depthwise_layer(n: int) -> Callable:
    """Writes a depthwise convolution of images or sequences."""

    def write(call: Call, x):
        y, data_format, channels = depthwise(call, x, n, "kernel")
        return biased(call, y, channels, data_format)

    return write


layer("DepthwiseConv1D", weights=kernel_and_bias)(in_two_dimensions(depthwise_layer(1)))
layer("DepthwiseConv2D", weights=kernel_and_bias)(depthwise_layer(2))


def separable_weights(layer: Layer) -> tuple[str, ...]:
    """Weights of a separable convolution."""
    return ("depthwise_kernel", "pointwise_kernel", *bias_of(layer))


def separable(n: int) -> Callable:
    """Writes a depthwise convolution and one of size 1 after it."""

    def write(call: Call, x):
        y, data_format, channels = depthwise(call, x, n, "depthwise_kernel")
        (filters,) = call.integers("filters", 1)
        kernel = call.weight("pointwise_kernel", [*[1] * n, channels, filters])
        if n == 1:
            kernel = call.op("ExpandDims", kernel, call.constant(0))
        y = call.op("Conv2D", y, kernel, strides=[1] * 4, padding="VALID", data_format=data_format)
        return biased(call, y, filters, data_format)

    return write


layer("SeparableConv1D", "SeparableConvolution1D", weights=separable_weights)(
    in_two_dimensions(separable(1))
)
layer("SeparableConv2D", "SeparableConvolution2D", weights=separable_weights)(separable(2))


def transposed(n: int) -> Callable:
    """Writes the gradient of an `n`-dimensional convolution."""

    def write(call: Call, x):
        rank = max(n, 2) + 2
        shape = call.shape(x, rank)
        data_format, spatial, channel = layout(call, rank)
        (filters,), window = call.integers("filters", 1), call.integers("kernel_size", n)
        channels = call.known(shape[channel], "the number of channels")
        kernel = call.weight("kernel", [*window, filters, channels])
        kernel = call.op("ExpandDims", kernel, call.constant(0)) if n == 1 else kernel
        padding = call.text("padding", "valid", "same")
        dims = [call.size(x, i) if size is None else size for i, size in enumerate(shape)]
        dims[channel] = filters
        axes = list(range(rank))[spatial][-n:]
        for i, axis in enumerate(axes):
            dims[axis] = _transposed_length(call, dims[axis], i, n)
        attrs: dict[str, Any] = {"strides": [1] * rank, "dilations": [1] * rank}
        attrs["strides"][spatial] = sizes(call, "strides", n, rank)
        attrs["dilations"][spatial] = sizes(call, "dilation_rate", n, rank)
        kind = "Conv3DBackpropInputV2" if n == 3 else "Conv2DBackpropInput"
        attrs |= {"padding": padding.upper(), "data_format": data_format}
        y = call.op(kind, call.sizes(dims), kernel, x, **attrs)
        y.set_shape([size if isinstance(size, int) else None for size in dims])
        return biased(call, y, filters, data_format)

    return write


layer("Conv1DTranspose", "Convolution1DTranspose", weights=kernel_and_bias)(
    in_two_dimensions(transposed(1))
)
layer("Conv2DTranspose", "Convolution2DTranspose", weights=kernel_and_bias)(transposed(2))
layer("Conv3DTranspose", "Convolution3DTranspose", weights=kernel_and_bias)(transposed(3))


def _transposed_length(call: Call, length: Any, i: int, n: int) -> Any:
    """The size of a transposed convolution's result along spatial dimension `i` of `n`."""
    window, stride = call.integers("kernel_size", n)[i], call.integers("strides", n)[i]
    window = (window - 1) * call.integers("dilation_rate", n)[i] + 1
    is_same = call.setting("padding") == "same"
    output_padding: Any = call.setting("output_padding")
    if isinstance(output_padding, list) and len(output_padding) == n:
        output_padding = output_padding[i]
    return transposed_length(call, length, window, stride, is_same, output_padding)


def transposed_length(
    call: Call, length: Any, window: int, stride: int, is_same: bool, output_padding: Any
) -> Any:
    """The size of what `length` elements spread to, a number or a scalar."""
    if output_padding is None:
        return _linear(call, length, stride, 0 if is_same else max(window - stride, 0))
    is_valid = is_integer(output_padding) and 0 <= output_padding < stride
    call.check(is_valid, "output_padding", "below the strides")
    offset = window - stride - 2 * (window // 2 if is_same else 0) + output_padding
    return _linear(call, length, stride, offset)


def _linear(call: Call, length: Any, factor: int, offset: int) -> Any:
    """length * factor + offset, of a number or a scalar."""
    if is_integer(length):
        return length * factor + offset
    return call.op("AddV2", call.op("Mul", length, call.constant(factor)), call.constant(offset))
