"""Trains models of Keras with TensorFlow, for what `to_graph` trains further.

    python tests/converter/make_fine_tuning.py    # with TensorFlow and Keras 3

fine_tuning/<model>.keras, the model before; fine_tuning/steps.npz: for each model its "x", "labels"
and weights as "<model>/<layer>/<i>"; for each row of TRAINED "<model>/<which>/losses", those of the
steps, and "<model>/<which>/y", the logits after them.
"""

from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

HERE = Path(__file__).with_name("fine_tuning")
BIASED = {"bias_initializer": "random_normal"}
"""As of a model that was trained."""
STEPS, RATE = 8, 0.25
TRAINED = {
    "images": ("all", "last"),
    "normalized": ("last",),
    "sequence": ("all", "last"),
    "fresh": ("all", "last"),
}
"""Model -> which of its weights are trained: all, or those of the layer "last"."""


def images():
    """Convolutions."""
    layers = keras.layers
    x = image = keras.Input((8, 8, 3))
    x = layers.Conv2D(6, 3, 2, "same", activation="relu", name="first", **BIASED)(x)
    x = layers.DepthwiseConv2D(3, padding="same", activation="relu6", name="each", **BIASED)(x)
    x = layers.Conv2D(8, 1, activation="tanh", name="points", **BIASED)(x)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(image, layers.Dense(4, name="last", **BIASED)(x))


def normalized():
    """Batch normalization, which is in the filter once it is converted."""
    layers = keras.layers
    x = image = keras.Input((8, 8, 3))
    x = layers.Conv2D(6, 3, 2, use_bias=False, name="first")(x)
    norm = layers.BatchNormalization(name="norm", moving_mean_initializer="random_normal")
    x = layers.ReLU()(norm(x))
    return keras.Model(image, layers.Dense(4, name="last", **BIASED)(layers.Flatten()(x)))


def sequence():
    """A recurrent layer."""
    layers = keras.layers
    x = rows = keras.Input((5, 3))
    x = layers.LSTM(6, name="recurrent", **BIASED)(x)
    return keras.Model(rows, layers.Dense(4, name="last", **BIASED)(x))


def fresh():
    """A model that was never trained: biases of zeros, and a layer without one."""
    layers = keras.layers
    x = image = keras.Input((8, 8, 3))
    x = layers.Conv2D(6, 3, 2, "same", activation="relu", use_bias=False, name="first")(x)
    x = layers.Conv2D(8, 1, activation="tanh", name="points")(x)
    x = layers.Dense(7, activation="relu", name="hidden")(layers.Flatten()(x))
    x = layers.Dense(5, use_bias=False, activation="tanh", name="plain")(x)
    return keras.Model(image, layers.Dense(4, name="last")(x))


def trained(model, which, x, labels):
    """The losses of steps of descent, and the logits after them."""
    variables = model.get_layer("last").weights if which == "last" else model.trainable_weights
    losses = []
    for _ in range(STEPS):
        with tf.GradientTape() as tape:
            logits = model(x, training=False)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        losses.append(loss.numpy())
        gradients = tape.gradient(loss, [variable.value for variable in variables])
        for variable, gradient in zip(variables, gradients, strict=True):
            variable.assign_sub(RATE * gradient)
    return np.array(losses), model(x, training=False).numpy()


def main():
    """Writes the files."""
    HERE.mkdir(exist_ok=True)
    recorded = {}
    for make in (images, normalized, sequence, fresh):
        keras.utils.set_random_seed(len(recorded))
        rng, model, name = np.random.default_rng(3), make(), make.__name__
        x = rng.normal(size=(12, *model.input_shape[1:])).astype(np.float32)
        labels = rng.integers(0, 4, 12).astype(np.int32)
        model.save(HERE / f"{name}.keras")
        recorded |= {f"{name}/x": x, f"{name}/labels": labels}
        for layer in model.layers:
            for i, weight in enumerate(layer.get_weights()):
                recorded[f"{name}/{layer.name}/{i}"] = weight
        for which in TRAINED[name]:
            again = keras.models.load_model(HERE / f"{name}.keras")
            losses, y = trained(again, which, x, labels)
            recorded |= {f"{name}/{which}/losses": losses, f"{name}/{which}/y": y}
    np.savez_compressed(HERE / "steps.npz", **recorded)


if __name__ == "__main__":
    main()
