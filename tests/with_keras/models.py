"""Models of Keras 3 that programs hold in memory: name -> (model, inputs of a call)."""

from __future__ import annotations

from collections.abc import Callable

import keras
import numpy as np
from keras import layers, ops

MODELS: dict[str, Callable] = {}
DRAW = np.random.default_rng(3)
WORDS = np.int32([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8]])


def floats(*shape):
    """Normally distributed numbers."""
    return DRAW.normal(size=shape).astype(np.float32)


def model(build):
    """Adds a model to the table."""
    MODELS[build.__name__] = build
    return build


def embedded():
    """Words, their embeddings, and the mask that goes along."""
    words = keras.Input((None,), dtype="int32", name="words")
    return words, layers.Embedding(20, 6, mask_zero=True)(words)


class Scale(layers.Layer):
    """Weights in an expression, and a layer that the layer made as it was built."""

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1],), initializer="uniform")
        self.dense = layers.Dense(3)
        self.dense.build(shape)

    def call(self, x):
        return self.dense(ops.tanh(x * self.w) + ops.cumsum(x, axis=-1))


class Wide(layers.Layer):
    """Weights of some size, one of which is not learned, and a function of weights alone."""

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 40))
        self.c = self.add_weight(shape=(40,), initializer="ones", trainable=False)

    def call(self, x):
        return ops.matmul(x, self.w) * self.c + ops.softplus(ops.matmul(x, ops.relu(self.w)))


class Pooled(layers.Layer):
    """The mean of what a mask lets through."""

    def call(self, x, mask=None):
        weights = ops.cast(mask, x.dtype)[..., None]
        return ops.sum(x * weights, 1) / ops.sum(weights, 1)

    def compute_mask(self, x, mask=None):
        return None


class TwoResults(layers.Layer):
    """Optional arguments, and two results."""

    def __init__(self, **options):
        super().__init__(**options)
        self.dense = layers.Dense(3, name="dense")

    def call(self, x, scale=1.0, other=None):
        y = self.dense(x) * scale
        return (y if other is None else y + other), ops.mean(x, -1)


class Block(layers.Layer):
    """A layer of attention."""

    def __init__(self, width, **options):
        super().__init__(**options)
        self.attention = layers.MultiHeadAttention(2, width // 2)
        self.before, self.between = layers.LayerNormalization(), layers.LayerNormalization()
        self.dense = keras.Sequential([layers.Dense(4 * width, "gelu"), layers.Dense(width)])
        self.dropout = layers.Dropout(0.1)

    def call(self, x, training=False):
        y = self.before(x)
        y = self.attention(y, y, use_causal_mask=True)
        x = x + self.dropout(y, training=training)
        return x + self.dropout(self.dense(self.between(x)), training=training)


class Decoder(layers.Layer):
    """Attention to what comes before and to another sequence, by sizes that are computed."""

    def build(self, shapes):
        width = shapes[0][-1]
        self.scale = self.add_weight(shape=(), initializer="ones", trainable=False)
        self.q, self.kv = (self.add_weight(shape=(width, n * width)) for n in (1, 2))

    def call(self, inputs, mask=None):
        x, memory = inputs
        n, length, width = ops.shape(x)
        positions = ops.arange(length, dtype="int32")  # Keras on PyTorch needs a type
        before = positions[:, None] >= positions
        y = self.attended(x, x, ops.cast(before, x.dtype))
        memory = ops.reshape(memory, (n, -1, width))
        y = self.attended(y, memory, ops.cast(mask, x.dtype)[:, None])
        rows = ops.reshape(y * self.scale, (n * length, width // 2, 2))
        return {"sum": ops.sum(rows, -1), "all": ops.reshape(rows, (n, length, width))}

    def attended(self, x, other, mask):
        keys, values = ops.split(ops.matmul(other, self.kv), 2, -1)
        scores = ops.matmul(ops.matmul(x, self.q), ops.swapaxes(keys, 1, 2))
        return x + ops.matmul(ops.softmax(scores - 1e9 * (1 - mask)), values)


class Perceptron(keras.Model):
    """A functional model whose configuration is not that of its layers, as KerasHub's are."""

    def __init__(self, units, **options):
        x = keras.Input((3,), name="x")
        super().__init__(x, layers.Dense(2)(layers.Dense(units, "relu")(x)), **options)
        self.units = units

    def get_config(self):
        return {"units": self.units, "name": self.name}


class Transformer(keras.Model):
    """A small decoder, of classes of the program only."""

    def __init__(self, **options):
        super().__init__(**options)
        self.words, self.positions = layers.Embedding(50, 8), layers.Embedding(16, 8)
        self.blocks, self.dense = [Block(8) for _ in range(2)], layers.Dense(50)

    def call(self, x, training=False):
        x = self.words(x) + self.positions(ops.arange(ops.shape(x)[1]))
        for block in self.blocks:
            x = block(x, training=training)
        return self.dense(x)


class ByName(keras.Model):
    """Inputs and outputs by name."""

    def __init__(self, **options):
        super().__init__(**options)
        self.dense = layers.Dense(4)

    def call(self, inputs):
        return {"y": self.dense(inputs["a"]) + inputs["b"]}


@model
def trained():
    """A model that has just learned."""
    net = keras.Sequential(
        [keras.Input((6,)), layers.Dense(8, "tanh"), layers.BatchNormalization(), layers.Dense(2)]
    )
    net.compile("adam", "mse")
    net.fit(floats(32, 6), floats(32, 2), epochs=2, verbose=0)
    return net, [floats(3, 6)]


@model
def images():
    """Convolutions, a nested frozen model, and preprocessing."""
    backbone = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(4, 3, activation="relu"),
            layers.BatchNormalization(),
        ]
    )
    backbone.trainable = False
    x = keras.Input((10, 12, 3))
    y = backbone(layers.RandomFlip()(layers.Resizing(8, 8)(layers.Rescaling(1 / 50)(x))))
    return keras.Model(x, layers.Dense(2)(layers.GlobalMaxPooling2D()(y))), [floats(1, 10, 12, 3)]


@model
def recurrent():
    """Masks, states and both directions."""
    words, x = embedded()
    y = layers.Bidirectional(layers.LSTM(5, return_sequences=True))(x)
    y, h, c = layers.LSTM(4, return_state=True, return_sequences=True)(y)
    y = layers.LSTM(4, return_sequences=True)(y, initial_state=[h, c])
    y = layers.RNN([layers.GRUCell(3), layers.SimpleRNNCell(2)])(y)
    return keras.Model(words, [layers.GRU(4)(x), y]), [WORDS]


@model
def nested_attention():
    """Attention within a nested model of two inputs; a number at the left."""
    a, b = keras.Input((None, 8), name="a"), keras.Input((6, 8), name="b")
    inner = keras.Model([a, b], layers.MultiHeadAttention(2, 4)(a, b))
    x, y = keras.Input((None, 8), name="x"), keras.Input((6, 8), name="y")
    return keras.Model([x, y], 1.0 - layers.LayerNormalization()(inner([x, y]))), [
        *(floats(2, 5, 8), floats(2, 6, 8))
    ]


@model
def nested_mask():
    """A nested model that a mask goes into."""
    a = keras.Input((None, 6))
    inner = keras.Model(a, layers.LSTM(4)(a))
    words, x = embedded()
    return keras.Model(words, inner(x)), [WORDS]


@model
def other_types():
    """A policy of less precision for what is learned in float32."""
    x = keras.Input((6,), name="x")
    y = layers.Dense(5, "relu", dtype="mixed_bfloat16")(x)
    return keras.Model(x, layers.Dense(2, dtype="float32")(y)), [floats(2, 6)]


@model
def lora():
    """A kernel with an update of low rank."""
    dense, x = layers.Dense(4), keras.Input((8,))
    y = dense(x)
    dense.enable_lora(2)
    dense.lora_kernel_b.assign(floats(2, 4))
    return keras.Model(x, y), [floats(2, 8)]


@model
def python_functions():
    """A Lambda, and an activation of the program."""
    x = keras.Input((4,))
    y = layers.Lambda(lambda t: ops.sin(t) * 2)(x)
    return keras.Model(x, layers.Dense(3, lambda t: ops.relu(t) ** 2)(y)), [floats(2, 4)]


@model
def custom_layer():
    """A layer of the program among others, called twice."""
    x, scale = keras.Input((3,)), Scale()
    return keras.Model(x, layers.Dense(2)(scale(scale(x)))), [floats(2, 3)]


@model
def weights_of_some_size():
    """Weights that are written as layers."""
    x = keras.Input((8,))
    return keras.Model(x, layers.Dense(2)(Wide()(x))), [floats(2, 8)]


@model
def custom_mask():
    """A layer of the program that takes a mask."""
    words, x = embedded()
    return keras.Model(words, Pooled()(x)), [WORDS]


@model
def custom_arguments():
    """Two results and named arguments, in two calls of one layer."""
    x, layer = keras.Input((5,)), TwoResults()
    y, mean = layer(x)
    return keras.Model(x, [layer(x, scale=2.0, other=y)[0], mean]), [floats(2, 5)]


@model
def custom_model():
    """A model whose class is the program's."""
    net, words = Transformer(), DRAW.integers(1, 50, (2, 7)).astype(np.int32)
    net(words)
    return net, [words]


@model
def custom_model_by_name():
    """A model of the program's that takes a dict."""
    net, inputs = ByName(), {"a": floats(2, 5), "b": floats(2, 4)}
    net(inputs)
    return net, [inputs]


def decoder(lengths, **options):
    """Sequences of two lengths through a layer that Keras cannot call on symbolic tensors."""
    x, memory = keras.Input((None, 4)), keras.Input((None, 4))
    mask = keras.Input((None,), dtype="int64")
    layer = Decoder(**options)
    y = layer([x, memory], mask=mask)
    y = layer([y["all"], memory], mask=mask)
    m, n = lengths
    inputs = [floats(3, m, 4), floats(3, n, 4), np.arange(3 * n, dtype=np.int32).reshape(3, n) % 2]
    return keras.Model([x, memory, mask], [layers.Dense(2)(y["all"]), y["sum"]]), inputs


@model
def open_sizes():
    """Two lengths of sequences."""
    return decoder((5, 3))


@model
def other_open_sizes():
    """The same model's others, the second longer, of a layer that does not learn."""
    return decoder((2, 6), trainable=False)
