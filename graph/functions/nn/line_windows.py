"""Windows over lines and volumes: 1-D and 3-D convolutions and pools; `erosion2d` and others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.named_results import with_names
from ...core.scopes import name_scope
from ..arguments import one_of
from ..array import array
from .windows import (
    avg_pool,
    conv2d,
    conv2d_transpose,
    for_each_dimension,
    int_list,
    max_pool,
    over_batches,
)

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import DTypeLike, TensorLike

    Sizes = int | Sequence[int]

_WIDTHS = {"NWC": "NHWC", "NHWC": "NHWC", "NCW": "NCHW", "NCHW": "NCHW"}


def _format(data_format: str | None) -> tuple[str, int]:
    """The format of images, and the axis that lines lack."""
    name = data_format or "NWC"
    if name not in _WIDTHS:
        raise ValueError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={name}")
    images = _WIDTHS[name]
    return images, 1 if images == "NHWC" else 2


def _line(numbers: Sizes | None, name: str, axis: int) -> list[int]:
    """Numbers for images from one for lines, or from three."""
    sizes = int_list(1 if numbers is None else numbers, name)
    if len(sizes) not in (1, 3):
        raise ValueError(
            f"{name} should be of length 1, 1 or 3. Received: {name}={numbers} of length "
            f"{len(sizes)}"
        )
    width = sizes[0] if len(sizes) == 1 else sizes[1 if axis == 1 else 2]
    return [1, 1, width, 1] if axis == 1 else [1, 1, 1, width]


def conv1d(
    value: TensorLike | None = None,
    filters: TensorLike | None = None,
    stride: Sizes | None = None,
    padding: str | None = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
    dilations: Sizes | None = None,
) -> Tensor:
    """A convolution over width.

    Args:
        value: [batch, width, channels], or [batch, channels, width] in format NCW.
        filters: [width, channels, results].
        stride: How far the window moves.
        padding: "SAME" or "VALID".
        use_cudnn_on_gpu: Taken for TensorFlow's sake.
        data_format: "NWC" or "NCW".
        name: Of the operations.
        input: Another name of `value`.
        dilations: Distance between the taps.
    """
    value = one_of("input", input, "value", value)
    images, axis = _format(data_format)
    with name_scope(name, "conv1d", [value, filters]):
        back = axis - 4

        def convolved(x: TensorLike) -> Tensor:
            result = conv2d(
                ops.ExpandDims(x, np.int32(back)),
                ops.ExpandDims(filters, np.int32(0)),
                _line(stride, "stride", axis),
                padding,
                data_format=images,
                dilations=_line(dilations, "dilations", axis),
            )
            return array.squeeze(result, [back])

        return over_batches(convolved, convert_to_tensor(value), 2)


def conv1d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: TensorLike,
    strides: Sizes,
    padding: str = "SAME",
    data_format: str = "NWC",
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """What `conv1d` would take to `input`: the gradient of that by what it is of.

    Args:
        input: [batch, width, channels], or [batch, channels, width] in format NCW.
        filters: [width, results, channels], of the same type.
        output_shape: Three numbers, the shape of the result.
        strides: How far the window moves.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        dilations: Distance between the taps.
        name: Of the operations.

    Raises ValueError for another length of `output_shape` or another format; when it runs,
    InvalidArgumentError for sizes from which `conv1d` would not come to those of `input`.
    """
    images, axis = _format(data_format)
    with name_scope(name, "conv1d_transpose", [input, filters]):
        sizes = convert_to_tensor(output_shape)
        if sizes.sizes is not None and sizes.sizes != (3,):
            raise ValueError(f"output_shape must have 3 elements, got shape {sizes.sizes}")
        one = np.ones(1, sizes.dtype)
        parts = [
            ops.StridedSlice(sizes, [0], [axis], [1]),
            one,
            ops.StridedSlice(sizes, [axis], [3], [1]),
        ]
        result = conv2d_transpose(
            array.expand_dims(input, axis),
            array.expand_dims(filters, 0),
            array.concat(parts, 0),
            _line(strides, "strides", axis),
            padding,
            images,
            dilations=_line(dilations, "dilations", axis),
        )
        return array.squeeze(result, [axis])


def _pooled(function: Callable[..., Tensor], label: str, what: str) -> Callable[..., Tensor]:
    def pool(
        input: TensorLike,
        ksize: Sizes,
        strides: Sizes,
        padding: str,
        data_format: str = "NWC",
        name: str | None = None,
    ) -> Tensor:
        images, axis = _format(data_format)
        with name_scope(name, label, [input]):
            result = function(
                array.expand_dims(input, axis),
                _line(ksize, "ksize", axis),
                _line(strides, "strides", axis),
                padding,
                images,
            )
            return array.squeeze(result, [axis])

    pool.__name__ = pool.__qualname__ = label
    pool.__doc__ = f"""{what} under each window of width.

    Args:
        input: [batch, width, channels], or [batch, channels, width] in format NCW; real floats.
        ksize, strides: How wide a window is, and how far it moves: one number, or three with those
            of batch and channels, which are 1.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        name: Of the operations.

    Raises ValueError for another format, and for a window that does not fit.
    """
    return pool


avg_pool1d = _pooled(avg_pool, "avg_pool1d", "The mean of the elements")
max_pool1d = _pooled(max_pool, "max_pool1d", "The largest element")


def conv3d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Sizes | None = None,
    padding: str | None = None,
    data_format: str = "NDHWC",
    dilations: Sizes = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """A convolution over depth, height and width.

    Args:
        input: [batch, depth, height, width, channels].
        filter: [depth, height, width, channels, results].
        strides, dilations: Five numbers; those of batch and channels are 1.
        padding: "SAME" or "VALID".
        data_format: "NDHWC".
        name: Of the operation.
        filters: Another name of `filter`.
    """
    weights = one_of("filters", filters, "filter", filter)

    def convolved(x: TensorLike) -> Tensor:
        return ops.Conv3D(
            x,
            weights,
            strides=for_each_dimension(strides, 3, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=for_each_dimension(dilations, 3, data_format, "dilations"),
            name=name,
        )

    return over_batches(convolved, input, 4)


def conv3d_transpose(
    value: TensorLike | None = None,
    filter: TensorLike | None = None,
    output_shape: TensorLike | None = None,
    strides: Sizes | None = None,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: Sizes | None = None,
) -> Tensor:
    """What `conv3d` would take to `value`: the gradient of that by what it is of.

    Args:
        value: [batch, depth, height, width, channels], real floats; `input` under a newer name.
        filter: [depth, height, width, results, channels]; `filters` under a newer name.
        output_shape: Five numbers, the shape of the result.
        strides, dilations: One, three or five numbers; those of batch and channels are 1.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        name: Of the operation.

    Raises ValueError for channels that do not fit; when it runs, InvalidArgumentError for sizes
    from which `conv3d` would not come to those of `value`.
    """
    value = one_of("input", input, "value", value)
    filter = one_of("filters", filters, "filter", filter)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as scope:
        return ops.Conv3DBackpropInputV2(
            output_shape,
            filter,
            value,
            strides=for_each_dimension(strides, 3, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=for_each_dimension(dilations, 3, data_format, "dilations"),
            name=scope,
        )


def max_pool3d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The largest element under each window of depth, height and width.

    Args:
        input: [batch, depth, height, width, channels].
        ksize, strides: One, three or five numbers; those of batch and channels are 1.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        name: Of the operation.
    """
    return _pooled_volume("MaxPool3D", input, ksize, strides, padding, data_format, name)


def avg_pool3d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of the elements under each window of depth, height and width.

    Args:
        input: [batch, depth, height, width, channels], real floats.
        ksize, strides: One, three or five numbers; those of batch and channels are 1.
        padding: "SAME", whose windows count only what is there, or "VALID".
        data_format: "NDHWC" or "NCDHW".
        name: Of the operation.

    Raises ValueError for another padding, and for a window that does not fit.
    """
    return _pooled_volume("AvgPool3D", input, ksize, strides, padding, data_format, name)


def _pooled_volume(
    kind: str,
    x: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str,
    name: str | None,
) -> Tensor:
    with name_scope(name, kind, [x]) as scope:
        return getattr(ops, kind)(
            x,
            ksize=for_each_dimension(ksize, 3, data_format, "ksize"),
            strides=for_each_dimension(strides, 3, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            name=scope,
        )


def erosion2d(
    value: TensorLike,
    kernel: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The least of value less kernel under each window: the dual of `dilation2d`.

    Args:
        value: [batch, height, width, channels].
        kernel: [height, width, channels].
        strides, rates: Four numbers; how far windows move, and distances of their elements.
        padding: "SAME" or "VALID".
        name: Of the operations.
    """
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        less, turned = ops.Neg(value), ops.ReverseV2(kernel, np.array([0, 1], np.int32))
        dilated = ops.Dilation2D(
            less, turned, strides=strides, rates=rates, padding=padding, name=scope
        )
        return ops.Neg(dilated)


@with_names("MaxPoolWithArgmax")
def max_pool_with_argmax(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    Targmax: DTypeLike | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
    include_batch_in_index: bool = False,
) -> list[Tensor]:
    """The largest element under each window, and where it stands.

    Args:
        input: [batch, height, width, channels].
        ksize, strides: Four numbers; those of batch and channels are 1.
        padding: "SAME" or "VALID".
        data_format: "NHWC".
        Targmax: int64 (the default) or int32; `output_dtype` is another name of it.
        name: Of the operation.
        output_dtype: See `Targmax`.
        include_batch_in_index: Whether an index counts from the first image, not from its own.

    Raises ValueError for another format, or for both names of the type.
    """
    if data_format != "NHWC":
        raise ValueError("`data_format` values other than 'NHWC' are not supported.")
    dtype = one_of("output_dtype", output_dtype, "Targmax", Targmax)
    return ops.MaxPoolWithArgmax(
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=np.int64 if dtype is None else dtype,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def normalize_moments(
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: TensorLike | None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance from what `sufficient_statistics` gives.

    Args:
        counts: How many elements, a scalar.
        mean_ss: sum(x - shift), of any shape.
        variance_ss: sum((x - shift)**2), of the same shape.
        shift: A scalar, or None for 0.
        name: Of the operations.

    Returns mean_ss / counts + shift, and variance_ss / counts - (mean_ss / counts)**2.
    """
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = ops.Reciprocal(counts, name="divisor")
        shifted = ops.Mul(mean_ss, divisor, name="shifted_mean")
        mean = shifted if shift is None else ops.AddV2(shifted, shift, name="mean")
        squares = ops.Mul(variance_ss, divisor)
        return mean, ops.Sub(squares, ops.Square(shifted), name="variance")


def batch_norm_with_global_normalization(
    t: TensorLike | None = None,
    m: TensorLike | None = None,
    v: TensorLike | None = None,
    beta: TensorLike | None = None,
    gamma: TensorLike | None = None,
    variance_epsilon: float | None = None,
    scale_after_normalization: bool | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
) -> Tensor:
    """`batch_normalization` of old: `gamma` counts only with `scale_after_normalization`.

    Args:
        t: [batch, height, width, channels], real floats; `input` under a newer name.
        m, v: [channels], mean and variance; `mean` and `variance` under newer names.
        beta: [channels], added.
        gamma: [channels], a factor.
        variance_epsilon: Added to the variance.
        scale_after_normalization: Whether `gamma` counts.
        name: Of the operations.
        input, mean, variance: See `t`, `m`, `v`.
    """
    from .normalization import batch_normalization

    x, average, spread = (
        convert_to_tensor(cast("TensorLike", one_of(new, after, old, before)))
        for new, after, old, before in (
            ("input", input, "t", t),
            ("mean", mean, "m", m),
            ("variance", variance, "v", v),
        )
    )
    offset, scale = (None if y is None else convert_to_tensor(y) for y in (beta, gamma))
    used = scale if scale_after_normalization else None
    return batch_normalization(
        x, average, spread, offset, used, cast("float", variance_epsilon), name
    )
