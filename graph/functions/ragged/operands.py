"""What functions of ragged tensors take: their operands, axes and index types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.composite.ragged_tensor import RaggedTensor, of_value
from ...core.composite.ragged_value import RaggedTensorValue
from ...core.create import convert_to_tensor
from ...core.graph import Tensor

if TYPE_CHECKING:
    from ...core.composite.row_partition import RowPartition
    from ...core.typing import DTypeLike, TensorLike


def as_ragged(
    value: TensorLike | RaggedTensor | RaggedTensorValue,
    dtype: DTypeLike | None = None,
    preferred_dtype: DTypeLike | None = None,
) -> Tensor | RaggedTensor:
    """A ragged tensor of what is one, or its value; a tensor of anything else."""
    if isinstance(value, RaggedTensorValue):
        value = of_value(value, dtype)
    if not isinstance(value, RaggedTensor):
        return convert_to_tensor(value, dtype, preferred_dtype=preferred_dtype)
    if dtype is not None and value.dtype != dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {np.dtype(dtype).name} for RaggedTensor with dtype "
            f"{value.dtype.name}: {value}"
        )
    return value


def flat(x: TensorLike | RaggedTensor | RaggedTensorValue) -> Tensor:
    """The innermost values of a ragged tensor; of anything else its tensor."""
    tensor = as_ragged(x)
    return tensor.flat_values if isinstance(tensor, RaggedTensor) else tensor


def wrapped(values: Tensor | RaggedTensor, rows: Sequence[RowPartition]) -> RaggedTensor:
    """Values in rows of rows, from the outside in."""
    result: Tensor | RaggedTensor = values
    for level in reversed(rows):
        result = RaggedTensor(result, level)
    return cast("RaggedTensor", result)


def rank_of(x: Tensor | RaggedTensor) -> int | None:
    """How many dimensions there are, where that is known."""
    return x.get_shape().rank


def positive_axis(axis: object, rank: int | None, name: str = "axis") -> int:
    """An axis from 0 on; TypeError and ValueError in TensorFlow's words."""
    if isinstance(axis, (Tensor, np.ndarray)) and not isinstance(axis, np.generic):
        value = axis.value if isinstance(axis, Tensor) else np.asarray(cast("TensorLike", axis))
        if value is not None and value.ndim == 0:
            axis = int(value)
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        kind = type(cast("object", axis)).__name__
        raise TypeError(f"{name} must be an int; got {kind}")
    number = int(cast("int", axis))
    if rank is not None:
        if not -rank <= number < rank:
            raise ValueError(
                f"{name}={number} out of bounds: expected {-rank}<={name}<{rank}"
                if rank
                else f"{name}={number} out of bounds: a scalar has no axes"
            )
        return number % rank
    if number < 0:
        raise ValueError(f"{name}={number} may only be negative if ndims is statically known.")
    return number


def same_index_type(parts: Sequence[Tensor | RaggedTensor]) -> list[Tensor | RaggedTensor]:
    """Ragged tensors whose rows are counted in one type: int64 when they were of two."""
    dtypes = {part.rows.dtype for part in parts if isinstance(part, RaggedTensor)}
    if len(dtypes) < 2:
        return list(parts)
    return [
        part.with_row_splits_dtype(np.int64) if isinstance(part, RaggedTensor) else part
        for part in parts
    ]
