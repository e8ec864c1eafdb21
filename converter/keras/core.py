"""Dense, Embedding, Rescaling, and layers that only matter in training."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.core.graph import Tensor
from .activation import activated
from .files.architecture import Layer
from .functions.products import matmul
from .registry import ANY, Call, is_integer, is_number, layer

TRAINING_ONLY = (
    "ActivityRegularization",
    "AlphaDropout",
    "Dropout",
    "GaussianDropout",
    "GaussianNoise",
    "Identity",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
)


@layer(*TRAINING_ONLY)
def identity(call: Call, x):
    """Its input."""
    return x


def kernel_and_bias(layer: Layer) -> tuple[str, ...]:
    """Weights of a layer with one kernel."""
    return ("kernel", *bias_of(layer))


def bias_of(layer: Layer) -> tuple[str, ...]:
    """The bias, where a layer has one."""
    return ("bias",) if layer.config.get("use_bias", True) else ()


def biased(call: Call, x, n: int, data_format: str = "NHWC"):
    """`x` plus the layer's bias, if it has one, and after its activation."""
    if call.flag("use_bias", True):
        order = "NCHW" if data_format[1] == "C" else "NHWC"  # of any rank
        x = call.op("BiasAdd", x, call.weight("bias", [n]), data_format=order)
    return activated(call, x)


@layer("Dense", weights=kernel_and_bias)
def dense(call: Call, x):
    """x @ kernel + bias along the last axis."""
    shape = call.shape(x)
    call.require(len(shape) >= 2, f"the input must have 2 dimensions or more, got {shape}")
    (units,) = call.integers("units", 1)
    kernel = call.weight("kernel", [call.known(shape[-1], "the last dimension"), units])
    kind = "MatMul" if len(shape) == 2 else "BatchMatMulV2"
    return biased(call, call.op(kind, x, kernel), units)


@layer("Embedding", weights=lambda layer: ("embeddings",))
def embedding(call: Call, x):
    """One row of the weights for each number."""
    rows, columns = (call.integers(name, 1)[0] for name in ("input_dim", "output_dim"))
    table = call.weight("embeddings", [rows, columns])
    return call.op("GatherV2", table, as_indices(call, x), call.constant(0))


def as_indices(call: Call, x):
    """`x` as integers that can be looked up."""
    return x if x.dtype in (np.int32, np.int64) else call.cast(x, np.int32)


def reversible_weights(layer: Layer) -> tuple[str, ...]:
    """Weights of an embedding that can be used both ways."""
    is_tied = layer.config.get("tie_weights", True)
    return ("embeddings",) if is_tied else ("embeddings", "reverse_embeddings")


@layer("ReversibleEmbedding", weights=reversible_weights, takes=ANY)
def reversible_embedding(call: Call, inputs: Tensor, reverse: Any = False) -> Tensor:
    """One row of the weights for each number, or the product with all rows."""
    rows, columns = (call.integers(name, 1)[0] for name in ("input_dim", "output_dim"))
    if reverse is not True:
        table = call.weight("embeddings", [rows, columns])
        return call.op("GatherV2", table, as_indices(call, inputs), call.constant(0))
    call.require(call.setting("logit_soft_cap") is None, "logit_soft_cap is not supported")
    if "reverse_embeddings" in reversible_weights(call.layer):
        return matmul(call, inputs, call.weight("reverse_embeddings", [columns, rows]))
    table = call.weight_value("embeddings", [rows, columns])
    return matmul(call, inputs, call.constant(table.T.copy(), inputs))


@layer("keras_hub>PositionEmbedding", weights=lambda layer: ("embeddings",), takes=ANY)
def position_embedding(
    call: Call, x: Tensor, start_index: Any = 0, positions: Any = None
) -> Tensor:
    """KerasHub's rows of the weights for the positions of a sequence, in the shape of `x`."""
    features = call.shape(x)[-1:]
    call.require(len(call.shape(x)) > 1 and None not in features, "takes sequences of features")
    (size,) = (n for n in features if n is not None)
    table = call.weight("embeddings", [*call.integers("sequence_length", 1), size])
    if positions is not None:
        if call.shape(positions) and len(call.shape(positions)) == 1:
            positions = call.op("ExpandDims", positions, call.constant(0))
        rows = call.op("GatherV2", table, as_indices(call, positions), call.constant(0))
    else:
        call.require(is_integer(start_index), f"start_index must be a number, got {start_index!r}")
        begin = call.constant([start_index, 0])
        rows = call.op("Slice", table, begin, call.sizes([call.size(x, -2), size]))
    return call.op("BroadcastTo", rows, call.op("Shape", x))


@layer("flatlite.Weight", weights=lambda layer: ("value",), takes=ANY)
def weight(call: Call, x: Any) -> Tensor:
    """A weight of a layer of the program, which symbolic.py has made a layer."""
    shape = call.setting("shape")
    is_shape = isinstance(shape, list) and all(is_integer(n) and n >= 0 for n in shape)
    call.check(is_shape, "shape", "a list of sizes")
    return call.weight("value", shape)


@layer("Rescaling")
def rescaling(call: Call, x):
    """x * scale + offset."""
    if x.dtype != np.float32:
        x = call.op("Cast", x, DstT=np.dtype(np.float32))
    for kind, name in (("Mul", "scale"), ("AddV2", "offset")):
        value = call.setting(name, 0.0)
        values = value if isinstance(value, list) else [value]
        call.check(all(map(is_number, values)), name, "a number or a list of numbers")
        if kind == "Mul" or any(values):
            x = call.op(kind, x, call.constant(value, x))
    return x
