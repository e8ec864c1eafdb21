"""TF1's functions of a window that moves over images: convolutions and pools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.signatures.attribute_checks import int_value
from ..arguments import one_of

if TYPE_CHECKING:
    from ...core.typing import TensorLike

Padding: TypeAlias = "str | Sequence[Sequence[int]]"
"""The name of a scheme, or how much is put before and after each dimension."""


def conv2d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: int | Sequence[int] | None = None,
    padding: Padding | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: int | Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """A convolution over height and width.

    Args:
        input: [batch, height, width, channels].
        filter: [height, width, channels, results].
        strides: A number, or 2 or 4 of them.
        padding: "SAME", "VALID", or a pair of numbers for each dimension.
        use_cudnn_on_gpu: Taken for TensorFlow's sake.
        data_format: "NHWC", or "NCHW".
        dilations: Distances between the taps.
        name: Of the operation.
        filters: Another name of `filter`.
    """
    weights = one_of("filters", filters, "filter", filter)

    def convolved(x: TensorLike) -> Tensor:
        return ops.Conv2D(
            x,
            weights,
            use_cudnn_on_gpu=use_cudnn_on_gpu,
            data_format=data_format,
            strides=_four(strides, data_format, "strides"),
            dilations=_four(dilations, data_format, "dilations"),
            name=name,
            **_padding(padding),
        )

    return over_batches(convolved, input, 3)


def over_batches(function: Callable[[TensorLike], Tensor], x: TensorLike, n_inner: int) -> Tensor:
    """`function` of a tensor of 1 + `n_inner` dimensions, all but the inner ones as one batch."""
    x = convert_to_tensor(x, name="input") if isinstance(x, np.ndarray) else x
    rank = None if not isinstance(x, Tensor) or x.sizes is None else len(x.sizes)
    if rank is None or not isinstance(x, Tensor) or rank <= n_inner + 1:
        return function(x)
    sizes = ops.Shape(x)
    batch, inner = sizes[:-n_inner], sizes[-n_inner:]
    result = function(ops.Reshape(x, ops.ConcatV2([[-1], inner], np.int32(0))))
    shape = ops.ConcatV2([batch, ops.Shape(result)[-n_inner:]], np.int32(0))
    return ops.Reshape(result, shape)


def extract_image_patches(
    images: TensorLike,
    ksizes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: Sequence[int] | None = None,
) -> Tensor:
    """The elements under each place of a window, one behind another in the last dimension.

    Args:
        images: [batch, height, width, channels].
        ksizes: [1, height, width, 1], those of the window; `sizes` is its newer name.
        strides: [1, height, width, 1], how far the window moves.
        rates: [1, height, width, 1], how far its elements lie apart.
        padding: "SAME" or "VALID".
        name: Of the operation.
        sizes: See `ksizes`.
    """
    window = one_of("sizes", sizes, "ksizes", ksizes)
    attrs = {"ksizes": window, "strides": strides, "rates": rates, "padding": padding}
    return ops.ExtractImagePatches(images, name=name, **attrs)


def extract_volume_patches(
    input: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Tensor:
    """`extract_image_patches` of volumes [batch, depth, height, width, channels].

    Args:
        input: The volumes.
        ksizes: [1, depth, height, width, 1], the sizes of the window.
        strides: [1, depth, height, width, 1], how far it moves.
        padding: "SAME" or "VALID".
        name: Of the operation.
    """
    return ops.ExtractVolumePatches(
        input, ksizes=ksizes, strides=strides, padding=padding, name=name
    )


def _padding(padding: Padding | None) -> dict[str, Padding | bytes | list[int]]:
    """The attributes that say how much is padded."""
    if isinstance(padding, (list, tuple)):
        for i, pair in enumerate(padding):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise ValueError(
                    "When `padding` is a list, each element of `padding` must be a list/tuple of "
                    f"size 2. Received: padding={padding} with element at index {i} of type "
                    f"{type(pair)}"
                )
        return {
            "padding": b"EXPLICIT",
            "explicit_paddings": [int(n) for pair in padding for n in pair],
        }
    if padding is None:
        raise TypeError("Expected string for argument 'padding' not None.")
    return {"padding": padding}


def _four(numbers: int | Sequence[int] | None, data_format: str | None, name: str) -> list[int]:
    """Numbers for each dimension of images, from one, two or four; 1 by default."""
    return for_each_dimension(numbers, 2, data_format, name)


def int_list(numbers: object, name: str) -> list[int]:
    """A number or several as a list; TypeError for what is no integer."""
    if isinstance(numbers, (str, bytes)) or not isinstance(numbers, Iterable):
        return [int_value(name, numbers)]
    return [int_value(name, n) for n in cast("Iterable[object]", numbers)]


def for_each_dimension(
    numbers: int | Sequence[int] | None, n: int, data_format: str | None, name: str
) -> list[int]:
    """Numbers for batch, n spatial dimensions and channels, from one, n or all; 1 by default."""
    if numbers is None:
        return [1] * (n + 2)
    sizes = int_list(numbers, name)
    if len(sizes) == n + 2:
        return sizes
    if len(sizes) not in (1, n):
        raise ValueError(
            f"{name} should be of length 1, {n} or {n + 2}. Received: {name}={numbers} of length "
            f"{len(sizes)}"
        )
    inner = sizes * n if len(sizes) == 1 else sizes
    return [1, 1, *inner] if data_format and data_format.startswith("NC") else [1, *inner, 1]


def conv2d_transpose(
    value: TensorLike | None = None,
    filter: TensorLike | None = None,
    output_shape: TensorLike | None = None,
    strides: int | Sequence[int] | None = None,
    padding: str = "SAME",
    data_format: str = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """What `conv2d` would take to `value`; `filter` is [height, width, results, channels].

    Args:
        value: [batch, height, width, channels], or as `data_format` has it; `input` under a newer
            name.
        filter: [height, width, results, channels]; `filters` under a newer name.
        output_shape: The shape of the result, a vector of 4 int32 numbers.
        strides: Steps of the window: one number, two, or four with those of batch and channels.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        name: Of the operation.
        dilations: Distances between the taps, as `strides` are given.

    Raises ValueError where shapes do not go together.
    """
    value = one_of("input", input, "value", value)
    filter = one_of("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        return ops.Conv2DBackpropInput(
            convert_to_tensor(output_shape, np.int32, "input_sizes"),
            filter,
            value,
            strides=_four(strides, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=_four(dilations, data_format, "dilations"),
            name=scope,
        )


def conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Padding,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `conv2d` by its filter.

    Args:
        input: [batch, height, width, channels] that went into the convolution, real floats.
        filter_sizes: int32 [4], the shape of the filter: height, width, channels, results.
        out_backprop: [batch, height, width, results], the gradient by the convolution's result.
        strides, padding, data_format, dilations: Those of the convolution, four numbers each.
        use_cudnn_on_gpu: Taken for TensorFlow's sake.
        name: Of the operation.

    Returns the shape `filter_sizes`. Raises ValueError or, when it runs, InvalidArgumentError where
    sizes do not fit.
    """
    return ops.Conv2DBackpropFilter(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
        **_padding(padding),
    )


def dilation2d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    padding: str | None = None,
    name: str | None = None,
    filters: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """The largest sum of input and filter within each window.

    Args:
        input: [batch, height, width, channels], real numbers.
        filter: [height, width, channels] of the same type.
        strides, rates: Four numbers, those of batch and channels 1.
        padding: "SAME" or "VALID".
        name: Of the operation.
        filters, dilations: Newer names of `filter` and `rates`.

    Raises TypeError for what is no list, ValueError for shapes that do not fit.
    """
    return ops.Dilation2D(
        input,
        one_of("filters", filters, "filter", filter),
        strides=strides,
        rates=one_of("dilations", dilations, "rates", rates),
        padding=padding,
        name=name,
    )


def conv2d_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike | None = None,
    out_backprop: TensorLike | None = None,
    strides: int | Sequence[int] | None = None,
    padding: Padding | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: int | Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The gradient of `conv2d` by its input.

    Args:
        input_sizes: int32 [4], the shape of that input: batch, height, width, channels.
        filter: [height, width, channels, results], real floats; `filters` under a newer name.
        out_backprop: [batch, height, width, results], the gradient by the convolution's result.
        strides, padding, data_format, dilations: Those of the convolution.
        use_cudnn_on_gpu: Taken for TensorFlow's sake.
        name: Of the operation.

    Returns the shape `input_sizes`. Raises ValueError or, when it runs, InvalidArgumentError where
    sizes do not fit.
    """
    return ops.Conv2DBackpropInput(
        input_sizes,
        one_of("filters", filters, "filter", filter),
        out_backprop,
        strides=_four(strides, data_format, "strides"),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=_four(dilations, data_format, "dilations"),
        name=name,
        **_padding(padding),
    )


def depthwise_conv2d_native(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: Padding,
    data_format: str | None = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """A convolution of each channel by itself: result c * m + j is that of channel c by filter j.

    Args:
        input: [batch, height, width, channels], or as `data_format` has it; real floats.
        filter: [height, width, channels, m], of the same type.
        strides: Four numbers; those of batch and channels are 1.
        padding: "SAME", "VALID", or pairs of numbers for each dimension.
        data_format: "NHWC" or "NCHW".
        dilations: Four numbers, distances between the taps; those of batch and channels are 1.
        name: Of the operation.

    Returns [batch, height, width, channels * m]. Raises ValueError where shapes do not go together.
    """
    return ops.DepthwiseConv2dNative(
        input,
        filter,
        strides=strides,
        data_format=data_format or "NHWC",
        dilations=dilations,
        name=name,
        **_padding(padding),
    )


def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: Padding,
    rate: int | Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """A convolution of each channel by itself; `filter` is [height, width, channels, m].

    Args:
        input: [batch, height, width, channels], or as `data_format` has it.
        filter: [height, width, channels, m]: m results for each channel.
        strides: Steps of the window: four numbers, of which those of batch and channels are 1.
        padding: "SAME", "VALID", or pairs of numbers for each dimension.
        rate: Distances between the taps; `dilations` under a newer name.
        name: Of the operation.
        data_format: "NHWC" (the default) or "NCHW".

    Raises ValueError where shapes do not go together.
    """
    rate = one_of("dilations", dilations, "rate", rate)
    gaps = [1, 1] if rate is None else [int(n) for n in np.atleast_1d(np.asarray(rate))]
    layout = data_format or "NHWC"
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")
        four = [1, 1, *gaps] if layout.startswith("NC") else [1, *gaps, 1]
        return depthwise_conv2d_native(input, filter, strides, padding, layout, four, scope)


def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Sequence[int],
    padding: Padding,
    rate: int | Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """A convolution of each channel by itself, then one that mixes them.

    Args:
        input: [batch, height, width, channels], or as `data_format` has it.
        depthwise_filter: [height, width, channels, m].
        pointwise_filter: [1, 1, channels * m, results].
        strides: Steps of the window: four numbers, of which those of batch and channels are 1.
        padding: "SAME", "VALID", or pairs of numbers for each dimension.
        rate: Distances between the taps; `dilations` under a newer name.
        name: Of the operation.
        data_format: "NHWC" (the default) or "NCHW".

    Raises ValueError where shapes do not go together.
    """
    rate = one_of("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input]) as scope:
        each = depthwise_conv2d(
            input, depthwise_filter, strides, padding, rate, "depthwise", data_format
        )
        layout = data_format or "NHWC"
        return conv2d(each, pointwise_filter, 1, "VALID", data_format=layout, name=scope)


def atrous_conv2d(
    value: TensorLike, filters: TensorLike, rate: int, padding: Padding, name: str | None = None
) -> Tensor:
    """A convolution whose taps lie `rate` apart (Chen et al., arXiv 1412.7062), in steps of 1.

    Args:
        value: [batch, height, width, channels], real floats.
        filters: [height, width, channels, results], of the same type.
        rate: The distance between the taps, at least 1.
        padding: "SAME" or "VALID".
        name: Of the operation.

    Returns [batch, height, width, results], with "VALID" (size - 1) * rate less of height and
    width.

    Raises ValueError for a rate below 1, and where shapes do not go together.
    """
    if rate < 1:
        raise ValueError(f"`rate` cannot be less than one. Received: rate={rate}")
    return conv2d(value, filters, 1, padding, dilations=[1, rate, rate, 1], name=name)


def max_pool(
    value: TensorLike | None = None,
    ksize: int | Sequence[int] | None = None,
    strides: int | Sequence[int] | None = None,
    padding: Padding | None = None,
    data_format: str = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The largest element under each position of a window.

    Args:
        value: [batch, height, width, channels], or as `data_format` has it; `input` under a newer
            name.
        ksize, strides: Of the window: one number, two, or four with those of batch and channels.
        padding: "SAME", "VALID", or pairs of numbers for each dimension.
        data_format: "NHWC" or "NCHW".
        name: Of the operation.

    Raises ValueError where the window does not fit.
    """
    value = one_of("input", input, "value", value)
    if not np.all(ksize):
        raise ValueError(f"`ksize` cannot be zero. Received: ksize={ksize}")
    return _pooled("MaxPool", "input", value, ksize, strides, padding, data_format, name)


def avg_pool(
    value: TensorLike,
    ksize: int | Sequence[int] | None = None,
    strides: int | Sequence[int] | None = None,
    padding: Padding | None = None,
    data_format: str = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The mean of the elements under each position of a window.

    Args:
        value: [batch, height, width, channels], or as `data_format` has it; `input` under a newer
            name.
        ksize, strides: Of the window: one number, two, or four with those of batch and channels.
        padding: "SAME", "VALID".
        data_format: "NHWC" or "NCHW".
        name: Of the operation.

    Raises ValueError where the window does not fit.
    """
    images = one_of("input", input, "value", value)
    return _pooled("AvgPool", "value", images, ksize, strides, padding, data_format, name)


def _pooled(
    kind: str,
    label: str,
    value: TensorLike | None,
    ksize: int | Sequence[int] | None,
    strides: int | Sequence[int] | None,
    padding: Padding | None,
    data_format: str,
    name: str | None,
) -> Tensor:
    """The result of a pooling operation; `label` names what is converted to a tensor."""
    with name_scope(name, kind, [value]) as scope:
        return getattr(ops, kind)(
            convert_to_tensor(value, name=label),
            ksize=_four(ksize, data_format, "ksize"),
            strides=_four(strides, data_format, "strides"),
            data_format=data_format,
            name=scope,
            **_padding(padding),
        )
