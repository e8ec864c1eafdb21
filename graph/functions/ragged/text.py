"""Ragged tensors as text: what `tf.print` and `tf.strings.format` show of them."""

from __future__ import annotations

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import RowPartition
from ...core.graph import Tensor
from ...core.scopes import name_scope

_ZERO = np.int32(0)
_FLAT = np.array([-1], np.int32)


def as_text(x: RaggedTensor, summarize: int | None = None) -> Tensor:
    """A ragged tensor as nested lists of Python, a scalar string.

    Args:
        x: The ragged tensor.
        summarize: How many items at both ends of each list are shown; None and -1: all.

    Raises ValueError for another number.
    """
    if summarize is not None and summarize != -1 and summarize < 1:
        raise ValueError(f"Expected summarize to be -1 or a positive int, got {summarize!r}")
    with name_scope(None, "AsString"):
        flat = x.flat_values
        rows = list(x.nested_rows)
        if flat.sizes is not None and len(flat.sizes) > 1:
            inner = RaggedTensor.from_tensor(flat, ragged_rank=len(flat.sizes) - 1)
            rows += [level.of_type(x.rows.dtype) for level in inner.nested_rows]
            flat = inner.flat_values
        texts = _texts(flat)
        for level in reversed(rows):
            texts = _lists(texts, level, summarize)
        count = ops.Size(texts, out_type=np.dtype(np.int64))
        whole = RowPartition(ops.Pack([np.int64(0), count]))
        return ops.Reshape(_lists(texts, whole, summarize), np.zeros(0, np.int32))


def _texts(flat: Tensor) -> Tensor:
    """Each value as Python writes it; strings in quotes."""
    if flat.dtype.kind != "O":
        return ops.AsString(flat)
    escaped = ops.RegexReplace(flat, r"(['\\])", r"\\\1")
    return ops.StringJoin(["'", escaped, "'"])


def _lists(texts: Tensor, rows: RowPartition, summarize: int | None) -> Tensor:
    """The texts of each row as one list."""
    ids = rows.rowids()
    if summarize is not None and summarize != -1:
        dtype = rows.dtype.type
        n, column = ops.GatherV2(rows.lengths(), ids, _ZERO), rows.columns()
        is_long = ops.Greater(n, dtype(2 * summarize))
        near = ops.LogicalOr(
            ops.LessEqual(column, dtype(summarize)),
            ops.GreaterEqual(column, ops.Sub(n, dtype(summarize))),
        )
        is_gap = ops.LogicalAnd(is_long, ops.Equal(column, dtype(summarize)))
        texts = ops.SelectV2(is_gap, "...", texts)
        shown = ops.Reshape(ops.Where(ops.LogicalOr(ops.LogicalNot(is_long), near)), _FLAT)
        texts, ids = (ops.GatherV2(part, shown, _ZERO) for part in (texts, ids))
    joined = ops.UnsortedSegmentJoin(texts, ids, rows.nrows(), separator=", ")
    return ops.StringJoin(["[", joined, "]"])
