"""Preprocessing of images and of categories."""

from .registry import IMAGE, single

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
