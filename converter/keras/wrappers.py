"""Layers around other layers: TimeDistributed, SpectralNormalization, Masking."""

from __future__ import annotations

from typing import Any

from ...graph.core.graph import Tensor
from .files.architecture import Layer, Model, read_layer
from .functions.products import dims_of, reshaped
from .masks import masking as mask_where
from .registry import ANY, Call, layer

PER_STEP = ("Activation", "Dense", "Dropout", "ELU", "LeakyReLU", "ReLU", "Rescaling")
"""Layers that do the same to each step when they get all of them."""


def inner_layer(layer: Layer) -> dict[str, Layer]:
    """The wrapped layer."""
    return {"layer": read_layer(layer.config.get("layer"))}


@layer("TimeDistributed", parts=inner_layer, takes=ANY)
def time_distributed(call: Call, inputs: Tensor, mask: Any = None) -> list[Tensor]:
    """The same layer for each step: x -> [batch * steps, ...] -> layer -> [batch, steps, ...]."""
    shape = call.shape(inputs)
    call.require(len(shape) >= 3, f"the input must have 3 dimensions or more, got {shape}")
    part = call.layer.parts["layer"]
    if not isinstance(part, Model) and part.kind in PER_STEP:
        y = call.apply("layer", inputs)
        return [call.op("Identity", y, name="Reshape_1")]  # as Keras' own last operation
    dims = dims_of(call, inputs)
    flat = reshaped(call, inputs, [None, *dims[2:]])
    flat.set_shape((None if None in shape[:2] else (shape[0] or 0) * (shape[1] or 0), *shape[2:]))
    masks = call.writer.masks
    if isinstance(mask, Tensor) and len(call.shape(mask)) > 2:
        masks[flat] = reshaped(call, mask, [None, *dims_of(call, mask)[2:]])
    results = call.apply("layer", flat)

    def by_step(y: Tensor) -> Tensor:
        return reshaped(call, y, [*dims[:2], *dims_of(call, y)[1:]])

    results = results if isinstance(results, list) else [results]
    outputs = [by_step(y) for y in results]
    if not call.is_keras3 and results[0] in masks:
        masks[outputs[0]] = by_step(masks[results[0]])
    return outputs


@layer(
    "SpectralNormalization",
    parts=inner_layer,
    weights=lambda layer: ("vector_u",),
    archived=lambda layer: ("kernel", "vector_u"),
)
def spectral_normalization(call: Call, x: Tensor) -> Tensor:
    """The wrapped layer, whose kernel training has normalised."""
    return call.apply("layer", x)


@layer("Masking")
def masking(call: Call, x: Tensor) -> Tensor:
    """The input, and 0 in the steps that do not count."""
    counts = mask_where(call, [x], [])
    assert counts is not None
    factor = call.cast(call.op("ExpandDims", counts, call.constant(-1)), x.dtype)
    return call.op("Mul", x, factor)
