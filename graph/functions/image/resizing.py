"""Images in other sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.scopes import name_scope
from ..array.casting import cast
from ..rows import functions
from .cropping import pad_to_bounding_box
from .shapes import Size, as_batch, as_batch_or_image, height_and_width

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike

    Resize = Callable[[Tensor, Tensor], Tensor]

ONE_TO_ONE = """
resize_area             ResizeArea            images size align_corners=False \
    # Each new element the mean of the old ones that it covers; [batch, height, width, channels] \
    float32
resize_bicubic          ResizeBicubic         images size align_corners=False name \
    half_pixel_centers=False \
    # Each new element from the sixteen old ones around it; [batch, height, width, channels] float32
resize_bilinear         ResizeBilinear        images size align_corners=False name \
    half_pixel_centers=False \
    # Each new element from the four old ones around it; [batch, height, width, channels] float32
resize_nearest_neighbor ResizeNearestNeighbor images size align_corners=False name \
    half_pixel_centers=False \
    # Each new element from the old one nearest to it; [batch, height, width, channels]
"""
globals().update(functions(ONE_TO_ONE, __name__))


class ResizeMethodV1:
    """How `resize` of TF1 finds new elements."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


class ResizeMethod:
    """How `resize` of TF2 finds new elements."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


KERNELS = {
    ResizeMethodV1.BILINEAR: ops.ResizeBilinear,
    ResizeMethodV1.NEAREST_NEIGHBOR: ops.ResizeNearestNeighbor,
    ResizeMethodV1.BICUBIC: ops.ResizeBicubic,
    ResizeMethodV1.AREA: ops.ResizeArea,
    ResizeMethod.BILINEAR: ops.ResizeBilinear,
    ResizeMethod.NEAREST_NEIGHBOR: ops.ResizeNearestNeighbor,
    ResizeMethod.BICUBIC: ops.ResizeBicubic,
    ResizeMethod.AREA: ops.ResizeArea,
}
"""Of the methods that are an operation, by number and by name."""
FILTERS = {
    ResizeMethod.BILINEAR: "triangle",
    ResizeMethod.BICUBIC: "keyscubic",
    **{name: name for name in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")},
}
"""The filters that ScaleAndTranslate samples through, by method."""
NAMES: dict[int | str, str] = {
    getattr(ResizeMethodV1, kind): getattr(ResizeMethod, kind)
    for kind in ("BILINEAR", "NEAREST_NEIGHBOR", "BICUBIC", "AREA")
}
"""TF2's names of TF1's methods."""
ONLY_FILTERS = FILTERS.keys() - KERNELS.keys()
"""Methods that are no operation of their own."""


def _filtered(images: Tensor, size: Tensor, *, filter: str, antialias: bool) -> Tensor:
    new = cast(size, np.float32)
    old = cast(ops.Shape(images)[1:3], np.float32)
    return ops.ScaleAndTranslate(
        images,
        size,
        ops.RealDiv(new, old),
        np.zeros(2, np.float32),
        kernel_type=filter,
        antialias=antialias,
    )


def _kernel(method: object, align_corners: bool) -> Resize:
    """Of TF1's methods; ValueError for another one."""
    if not isinstance(method, (int, str)) or method not in KERNELS:
        raise ValueError(f"Resize method is not implemented: {method}")
    return partial(KERNELS[method], align_corners=align_corners)


def _kernel_v2(method: object, antialias: bool) -> Resize:
    """Of TF2's methods; ValueError for another one."""
    if isinstance(method, str) and method in FILTERS and (antialias or method in ONLY_FILTERS):
        return partial(_filtered, filter=FILTERS[method], antialias=antialias)
    if method == ResizeMethod.AREA:
        return ops.ResizeArea
    if not isinstance(method, str) or method not in KERNELS:
        raise ValueError(f"Resize method is not implemented: {method}")
    return partial(KERNELS[method], half_pixel_centers=True)


def _fitting(images: Tensor, size: Tensor) -> Tensor:
    """The largest size within `size` of the images' own proportions."""
    known = size.value
    sizes = height_and_width(images)
    if known is not None and all(isinstance(n, int) for n in sizes):
        scale = min(new / old for new, old in zip(known.tolist(), sizes, strict=True))
        return convert_to_tensor(np.array([round(scale * n) for n in sizes], np.int32))
    old = cast(ops.Shape(images)[1:3], np.float64)
    scale = ops.Min(ops.RealDiv(cast(size, np.float64), old), np.int32(0))
    return cast(ops.Rint(old * scale), np.int32)


def _resized(
    images: TensorLike, size: TensorLike, kernel: Resize, preserve_aspect_ratio: bool
) -> Tensor:
    x = convert_to_tensor(images, name="images")
    batch, unbatched = as_batch(x)
    try:
        sizes = convert_to_tensor(size, np.int32, name="size")
    except (TypeError, ValueError) as error:
        raise ValueError("'size' must be a 1-D int32 Tensor") from error
    if not sizes.get_shape().is_compatible_with([2]):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if preserve_aspect_ratio:
        sizes = _fitting(batch, sizes)
    known = sizes.value
    if known is not None and batch.sizes is not None and (*known.tolist(),) == batch.sizes[1:3]:
        return x
    result = kernel(batch, sizes)
    new = (None, None) if known is None else known.tolist()
    result.set_shape((None, *new, None))
    return unbatched(result)


def resize(
    images: TensorLike,
    size: TensorLike,
    method: int | str = ResizeMethodV1.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
    antialias: bool = False,
) -> Tensor:
    """One or several images in another size.

    Args:
        images: [height, width, channels], or several with a batch before it.
        size: Two numbers, height and width.
        method: One of `ResizeMethod`. Those that only TF2 has, and `antialias`, give what they give
            there.
        align_corners: Whether the outermost elements stay at the corners.
        preserve_aspect_ratio: Whether the proportions stay, within `size`.
        name: Of the operation.
        antialias: Whether filters become wider where the image becomes smaller.

    Returns float32, unless the method is NEAREST_NEIGHBOR or the size is that of the images.

    Raises ValueError for another rank, size or method.
    """
    with name_scope(name, "resize", [images, size]):
        if antialias or method in ONLY_FILTERS:
            named = NAMES.get(method, method)
            return resize_v2(images, size, str(named), preserve_aspect_ratio, antialias)
        return _resized(images, size, _kernel(method, align_corners), preserve_aspect_ratio)


def resize_images(
    images: TensorLike,
    size: TensorLike,
    method: int | str = ResizeMethodV1.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """`resize` under its older name.

    Args:
        images: [height, width, channels] or [batch, height, width, channels], numbers.
        size: int32 [2], height and width of the result.
        method, align_corners, preserve_aspect_ratio, name: Of `resize`.
    """
    return resize(images, size, method, align_corners, preserve_aspect_ratio, name)


def resize_v2(
    images: TensorLike,
    size: TensorLike,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """TF2's `resize`: elements lie at the middle of their places.

    Args:
        images: [height, width, channels], or several with a batch before it.
        size: Two numbers, height and width.
        method: One of `ResizeMethod`.
        preserve_aspect_ratio: Whether the proportions stay, within `size`.
        antialias: Whether filters become wider where the image becomes smaller.
        name: Of the operation.

    Returns float32, unless the method is NEAREST_NEIGHBOR.

    Raises ValueError for another rank, size or method.
    """
    with name_scope(name, "resize", [images, size]):
        x = convert_to_tensor(images, name="images")
        kernel = _kernel_v2(method, antialias)
        result = _resized(x, size, kernel, preserve_aspect_ratio)
        is_same = result is x and method != ResizeMethod.NEAREST_NEIGHBOR
        return cast(result, np.float32) if is_same else result


def _with_pad(
    image: TensorLike, target_height: Size, target_width: Size, resized: Resize
) -> Tensor:
    """The image in the target, with its own proportions and margins of 0."""
    x = convert_to_tensor(image, name="image")
    for axis, target in (("width", target_width), ("height", target_height)):
        if isinstance(target, int) and target <= 0:
            raise ValueError(f"target_{axis} must be > 0.")
    batch, unbatched = as_batch_or_image(x)
    sizes = height_and_width(batch)
    targets = target_height, target_width
    if all(isinstance(n, int) for n in (*sizes, *targets)):
        ratio = max(size / target for size, target in zip(sizes, targets, strict=True))
        new: list[Size] = [max(1, int(np.floor(size / ratio))) for size in sizes]
    else:
        parts = [cast(n, np.float64) for n in (*sizes, *targets)]
        ratio = ops.Maximum(parts[0] / parts[2], parts[1] / parts[3])
        floors = [ops.Floor(part / ratio) for part in parts[:2]]
        new = [ops.Maximum(cast(floor, np.int32), np.int32(1)) for floor in floors]
    above, before = ((target - size) // 2 for target, size in zip(targets, new, strict=True))
    at_size = resized(batch, convert_to_tensor(new, np.int32))
    known = [n if isinstance(n, int) else None for n in new]
    at_size.set_shape((None, *known, None))
    return unbatched(pad_to_bounding_box(at_size, above, before, *targets))


def resize_image_with_pad(
    image: TensorLike,
    target_height: Size,
    target_width: Size,
    method: int | str = ResizeMethodV1.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """One or several images in the target's size, with their own proportions and margins of 0.

    Args:
        image: [height, width, channels] or [batch, height, width, channels], numbers.
        target_height, target_width: The sizes of the result, above 0.
        method, align_corners: Of `resize`.

    Raises ValueError for a target that is not positive, or another method.
    """
    with name_scope(None, "resize_image_with_pad", [image]):
        return _with_pad(image, target_height, target_width, _kernel(method, align_corners))


def resize_with_pad(
    image: TensorLike,
    target_height: Size,
    target_width: Size,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """TF2's `resize_image_with_pad` of `image`, whose methods are those of `resize_v2`."""
    with name_scope(None, "resize_with_pad", [image]):
        return _with_pad(image, target_height, target_width, _kernel_v2(method, antialias))
