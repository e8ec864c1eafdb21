"""The graph with quantized weights only: results stay float32, and so do the inputs of the kernels.

    x:f32, w:f32 -> CONV_2D -> y:f32      becomes      x:f32, w:i8 -> CONV_2D -> y:f32

A hybrid kernel measures its input while it runs, quantizes it to 8 bits and multiplies integers.
In a scheme that is not hybrid a DEQUANTIZE makes the weights float32 again, once, when the file is
loaded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from ...schema.quantization import Quantization
from ..ir.graph import Graph, Op, Tensor
from ..passes.rewrite import with_options
from .blocks import dequantized_rows, of_blocks, quantized_blocks, reason_against_blocks
from .rewrite import like
from .rules import WEIGHT_RULES, WeightRule, is_float32, weights_code
from .scales import constant, quantized_weights
from .scheme import Scheme
from .size_dependent import size_dependent_tensors
from .weights import weights_of

ROWS = WeightRule(axis=0)
"""Weights with a scale for each row."""
MIXED = 16
"""From so many times the least number of elements on a hybrid kernel of gates pays, also where some
of its weights are smaller than that and would stay float."""
Schemes = Callable[[Op], "Scheme | None"]


def quantize_weights(
    graph: Graph, scheme_of: Schemes, per_tensor: frozenset[str] = frozenset()
) -> int:
    """Quantizes the weights of `graph`, and of the graphs it calls; how many.

    What is computed from sizes alone stays float.

    Args:
        graph: a graph.
        scheme_of: the scheme of an operator whose results stay float32, None for one that stays.
        per_tensor: the kinds of operators whose weights have one scale.
    """
    size_dependent = size_dependent_tensors(graph)
    n_quantized = sum(quantize_weights(callee, scheme_of, per_tensor) for callee in graph.callees())
    float_forms: dict[tuple[Tensor, Scheme], Tensor] = {}
    for op in list(graph.ops):
        scheme = scheme_of(op)
        if scheme is None or not op.outputs or op.output in size_dependent:
            continue
        if scheme.hybrid and not is_of_small_parts(op, scheme):
            n_quantized += quantize_hybrid(graph, op, scheme, per_tensor)
            continue
        for i in quantized_inputs(op, scheme):
            tensor = op.inputs[i]
            if (tensor, scheme) not in float_forms:
                float_forms[tensor, scheme] = dequantized(graph, op, i, scheme, per_tensor)
                n_quantized += 1
            op.set_input(i, float_forms[tensor, scheme])
    return n_quantized


def quantize_hybrid(graph: Graph, op: Op, scheme: Scheme, per_tensor: frozenset[str]) -> bool:
    """Gives `op` integer weights, if there is a kernel for them and they are large."""
    rule = WEIGHT_RULES.get(op.kind)
    weights = op.input(rule.weights) if rule is not None else None
    if rule is None or weights is None or not has_large_weights(op, rule, scheme):
        return False
    if rule.limit is not None and rule.limit(op) is not None:
        return False
    params, quantized = integer_weights(op, rule.weights, rule, scheme, per_tensor)
    op.set_input(rule.weights, quantized)
    for i in rule.others:
        if op.input(i) is not None:
            op.set_input(i, integer_weights(op, i, rule, scheme, per_tensor)[1])
    if rule.asymmetric:
        with_options(op, asymmetric_quantize_inputs=True)
    if not rule.hybrid:
        dequantize_result(graph, op, quantized.dtype, params)
    return True


def integer_weights(
    op: Op, i: int, rule: WeightRule, scheme: Scheme, per_tensor: frozenset[str]
) -> tuple[Quantization, Tensor]:
    """The scales of the weights that are input `i` of `op`, and the weights as integers."""
    weights = op.inputs[i]
    if scheme.hybrid and not rule.hybrid:
        scheme = dataclasses.replace(scheme, weights="i8", block=None)
    block = scheme.block if i == rule.weights else None
    if block is not None and not reason_against_blocks(op, i, rule, scheme):
        integers = scheme.weight_integers(scheme.weights)
        params = of_blocks(weights.data, block, integers)
        return params, constant(weights, quantized_blocks(weights.data, params, integers), params)
    params, integers = weights_of(op, weights, rule.axis, scheme, per_tensor)
    if rule.axis is not None and scheme.hybrid and rule.by_channel(op):
        params = for_each_channel(params, weights.data.shape[rule.axis], rule.axis)
    return params, constant(weights, quantized_weights(weights.data, params, integers), params)


def for_each_channel(params: Quantization, n_channels: int, axis: int) -> Quantization:
    """One scale as many that are equal; what has several stays."""
    if params.scales.size != 1:
        return params
    scales, zero_points = params.scales.repeat(n_channels), params.zero_points.repeat(n_channels)
    return Quantization(scales, zero_points, axis)


def hybrid_code(kind: str, scheme: Scheme) -> str:
    """The type of the weights of an operator whose inputs are float32; int8 where it moves them."""
    return weights_code(kind, scheme) if WEIGHT_RULES[kind].hybrid else "i8"


def has_large_weights(op: Op, rule: WeightRule, scheme: Scheme) -> bool:
    """Whether `op` is in float32 and its weights are constants, of enough elements or few bits."""
    weights = [x for i in (rule.weights, *rule.others) if (x := op.input(i)) is not None]
    if not all(x.is_constant and is_float32(x) for x in weights):
        return False
    n_elements = max(max(x.data.size, x.n_source) for x in weights)
    is_large = n_elements >= scheme.smallest or has_few_bits(weights[0], scheme)
    return is_large and is_float32(op.output) and all(np.isfinite(x.data).all() for x in weights)


def is_small_in_source(weights: Tensor, scheme: Scheme) -> bool:
    """Whether a product of the source, which became one of several of an operator, stays float."""
    return 0 < weights.n_source < scheme.smallest


def has_few_bits(weights: Tensor, scheme: Scheme) -> bool:
    """Whether weights were fake-quantized to so few bits that they are integers at any size."""
    return weights.fake_quant is not None and weights.fake_quant.bits <= scheme.few_bits


def is_of_small_parts(op: Op, scheme: Scheme) -> bool:
    """Whether the weights of `op` are large only before they are cut into those of gates, or only
    some of them are, and those not very.

    A DEQUANTIZE makes such weights float32: a hybrid kernel takes all of them as integers, with one
    scale for each gate, where the source's product has one for each row, and on such small weights
    it saves no time.
    """
    rule = WEIGHT_RULES.get(op.kind)
    if rule is None or not rule.others or op.input(rule.weights) is None:
        return False
    weights = [x for i in (rule.weights, *rule.others) if (x := op.input(i)) is not None]
    are_mixed = any(is_small_in_source(x, scheme) for x in weights)
    least = scheme.smallest * MIXED if are_mixed else scheme.smallest
    return has_large_weights(op, rule, scheme) and all(x.data.size < least for x in weights)


def dequantize_result(graph: Graph, op: Op, dtype: np.dtype, params: Quantization) -> None:
    """Lets `op` give integers, and a DEQUANTIZE its float32 result."""
    result = op.output
    inner = like(result, dtype, params, result.name)
    op.outputs[0] = inner
    inner.producer = op
    graph.insert_after(op, Op("DEQUANTIZE", [inner], [result], origin=op.origin))


def quantized_inputs(op: Op, scheme: Scheme) -> Iterator[int]:
    """The constants of `op` that a scheme stores in another type, by position."""
    if scheme.weights == "f16":
        for i, tensor in enumerate(op.inputs):
            is_plain = is_float32(tensor) and tensor.is_constant and not tensor.is_variable
            if is_plain and fits_float16(tensor.data):
                yield i
        return
    rule = WEIGHT_RULES.get(op.kind)
    if rule is None or op.input(rule.weights) is None:
        return
    if has_large_weights(op, rule, scheme):
        for i in (rule.weights, *rule.others):
            weights = op.input(i)
            if weights is not None and not is_small_in_source(weights, scheme):
                yield i


def fits_float16(array: np.ndarray) -> bool:
    """Whether float16 numbers can stand for those of an array: none is too large, and what is there
    does not vanish, as an epsilon of 1e-12 would.
    """
    if np.abs(array).max(initial=0) > np.finfo(np.float16).max:
        return False
    return not array.any() or bool(array.astype(np.float16).any())


def dequantized(graph: Graph, op: Op, i: int, scheme: Scheme, per_tensor: frozenset[str]) -> Tensor:
    """The constant input `i` of `op` as a DEQUANTIZE gives it."""
    tensor, rule = op.inputs[i], WEIGHT_RULES.get(op.kind)
    if rule is None or scheme.weights == "f16":
        array = tensor.data.astype(np.float16)
        quantized = Tensor(tensor.name, array.dtype, array.shape, array, origin=tensor.origin)
    elif scheme.block is not None and not reason_against_blocks(op, i, rule, scheme):
        return dequantized_rows(graph, op, tensor, scheme)
    else:
        if scheme.hybrid:
            code = hybrid_code(op.kind, scheme)
            scheme, rule = dataclasses.replace(scheme, weights=code, hybrid=False), ROWS
        scheme = dataclasses.replace(scheme, block=None)
        _, quantized = integer_weights(op, i, rule, scheme, per_tensor)
    result = like(tensor, np.dtype(np.float32), None, tensor.name)
    graph.insert_before(op, Op("DEQUANTIZE", [quantized], [result], origin=op.origin))
    return result
