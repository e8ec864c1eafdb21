"""Trains the digit classifier of models/digits and records TensorFlow's answers for it.

Run in an environment of its own with `pip install tensorflow-cpu scikit-learn`:

    python models/build_digits.py

Writes models/digits/saved_model (Keras 3 export), and models/digits/example.npz: `image`, 360 test
images of scikit-learn's digits, `label`, and `probabilities`, TensorFlow's output for them; and
models/digits/digits.npz: all 1797 `image`s as bytes from 0 to 16, and their `label`s.
"""

import shutil
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

HERE = Path(__file__).parent / "digits"


def store(digits) -> None:
    """Writes the images and labels."""
    np.savez_compressed(
        HERE / "digits.npz",
        image=digits.images.astype(np.uint8),
        label=digits.target.astype(np.uint8),
    )


def main() -> None:
    """Trains with fixed seeds, exports, records."""
    keras.utils.set_random_seed(1)
    digits = load_digits()
    store(digits)
    images = (digits.images / 16).astype(np.float32)[..., np.newaxis]
    order = np.random.default_rng(0).permutation(len(images))
    test, train = order[:360], order[360:]
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1), name="image"),
            layers.Conv2D(16, 3, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.SeparableConv2D(32, 3, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(6.0),
            layers.Conv2D(48, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dropout(0.2),
            layers.Dense(10, activation="softmax", name="probabilities"),
        ],
        name="digits",
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(images[train], digits.target[train], batch_size=32, epochs=30, verbose=0)
    probabilities = model(images[test], training=False).numpy()
    print("test accuracy", np.mean(probabilities.argmax(1) == digits.target[test]))
    shutil.rmtree(HERE / "saved_model", ignore_errors=True)
    signature = [tf.TensorSpec((None, 8, 8, 1), tf.float32, name="image")]
    model.export(HERE / "saved_model", input_signature=signature, verbose=False)
    np.savez_compressed(
        HERE / "example.npz",
        image=images[test],
        label=digits.target[test].astype(np.int64),
        probabilities=probabilities,
    )


if __name__ == "__main__":
    main()
