"""com.microsoft: attention with masks, past keys and values, rotated positions."""

from __future__ import annotations

import numpy as np

from ...ir import dims
from ...lowering.moves import (
    as_int32,
    as_type,
    cropped,
    extent,
    like,
    regrouped_from,
    reshaped,
    slice_along,
    transposed,
)
from ...lowering.moves import positions as token_positions
from ..registry import lower
from .fused import DOMAIN

FILTER_VALUE = -10000.0
"""What is added to the scores of masked positions, where the node does not say."""
LOWEST = np.float32(np.finfo(np.float32).min / 2)
"""What is added to the scores of positions that must not be seen."""


@lower(f"{DOMAIN}Attention")
def attention(node, b):
    """Attention of a tensor to itself: one product gives queries, keys and values of all heads."""
    return self_attention(node, b, *(node.input(i) for i in range(6)))


def self_attention(node, b, x, weights, bias, mask, past, scores):
    """Attention of these inputs."""
    sizes = node.attr("qkv_hidden_sizes", None)
    width = weights.dims[1]
    node.require(width is not None, "the shape of the weights must be known")
    sizes = sizes or [width // 3] * 3
    node.require(not node.attr("do_rotary", 0), "do_rotary is not supported")
    node.require(node.input(6) is None, "past keys in a buffer are not supported")
    out = b.FULLY_CONNECTED(x, transposed(weights, (1, 0), b), bias, keep_num_dims=True)
    q, k, v = split_into(b, out, sizes, 2)
    n_heads = node.attr("num_heads")
    q, k, v = (split_heads(node, b, part, n_heads) for part in (q, k, v))
    if past is not None:
        past_k, past_v = b.UNPACK(past, num=2, axis=0)
        k, v = b.CONCATENATION(past_k, k, axis=2), b.CONCATENATION(past_v, v, axis=2)
    mask = _mask(node, b, q, k, mask)
    out = attended(node, b, q, k, v, [mask, scores])
    return (out, b.PACK(k, v, axis=0, values_count=2)) if node.has_output(1) else out


@lower(f"{DOMAIN}MultiHeadAttention")
def multi_head_attention(node, b):
    """Attention of queries to keys and values, [batch, length, hidden] or split into heads.

    Those that are split are past ones, which have their bias already.
    """
    q, k, v, bias, mask, scores, past_k, past_v = (node.input(i) for i in range(8))
    node.require(
        node.input(8) is None and node.input(9) is None,
        "past keys in a buffer are not supported",
    )
    n_heads = node.attr("num_heads")
    if bias is not None:
        node.require(None not in (k, v), "a bias beside packed keys is not supported")
        sizes = [x.dims[-1] * (n_heads if x.rank == 4 else 1) for x in (q, k, v)]
        parts = split_into(b, bias, sizes, 0)
        q, k, v = (
            x if x.rank == 4 else b.ADD(x, part) for x, part in zip((q, k, v), parts, strict=True)
        )
    q, k, v = (split_heads(node, b, x, n_heads) for x in _unpacked(node, b, q, k, v))
    if past_k is not None:
        k, v = b.CONCATENATION(past_k, k, axis=2), b.CONCATENATION(past_v, v, axis=2)
    out = attended(node, b, q, k, v, [_mask(node, b, q, k, mask), scores])
    return out, k, v


@lower(f"{DOMAIN}DecoderMaskedMultiHeadAttention")
def decoder_attention(node, b):
    """MultiHeadAttention of one query to keys and values, past ones among them."""
    q, k, v, mask, scores, past_k, past_v = (node.input(i) for i in range(7))
    node.require(
        node.input(9) is None and not node.attr("past_present_share_buffer", 0),
        "past keys in a buffer and beams are not supported",
    )
    inputs = [q, k, v, node.input(10), mask, scores, past_k, past_v]
    return multi_head_attention(node.with_inputs(*inputs), b)[: max(node.n_outputs, 1)]


def _unpacked(node, b, q, k, v):
    """Queries, keys and values of one tensor [batch, length, heads, 3, size], or two."""
    if k is None:
        node.require(q.rank == 5, "queries alone must be packed with keys and values")
        q, k, v = (transposed(x, (0, 2, 1, 3), b) for x in b.UNPACK(q, num=3, axis=3))
    elif v is None:
        node.require(k.rank == 5, "keys alone must be packed with values")
        k, v = (transposed(x, (0, 2, 1, 3), b) for x in b.UNPACK(k, num=2, axis=3))
    return q, k, v


@lower(f"{DOMAIN}RotaryEmbedding")
def rotary_embedding(node, b):
    """Pairs of features, rotated by angles that belong to their positions."""
    x, positions, cos, sin = node.inputs
    node.require(not node.attr("is_packed_batching", 0), "packed batches are not supported")
    scale, n_rotated = node.attr("scale", 1.0), node.attr("rotary_embedding_dim", 0)
    node.require(scale == 1, f"scale must be 1, got {scale}")
    is_split = x.rank == 4
    if not is_split:
        width = x.dims[2]
        n_heads = node.attr("num_heads", 0)
        node.require(width is not None, "the number of features must be known")
        n_heads = n_heads if n_rotated else width // (2 * cos.dims[1])
        x = split_heads(node, b, x, n_heads)
    if positions.rank == 1:
        positions = b.ADD(token_positions(x, 2, b), as_int32(positions, b))
    out = rotated_at(node, b, x, as_int32(positions, b), cos, sin, node.attr("interleaved", 0))
    return out if is_split else _joined(b, out)


@lower(f"{DOMAIN}MRotaryEmbedding")
def multimodal_rotary_embedding(node, b):
    """RotaryEmbedding whose angles belong to three positions: in time, of rows and of columns."""
    x, positions, cos, sin = node.inputs
    node.require(not node.attr("is_packed_batching", 0), "packed batches are not supported")
    node.require(node.attr("scale", 1.0) == 1, "scale must be 1")
    is_split, half = x.rank == 4, cos.dims[1]
    node.require(half is not None, "the number of features must be known")
    if not is_split:
        x = split_heads(node, b, x, node.attr("num_heads"))
    sections = [int(n) for n in node.attr("mrope_section")]
    stream = np.repeat(np.arange(3), sections)
    if node.attr("mrope_layout", 0):
        stream = np.zeros(half, int)
        for i in (1, 2):
            stream[i : 3 * sections[i] : 3] = i
    columns = (stream * half + np.arange(half)).astype(np.int32)
    angles = []
    for cache in (cos, sin):
        each = transposed(b.GATHER(cache, as_int32(positions, b)), (1, 2, 0, 3), b)
        flat = regrouped_from(each, 2, (3 * half,), b)
        angles.append(b.EXPAND_DIMS(b.GATHER(flat, columns, axis=2), np.int32(1)))
    cos, sin = angles
    out = _turned(node, b, x, cos, sin, node.attr("interleaved", 0))
    return out if is_split else _joined(b, out)


@lower(f"{DOMAIN}GemmaRotaryEmbedding")
def gemma_rotary_embedding(node, b):
    """Queries and keys, rotated by angles of their positions; both halves turned are inputs."""
    angles, q, q_turned, k, k_turned = node.inputs
    cos, sin = (b.EXPAND_DIMS(y, np.int32(1)) for y in (b.COS(angles), b.SIN(angles)))
    return tuple(
        b.ADD(b.MUL(x, cos), b.MUL(turned, sin)) for x, turned in ((q, q_turned), (k, k_turned))
    )


@lower(f"{DOMAIN}RelativePositionBias")
def relative_position_bias(node, b):
    """T5's scores of how far keys lie from queries, [1, heads, queries, keys]."""
    table, n_queries, n_keys = node.inputs
    n_buckets, farthest = table.dims[0], node.attr("max_distance")
    node.require(n_buckets is not None, "the number of buckets must be known")
    queries, keys = (
        b.RANGE(np.int32(0), reshaped(as_int32(n, b), (), b), np.int32(1))
        for n in (n_queries, n_keys)
    )
    ahead = b.SUB(keys, b.EXPAND_DIMS(queries, np.int32(1)))
    is_both = node.attr("is_bidirectional", 0)
    buckets = _buckets(n_buckets // 2 if is_both else n_buckets, farthest)
    steps = b.ABS(ahead) if is_both else b.MAXIMUM(b.NEG(ahead), np.int32(0))
    indices = b.GATHER(buckets, b.MINIMUM(steps, np.int32(farthest)))
    if is_both:
        after = as_type(b.GREATER(ahead, np.int32(0)), np.int32, b)
        indices = b.ADD(indices, b.MUL(after, np.int32(n_buckets // 2)))
    scores = transposed(b.GATHER(table, indices), (2, 0, 1), b)
    return b.EXPAND_DIMS(scores, np.int32(0))


def _buckets(n, farthest):
    """The bucket of each distance up to `farthest`: exact ones first, then in even logarithms."""
    exact = n // 2
    steps = np.arange(farthest + 1)
    share = np.log(np.maximum(steps, 1) / exact) / np.log(farthest / exact)
    wide = exact + (share * (n - exact)).astype(np.int64)
    return np.where(steps < exact, steps, np.minimum(wide, n - 1)).astype(np.int32)


@lower(f"{DOMAIN}GatedRelativePositionBias")
def gated_relative_position_bias(node, b):
    """Scores of positions, [1, heads, queries, keys], times a gate that queries give (WavLM)."""
    q, q_bias, scores, weights, bias, factor = node.inputs[:6]
    node.require(node.input(6) is None, "token_offset is not supported")
    q = split_heads(node, b, b.ADD(q, q_bias), node.attr("num_heads"))
    sums = b.ADD(b.BATCH_MATMUL(q, weights), bias)
    width = weights.dims[1]
    node.require(width is not None, "the shape of the weights must be known")
    axis = np.array([3], np.int32)
    gates = [
        b.LOGISTIC(b.SUM(part, axis, keep_dims=True))
        for part in split_into(b, sums, [width // 2] * 2, 3)
    ]
    one, two = (like(scores, value, b) for value in (1, 2))
    gate = b.ADD(b.MUL(gates[0], b.SUB(b.MUL(gates[1], factor), one)), two)
    return b.MUL(gate, scores)


def rotated_at(node, b, x, positions, cos, sin, is_interleaved):
    """`x`, [batch, heads, length, size], at `positions`, [length] or [batch, length]."""
    cos, sin = (b.GATHER(cache, positions) for cache in (cos, sin))
    if positions.rank == 2:
        cos, sin = (b.EXPAND_DIMS(angles, np.int32(1)) for angles in (cos, sin))
    return _turned(node, b, x, cos, sin, is_interleaved)


def _turned(node, b, x, cos, sin, is_interleaved):
    """`x`, [batch, heads, length, size], pairs of features turned by angles."""
    size, half = x.dims[3], cos.dims[-1]
    node.require(None not in (size, half), "the number of features must be known")
    assert half is not None
    width = 2 * half
    rotated, unrotated = (x, None) if size == width else split_into(b, x, [width, size - width], 3)
    if is_interleaved:
        even, odd = (
            b.GATHER(rotated, np.arange(i, width, 2, dtype=np.int32), axis=3) for i in (0, 1)
        )
    else:
        even, odd = split_into(b, rotated, [half, half], 3)
    parts = [
        b.SUB(b.MUL(even, cos), b.MUL(odd, sin)),
        b.ADD(b.MUL(even, sin), b.MUL(odd, cos)),
    ]
    out = b.CONCATENATION(*parts, axis=3)
    if is_interleaved:
        order = np.arange(width).reshape(2, half).T.ravel().astype(np.int32)
        out = b.GATHER(out, order, axis=3)
    return out if unrotated is None else b.CONCATENATION(out, unrotated, axis=3)


def split_into(b, x, sizes, axis):
    """Parts of `x` of these sizes along an axis."""
    return b.SPLIT_V(x, np.asarray(sizes, np.int32), np.int32(axis), num_splits=len(sizes))


def split_heads(node, b, x, n_heads):
    """[batch, length, hidden] as [batch, heads, length, size]; what is split stays."""
    if x.rank == 4:
        return x
    node.require(x.rank == 3, f"queries, keys and values must have 3 or 4 dimensions, got {x.rank}")
    node.require(x.dims[2] is not None, "the number of features must be known")
    return transposed(regrouped_from(x, 2, (n_heads, x.dims[2] // n_heads), b), (0, 2, 1, 3), b)


def _joined(b, x):
    """[batch, heads, length, size] as [batch, length, hidden]."""
    x = transposed(x, (0, 2, 1, 3), b)
    n_heads, size = x.dims[2:]
    assert n_heads is not None and size is not None
    return regrouped_from(x, 2, (n_heads * size,), b)


def _mask(node, b, q, k, mask):
    """What is added to the scores: from lengths, ends and starts, or ones where keys count."""
    if mask is None:
        return None
    value = node.attr("mask_filter_value", FILTER_VALUE)
    if mask.rank == 1:
        steps, batch = token_positions(k, 2, b), q.sizes[0]
        node.require(
            mask.sizes[0] in (batch, dims.multiply(2, batch)),
            "a mask of one dimension must have a length for each row, or an end and a start",
        )
        bounds = [as_int32(mask, b)]
        if mask.sizes[0] != batch:
            bounds = b.UNPACK(reshaped(bounds[0], (2, -1), b), num=2, axis=0)
        end, *start = (b.EXPAND_DIMS(bound, np.int32(1)) for bound in bounds)
        mask = b.LESS(steps, end)
        if start:
            mask = b.LOGICAL_AND(mask, b.GREATER_EQUAL(steps, start[0]))
    is_seen = mask if mask.dtype == bool else b.GREATER(mask, like(mask, 0, b))
    gap = b.SELECT_V2(is_seen, np.float32(0), np.float32(value))
    for _ in range(4 - gap.rank):
        gap = b.EXPAND_DIMS(gap, np.int32(1))
    return gap


def future_scores(b, q, k, window=-1):
    """What keeps queries, the last of all positions, from keys behind them or out of a window."""
    n_queries, n_keys = q.dims[2], k.dims[2]
    if n_queries is not None and n_keys is not None:
        ends = np.arange(n_queries)[:, None] + n_keys - n_queries
        keys = np.arange(n_keys)
        hidden = (keys > ends) | ((keys <= ends - window) if window >= 0 else False)
        return b.constant(np.where(hidden, LOWEST, np.float32(0)).astype(np.float32))
    n_past = b.SUB(extent(k, 2, b), extent(q, 2, b))
    return beyond(b, k, b.EXPAND_DIMS(b.ADD(token_positions(q, 2, b), n_past), np.int32(1)), window)


def beyond(b, k, ends, window):
    """What is added to scores of keys behind `ends`, or out of a window that ends there."""
    keys = token_positions(k, 2, b)
    is_hidden = b.GREATER(keys, ends)
    if window >= 0:
        is_hidden = b.LOGICAL_OR(is_hidden, b.LESS_EQUAL(keys, b.SUB(ends, np.int32(window))))
    return b.SELECT_V2(is_hidden, b.constant(LOWEST), b.constant(np.float32(0)))


def attended(node, b, q, k, v, extras, sink=None):
    """softmax(q k^T * scale + extras) v of [batch, heads, length, size], the heads joined.

    With a `softcap` scores stay within it; a `sink` [heads] is the score of one more position,
    whose value is 0.
    """
    scale, cap = node.attr("scale", 0.0) or 1 / np.sqrt(q.dims[3]), node.attr("softcap", 0.0)
    scores = b.BATCH_MATMUL(q, k, adj_y=True)
    if cap > 0:
        scores = b.MUL(b.TANH(b.MUL(scores, like(q, scale / cap, b))), like(q, cap, b))
    else:
        scores = b.MUL(scores, like(q, scale, b))
    for extra in extras:
        scores = scores if extra is None else b.ADD(scores, extra)
    if node.attr("unidirectional", 0):
        scores = b.ADD(scores, future_scores(b, q, k))
    if sink is None:
        weights = b.SOFTMAX(scores, beta=1.0)
    else:
        column = b.SHAPE(slice_along(scores, 3, 0, 1, b), out_type="INT32")
        column = b.BROADCAST_TO(reshaped(sink, (1, -1, 1, 1), b), column)
        weights = b.SOFTMAX(b.CONCATENATION(scores, column, axis=3), beta=1.0)
        weights = cropped(weights, [*[(0, 0)] * 3, (0, 1)], b)
    return _joined(b, b.BATCH_MATMUL(weights, v))
