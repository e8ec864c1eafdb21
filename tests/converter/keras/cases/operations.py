"""Functions of keras.ops in a graph of layers, a few in each model."""

from __future__ import annotations

import numpy as np

from .functions import functions
from .registry import FAMILIES, THREE


def operations(name, make, *shapes, dtype=None):
    """Adds a model of Keras 3."""
    functions(name, make, *shapes, versions=THREE, dtype=dtype)
    FAMILIES.setdefault("operations", {})[name] = FAMILIES["functions"].pop(name)


def each(*names, **settings):
    """Outputs of functions of one tensor."""
    return lambda o, x: [getattr(o, name)(x, **settings) for name in names]


BOTH = ((3, 4), (3, 4))
operations(
    "elements",
    lambda o, x: [
        *(getattr(o, n)(x) for n in ("fabs", "cbrt", "sinc", "imag", "i0")),
        *(o.cast(getattr(o, n)(x), "int32") for n in ("isposinf", "isneginf", "isreal", "signbit")),
        o.erfinv(o.tanh(x)),
        o.isin(x, np.float32([0.5, 1.0])),
        o.flipud(x),
        o.fliplr(x),
        o.rot90(x, 3, axes=(1, 2)),
        o.select([x > 1, x > 0], [x * 2, x], -1.0),
    ],
    (3, 4),
)
operations(
    "pairs",
    lambda o, x, y: [
        o.heaviside(x, y),
        o.ldexp(x, o.cast(o.round(y), "int32")),
        o.logaddexp2(x, y),
        o.isclose(x, y, rtol=0.5),
        o.isclose(x, x),
        o.cdist(x, y),
        o.kron(x[0], y[1]),
        o.psnr(x, y, 2.0),
        o.dstack([x, y]),
        o.binary_crossentropy(o.sigmoid(x), o.sigmoid(y)),
        o.binary_crossentropy(o.sigmoid(x), y, from_logits=True),
        o.categorical_crossentropy(o.softmax(x), o.softmax(y)),
        o.categorical_crossentropy(o.softmax(x), y, from_logits=True),
    ],
    *BOTH,
)
operations(
    "integers",
    lambda o, x, y: [
        o.bitwise_not(x),
        o.bitwise_left_shift(x, o.abs(y) % 4),
        o.bitwise_right_shift(x, o.abs(y) % 4),
        o.gcd(x, y),
        o.lcm(x, y),
        *o.unravel_index(o.abs(x[0, 0]) % 12, (3, 4)),
    ],
    *BOTH,
    dtype="int32",
)
NANS = ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nancumsum")
operations(
    "numbers_alone",
    lambda o, x: [
        getattr(o, n)(o.where(x > 0.7, float("nan"), x), axis=1)
        for n in (*NANS, "nancumprod", "nanargmax", "nanargmin")
    ],
    (3, 4),
)
operations(
    "quantiles",
    lambda o, x: [
        o.median(x, axis=1),
        o.median(x, axis=(1, 2), keepdims=True),
        o.quantile(x, 0.3, axis=-1),
        o.quantile(x, [0.1, 0.9], axis=1, keepdims=True),
        o.quantile(x, 0.4, axis=1, method="nearest"),
        o.quantile(x, 0.4, axis=1, method="midpoint"),
        o.ptp(x, axis=1),
        o.cumprod(x, axis=2),
        o.trapezoid(x, dx=0.5, axis=1),
        o.diff(x, n=2, axis=1),
    ],
    (5, 4),
)


def regular(o, x):
    """Matrices that have an inverse, of a tensor of numbers."""
    return o.matmul(x, o.transpose(x, (0, 2, 1))) + np.diag(np.float32([2, 3, 4]))


operations(
    "matrices",
    lambda o, x: [
        o.inv(regular(o, x)),
        o.det(regular(o, x)),
        o.cholesky(regular(o, x)),
        o.cholesky(regular(o, x), upper=True),
        o.logdet(regular(o, x)),
        *o.slogdet(regular(o, x)),
        o.solve(regular(o, x), x),
        o.solve_triangular(o.cholesky(regular(o, x)), x, lower=True),
        o.trace(x, axis1=1, axis2=2),
        o.trace(x, offset=1, axis1=1, axis2=2),
        o.diag(x[0], k=1),
        o.diag(x[0, 0], k=-1),
        o.diagflat(x[0]),
        o.vander(x[0, 0]),
        o.vander(x[0, 0], N=3, increasing=True),
        *o.hsplit(x, 3),
        *o.dsplit(x, [1, 3]),
    ],
    (3, 4),
)
operations(
    "vectors",
    lambda o, x, y: [o.cross(x, y), o.cross(x, y, axisc=1)],
    *((2, 3), (2, 3)),
)
operations(
    "signals",
    lambda o, x, y: [
        *o.fft((x, y)),
        *o.fft2((x, y)),
        *o.ifft2((x, y)),
        *o.rfft(x),
        *o.rfft(x, fft_length=8),
        o.irfft((x, y)),
        o.extract_sequences(x, 3, 2),
    ],
    *((4, 8), (4, 8)),
)
operations(
    "places",
    lambda o, x: [
        o.scatter_update(x[0], np.int32([[0], [2]]), np.ones((2, 4), np.float32)),
        o.slice_update(x, (0, 1, 1), np.ones((1, 2, 2), np.float32)),
        o.segment_sum(x[0], np.int32([0, 1, 0]), num_segments=3),
        o.segment_max(x[0], np.int32([0, 1, 0]), num_segments=2),
        o.searchsorted(np.float32([-1, 0, 1]), x[0, 0]),
        o.searchsorted(np.float32([-1, 0, 0.5, 1]), x[0, 0], side="right"),
        o.in_top_k(np.int32([0, 2, 3]), x[0], 2),
        *o.meshgrid(x[0, 0], x[0, 1, :2]),
        o.sparsemax(x),
        o.sparsemax(x, axis=1),
        o.rearrange(x[0], "(h two) w -> w (two h)", two=3),
        o.batch_normalization(x, np.float32([1, 2, 3, 4]), np.float32([1, 2, 3, 4]), axis=-1,
                              scale=np.float32([2, 1, 1, 1])),
        o.sparse_categorical_crossentropy(np.int32([0, 2, 3]), x[0], from_logits=True),
    ],
    (3, 4),
)  # fmt: skip
operations(
    "pictures",
    lambda o, x: [
        o.image.rgb_to_hsv(o.sigmoid(x)),
        o.image.hsv_to_rgb(o.sigmoid(x)),
        o.image.extract_patches(x, (2, 2)),
        o.image.extract_patches(x, (3, 3), strides=(2, 2), padding="same"),
        o.image.pad_images(x, 1, 2, target_height=10, target_width=12),
        o.image.crop_images(x, 1, 2, 1, 1),
        o.image.gaussian_blur(x, (3, 3), (1.0, 2.0)),
        o.adaptive_average_pool(x, (2, 3)),
        o.adaptive_max_pool(x, (2, 2)),
    ],
    (6, 7, 3),
)
