"""TF1's normalisations, and dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from typing import cast as cast_type

import numpy as np

from ...core.arrays import type_name
from ...core.build import ops
from ...core.create import constant, convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.tensor_shape import Dimension, TensorShape
from .. import random
from ..arguments import one_of
from ..array import creation
from ..array.array import squeeze
from ..array.casting import cast
from ..math.arithmetic import imag, real
from ..math.reductions import reduce_mean, reduce_sum
from ..rows import functions, unary

if TYPE_CHECKING:
    from ...core.typing import TensorLike
    from ...variables.variables import Variable
    from ..array.creation import DynamicShape

ONE_TO_ONE = """
local_response_normalization LRN input depth_radius=5 bias=1.0 alpha=1.0 beta=0.5 \
    # input / (bias + alpha * sum of squares of the channels around)**beta; [batch, height, \
    width, channels]
lrn             LRN         input depth_radius=5 bias=1.0 alpha=1.0 beta=0.5 \
    # input / (bias + alpha * sum of squares of the channels around)**beta; [batch, height, \
    width, channels]
"""
globals().update(functions(ONE_TO_ONE, __name__))


def moments(
    x: TensorLike,
    axes: int | Sequence[int] | np.ndarray,
    shift: TensorLike | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """mean(x) and mean((x - mean)**2) along `axes`; no gradient flows through that mean.

    Args:
        x: Numbers of any shape; float16 is summed in float32.
        axes: A dimension or several: [0] for each column of [batch, columns], [0, 1, 2] for each
            channel of images.
        shift: Taken for TensorFlow's sake.
        name: Of the operations.
        keep_dims, keepdims: Whether the dimensions stay with size 1.

    Returns two tensors of the type of `x`.

    Raises ValueError for axes out of range.
    """
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x)
        y = cast(x, np.float32) if x.dtype == np.float16 else x
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        squares = ops.SquaredDifference(y, ops.StopGradient(mean))
        variance = reduce_mean(squares, axes, keepdims=True, name="variance")
        if not keepdims:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
        return cast(mean, x.dtype), cast(variance, x.dtype)


def batch_normalization(
    x: Tensor | Variable,
    mean: Tensor | Variable,
    variance: Tensor | Variable,
    offset: Tensor | Variable | None,
    scale: Tensor | Variable | None,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """scale * (x - mean) / sqrt(variance + variance_epsilon) + offset (arXiv 1502.03167).

    Args:
        x: Real floats of any shape.
        mean, variance: Of a shape that broadcasts to that of `x`, as those of `moments` along all
            dimensions but that of the channels.
        offset, scale: Of such a shape, too, or None for 0 and 1.
        variance_epsilon: A small number, so that nothing is divided by 0.
        name: Of the operations.

    Returns the shape and type of `x`.
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor = ops.Rsqrt(variance + variance_epsilon)
        factor = factor if scale is None else factor * scale
        scaled = x * cast(factor, x.dtype)
        shift = -mean * factor if offset is None else offset - mean * factor
        return scaled + cast(shift, x.dtype)


def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalisation, and the batch's mean and variance.

    Args:
        x: float16, bfloat16 or float32 [batch, height, width, channels], or as `data_format` says.
        scale, offset: float32 [channels].
        mean, variance: float32 [channels]: of all batches so far; of this one where left out.
        epsilon: Added to the variance, at least 1.001e-5.
        data_format: "NHWC", "NCHW", "NDHWC" or "NCDHW".
        is_training: Whether the batch's own mean and variance are taken.
        name: Of the operation.
        exponential_avg_factor: Of the batch's share in the mean and variance that are given, from 0
            to 1; 1 gives those of the batch.

    Raises:
        ValueError: `mean` or `variance` is missing though it is read.
    """
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
            f"`exponential_avg_factor` != 1.0. Received: `mean` {mean!r} and `variance` "
            f"{variance!r}"
        )
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    empty = np.zeros(0, np.float32)
    y, batch_mean, batch_variance, *_ = ops.FusedBatchNormV3(
        x,
        scale,
        convert_to_tensor(offset, name="offset"),
        empty if mean is None else mean,
        empty if variance is None else variance,
        epsilon=max(epsilon, 1.001e-5),
        exponential_avg_factor=exponential_avg_factor,
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return y, batch_mean, batch_variance


def l2_normalize(
    x: TensorLike,
    axis: TensorLike | None = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: TensorLike | None = None,
) -> Tensor:
    """x / sqrt(max(sum(|x|**2), epsilon)) along `axis`.

    Args:
        x: Floats or complex numbers, of any shape.
        axis: A dimension or several, whose elements make up a vector; all by default.
        epsilon: The least square of a length; a vector of zeros stays as it is.
        name: Of the operation.
        dim: An older name of `axis`.

    Returns the shape and type of `x`. Raises TypeError for integers.
    """
    axis = one_of("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.kind == "c":
            parts = real(x), imag(x)
            total = reduce_sum(ops.AddV2(*map(ops.Square, parts)), axis, keepdims=True)
            factor = ops.Rsqrt(ops.Maximum(total, epsilon))
            return ops.Complex(*(ops.Mul(part, factor) for part in parts), Tout=x.dtype, name=scope)
        total = reduce_sum(ops.Square(x), axis, keepdims=True)
        return ops.Mul(x, ops.Rsqrt(ops.Maximum(total, epsilon)), name=scope)


def _noise_shape(x: Tensor, noise_shape: DynamicShape) -> DynamicShape:
    """The shape of the choices of `dropout`, with those of `x` in the place of None."""
    if isinstance(noise_shape, TensorShape):
        sizes: Sequence[object] | None = noise_shape.dims
    elif isinstance(noise_shape, (list, tuple)):
        sizes = cast_type("Sequence[object]", noise_shape)
    else:
        return noise_shape
    if sizes is None:
        return creation.shape(x)
    x_sizes = x.sizes or ()
    if not any(map(_is_open, sizes)) or len(sizes) != len(x_sizes):
        return noise_shape
    filled: list[object] = [
        (creation.shape(x)[i] if x_sizes[i] is None else x_sizes[i]) if _is_open(size) else size
        for i, size in enumerate(sizes)
    ]
    return cast_type("DynamicShape", filled)


def _is_open(size: object) -> bool:
    return size is None or (isinstance(size, Dimension) and size.value is None)


@unary
def dropout(
    x: TensorLike,
    keep_prob: float | Tensor | None = None,
    noise_shape: DynamicShape | None = None,
    seed: int | None = None,
    name: str | None = None,
    rate: float | Tensor | None = None,
) -> Tensor:
    """`x` with a part `rate` of its elements set to 0, the others scaled up to make up for it.

    Args:
        x: Floats.
        keep_prob: 1 - rate, the old argument.
        noise_shape: The shape of the choices; it broadcasts to that of `x`.
        seed: See set_random_seed.
        name: Of the operations.
        rate: A number in [0, 1), or a tensor.

    Raises ValueError when `rate` is missing, out of range or no scalar.
    """
    try:
        old_rate = None if keep_prob is None else 1.0 - keep_prob
    except TypeError:
        raise ValueError(
            "`keep_prob` must be a floating point number or Tensor. Received: "
            f"keep_prob={keep_prob}"
        ) from None
    rate = one_of("rate", rate, "keep_prob", old_rate)
    if rate is None:
        raise ValueError(f"`rate` must be provided. Received: rate={rate}")
    number = rate if isinstance(rate, (int, float, np.floating)) else None
    with name_scope(name, "dropout", [x]):
        if number is not None and not 0 <= number < 1:
            raise ValueError(
                "`rate` must be a scalar tensor or a float in the range [0, 1). Received: "
                f"rate={rate}"
            )
        x = convert_to_tensor(x, name="x")
        if x.dtype.kind not in "fV":
            raise ValueError(
                "`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
                f"x_dtype=<dtype: '{type_name(x.dtype)}'>"
            )
        if number == 0:
            random.get_seed(seed)
            return x
        if number is not None:
            scaled = ops.Mul(x, convert_to_tensor(1 / (1 - number), x.dtype))
        else:
            rate = convert_to_tensor(rate, x.dtype, "rate")
            if rate.sizes:
                raise ValueError(f"`rate` must be a scalar, got shape {rate.sizes}")
            scaled = ops.RealDiv(x, ops.Sub(constant(1, x.dtype), rate))
        shape = creation.shape(x) if noise_shape is None else _noise_shape(x, noise_shape)
        keep = ops.GreaterEqual(random.random_uniform(shape, dtype=x.dtype, seed=seed), rate)
        result = ops.SelectV2(keep, scaled, constant(0, x.dtype))
        result.set_shape(x.sizes)
        return result
