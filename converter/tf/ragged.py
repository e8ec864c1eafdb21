"""Ragged tensors: their rows as rows of equal length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...graph.ops.sparse.dense_rows import FIRST_DIM_SIZE, kinds_of
from ..lowering.moves import as_int32, cropped, element, extent, int32s
from .registry import lower

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor
    from .registry import Node

COLUMN = int32s([-1, 1])


def splits_of(kind: str, partition: Tensor, n_rows: Tensor, b: Builder) -> Tensor:
    """Where each row begins, and at last where the last one ends."""
    partition = as_int32(partition, b)
    if kind == "ROW_SPLITS":
        return partition
    if kind == "VALUE_ROWIDS":
        ones = b.FILL(b.SHAPE(partition, out_type="INT32"), np.int32(1))
        partition = b.UNSORTED_SEGMENT_SUM(ones, partition, n_rows)
    return b.PAD(b.CUMSUM(partition, np.int32(0)), int32s([[1, 0]]))


def ends_of(splits: Tensor, rows: Tensor | None, b: Builder) -> tuple[Tensor, Tensor]:
    """Where rows begin and end, all or those with these numbers; those past the last are empty."""
    if rows is None:
        return cropped(splits, [(0, 1)], b), cropped(splits, [(1, 0)], b)
    last = b.SUB(extent(splits, 0, b), np.int32(1))
    after = b.MINIMUM(b.ADD(rows, np.int32(1)), last)
    return b.GATHER(splits, rows, axis=0), b.GATHER(splits, after, axis=0)


def numbers_in_rows(splits: Tensor, rows: Tensor | None, size: int, b: Builder) -> Tensor:
    """The numbers of the values of rows, `size` or as many as the longest has; past its end that
    of the value after the last.
    """
    if size >= 0:
        columns = b.constant(np.arange(size, dtype=np.int32))
    else:
        begins, ends = ends_of(splits, None, b)
        longest = b.REDUCE_MAX(b.SUB(ends, begins), int32s([0]))
        limit = b.MAXIMUM(longest, np.int32(0))  # without rows it is the lowest of all numbers
        columns = b.RANGE(np.int32(0), limit, np.int32(1))
    begins, ends = ends_of(splits, rows, b)
    if rows is None:
        begins, ends = b.RESHAPE(begins, COLUMN), b.RESHAPE(ends, COLUMN)
    else:
        begins, ends = b.EXPAND_DIMS(begins, np.int32(-1)), b.EXPAND_DIMS(ends, np.int32(-1))
    numbers = b.ADD(begins, columns)
    return b.SELECT_V2(b.LESS(numbers, ends), numbers, element(splits, -1, b))


def with_default(values: Tensor, default: Tensor, b: Builder) -> Tensor:
    """Values, and after the last the default."""
    inner = [n for n in values.dims[1:] if n is not None]
    if default.value is not None and len(inner) == len(values.dims) - 1:
        row = b.constant(np.broadcast_to(default.value, (1, *inner)))
        return b.CONCATENATION(values, row, axis=0)
    sizes = b.SHAPE(values, out_type="INT32")
    sizes = b.CONCATENATION(int32s([1]), cropped(sizes, [(1, 0)], b), axis=0)
    return b.CONCATENATION(values, b.BROADCAST_TO(default, sizes), axis=0)


@lower("RaggedTensorToTensor")
def ragged_tensor_to_tensor(node: Node, b: Builder) -> Tensor:
    """The rows of values, filled up with a default or cut to sizes that are constant."""
    _, values, default, *partitions = node.inputs
    node.require(values.dtype != object, "builtins concatenate no strings")
    kinds = kinds_of(node.attr("row_partition_types"))
    n_rows = as_int32(partitions[0], b)
    if kinds[0] == FIRST_DIM_SIZE:
        kinds, partitions = kinds[1:], partitions[1:]
    sizes = node.constant(0).tolist() if node.constant(0).ndim else [-1] * (len(kinds) + 1)
    rows = None
    for level, (kind, partition) in enumerate(zip(kinds, partitions, strict=True)):
        splits = splits_of(kind, partition, n_rows, b)
        if level == 0 and sizes[0] >= 0:
            last = b.SUB(extent(splits, 0, b), np.int32(1))
            rows = b.MINIMUM(np.arange(sizes[0], dtype=np.int32), last)
        rows = numbers_in_rows(splits, rows, int(sizes[level + 1]), b)
        n_rows = element(splits, -1, b)
    return b.GATHER(with_default(values, default, b), rows, axis=0)
