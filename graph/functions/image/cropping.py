"""Images flipped, turned, cropped and padded."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Operation, Tensor
from ...core.scopes import control_dependencies, name_scope
from ..array.array import transpose as transposed
from ..flow.conditional import switch_case
from .shapes import (
    Size,
    apply_to_any_image,
    apply_to_image,
    as_batch_or_image,
    checked,
    height_and_width,
    image_of,
    sizes_of,
)

if TYPE_CHECKING:
    from ...core.typing import TensorLike

_ROWS, _COLUMNS = -3, -2


def _reversed(image: TensorLike, axis: int, scope_name: str) -> Tensor:
    with name_scope(None, scope_name, [image]):
        x = image_of(image)
        if x.sizes is None:
            return ops.ReverseV2(x, ops.ExpandDims(ops.Rank(x) + np.int32(axis), np.int32(0)))
        if len(x.sizes) > 4:
            raise ValueError(f"'image' (shape {x.shape}) must have either 3 or 4 dimensions.")
        return ops.ReverseV2(x, [len(x.sizes) + axis])


def flip_left_right(image: TensorLike) -> Tensor:
    """The columns of one or several images in the other order.

    Args:
        image: [height, width, channels] or [batch, height, width, channels], of any type.

    Returns its shape. Raises ValueError for another rank.
    """
    return _reversed(image, _COLUMNS, "flip_left_right")


def flip_up_down(image: TensorLike) -> Tensor:
    """The rows of one or several images in the other order.

    Args:
        image: [height, width, channels] or [batch, height, width, channels], of any type.

    Returns its shape. Raises ValueError for another rank.
    """
    return _reversed(image, _ROWS, "flip_up_down")


def transpose_image(image: TensorLike, name: str | None = None) -> Tensor:
    """Rows as columns of one or several images.

    Args:
        image: [height, width, channels] or [batch, height, width, channels], of any type.
        name: Of the operations.

    Returns [..., width, height, channels]. Raises ValueError for another rank.
    """
    with name_scope(name, "transpose", [image]):
        return apply_to_any_image(image, lambda x: transposed(x, [0, 2, 1, 3]))


def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None) -> Tensor:
    """One or several images turned `k` times by a right angle, against the clock.

    Args:
        image: [height, width, channels] or [batch, height, width, channels], of any type.
        k: An integer scalar; negative ones turn with the clock.
        name: Of the operations.

    Raises ValueError for another rank.
    """
    with name_scope(name, "rot90", [image, k]):
        if isinstance(k, int):
            return apply_to_any_image(image, lambda x: _turned(x, k % 4))
        times = convert_to_tensor(k, np.int32, name="k")
        times.get_shape().assert_has_rank(0)

        def turned(x: Tensor) -> Tensor:
            branches = [partial(_turned, x, i) for i in range(4)]
            return cast("Tensor", switch_case(ops.FloorMod(times, np.int32(4)), branches))

        return apply_to_any_image(image, turned)


def _turned(x: Tensor, times: int) -> Tensor:
    """Images [batch, height, width, channels] turned 0 to 3 times."""
    if times == 2:
        return ops.ReverseV2(x, [1, 2])
    if times == 1:
        return transposed(ops.ReverseV2(x, [2]), [0, 2, 1, 3])
    if times == 3:
        return ops.ReverseV2(transposed(x, [0, 2, 1, 3]), [2])
    return ops.Identity(x)


def _box(
    image: TensorLike, offsets: tuple[Size, Size], targets: tuple[Size, Size], is_crop: bool
) -> Tensor:
    """The checks of a box, and what lies in it or around it."""
    x = convert_to_tensor(image, name="image")
    offsets, targets = _as_int32(offsets), _as_int32(targets)

    def boxed(images: Tensor) -> Tensor:
        sizes = height_and_width(images)
        checks: list[Operation] = []
        for axis, offset in zip(("height", "width"), offsets, strict=True):
            checks += checked(offset >= 0, f"offset_{axis} must be >= 0.")
        for axis, offset, target, size in zip(
            ("height", "width"), offsets, targets, sizes, strict=True
        ):
            if is_crop:
                checks += checked(target > 0, f"target_{axis} must be > 0.")
                words = f"{axis} must be >= target + offset."
                checks += checked(size >= target + offset, words)
            else:
                words = f"{axis} must be <= target - offset"
                checks += checked(size <= target - offset, words)
        with control_dependencies(checks):
            inside = ops.Identity(images) if checks else images
        if is_crop:
            begin, size = [0, *offsets, 0], [-1, *targets, -1]
            result = ops.Slice(inside, _vector(begin), _vector(size))
        else:
            after = [t - o - s for t, o, s in zip(targets, offsets, sizes, strict=True)]
            pairs = [[0, 0], [offsets[0], after[0]], [offsets[1], after[1]], [0, 0]]
            paddings = ops.Reshape(_vector([size for pair in pairs for size in pair]), [4, 2])
            result = ops.Pad(inside, paddings)
        known = [t if isinstance(t, int) else None for t in targets]
        batch, _, _, channels = sizes_of(images)
        result.set_shape((batch, *known, channels))
        return result

    batch, unbatched = as_batch_or_image(x)
    return unbatched(boxed(batch))


def _as_int32(sizes: tuple[Size, Size]) -> tuple[Size, Size]:
    """Sizes, those that are computed as int32."""
    first, second = (ops.Cast(x, DstT=np.int32) if isinstance(x, Tensor) else x for x in sizes)
    return first, second


def _vector(sizes: list[Size]) -> TensorLike:
    """Sizes as an int32 vector, a constant when all are known; int64 where one is too large."""
    if all(isinstance(size, (int, np.integer)) for size in sizes):
        is_large = any(abs(size) > np.iinfo(np.int32).max for size in sizes)
        return np.array(sizes, np.int64 if is_large else np.int32)
    return ops.Pack([convert_to_tensor(size, np.int32) for size in sizes])


def crop_to_bounding_box(
    image: TensorLike,
    offset_height: Size,
    offset_width: Size,
    target_height: Size,
    target_width: Size,
) -> Tensor:
    """The rows and columns from the offsets on, of one or several images.

    Args:
        image: [height, width, channels] or [batch, height, width, channels], of any type.
        offset_height, offset_width: Of the first row and column, not negative.
        target_height, target_width: How many rows and columns, above 0.

    Raises ValueError when they do not lie in the image; InvalidArgumentError, when it runs, where
    that is not known before.
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        return _box(image, (offset_height, offset_width), (target_height, target_width), True)


def pad_to_bounding_box(
    image: TensorLike,
    offset_height: Size,
    offset_width: Size,
    target_height: Size,
    target_width: Size,
) -> Tensor:
    """One or several images, at the offsets in larger ones that are 0 else.

    Args:
        image: [height, width, channels] or [batch, height, width, channels], numbers.
        offset_height, offset_width: Of the first row and column, not negative.
        target_height, target_width: The sizes of the result.

    Raises ValueError when they are not larger; InvalidArgumentError, when it runs, where that is
    not known before.
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        return _box(image, (offset_height, offset_width), (target_height, target_width), False)


def _larger(a: Size, b: Size) -> Size:
    known = isinstance(a, int) and isinstance(b, int)
    return max(a, b) if known else ops.Maximum(a, b)


def _smaller(a: Size, b: Size) -> Size:
    known = isinstance(a, int) and isinstance(b, int)
    return min(a, b) if known else ops.Minimum(a, b)


def resize_image_with_crop_or_pad(
    image: TensorLike, target_height: Size, target_width: Size
) -> Tensor:
    """The middle of one or several images, padded with 0 where they are too small.

    Args:
        image: [height, width, channels] or [batch, height, width, channels], numbers.
        target_height, target_width: The sizes of the result, above 0.

    Raises ValueError for a target that is not positive, and for another rank.
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        x = image_of(image)
        checks: list[Operation] = []
        for axis, target in (("width", target_width), ("height", target_height)):
            checks += checked(target > 0, f"target_{axis} must be > 0.")
        with control_dependencies(checks):
            x = ops.Identity(x) if checks else x
        targets = target_height, target_width
        sizes = height_and_width(x)
        pairs = [*zip(targets, sizes, strict=True)]
        top, left = (_larger((size - target) // 2, 0) for target, size in pairs)
        above, before = (_larger((target - size) // 2, 0) for target, size in pairs)
        height, width = (_smaller(target, size) for target, size in pairs)
        cropped = crop_to_bounding_box(x, top, left, height, width)
        return pad_to_bounding_box(cropped, above, before, *targets)


def central_crop(image: TensorLike, central_fraction: float) -> Tensor:
    """The middle part of one or several images, `central_fraction` of each size.

    Args:
        image: [height, width, channels] or [batch, height, width, channels], of any type.
        central_fraction: In (0, 1].

    Raises ValueError for a fraction outside of (0, 1], or another rank than 3 or 4.
    """
    with name_scope(None, "central_crop", [image]):
        x = convert_to_tensor(image, name="image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return x
        image_of(x)

        def cropped(images: Tensor) -> Tensor:
            begins = [_margin(size, central_fraction) for size in height_and_width(images)]
            middle = [
                size - 2 * begin
                for size, begin in zip(height_and_width(images), begins, strict=True)
            ]
            result = ops.Slice(images, _vector([0, *begins, 0]), _vector([-1, *middle, -1]))
            known = [size if isinstance(size, int) else None for size in middle]
            batch, _, _, channels = sizes_of(images)
            result.set_shape((batch, *known, channels))
            return result

        return apply_to_image(x, cropped)


def _margin(size: Size, fraction: float) -> Size:
    if isinstance(size, int):
        return int((size - size * fraction) / 2)
    wide = ops.Cast(size, DstT=np.float64)
    return ops.Cast((wide - wide * np.float64(fraction)) / np.float64(2), DstT=np.int32)
