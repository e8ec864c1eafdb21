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
FIRST = {"data_format": "channels_first"}
operations(
    "channels_first",
    lambda o, x: [
        o.average_pool(x, 2, **FIRST),
        o.max_pool(x, (2, 3), strides=1, padding="same", **FIRST),
        o.conv(x, rows(3, 2, 4, 5), strides=(1, 2), **FIRST),
        o.depthwise_conv(x, rows(3, 3, 4, 1), **FIRST),
        o.separable_conv(x, rows(2, 2, 4, 1), rows(1, 1, 4, 3), **FIRST),
        o.depth_to_space(x, 2, **FIRST),
        o.space_to_depth(x, 2, **FIRST),
        o.adaptive_average_pool(x, (2, 3), **FIRST),
        o.adaptive_max_pool(x, (3, 2), **FIRST),
        o.image.extract_patches(x, (2, 2), **FIRST),
        o.image.gaussian_blur(x, **FIRST),
        o.image.pad_images(x, 1, 2, 3, 1, **FIRST),
        o.image.crop_images(x, 1, 2, 1, 1, **FIRST),
        o.image.resize(x, (5, 7), **FIRST),
        o.image.sobel_edges(x, **FIRST),
        o.image.rgb_to_hsv(o.sigmoid(x[:, :3]), **FIRST),
        o.image.hsv_to_rgb(o.sigmoid(x[0, :3]), **FIRST),
    ],
    (4, 6, 8),
)


def rows(*shape):
    """Numbers of a kernel."""
    return (np.arange(np.prod(shape)).reshape(shape) % 7 - 3).astype(np.float32) / 4


operations(
    "sequences",
    lambda o, x: [
        o.average_pool(x, 2),
        o.max_pool(x, 3, strides=1, padding="same"),
        o.average_pool(x, 2, **FIRST),
        o.conv(x, rows(3, 4, 5)),
        o.conv(x, rows(2, 4, 5), strides=2, padding="same"),
        o.conv(x, rows(2, 4, 5), dilation_rate=2),
        o.depthwise_conv(x, rows(3, 4, 2)),
        o.separable_conv(x, rows(3, 4, 2), rows(1, 8, 3)),
    ],
    (8, 4),
)
operations(
    "norms",
    lambda o, x: [
        *(o.norm(x, ord=p, axis=1) for p in (1, 0, 3, np.inf, -np.inf)),
        *(o.norm(x, ord=p, axis=(1, 2)) for p in (1, -1, np.inf, "fro")),
        o.norm(x, ord=-np.inf, axis=(1, 2), keepdims=True),
        o.normalize(x, order=3),
        o.normalize(x, axis=1, order=1),
        o.argmax(x, keepdims=True),
        o.argsort(x, axis=None),
        o.average(x, axis=-1, weights=np.float32([1, 2, 3, 4])),
        o.categorical_crossentropy(o.softmax(x, 1), x, from_logits=True, axis=1),
        o.cross(x[:, :, :3], x[:, :, 1:3]),
        o.cross(x[:, :, :2], x[:, :, 2:]),
        *o.array_split(x, 3, axis=2),
    ],
    (3, 4),
)
operations(
    "conversions",
    lambda o, x: [
        o.round(x, 1),
        o.round(x * 100, decimals=-1),
        o.convert_to_tensor(x, dtype="int32"),
        o.array(x, "int32"),
        o.full_like(x, 2.5, dtype="int32"),
        o.zeros_like(x, dtype="int32"),
        o.ones_like(x, "bool"),
        o.logical_and(x, o.round(x)),
        o.logical_or(o.round(x), o.floor(x)),
        o.logical_not(o.round(x)),
        o.saturate_cast(x * 300, "uint8"),
    ],
    (3, 4),
)
operations(
    "conversions_of_integers",
    lambda o, x: [
        o.round(x),
        o.round(x * 7, -1),
        o.trunc(x),
        o.arctan2(x, x - 3),
        o.full_like(x, 2.5),
        o.ones_like(x, dtype="float32"),
        o.saturate_cast(x * 300, "uint8"),
        o.saturate_cast(x - 200, "int8"),
        o.logical_not(x),
        (x > 2) + 1,
        o.max(x > 2, axis=1),
        o.min(x > 2, axis=1),
        o.sort(x > 2),
        o.max(x, axis=1, initial=4),
        o.min(x, axis=1, initial=4),
        o.sum(o.cast(x, "int16"), axis=1),
        o.sum(o.cast(x, "uint8") * 60, axis=1),
        o.nan_to_num(x),
        o.multi_hot(x, 9, dtype="int32"),
        o.divide(x > 2, 2),
        o.cumprod(x > 2, axis=1),
    ],
    (3, 4),
    dtype="int32",
)
operations(
    "masked_attention",
    lambda o, x, y: o.dot_product_attention(x, y, y, mask=np.tril(np.ones((1, 2, 4, 4), bool))),
    *((4, 2, 3), (4, 2, 3)),
)
operations(
    "infinities",
    lambda o, x: [
        o.isposinf(o.exp(x * 90)),
        o.isneginf(-o.exp(x * 90)),
        o.nan_to_num(-o.exp(x * 90)),
        o.nan_to_num(o.log(x), nan=2.0, posinf=5.0, neginf=-3.0),
        o.logaddexp(x * 100, 1.0),
        o.logaddexp2(x * 200, x),
    ],
    (8, 4),
)
operations(
    "elements_in_order",
    lambda o, x: [
        o.softmax(x, axis=None),
        o.take_along_axis(x, o.argsort(x, axis=1), axis=1),
        o.take_along_axis(x, np.int32([[[0], [1], [-1]]]), axis=2),
        o.take_along_axis(x, np.int32([[[0, 1, -1, 1]]]), axis=1),
        o.repeat(x, [1, 0, 2], axis=1),
        o.roll(x, 2),
        o.linspace(0, x, 4, axis=1),
        o.linspace(o.floor(x), 9.0, 3, dtype="int32"),
        o.geomspace(1.0, o.exp(x), 4, axis=-1),
        o.segment_sum(x[0], np.int32([0, 1, 1])),
        o.percentile(x, [25, 80], axis=-1, method="nearest"),
        o.percentile(x, 30, axis=1, method="midpoint"),
        o.percentile(x, 30, axis=1, method="lower"),
    ],
    (3, 4),
)
operations(
    "complex_numbers",
    lambda o, x, y: [
        o.real(o.polar(o.abs(x), y)),
        o.imag(o.polar(o.abs(x), y)),
        o.abs(o.polar(o.abs(x), y)),
        o.angle(o.polar(o.abs(x), y)),
        o.imag(o.conj(o.polar(o.abs(x), y))),
        o.isreal(o.polar(o.abs(x), o.zeros_like(y))),
    ],
    *BOTH,
)
POINTS = np.float32([[[0, 0], [7, 0], [0, 7], [7, 7]], [[1, 0], [6, 1], [0, 7], [7, 6]]])
operations(
    "places_between",
    lambda o, x, y: [
        *(
            o.image.map_coordinates(x[0, :, :, 0], y[0] * 6, order=i % 2, fill_mode=mode)
            for i, mode in enumerate(("nearest", "reflect", "wrap", "constant"))
        ),
        o.image.map_coordinates(x[0, :, :, 0], y[0] * 2, 1, "mirror"),
        o.image.perspective_transform(x, POINTS[:1], POINTS[1:], fill_value=0.5),
        *(
            o.image.affine_transform(
                x, np.float32([[1.1, 0.3, -2, -0.2, 0.9, 3.1, 0, 0]]), fill_mode=mode
            )
            for mode in ("reflect", "wrap")
        ),
        o.image.scale_and_translate(x, (1, 12, 9, 2), *SCALED, (1, 2), "linear"),
        o.image.scale_and_translate(x, (1, 5, 6, 2), *SHRUNK, (1, 2), "cubic"),
        o.image.scale_and_translate(x, (1, 5, 6, 2), *SHRUNK, (1, 2), "lanczos3", antialias=False),
        o.image.resize(x, (5, 7), crop_to_aspect_ratio=True),
        o.image.resize(x, (5, 7), pad_to_aspect_ratio=True, fill_value=0.5),
    ],
    *((8, 8, 2), (2, 5)),
)
SCALED = np.float32([1.5, 1.2]), np.float32([1, -0.5])
SHRUNK = np.float32([0.6, 0.7]), np.float32([0, 0.5])
operations(
    "volumes",
    lambda o, x: [
        o.image.extract_patches_3d(x, 2),
        o.image.extract_patches_3d(x, (2, 3, 2), strides=1, padding="same"),
    ],
    (3, 4, 4, 2),
)
operations(
    "products",
    lambda o, x: [
        o.matmul(x, x),
        o.matmul(x, np.int32([[1, 2], [3, 4], [5, 6]])),
        o.matmul(o.transpose(x, (0, 2, 1)), x),
        o.dot(x, np.int32([1, -2, 3])),
        o.einsum("bij,bkj->bik", x, x),
        o.einsum("bii->b", o.cast(x, "float32")),
        o.einsum("bii->bi", x),
        o.einsum("bij,bjk,bkl->bil", *(o.cast(x, "float32") / 4,) * 3),
    ],
    (3, 3),
    dtype="int32",
)
