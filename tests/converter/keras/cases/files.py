"""Models whose files say of a layer what those of others do not, or leave it out."""

from __future__ import annotations

from .registry import THREE, case


@case("files", THREE)
def operation_with_type(k):
    """A cast to bool, whose type is what it makes and not what it computes in."""
    words, mask = k.Input((5,), dtype="int32"), k.Input((5,), dtype="int32")
    allowed = k.ops.cast(k.ops.expand_dims(mask, 1), "bool")
    y = k.layers.Embedding(8, 4)(words)
    y = k.layers.MultiHeadAttention(2, 3)(y, y, attention_mask=allowed)
    return k.Model([words, mask], [y, k.ops.cumsum(mask, axis=1, dtype="float32")])


@case("files", THREE)
def layers_without_trainable(k):
    """Layers whose configuration does not say whether they learn."""
    x, volume = k.Input((6, 4)), k.Input((4, 4, 4, 2))
    y = k.layers.SpatialDropout1D(0.2)(x)
    z = k.layers.SpatialDropout3D(0.2)(k.layers.Conv3D(2, 2)(volume))
    image = k.layers.SpatialDropout2D(0.2)(k.layers.Reshape((3, 4, 2))(y))
    return k.Model([x, volume], [k.layers.Conv1D(3, 2)(y), z, k.layers.Conv2D(2, 2)(image)])
