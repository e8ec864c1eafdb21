"""Choices between ragged tensors: `where`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from .conversion import coordinates
from .joining import joined
from .operands import as_ragged, rank_of
from .picking import gather_rows
from .rows import numbers
from .values import mapped, of_flat_values

if TYPE_CHECKING:
    from ...core.typing import TensorLike

_ZERO = np.int32(0)


def _where(condition: RaggedTensor, name: str | None) -> Tensor:
    """Where a ragged condition holds."""
    with name_scope(name, "RaggedWhere"):
        flat = ops.Reshape(condition.flat_values, np.array([-1], np.int32))
        positions = ops.Reshape(ops.Where(flat), np.array([-1], np.int32))
        return ops.GatherV2(coordinates(condition), positions, _ZERO)


@ragged("where")
def where(
    condition: TensorLike | RaggedTensor,
    x: TensorLike | RaggedTensor | None = None,
    y: TensorLike | RaggedTensor | None = None,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Values, or rows, of `x` where `condition` holds, else of `y`; alone, where it holds.

    Raises ValueError when one of `x` and `y` is missing, or the shapes do not go together.
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    flags = as_ragged(condition, preferred_dtype=np.bool_)
    if flags.dtype != np.bool_:
        raise ValueError(f"condition must be bool, got {flags.dtype.name}")
    if x is None or y is None:
        return _where(flags, name) if isinstance(flags, RaggedTensor) else ops.Where(flags)
    with name_scope(name, "RaggedWhere"):
        first, second = as_ragged(x), as_ragged(y)
        if first.dtype != second.dtype:
            raise ValueError(
                f"x and y must be of one type, got {first.dtype.name} and {second.dtype.name}"
            )
        if isinstance(flags, RaggedTensor):
            parts = (first, second)
            if all(isinstance(part, RaggedTensor) for part in parts):
                if len({rank_of(part) for part in (flags, *parts)}) > 1:
                    raise ValueError("condition, x and y must have the same shape.")
                return mapped(ops.Select, (flags, first, second), {})
            raise ValueError("Input shapes do not match: condition, x and y must have the same.")
        if rank_of(flags) != 1:
            raise ValueError("condition must be a vector, or have the shape of x and y")
        return _rows_where(flags, first, second)


def _rows_where(
    flags: Tensor, x: Tensor | RaggedTensor, y: Tensor | RaggedTensor
) -> Tensor | RaggedTensor:
    """Row i of `x` where flag i holds, else of `y`."""
    both = joined([x, y], 0)
    first, second = numbers(x), numbers(y)
    n = ops.Size(first, out_type=np.dtype(np.int64))
    rows = ops.Select(flags, first, ops.AddV2(second, n))
    return gather_rows(both, rows)


@ragged("where_v2")
def where_v2(
    condition: TensorLike | RaggedTensor,
    x: TensorLike | RaggedTensor | None = None,
    y: TensorLike | RaggedTensor | None = None,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """As `where`, of ragged tensors and tensors that broadcast."""
    if x is None or y is None:
        return where(condition, x, y, name)
    with name_scope(name, "RaggedWhere"):
        flags = as_ragged(condition, np.bool_)
        operands = [convert_to_tensor(v) if isinstance(v, (int, float, str)) else v for v in (x, y)]
        return of_flat_values(ops.SelectV2, flags, *map(as_ragged, operands))
