"""Normalisations and activations."""

import keras

from .registry import BOTH, IMAGE, THREE, TWO, case, single

for _name, _make, _versions in (
    ("Group", lambda layers: layers.GroupNormalization(2), BOTH),
    ("Group_first", lambda layers: layers.GroupNormalization(6, axis=1, scale=False), BOTH),
    ("Group_each", lambda layers: layers.GroupNormalization(-1), BOTH),
    ("Unit", lambda layers: layers.UnitNormalization(axis=(1, 2)), BOTH),
    ("RMS", lambda layers: layers.RMSNormalization(axis=(2, 3)), THREE),
    ("Layer", lambda layers: layers.LayerNormalization(axis=(1, 2), center=False), BOTH),
    ("Layer_listed", lambda layers: layers.LayerNormalization(axis=[3, 1]), BOTH),
    ("Batch_all", lambda layers: layers.BatchNormalization(axis=1), BOTH),
    ("Spectral", lambda layers: layers.SpectralNormalization(layers.Conv2D(3, 2)), THREE),
    (
        "Normalization",
        lambda layers: layers.Normalization(mean=(1, 2, 3, 4), variance=(1, 4, 0, 2)),
        BOTH,
    ),
    ("Normalization_of", lambda layers: layers.Normalization(axis=-1), BOTH),
    ("Normalization_back", lambda layers: layers.Normalization(axis=None, invert=True), BOTH),
    ("Softmax", lambda layers: layers.Softmax(axis=(1, 2)), BOTH),
    ("Thresholded", lambda layers: layers.ThresholdedReLU(0.3), TWO),
    ("PReLU", lambda layers: layers.PReLU(shared_axes=(1, 2)), BOTH),
):
    single("norm", _name, _make, IMAGE, versions=_versions)


@case("norm")
def soft_masked(k):
    x, mask = k.Input((4, 5)), k.Input((4, 5), dtype="bool")
    return k.Model([x, mask], k.layers.Softmax()(x, mask=mask))


@case("norm", THREE)
def embedded_and_back(k):
    x = k.Input((4,), dtype="int32")
    outputs = []
    for tied in (True, False):
        embedding = k.layers.ReversibleEmbedding(7, 3, tie_weights=tied)
        outputs.append(embedding(embedding(x), reverse=True))
    return k.Model(x, outputs)


@case("norm")
def activations(k):
    names = ["gelu", "mish", "hard_sigmoid", "selu", "softsign", "exponential"]
    if k is keras:
        names += ["celu", "glu", "hard_shrink", "hard_tanh", "log_sigmoid", "log_softmax"]
        names += ["soft_shrink", "sparse_plus", "squareplus", "tanh_shrink", "sparse_sigmoid"]
    x = k.Input((6,))
    return k.Model(x, [k.layers.Activation(name)(x) for name in names])
