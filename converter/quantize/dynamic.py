"""The graph with int8 weights: results stay float32, and so do the inputs of the kernels.

    x:f32, w:f32 -> CONV_2D -> y:f32      becomes      x:f32, w:i8 -> CONV_2D -> y:f32

A hybrid kernel measures its input while it runs, quantizes it to 8 bits and multiplies integers.
"""

from __future__ import annotations

import numpy as np

from ...schema.quantization import Quantization
from ..ir.graph import Graph, Op
from ..passes.rewrite import with_options
from .recipe import Recipe
from .rewrite import INT8, constant, like
from .rules import WEIGHT_RULES, WeightRule, is_float32
from .scales import of_weights, quantized_weights
from .size_dependent import size_dependent_tensors

SMALLEST = 1024
"""Elements below which weights stay float32: they would save little and cost accuracy."""


def quantize_weights(graph: Graph, recipe: Recipe) -> int:
    """Quantizes large weights of `graph`, and of the graphs it calls, to 8 bits; how many.

    What is computed from sizes alone stays float.
    """
    size_dependent = size_dependent_tensors(graph)
    n_quantized = sum(quantize_weights(callee, recipe) for callee in graph.callees())
    for op in list(graph.ops):
        rule = WEIGHT_RULES.get(op.kind)
        weights = op.input(rule.weights) if rule is not None else None
        if rule is None or weights is None or op.output in size_dependent:
            continue
        if not has_large_weights(op, rule):
            continue
        params = of_weights(weights.data, None if op.kind in recipe.per_tensor else rule.axis)
        array = quantized_weights(weights.data, params)
        op.set_input(rule.weights, constant(weights, array, params))
        if rule.asymmetric:
            with_options(op, asymmetric_quantize_inputs=True)
        if not rule.hybrid:
            dequantize_result(graph, op, params)
        n_quantized += 1
    return n_quantized


def has_large_weights(op: Op, rule: WeightRule) -> bool:
    """Whether `op` is in float32 and its weights are a constant of enough elements."""
    weights = op.inputs[rule.weights]
    large = weights.is_constant and is_float32(weights) and weights.data.size >= SMALLEST
    return large and is_float32(op.output) and bool(np.isfinite(weights.data).all())


def dequantize_result(graph: Graph, op: Op, params: Quantization) -> None:
    """Lets `op` give int8 numbers, and a DEQUANTIZE its float32 result."""
    result = op.output
    inner = like(result, INT8, params, result.name)
    op.outputs[0] = inner
    inner.producer = op
    graph.insert_after(op, Op("DEQUANTIZE", [inner], [result], origin=op.origin))
