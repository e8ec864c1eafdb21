"""com.microsoft's attention, as ONNX Runtime's documentation of its operators has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .checks import require

DOMAIN = "com.microsoft."
FILTER_VALUE = -10000.0
"""The score of positions that a mask hides, where the node does not say."""
Attributes = Mapping[str, Any]
Operand = np.ndarray | None
Heads = tuple[np.ndarray, np.ndarray, np.ndarray]


def _split(x: np.ndarray, n_heads: int) -> np.ndarray:
    """[batch, length, hidden] as [batch, heads, length, size]; what is split stays."""
    if x.ndim == 4:
        return x
    return x.reshape(*x.shape[:2], n_heads, -1).transpose(0, 2, 1, 3)


def _joined(x: np.ndarray) -> np.ndarray:
    """[batch, heads, length, size] as [batch, length, hidden]."""
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def _with_past(past: Operand, x: np.ndarray) -> np.ndarray:
    return x if past is None else np.concatenate([past, x], axis=2)


def _mask_scores(attributes: Attributes, mask: Operand, shape: tuple[int, ...]) -> np.ndarray:
    """What a mask adds to scores of a shape [batch, heads, queries, keys].

    One of one dimension has how many keys each row has, or where they end and then begin.
    """
    if mask is None:
        return np.zeros((), np.float32)
    batch, _, n_queries, n_keys = shape
    if mask.ndim == 1:
        require(len(mask) in (batch, 2 * batch), "the mask must have one or two numbers a row")
        keys, ends = np.arange(n_keys), mask[:batch, None]
        starts = mask[batch:, None] if len(mask) > batch else 0
        mask = (keys < ends) & (keys >= starts)
    mask = mask[:, None, None] if mask.ndim == 2 else mask[:, None] if mask.ndim == 3 else mask
    require(mask.shape[0] == batch and mask.shape[3] == n_keys, "the mask must fit the keys")
    require(mask.shape[2] in (1, n_queries), "the mask must fit the queries")
    value = np.float32(attributes.get("mask_filter_value", FILTER_VALUE))
    return np.where(mask > 0, np.float32(0), value)


def _is_hidden(n_queries: int, n_keys: int, window: int = -1) -> np.ndarray:
    """Which keys lie behind each query, the last of all positions, or out of its window."""
    ends = np.arange(n_queries)[:, None] + n_keys - n_queries
    keys = np.arange(n_keys)
    return (keys > ends) | ((keys <= ends - window) if window >= 0 else False)


def _attended(
    attributes: Attributes,
    heads: Heads,
    extra: np.ndarray | float,
    hidden: Operand = None,
    sink: Operand = None,
) -> np.ndarray:
    """softmax(q k^T * scale + extra) v, the heads joined; keys that are hidden have no share.

    A `sink` has the score of one more key for each head, whose value is 0.
    """
    q, k, v = heads
    scale = attributes.get("scale", 0.0) or 1 / np.sqrt(q.shape[-1])
    scores = q @ k.swapaxes(-1, -2) * np.float32(scale)
    cap = np.float32(attributes.get("softcap", 0.0))
    scores = np.tanh(scores / cap) * cap + extra if cap > 0 else scores + extra
    if hidden is not None:
        scores = np.where(hidden, -np.inf, scores)
    if sink is not None:
        column = np.broadcast_to(sink.reshape(1, -1, 1, 1), (*scores.shape[:3], 1))
        scores = np.concatenate([scores, column], axis=3)
    powers = np.exp(scores - scores.max(axis=3, keepdims=True))
    shares = powers / powers.sum(axis=3, keepdims=True)
    return _joined(shares[..., : k.shape[2]].astype(q.dtype) @ v)


def _causal(attributes: Attributes, q: np.ndarray, k: np.ndarray) -> Operand:
    """Which keys are hidden, where queries see none behind them."""
    return _is_hidden(q.shape[2], k.shape[2]) if attributes.get("unidirectional", 0) else None


def _attention(
    attributes: Attributes,
    x: np.ndarray,
    weights: np.ndarray,
    bias: Operand = None,
    mask: Operand = None,
    past: Operand = None,
    scores: Operand = None,
    past_length: Operand = None,
) -> tuple[Operand, ...]:
    """Attention of a tensor to itself, and its keys and values where they are of one size."""
    require(past_length is None and not attributes.get("do_rotary", 0), "a buffer, or rotation")
    out = x @ weights if bias is None else x @ weights + bias
    sizes = attributes.get("qkv_hidden_sizes") or [weights.shape[1] // 3] * 3
    n_heads = attributes["num_heads"]
    q, k, v = (_split(part, n_heads) for part in np.split(out, np.cumsum(sizes)[:2], axis=2))
    old_k, old_v = (None, None) if past is None else past
    k, v = _with_past(old_k, k), _with_past(old_v, v)
    extra = _mask_scores(attributes, mask, (*q.shape[:3], k.shape[2]))
    extra = extra if scores is None else extra + scores
    out = _attended(attributes, (q, k, v), extra, _causal(attributes, q, k))
    return out, np.stack([k, v]) if k.shape == v.shape else None


def _quantized_attention(
    attributes: Attributes,
    x: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    x_scale: np.ndarray,
    scale: np.ndarray,
    mask: Operand = None,
    x_zero: Operand = None,
    zero: Operand = None,
    past: Operand = None,
) -> tuple[Operand, ...]:
    """Attention, whose integers are multiplied as such."""
    x = (x.astype(np.float64) - (0 if x_zero is None else x_zero)) * x_scale
    weights = (weights.astype(np.float64) - (0 if zero is None else zero)) * scale
    results = _attention(attributes, x, weights, bias, mask, past)
    return tuple(None if y is None else y.astype(np.float32) for y in results)


def _heads(n_heads: int, q: np.ndarray, k: Operand, v: Operand, bias: Operand) -> Heads:
    """Queries, keys and values of all heads; the latter two may be packed with the one before.

    Keys and values that are split into heads are past ones, which have their bias already.
    """
    if k is None:
        q, k, v = (q[:, :, :, i].transpose(0, 2, 1, 3) for i in range(3))
    elif v is None:
        k, v = (k[:, :, :, i].transpose(0, 2, 1, 3) for i in range(2))
    heads = [_split(x, n_heads) for x in (q, k, v)]
    if bias is not None:
        ends = np.cumsum([n_heads * x.shape[3] for x in heads])[:2]
        parts = [part.reshape(n_heads, 1, -1) for part in np.split(bias, ends)]
        is_past = [x.ndim == 4 for x in (q, k, v)]
        heads = [
            x if past else x + part for x, part, past in zip(heads, parts, is_past, strict=True)
        ]
    q, k, v = heads
    return q, k, v


def _multi_head(
    attributes: Attributes,
    q: np.ndarray,
    k: Operand = None,
    v: Operand = None,
    bias: Operand = None,
    mask: Operand = None,
    scores: Operand = None,
    past_k: Operand = None,
    past_v: Operand = None,
    *buffers: Operand,
) -> Heads:
    """MultiHeadAttention, and its keys and values."""
    require(all(x is None for x in buffers), "past keys must not be in a buffer")
    q, k, v = _heads(attributes["num_heads"], q, k, v, bias)
    k, v = _with_past(past_k, k), _with_past(past_v, v)
    extra = _mask_scores(attributes, mask, (*q.shape[:3], k.shape[2]))
    extra = extra if scores is None else extra + scores
    return _attended(attributes, (q, k, v), extra, _causal(attributes, q, k)), k, v


def _decoder(
    attributes: Attributes,
    q: np.ndarray,
    k: Operand = None,
    v: Operand = None,
    mask: Operand = None,
    scores: Operand = None,
    past_k: Operand = None,
    past_v: Operand = None,
    *others: Operand,
) -> Heads:
    """DecoderMaskedMultiHeadAttention without buffers and beams."""
    _, beam_width, indirection, bias = (*others, None, None, None, None)[:4]
    require(beam_width is None and indirection is None, "there must be no beams")
    return _multi_head(attributes, q, k, v, bias, mask, scores, past_k, past_v)


def _group_query(
    attributes: Attributes,
    q: np.ndarray,
    k: Operand,
    v: Operand,
    past_k: Operand,
    past_v: Operand,
    ends: np.ndarray,
    total: np.ndarray,
    cos: Operand = None,
    sin: Operand = None,
    positions: Operand = None,
    scores: Operand = None,
    sink: Operand = None,
    *others: Operand,
) -> Heads:
    """GroupQueryAttention, and its keys and values: of each row past ones, new ones and zeros."""
    require(all(x is None for x in others), "past ones must not be quantized, nor q normalized")
    require(not attributes.get("sliding_window_cache", 0), "the past must not be a window")
    n_heads, n_shared = attributes["num_heads"], attributes["kv_num_heads"]
    if k is None or v is None:
        size = q.shape[2] // (n_heads + 2 * n_shared)
        q, k, v = np.split(q, np.cumsum([n_heads * size, n_shared * size]), axis=2)
    q, k, v = _split(q, n_heads), _split(k, n_shared), _split(v, n_shared)
    starts = _row_starts(q, past_k, ends.ravel(), int(total.item()))
    steps = np.arange(q.shape[2])
    if attributes.get("do_rotary", 0) and cos is not None and sin is not None:
        at = starts[:, None] + steps if positions is None else positions
        is_interleaved = attributes.get("rotary_interleaved", 0)
        q, k = (_turned(x, cos[at][:, None], sin[at][:, None], is_interleaved) for x in (q, k))
    length = max(int(total.item()), 0 if past_k is None else past_k.shape[2])
    k, v = _behind(past_k, k, starts, length), _behind(past_v, v, starts, length)
    last = starts[:, None] + steps if attributes.get("causal", 1) else ends.reshape(-1, 1)
    keys, last = np.arange(length), last[:, None, :, None]
    window = attributes.get("local_window_size", -1)
    hidden = (keys > last) | ((keys <= last - window) if window >= 0 else False)
    if sink is None and attributes.get("smooth_softmax", 0) == 1:
        sink = np.zeros(n_heads, q.dtype)
    each_k, each_v = (np.repeat(x, n_heads // n_shared, axis=1) for x in (k, v))
    extra = 0.0 if scores is None else scores
    return _attended(attributes, (q, each_k, each_v), extra, hidden, sink), k, v


def _row_starts(q: np.ndarray, past: Operand, ends: np.ndarray, total: int) -> np.ndarray:
    """How many past keys each row has; `ends` and `total` must fit them."""
    n_past, n_new = 0 if past is None else past.shape[2], q.shape[2]
    require(bool((ends >= 0).all() and (ends < total).all()), "rows must end within the total")
    require(n_new <= total and (past is not None or n_new == total), "the total must fit the keys")
    starts = ends + 1 - n_new
    require(n_new == total or bool((starts >= 0).all()), "rows must have all their new keys")
    require(bool((starts <= n_past).all()), "rows must have room for their past")
    return np.maximum(starts, 0)


def _behind(past: Operand, new: np.ndarray, starts: np.ndarray, length: int) -> np.ndarray:
    """Of each row so many past ones, then the new ones, then zeros up to a length."""
    out = np.zeros((*new.shape[:2], length, new.shape[3]), new.dtype)
    for i, start in enumerate(starts):
        if past is not None:
            out[i, :, :start] = past[i, :, :start]
        out[i, :, start : start + new.shape[2]] = new[i]
    return out


def _turned(x: np.ndarray, cos: np.ndarray, sin: np.ndarray, is_interleaved: int) -> np.ndarray:
    """Pairs of the first features of `x`, [batch, heads, length, size], turned by angles."""
    half = cos.shape[-1]
    rotated, unrotated = x[..., : 2 * half], x[..., 2 * half :]
    first = slice(0, None, 2) if is_interleaved else slice(0, half)
    second = slice(1, None, 2) if is_interleaved else slice(half, None)
    a, b = rotated[..., first], rotated[..., second]
    out = np.empty_like(rotated)
    out[..., first], out[..., second] = a * cos - b * sin, b * cos + a * sin
    return np.concatenate([out, unrotated], axis=-1)


def _rotary(
    attributes: Attributes, x: np.ndarray, positions: np.ndarray, cos: np.ndarray, sin: np.ndarray
) -> np.ndarray:
    """RotaryEmbedding: angles of positions, or of all from an offset on."""
    require(attributes.get("scale", 1.0) == 1, "scale must be 1")
    n_rotated, heads = attributes.get("rotary_embedding_dim", 0), x
    if x.ndim == 3:
        n_heads = attributes.get("num_heads", 0)
        heads = _split(x, n_heads if n_rotated else x.shape[2] // (2 * cos.shape[1]))
    at = positions + np.arange(heads.shape[2]) if positions.ndim == 1 else positions
    at = np.broadcast_to(at, (len(x), heads.shape[2]))
    interleaved = attributes.get("interleaved", 0)
    out = _turned(heads, cos[at][:, None], sin[at][:, None], interleaved)
    return out if x.ndim == 4 else _joined(out)


def _multimodal_rotary(
    attributes: Attributes, x: np.ndarray, positions: np.ndarray, cos: np.ndarray, sin: np.ndarray
) -> np.ndarray:
    """MRotaryEmbedding: which of three positions the angle of each feature belongs to."""
    require(attributes.get("scale", 1.0) == 1, "scale must be 1")
    heads = _split(x, attributes["num_heads"]) if x.ndim == 3 else x
    sections = attributes["mrope_section"]
    which = np.repeat(np.arange(3), sections)
    if attributes.get("mrope_layout", 0):
        which = np.zeros(cos.shape[1], int)
        for i in (1, 2):
            which[i : 3 * sections[i] : 3] = i
    features = np.arange(cos.shape[1])
    cos, sin = (
        cache[positions[which].transpose(1, 2, 0), features][:, None] for cache in (cos, sin)
    )
    out = _turned(heads, cos, sin, attributes.get("interleaved", 0))
    return out if x.ndim == 4 else _joined(out)


def _gemma_rotary(_: Attributes, angles: np.ndarray, *pairs: np.ndarray) -> tuple[np.ndarray, ...]:
    """GemmaRotaryEmbedding of queries and keys."""
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    q, q_turned, k, k_turned = pairs
    return q * cos + q_turned * sin, k * cos + k_turned * sin


def _relative_bias(
    attributes: Attributes, table: np.ndarray, n_queries: np.ndarray, n_keys: np.ndarray
) -> np.ndarray:
    """RelativePositionBias: distances share buckets, of even logarithms where they are large."""
    ahead = np.arange(int(n_keys)) - np.arange(int(n_queries))[:, None]
    n_buckets, bucket = len(table), np.zeros_like(ahead)
    if attributes.get("is_bidirectional", 0):
        n_buckets //= 2
        bucket += (ahead > 0) * n_buckets
        steps = np.abs(ahead)
    else:
        steps = np.maximum(-ahead, 0)
    exact = n_buckets // 2
    share = np.log(np.maximum(steps, 1) / exact) / np.log(attributes["max_distance"] / exact)
    wide = np.minimum(exact + (share * (n_buckets - exact)).astype(int), n_buckets - 1)
    return table[bucket + np.where(steps < exact, steps, wide)].transpose(2, 0, 1)[None]


def _gated_bias(
    attributes: Attributes,
    q: np.ndarray,
    q_bias: np.ndarray,
    scores: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    factor: np.ndarray,
    offset: Operand = None,
) -> np.ndarray:
    """GatedRelativePositionBias."""
    require(offset is None, "there must be no token offset")
    sums = _split(q + q_bias, attributes["num_heads"]) @ weights + bias
    halves = sums.reshape(*sums.shape[:-1], 2, -1).sum(-1)
    update, reset = np.moveaxis(1 / (1 + np.exp(-halves)), -1, 0)[..., None]
    return (update * (reset * factor - 1) + 2) * scores


OPERATORS: dict[str, Callable[..., Any]] = {
    f"{DOMAIN}Attention": _attention,
    f"{DOMAIN}DecoderMaskedMultiHeadAttention": _decoder,
    f"{DOMAIN}GatedRelativePositionBias": _gated_bias,
    f"{DOMAIN}GemmaRotaryEmbedding": _gemma_rotary,
    f"{DOMAIN}GroupQueryAttention": _group_query,
    f"{DOMAIN}MRotaryEmbedding": _multimodal_rotary,
    f"{DOMAIN}MultiHeadAttention": _multi_head,
    f"{DOMAIN}QAttention": _quantized_attention,
    f"{DOMAIN}RelativePositionBias": _relative_bias,
    f"{DOMAIN}RotaryEmbedding": _rotary,
}
"""Operators that the ONNX project's evaluator does not have."""
