"""Layers on images, and convolutions whose filters differ from place to place."""

from .registry import BOTH, THREE, TWO, single

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
single(
    *("images", "UpSampling2D_any_size"),
    lambda layers: layers.UpSampling2D((2, 3)),
    (None, None, 2),
    versions=BOTH,
)
