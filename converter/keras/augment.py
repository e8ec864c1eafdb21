"""Layers that augment images. Most do so in training only, and are their input, as floats where
Keras makes it that; the contrast of AutoContrast is always that of each image.
"""

from __future__ import annotations

import numpy as np

from ...graph.core.graph import Tensor
from .files.architecture import Layer, read_layer
from .registry import Call, is_number, layer

LIGHTEST = 255.0
RANGE = (0.0, LIGHTEST)
TRAINING_ONLY = (
    *(
        "AugMix",
        "CutMix",
        "Equalization",
        "MixUp",
        "RandAugment",
        "RandomBrightness",
        "RandomColorDegeneration",
    ),
    *("RandomColorJitter", "RandomContrast", "RandomElasticTransform", "RandomErasing"),
    *("RandomFlip", "RandomGaussianBlur", "RandomGrayscale", "RandomHeight", "RandomHue"),
    *("RandomInvert", "RandomPerspective", "RandomPosterization", "RandomRotation"),
    *("RandomSaturation", "RandomSharpness", "RandomShear", "RandomTranslation", "RandomWidth"),
    *("RandomZoom", "Solarization"),
)


@layer(*TRAINING_ONLY)
def unchanged(call: Call, x: Tensor) -> Tensor:
    """Its input."""
    return call.cast(x, np.float32)


@layer("AutoContrast")
def auto_contrast(call: Call, x: Tensor) -> Tensor:
    """Each channel stretched to the whole range of values; one of a single value stays."""
    call.shape(x, 4)
    limits = value_range(call)
    x = call.cast(x, np.float32)
    images = stretched(call, x, limits, RANGE)
    axes = call.constant([1, 2])
    darkest, lightest = (call.op(kind, images, axes, keep_dims=True) for kind in ("Min", "Max"))
    scale = call.op("RealDiv", call.constant(LIGHTEST, x), call.op("Sub", lightest, darkest))
    offset = call.op("Mul", call.op("Neg", darkest), scale)
    y = call.op("AddV2", call.op("Mul", images, scale), offset)
    y = call.op("Minimum", call.op("Maximum", y, call.constant(0.0, x)), call.constant(LIGHTEST, x))
    y = stretched(call, y, RANGE, limits)
    is_flat = call.op("Equal", lightest, darkest)
    return call.op("SelectV2", is_flat, x, y)


def value_range(call: Call) -> tuple[float, float]:
    """The darkest and the lightest value that images may have."""
    limits = call.setting("value_range", list(RANGE))
    is_valid = isinstance(limits, list | tuple) and len(limits) == 2 and all(map(is_number, limits))
    call.check(is_valid and limits[0] < limits[1], "value_range", "two ascending numbers")
    low, high = map(float, limits)
    return low, high


def stretched(
    call: Call, x: Tensor, before: tuple[float, float], after: tuple[float, float]
) -> Tensor:
    """Values of one range in another."""
    if before == after:
        return x
    y = call.op("Sub", x, call.constant(before[0], x))
    y = call.op("RealDiv", y, call.constant(before[1] - before[0], x))
    y = call.op("Mul", y, call.constant(after[1] - after[0], x))
    return call.op("AddV2", y, call.constant(after[0], x))


def inner_layers(layer: Layer) -> dict[str, Layer]:
    """The layers of a pipeline, by their numbers."""
    layers = layer.config.get("layers")
    return {str(i): read_layer(x) for i, x in enumerate(layers if isinstance(layers, list) else ())}


@layer("Pipeline", parts=inner_layers)
def pipeline(call: Call, x: Tensor) -> Tensor:
    """One layer after the other."""
    for name in call.layer.parts:
        x = call.apply(name, x)
    return x
