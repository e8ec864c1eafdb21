"""Layers with arguments that are rarely given."""

from __future__ import annotations

from .registry import FAMILIES, THREE


def case(name, make, *shapes):
    """Adds a model whose outputs `make(layers, *inputs)` gives."""

    def model(k):
        inputs = [k.Input(shape) for shape in shapes]
        return k.Model(inputs, make(k.layers, *inputs))

    FAMILIES.setdefault("arguments", {})[name] = THREE, model


case(
    "resizes",
    lambda layers, x: [
        layers.UpSampling2D((3, 2), interpolation="bicubic")(x),
        layers.Resizing(6, 7, pad_to_aspect_ratio=True, fill_value=0.3)(x),
        layers.Resizing(7, 3, pad_to_aspect_ratio=True, interpolation="nearest")(x),
        layers.Resizing(5, 7, interpolation="bicubic")(x),
    ],
    (9, 5, 3),
)
case(
    "convolutions",
    lambda layers, x: [
        layers.Conv2D(6, (3, 2), strides=3, groups=3, padding="same", activation="hard_silu")(x),
        layers.Conv2DTranspose(3, 3, strides=(3, 2), padding="same", output_padding=(2, 1))(x),
        layers.DepthwiseConv2D((3, 2), strides=2, depth_multiplier=3, activation="tanh_shrink")(x),
        layers.AveragePooling2D(3, strides=2, padding="same", data_format="channels_first")(x),
    ],
    (10, 7, 3),
)
case(
    "sequences",
    lambda layers, x: [
        layers.Activation("sparsemax")(x),
        layers.Bidirectional(layers.GRU(3), backward_layer=layers.LSTM(3, go_backwards=True))(
            layers.Masking(0.5)(x)
        ),
        *layers.LSTM(4, return_state=True, go_backwards=True, use_bias=False)(x),
        layers.EinsumDense("abc,cde->abde", output_shape=(None, 2, 3), bias_axes="de")(x),
    ],
    (6, 3),
)
