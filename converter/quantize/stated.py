"""The scales of a source that is quantized already, which says of every tensor how it is.

    x -> FAKE_QUANT -> a;  y -> FAKE_QUANT -> b;  a, b -> MAXIMUM -> c -> SIN -> d

a and b are integers of their own scales, and c is float32: in the source no step rounds it, so its
operator stays float. What is only moved or chosen has the scale of what it came from (a RESHAPE of
a), and may be quantized as well before as behind (x -> RESHAPE -> FAKE_QUANT).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...schema.quantization import Quantization
from ..ir.graph import Graph, Op, Tensor
from ..lowering.fake_quant import FakeQuantized, nudged
from ..passes.rewrite import ops_of
from .needs import Range, limits_of
from .rules import is_float32, rule_of
from .scales import of_constant, of_range, of_result
from .scheme import Integers, Scheme

AVERAGES = ("AVERAGE_POOL_2D", "RESIZE_BILINEAR")
"""Operators of one scale whose results lie between the integers of their inputs."""
CLIPS = ("MAXIMUM", "MINIMUM")
"""Operators whose constants may lie beyond what a scale stands for."""
BITS = 8
NEAR = 0.02
"""Part by which a stated scale may be finer than the one that an operator gives: an interval has
255 or 256 steps.
"""
TOLERANCE = 1e-3
"""Part of a step that a number may lie beside an integer."""


class SourceScales(NamedTuple):
    """What a quantized source says of a graph.

    Attributes:
        of: the scale of each tensor that has one in the source.
        stated: the tensors of which the source states it.
        float_tensors: those float32 tensors that have none.
        float_ops: operators whose integer kernel rounds more coarsely than the source does.
    """

    of: Mapping[Tensor, Quantization]
    stated: frozenset[Tensor]
    float_tensors: frozenset[Tensor]
    float_ops: frozenset[Op]


def take_stated(graph: Graph) -> tuple[dict[Tensor, Range], dict[Tensor, Any]]:
    """Removes each FAKE_QUANT of `graph` before which nobody else reads the tensor.

    Returns the ranges of what stood before those, and of what the others give; and the options of
    those that were removed, by the tensor before them.
    """
    ranges: dict[Tensor, Range] = {}
    removed: dict[Tensor, Any] = {}
    for op in ops_of(graph, "FAKE_QUANT"):
        x, options = op.inputs[0], op.options
        limits = nudged(options.min, options.max, options.num_bits, bool(options.narrow_range))
        readers = {reader for reader in x.readers if reader.kind != "SHAPE"}
        if x in ranges or x.is_constant or graph.is_output(x) or readers != {op}:
            ranges[op.output] = limits
            continue
        ranges[x], removed[x] = limits, options
        graph.replace(op.output, x)
        graph.remove(op)
    return ranges, removed


def source_scales(graph: Graph, ranges: Mapping[Tensor, Range], scheme: Scheme) -> SourceScales:
    """What is integers in a quantized source, and what is float32.

    Args:
        graph: a graph of which `take_stated` took the ranges.
        ranges: these.
        scheme: what it is quantized to.
    """
    scales = {tensor: of_range(*limits, scheme.integers) for tensor, limits in ranges.items()}
    for op in graph.ops:
        rule = rule_of(op, scheme)
        if rule is not None and rule.same_scale and op.kind not in AVERAGES:
            params = _common_scale(op, scales, scheme.integers)
            if params is not None:
                scales |= {t: params for t in _float32(op.outputs) if t not in scales}
        if rule is not None and rule.result is not None and op.output in scales:
            scales[op.output] = _prescribed_or_stated(
                scales[op.output], of_result(*rule.result), scheme.integers
            )
    results = [tensor for op in graph.ops for tensor in _float32(op.outputs)]
    for tensor in (*reversed(results), *_float32(graph.inputs)):
        readers = [reader for reader in tensor.readers if reader.kind != "SHAPE"]
        behind = {_scale_behind(reader, scales, scheme) for reader in readers}
        if tensor not in scales and len(behind) == 1 and not graph.is_output(tensor):
            (params,) = behind
            if params is not None:
                scales[tensor] = params
    tensors = {*results, *_float32(graph.inputs)}
    return SourceScales(
        scales,
        frozenset(ranges),
        frozenset(tensors - scales.keys()),
        frozenset(op for op in graph.ops if _is_coarser(op, scales, scheme)),
    )


def _float32(tensors: Iterable[Tensor | None]) -> list[Tensor]:
    """Those that hold float32 numbers."""
    return [tensor for tensor in tensors if tensor is not None and is_float32(tensor)]


def _common_scale(
    op: Op, scales: Mapping[Tensor, Quantization], integers: Integers
) -> Quantization | None:
    """The one scale that all inputs of an operator have in the source."""
    inputs = _float32(op.inputs)
    constants = [tensor for tensor in inputs if tensor.is_constant]
    params_of_inputs = {scales.get(tensor) for tensor in inputs if not tensor.is_constant}
    if not params_of_inputs and len(constants) == 1 and constants[0].fake_quant is not None:
        return scale_of_constant(constants[0], integers)
    if len(params_of_inputs) != 1:
        return None
    (params,) = params_of_inputs
    if params is None or not all(_has_integers(op, x.data, params, integers) for x in constants):
        return None
    return params


def _has_integers(op: Op, array: np.ndarray, params: Quantization, integers: Integers) -> bool:
    """Whether the elements of a constant are what integers stand for."""
    if op.kind in CLIPS:
        array = np.clip(array, *limits_of(params, integers))
    steps = array / params.scale + params.zero_point
    is_inside = (steps > integers.low - TOLERANCE) & (steps < integers.high + TOLERANCE)
    return bool((is_inside & (np.abs(steps - np.rint(steps)) < TOLERANCE)).all())


def scale_of_constant(tensor: Tensor, integers: Integers) -> Quantization:
    """The scale of a constant that is no weight: the source's, where it has a symmetric one."""
    stated: FakeQuantized | None = tensor.fake_quant
    if stated is None or stated.is_per_axis or not (stated.narrow and stated.bits == BITS):
        return of_constant(tensor.data, integers)
    return Quantization([float(stated.high[0]) / (2 ** (BITS - 1) - 1)], [0])


def _prescribed_or_stated(
    stated: Quantization, prescribed: Quantization, integers: Integers
) -> Quantization:
    """The scale that an operator gives, where it loses nothing that the source's holds."""
    (low, high), limits = limits_of(stated, integers), limits_of(prescribed, integers)
    holds_all = low < limits[0] + prescribed.scale and high > limits[1] - prescribed.scale
    is_finer = prescribed.scale < stated.scale * (1 + NEAR)
    return prescribed if holds_all and is_finer else stated


def _scale_behind(
    op: Op, scales: Mapping[Tensor, Quantization], scheme: Scheme
) -> Quantization | None:
    """The scale of the results of an operator that only chooses from its inputs."""
    rule = rule_of(op, scheme)
    if rule is None or not (rule.same_scale and rule.selects):
        return None
    behind = {scales.get(tensor) for tensor in _float32(op.outputs)}
    return behind.pop() if len(behind) == 1 else None


def _is_coarser(op: Op, scales: Mapping[Tensor, Quantization], scheme: Scheme) -> bool:
    """Whether an integer kernel would round what the source does not: a float32 constant, or
    results to larger steps.
    """
    rule = rule_of(op, scheme)
    if rule is None or not op.outputs or op.output not in scales:
        return False
    operands = [x for i, x in enumerate(op.inputs) if i not in (rule.weights, rule.bias)]
    constants = [x for x in _float32(operands) if x.is_constant and not rule.same_scale]
    integers = scheme.integers
    if not all(
        _has_integers(op, x.data, scale_of_constant(x, integers), integers) for x in constants
    ):
        return True
    step = scales[op.output].scale * (1 + TOLERANCE)
    if op.kind in AVERAGES:
        return any(scales[x].scale > step for x in _float32(op.inputs) if x in scales)
    return rule.result is not None and of_result(*rule.result).scale > step
