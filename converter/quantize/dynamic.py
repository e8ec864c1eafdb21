"""The graph with int8 weights: results stay real, and so do the inputs of the kernels.

    x:f32, w:f32 -> CONV_2D -> y:f32      becomes      x:f32, w:i8 -> CONV_2D -> y:f32

A hybrid kernel measures its input while it runs, stores it in 8 bits and multiplies integers.
"""

from __future__ import annotations

import numpy as np

from ...schema.quantization import Quantization
from ..ir.graph import Graph, Op
from ..passes.rewrite import with_options
from .recipe import Recipe
from .rewrite import INT8, constant, like
from .rules import WEIGHT_RULES, WeightRule, is_real
from .scales import of_weights, stored_weights
from .sized import from_sizes

SMALLEST = 1024
"""Elements below which weights stay real: they would save little and cost accuracy."""


def quantize_weights(graph: Graph, recipe: Recipe) -> int:
    """Stores large weights of `graph`, and of the graphs it calls, in 8 bits; how many.

    What is computed from sizes alone stays float.
    """
    sized = from_sizes(graph)
    done = sum(quantize_weights(one, recipe) for one in graph.callees())
    for op in list(graph.ops):
        rule = WEIGHT_RULES.get(op.kind)
        weights = op.input(rule.weights) if rule is not None else None
        if rule is None or weights is None or op.output in sized:
            continue
        if not has_large_weights(op, rule):
            continue
        params = of_weights(weights.data, None if op.kind in recipe.per_tensor else rule.axis)
        array = stored_weights(weights.data, params)
        op.set_input(rule.weights, constant(weights, array, params))
        if rule.asymmetric:
            with_options(op, asymmetric_quantize_inputs=True)
        if not rule.hybrid:
            make_real(graph, op, params)
        done += 1
    return done


def has_large_weights(op: Op, rule: WeightRule) -> bool:
    """Whether the weights of `op` are a real constant of enough elements, all else being real."""
    weights = op.inputs[rule.weights]
    large = weights.is_constant and is_real(weights) and weights.data.size >= SMALLEST
    return large and is_real(op.output) and bool(np.isfinite(weights.data).all())


def make_real(graph: Graph, op: Op, params: Quantization) -> None:
    """Lets `op` give stored numbers, and a DEQUANTIZE its real result."""
    result = op.output
    inner = like(result, INT8, params, result.name)
    op.outputs[0] = inner
    inner.producer = op
    graph.insert_after(op, Op("DEQUANTIZE", [inner], [result], origin=op.origin))
