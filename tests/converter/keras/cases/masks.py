"""Masks that attention takes away: in Keras 3 who reads its inputs later finds them without."""

from __future__ import annotations

from .registry import THREE, case


def words(k):
    """Numbers of words, and their vectors with a mask."""
    x = k.Input((None,), dtype="int32")
    return x, k.layers.Embedding(7, 4, mask_zero=True)(x)


def heads(k, **settings):
    return k.layers.MultiHeadAttention(2, 3, **settings)


def encoded(k, x, attention, n_layers: int = 2):
    """Layers of an encoder that normalizes sums."""
    for _ in range(n_layers):
        x = k.layers.LayerNormalization()(k.layers.Add()([x, attention()(x, x)]))
    return x


@case("masks", THREE)
def encoder(k):
    x, y = words(k)
    y = encoded(k, y, lambda: heads(k))
    return k.Model(x, [y, k.layers.GlobalAveragePooling1D()(y), k.layers.LSTM(2)(y)])


@case("masks", THREE)
def encoder_with_dropout(k):
    x, y = words(k)
    return k.Model(x, encoded(k, y, lambda: heads(k, dropout=0.1)))


@case("masks", THREE)
def grouped_encoder(k):
    x, y = words(k)
    return k.Model(x, encoded(k, y, lambda: k.layers.GroupQueryAttention(2, 2, 1)))


@case("masks", THREE)
def decoder(k):
    (x, source), (y, target) = words(k), words(k)
    masked = heads(k)(target, target, use_causal_mask=True)
    target = k.layers.LayerNormalization()(k.layers.Add()([target, masked]))
    for _ in range(2):
        target = k.layers.Add()([target, heads(k)(target, source)])
    return k.Model([x, y], target)


@case("masks", THREE)
def one_after_the_other(k):
    """Two outputs as deep: the last attention is the first to run."""
    x, y = words(k)
    return k.Model(x, [heads(k)(y, y), heads(k)(y, y)])


@case("masks", THREE)
def deeper_first(k):
    """The attention is nearer to the outputs than the layer beside it."""
    x, y = words(k)
    beside = k.layers.Dense(4)(k.layers.Dense(4)(k.layers.Dense(4)(y)))
    return k.Model(x, heads(k)(k.layers.Add()([beside, heads(k)(y, y)]), y))
