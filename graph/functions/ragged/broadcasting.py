"""Rows of ragged tensors that broadcast to one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import RowPartition, checked
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from .operands import rank_of
from .rows import long, size_along

_ZERO = np.int32(0)


class _Levels:
    """A tensor as rows of rows, as many levels deep as asked, behind outer dimensions of size 1.

    Attributes:
        lengths: For each level the number of items of each row.
        is_one: For each level whether all sizes are 1 and may be repeated; None: never.
        values: The items of the last level.
    """

    def __init__(self, x: Tensor | RaggedTensor, rank: int, depth: int):
        self.lengths: list[Tensor] = []
        self.is_one: list[Tensor | None] = []
        own_rank = cast("int", rank_of(x))
        one = convert_to_tensor(np.ones(1, np.int64))
        for _ in np.arange(rank - own_rank).tolist()[:depth]:
            self._add(one, convert_to_tensor(np.bool_(True)))
        remaining = depth - len(self.lengths)
        if remaining > 0:
            count = long(x.rows.nrows()) if isinstance(x, RaggedTensor) else size_along(x, 0)
            self._add(ops.ExpandDims(count, _ZERO), ops.Equal(count, np.int64(1)))
            remaining -= 1
        while remaining > 0 and isinstance(x, RaggedTensor):
            uniform = x.rows.uniform
            single = None if uniform is None else ops.Equal(long(uniform), np.int64(1))
            self._add(long(x.rows.lengths()), single)
            x, remaining = x.values, remaining - 1
        dense = x.flat_values if isinstance(x, RaggedTensor) else x
        if remaining > 0:
            sizes = ops.Shape(dense, out_type=np.dtype(np.int64))
            for axis in np.arange(1, remaining + 1).tolist():
                rows = ops.Prod(ops.StridedSlice(sizes, [0], [axis], [1]), _ZERO)
                size = ops.StridedSlice(sizes, [axis], [axis + 1], [1], shrink_axis_mask=1)
                self._add(ops.Fill(ops.ExpandDims(rows, _ZERO), size), ops.Equal(size, np.int64(1)))
            inner = ops.StridedSlice(sizes, [remaining + 1], [0], [1], end_mask=1)
            shape = ops.ConcatV2([np.array([-1], np.int64), inner], _ZERO)
            dense = ops.Reshape(dense, shape)
        elif own_rank < rank - depth + 1:
            dense = ops.ExpandDims(dense, _ZERO)
        self.values = dense

    def _add(self, lengths: Tensor, is_one: Tensor | None) -> None:
        self.lengths.append(lengths)
        self.is_one.append(is_one)


def broadcast(
    tensors: Sequence[Tensor | RaggedTensor],
) -> tuple[list[Tensor], list[RowPartition]]:
    """Innermost values of tensors repeated to common rows, and these rows from the outside in.

    The dimensions within the rows are left as they are.

    Raises ValueError when a rank is not known; InvalidArgumentError, when it runs, for sizes that
    do not broadcast.
    """
    ranks = [rank_of(x) for x in tensors]
    if None in ranks:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(cast("list[int]", ranks))
    depth = max(
        rank - cast("int", n) + x.ragged_rank + 1
        for x, n in zip(tensors, ranks, strict=True)
        if isinstance(x, RaggedTensor)
    )
    parts = [_Levels(x, rank, depth) for x in tensors]
    nodes = [convert_to_tensor(np.zeros(1, np.int64)) for _ in parts]
    rows: list[RowPartition] = []
    for level in np.arange(depth).tolist():
        lengths = [
            ops.GatherV2(part.lengths[level], node, _ZERO)
            for part, node in zip(parts, nodes, strict=True)
        ]
        common = _common(lengths, [part.is_one[level] for part in parts])
        ends = ops.Cumsum(common, _ZERO)
        splits = ops.ConcatV2([np.zeros(1, np.int64), ends], _ZERO)
        partition = RowPartition(splits, lengths=common)
        rowids, columns = partition.rowids(), partition.columns()
        for i, part in enumerate(parts):
            row_lengths = part.lengths[level]
            starts = ops.Cumsum(row_lengths, _ZERO, exclusive=True)
            base = ops.GatherV2(ops.GatherV2(starts, nodes[i], _ZERO), rowids, _ZERO)
            is_one = part.is_one[level]
            offset = columns
            if is_one is not None:
                offset = ops.SelectV2(is_one, ops.ZerosLike(columns), columns)
            nodes[i] = ops.AddV2(base, offset)
        rows.append(partition)
    values = [
        ops.GatherV2(part.values, node, _ZERO) for part, node in zip(parts, nodes, strict=True)
    ]
    dtypes = {x.rows.dtype for x in tensors if isinstance(x, RaggedTensor)}
    kind = dtypes.pop() if len(dtypes) == 1 else np.dtype(np.int64)
    return values, [level.of_type(kind) for level in rows[1:]]


def _common(lengths: list[Tensor], ones: list[Tensor | None]) -> Tensor:
    """The sizes that several broadcast to."""
    common, one = lengths[0], ones[0]
    for other, other_one in zip(lengths[1:], ones[1:], strict=True):
        chosen = common if one is None else ops.SelectV2(one, other, common)
        against = other if other_one is None else ops.SelectV2(other_one, chosen, other)
        equal = ops.All(ops.Equal(chosen, against), _ZERO)
        common = checked(chosen, [equal], "Incompatible shapes: ragged rows do not broadcast")
        if one is not None:
            one = None if other_one is None else ops.LogicalAnd(one, other_one)
    return common
