"""Channels first in one and three dimensions, groups, uneven windows, interpolations."""

from .registry import BOTH, THREE, TWO, single

STEPS, SOLID = (3, 8), (2, 4, 3, 5)
FIRST = {"data_format": "channels_first"}


def add(name: str, shape: tuple[int, ...], layer: str, *args, versions=BOTH, **settings) -> None:
    """Adds a model of the layer with these arguments."""

    def make(layers):
        return getattr(layers, layer)(*args, **settings)

    single("formats", name, make, shape, versions=versions)


add("pool_1d", STEPS, "MaxPooling1D", 3, 2, padding="same", **FIRST)
add("average_1d", STEPS, "AveragePooling1D", 2, **FIRST)
add("conv_3d", SOLID, "Conv3D", 3, 2, padding="same", versions=THREE, **FIRST)
add("depthwise_1d", STEPS, "DepthwiseConv1D", 3, versions=THREE, **FIRST)
add("separable_1d", STEPS, "SeparableConv1D", 4, 3, padding="same", versions=THREE, **FIRST)
add("groups_3d", (3, 4, 3, 4), "Conv3D", 6, 2, groups=2, activation="relu")
add("norm_rms", (4, 5), "LayerNormalization", rms_scaling=True, versions=THREE)
for _kind in ("Average", "Max"):
    add(f"{_kind}_uneven_1d", (7, 3), f"Adaptive{_kind}Pooling1D", 3, versions=THREE)
    add(f"{_kind}_uneven_2d", (5, 8, 2), f"Adaptive{_kind}Pooling2D", (2, 3), versions=THREE)
    add(f"{_kind}_even_2d", (6, 8, 2), f"Adaptive{_kind}Pooling2D", (3, 2), versions=THREE)
add("repeated", (5, 2), "UpSampling1D", 3)
add("above", (4, 5), "ReLU", threshold=0.5)
add("lanczos_up", (3, 4, 2), "UpSampling2D", 2, interpolation="lanczos3")
add("area_up", (3, 4, 2), "UpSampling2D", 2, interpolation="area", versions=TWO)
add("area_down", (7, 5, 2), "Resizing", 3, 2, interpolation="area", versions=TWO)
add("smooth", (7, 5, 2), "Resizing", 3, 2, antialias=True, versions=THREE)
add("smooth_cubic", (7, 5, 2), "Resizing", 3, 2, "bicubic", antialias=True, versions=THREE)
