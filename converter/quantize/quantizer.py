"""Quantizes the float graphs of a model: what `TFLiteConverter.convert` calls."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .dynamic import SMALLEST, quantize_weights
from .ranges import Range, Scales
from .recipe import FLOAT32, Recipe
from .rewrite import refuse_floats, rewrite
from .rules import touches_float32

if TYPE_CHECKING:
    from ..ir.graph import Graph, Op, Tensor

CALLER = 5  # frames from a warning here to whoever called convert


def quantize(
    graphs: Sequence[Graph], recipe: Recipe, ranges: Sequence[Mapping[Tensor, Range]]
) -> Counter[str]:
    """Quantizes `graphs` in place; counts, by kind, the operators that stay float32.

    Args:
        graphs: float graphs, one for each signature.
        recipe: what is asked for.
        ranges: for each graph what its tensors were measured to be; not looked at when only
            weights are quantized.

    Raises ConverterError when the recipe allows no float32 operators and some would stay so.

    Warns (UserWarning) when nothing could be quantized, or no weights are large enough.
    """
    if recipe.weights_only:
        if not sum([quantize_weights(graph, recipe) for graph in graphs]):
            warnings.warn(
                f"the model stays float: it has no weights of {SMALLEST} elements or more that "
                "dynamic-range quantization could store in 8 bits; a representative_dataset "
                "quantizes it whole",
                stacklevel=CALLER,
            )
        return count(op for graph in graphs for op in graph.ops if computes_float32(op))
    n_ops = sum(touches_float32(op) for graph in graphs for op in graph.ops)
    float_ops: list[Op] = []
    size_dependent: set[Tensor] = set()
    for graph, measured in zip(graphs, ranges, strict=True):
        scales = Scales(graph, measured)
        float_ops += rewrite(graph, scales, recipe)
        size_dependent |= scales.size_dependent
    if not recipe.float_fallback:
        refuse_floats(float_ops, size_dependent)
    if 0 < len(float_ops) == n_ops and recipe.input_type == recipe.output_type == FLOAT32:
        kinds = ", ".join(count(float_ops))
        warnings.warn(
            f"the model stays float: none of its operators ({kinds}) has an int8 kernel",
            stacklevel=CALLER,
        )
    return count(float_ops)


def computes_float32(op: Op) -> bool:
    """Whether `op` has float32 inputs only, no weights of 8 bits."""
    return touches_float32(op) and not any(tensor.dtype == np.int8 for tensor in op.present_inputs)


def count(ops: Iterable[Op]) -> Counter[str]:
    """How many operators there are of each kind."""
    return Counter(op.custom_code or op.kind for op in ops)
