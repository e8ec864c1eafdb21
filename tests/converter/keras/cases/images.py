"""Layers on images, and convolutions whose filters differ from place to place."""

from .registry import BOTH, THREE, TWO, case, single

single(*("images", "AutoContrast"), lambda layers: layers.AutoContrast(), (4, 5, 3), versions=THREE)
single(
    *("images", "AutoContrast_range"),
    lambda layers: layers.AutoContrast(value_range=(-1, 1)),
    (4, 5, 3),
    versions=THREE,
)
single(
    *("images", "Pipeline"),
    lambda layers: layers.Pipeline(
        [layers.Rescaling(0.5, 1.0), layers.CenterCrop(3, 3), layers.RandomFlip()]
    ),
    (4, 5, 3),
    versions=THREE,
)
single(
    *("images", "LocallyConnected1D"),
    lambda layers: layers.LocallyConnected1D(3, 2, strides=2, activation="tanh"),
    (7, 4),
    versions=TWO,
)
single(
    *("images", "LocallyConnected2D"),
    lambda layers: layers.LocallyConnected2D(3, (2, 3), strides=(1, 2)),
    (5, 7, 2),
    versions=TWO,
)
single(
    *("images", "LocallyConnected2D_plain"),
    lambda layers: layers.LocallyConnected2D(2, 2, use_bias=False, activation="relu"),
    (4, 3, 3),
    versions=TWO,
)
for _implementation in (1, 2, 3):
    _settings = {"implementation": _implementation, "data_format": "channels_first"}
    single(
        *("images", f"LocallyConnected1D_{_implementation}_channels_first"),
        lambda layers, settings=_settings: layers.LocallyConnected1D(3, 4, strides=2, **settings),
        (2, 7),
        versions=TWO,
    )
    single(
        *("images", f"LocallyConnected2D_{_implementation}_channels_first"),
        lambda layers, settings=_settings: layers.LocallyConnected2D(
            3, (2, 3), strides=(1, 2), activation="softmax", **settings
        ),
        (2, 4, 5),
        versions=TWO,
    )
for _implementation, _padding in ((2, "valid"), (2, "same"), (3, "valid"), (3, "same")):
    _settings = {"implementation": _implementation, "padding": _padding}
    single(
        *("images", f"LocallyConnected1D_{_implementation}_{_padding}"),
        lambda layers, settings=_settings: layers.LocallyConnected1D(3, 4, strides=2, **settings),
        (7, 2),
        versions=TWO,
    )
    single(
        *("images", f"LocallyConnected2D_{_implementation}_{_padding}"),
        lambda layers, settings=_settings: layers.LocallyConnected2D(
            3, (2, 3), strides=(1, 2), **settings
        ),
        (4, 5, 2),
        versions=TWO,
    )
single(
    *("images", "UpSampling2D_any_size"),
    lambda layers: layers.UpSampling2D((2, 3)),
    (None, None, 2),
    versions=BOTH,
)
single(
    *("images", "Equalized_tiles"),
    lambda layers: layers.ContrastLimitedAdaptiveHistogramEqualization(
        (-1, 2), clip_limit=1.5, tile_grid_size=(2, 3)
    ),
    (7, 11, 2),
    versions=THREE,
)
single(
    *("images", "Equalized_without_limit"),
    lambda layers: layers.ContrastLimitedAdaptiveHistogramEqualization(
        (-1, 2), clip_limit=0, tile_grid_size=(2, 2), data_format="channels_first"
    ),
    (3, 8, 6),
    versions=THREE,
)
single(
    *("images", "Resizing_first"),
    lambda layers: layers.Resizing(3, 7, data_format="channels_first"),
    (2, 5, 4),
    versions=THREE,
)


def with_boxes(k, n):
    """As many boxes as a layer has, of images with `n` of them."""
    images, boxes, labels = (k.Input(shape) for shape in ((4, 5, 3), (n, 4), (n,)))
    data = {"images": images, "bounding_boxes": {"labels": labels, "boxes": boxes}}
    fixed = k.layers.MaxNumBoundingBoxes(3, bounding_box_format="xyxy")(data)
    outputs = fixed["images"], fixed["bounding_boxes"]["boxes"], fixed["bounding_boxes"]["labels"]
    return k.Model([images, boxes, labels], outputs)


@case("images", THREE)
def few_boxes(k):
    return with_boxes(k, 2)


@case("images", THREE)
def many_boxes(k):
    return with_boxes(k, 5)
