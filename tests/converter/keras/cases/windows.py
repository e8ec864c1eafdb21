"""Functions of keras.ops with windows, and quantiles beside NaN."""

from __future__ import annotations

import keras
import numpy as np

from .registry import FAMILIES, THREE


def case(name, make, *shapes):
    """Adds a model whose outputs `make(ops, *inputs)` gives."""

    def model(k):
        inputs = [k.Input(batch_shape=s[1:]) if s[0] == "whole" else k.Input(s) for s in shapes]
        return k.Model(inputs, make(keras.ops, *inputs))

    FAMILIES.setdefault("windows", {})[name] = THREE, model


KERNEL = (np.arange(2 * 3 * 3 * 4) % 7 - 3).reshape(2, 3, 3, 4).astype("float32") / 8
TURN = np.float32([[0.9, 0.3, -0.5, -0.2, 1.1, 0.4, 0.01, -0.02]])
HOLES = np.float32([[1, np.nan, 3, 0.5, 0, 0], [np.nan, 2, np.nan, -1, 1, 0.5]])

case(
    "convolutions",
    lambda o, x, k: [
        o.separable_conv(x, KERNEL, KERNEL.reshape(1, 1, 12, 6), 1, "same"),
        o.separable_conv(k, KERNEL[0], KERNEL.reshape(1, 12, 6), 2, "valid"),
    ],
    *((4, 5, 3), (7, 3)),
)
case(
    "signals",
    lambda o, x: [
        *o.stft(x, 6, 3, 8),
        *o.stft(x, 8, 4, 8, "hamming", False),
        *o.stft(x, 4, 2, 4, None),
    ],
    (21,),
)
case(
    "images",
    lambda o, x, y: [
        o.image.sobel_edges(x),
        o.image.ssim(x, y, 2.0, 5),
        o.image.affine_transform(x, np.tile(TURN, (1, 1))),
        o.image.affine_transform(x, TURN, "nearest", fill_value=0.5),
        o.image.affine_transform(x, TURN, fill_mode="nearest"),
        o.nn.unfold(o.transpose(x, (0, 3, 1, 2)), (2, 3), 1, (1, 0), 2),
        o.nn.unfold(o.transpose(x, (0, 3, 1, 2)), 2, 2),
    ],
    *((7, 6, 3), (7, 6, 3)),
)
case(
    "rows",
    lambda o, x: [
        o.linspace(x, 2.0, 5),
        o.linspace(x, x * 2, 4, endpoint=False, axis=-1),
        o.logspace(x / 4, 1.0, 3, base=2),
        o.correlate(x[0], x[1, :3]),
        o.correlate(x[0], x[1, :3], "same"),
        o.correlate(x[0], x[1, :4], "full"),
        o.corrcoef(x),
        o.nanmedian(o.sqrt(x), axis=1),
        o.nanquantile(o.log(x + 1), 0.3, axis=1),
        o.nanpercentile(o.sqrt(x), 70, axis=0, keepdims=True),
        o.nanmedian(o.sqrt(x)),
        o.nanmedian(x + HOLES, axis=1),
    ],
    ("whole", 2, 6),
)
