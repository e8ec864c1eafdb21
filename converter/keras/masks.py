"""Masks: which steps of a sequence count, and how layers hand that on.

A mask is a bool for each step of each sequence. Keras 3 writes the masks of Functional models into
the file as operations and named arguments; elsewhere they go along with tensors unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from .registry import Call

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor
    from .files.architecture import Layer

    Mask = Tensor | None

KEEPING = frozenset(
    (
        *("Activation", "ActivityRegularization", "AlphaDropout", "AdditiveAttention", "Attention"),
        *("BatchNormalization", "BatchNormalizationV2", "Dense", "Dropout", "ELU"),
        *("GaussianDropout", "GaussianNoise", "GroupNormalization", "GroupQueryAttention"),
        *("GroupedQueryAttention", "Identity", "LayerNormalization", "LeakyReLU"),
        *("MultiHeadAttention", "Normalization"),
        *("PReLU", "ReLU", "Rescaling", "Softmax", "SpatialDropout1D", "SpatialDropout2D"),
        *("SpatialDropout3D", "ThresholdedReLU", "UnitNormalization"),
    )
)
"""Layers whose result has the mask of their first input."""


def consumes_masks(layer: Layer) -> bool:
    """Whether a layer takes the masks of its inputs away: who reads those later has none.

    Keras 3's MultiHeadAttention does, since 3.8: of x + MultiHeadAttention(x, x) with an Add layer
    only one term has a mask, hence the sum none.
    """
    return layer.row_kind == "MultiHeadAttention"


def differing(call: Call, x: Tensor, value: float) -> Tensor:
    """Where `x` is not a number."""
    return call.op("NotEqual", x, call.constant(value, x))


def embedded(call: Call, inputs: Sequence[Tensor], masks: Sequence[Mask]) -> Mask:
    """Where the index is not 0."""
    return differing(call, inputs[0], 0) if call.flag("mask_zero") else None


def masking(call: Call, inputs: Sequence[Tensor], masks: Sequence[Mask]) -> Mask:
    """Where any value of a step is not the one that masks."""
    steps = differing(call, inputs[0], call.number("mask_value"))
    return call.op("Any", steps, call.constant([-1]))


def merged(call: Call, inputs: Sequence[Tensor], masks: Sequence[Mask]) -> Mask:
    """In Keras 3 where any input counts, if all have masks; in Keras 2 where all of those do."""
    known = [mask for mask in masks if mask is not None]
    if not known or (call.is_keras3 and len(known) < len(masks)):
        return None
    kind = "LogicalOr" if call.is_keras3 else "LogicalAnd"
    return reduce(lambda x, y: call.op(kind, x, y), known)


def concatenated(call: Call, inputs: Sequence[Tensor], masks: Sequence[Mask]) -> Mask:
    """Where all values of the joined masks count."""
    if all(mask is None for mask in masks):
        return None
    rank = len(call.shape(inputs[0]))
    full = []
    for x, mask in zip(inputs, masks, strict=True):
        true = call.op("Fill", call.op("Shape", x), call.constant_of(True, np.bool_))
        if mask is not None:
            for _ in range(rank - len(call.shape(mask))):
                mask = call.op("ExpandDims", mask, call.constant(-1))
            true = call.op("LogicalAnd", true, mask)
        full.append(true)
    joined = call.op("ConcatV2", *full, call.constant(call.axis("axis", rank)))
    return call.op("All", joined, call.constant([-1]))


def of_sequences(call: Call, inputs: Sequence[Tensor], masks: Sequence[Mask]) -> Mask:
    """The mask of the input, where a recurrent layer gives all its steps."""
    layer = call.layer.config.get("layer")
    config = layer.get("config") if isinstance(layer, dict) else call.layer.config
    return masks[0] if isinstance(config, dict) and config.get("return_sequences") else None


def of_steps(call: Call, inputs: Sequence[Tensor], masks: Sequence[Mask]) -> Mask:
    """In Keras 2 which steps count, those of which any part does; in Keras 3 the input's."""
    mask = masks[0]
    rank = 2 if mask is None else len(call.shape(mask))
    if mask is None or call.is_keras3 or rank == 2:
        return mask
    return call.op("Any", mask, call.constant(list(range(2, rank))))


RULES: dict[str, Callable[[Call, Sequence[Tensor], Sequence[Mask]], Mask]] = {
    "Concatenate": concatenated,
    "Embedding": embedded,
    "Masking": masking,
    "ReversibleEmbedding": embedded,
    **dict.fromkeys(("Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"), merged),
    **dict.fromkeys(("Bidirectional", "GRU", "LSTM", "RNN", "SimpleRNN"), of_sequences),
    **dict.fromkeys(("CuDNNGRU", "CuDNNLSTM"), of_sequences),
    **dict.fromkeys(("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"), of_sequences),
    "TimeDistributed": of_steps,
}


def mask_of(call: Call, inputs: Sequence[Tensor], masks: Sequence[Mask]) -> Mask:
    """The mask of a layer's first result, None when it has none."""
    kind = call.layer.row_kind
    if kind in KEEPING:
        return masks[0] if masks else None
    rule = RULES.get(kind)
    return None if rule is None or not inputs or not masks else rule(call, inputs, masks)
