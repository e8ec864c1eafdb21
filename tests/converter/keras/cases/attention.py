"""Attention, and products by an equation."""

from .registry import THREE, case, single


def heads(k, mask: bool, **settings):
    """Two attentions, the second of other keys, over sequences that may have masks."""
    layers = k.layers
    x, z = k.Input((6,), dtype="int32"), k.Input((4, 5))
    y = layers.Embedding(9, 6, mask_zero=mask)(x)
    y = layers.MultiHeadAttention(2, 3, **settings)(y, y, use_causal_mask=True)
    return k.Model([x, z], layers.MultiHeadAttention(2, 3, value_dim=4, output_shape=7)(y, z))


@case("attention")
def causal_heads(k):
    return heads(k, False, use_bias=False)


@case("attention")
def masked_heads(k):
    return heads(k, True)


@case("attention")
def scores(k):
    x, mask = k.Input((5, 6)), k.Input((5, 5), dtype="bool")
    heads = k.layers.MultiHeadAttention(2, 3)
    return k.Model([x, mask], heads(x, x, attention_mask=mask, return_attention_scores=True))


@case("attention")
def heads_of_rows(k):
    x = k.Input((3, 5, 6))
    return k.Model(x, k.layers.MultiHeadAttention(2, 3, attention_axes=(2,))(x, x))


@case("attention", THREE)
def grouped(k):
    x = k.Input((5, 8))
    heads = k.layers.GroupQueryAttention(4, 4, 2)
    return k.Model(x, heads(x, x, use_causal_mask=True))


@case("attention")
def luong(k):
    layers = k.layers
    q, v = k.Input((4,), dtype="int32"), k.Input((6,), dtype="int32")
    embedding = layers.Embedding(9, 5, mask_zero=True)
    queries, values = embedding(q), embedding(v)
    results = [layers.Attention(use_scale=True)([queries, values], use_causal_mask=True)]
    results.append(layers.Attention(score_mode="concat")([queries, values, values]))
    return k.Model([q, v], [*results, layers.AdditiveAttention()([queries, values])])


for _equation, _settings, _shape in (
    ("abc,cde->abde", {"output_shape": (None, 3, 4), "bias_axes": "de"}, (5, 6)),
    ("...x,xy->...y", {"output_shape": 3, "bias_axes": "y", "activation": "relu"}, (4, 6)),
    ("abc,cd->abd", {"output_shape": (None, 3)}, (5, 6)),
    ("ab...,bc->ac...", {"output_shape": (3, None), "bias_axes": "c"}, (4, 6)),
):
    single(
        "attention",
        _equation,
        lambda layers, e=_equation, s=_settings: layers.EinsumDense(e, **s),
        _shape,
    )
