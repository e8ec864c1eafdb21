"""Ranges that the model itself states: FAKE_QUANT, and what a user says of inputs and defaults.

x -> CONV_2D -> y -> FAKE_QUANT(0, 6) -> z      becomes      x -> CONV_2D -> y, of 0 to 6
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...schema.errors import ConverterError
from ..ir.graph import Graph, Op, Tensor
from ..lowering.fake_quant import nudged
from ..passes.activation import FUSED, fuse_activation
from ..passes.driver import run_until_settled
from ..passes.linear import fuse_affine_after
from ..passes.rewrite import (
    FUSES_ACTIVATION,
    NONE,
    activation_of,
    ops_of,
    with_options,
)
from .needs import Range, constant_range, hull, limits_of
from .ranges import Scales, float32_inputs, keeps_scale
from .rules import is_float32, rule_of
from .scales import of_range, of_result
from .scheme import Integers, Scheme

Stats = Mapping[str, tuple[float, float]]
STATES_RANGE = ("CONCATENATION", "MEAN")
"""Operators whose result has a range where all inputs have, which TensorFlow states then."""
PASSES_RANGE = (*STATES_RANGE, "RESHAPE", "TRANSPOSE")


class Stated(NamedTuple):
    """What a FAKE_QUANT states of a tensor."""

    low: float
    high: float
    bits: int
    narrow: bool


def take_fake_quant(
    graph: Graph, reorder: bool = False, share_concat_ranges: bool = False
) -> dict[Tensor, Range]:
    """Removes the FAKE_QUANT operators of `graph`; the ranges they stated.

    A RELU behind one moves into the op before it, where no less is cut off, and the results of
    joins and means of fake-quantized values have ranges, too, as in TensorFlow's files.

    Args:
        graph: a graph.
        reorder: whether what stands behind FAKE_QUANT moves into the op before it: an affine for
            each channel, and every RELU.
        share_concat_ranges: whether all that CONCATENATION joins gets the range of the whole.
    """
    for op in ops_of(graph, "FAKE_QUANT"):
        clip = narrow_clip(graph, op)
        if clip is not None:  # the integers of a file have that level
            op.set_input(0, clip.inputs[0])
            graph.remove(clip)
    ranges = {tensor: nudged(*stated) for tensor, stated in stated_by(graph).items()}
    for op in ops_of(graph, "FAKE_QUANT"):
        graph.replace(op.output, op.inputs[0])
        graph.remove(op)
    for op in ops_of(graph, *FUSED):
        x = op.inputs[0]
        if x in ranges and op.output in ranges and hull(ranges[x], ranges[op.output]) == ranges[x]:
            fuse_activation.change(graph, op)
    if reorder:
        run_until_settled(graph, (fuse_affine_after, fuse_activation))
    if share_concat_ranges:
        share_ranges(graph, ranges)
    return ranges


def clamp_at_stated(graph: Graph, ranges: Mapping[Tensor, Range], scales: Scales) -> list[Op]:
    """Gives the operators before FAKE_QUANT the clamp that it was, where the scale is wider.

        x -> CONV_2D -> y, of 0 to 6;  y, z -> CONCATENATION, of -1 to 7

    becomes

        x -> CONV_2D(RELU6) -> y

    A range from 0 on is all that some quantizers leave of a RELU. Operators that take in none get
    one behind them.

    Args:
        graph: a graph without FAKE_QUANT.
        ranges: those that FAKE_QUANT stated.
        scales: of its tensors; what is behind a new RELU gets the scale of what is before.

    Returns:
        The operators that were added.
    """
    added = []
    for tensor, (low, high) in ranges.items():
        if low != 0 or tensor not in scales.of or tensor.producer is None:
            continue
        source = _unmoved(graph, tensor, scales.scheme)
        op, params = source.producer, scales.of.get(source)
        if op is None or params is None:
            continue
        if limits_of(params, scales.scheme.integers)[0] >= -params.scale / 2:
            continue
        kind = "RELU6" if abs(high - 6) < params.scale / 2 else "RELU"
        if op.kind in FUSES_ACTIVATION and activation_of(op) == NONE:
            with_options(op, fused_activation_function=FUSED[kind])
        elif op.kind not in {*FUSES_ACTIVATION, *FUSED}:
            clamped = Tensor(source.name, source.dtype, source.sizes, origin=source.origin)
            graph.replace(source, clamped)
            added.append(graph.insert_after(op, Op(kind, [source], [clamped], origin=op.origin)))
            scales.of[clamped] = params
    return added


def _unmoved(graph: Graph, tensor: Tensor, scheme: Scheme) -> Tensor:
    """What operators of one float32 input moved to `tensor`, and to no other one."""
    while (op := tensor.producer) is not None and keeps_scale(op, scheme):
        values = float32_inputs(op)
        if len(values) != 1 or graph.sole_reader(values[0]) is not op or op.kind in FUSED:
            break
        (tensor,) = values
    return tensor


def narrow_clip(graph: Graph, op: Op) -> Op | None:
    """What cuts off the lowest level before a FAKE_QUANT of a narrow range.

    x -> MAXIMUM(low + scale) -> FAKE_QUANT(low, high) -> y
    """
    clip, options = op.inputs[0].producer, op.options
    if clip is None or clip.kind != "MAXIMUM" or graph.sole_reader(clip.output) is not op:
        return None
    lowest = clip.inputs[1]
    scale = (options.max - options.min) / (2**options.num_bits - 1)
    if not lowest.is_constant or lowest.data.size != 1:
        return None
    return clip if abs(float(lowest.data.item()) - options.min - scale) < scale / 8 else None


def fakes_of(graph: Graph) -> dict[Tensor, Any]:
    """The options of the FAKE_QUANT behind tensors, which may be narrow."""
    return {
        (clip or op).inputs[0]: op.options
        for op in ops_of(graph, "FAKE_QUANT")
        for clip in [narrow_clip(graph, op)]
    }


def keep_rounding(graph: Graph, fakes: Mapping[Tensor, Any]) -> None:
    """Puts FAKE_QUANT back where a tensor and what reads it stayed float32.

    Args:
        graph: a quantized graph.
        fakes: what `fakes_of` gave for it before.
    """
    for tensor, options in fakes.items():
        is_there = tensor.producer is not None or tensor in graph.inputs
        readers = [op for op in dict.fromkeys(tensor.readers) if op.kind != "QUANTIZE"]
        if not (is_there and is_float32(tensor) and (readers or graph.is_output(tensor))):
            continue
        quantizing = [op for op in dict.fromkeys(tensor.readers) if op.kind == "QUANTIZE"]
        result = Tensor(tensor.name, tensor.dtype, tensor.sizes, origin=tensor.origin)
        graph.replace(tensor, result)
        for op in quantizing:
            op.set_input(0, tensor)
        fake = Op("FAKE_QUANT", [tensor], [result], options, origin=tensor.name)
        if readers:
            graph.insert_before(min(readers, key=graph.position), fake)
        else:
            graph.append(fake)


def stated_by(graph: Graph) -> dict[Tensor, Stated]:
    """What FAKE_QUANT states of the tensors before it, and so of joins and means of such behind."""
    before: dict[Tensor, Stated] = {}
    behind: dict[Tensor, Stated] = {}
    for op in graph.ops:
        if op.kind == "FAKE_QUANT":
            options = op.options
            stated = Stated(options.min, options.max, options.num_bits, bool(options.narrow_range))
            behind[op.output] = stated
            if not op.inputs[0].is_constant:
                before[op.inputs[0]] = stated
        elif op.kind in PASSES_RANGE and (
            values := [t for t in op.present_inputs if is_float32(t)]
        ):
            if any(reader.kind == "FAKE_QUANT" for reader in op.output.readers):
                continue
            if all(tensor in behind for tensor in values):
                parts = [behind[tensor] for tensor in values]
                low, high = min(part.low for part in parts), max(part.high for part in parts)
                behind[op.output] = parts[0]._replace(low=low, high=high)
                if op.kind in STATES_RANGE:
                    before[op.output] = behind[op.output]
    return before


def share_ranges(graph: Graph, ranges: dict[Tensor, Range]) -> None:
    """Gives what CONCATENATION joins and its result one range, that of all of them together."""
    changed = True
    while changed:
        changed = False
        for op in ops_of(graph, "CONCATENATION"):
            tensors = [t for t in (*op.present_inputs, op.output) if not t.is_constant]
            whole = None
            for tensor in tensors:
                whole = hull(whole, ranges[tensor]) if tensor in ranges else whole
            if whole is not None and any(ranges.get(tensor) != whole for tensor in tensors):
                ranges.update(dict.fromkeys(tensors, whole))
                changed = True


LIMITS = {"MAXIMUM": np.maximum, "MINIMUM": np.minimum}
"""Operators whose result's range follows from their operands'."""


def stated_ranges(
    graph: Graph,
    ranges: Mapping[Tensor, Range],
    scheme: Scheme,
    stats: Stats,
    default: tuple[float, float] | None,
    is_called: bool = False,
) -> dict[Tensor, Range]:
    """The ranges of a model that nothing was measured of.

    Args:
        graph: the model, without FAKE_QUANT.
        ranges: those that FAKE_QUANT stated.
        scheme: what it is quantized to.
        stats: (mean, standard deviation) of inputs by name: real = (stored - mean) / deviation.
        default: the range of tensors that nothing tells one of.
        is_called: whether another graph calls it, whose ranges are enough.

    Raises ConverterError when nothing states a range.
    """
    integers = scheme.integers
    stated = dict(ranges)
    for tensor in graph.inputs:
        name = input_name(tensor)
        if name in stats and tensor not in stated:
            stated[tensor] = range_of_input(stats[name], integers)
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
    for op in graph.ops:
        if op.kind in LIMITS and op.output not in stated:
            ends = [constant_range(t) if t.is_constant else stated.get(t) for t in op.inputs]
            if all(end is not None for end in ends):
                low, high = LIMITS[op.kind].reduce(np.array(ends, np.float64))
                stated[op.output] = float(low), float(high)
    if not stated and not is_called:
        raise ConverterError(
            f"nothing tells the ranges of the model's tensors, which {scheme.name} needs: the "
            "graph has no FakeQuant operations; set default_ranges_stats = (min, max), or "
            "quantize with a representative_dataset and optimizations = [Optimize.DEFAULT]"
        )
    return stated


def take_integers(graph: Graph, scheme: Scheme, stats: Stats) -> None:
    """Makes float32 inputs of a graph integers, which a DEQUANTIZE makes floats.

    x:u8 of real = (stored - mean) / deviation -> DEQUANTIZE -> x':f32
    """
    for tensor in dict.fromkeys(graph.inputs):
        if not is_float32(tensor):
            continue
        params = of_range(
            *range_of_input(stats[input_name(tensor)], scheme.integers), scheme.integers
        )
        result = Tensor(tensor.name, tensor.dtype, tensor.sizes, origin=tensor.origin)
        graph.replace(tensor, result)
        tensor.dtype, tensor.origin, tensor.quantization = scheme.integers.dtype, None, params
        op = Op("DEQUANTIZE", [tensor], [result], origin=tensor.name)
        if graph.ops:
            graph.insert_before(graph.ops[0], op)
        else:
            graph.append(op)


def range_of_input(stats: tuple[float, float], integers: Integers) -> Range:
    """What integers stand for where real = (stored - mean) / deviation."""
    mean, deviation = stats
    return (integers.low - mean) / deviation, (integers.high - mean) / deviation


def input_name(tensor: Tensor) -> str:
    """The name by which a user calls an input."""
    return tensor.name.removesuffix(":0")
