"""Layers whose weights Keras has quantized, and not what they are given."""

import keras

from .registry import FAMILIES, THREE

DTYPES = {
    "int8": keras.quantizers.Int8QuantizationConfig(activation_quantizer=None),
    "int4": keras.quantizers.Int4QuantizationConfig(block_size=-1),
    "int4_blocks": keras.quantizers.Int4QuantizationConfig(block_size=4),
}


def dense(k):
    x = k.Input((6,))
    return k.Model(x, k.layers.Dense(3, use_bias=False)(k.layers.Dense(5, "relu")(x)))


def einsum(k):
    x = k.Input((4, 6))
    y = k.layers.EinsumDense("abc,ced->abde", (None, 2, 3), bias_axes="de")(x)
    return k.Model(x, k.layers.EinsumDense("abde,def->abf", (None, 5))(y))


def embedded(k):
    x = k.Input((4,), dtype="int32")
    tied = k.layers.ReversibleEmbedding(7, 5)
    free = k.layers.ReversibleEmbedding(7, 5, tie_weights=False)
    y = [k.layers.Embedding(7, 3)(x), tied(tied(x), reverse=True), free(free(x), reverse=True)]
    return k.Model(x, y)


def quantized(make, config):
    """A function that makes a model and quantizes it."""

    def model(k):
        result = make(k)
        result.quantize(config=config)
        return result

    return model


for _make in (dense, einsum, embedded):
    for _name, _config in DTYPES.items():
        case_name = f"{_make.__name__}_{_name}"
        FAMILIES.setdefault("integers", {})[case_name] = THREE, quantized(_make, _config)
