"""The networks that are measured, as tf_keras models with seeded weights, and their inputs.

Imported only where TensorFlow is, see build.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np
import tensorflow as tf
import tf_keras as keras

layers = keras.layers


@dataclass(frozen=True)
class Network:
    """How to make one network, and what it reads: one function per input, `f(rng, shape)`."""

    build: Callable[[], keras.Model]
    inputs: tuple[Callable[[np.random.Generator, tuple[int, ...]], np.ndarray], ...]

    def samples(self, model: keras.Model, count: int) -> list[list[np.ndarray]]:
        """`count` seeded samples, each one array per input with batch 1."""
        rng = np.random.default_rng(2)
        shapes = [(1, *tensor.shape[1:]) for tensor in model.inputs]
        return [[f(rng, s) for f, s in zip(self.inputs, shapes, strict=True)] for _ in range(count)]


def smooth(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Blobs of three sizes in [-1, 1]: as in a picture, neighbours are alike, places differ."""
    total = np.zeros(shape, np.float32)
    for cells in (4, 16, 64):
        coarse = rng.normal(size=[min(cells, n) for n in shape[1:-1]] + [shape[-1]])
        for axis, size in enumerate(shape[1:-1]):
            positions = np.linspace(0, coarse.shape[axis] - 1, size)
            below = np.minimum(positions.astype(int), coarse.shape[axis] - 1)
            above = np.minimum(below + 1, coarse.shape[axis] - 1)
            part = (positions - below).reshape([-1 if a == axis else 1 for a in range(coarse.ndim)])
            coarse = coarse.take(below, axis) * (1 - part) + coarse.take(above, axis) * part
        total += coarse.astype(np.float32)
    return np.tanh(total / 2)


def noise(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Normal noise."""
    return rng.normal(size=shape).astype(np.float32)


def tokens(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Token numbers of the transformer's vocabulary."""
    return rng.integers(0, VOCABULARY, shape, dtype=np.int32)


def seeded(network: Network) -> keras.Model:
    """The network with seeded weights and batch norms that fit them: no layer is constant."""
    model = network.build()
    rng = np.random.default_rng(1)
    kernels = [w for w in model.weights if "kernel" in w.name]
    for weight in model.weights:
        weight.assign(_weight(rng, weight))
    if kernels and kernels[-1].shape[-1] >= 10:  # a classifier's logits: spread them
        kernels[-1].assign(4 * kernels[-1])
    norms = [one for one in model.layers if isinstance(one, layers.BatchNormalization)]
    if norms:
        for norm in norms:
            norm.momentum = 0.0
        samples = network.samples(model, 8)
        model([np.concatenate(arrays) for arrays in zip(*samples, strict=True)], training=True)
    return model


def _weight(rng: np.random.Generator, weight: tf.Variable) -> np.ndarray:
    shape, name = tuple(weight.shape), weight.name.split("/")[-1].split(":")[0]
    normal = rng.normal(size=shape)
    if name in ("gamma", "moving_variance"):
        return 1 + 0.1 * normal if name == "gamma" else np.ones(shape)
    if name == "embeddings":
        return normal
    if "kernel" not in name:
        return np.zeros(shape) if name == "moving_mean" else 0.1 * normal
    if name == "depthwise_kernel":
        terms = shape[0] * shape[1]
    elif "transpose" in weight.name:
        terms = shape[-1]
    elif len(shape) == 3 and "attention_output" not in weight.name:
        terms = shape[0]
    else:
        terms = prod(shape[:-1])
    return normal * np.sqrt((2 if len(shape) == 4 else 1) / terms)


def _norm_relu6(x):
    return layers.ReLU(6.0)(layers.BatchNormalization()(x))


def efficientnet_lite0() -> keras.Model:
    """EfficientNet-Lite0: B0 without squeeze-and-excite, with RELU6, stem and head not scaled."""
    image = keras.Input((224, 224, 3))
    x = _norm_relu6(layers.Conv2D(32, 3, strides=2, padding="same", use_bias=False)(image))
    for expand, channels, repeats, stride, size in (
        (1, 16, 1, 1, 3),
        (6, 24, 2, 2, 3),
        (6, 40, 2, 2, 5),
        (6, 80, 3, 2, 3),
        (6, 112, 3, 1, 5),
        (6, 192, 4, 2, 5),
        (6, 320, 1, 1, 3),
    ):
        for block in range(repeats):
            y = x
            if expand > 1:
                wide = layers.Conv2D(expand * x.shape[-1], 1, use_bias=False)
                y = _norm_relu6(wide(y))
            steps = stride if block == 0 else 1
            y = layers.DepthwiseConv2D(size, steps, padding="same", use_bias=False)(y)
            y = layers.Conv2D(channels, 1, use_bias=False)(_norm_relu6(y))
            y = layers.BatchNormalization()(y)
            x = layers.Add()([x, y]) if block else y
    x = _norm_relu6(layers.Conv2D(1280, 1, use_bias=False)(x))
    x = layers.Dense(1000, activation="softmax")(layers.GlobalAveragePooling2D()(x))
    return keras.Model(image, x)


def unet() -> keras.Model:
    """A U-Net of four levels on 128 x 128 pixels."""

    def twice(x, channels):
        for _ in range(2):
            x = layers.Conv2D(channels, 3, padding="same", use_bias=False)(x)
            x = layers.ReLU()(layers.BatchNormalization()(x))
        return x

    image = x = keras.Input((128, 128, 3))
    sides = []
    for channels in (16, 32, 64, 128):
        sides.append(twice(x, channels))
        x = layers.MaxPooling2D()(sides[-1])
    x = twice(x, 256)
    for side in reversed(sides):
        x = layers.Conv2DTranspose(side.shape[-1], 2, strides=2)(x)
        x = twice(layers.Concatenate()([side, x]), side.shape[-1])
    return keras.Model(image, layers.Conv2D(1, 1, activation="sigmoid")(x))


def lstm() -> keras.Model:
    """Two LSTM layers of 128 over 50 frames; TensorFlow's converter fuses each to one op."""
    frames = keras.Input((50, 40))
    x = layers.LSTM(128)(layers.LSTM(128, return_sequences=True)(frames))
    return keras.Model(frames, layers.Dense(12, activation="softmax")(x))


def gru() -> keras.Model:
    """A GRU of 128 over 50 frames, a WHILE in the file."""
    frames = keras.Input((50, 40))
    return keras.Model(frames, layers.Dense(12, activation="softmax")(layers.GRU(128)(frames)))


VOCABULARY, LENGTH, WIDTH = 1000, 64, 256


def transformer() -> keras.Model:
    """A transformer encoder: four layers of width 256, four heads, over 64 tokens."""
    words = keras.Input((LENGTH,), dtype=tf.int32)
    positions = np.arange(LENGTH, dtype=np.int32)
    x = layers.Embedding(VOCABULARY, WIDTH)(words) + layers.Embedding(LENGTH, WIDTH)(positions)
    for _ in range(4):
        y = layers.MultiHeadAttention(4, WIDTH // 4)(x, x)
        x = layers.LayerNormalization(epsilon=1e-6)(x + y)
        y = layers.Dense(WIDTH)(layers.Dense(4 * WIDTH, activation="gelu")(x))
        x = layers.LayerNormalization(epsilon=1e-6)(x + y)
    return keras.Model(words, layers.Dense(12, activation="softmax")(x[:, 0]))


def ds_cnn() -> keras.Model:
    """The DS-CNN keyword spotter of MLPerf Tiny: 49 frames of 10 coefficients, 12 words."""
    x = sound = keras.Input((49, 10, 1))
    x = layers.Conv2D(64, (10, 4), strides=2, padding="same", use_bias=False)(x)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    for _ in range(4):
        for convolve in (layers.DepthwiseConv2D(3, padding="same"), layers.Conv2D(64, 1)):
            x = layers.ReLU()(layers.BatchNormalization()(convolve(x)))
    x = layers.Flatten()(layers.AveragePooling2D((25, 5))(x))
    return keras.Model(sound, layers.Dense(12, activation="softmax")(x))


def add() -> keras.Model:
    """One ADD of two float[8]."""
    both = [keras.Input((8,)), keras.Input((8,))]
    return keras.Model(both, layers.Add()(both))


applications = keras.applications
NETWORKS = {
    "mobilenet_v1": Network(lambda: applications.MobileNet(weights=None), (smooth,)),
    "mobilenet_v2": Network(lambda: applications.MobileNetV2(weights=None), (smooth,)),
    "mobilenet_v3_small": Network(
        lambda: applications.MobileNetV3Small(
            (224, 224, 3), weights=None, include_preprocessing=False
        ),
        (smooth,),
    ),
    "efficientnet_lite0": Network(efficientnet_lite0, (smooth,)),
    "resnet50": Network(lambda: applications.ResNet50(weights=None), (smooth,)),
    "unet": Network(unet, (smooth,)),
    "lstm": Network(lstm, (smooth,)),
    "gru": Network(gru, (smooth,)),
    "transformer": Network(transformer, (tokens,)),
    "ds_cnn": Network(ds_cnn, (smooth,)),
    "add": Network(add, (noise, noise)),
}
