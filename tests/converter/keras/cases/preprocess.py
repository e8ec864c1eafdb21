"""Preprocessing of images and of categories."""

import numpy as np

from .registry import IMAGE, TWO, case, single

for _name, _make, _shape, _settings in (
    ("Resizing", lambda layers: layers.Resizing(5, 6), IMAGE, {}),
    ("Resizing_crop", lambda layers: layers.Resizing(4, 8, crop_to_aspect_ratio=True), IMAGE, {}),
    ("Resizing_bytes", lambda layers: layers.Resizing(5, 6), IMAGE, {"dtype": "uint8"}),
    ("Resizing_nearest", lambda layers: layers.Resizing(5, 6, "nearest"), IMAGE, {}),
    ("CenterCrop", lambda layers: layers.CenterCrop(4, 5), IMAGE, {}),
    ("CenterCrop_larger", lambda layers: layers.CenterCrop(9, 5), IMAGE, {}),
    ("RandomCrop", lambda layers: layers.RandomCrop(4, 5), IMAGE, {}),
    ("Rescaling", lambda layers: layers.Rescaling(0.5, 1), IMAGE, {"dtype": "uint8"}),
    ("RandomFlip", lambda layers: layers.RandomFlip(), IMAGE, {}),
    ("RandomRotation", lambda layers: layers.RandomRotation(0.1), IMAGE, {"dtype": "uint8"}),
    ("RandomZoom", lambda layers: layers.RandomZoom(0.1), IMAGE, {}),
    ("RandomContrast", lambda layers: layers.RandomContrast(0.1), IMAGE, {}),
    ("RandomBrightness", lambda layers: layers.RandomBrightness(0.1), IMAGE, {}),
    ("RandomTranslation", lambda layers: layers.RandomTranslation(0.1, 0.1), IMAGE, {}),
    ("Discretization", lambda layers: layers.Discretization([-1.0, 0.0, 0.5]), (5,), {}),
    (
        "Discretization_hot",
        lambda layers: layers.Discretization([0.0], output_mode="one_hot"),
        (1,),
        {},
    ),
    ("Encoding", lambda layers: layers.CategoryEncoding(7), (5,), {"dtype": "int32"}),
    (
        "Encoding_hot",
        lambda layers: layers.CategoryEncoding(7, "one_hot"),
        (1,),
        {"dtype": "int32"},
    ),
    (
        "Encoding_count",
        lambda layers: layers.CategoryEncoding(7, "count"),
        (5,),
        {"dtype": "int32"},
    ),
    ("Lookup", lambda layers: layers.IntegerLookup(vocabulary=[5, 3, 2]), (5,), {"dtype": "int64"}),
    (
        "Lookup_masked",
        lambda layers: layers.IntegerLookup(vocabulary=[5, 3, 2], mask_token=0),
        (5,),
        {"dtype": "int64"},
    ),
    (
        "Lookup_hot",
        lambda layers: layers.IntegerLookup(vocabulary=[5, 3], output_mode="multi_hot"),
        (5,),
        {"dtype": "int64"},
    ),
):
    single("preprocess", _name, _make, _shape, **_settings)


@case("adapted", TWO)
def adapted_bins(k):
    """Boundaries that Keras 2 finds in data, and keeps as a summary of them."""
    x, values = k.Input((3,)), np.random.default_rng(0).normal(size=(90, 1)).astype("f")
    layers = [k.layers.Discretization(num_bins=n, epsilon=e) for n, e in ((4, 0.01), (5, 0.1))]
    for layer in layers:
        layer.adapt(values)
    return k.Model(x, [layer(x) for layer in layers])


@case("adapted", TWO)
def several_unknown(k):
    """Integers that are not in the vocabulary have several places, and integers at places."""
    x = k.Input((9,), dtype="int64")
    lookup, words = k.layers.IntegerLookup, [3, 5, 1]
    layers = [
        lookup(vocabulary=words, num_oov_indices=2),
        lookup(vocabulary=words, num_oov_indices=3, mask_token=0),
        lookup(vocabulary=words, num_oov_indices=2, output_mode="multi_hot"),
        lookup(vocabulary=words, invert=True),
        lookup(vocabulary=words, invert=True, mask_token=0),
    ]
    return k.Model(x, [layer(x) for layer in layers])
