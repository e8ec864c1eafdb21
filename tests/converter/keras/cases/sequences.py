"""Functions of keras.ops that count, decode, join and look at bits; dilated transposed layers."""

from __future__ import annotations

import numpy as np
from keras.src import backend
from keras.src.ops.nn import ConvTranspose

from .registry import BOTH, FAMILIES, IMAGE, THREE, TWO, single


def sequences(name, make, *shapes, dtype=None, batch=None):
    """Adds a model of Keras 3, of whole inputs where `batch` says how many there are."""

    def model(k):
        inputs = [k.Input(shape, dtype=dtype, batch_size=batch) for shape in shapes]
        return k.Model(inputs, make(k.ops, *inputs))

    FAMILIES.setdefault("sequences", {})[name] = THREE, model


single(
    *("transposed", "valid"),
    lambda layers: layers.Conv2DTranspose(3, (3, 2), dilation_rate=2),
    IMAGE,
    versions=TWO,
)
single(
    *("transposed", "same"),
    lambda layers: layers.Conv2DTranspose(3, 3, padding="same", dilation_rate=3),
    IMAGE,
    versions=TWO,
)
single(
    *("transposed", "any"),
    lambda layers: layers.Conv2DTranspose(2, 3, dilation_rate=2, use_bias=False),
    (None, None, 4),
    versions=TWO,
)
single(
    "transposed", "strided", lambda layers: layers.Conv2DTranspose(3, 2, 2), IMAGE, versions=BOTH
)


def conv_transpose(self, inputs, kernel):
    """What Keras 3.15's own method means: that one passes two settings in each other's place."""
    settings = {
        name: getattr(self, name)
        for name in ("strides", "padding", "output_padding", "data_format", "dilation_rate")
    }
    return backend.nn.conv_transpose(inputs, kernel, **settings)


ConvTranspose.call = conv_transpose
KERNEL = np.linspace(-1, 1, 3 * 2 * 5 * 4).reshape(3, 2, 5, 4).astype(np.float32)
sequences(
    "conv_transpose",
    lambda o, x: [
        o.conv_transpose(x, KERNEL, 2),
        o.conv_transpose(x, KERNEL, (1, 2), padding="same"),
        o.conv_transpose(x, KERNEL, 3, output_padding=(1, 2)),
        o.conv_transpose(x[:, 0], KERNEL[0], 2),
    ],
    IMAGE,
)
sequences(
    "numbers",
    lambda o, x: [
        o.view(x, "int32"),
        o.view(x, "uint8"),
        o.nextafter(x, x + 1),
        o.nextafter(x, -1.0),
        o.full((2, 3), x[0, 0, 0]),
        o.geomspace(x[0, 0] * 0 + 2, x[0, 1] ** 2 + 1, 5),
        o.geomspace(o.abs(x[0]) + 1, 100.0, 4, endpoint=False),
        o.view_as_real(o.polar(x, x * 2)),
    ],
    (3, 4),
)
sequences(
    "counts",
    lambda o, x: [
        o.bincount(x),
        o.bincount(x[0], minlength=12),
        o.unique(x[0]),
        *o.unique(x, return_index=True, return_inverse=True, return_counts=True),
        *o.unique(x, return_counts=True, size=9, fill_value=-3),
        *o.unique(x, sorted=False, return_inverse=True, size=3),
    ],
    (6,),
    dtype="int32",
    batch=2,
)
sequences(
    "decoded",
    lambda o, x: [
        *o.ctc_decode(x, np.int32([7, 4])),
        *o.ctc_decode(x, np.int32([5, 7]), merge_repeated=False, mask_index=2),
    ],
    (7, 4),
    batch=2,
)
sequences(
    "joined",
    lambda o, x, y: [
        o.fold(x, (5, 6), (2, 3)),
        o.fold(x[:, :, :4], (7, 5), (2, 3), dilation=2, padding=1, stride=(2, 3)),
        o.istft((y, y * 0.5), 6, 2, 8),
        o.istft((y, y * 0.5), 8, 4, 8, length=13, window=None),
        o.istft((y, y), 8, 4, 8, window="hamming", center=False),
    ],
    (12, 16),
    (5, 5),
)
