"""Writes the files of tests/converter/keras/models with Keras 3 and tf_keras.

Run as `python tests/converter/keras/make_models.py [NAME ...]` in an environment that has both.
Each model is kept as .keras and as .h5, with inputs and Keras' outputs in a .npz, as "in<i>" and
"out<i>".
"""

from __future__ import annotations

import sys
from pathlib import Path

import keras
import numpy as np
import tf_keras

HERE = Path(__file__).parent / "models"
ACTIVATIONS = (
    *("relu6", "selu", "softsign", "hard_sigmoid", "exponential"),
    *("mish", "tanh", "gelu", "swish", "linear"),
)


def images(k):
    """Layers of images, and normalisations."""
    layers = k.layers
    x = image = k.Input((12, 14, 3), name="img")
    x = layers.SeparableConv2D(6, 3, 2, "same", depth_multiplier=2, activation="relu")(x)
    x = layers.LeakyReLU()(layers.BatchNormalization(scale=False)(x))
    x = layers.Conv2DTranspose(4, 3, strides=2, padding="same", activation="elu")(x)
    x = layers.ZeroPadding2D(((1, 0), (2, 1)))(layers.Cropping2D(((1, 2), (0, 1)))(x))
    x = layers.UpSampling2D((1, 2))(layers.UpSampling2D(2, interpolation="bilinear")(x))
    x = layers.LayerNormalization()(layers.Permute((2, 1, 3))(x))
    x = layers.PReLU(shared_axes=[1, 2])(layers.Dropout(0.5)(x))
    x = layers.Reshape((-1, 2))(layers.GlobalMaxPooling2D(keepdims=True)(x))
    return k.Model(image, layers.Softmax(axis=1)(x))


def dots(k):
    """Dot along other axes, of vectors too, and of vectors of length 1."""
    dot = k.layers.Dot
    a, b = k.Input((5, 4), name="rows"), k.Input((4, 6), name="columns")
    v = k.Input((5,), name="vector")
    product = dot((2, 1))([a, b])
    outputs = [product, dot((1, 1))([a, v]), dot(1)([v, v]), dot(-1, normalize=True)([v, v])]
    outputs.append(dot((-2, 1), normalize=True)([product, a]))
    return k.Model([a, b, v], outputs)


def nested(k):
    """Models in a model, called twice, with a layer used twice and layers that do not learn."""
    layers = k.layers
    x = inside = k.Input((8,), name="inner_in")
    shared = layers.Dense(8, activation="relu", name="shared")
    norm = layers.BatchNormalization(name="norm")
    norm.trainable = False
    inner = k.Model(inside, shared(norm(shared(x))), name="inner")
    still = layers.Dense(5, activation="gelu")
    still.trainable = False
    rows = [k.Input((8,)), still, layers.BatchNormalization(), layers.Dense(8, use_bias=False)]
    row = k.Sequential(rows, name="row")
    a, b = k.Input((8,), name="b_in"), k.Input((8,), name="a_in")
    first, second = inner(a), inner(b)
    third = row(first)
    x = layers.Concatenate()([layers.Multiply()([third, second]), first, second])
    parts = [layers.Average()([first, second, third]), layers.Maximum()([first, third])]
    parts.append(layers.Subtract()([second, third]))
    outputs = [
        layers.Dense(3, activation="softmax", name="zz")(x),
        layers.Dense(2, activation="sigmoid", name="aa")(layers.Add()(parts)),
    ]
    return k.Model([a, b], outputs, name="outer")


def sequences(k):
    """Layers of sequences, in a Sequential model."""
    layers = k.layers
    return k.Sequential(
        [
            k.Input((20, 3)),
            layers.Conv1D(6, 3, padding="causal", dilation_rate=2, activation="swish"),
            layers.MaxPooling1D(2),
            layers.SeparableConv1D(4, 3, padding="valid"),
            layers.UpSampling1D(2),
            layers.AveragePooling1D(2, padding="same"),
            layers.ZeroPadding1D(1),
            layers.Cropping1D((0, 1)),
            layers.BatchNormalization(),
            layers.GlobalAveragePooling1D(),
            layers.RepeatVector(2),
            layers.Flatten(),
            layers.Dense(3, activation="softplus"),
        ],
        name="sequences",
    )


def activations(k):
    """Activations, by name and as layers."""
    layers = k.layers
    x = k.Input((6,), name="x")
    outputs = [layers.Activation(name)(x) for name in ACTIVATIONS]
    outputs.append(layers.ReLU(max_value=1.5, negative_slope=0.1, threshold=0.2)(x))
    outputs += [layers.ReLU(6.0)(x), layers.ELU(alpha=0.7)(x)]
    outputs.append(layers.Rescaling(1 / 127.5, offset=-1)(x))
    return k.Model(x, outputs, name="activations")


def operators(k):
    """Python's operators on tensors and numbers, and nested models whose results are outputs."""
    layers = k.layers
    x = k.Input((4,), name="x")
    y = layers.Dense(4)(x)
    sums = [x + 3.0, 3.0 - x, x * (1 / 6), x / 2.0, 2.0 / (y * y + 1.0), x + y, x - y, x * y]
    sums += [1 - x, 2 * x, (x * x) ** 1.5, -y]
    inner_x = k.Input((4,))
    inner = k.Model(inner_x, [layers.Dense(3)(inner_x), inner_x + 1.0], name="inner")
    chain = k.Sequential([k.Input((4,)), layers.Dense(2)], name="chain")
    once = k.Model(inner_x, layers.Dense(2)(inner_x), name="once")
    one, other = inner(x), inner(y)
    nested = [*one, other[0], chain(x), chain(y), once(x), layers.ReLU()(other[1])]
    return k.Model(x, [*sums, *nested], name="operators")


def write(model, name: str, rng: np.random.Generator) -> None:
    """Gives a model weights, runs it, and keeps it in both formats."""
    for weight in model.weights:
        value = rng.normal(0, 0.3, weight.shape).astype(np.float32)
        weight.assign(np.abs(value) + 0.5 if "variance" in weight.name else value)
    inputs = [rng.normal(size=(3, *x.shape[1:])).astype(np.float32) for x in model.inputs]
    outputs = model(inputs if len(inputs) > 1 else inputs[0], training=False)
    outputs = outputs if isinstance(outputs, list | tuple) else [outputs]
    cases = {f"in{i}": x for i, x in enumerate(inputs)}
    cases |= {f"out{i}": np.asarray(y) for i, y in enumerate(outputs)}
    np.savez_compressed(HERE / f"{name}.npz", **cases)
    model.save(HERE / f"{name}.keras")
    model.save(HERE / f"{name}.h5")


def main(names: list[str]) -> None:
    HERE.mkdir(exist_ok=True)
    for version, k in (("keras3", keras), ("keras2", tf_keras)):
        for make in (activations, dots, images, nested, operators, sequences):
            if not names or make.__name__ in names:
                write(make(k), f"{make.__name__}_{version}", np.random.default_rng(0))


if __name__ == "__main__":
    main(sys.argv[1:])
