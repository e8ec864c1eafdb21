"""What functions of images ask of the shapes of images, and images as batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Operation, Tensor
from ..flow.conditional import cond
from ..flow.control_flow import Assert

if TYPE_CHECKING:
    from ...core.shapes import Dim
    from ...core.typing import TensorLike

Size: TypeAlias = "int | Tensor"
"""A size that is known, or is computed."""


def image_of(image: TensorLike, name: str = "image") -> Tensor:
    """An image, or several, of at least [height, width, channels].

    Raises ValueError when the rank is smaller, or a size is 0.
    """
    x = convert_to_tensor(image, name=name)
    if x.sizes is None:
        return x
    if len(x.sizes) < 3:
        raise ValueError(f"'{name}' (shape {x.shape}) must be at least three-dimensional.")
    if 0 in x.sizes[-3:]:
        raise ValueError(f"inner 3 dims of '{name}.shape' must be > 0: {x.shape}")
    return x


def three_dimensional(image: TensorLike, name: str = "image") -> Tensor:
    """One image; ValueError for another rank, or when a size is 0."""
    x = convert_to_tensor(image, name=name)
    if x.sizes is not None and len(x.sizes) != 3:
        raise ValueError(f"'{name}' (shape {x.shape}) must be three-dimensional.")
    return x if x.sizes is None else image_of(x, name)


def height_and_width(images: Tensor) -> tuple[Size, Size]:
    """The sizes before the channels, as numbers where they are known."""
    known = (None, None) if images.sizes is None else images.sizes[-3:-1]
    height, width = (
        ops.Shape(images)[i - 3] if size is None else size for i, size in enumerate(known)
    )
    return height, width


def as_batch(images: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """[batch, height, width, channels] of one or several images, and how to take the batch away.

    Raises ValueError for another rank than 3 or 4.
    """
    if images.sizes is None:
        raise ValueError("'images' contains no shape.")
    if len(images.sizes) == 4:
        return images, lambda result: result
    if len(images.sizes) != 3:
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    return _batch_of_one(images)


def as_batch_or_image(image: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """`as_batch`, for which what has no known rank is one image.

    Raises ValueError for another rank than 3 or 4.
    """
    if image.sizes is None:
        batch, unbatched = _batch_of_one(image)
        batch.set_shape((None,) * 4)
        return batch, unbatched
    if len(image.sizes) not in (3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    return as_batch(image_of(image))


def _batch_of_one(image: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    batch = ops.ExpandDims(image, np.int32(0))
    return batch, lambda result: ops.Squeeze(result, squeeze_dims=[0])


def sizes_of(batch: Tensor) -> tuple[Dim, Dim, Dim, Dim]:
    """The sizes of [batch, height, width, channels], None where they are not known."""
    first, second, third, fourth = batch.sizes or (None,) * 4
    return first, second, third, fourth


def apply_to_image(images: TensorLike, on_batch: Callable[[Tensor], Tensor]) -> Tensor:
    """`on_batch` of one or several images."""
    batch, unbatched = as_batch(image_of(images, "images"))
    return unbatched(on_batch(batch))


def apply_to_any_image(images: TensorLike, on_batch: Callable[[Tensor], Tensor]) -> Tensor:
    """`on_batch` of one or several images; what has no known rank is asked when it runs."""
    x = image_of(images)
    if x.sizes is not None:
        return apply_to_image(x, on_batch)

    def of_one() -> Tensor:
        batch, unbatched = as_batch_or_image(x)
        return unbatched(on_batch(batch))

    def of_several() -> Tensor:
        batch = ops.Identity(x)
        batch.set_shape((None,) * 4)
        return on_batch(batch)

    return cast("Tensor", cond(ops.Equal(ops.Rank(x), np.int32(3)), of_one, of_several))


def checked(condition: object, message: str) -> list[Operation]:
    """Raises ValueError when a condition is known not to hold, else checks it when it runs."""
    if isinstance(condition, Tensor):
        return [Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []
