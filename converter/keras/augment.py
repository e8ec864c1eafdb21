"""Layers that change images in training only: their input, as reals where Keras makes it that."""

from __future__ import annotations

import numpy as np

from ...graph.core.graph import Tensor
from .registry import Call, layer

TRAINING_ONLY = (
    *("AugMix", "CutMix", "MixUp", "RandAugment", "RandomBrightness", "RandomColorDegeneration"),
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
