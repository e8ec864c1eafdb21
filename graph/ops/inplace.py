"""Rows written over, added or taken away: InplaceUpdate, InplaceAdd, InplaceSub."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import op

if TYPE_CHECKING:
    from ..core.protocols import OperationView

_COMBINE: dict[str, np.ufunc | None] = {
    "InplaceUpdate": None,
    "InplaceAdd": np.add,
    "InplaceSub": np.subtract,
}


@op(*_COMBINE, shape=lambda op: op.inputs[0].sizes)
def update_rows(x: np.ndarray, i: np.ndarray, v: np.ndarray, *, op: OperationView) -> np.ndarray:
    """`x`, row i[j] combined with v[j], one after another; indices are taken modulo the rows."""
    shapes = f": {list(x.shape)} vs. {list(v.shape)}"
    if i.ndim != 1:
        raise ValueError(f"i must be a vector. {list(i.shape)}")
    if x.ndim != v.ndim:
        raise ValueError(f"x and v shape doesn't match (ranks differ){shapes}")
    for axis in range(1, x.ndim):
        if x.shape[axis] != v.shape[axis]:
            raise ValueError(f"x and v shape doesn't match at index {axis} {shapes}")
    if not x.ndim or len(i) != len(v):
        message = "i and x shape doesn't match at index 0"
        raise ValueError(f"{message}: {list(i.shape)} vs. {list(v.shape)}")
    result, combine = x.copy(), _COMBINE[op.type]
    if not result.size or not v.size:
        return result
    rows = i % len(x)
    if combine is None:
        for row, value in zip(rows, v, strict=True):
            result[row] = value
    else:
        combine.at(result, rows, v)
    return result
