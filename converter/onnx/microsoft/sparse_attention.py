"""com.microsoft: causal attention to blocks of the keys, which lie in a buffer (Phi-3-small)."""

from __future__ import annotations

import numpy as np

from ...lowering.moves import as_type, extent, int32s, like, positions, reshaped
from ..registry import lower
from .attention import LOWEST, attended, rotated_at, split_heads, split_into
from .fused import DOMAIN

HIDDEN, FUTURE = LOWEST, np.finfo(np.float32).min
"""What is added to scores out of the blocks, and behind the query: the latter never counts, even
where all others are hidden."""


@lower(f"{DOMAIN}SparseAttention")
def sparse_attention(node, b):
    """Attention to the blocks of each head's layout; new keys and values go into the buffers.

    The first call, of as many tokens as there are in all, writes from the start on; later ones
    write each row's before its own end.
    """
    q, k, v = (node.input(i) for i in range(3))
    buffers, total, ends = node.inputs[3:5], node.inputs[7], node.inputs[8]
    n_heads, n_shared = node.attr("num_heads"), node.attr("kv_num_heads")
    if k is None:
        node.require(q.dims[2] is not None, "the number of features must be known")
        size = q.dims[2] // (n_heads + 2 * n_shared)
        q, k, v = split_into(b, q, [n_heads * size, n_shared * size, n_shared * size], 2)
    q = split_heads(node, b, q, n_heads)
    k, v = (split_heads(node, b, x, n_shared) for x in (k, v))
    length = extent(q, 2, b)
    is_first = b.EQUAL(reshaped(total, (), b), length)
    n_past = b.SELECT_V2(is_first, np.int32(0), b.SUB(ends, length))
    n_past = b.EXPAND_DIMS(n_past, np.int32(1))
    query_steps = b.ADD(n_past, positions(q, 2, b))
    if node.attr("do_rotary", 0):
        angles = node.input(9), node.input(10), node.attr("rotary_interleaved", 0)
        q, k = (rotated_at(node, b, x, query_steps, *angles) for x in (q, k))
    present = [_updated(b, *pair, n_past) for pair in zip(buffers, (k, v), strict=True)]
    heads = np.repeat(np.arange(n_shared), n_heads // n_shared).astype(np.int32)
    keys, values = (b.GATHER(x, heads, axis=1) for x in present)
    return attended(node, b, q, keys, values, [_hidden(node, b, keys, query_steps)]), *present


def _updated(b, buffer, rows, n_past):
    """`buffer`, [batch, heads, steps, size], with rows of the same from each item's place on."""
    steps = b.SUB(positions(buffer, 2, b), n_past)
    zero, last = np.int32(0), b.SUB(extent(rows, 2, b), np.int32(1))
    is_new = b.LOGICAL_AND(b.GREATER_EQUAL(steps, zero), b.LESS_EQUAL(steps, last))
    nearest = b.MAXIMUM(b.MINIMUM(steps, last), zero)
    by_step = b.TRANSPOSE(rows, int32s([0, 2, 1, 3]))
    new = b.TRANSPOSE(b.GATHER(by_step, nearest, axis=1, batch_dims=1), int32s([0, 2, 1, 3]))
    is_new = b.EXPAND_DIMS(b.EXPAND_DIMS(is_new, np.int32(1)), np.int32(3))
    return b.SELECT_V2(is_new, new, buffer)


def _hidden(node, b, keys, query_steps):
    """What is added to the scores, [batch, heads, queries, keys], of queries at `query_steps`."""
    block, n_heads = np.int32(node.attr("sparse_block_size")), node.attr("num_heads")
    steps = positions(keys, 2, b)
    blocks = _blocks(b, node.inputs[5], node.inputs[6])
    n_layouts = blocks.dims[0]
    node.require(n_layouts is not None, "the number of layouts must be known")
    rows = b.GATHER(blocks, b.FLOOR_DIV(query_steps, block), axis=1)
    seen = b.GATHER(rows, b.FLOOR_DIV(steps, block), axis=3)
    seen = b.TRANSPOSE(seen, int32s([1, 0, 2, 3]))
    layouts = (np.arange(n_heads) % n_layouts).astype(np.int32)
    seen = b.GATHER(seen, layouts, axis=1) if n_layouts > 1 else seen
    scores = b.SELECT_V2(b.GREATER(seen, like(seen, 0, b)), like(seen, 0, b), b.constant(HIDDEN))
    is_future = b.GREATER(steps, b.EXPAND_DIMS(query_steps, np.int32(2)))
    return b.SELECT_V2(b.EXPAND_DIMS(is_future, np.int32(1)), b.constant(FUTURE), scores)


def _blocks(b, bounds, columns):
    """Layouts [layout, rows, columns], above 0 where a block counts, of their CSR form.

    Entry j lies in row i when it lies between the row's bounds, and in the column that it names.
    """
    n_rows = b.SUB(extent(bounds, 1, b), np.int32(1))
    entries = positions(columns, 1, b)
    starts = b.STRIDED_SLICE(bounds, int32s([0, 0]), int32s([0, -1]), int32s([1, 1]), end_mask=1)
    ends = b.STRIDED_SLICE(bounds, int32s([0, 1]), int32s([0, 0]), int32s([1, 1]), end_mask=3)
    starts, ends = (b.EXPAND_DIMS(x, np.int32(2)) for x in (starts, ends))
    of_row = b.LOGICAL_AND(b.GREATER_EQUAL(entries, starts), b.LESS(entries, ends))
    names = b.RANGE(np.int32(0), n_rows, np.int32(1))
    of_column = b.EQUAL(b.EXPAND_DIMS(columns, np.int32(2)), names)
    return b.BATCH_MATMUL(*(as_type(x, np.float32, b) for x in (of_row, of_column)))
