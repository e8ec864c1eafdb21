"""Connectionist temporal classification: the likeliest classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..lowering.moves import as_int32, as_type, like, positions
from .registry import lower

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor
    from .registry import Node


@lower("CTCGreedyDecoder")
def ctc_greedy_decoder(node: Node, b: Builder) -> list[Tensor]:
    """The likeliest class of each step, without blanks and repeats, as a sparse tensor; the scores.

    The inputs are [time, batch, classes].
    """
    logits, lengths = node.inputs
    n_classes = node.shape()[2]
    if n_classes is None:
        node.fail("the number of classes must be known")
    blank = node.attr("blank_index") % n_classes
    rows = b.TRANSPOSE(logits, np.array([1, 0, 2], np.int32))
    best = b.ARG_MAX(rows, np.int32(2), dtype=np.int32, output_type="INT32")  # [batch, time]
    steps = positions(best, 1, b)
    inside = b.LESS(steps, b.EXPAND_DIMS(as_int32(lengths, b), np.int32(1)))
    is_label = b.LOGICAL_AND(inside, b.NOT_EQUAL(best, np.int32(blank)))
    if node.attr("merge_repeated"):
        shape = b.SHAPE(best, out_type="INT32")
        before = b.PADV2(best, np.array([[0, 0], [1, 0]], np.int32), np.int32(-1))
        before = b.SLICE(before, np.zeros(2, np.int32), shape)
        is_label = b.LOGICAL_AND(is_label, b.NOT_EQUAL(best, before))
    label_indices = b.WHERE(is_label, dtype=np.int64)
    ones = as_type(is_label, np.int32, b)
    columns = b.CUMSUM(ones, np.int32(1), exclusive=True)
    at = as_type(label_indices, np.int32, b)
    row = b.GATHER(at, np.int32(0), axis=1)
    indices = b.PACK(row, b.GATHER_ND(columns, at), axis=1, values_count=2)
    counts = b.SUM(ones, np.array([1], np.int32))
    longest = b.REDUCE_MAX(counts, np.array([0], np.int32), keep_dims=True)
    shape = b.CONCATENATION(b.SHAPE(counts, out_type="INT32"), longest, axis=0)
    largest = b.REDUCE_MAX(rows, np.array([2], np.int32))
    score = b.SUM(
        b.SELECT_V2(inside, largest, like(largest, 0, b)), np.array([1], np.int32), keep_dims=True
    )
    labels = b.GATHER_ND(best, at)
    return [*(as_type(x, np.int64, b) for x in (indices, labels, shape)), b.NEG(score)]
