"""What functions of images ask of the shapes of images, and images as batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor

if TYPE_CHECKING:
    from ...core.graph import Tensor
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
    return ops.ExpandDims(images, np.int32(0)), lambda result: ops.Squeeze(result, squeeze_dims=[0])


def sizes_of(batch: Tensor) -> tuple[Dim, Dim, Dim, Dim]:
    """The sizes of [batch, height, width, channels], None where they are not known."""
    first, second, third, fourth = batch.sizes or (None,) * 4
    return first, second, third, fourth


def apply_to_image(images: TensorLike, on_batch: Callable[[Tensor], Tensor]) -> Tensor:
    """`on_batch` of one or several images."""
    batch, unbatched = as_batch(image_of(images, "images"))
    return unbatched(on_batch(batch))
