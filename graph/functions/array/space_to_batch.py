"""Parts of images as images of a larger batch, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.scopes import name_scope
from . import array, creation

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike


def space_to_batch(
    input: TensorLike,
    paddings: TensorLike,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: TensorLike | None = None,
) -> Tensor:
    """Blocks of height and width, moved to the batch: the inverse of `batch_to_space`.

    Args:
        input: [batch, height, width, ...], of any type.
        paddings: [2, 2], int32 or int64: zeros put before and after height and width.
        block_size: Of a block along both, at least 2; both padded sizes are multiples of it.
        name: Of the operation.
        block_shape: [m] sizes of blocks along m dimensions in place of `block_size`, with paddings
            [m, 2].

    Returns [batch * block_size**2, height / block_size, width / block_size, ...].

    Raises ValueError for sizes that do not fit.
    """
    shape = np.full(2, block_size, np.int32) if block_shape is None else block_shape
    return ops.SpaceToBatchND(input, shape, paddings, name=name)


def batch_to_space(
    input: TensorLike,
    crops: TensorLike,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: TensorLike | None = None,
) -> Tensor:
    """What `space_to_batch` moved to the batch, moved back.

    Args:
        input: [batch * block_size**2, height, width, ...], of any type.
        crops: [2, 2], int32 or int64: how much is cut off before and after height and width.
        block_size: Of a block along both, at least 2.
        name: Of the operation.
        block_shape: [m] sizes of blocks along m dimensions in place of `block_size`, with crops
            [m, 2].

    Returns [batch, height * block_size - crops, width * block_size - crops, ...].

    Raises ValueError for sizes that do not fit.
    """
    shape = np.full(2, block_size, np.int32) if block_shape is None else block_shape
    result = ops.BatchToSpaceND(input, shape, crops, name=name)
    if block_shape is None:
        result.set_shape([None] * 4)
    return result


def required_space_to_batch_paddings(
    input_shape: TensorLike,
    block_shape: TensorLike,
    base_paddings: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Paddings that make sizes divisible by the block, and the crops that undo what they add.

    Args:
        input_shape: [n] sizes.
        block_shape: [n] sizes of a block.
        base_paddings: [n, 2], the least paddings; zeros by default.
        name: Of the operations.
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        sizes, blocks = (convert_to_tensor(x, np.int32) for x in (input_shape, block_shape))
        if base_paddings is None:
            base = creation.zeros(array.stack([ops.Size(blocks), np.int32(2)]), np.int32)
        else:
            base = convert_to_tensor(base_paddings, np.int32)
        before = ops.StridedSlice(base, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1,
                                  shrink_axis_mask=2)  # fmt: skip
        after = ops.StridedSlice(base, [0, 1], [0, 2], [1, 1], begin_mask=1, end_mask=1,
                                 shrink_axis_mask=2)  # fmt: skip
        padded = ops.AddV2(ops.AddV2(sizes, before), after)
        extra = ops.FloorMod(ops.Sub(blocks, ops.FloorMod(padded, blocks)), blocks)
        paddings = array.stack([before, ops.AddV2(after, extra)], axis=1)
        crops = array.stack([ops.ZerosLike(extra), extra], axis=1)
        return paddings, crops
