"""Makes keras_quantized/: models that tensorflow_model_optimization trains for integers.

    pip install --no-deps --target FOLDER tensorflow_model_optimization
    export TF_USE_LEGACY_KERAS=1 PYTHONPATH=FOLDER
    .venv-tensorflow/bin/python tests/converter/keras/make_quantized.py

Each as `.h5` and `.keras`, what Keras answers, and the file that TensorFlow's converter (2.21)
makes of some.
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_model_optimization as tfmot
import tf_keras as keras
from tensorflow_model_optimization.python.core.quantization import keras as tfmot_keras
from tensorflow_model_optimization.python.core.quantization.keras.experimental import default_n_bit

quantize_wrapper = tfmot_keras.quantize_wrapper
n_bit_scheme = default_n_bit.default_n_bit_quantize_scheme
FOLDER = Path(__file__).parent / "quantized"
layers = keras.layers
X = np.random.default_rng(1).uniform(0, 1, (4, 8, 8, 3)).astype(np.float32)


def network():
    """Convolutions with normalisation, depthwise, a sum, a join, a mean and a product."""
    x = image = layers.Input((8, 8, 3), name="image")
    x = layers.Conv2D(6, 3, padding="same", use_bias=False, name="c1")(x)
    x = layers.ReLU(6.0, name="r1")(layers.BatchNormalization(name="b1")(x))
    x = layers.DepthwiseConv2D(3, padding="same", use_bias=False, name="d1")(x)
    x = layers.ReLU(name="r2")(layers.BatchNormalization(name="b2")(x))
    y = layers.Conv2D(6, 1, activation="relu", name="c2")(x)
    x = layers.Add(name="a")([x, y])
    pools = [layers.MaxPooling2D(name="mp")(x), layers.AveragePooling2D(name="ap")(x)]
    x = layers.GlobalAveragePooling2D(name="g")(layers.Concatenate(name="cc")(pools))
    x = layers.Dense(5, activation="softmax", name="dense")(layers.Dropout(0.2, name="do")(x))
    return keras.Model(image, x)


def plain():
    """A convolution and a product, one layer after the other."""
    return keras.Sequential(
        [
            layers.Input((8, 8, 3), name="image"),
            layers.Conv2D(4, 3, name="c"),
            layers.Activation("relu", name="r"),
            layers.Flatten(name="f"),
            layers.Dense(3, name="dense"),
            layers.Activation("sigmoid", name="s"),
        ]
    )


def functions():
    """FakeQuant as functions of tensors."""
    image = layers.Input((8, 8, 3), name="image")
    x = tf.quantization.fake_quant_with_min_max_args(image, 0.0, 1.0)
    x = layers.Conv2D(4, 3, name="c", activation="relu")(x)
    x = tf.quantization.fake_quant_with_min_max_vars(x, 0.0, 1.5, narrow_range=True)
    x = tf.quantization.fake_quant_with_min_max_vars_per_channel(
        x, [-1.0, -1.0, -0.5, -0.25], [1.0, 0.75, 0.5, 2.0], num_bits=6
    )
    return keras.Model(image, x)


def n_bits():
    """The small model with weights of 4 bits."""
    scheme = n_bit_scheme.DefaultNBitQuantizeScheme(num_bits_weight=4, num_bits_activation=8)
    with tfmot.quantization.keras.quantize_scope():
        annotated = tfmot.quantization.keras.quantize_annotate_model(plain())
    return tfmot.quantization.keras.quantize_apply(annotated, scheme)


def first_wrapper():
    """The small model in the wrapper of earlier releases."""
    second = quantize_wrapper.QuantizeWrapperV2
    quantize_wrapper.QuantizeWrapperV2 = quantize_wrapper.QuantizeWrapper
    try:
        return tfmot.quantization.keras.quantize_model(plain())
    finally:
        quantize_wrapper.QuantizeWrapperV2 = second


def frozen():
    """The small model, its convolution not to be trained."""
    model = plain()
    model.layers[0].trainable = False
    return tfmot.quantization.keras.quantize_model(model)


def main():
    """Writes everything."""
    models = {
        "network": lambda: tfmot.quantization.keras.quantize_model(network()),
        "plain": lambda: tfmot.quantization.keras.quantize_model(plain()),
        "first": first_wrapper,
        "frozen": frozen,
        "n_bits": n_bits,
        "functions": functions,
    }
    for name, make in models.items():
        keras.utils.set_random_seed(1)
        generator = np.random.default_rng(2)
        model = make()
        for weight in model.weights:  # normalisation and biases that do something
            if weight.name.split("/")[-1][:4] in ("bias", "beta", "gamm"):
                weight.assign(generator.uniform(-0.5, 1.5, weight.shape))
        batches = generator.uniform(0, 1, (200, 16, 8, 8, 3)).astype(np.float32)
        for batch in batches:
            model(batch, training=True)  # learns the ranges
        model.save(FOLDER / f"{name}.h5")
        model.save(FOLDER / f"{name}.keras")
        np.savez(FOLDER / f"{name}.npz", x=X, y=model(X).numpy())
        if name in ("network", "plain"):
            converter = tf.lite.TFLiteConverter.from_keras_model(model)
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            (FOLDER / f"{name}.tflite").write_bytes(converter.convert())


main()
