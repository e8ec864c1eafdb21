"""Ranges that the model itself states: FAKE_QUANT, and what a user says of inputs and defaults.

x -> CONV_2D -> y -> FAKE_QUANT(0, 6) -> z      becomes      x -> CONV_2D -> y, of 0 to 6
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import Any

from ...schema.errors import ConverterError
from ..ir.graph import Graph, Op, Tensor
from ..passes.rewrite import ops_of
from .needs import Range, limits_of
from .ranges import Scales
from .rules import is_float32, rule_of
from .scales import of_result
from .scheme import Scheme

Stats = Mapping[str, tuple[float, float]]


def has_fake_quant(graphs: Sequence[Graph]) -> bool:
    """Whether a graph, or one that it calls, has FAKE_QUANT operators."""
    return any(ops_of(called, "FAKE_QUANT") for graph in graphs for called in graph.reachable())


def has_dynamic_weights(graphs: Sequence[Graph]) -> bool:
    """Whether an operator of a graph, or of one that it calls, reads such weights."""
    ops = (op for graph in graphs for called in graph.reachable() for op in called.ops)
    return any(reads_dynamic_weights(op) for op in ops)


def reads_dynamic_weights(op: Op) -> bool:
    """Whether the source quantizes what an operator multiplies its integer weights with."""
    return any(x.fake_quant is not None and x.fake_quant.dynamic for x in op.present_inputs)


def take_fake_quant(graph: Graph) -> dict[Tensor, Range]:
    """Removes the FAKE_QUANT operators of `graph`; the ranges they stated."""
    ranges: dict[Tensor, Range] = {}
    for op in ops_of(graph, "FAKE_QUANT"):
        x, y = op.inputs[0], op.output
        if not x.is_constant:
            ranges[x] = nudged(op.options)
        graph.replace(y, x)
        graph.remove(op)
    return ranges


def nudged(options: Any) -> Range:
    """The range of a FAKE_QUANT, moved so that 0 is one of its levels: TensorFlow's rule."""
    first, last = int(bool(options.narrow_range)), 2**options.num_bits - 1
    low, high = float(options.min), float(options.max)
    scale = (high - low) / (last - first)
    zero = min(max(floor(first - low / scale + 0.5), first), last)
    return (first - zero) * scale, (last - zero) * scale


def stated_ranges(
    graph: Graph,
    ranges: Mapping[Tensor, Range],
    scheme: Scheme,
    stats: Stats,
    default: tuple[float, float] | None,
) -> dict[Tensor, Range]:
    """The ranges of a model that nothing was measured of.

    Args:
        graph: the model, without FAKE_QUANT.
        ranges: those that FAKE_QUANT stated.
        scheme: what it is quantized to.
        stats: (mean, standard deviation) of inputs by name: real = (stored - mean) / deviation.
        default: the range of tensors that nothing tells one of.

    Raises ConverterError when nothing states a range.
    """
    integers = scheme.integers
    stated = dict(ranges)
    for tensor in graph.inputs:
        name = tensor.name.removesuffix(":0")
        if name in stats and tensor not in stated:
            mean, deviation = stats[name]
            stated[tensor] = (integers.low - mean) / deviation, (integers.high - mean) / deviation
    for op in graph.ops:
        rule = rule_of(op, scheme)
        if rule is not None and rule.result is not None:
            limits = limits_of(of_result(*rule.result), integers)
            stated.update((tensor, limits) for tensor in op.outputs if tensor not in stated)
    if default is not None:
        known = Scales(graph, stated, scheme).of
        results = [tensor for op in graph.ops for tensor in op.outputs]
        stated.update(
            (tensor, default)
            for tensor in (*graph.inputs, *results)
            if is_float32(tensor) and tensor not in known and tensor not in stated
        )
    if not stated:
        raise ConverterError(
            f"nothing tells the ranges of the model's tensors, which {scheme.name} needs: the "
            "graph has no FakeQuant operations; set default_ranges_stats = (min, max), or "
            "quantize with a representative_dataset and optimizations = [Optimize.DEFAULT]"
        )
    return stated
