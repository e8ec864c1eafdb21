"""Ragged tensors with their rows filled up, of any kind of row partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.registry import op

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Shape

FIRST_DIM_SIZE = "FIRST_DIM_SIZE"


def kinds_of(types: Sequence[bytes | str]) -> list[str]:
    """The kinds of row partitions as text."""
    return [x.decode() if isinstance(x, bytes) else x for x in types]


def row_lengths(
    kinds: Sequence[str], partitions: Sequence[np.ndarray], n_values: int
) -> list[np.ndarray]:
    """The lengths of the rows of each level, from the outermost.

    Raises ValueError unless each level parts what the next one has, the last `n_values` values.
    """
    n_rows = 0
    if kinds[0] == FIRST_DIM_SIZE:
        n_rows, kinds, partitions = int(partitions[0]), kinds[1:], partitions[1:]
    levels: list[np.ndarray] = []
    for kind, partition in zip(kinds, partitions, strict=True):
        if kind == "ROW_SPLITS":
            if not partition.size or partition[0] != 0:
                raise ValueError(f"Invalid row split argument, got {partition.tolist()}")
            lengths = np.diff(partition)
        elif kind == "ROW_LENGTHS":
            lengths = partition
        elif kind == "VALUE_ROWIDS":
            if partition.size and not 0 <= partition.min() <= partition.max() < n_rows:
                raise ValueError(f"value_rowids must be in [0, {n_rows}), got {partition.tolist()}")
            lengths = np.bincount(partition, minlength=n_rows)
        else:
            raise ValueError(f"Unsupported row partition type: {kind}")
        if (lengths < 0).any() or (levels and len(lengths) != levels[-1].sum()):
            raise ValueError(f"Invalid row partition of type {kind}, got {partition.tolist()}")
        levels.append(lengths)
        n_rows = int(lengths.sum())
    if n_rows != n_values:
        raise ValueError(f"The rows have {n_rows} values, but values has {n_values}")
    return levels


def _shape(op: OperationView) -> Shape:
    kinds = kinds_of(cast("Sequence[bytes]", op.attrs["row_partition_types"]))
    n = len(kinds) - (kinds[:1] == [FIRST_DIM_SIZE]) + 1
    inner, sizes = op.inputs[1].sizes, op.inputs[0].value
    if inner is None:
        return None
    first: list[int | None] = [None] * n
    if sizes is not None and sizes.ndim:
        listed = cast("list[int | None]", sizes.tolist())
        first = [None if size is None or size < 0 else size for size in listed[:n]]
    return (*first, *inner[1:])


@op("RaggedTensorToTensor", shape=_shape)
def ragged_tensor_to_tensor(
    shape: np.ndarray,
    values: np.ndarray,
    default: np.ndarray,
    *partitions: np.ndarray,
    row_partition_types: Sequence[bytes | str],
) -> np.ndarray:
    """Values at their places in rows of equal length; rows too long, and rows too many, are cut."""
    levels = row_lengths(kinds_of(row_partition_types), partitions, len(values))
    sizes = [len(levels[0]), *(int(lengths.max(initial=0)) for lengths in levels)]
    asked = cast("list[int]", shape.tolist()) if shape.ndim else []
    inner = list(values.shape[1:])
    for i, size in enumerate(asked):
        if size >= 0 and i < len(sizes):
            sizes[i] = size
        elif size >= 0 and inner[i - len(sizes)] != size:
            raise ValueError(f"shape {asked} does not match values of the shape {values.shape}")
    positions = [np.arange(len(levels[0]))]
    for lengths in levels:
        before = np.repeat(np.cumsum(lengths) - lengths, lengths)
        positions = [np.repeat(place, lengths) for place in positions]
        positions.append(np.arange(int(lengths.sum())) - before)
    dense = np.empty([*sizes, *inner], values.dtype)
    dense[...] = default
    inside = np.all([place < n for place, n in zip(positions, sizes, strict=True)], axis=0)
    dense[tuple(place[inside] for place in positions)] = values[inside]
    return dense
