"""com.microsoft: attention whose heads share keys and values, after past ones of each row's own."""

from __future__ import annotations

import numpy as np

from ...ir import dims
from ...lowering.moves import as_int32, extent, like, positions, reshaped
from ..registry import lower
from .attention import attended, beyond, future_scores, rotated_at, split_heads, split_into
from .fused import DOMAIN

UNSUPPORTED = {
    12: "a quantized past (k_scale)",
    13: "a quantized past (v_scale)",
    14: "q_norm_weight",
    15: "k_norm_weight",
    16: "query_seqlens",
}


@lower(f"{DOMAIN}GroupQueryAttention")
def group_query_attention(node, b):
    """Causal attention in which several heads of queries share keys and values.

    A row's keys are `seqlens_k + 1`: as many past ones as the new ones leave, then these.
    """
    for index, name in UNSUPPORTED.items():
        node.require(node.input(index) is None, f"{name} is not supported")
    node.require(node.attr("qk_output", 0) in (0, -1), "qk_output is not supported")
    node.require(not node.attr("sliding_window_cache", 0), "sliding_window_cache is not supported")
    q, k, v = _heads(node, b)
    past = [node.input(i) for i in (3, 4)]
    n_past = extent(past[0], 2, b) if past[0] is not None else None
    starts = None if past[0] is None else _starts(node, b, q, past[0])
    if node.attr("do_rotary", 0):
        cos, sin = node.input(7), node.input(8)
        steps = _rotary_positions(node, b, q, starts, n_past)
        is_interleaved = node.attr("rotary_interleaved", 0)
        q, k = (rotated_at(node, b, x, steps, cos, sin, is_interleaved) for x in (q, k))
    if starts is not None:
        indices = _present_indices(node, b, q, starts, n_past)
        k, v = (_present(b, old, new, indices) for old, new in zip(past, (k, v), strict=True))
    elif None not in past:
        k, v = (b.CONCATENATION(old, new, axis=2) for old, new in zip(past, (k, v), strict=True))
    present = k, v
    n_heads, n_shared = node.attr("num_heads"), node.attr("kv_num_heads")
    heads = np.repeat(np.arange(n_shared), n_heads // n_shared).astype(np.int32)
    k, v = (b.GATHER(x, heads, axis=1) for x in (k, v))
    extras, sink = [_hidden_scores(node, b, q, k, starts), node.input(10)], node.input(11)
    if sink is None and node.attr("smooth_softmax", 0) == 1:
        sink = like(q, np.zeros(n_heads), b)
    return attended(node, b, q, k, v, extras, sink), *present


def _heads(node, b):
    """Queries, keys and values, [batch, heads, length, size], which may come as one tensor."""
    q, k, v = (node.input(i) for i in range(3))
    n_heads, n_shared = node.attr("num_heads"), node.attr("kv_num_heads")
    if k is None:
        size = q.dims[2] // (n_heads + 2 * n_shared)
        q, k, v = split_into(b, q, [n_heads * size, n_shared * size, n_shared * size], 2)
    return split_heads(node, b, q, n_heads), *(split_heads(node, b, x, n_shared) for x in (k, v))


def _starts(node, b, q, past):
    """How many past keys each row has, [batch]; None where it is known to be all of them."""
    ends, total = node.input(5), node.input(6)
    full = dims.add(past.sizes[2], q.sizes[2])
    if all(_is_known_as(x, n) for x, n in ((ends, dims.subtract(full, 1)), (total, full))):
        return None
    lengths = b.ADD(as_int32(ends, b), np.int32(1))
    starts = b.SUB(lengths, extent(q, 2, b))
    return b.MAXIMUM(reshaped(starts, (-1,), b), np.int32(0))


def _is_known_as(x, size):
    """Whether each element of `x` is known to be `size`."""
    if x.value is not None:
        return all(n == size for n in np.ravel(x.value).tolist())
    return x.elements is not None and all(n == size for n in x.elements.extents.ravel().tolist())


def _rotary_positions(node, b, q, starts, n_past):
    """Positions of the queries, [length] or [batch, length]."""
    if node.input(9) is not None:
        return as_int32(node.input(9), b)
    steps = positions(q, 2, b)
    if starts is not None:
        return b.ADD(b.EXPAND_DIMS(starts, np.int32(1)), steps)
    return steps if n_past is None else b.ADD(steps, n_past)


def _present_indices(node, b, q, starts, n_past):
    """Which of the past keys, the new ones and a zero each place takes, [batch, places]."""
    n_new, total = extent(q, 2, b), reshaped(as_int32(node.input(6), b), (), b)
    places = b.RANGE(np.int32(0), b.MAXIMUM(n_past, total), np.int32(1))
    starts = b.EXPAND_DIMS(starts, np.int32(1))
    steps = b.SUB(places, starts)
    is_new = b.LOGICAL_AND(b.GREATER_EQUAL(steps, np.int32(0)), b.LESS(steps, n_new))
    behind = b.SELECT_V2(is_new, b.ADD(steps, n_past), b.ADD(n_new, n_past))
    return b.SELECT_V2(b.LESS(steps, np.int32(0)), places, behind)


def _present(b, past, new, indices):
    """Keys or values by `indices` into the past ones, the new ones and a zero behind them."""
    both = b.CONCATENATION(past, new, axis=2)
    padded = b.PAD(both, np.array([[0, 0], [0, 0], [0, 1], [0, 0]], np.int32))
    return b.GATHER(padded, indices, axis=2, batch_dims=1)


def _hidden_scores(node, b, q, k, starts):
    """What is added to scores of keys that queries must not see; None where they see all."""
    window = node.attr("local_window_size", -1)
    if not node.attr("causal", 1):
        ends = as_int32(node.input(5), b)
        is_full = _is_known_as(ends, dims.subtract(k.sizes[2], 1))
        return None if is_full else beyond(b, k, _over_scores(b, ends), -1)
    if starts is None:
        return future_scores(b, q, k, window)
    steps = b.EXPAND_DIMS(positions(q, 2, b), np.int32(1))
    return beyond(b, k, b.ADD(_over_scores(b, starts), steps), window)


def _over_scores(b, rows):
    """[batch] as [batch, 1, 1, 1]."""
    return reshaped(rows, (-1, 1, 1, 1), b)
