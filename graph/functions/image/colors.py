"""Colours of images: types and spaces, brightness, contrast, hue, saturation, gamma."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.dtype import as_dtype
from ...core.graph import Tensor
from ...core.scopes import control_dependencies, name_scope
from ..array.casting import cast, saturate_cast
from ..rows import functions, unary
from .shapes import checked, image_of

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import DTypeLike, TensorLike

ONE_TO_ONE = """
rgb_to_hsv RGBToHSV images # Hue, saturation and value, in [0, 1], of colours in [0, 1]
hsv_to_rgb HSVToRGB images # Red, green and blue in [0, 1] of hue, saturation and value
"""
globals().update(functions(ONE_TO_ONE, __name__))
GREY_SHARES = np.array([0.2989, 0.587, 0.114], np.float32)
"""Of red, green and blue in the brightness of a colour."""
MATRICES = {
    "rgb_to_yiq": (
        (0.299, 0.59590059, 0.2115),
        (0.587, -0.27455667, -0.52273617),
        (0.114, -0.32134392, 0.31119955),
    ),
    "yiq_to_rgb": (
        (1, 1, 1),
        (0.95598634, -0.27201283, -1.10674021),
        (0.6208248, -0.64720424, 1.70423049),
    ),
    "rgb_to_yuv": (
        (0.299, -0.14714119, 0.61497538),
        (0.587, -0.28886916, -0.51496512),
        (0.114, 0.43601035, -0.10001026),
    ),
    "yuv_to_rgb": (
        (1, 1, 1),
        (0, -0.394642334, 2.03206185),
        (1.13988303, -0.58062185, 0),
    ),
}
"""What a row of three channels is multiplied with to get to the other space."""


@unary
def convert_image_dtype(
    image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> Tensor:
    """An image in another type; floats range over [0, 1], integers from 0 to their largest.

    Args:
        image: Of any shape.
        dtype: Of floats or integers.
        saturate: Whether what would leave the range of `dtype` is held within.
        name: Of the operation.

    Raises AttributeError when a type has neither floats nor integers.
    """
    x = convert_to_tensor(image, name="image")
    target, source = as_dtype(dtype), as_dtype(x.dtype)
    for kind, words in ((target, "dtype"), (source, "image dtype")):
        if not kind.is_floating and not kind.is_integer:
            raise AttributeError(f"{words} must be either floating point or integer")
    if target == source:
        return ops.Identity(x, name=name)
    with name_scope(name, "convert_image", [x]) as scope:
        if target.is_floating:
            if source.is_floating:
                return cast(x, target, scope)
            return ops.Mul(cast(x, target), np.asarray(1 / source.max, target.dtype), name=scope)
        into = saturate_cast if saturate else cast
        if source.is_floating:
            scale = np.asarray(target.max + 0.5, source.dtype)  # 0.5 rounds evenly
            return into(ops.Mul(x, scale), target, scope)
        if source.max > target.max:
            step = (int(source.max) + 1) // (int(target.max) + 1)
            return into(ops.FloorDiv(x, np.asarray(step, source.dtype)), target, scope)
        step = (int(target.max) + 1) // (int(source.max) + 1)
        return ops.Mul(into(x, target), np.asarray(step, target.dtype), name=scope)


def _in_floats(
    image: TensorLike,
    function: Callable[[Tensor], Tensor],
    saturate: bool,
    keeps_float64: bool = False,
) -> Tensor:
    """`function` of an image of floats in [0, 1]; its result in the image's own type."""
    x = convert_to_tensor(image, name="image")
    kind = as_dtype(x.dtype)
    is_float = kind.is_floating and (keeps_float64 or kind.size <= 4)
    result = function(x if is_float else convert_image_dtype(x, np.float32))
    return convert_image_dtype(result, kind, saturate=saturate)


@unary
def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """`delta` added to every number, in parts of the range of the type.

    Args:
        image: Integers or real floats of any shape; integers are held within their range.
        delta: A scalar; 1 is the whole range of integers.

    Returns the shape and type of `image`.
    """
    with name_scope(None, "adjust_brightness", [image, delta]):

        def brighter(x: Tensor) -> Tensor:
            return x + cast(delta, x.dtype)

        return _in_floats(image, brighter, saturate=True)


def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """(x - mean) * contrast_factor + mean, with the mean of each channel of an image.

    Args:
        images: [..., height, width, channels], integers or real floats.
        contrast_factor: A scalar.

    Returns the shape and type of `images`; integers are held within their range.

    Raises ValueError for a rank below 3.
    """
    with name_scope(None, "adjust_contrast", [images, contrast_factor]):
        return _in_floats(images, lambda x: ops.AdjustContrastv2(x, contrast_factor), saturate=True)


@unary
def adjust_gamma(image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1) -> Tensor:
    """gain * image ** gamma, of numbers in [0, 1].

    Args:
        image: Integers or real floats of any shape.
        gamma: A scalar, not negative.
        gain: A scalar.

    Returns the shape and type of `image`; integers are held within their range.

    Raises ValueError for a negative gamma that is known, else InvalidArgumentError when it runs.
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        is_valid = gamma >= 0 if isinstance(gamma, (int, float, Tensor)) else True
        checks = checked(is_valid, "Gamma should be a non-negative real number.")

        def powered(x: Tensor) -> Tensor:
            with control_dependencies(checks):
                x = ops.Identity(x) if checks else x
            exponent = convert_to_tensor(gamma, name="gamma", preferred_dtype=x.dtype)
            return cast(gain, x.dtype) * ops.Pow(x, cast(exponent, x.dtype))

        return _in_floats(image, powered, saturate=True)


def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """The hue of an RGB image turned by `delta`, in parts of a whole turn.

    Args:
        image: [..., 3], integers or real floats, of rank 3 or more.
        delta: A scalar from -1 to 1.
        name: Of the operations.

    Returns the shape and type of `image`. Raises ValueError for a rank below 3; when it runs,
    InvalidArgumentError for another number of channels.
    """
    with name_scope(name, "adjust_hue", [image]):
        image_of(image)
        return _in_floats(image, lambda x: ops.AdjustHue(x, delta), saturate=False)


def adjust_saturation(
    image: TensorLike, saturation_factor: TensorLike, name: str | None = None
) -> Tensor:
    """The saturation of an RGB image times `saturation_factor`, held within [0, 1].

    Args:
        image: [..., 3], integers or real floats, of rank 3 or more.
        saturation_factor: A scalar.
        name: Of the operations.

    Returns the shape and type of `image`. Raises ValueError for a rank below 3; when it runs,
    InvalidArgumentError for another number of channels.
    """
    with name_scope(name, "adjust_saturation", [image]):
        return _in_floats(
            image, lambda x: ops.AdjustSaturation(x, saturation_factor), saturate=False
        )


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """0.2989 red + 0.587 green + 0.114 blue of each place, in the same type.

    Args:
        images: [..., 3], integers or real floats.
        name: Of the operation.

    Returns [..., 1].
    """
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        x = convert_to_tensor(images, name="images")
        flat = convert_image_dtype(x, np.float32)
        shares = ops.Reshape(GREY_SHARES, [3, 1])
        grey = _times(flat, shares)
        return convert_image_dtype(grey, x.dtype, name=scope)


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """The one channel of images three times.

    Args:
        images: [..., 1], of any type, of rank 2 or more.
        name: Of the operation.

    Returns [..., 3]. Raises ValueError for another rank or number of channels.
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        x = convert_to_tensor(images, name="images")
        if x.sizes is not None and len(x.sizes) < 2:
            words = f"A grayscale image (shape {x.shape}) must be at least two-dimensional."
            raise ValueError(words)
        if x.sizes is not None and (not x.sizes or x.sizes[-1] not in (1, None)):
            raise ValueError(f"Last dimension of a grayscale image should be size 1, got {x.shape}")
        ones = ops.Fill(ops.ExpandDims(ops.Rank(x) - np.int32(1), np.int32(0)), np.int32(1))
        return ops.Tile(x, ops.ConcatV2([ones, [np.int32(3)]], np.int32(0)), name=scope)


def _times(x: Tensor, matrix: TensorLike) -> Tensor:
    """The last axis of `x` times a matrix."""
    wide = convert_to_tensor(matrix, x.dtype, "kernel")
    shape = ops.Shape(x)
    channels = wide.sizes[-1] if wide.sizes else None
    product = ops.MatMul(ops.Reshape(x, [-1, 3]), wide)
    result = ops.Reshape(product, ops.ConcatV2([shape[:-1], [channels]], np.int32(0)))
    if x.sizes is not None:
        result.set_shape((*x.sizes[:-1], channels))
    return result


def _space(name: str) -> Callable[[TensorLike], Tensor]:
    """The function that takes colours from one space to another."""

    def converted(images: TensorLike) -> Tensor:
        with name_scope(None, name, [images]):
            x = convert_to_tensor(images, name="images")
            return _times(x, MATRICES[name])

    source, target = name.split("_to_")
    converted.__name__ = converted.__qualname__ = name
    converted.__doc__ = f"""Colours from {source.upper()} to {target.upper()}.

    Args:
        images: [..., 3], real floats; red, green and blue are in [0, 1].

    Returns the shape and type of `images`.
    """
    return converted


rgb_to_yiq, yiq_to_rgb = _space("rgb_to_yiq"), _space("yiq_to_rgb")
rgb_to_yuv, yuv_to_rgb = _space("rgb_to_yuv"), _space("yuv_to_rgb")


def per_image_standardization(image: TensorLike) -> Tensor:
    """Each image minus its mean, by its standard deviation or 1 / sqrt(numbers) if that is more.

    Args:
        image: [..., height, width, channels] of any numbers; the result is float32.

    Raises ValueError when the rank is smaller than 3.
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        x = cast(image_of(image), np.float32)
        axes = np.array([-1, -2, -3], np.int32)
        count = ops.Prod(ops.Shape(x)[-3:], np.int32(0))
        mean = ops.Mean(x, axes, keep_dims=True)
        variance = ops.Mean(ops.Square(x - mean), axes, keep_dims=True)
        least = ops.Rsqrt(cast(count, x.dtype))
        return ops.RealDiv(x - mean, ops.Maximum(ops.Sqrt(variance), least), name=scope)
