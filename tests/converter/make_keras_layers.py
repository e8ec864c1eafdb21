"""Writes tests/converter/keras_layers with Keras 3 and tf_keras: small models, a few layers each.

Run as `python tests/converter/make_keras_layers.py [FAMILY ...]` in an environment that has both.
A family's file, whose models have much in common and are therefore packed together, has for each
case "<case>/keras" and "<case>/h5", the files as bytes, and "<case>/in<i>" and "<case>/out<i>".
"""

from __future__ import annotations

import io
import lzma
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tf_keras

HERE = Path(__file__).parent / "keras_layers"
BOTH, THREE, TWO = (2, 3), (3,), (2,)
Case = tuple[tuple[int, ...], Callable[[Any], Any]]
FAMILIES: dict[str, dict[str, Case]] = {}


def case(family: str, versions: tuple[int, ...] = BOTH) -> Callable:
    """Adds a function that makes a model of the Keras it is given."""

    def register(function: Callable) -> Callable:
        FAMILIES.setdefault(family, {})[function.__name__] = versions, function
        return function

    return register


def one(family: str, name: str, make: Callable, *shapes, versions=BOTH, **settings) -> None:
    """Adds a model of one layer: `make(layers)` of inputs of `shapes`."""

    def model(k):
        inputs = [k.Input(shape, **settings) for shape in shapes]
        return k.Model(inputs, make(k.layers)(inputs[0] if len(inputs) == 1 else inputs))

    FAMILIES.setdefault(family, {})[name] = versions, model


SEQUENCE = (5, 4)
for _kind in ("LSTM", "GRU", "SimpleRNN"):
    for _name, _settings in {
        "last": {},
        "all": {"return_sequences": True},
        "back": {"return_sequences": True, "go_backwards": True, "use_bias": False},
        "relu": {"activation": "relu", "return_state": True},
    }.items():
        one(
            *("recurrent", f"{_kind}_{_name}"),
            lambda layers, k=_kind, s=_settings: getattr(layers, k)(3, **s),
            SEQUENCE,
        )
one("recurrent", "GRU_before", lambda layers: layers.GRU(3, reset_after=False), SEQUENCE)
one("recurrent", "GRU_unrolled", lambda layers: layers.GRU(3, unroll=True), SEQUENCE)
one("recurrent", "any_length", lambda layers: layers.LSTM(3, return_sequences=True), (None, 4))
for _mode in ("sum", "mul", "ave", "concat", None):
    one(
        *("recurrent", f"both_{_mode}"),
        lambda layers, m=_mode: layers.Bidirectional(
            layers.GRU(2, return_sequences=True), merge_mode=m
        ),
        SEQUENCE,
    )
one("recurrent", "both_last", lambda layers: layers.Bidirectional(layers.LSTM(2)), SEQUENCE)
one(
    *("recurrent", "both_other"),
    lambda layers: layers.Bidirectional(
        layers.LSTM(2, return_state=True),
        backward_layer=layers.LSTM(3, activation="elu", go_backwards=True, return_state=True),
    ),
    SEQUENCE,
)


@case("recurrent")
def both_masked(k):
    x = k.Input((6,), dtype="int32")
    y = k.layers.Embedding(9, 4, mask_zero=True)(x)
    y = k.layers.Bidirectional(k.layers.GRU(3, return_sequences=True))(y)
    return k.Model(x, [y, k.layers.Bidirectional(k.layers.LSTM(3))(y)])


@case("recurrent")
def masked(k):
    layers = k.layers
    x = k.Input((6,), dtype="int32")
    y = layers.Embedding(9, 4, mask_zero=True)(x)
    y = layers.Dropout(0.5)(layers.LSTM(3, return_sequences=True)(y))
    y = layers.GRU(3, return_sequences=True, return_state=True)(y)[0]
    y = layers.TimeDistributed(layers.Dense(4))(y)
    return k.Model(x, [layers.SimpleRNN(3)(y), layers.GlobalAveragePooling1D()(y)])


@case("recurrent")
def masked_chain(k):
    layers = k.layers
    chain = [k.Input((6, 4)), layers.Masking(0.5), layers.LSTM(3, return_sequences=True)]
    return k.Sequential([*chain, layers.BatchNormalization(), layers.LSTM(2), layers.Dense(2)])


@case("recurrent")
def states(k):
    layers = k.layers
    x, start = k.Input(SEQUENCE), k.Input((3,))
    y, h, c = layers.LSTM(3, return_state=True)(x, initial_state=[start, start])
    z = layers.LSTM(3, return_sequences=True)(x, initial_state=[h, c])
    both = layers.Bidirectional(layers.GRU(3, return_state=True))(x, initial_state=[h, c])
    return k.Model([x, start], [y, z, *both])


@case("recurrent")
def stacks(k):
    layers = k.layers
    x = k.Input(SEQUENCE)
    cells = [layers.LSTMCell(3), layers.GRUCell(2), layers.LSTMCell(4)]
    y = layers.RNN(cells, return_sequences=True, return_state=True)(x)
    return k.Model(x, [*y, layers.RNN(layers.SimpleRNNCell(3))(y[0])])


for _n, _shape in ((1, (4, 6, 2)), (2, (3, 5, 4, 2)), (3, (2, 3, 4, 3, 2))):
    one(
        *("recurrent", f"ConvLSTM{_n}D"),
        lambda layers, n=_n: getattr(layers, f"ConvLSTM{n}D")(
            2, 3, padding="same", return_sequences=True
        ),
        _shape,
    )
one(
    *("recurrent", "ConvLSTM2D_valid"),
    lambda layers: layers.ConvLSTM2D(2, 3, strides=2, recurrent_activation="hard_sigmoid"),
    (3, 7, 8, 2),
)
one(
    "recurrent",
    "timed_conv",
    lambda layers: layers.TimeDistributed(layers.Conv2D(2, 3)),
    (3, 5, 4, 2),
)


@case("recurrent")
def timed_model(k):
    inner = k.Sequential([k.Input((4, 2)), k.layers.Flatten(), k.layers.Dense(3)])
    x = k.Input((3, 4, 2))
    return k.Model(x, k.layers.TimeDistributed(inner)(x))


def heads(k, mask: bool, **settings):
    """Two attentions, the second of other keys, over sequences that may have masks."""
    layers = k.layers
    x, z = k.Input((6,), dtype="int32"), k.Input((4, 5))
    y = layers.Embedding(9, 6, mask_zero=mask)(x)
    y = layers.MultiHeadAttention(2, 3, **settings)(y, y, use_causal_mask=True)
    return k.Model([x, z], layers.MultiHeadAttention(2, 3, value_dim=4, output_shape=7)(y, z))


@case("attention")
def causal_heads(k):
    return heads(k, False, use_bias=False)


@case("attention")
def masked_heads(k):
    return heads(k, True)


@case("attention")
def scores(k):
    x, mask = k.Input((5, 6)), k.Input((5, 5), dtype="bool")
    heads = k.layers.MultiHeadAttention(2, 3)
    return k.Model([x, mask], heads(x, x, attention_mask=mask, return_attention_scores=True))


@case("attention")
def heads_of_rows(k):
    x = k.Input((3, 5, 6))
    return k.Model(x, k.layers.MultiHeadAttention(2, 3, attention_axes=(2,))(x, x))


@case("attention", THREE)
def grouped(k):
    x = k.Input((5, 8))
    heads = k.layers.GroupQueryAttention(4, 4, 2)
    return k.Model(x, heads(x, x, use_causal_mask=True))


@case("attention")
def luong(k):
    layers = k.layers
    q, v = k.Input((4,), dtype="int32"), k.Input((6,), dtype="int32")
    embedding = layers.Embedding(9, 5, mask_zero=True)
    queries, values = embedding(q), embedding(v)
    results = [layers.Attention(use_scale=True)([queries, values], use_causal_mask=True)]
    results.append(layers.Attention(score_mode="concat")([queries, values, values]))
    return k.Model([q, v], [*results, layers.AdditiveAttention()([queries, values])])


for _equation, _settings, _shape in (
    ("abc,cde->abde", {"output_shape": (None, 3, 4), "bias_axes": "de"}, (5, 6)),
    ("...x,xy->...y", {"output_shape": 3, "bias_axes": "y", "activation": "relu"}, (4, 6)),
    ("abc,cd->abd", {"output_shape": (None, 3)}, (5, 6)),
    ("ab...,bc->ac...", {"output_shape": (3, None), "bias_axes": "c"}, (4, 6)),
):
    one(
        "attention",
        _equation,
        lambda layers, e=_equation, s=_settings: layers.EinsumDense(e, **s),
        _shape,
    )

IMAGE, VOLUME = (6, 7, 4), (4, 5, 3, 2)
one(
    "convolution", "Conv1DTranspose", lambda layers: layers.Conv1DTranspose(3, 4, strides=2), (5, 4)
)
one(
    *("convolution", "Conv1DTranspose_same"),
    lambda layers: layers.Conv1DTranspose(3, 3, strides=3, padding="same", use_bias=False),
    (5, 4),
)
one(
    "convolution",
    "Conv2DTranspose",
    lambda layers: layers.Conv2DTranspose(3, 3, 2, output_padding=1),
    IMAGE,
)
one(
    *("convolution", "Conv2DTranspose_any"),
    lambda layers: layers.Conv2DTranspose(3, 3, 2, padding="same"),
    (None, None, 4),
)
one(
    "convolution",
    "Conv3D",
    lambda layers: layers.Conv3D(3, 3, strides=2, activation="relu"),
    VOLUME,
)
one(
    "convolution",
    "Conv3DTranspose",
    lambda layers: layers.Conv3DTranspose(3, 2, 2, padding="same"),
    VOLUME,
)
one(
    "convolution",
    "Separable",
    lambda layers: layers.SeparableConv2D(3, 3, 2, padding="same"),
    IMAGE,
)
one(
    "convolution",
    "Depthwise1D",
    lambda layers: layers.DepthwiseConv1D(3, 2, depth_multiplier=2),
    (8, 4),
)
for _pool in ("Max", "Average"):
    one(
        *("convolution", f"{_pool}3D"),
        lambda layers, p=_pool: getattr(layers, f"{p}Pooling3D")(2, 1, padding="same"),
        VOLUME,
    )
    for _n, _shape in ((1, (7, 4)), (2, IMAGE), (3, VOLUME)):
        one(
            *("convolution", f"{_pool}{_n}D_all"),
            lambda layers, p=_pool, n=_n: getattr(layers, f"Global{p}Pooling{n}D")(keepdims=n == 2),
            _shape,
        )
        one(
            *("convolution", f"{_pool}{_n}D_adaptive"),
            lambda layers, p=_pool, n=_n: getattr(layers, f"Adaptive{p}Pooling{n}D")(
                2 if n > 1 else 3
            ),
            _shape,
            versions=THREE,
        )
one("convolution", "UpSampling3D", lambda layers: layers.UpSampling3D((2, 1, 3)), (2, 3, 2, 2))
one("convolution", "UpSampling2D_any", lambda layers: layers.UpSampling2D((2, 3)), (None, None, 2))
one(
    *("convolution", "UpSampling2D_linear"),
    lambda layers: layers.UpSampling2D(2, interpolation="bilinear"),
    (None, None, 2),
)
one("convolution", "UpSampling1D_any", lambda layers: layers.UpSampling1D(3), (None, 2))
one("convolution", "Cropping3D", lambda layers: layers.Cropping3D(((1, 0), (2, 1), (0, 1))), VOLUME)
one("convolution", "ZeroPadding3D", lambda layers: layers.ZeroPadding3D((1, 0, 2)), VOLUME)

for _name, _make, _versions in (
    ("Group", lambda layers: layers.GroupNormalization(2), BOTH),
    ("Group_first", lambda layers: layers.GroupNormalization(6, axis=1, scale=False), BOTH),
    ("Group_each", lambda layers: layers.GroupNormalization(-1), BOTH),
    ("Unit", lambda layers: layers.UnitNormalization(axis=(1, 2)), BOTH),
    ("RMS", lambda layers: layers.RMSNormalization(axis=(2, 3)), THREE),
    ("Layer", lambda layers: layers.LayerNormalization(axis=(1, 2), center=False), BOTH),
    ("Batch_all", lambda layers: layers.BatchNormalization(axis=1), BOTH),
    ("Spectral", lambda layers: layers.SpectralNormalization(layers.Conv2D(3, 2)), THREE),
    (
        "Normalization",
        lambda layers: layers.Normalization(mean=(1, 2, 3, 4), variance=(1, 4, 0, 2)),
        BOTH,
    ),
    ("Normalization_of", lambda layers: layers.Normalization(axis=-1), BOTH),
    ("Normalization_back", lambda layers: layers.Normalization(axis=None, invert=True), BOTH),
    ("Softmax", lambda layers: layers.Softmax(axis=(1, 2)), BOTH),
    ("Thresholded", lambda layers: layers.ThresholdedReLU(0.3), TWO),
    ("PReLU", lambda layers: layers.PReLU(shared_axes=(1, 2)), BOTH),
):
    one("norm", _name, _make, IMAGE, versions=_versions)


@case("norm")
def soft_masked(k):
    x, mask = k.Input((4, 5)), k.Input((4, 5), dtype="bool")
    return k.Model([x, mask], k.layers.Softmax()(x, mask=mask))


@case("norm", THREE)
def embedded_and_back(k):
    x = k.Input((4,), dtype="int32")
    outputs = []
    for tied in (True, False):
        embedding = k.layers.ReversibleEmbedding(7, 3, tie_weights=tied)
        outputs.append(embedding(embedding(x), reverse=True))
    return k.Model(x, outputs)


@case("norm")
def activations(k):
    names = ["gelu", "mish", "hard_sigmoid", "selu", "softsign", "exponential"]
    if k is keras:
        names += ["celu", "glu", "hard_shrink", "hard_tanh", "log_sigmoid", "log_softmax"]
        names += ["soft_shrink", "sparse_plus", "squareplus", "tanh_shrink", "sparse_sigmoid"]
    x = k.Input((6,))
    return k.Model(x, [k.layers.Activation(name)(x) for name in names])


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
    one("preprocess", _name, _make, _shape, **_settings)


def functions(name: str, make: Callable, *shapes, versions=BOTH, dtype=None) -> None:
    """Adds a model whose outputs `make(ops, *inputs)` gives; ops is keras.ops or tensorflow."""

    def model(k):
        import tensorflow

        inputs = [k.Input(shape, dtype=dtype) for shape in shapes]
        return k.Model(inputs, make(keras.ops if k is keras else tensorflow, *inputs))

    FAMILIES.setdefault("functions", {})[name] = versions, model


functions(
    "arithmetic",
    lambda o, x, y: [x + y, 2 - x, x * 2.5, y / x, 1 / x, -x, x**2, abs(x), x // 2, x % 2],
    *((3, 4), (3, 4)),
)
functions(
    "comparison",
    lambda o, x, y: [
        o.where(x > y, x, 0.0),
        o.where(x < 0.5, 1.0, y),
        o.cast(x >= y, "int32"),
        o.cast(x <= y, "int64"),
    ],
    *((3, 4), (3, 4)),
)
functions(
    "slices",
    lambda o, x: [x[:, 1], x[:, -2:], x[..., 0], x[:, ::2, 1:3], x[:, None], x[:, -1, :2]],
    (4, 5),
)
functions(
    "real",
    lambda o, x: [
        getattr(o, n)(x)
        for n in (
            *("sqrt", "exp", "log", "log1p", "expm1", "sin", "cos", "tanh", "sigmoid", "rsqrt"),
            *("floor", "ceil", "round", "square", "sign", "erf", "abs", "relu", "softplus", "silu"),
        )
    ],
    (3, 4),
    versions=THREE,
)
functions(
    "real2",
    lambda o, x: [
        *(getattr(o.math, n)(x) for n in ("sqrt", "exp", "log", "sin", "tanh", "sigmoid", "abs")),
        *(getattr(o.nn, n)(x) for n in ("relu", "silu", "softmax", "gelu", "leaky_relu")),
        o.clip_by_value(x, -0.5, 0.5),
    ],
    (3, 4),
    versions=TWO,
)
functions(
    "reductions",
    lambda o, x: [
        *(getattr(o, n)(x, axis=1) for n in ("mean", "sum", "max", "min", "prod", "var", "std")),
        o.mean(x),
        o.sum(x, axis=(1, 2), keepdims=True),
        o.argmax(x, axis=-1),
        o.argmin(x, axis=1),
        o.any(x > 1, axis=2),
        o.all(x > -2, axis=1),
        o.logsumexp(x, axis=-1),
        o.norm(x, axis=-1),
        o.cumsum(x, axis=1),
        o.sort(x, axis=-1),
        o.argsort(x, axis=1),
        *o.top_k(x, 2),
        o.count_nonzero(x, 1),
    ],
    (3, 4),
    versions=THREE,
)
functions(
    "reductions2",
    lambda o, x: [
        o.reduce_mean(x, axis=1),
        o.reduce_sum(x, [1, 2], True),
        o.reduce_max(x, -1),
        o.argmax(x, -1),
        o.math.l2_normalize(x, axis=-1),
        o.cumsum(x, axis=1),
        o.norm(x, axis=-1),
        *o.math.top_k(x, 2),
        o.math.reduce_std(x, 1),
        o.reduce_logsumexp(x, 1),
    ],
    (3, 4),
    versions=TWO,
)
functions(
    "moving",
    lambda o, x, y: [
        o.reshape(x, (-1, 6)),
        o.transpose(x, (0, 2, 1)),
        o.concatenate([x, y], axis=1),
        o.stack([x, y], 1),
        o.expand_dims(x, (1, -1)),
        o.squeeze(o.expand_dims(x, 1), 1),
        o.tile(x, (1, 2, 1)),
        o.repeat(x, 2, axis=1),
        o.flip(x, axis=1),
        o.roll(x, 1, axis=2),
        o.pad(x, ((0, 0), (1, 2), (0, 1))),
        *o.split(x, 2, axis=2),
        *o.split(x, [1, 3], axis=2),
        o.swapaxes(x, 1, 2),
        o.moveaxis(x, 2, 1),
        o.take(x, [2, 0, -1], axis=1),
        o.tril(x),
        o.triu(x, 1),
        *o.unstack(x, axis=1),
        o.zeros_like(x),
        o.full_like(x, 2.5),
        o.pad(x, ((0, 0), (1, 1), (0, 1)), mode="reflect"),
    ],
    *((3, 4), (3, 4)),
    versions=THREE,
)
functions(
    "moving2",
    lambda o, x, y: [
        o.reshape(x, (-1, 6)),
        o.transpose(x, (0, 2, 1)),
        o.concat([x, y], axis=1),
        o.stack([x, y], axis=1),
        o.expand_dims(x, 1),
        o.squeeze(o.expand_dims(x, 1), 1),
        o.tile(x, (1, 2, 1)),
        o.reverse(x, [1]),
        o.pad(x, ((0, 0), (1, 2), (0, 1))),
        *o.split(x, 2, axis=2),
        o.gather(x, [2, 0], axis=1),
        o.zeros_like(x),
        o.one_hot(o.cast(x, "int32"), 3),
        o.repeat(x, 2, axis=1),
        o.reshape(x, [o.shape(x)[0], 12]),
    ],
    *((3, 4), (3, 4)),
    versions=TWO,
)
functions(
    "products",
    lambda o, x, y: [
        o.matmul(x, o.transpose(y, (0, 2, 1))),
        o.einsum("abc,adc->abd", x, y),
        o.einsum("abc->acb", x),
        o.tensordot(x, y, axes=[[2], [2]])[:, :, 0, 0],
    ],
    *((3, 4), (3, 4)),
    versions=THREE,
)
functions(
    "products2",
    lambda o, x, y: [
        o.matmul(x, y, transpose_b=True),
        o.linalg.matmul(x, y, True),
    ],
    *((3, 4), (3, 4)),
    versions=TWO,
)
functions(
    "neural",
    lambda o, x: [
        o.gelu(x),
        o.gelu(x, approximate=False),
        o.leaky_relu(x),
        o.elu(x, 0.5),
        o.softmax(x, axis=1),
        o.log_softmax(x, axis=1),
        o.hard_sigmoid(x),
        o.celu(x),
        o.glu(x),
        o.normalize(x, axis=-1),
        o.selu(x),
        *o.moments(x, axes=[1, 2]),
        o.one_hot(o.cast(o.abs(x), "int32"), 3),
        o.clip(x, -0.5, 0.5),
        o.max_pool(x, 2, padding="same"),
        o.average_pool(x, 2),
        o.image.resize(x, (3, 5)),
        o.relu6(x * 5),
    ],
    (4, 6, 4),
    versions=THREE,
)
functions(
    "integers",
    lambda o, x: [
        x + 1,
        x * 2.5,
        x / 2,
        x // 2,
        x % 3,
        o.maximum(x, 3),
        o.cast(x, "float32"),
        o.sum(x, 1),
    ],
    (4,),
    versions=THREE,
    dtype="int32",
)


def coarse(values: np.ndarray) -> np.ndarray:
    """Numbers that take little room when they are packed."""
    return (np.round(values * 64) / 64).astype(np.float32)


def randomly(model, rng: np.random.Generator) -> None:
    """Gives a model's layers weights."""
    for weight in model.weights:
        if "float" not in str(weight.dtype) or "count" in weight.name:
            continue
        value = coarse(rng.normal(0, 0.4, weight.shape))
        weight.assign(np.abs(value) + 0.5 if "variance" in weight.name else value)
    for layer in model.layers:
        if type(layer).__name__ == "Normalization":
            layer.finalize_state()


def inputs_of(model, rng: np.random.Generator) -> list[np.ndarray]:
    """Random inputs; a few numbers are 0.5 and some integers 0, to be masked."""
    inputs = []
    for x in model.inputs:
        shape = [
            (2 if len(x.shape) < 4 else 1) if i == 0 else n or 5 for i, n in enumerate(x.shape)
        ]
        name = x.dtype if isinstance(x.dtype, str) else x.dtype.name
        if "bool" in name:
            inputs.append(rng.integers(0, 2, shape).astype(bool))
            inputs[-1][..., 0] = True
        elif "int" in name:
            inputs.append(rng.integers(0, 7, shape).astype(name))
            inputs[-1][0, -1], inputs[-1][0, 1 % shape[1]] = 0, 0
        else:
            inputs.append(coarse(rng.normal(size=shape)).astype(name))
            inputs[-1][0, -1] = 0.5
    return inputs


def flat(outputs) -> list:
    """What nested lists hold."""
    if not isinstance(outputs, list | tuple):
        return [outputs]
    return [y for item in outputs for y in flat(item)]


def recorded(model, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The files of a model and what it gives."""
    randomly(model, rng)
    inputs = inputs_of(model, rng)
    outputs = model(inputs if len(inputs) > 1 else inputs[0], training=False)
    outputs = flat(outputs)
    arrays = {f"in{i}": x for i, x in enumerate(inputs)}
    arrays |= {f"out{i}": np.asarray(y) for i, y in enumerate(outputs)}
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("keras", "h5"):
            path = Path(folder) / f"m.{suffix}"
            try:
                model.save(path)
            except (TypeError, ValueError, NotImplementedError) as error:
                print(f"  not written as {suffix}: {str(error)[:90]}")
                continue
            arrays[suffix] = np.frombuffer(unpacked(path.read_bytes()), np.uint8)
    return arrays


def unpacked(content: bytes) -> bytes:
    """A file as it is stored; the members of an archive are packed by the .npz it lies in."""
    if not content.startswith(b"PK"):
        return content
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(result, "w") as new:
        for name in ("metadata.json", "config.json", "model.weights.h5"):
            new.writestr(name, old.read(name))
    return result.getvalue()


def main(names: list[str]) -> None:
    HERE.mkdir(exist_ok=True)
    for family, cases in FAMILIES.items():
        if names and family not in names:
            continue
        for version, k in ((3, keras), (2, tf_keras)):
            arrays = {}
            for name, (versions, make) in cases.items():
                if version in versions:
                    print(family, version, name)
                    k.backend.clear_session()
                    arrays_of_case = recorded(make(k), np.random.default_rng(0))
                    arrays |= {f"{name}/{key}": value for key, value in arrays_of_case.items()}
            packed = io.BytesIO()
            np.savez(packed, **arrays)
            name = HERE / f"{family}_keras{version}.npz.xz"
            name.write_bytes(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main(sys.argv[1:])
