"""Products of ragged matrices: `matmul`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import checked
from ...core.graph import Tensor
from ...core.scopes import name_scope
from .operands import as_ragged, rank_of, same_index_type
from .values import same_splits

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike

_ZERO = np.int32(0)
_UNKNOWN = -1
"""The number of columns of a matrix without rows."""


class _Matrices(NamedTuple):
    """Ragged matrices in batches, with sizes for each matrix.

    Attributes:
        x: The matrices, all dimensions but the first ragged.
        padded: [..., rows, columns], filled up with zeros.
        n_rows, n_columns: For each matrix; -1 columns where it has no rows.
    """

    x: RaggedTensor
    padded: Tensor
    n_rows: Tensor
    n_columns: Tensor


def _matrices(x: Tensor | RaggedTensor, rank: int, which: str) -> _Matrices:
    whole = x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x, ragged_rank=rank - 1)
    if whole.ragged_rank < rank - 1:
        inner = RaggedTensor.from_tensor(
            whole.flat_values,
            ragged_rank=rank - 1 - whole.ragged_rank,
            row_splits_dtype=whole.rows.dtype,
        )
        whole = whole.with_flat_values(inner)
    lengths = whole.nested_rows[-1].lengths()
    if rank == 2:
        n_rows = ops.ExpandDims(whole.rows.nrows(), _ZERO)
        matrix_of_row = ops.ZerosLike(lengths)
        count: TensorLike = np.ones((), whole.rows.dtype)
    else:
        level = whole.nested_rows[-2]
        n_rows, matrix_of_row, count = level.lengths(), level.rowids(), level.nrows()
    unknown = whole.rows.dtype.type(_UNKNOWN)
    most = ops.Maximum(ops.UnsortedSegmentMax(lengths, matrix_of_row, count), unknown)
    same = ops.Equal(lengths, ops.GatherV2(most, matrix_of_row, _ZERO))
    words = "The matrices in `a` and `b` may not be ragged in their innermost dimension."
    padded = checked(whole.to_tensor(), [ops.All(same, _ZERO)], f"{words} `{which}` is")
    return _Matrices(whole, padded, n_rows, most)


@ragged("matmul")
def matmul(
    a: TensorLike | RaggedTensor,
    b: TensorLike | RaggedTensor,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """The products of ragged matrices in batches; each matrix is whole.

    Raises:
        ValueError: Both are to be transposed and adjoint; types or ranks differ or are not known.
        InvalidArgumentError: When it runs, for rows of different lengths in a matrix, and sizes
            that do not go together.
    """
    for side, transposed, adjoint in (
        ("a", transpose_a, adjoint_a),
        ("b", transpose_b, adjoint_b),
    ):
        if transposed and adjoint:
            raise ValueError(f"Only one of transpose_{side} and adjoint_{side} can be True.")
    with name_scope(name, "RaggedMatMul"):
        first = as_ragged(a)
        second = as_ragged(b, preferred_dtype=first.dtype)
        if first.dtype != second.dtype:
            raise ValueError("`a` and `b` must have the same dtype.")
        ranks = rank_of(first), rank_of(second)
        if None in ranks:
            raise ValueError(
                "matmul requires at least one input to have known rank if either input is ragged; "
                f"got {first} and {second}"
            )
        if ranks[0] != ranks[1]:
            raise ValueError(f"`a` and `b` must have the same rank. Got {ranks[0]} and {ranks[1]}")
        rank = cast("int", ranks[0])
        if rank < 2:
            raise ValueError(f"`a` and `b` must have rank at least 2, got {rank}")
        flips = (transpose_a or adjoint_a, transpose_b or adjoint_b)
        depth = _depth(first, second, rank, flips)
        first, second = same_index_type([first, second])
        left, right = _matrices(first, rank, "a"), _matrices(second, rank, "b")
        # the operation conjugates what it transposes
        operands = [
            ops.Conj(side.padded) if transposed and side.padded.dtype.kind == "c" else side.padded
            for side, transposed in ((left, transpose_a), (right, transpose_b))
        ]
        product = ops.BatchMatMulV2(*operands, adj_x=flips[0], adj_y=flips[1])
        if output_type is not None:
            product = ops.Cast(product, DstT=np.dtype(output_type))
        return _cut(product, left, right, rank, flips, depth)


def _depth(
    a: Tensor | RaggedTensor, b: Tensor | RaggedTensor, rank: int, flips: tuple[bool, bool]
) -> int:
    """How many dimensions of the product are ragged."""
    a_rank, b_rank = (x.ragged_rank if isinstance(x, RaggedTensor) else 0 for x in (a, b))
    if rank == 2:
        return 0
    rows, columns = rank - 2, rank - 1
    if b_rank >= (rows if flips[1] else columns):
        return columns
    if a_rank >= (columns if flips[0] else rows):
        return rows
    return min(max(a_rank, b_rank), max(rank - 3, 0))


def _cut(
    product: Tensor,
    a: _Matrices,
    b: _Matrices,
    rank: int,
    flips: tuple[bool, bool],
    depth: int,
) -> Tensor | RaggedTensor:
    """The product of matrices that were filled up, cut to their sizes."""
    outer = a.x.nested_rows[: rank - 3] if rank > 2 else ()
    words = "Batch dimensions of `a` and `b` do not have the same size"
    same = [
        same_splits(ours.splits, theirs.splits)
        for ours, theirs in zip(outer, b.x.nested_rows, strict=False)
    ]
    same.append(ops.Equal(ops.Size(a.n_rows), ops.Size(b.n_rows)))
    rows, inner_a = (a.n_columns, a.n_rows) if flips[0] else (a.n_rows, a.n_columns)
    inner_b, columns = (b.n_columns, b.n_rows) if flips[1] else (b.n_rows, b.n_columns)
    rows = checked(rows, same, words)
    unknown = a.x.rows.dtype.type(_UNKNOWN)
    either = ops.LogicalOr(ops.Equal(inner_a, unknown), ops.Equal(inner_b, unknown))
    fits = ops.All(ops.LogicalOr(ops.Equal(inner_a, inner_b), either), _ZERO)
    rows = checked(rows, [fits], "The inner dimensions of `a` and `b` do not have the same size")
    zero = a.x.rows.dtype.type(0)
    rows, columns = ops.Maximum(rows, zero), ops.Maximum(columns, zero)
    numbers = ops.Range(zero, ops.Size(rows, out_type=a.x.rows.dtype), a.x.rows.dtype.type(1))
    row_columns = ops.GatherV2(columns, _repeated(numbers, rows), _ZERO)
    lengths = [level.lengths() for level in outer]
    lengths += [rows] if rank > 2 else []
    lengths.append(row_columns)
    if depth == 0:
        return checked(product, [fits], "The inner dimensions of `a` and `b` are not the same")
    return RaggedTensor.from_tensor(
        product, lengths=tuple(lengths[:depth]), row_splits_dtype=a.x.rows.dtype
    )


def _repeated(numbers: Tensor, times: Tensor) -> Tensor:
    """Each number so many times."""
    result = RaggedTensor.from_row_lengths(
        ops.Range(
            np.int64(0), ops.Cast(ops.Sum(times, _ZERO), DstT=np.dtype(np.int64)), np.int64(1)
        ),
        times,
        validate=False,
    )
    return ops.GatherV2(numbers, result.value_rowids(), _ZERO)
