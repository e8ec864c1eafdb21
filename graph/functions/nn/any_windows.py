"""Convolutions and pools over one, two or three dimensions, as many as their input has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...format.tensor_values import get_static_value
from ..arguments import one_of
from ..array import array
from ..array.space_to_batch import required_space_to_batch_paddings
from ..rows import functions
from .line_windows import (
    avg_pool1d,
    avg_pool3d,
    conv1d,
    conv1d_transpose,
    conv3d,
    conv3d_transpose,
    max_pool1d,
    max_pool3d,
)
from .windows import avg_pool, conv2d, conv2d_transpose, max_pool

if TYPE_CHECKING:
    from ...core.typing import TensorLike

    Sizes: TypeAlias = int | Sequence[int]
    Function: TypeAlias = Callable[..., Tensor]

ONE_TO_ONE = r"""
conv3d_backprop_filter_v2 Conv3DBackpropFilterV2 input filter_sizes out_backprop strides padding \
    data_format='NDHWC' dilations=[1,1,1,1,1] # The gradient of a 3-D convolution for its filter
depthwise_conv2d_native_backprop_filter DepthwiseConv2dNativeBackpropFilter input filter_sizes \
    out_backprop strides padding data_format='NHWC' dilations=[1,1,1,1] \
    # The gradient of a depthwise convolution for its filter
depthwise_conv2d_native_backprop_input DepthwiseConv2dNativeBackpropInput input_sizes filter \
    out_backprop strides padding data_format='NHWC' dilations=[1,1,1,1] \
    # The gradient of a depthwise convolution for its input
"""
globals().update(functions(ONE_TO_ONE, __name__))

POOLS: dict[str, tuple[Function, ...]] = {
    "MAX": (max_pool1d, max_pool, max_pool3d),
    "AVG": (avg_pool1d, avg_pool, avg_pool3d),
}
CONVOLUTIONS: tuple[Function, ...] = (conv1d, conv2d, conv3d)
TRANSPOSED: tuple[Function, ...] = (conv1d_transpose, conv2d_transpose, conv3d_transpose)
FORMATS = ("NWC", "NHWC", "NDHWC")


def _n_spatial(x: Tensor, data_format: str | None) -> int:
    """Over how many dimensions windows move."""
    if x.sizes is not None:
        n = len(x.sizes) - 2
    elif data_format is not None:
        n = len(data_format) - 2
    else:
        raise ValueError(
            "`input` must have a static shape or `data_format` must be given. Received: "
            f"input.shape={x.sizes} and data_format={data_format}"
        )
    if not 1 <= n <= 3:
        raise ValueError(
            "`input.shape.rank` must be 3, 4 or 5. Received: "
            f"input.shape={x.sizes} of rank {n + 2}."
        )
    return n


def _pool_of(kind: str, input: TensorLike, ksize: Sizes, strides: Sizes, padding: str,
             data_format: str | None, name: str | None) -> Tensor:  # fmt: skip
    x = convert_to_tensor(input, name="input")
    n = _n_spatial(x, data_format)
    layout = FORMATS[n - 1] if data_format is None else data_format
    return POOLS[kind][n - 1](x, ksize, strides, padding, data_format=layout, name=name)


def max_pool_v2(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The largest element under each position of a window.

    Args:
        input: [batch, 1 to 3 spatial dimensions, channels], or channels before them.
        ksize, strides: One number, one for each spatial dimension, or one for all dimensions.
        padding: "SAME" or "VALID".
        data_format: "NWC", "NHWC", "NDHWC", or those with channels first.
        name: Of the operations.

    Raises ValueError for another rank.
    """
    return _pool_of("MAX", input, ksize, strides, padding, data_format, name)


def avg_pool_v2(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The mean of the elements under each position of a window.

    Args:
        input: [batch, 1 to 3 spatial dimensions, channels], or channels before them; real floats.
        ksize, strides: One number, one for each spatial dimension, or one for all dimensions.
        padding: "SAME", whose windows count only what is there, or "VALID".
        data_format: "NWC", "NHWC", "NDHWC", or those with channels first.
        name: Of the operations.

    Raises ValueError for another rank, TypeError for integers.
    """
    return _pool_of("AVG", input, ksize, strides, padding, data_format, name)


def pool(
    input: TensorLike,
    window_shape: Sizes,
    pooling_type: str,
    padding: str,
    dilation_rate: Sizes | None = None,
    strides: Sizes | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sizes | None = None,
) -> Tensor:
    """A pool over one to three dimensions.

    Args:
        input: [batch, spatial dimensions, channels], or channels before them.
        window_shape: One number, or one for each spatial dimension.
        pooling_type: "MAX" or "AVG".
        padding: "SAME" or "VALID".
        dilation_rate: Distances of the elements of a window, with strides of 1 and "VALID" alone.
        strides: How far a window moves.
        name: Of the operations.
        data_format: "NWC", "NHWC", "NDHWC", or those with channels first.
        dilations: Another name of `dilation_rate`.

    Raises ValueError for another type or rank, and for what cannot go with dilations.
    """
    rate = one_of("dilations", dilations, "dilation_rate", dilation_rate)
    x = convert_to_tensor(input, name="input")
    n = _n_spatial(x, data_format)
    if pooling_type not in POOLS:
        raise ValueError(f"{n}-D {pooling_type} pooling is not supported.")
    function, layout = POOLS[pooling_type][n - 1], data_format or FORMATS[n - 1]
    gaps = [int(size) for size in np.broadcast_to(np.asarray(1 if rate is None else rate), n)]
    steps = np.broadcast_to(np.asarray(1 if strides is None else strides), n)
    if np.any(steps > np.asarray(window_shape)):
        raise ValueError(
            "`strides` > `window_shape` not supported due to inconsistency between CPU and GPU "
            f"implementations. Received: strides={steps} and window_shape={window_shape}"
        )
    name = name or f"{pooling_type.lower()}_pool"
    if max(gaps) == 1:
        with name_scope(name, values=[x]) as scope:
            return function(x, window_shape, steps, padding, data_format=layout, name=scope)
    if max(steps) > 1:
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
            f"strides={steps} and dilation_rate={np.array(gaps)}"
        )
    if padding != "VALID":
        raise ValueError(
            f"pooling with '{padding}' padding is not implemented for `dilation_rate` > 1. "
            f"Received: padding={padding} and dilation_rate={np.array(gaps)}"
        )
    if layout.startswith("NC"):
        raise ValueError(f"pool with dilations takes channels last, got {data_format!r}")
    return _with_gaps(function, x, window_shape, gaps, name)


def _with_gaps(
    function: Function, x: Tensor, window_shape: Sizes, gaps: Sequence[int], name: str
) -> Tensor:
    """A pool under windows with gaps: of the batch of inputs that take every n-th element."""
    n = len(gaps)
    window = [int(size) for size in np.broadcast_to(np.asarray(window_shape), n)]
    with name_scope(name, values=[x]) as scope:
        blocks = np.array(gaps, np.int32)
        sizes = ops.StridedSlice(ops.Shape(x), [1], [n + 1], [1])
        paddings, crops = required_space_to_batch_paddings(sizes, blocks)
        blocked = ops.SpaceToBatchND(x, blocks, paddings)
        pooled = function(blocked, window, 1, "VALID", name=scope)
        return ops.BatchToSpaceND(pooled, blocks, crops)


def convolution(
    input: TensorLike,
    filter: TensorLike | None,
    padding: str,
    strides: Sizes | None = None,
    dilation_rate: Sizes | None = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: TensorLike | None = None,
    dilations: Sizes | None = None,
) -> Tensor:
    """A convolution over one to three dimensions.

    Args:
        input: [batch, spatial dimensions, channels], or channels before them.
        filter: [window, channels, results].
        padding: "SAME" or "VALID".
        strides, dilation_rate: One number, or one for each spatial dimension.
        name: Of the operations.
        data_format: "NWC", "NHWC", "NDHWC", or those with channels first.
        filters, dilations: Other names of `filter` and `dilation_rate`.

    Raises ValueError for another rank.
    """
    weights = convert_to_tensor(one_of("filters", filters, "filter", filter), name="filter")
    rate = one_of("dilations", dilations, "dilation_rate", dilation_rate)
    x = convert_to_tensor(input, name="input")
    n = len(weights.sizes) - 2 if weights.sizes is not None else _n_spatial(x, data_format)
    if not 1 <= n <= 3:
        raise ValueError(f"`filter` must be of rank 3, 4 or 5, got shape {weights.sizes}")
    layout = data_format or FORMATS[n - 1]
    steps, gaps = (1 if numbers is None else numbers for numbers in (strides, rate))
    with name_scope(name, "convolution", [x, weights]) as scope:
        function = CONVOLUTIONS[n - 1]
        return function(x, weights, steps, padding, data_format=layout, dilations=gaps, name=scope)


def conv_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: TensorLike,
    strides: Sizes,
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """What a convolution over one to three dimensions would take to `input`.

    Args:
        input: The results of that convolution.
        filters: [window, results, channels].
        output_shape: A shape of 3, 4 or 5 numbers.
        strides, dilations: One number, or one for each spatial dimension.
        padding: "SAME" or "VALID".
        data_format: "NWC", "NHWC", "NDHWC", or those with channels first.
        name: Of the operations.

    Raises ValueError for another length of `output_shape`.
    """
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as scope:
        if isinstance(output_shape, Tensor):
            length = (output_shape.sizes or (None,))[0]
        elif isinstance(output_shape, (Sequence, np.ndarray)):
            length = len(output_shape)
        else:
            length = None
        if length is None:
            raise ValueError(
                "`output_shape` must be a tensor or sized collection. Received: "
                f"output_shape={output_shape}"
            )
        if not 3 <= length <= 5:
            raise ValueError(
                "`output_shape` must be of length 3, 4 or 5. Received: "
                f"output_shape={output_shape} of length {length}."
            )
        layout = data_format or FORMATS[length - 3]
        return TRANSPOSED[length - 3](
            input, filters, output_shape, strides, padding,
            data_format=layout, dilations=dilations, name=scope,
        )  # fmt: skip


def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: TensorLike,
    rate: int,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """What `atrous_conv2d` would take to `value`: the gradient of that by what it is of.

    Args:
        value: [batch, height, width, channels], real floats.
        filters: [height, width, results, channels], of the same type.
        output_shape: Four numbers, the shape of the result.
        rate: The distance between the taps, at least 1.
        padding: "SAME" or "VALID".
        name: Of the operations.

    Raises ValueError for a rate below 1, another padding, and channels that do not fit; when it
    runs, InvalidArgumentError for sizes from which `atrous_conv2d` would not come to those of
    `value`.
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]) as scope:
        x, weights = convert_to_tensor(value, name="value"), convert_to_tensor(filters)
        channels = None if x.sizes is None else x.sizes[3]
        expected = None if weights.sizes is None else weights.sizes[3]
        if None not in (channels, expected) and channels != expected:
            raise ValueError(
                "`value` channels must be compatible with `filters` input channels. Received: "
                f"value.shape={x.sizes} with {channels} channels and filters.shape={weights.sizes} "
                f"with {expected} input channels."
            )
        if rate < 1:
            raise ValueError(f"`rate` cannot be less than one. Received: rate={rate}")
        if padding not in ("SAME", "VALID"):
            raise ValueError(
                f"`padding` must be either 'VALID' or 'SAME'. Received: padding={padding}"
            )
        sizes = convert_to_tensor(output_shape, name="output_shape")
        if sizes.sizes not in (None, (4,), (None,)):
            raise ValueError(f"`output_shape` must have shape (4,). Received: {sizes.sizes}")
        gaps = [1, rate, rate, 1]
        return conv2d_transpose(x, weights, sizes, 1, padding, dilations=gaps, name=scope)


def with_space_to_batch(
    input: TensorLike,
    dilation_rate: TensorLike,
    padding: str,
    op: Callable[[Tensor, np.ndarray | Tensor, str], Tensor],
    filter_shape: TensorLike | None = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """`op(x, n spatial dimensions, "VALID")` on every n-th element along each dimension.

    Args:
        input: [batch, spatial dimensions, ...], or channels second.
        dilation_rate: n for each spatial dimension, constant.
        padding: "SAME" or "VALID".
        op: What is applied.
        filter_shape: The window's size along each spatial dimension, constant; needed for "SAME".
        spatial_dims: Which dimensions these are; the first behind the batch by default.
        data_format: With channels first when it begins with "NC".

    Raises ValueError for "SAME" without a constant `filter_shape`, and for another padding.
    """
    rates = [int(n) for n in np.atleast_1d(np.asarray(dilation_rate))]
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    dims = list(spatial_dims or np.arange(first, first + len(rates)).tolist())
    if dims != np.arange(dims[0], dims[0] + len(rates)).tolist() or dims[0] not in (1, 2):
        raise ValueError(f"`spatial_dims` must follow the batch or the channels, got {dims}")
    x = convert_to_tensor(input, name="input")
    if max(rates) == 1:
        return op(x, np.array(len(rates), np.int32), padding)
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be either 'VALID' or 'SAME'. Received: {padding}")
    base = np.zeros((len(rates), 2), np.int32)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("`filter_shape` must be specified for `padding='SAME'`.")
        known = get_static_value(convert_to_tensor(filter_shape))
        if known is None:
            raise ValueError(f"`filter_shape` must be constant. Received: {filter_shape}")
        windows = np.asarray(known)[: len(rates)]
        extra = windows + (windows - 1) * (np.array(rates) - 1) - 1
        base = np.stack([extra // 2, extra - extra // 2], 1).astype(np.int32)
    last_first = dims[0] == 2
    if last_first:
        x = array.transpose(x, [0, *dims, 1])
    sizes = ops.StridedSlice(ops.Shape(x), [1], [len(rates) + 1], [1])
    blocks = np.array(rates, np.int32)
    paddings, crops = required_space_to_batch_paddings(sizes, blocks, base)
    inner = ops.SpaceToBatchND(x, blocks, paddings)
    if last_first:
        inner = array.transpose(inner, [0, len(rates) + 1, *np.arange(1, len(rates) + 1).tolist()])
    result = op(inner, np.array(len(rates), np.int32), "VALID")
    if last_first:
        result = array.transpose(result, [0, *np.arange(2, len(rates) + 2).tolist(), 1])
    spaced = ops.BatchToSpaceND(result, blocks, crops)
    if not last_first:
        return spaced
    back = [0, len(rates) + 1, *np.arange(1, len(rates) + 1).tolist()]
    return array.transpose(spaced, back)
