"""com.microsoft: words, n-grams and the streams, gates and routers of language models."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ...lowering.moves import (
    as_int32,
    as_type,
    int32s,
    like,
    regrouped_from,
    reshaped,
    slice_along,
    transposed,
)
from ..registry import lower
from .fused import DOMAIN, rms_norm

EPSILON = 1e-5
SMALLEST_DOT = 1e-6
"""What the size of a dot product is raised to before its root."""
SMALLEST_SHARE = 1e-20
NOT_CHOSEN = -1e9
"""What stands for the score of an expert whose group is not chosen."""


@lower(f"{DOMAIN}SampleOp")
def sample(node, b):
    """The input."""
    return node.inputs[0]


@lower(f"{DOMAIN}WordConvEmbedding")
def word_conv_embedding(node, b):
    """Each word's largest tanh of a convolution over its characters' embeddings.

    A word ends with the last of as many characters above 0 as it has, and is no shorter than the
    filters; one that begins with 0 is zeros.
    """
    words, filters, bias, table = node.inputs
    n_filters, _, width, _ = (n or 0 for n in filters.dims)
    n_characters, size = words.dims[1], table.dims[1]
    node.require(None not in (n_characters, size), "the length of words must be known")
    assert n_characters is not None and size is not None
    words = as_int32(words, b)
    characters = b.GATHER(table, words)
    n_windows = n_characters - width + 1
    parts = [slice_along(characters, 1, i, n_windows, b) for i in range(width)]
    rows = parts[0] if width == 1 else b.CONCATENATION(*parts, axis=2)
    weights = reshaped(filters, (n_filters, width * size), b)
    sums = b.TANH(b.FULLY_CONNECTED(rows, weights, bias, keep_num_dims=True))
    is_character = b.GREATER(words, np.int32(0))
    length = b.SUM(b.CAST(is_character, dtype=np.int32), int32s([1]), keep_dims=True)
    last = b.MAXIMUM(length, np.int32(width))
    ends = b.constant(np.arange(width, n_characters + 1, dtype=np.int32)[None])
    is_inside = b.EXPAND_DIMS(b.LESS_EQUAL(ends, last), np.int32(2))
    largest = b.REDUCE_MAX(b.SELECT_V2(is_inside, sums, like(sums, -1, b)), int32s([1]))
    is_word = slice_along(is_character, 1, 0, 1, b)
    return b.SELECT_V2(is_word, largest, like(largest, 0, b))


@lower(f"{DOMAIN}NGramRepeatBlock")
def block_repeated_ngrams(node, b):
    """The scores, -inf where a token would make the last n tokens those of an earlier place."""
    ids, scores = as_int32(node.inputs[0], b), node.inputs[1]
    n, n_tokens = node.attr("ngram_size"), node.shape(1)[1]
    node.require(n > 0, f"ngram_size must be above 0, got {n}")
    node.require(n_tokens is not None, "the number of tokens must be known")
    matches = [b.EQUAL(_between(b, ids, i, i - n + 1), _between(b, ids, i - n + 1, i - n + 2))
               for i in range(n - 1)]  # fmt: skip
    following = _between(b, ids, n - 1, 0)
    chosen = b.ONE_HOT(following, np.int32(n_tokens), np.float32(1), np.float32(0), axis=-1)
    if matches:
        is_repeated = reduce(b.LOGICAL_AND, matches)
        chosen = b.MUL(chosen, b.EXPAND_DIMS(b.CAST(is_repeated, dtype=np.float32), np.int32(2)))
    is_blocked = b.GREATER(b.SUM(chosen, int32s([1])), np.float32(0))
    return b.SELECT_V2(is_blocked, like(scores, -np.inf, b), scores)


def _between(b, x, begin, end):
    """Columns from `begin` to before `end`, either from the end where below 0; 0 is the end."""
    bounds = int32s([0, begin]), int32s([0, end]), int32s([1, 1])
    return b.STRIDED_SLICE(x, *bounds, begin_mask=1, end_mask=1 if end else 3)


@lower(f"{DOMAIN}HyperConnectionPreMix")
def mix_before(node, b):
    """The sum of all streams, each times its gate or those of its features."""
    x, gates = node.inputs
    streams = _streams(node, b, x, node.attr("num_branches", 0))
    mixed = b.MUL(streams, _gates(node, b, gates, streams))
    total = b.SUM(mixed, int32s([len(streams.dims) - 2]))
    scale = node.attr("reduction_scale", 1.0)
    return total if scale == 1 else b.MUL(total, like(total, scale, b))


@lower(f"{DOMAIN}HyperConnectionPostMix")
def mix_after(node, b):
    """Streams that are mixed, and to each of which what a block gives, times a gate, is added."""
    x, block, gates, mix = (node.input(i) for i in range(4))
    n = node.attr("num_branches", 0)
    streams = _streams(node, b, x, n)
    mixed = streams if mix is None else b.BATCH_MATMUL(mix, streams, adj_x=True)
    added = b.MUL(_gates(node, b, gates, streams), b.EXPAND_DIMS(block, np.int32(block.rank - 1)))
    out = b.ADD(mixed, added)
    return regrouped_from(out, x.rank - 1, (node.shape()[-1],), b) if n else out


@lower(f"{DOMAIN}HyperConnectionLowRankMix")
def mix_low_rank(node, b):
    """What streams give a block, by gates of low rank, and the gate of what the block gives back.

    The block before is added to the streams first, where the node has it.
    """
    x, scale, down, up, inject, block, gates = (node.input(i) for i in range(7))
    n, axis = node.attr("num_branches"), x.rank - 1
    streams = _streams(node, b, x, n)
    if block is not None:
        added = b.MUL(_gates(node, b, gates, streams), b.EXPAND_DIMS(block, np.int32(axis)))
        streams = b.ADD(streams, added)
    size = streams.dims[-1]
    node.require(size is not None, "the number of features must be known")
    assert size is not None
    width = n * size
    scales = reshaped(scale, (n, size), b)
    normal = rms_norm(b, streams, scales, node.attr("epsilon", EPSILON), [axis + 1])
    flat = regrouped_from(normal, axis, (width,), b)

    def product(x, weights):
        return b.FULLY_CONNECTED(x, transposed(weights, (1, 0), b), None, keep_num_dims=True)

    hidden = product(flat, down)
    hidden = b.MUL(hidden, like(hidden, node.attr("silu_alpha", 1.0), b))
    gate = b.LOGISTIC(product(b.MUL(hidden, b.LOGISTIC(hidden)), up))
    total = b.SUM(b.MUL(normal, _streams(node, b, gate, n)), int32s([axis]))
    total = b.MUL(total, like(total, node.attr("reduction_scale", 1.0), b))
    logits = product(flat, inject)
    logits = b.MUL(logits, like(logits, 1 / node.attr("gate_div", 1.0), b))
    after = b.LOGISTIC(logits)
    after = b.MUL(after, like(after, node.attr("gate_mul", 1.0), b))
    return total, after, regrouped_from(streams, axis, (width,), b)


def _streams(node, b, x, n):
    """[..., streams, features] of a tensor that may have both in its last dimension."""
    if not n:
        return x
    width = x.dims[-1]
    node.require(width is not None, "the number of features must be known")
    return regrouped_from(x, x.rank - 1, (n, width // n), b)


def _gates(node, b, gates, streams):
    """Gates [..., streams] or of features, as streams are."""
    n, width = streams.dims[-2:]
    if gates.rank == streams.rank:
        return gates
    is_of_features = gates.dims[-1] == n * width
    return regrouped_from(gates, gates.rank - 1, (n, width if is_of_features else 1), b)


@lower(f"{DOMAIN}EngramGate")
def engram_gate(node, b):
    """The value times a gate for each stream, by how far its key and its query agree."""
    key, query, value, key_scale, query_scale, value_scale = (node.input(i) for i in range(6))
    epsilon, width = node.attr("epsilon", EPSILON), key.dims[3]
    node.require(width is not None, "the number of features must be known")
    key = rms_norm(b, key, key_scale, epsilon, [3])
    query = rms_norm(b, query, query_scale, epsilon, [3])
    dot = b.SUM(b.MUL(key, query), int32s([3]), keep_dims=True)
    dot = b.MUL(dot, like(dot, 1 / np.sqrt(width), b))
    root = b.SQRT(b.MAXIMUM(b.ABS(dot), like(dot, SMALLEST_DOT, b)))
    gate = b.LOGISTIC(b.MUL(b.SIGN(dot), root))
    out = b.MUL(gate, b.EXPAND_DIMS(value, np.int32(2)))
    if not node.has_output(1):
        return out
    return out, rms_norm(b, out, value_scale, epsilon, [3])


@lower(f"{DOMAIN}MoEGroupRouter")
def route_by_groups(node, b):
    """The logarithms of the shares of the experts that are chosen, a sentinel elsewhere.

    Groups are chosen by the sums of their best experts, then experts of these groups.
    """
    logits, bias = node.inputs[:2]
    node.require(node.input(2) is None, "projection_weight is not supported")
    n_experts = logits.dims[-1]
    node.require(n_experts is not None, "the number of experts must be known")
    assert n_experts is not None
    shares = b.LOGISTIC(as_type(reshaped(logits, (-1, n_experts), b), np.float32, b))
    scores = b.ADD(shares, bias)
    if node.has_output(1):
        return None, scores, shares
    n_groups = node.attr("n_group", 1)
    size = n_experts // n_groups
    if n_groups > 1:
        groups = reshaped(scores, (-1, n_groups, size), b)
        best, _ = b.TOPK_V2(groups, np.int32(min(node.attr("group_topk", 2), size)), n_outputs=2)
        is_open = _chosen(b, b.SUM(best, int32s([2])), node.attr("topk_group", 1), n_groups)
        is_open = b.GREATER(b.EXPAND_DIMS(is_open, np.int32(2)), np.float32(0))
        groups = b.SELECT_V2(is_open, groups, like(groups, NOT_CHOSEN, b))
        scores = reshaped(groups, (-1, n_experts), b)
    chosen = b.GREATER(_chosen(b, scores, node.attr("top_k"), n_experts), np.float32(0))
    logarithms = b.LOG(b.MAXIMUM(shares, like(shares, SMALLEST_SHARE, b)))
    return b.SELECT_V2(chosen, logarithms, like(shares, node.attr("router_sentinel", -1e4), b))


def _chosen(b, scores, k, n):
    """1 where a score is one of the k largest of its row."""
    _, indices = b.TOPK_V2(scores, np.int32(k), n_outputs=2)
    each = b.ONE_HOT(indices, np.int32(n), np.float32(1), np.float32(0), axis=-1)
    return b.SUM(each, int32s([1]))
