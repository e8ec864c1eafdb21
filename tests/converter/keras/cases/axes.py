"""Attention over several axes at once."""

from __future__ import annotations

from .registry import case


def heads(k, *axes, **settings):
    return k.layers.MultiHeadAttention(2, 3, attention_axes=axes or None, **settings)


@case("axes")
def two(k):
    x = k.Input((3, 5, 4))
    return k.Model(x, heads(k, 1, 2)(x, x))


@case("axes")
def of_unknown_sizes(k):
    x, y = k.Input((None, 5, 4)), k.Input((2, None, 4))
    return k.Model([x, y], heads(k, 1, 2, value_dim=2)(x, y))


@case("axes")
def all_between(k):
    x = k.Input((2, 3, 2, 4))
    return k.Model(x, heads(k)(x, x))


@case("axes")
def beside_one_that_is_not(k):
    x = k.Input((2, 3, 4, 4))
    return k.Model(x, heads(k, 2, 3)(x, x))


@case("axes")
def scores_and_mask(k):
    x, y, mask = k.Input((3, 2, 4)), k.Input((2, 4, 4)), k.Input((3, 2, 2, 4))
    attended = heads(k, 1, 2)(x, y, attention_mask=mask > 0, return_attention_scores=True)
    return k.Model([x, y, mask], list(attended))
