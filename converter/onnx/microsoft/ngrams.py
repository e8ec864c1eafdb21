"""com.microsoft: hashes of the last tokens, for tables of n-grams."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np

from ...lowering.moves import element, extent, int32s, like, reshaped, slice_along
from ..logic import on_int32_words
from ..registry import lower
from .fused import DOMAIN


@lower(f"{DOMAIN}NGramHashMapping")
def hash_ngrams(node, b):
    """The hash of each head: bits of the last tokens' products that differ, modulo its size.

    A token is hidden behind an end token after it, or where another segment begins; the padding,
    or the end token where there is one, stands for it and for those before the first.
    """
    ids, factors, sizes, past, offsets, end, segments = (node.input(i) for i in range(7))
    n, n_heads = node.attr("max_ngram_size"), node.attr("n_head_per_ngram")
    node.require(n > 1 and n_heads > 0, f"max_ngram_size must be above 1, got {n}")
    hidden = like(ids, node.attr("pad_id"), b) if end is None else reshaped(end, (), b)
    tokens = b.CONCATENATION(_filled(b, ids, n - 1, hidden) if past is None else past, ids, axis=1)
    shifted = [_shifted(b, tokens, n - 1, k) for k in range(n)]
    breaks = []
    if end is not None and node.attr("reset_on_eos", 0):
        breaks.append([b.EQUAL(x, hidden) for x in shifted[1:]])
    if segments is not None:
        first = b.TILE(slice_along(segments, 1, 0, 1, b), int32s([1, n - 1]))
        all_segments = b.CONCATENATION(first, segments, axis=1)
        shifted_segments = [_shifted(b, all_segments, n - 1, k) for k in range(n)]
        breaks.append([b.NOT_EQUAL(*pair) for pair in pairwise(shifted_segments)])
    for row in breaks:
        is_hidden = accumulate(row, b.LOGICAL_OR)
        visible = zip(is_hidden, shifted[1:], strict=True)
        shifted[1:] = [b.SELECT_V2(flag, hidden, x) for flag, x in visible]
    products = [b.MUL(x, element(factors, k, b)) for k, x in enumerate(shifted)]
    mixed = accumulate(products, lambda x, y: on_int32_words(b, b.BITWISE_XOR, x, y))
    hashes = [
        b.FLOOR_MOD(b.EXPAND_DIMS(x, np.int32(2)), slice_along(sizes, 0, i * n_heads, n_heads, b))
        for i, x in enumerate(list(mixed)[1:])
    ]
    result = hashes[0] if n == 2 else b.CONCATENATION(*hashes, axis=2)
    bounds = int32s([0, 1 - n]), int32s([0, 0]), int32s([1, 1])
    present = b.STRIDED_SLICE(tokens, *bounds, begin_mask=1, end_mask=3)
    return result if offsets is None else b.ADD(result, offsets), present


def _filled(b, ids, n, value):
    """Columns of a value before `ids`, as many rows."""
    shape = b.PACK(extent(ids, 0, b), np.int32(n), axis=0, values_count=2)
    return b.FILL(shape, value)


def _shifted(b, tokens, n, k):
    """The tokens `k` positions before each, of which `n` stand before the first."""
    bounds = int32s([0, n - k]), int32s([0, -k]), int32s([1, 1])
    return b.STRIDED_SLICE(tokens, *bounds, begin_mask=1, end_mask=1 if k else 3)
