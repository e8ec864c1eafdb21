"""Sparse tensors: the levels that SparsityParameters describe, verified and written out.

A level is a dimension of the tensor or of the block that cuts it. Levels are nested in
`traversal_order`: a DENSE one holds each index, a SPARSE_CSR one the listed indices of each entry
of the level above.
"""

from __future__ import annotations

import numpy as np

from . import tables
from .errors import ModelError
from .record import Record

_SPARSE = tables.DIMENSION_TYPE["SPARSE_CSR"]


def check_sparsity(sparsity: Record, shape: list[int]) -> int:
    """The number of elements a sparse tensor stores.

    Raises ModelError when the levels do not describe a tensor of that shape.
    """
    order, block_map = (
        [] if numbers is None else [int(number) for number in numbers]
        for numbers in (sparsity.traversal_order, sparsity.block_map)
    )
    levels = sparsity.dim_metadata or ()
    rank, n_levels = len(shape), len(shape) + len(block_map)
    if sorted(order[:rank]) != list(range(rank)) or sorted(order[rank:]) != list(
        range(rank, n_levels)
    ):
        raise ModelError(
            f"sparsity: traversal_order must hold {rank} dimensions and {len(block_map)} block"
            f" dimensions, got {order[:9]}"
        )
    if len(levels) != n_levels:
        raise ModelError(f"sparsity: dim_metadata must have {n_levels} entries, got {len(levels)}")
    sizes = _level_sizes(shape, block_map, [levels[order.index(d)] for d in range(rank, n_levels)])
    n_elements = 1
    for level, dimension in zip(levels, order, strict=True):
        if level.format == _SPARSE:
            n_elements = _check_compressed(level, n_elements, sizes[dimension])
        elif level.dense_size != sizes[dimension]:
            raise ModelError(
                f"sparsity: dimension {dimension} must have a size of {sizes[dimension]},"
                f" got {level.dense_size}"
            )
        else:
            n_elements *= level.dense_size
    return n_elements


def densify(values: np.ndarray, sparsity: Record, shape: tuple[int, ...]) -> np.ndarray:
    """The tensor of `shape` whose stored elements are `values`, zero elsewhere.

    Args:
        values: [n], in the order of the levels.
        sparsity: levels that `check_sparsity` has accepted.
        shape: of the result.

    Raises ModelError when there is no memory for all elements.
    """
    try:
        dense = np.zeros(shape, values.dtype)
    except (MemoryError, ValueError) as error:
        raise ModelError(
            f"sparsity: there must be memory for all elements of shape {list(shape)}: {error}"
        ) from error
    dense[_positions(sparsity, shape)] = values
    return dense


def nonzeros(dense: np.ndarray, sparsity: Record) -> np.ndarray:
    """The elements of a tensor that levels store, in their order: what `densify` takes.

    Args:
        dense: any shape that the levels describe.
        sparsity: levels that `check_sparsity` has accepted.
    """
    return dense[_positions(sparsity, dense.shape)]


def _positions(sparsity: Record, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """For each dimension of `shape` the indices of the elements that are stored.

    Source: Chou et al., Format Abstraction for Sparse Tensor Algebra Compilers, 2018.
    """
    indices: dict[int, np.ndarray] = {}
    count = 1
    for level, dimension in zip(sparsity.dim_metadata, sparsity.traversal_order, strict=True):
        if level.format == _SPARSE:
            segments, column = _values(level.array_segments), _values(level.array_indices)
            column = column.astype(np.int64)
            parents = np.repeat(np.arange(count), np.diff(segments))
        else:
            parents = np.repeat(np.arange(count), level.dense_size)
            column = np.tile(np.arange(int(level.dense_size)), count)
        indices = {d: index[parents] for d, index in indices.items()}
        indices[int(dimension)] = column
        count = len(parents)
    block_map = () if sparsity.block_map is None else sparsity.block_map
    for block, dimension in enumerate(block_map, len(shape)):
        order = list(sparsity.traversal_order)
        size = sparsity.dim_metadata[order.index(block)].dense_size
        indices[int(dimension)] = indices[int(dimension)] * size + indices[block]
    return tuple(indices[d] for d in range(len(shape)))


def _level_sizes(shape: list[int], block_map: list[int], blocks: list[Record]) -> list[int]:
    """Size of each dimension in blocks, then the sizes of the block."""
    sizes = list(shape)
    for dimension, block in zip(block_map, blocks, strict=True):
        if not 0 <= dimension < len(shape):
            raise ModelError(f"sparsity: block_map must be in [0, {len(shape)}), got {dimension}")
        if block.format == _SPARSE or block.dense_size <= 0 or sizes[dimension] % block.dense_size:
            raise ModelError(
                f"sparsity: a block of {block.dense_size} must be dense and divide dimension"
                f" {dimension} of {shape}"
            )
        sizes[dimension] //= block.dense_size
        sizes.append(block.dense_size)
    return sizes


def _check_compressed(level: Record, n_rows: int, size: int) -> int:
    """The number of entries of a SPARSE_CSR level below `n_rows` entries."""
    segments, indices = _values(level.array_segments), _values(level.array_indices)
    if len(segments) != n_rows + 1:
        raise ModelError(f"sparsity: a level must have {n_rows + 1} segments, got {len(segments)}")
    if segments[0] != 0 or segments[-1] != len(indices) or np.any(segments[1:] < segments[:-1]):
        raise ModelError(
            f"sparsity: segments must go from 0 up to the {len(indices)} indices there are"
        )
    if np.any(indices < 0) or np.any(indices >= size):
        raise ModelError(
            f"sparsity: indices must be in [0, {size}), got {indices.min()} to {indices.max()}"
        )
    return len(indices)


def _values(vector: Record | None) -> np.ndarray:
    """The numbers of a SparseIndexVector."""
    if vector is None or vector.values is None:
        return np.zeros(0, "<i4")
    return np.asarray(vector.values)
