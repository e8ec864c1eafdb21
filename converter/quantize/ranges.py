"""Which scale each tensor gets: measured ranges, spread along operators that ask for one scale.

    x -> CONV_2D -> y -> MAX_POOL_2D -> z        z takes the scale of y, as pooling must not rescale
    a, b -> CONCATENATION -> c                   a and b take the scale of c

Ranges that another one makes redundant are dropped first: those behind an operator of one float32
input that keeps scales (z), and those before an operator of several (a, b). The others are fixed,
and so are results whose scale is prescribed. Scales then propagate from there, but only to tensors
whose readers all find in them what they need (needs.py); where two meet, the reader that needs
another one gets the tensor requantized.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from ...schema.quantization import Quantization
from ..ir.graph import Graph, Op, Tensor
from ..passes.rewrite import ops_of
from .exact_sums import scales_of_exact_sums, variable_and_constant
from .min_scales import min_scale_of
from .needs import Needs, Range, hull
from .rules import (
    DIVISORS,
    is_float32,
    nonfinite_constant,
    rule_of,
)
from .scales import of_constant, of_range, of_result, with_min_scale
from .scheme import INT8, Scheme
from .size_dependent import ranges_of_parts, size_dependent_tensors, sums_over_unknown_sizes
from .softplus import parts_in_float
from .stated import SourceScales, scale_of_constant
from .weights import largest_scale


class Scales:
    """The scales of a graph's float32 tensors in a scheme that stores them as integers.

    Attributes:
        scheme: the scheme.
        of: each tensor's own scale.
        input_scales: (op, position of an input) -> the scale in which `op` must get it, where
            that is another.
        result_scales: (op, position of a result) -> the scale in which `op` gives it, where that
            is another.
        needs: what the readers need of the tensors' ranges; every scale that is read covers it.
        size_dependent: tensors that have none, as their range at other sizes is another.
        float_ops: operators that stay float32 in a quantized source, whatever scales are around.
    """

    def __init__(
        self,
        graph: Graph,
        ranges: Mapping[Tensor, Range],
        scheme: Scheme = INT8,
        variables: Mapping[Op, Quantization] = MappingProxyType({}),
        source: SourceScales | None = None,
    ) -> None:
        self.of: dict[Tensor, Quantization] = {}
        self.input_scales: dict[tuple[Op, int], Quantization] = {}
        self.result_scales: dict[tuple[Op, int], Quantization] = {}
        self._read = {op.output: params for op, params in variables.items() if op.outputs}
        self.scheme, self._integers = scheme, scheme.integers
        parts = ranges_of_parts(graph).items()
        ranges = {**ranges, **{t: hull(ranges[t], whole) for t, whole in parts if t in ranges}}
        self._ops = set(graph.ops)  # a reader may stand in a graph that is called
        self.needs = Needs(graph, ranges, scheme)
        self.size_dependent = size_dependent_tensors(graph)
        self.size_dependent |= sums_over_unknown_sizes(graph, self.size_dependent)
        self._excluded = self.size_dependent | parts_in_float(graph, scheme)
        self._source, self.float_ops = source, set[Op]()
        if source is not None:
            self._excluded |= source.float_tensors
            self.float_ops |= source.float_ops
        while True:
            self._assign(graph, ranges)
            divisors = divisors_near_zero(graph, ranges, self) - self._excluded
            min_scales = self._results_below_min_scale(graph)
            if not divisors and not min_scales:
                break
            self._excluded |= divisors
            if source is None:
                self.needs.min_scales |= min_scales
            else:
                self.float_ops |= {tensor.producer for tensor in min_scales if tensor.producer}
        self._check(graph)

    @property
    def are_stated(self) -> bool:
        """Whether they are those of a quantized source, in which tensors are rounded to them."""
        return self._source is not None

    def _assign(self, graph: Graph, ranges: Mapping[Tensor, Range]) -> None:
        """Gives a scale to every tensor that may have one."""
        if self._source is not None:
            self._assign_stated(graph, self._source.of)
            return
        min_scales = self.needs.min_scales
        measured = {
            t: with_min_scale(
                of_range(*self.needs.told_apart(t, r), self._integers), min_scales.get(t, 0.0)
            )
            for t, r in ranges.items()
            if is_float32(t)
        }
        constants = selected_constants(graph, self.scheme)
        measured |= {t: self._of_constant(t) for t in constants}
        prescribed = {
            tensor: of_result(*rule.result)
            for op in graph.ops
            if (rule := rule_of(op, self.scheme)) is not None and rule.result is not None
            for tensor in op.outputs
            if tensor in measured
        }
        prescribed |= {tensor: self._read[tensor] for tensor in self._read if tensor in measured}
        measured |= prescribed
        measured |= scales_of_exact_sums(graph, measured, ranges, self.scheme)
        for tensor in self._excluded:
            measured.pop(tensor, None)
        dropped = redundant_ranges(graph, measured, self.needs, self.scheme) - set(prescribed)
        self.of = {t: params for t, params in measured.items() if t not in dropped}
        self.input_scales, self.result_scales = {}, {}
        self._fixed = set(self.of)
        self._visited = set[Op]()
        self._propagate([op for op in graph.ops if rule_of(op, self.scheme) is not None])
        for tensor, params in reversed(measured.items()):
            if tensor not in self.of:  # those that its range gave way to have taken another scale
                self.of[tensor] = params
                self._fixed.add(tensor)
                self._propagate(neighbours(tensor))

    def _assign_stated(self, graph: Graph, stated: Mapping[Tensor, Quantization]) -> None:
        """Gives every tensor the scale that it has in a quantized source, and no other one."""
        self.of = {t: params for t, params in stated.items() if t not in self._excluded}
        self.of |= {t: self._of_constant(t) for t in selected_constants(graph, self.scheme)}
        self.input_scales, self.result_scales = {}, {}
        for op in graph.ops:
            rule = rule_of(op, self.scheme)
            if rule is not None and rule.result is not None:
                self.result_scales |= {
                    (op, i): of_result(*rule.result) for i, _ in enumerate(op.outputs)
                }
        self._fixed = set(self.of)
        self._visited = set[Op]()
        self._propagate([op for op in graph.ops if rule_of(op, self.scheme) is not None])

    def _results_below_min_scale(self, graph: Graph) -> dict[Tensor, float]:
        """The results whose scale their kernel cannot give -> the scale that it must be above.

        Such a result was (almost) always 0 in calibration.
        """
        limits = {}
        for op in graph.ops:
            rule = rule_of(op, self.scheme)
            if rule is None or not op.outputs or op.output not in self.of or op in self.float_ops:
                continue
            scales = [self._operand(op, i, i == rule.weights) for i in range(len(op.inputs))]
            min_scale = min_scale_of(op, rule, self.scheme.code, scales)
            if self.result(op, 0).scale <= min_scale:
                limits[op.output] = min_scale
        return limits

    def _operand(self, op: Op, i: int, is_weights: bool) -> float:
        """The scale in which `op` takes input `i`, of weights the largest; 0 for one that is left
        out or stays float32.
        """
        tensor = op.inputs[i]
        if tensor is None or not is_float32(tensor):
            return 0.0
        params = self.of_input(op, i)
        if params is None and tensor.is_constant and nonfinite_constant(op) is None:
            if is_weights:
                return largest_scale(op, tensor, self.scheme)
            params = self._of_constant(tensor)
        return 0.0 if params is None else params.scale

    def of_input(self, op: Op, i: int) -> Quantization | None:
        """The scale in which `op` takes input `i`; None for one without."""
        return self.input_scales.get((op, i)) or self.of.get(op.inputs[i])

    def _of_constant(self, tensor: Tensor) -> Quantization:
        """The scale of a constant that is no weight."""
        if self.are_stated:
            return scale_of_constant(tensor, self._integers)
        return of_constant(tensor.data, self._integers)

    def required(self, op: Op, i: int) -> Quantization:
        """The scale in which `op` takes input `i`, which must have one or be a constant."""
        params = self.of_input(op, i)
        return self._of_constant(op.inputs[i]) if params is None else params

    def result(self, op: Op, i: int) -> Quantization:
        """The scale in which `op` gives result `i`, which must have one."""
        params = self.result_scales.get((op, i))
        return self.of[op.outputs[i]] if params is None else params

    def _propagate(self, worklist: list[Op]) -> None:
        """Gives scales to the tensors around operators, from the last one on, and farther away."""
        while worklist:
            op = worklist.pop()
            rule = rule_of(op, self.scheme) if op in self._ops - self.float_ops else None
            if rule is None or op in self._visited:
                continue
            if rule.same_scale:
                common = self._common(op)
                if common is None:
                    continue
                for i, tensor in enumerate(op.inputs):
                    if is_float32(tensor):
                        worklist += self._set_input_scale(op, i, common)
                for i in range(len(op.outputs)):
                    worklist += self._set_result_scale(op, i, common)
            self._visited.add(op)

    def _common(self, op: Op) -> Quantization | None:
        """The one scale of an operator that keeps scales; None when nothing around has one yet."""
        inputs = [t for t in op.inputs if is_float32(t) and t in self.of]
        results = [t for t in op.outputs if is_float32(t) and t in self.of]
        order = [*results, *inputs] if len(float32_inputs(op)) > 1 else [*inputs, *results]
        order.sort(key=lambda tensor: tensor not in self._fixed)
        needed = self.needs.common(op, self.of)
        if not order or needed is None or not np.isfinite(needed).all():
            return self.of[order[0]] if order else None
        fitting = (
            self.of[tensor] for tensor in order if self.needs.covers(self.of[tensor], needed)
        )
        return next(fitting, None) or of_range(*needed, self._integers)

    def _set_input_scale(self, op: Op, i: int, params: Quantization) -> Iterable[Op]:
        """Lets `op` take input `i` in `params`; the operators to look at again."""
        tensor = op.inputs[i]
        if tensor in self._excluded:
            return ()
        if tensor.is_constant and tensor not in self.of:
            self.input_scales[op, i] = params
            return ()
        if self._is_given_a_scale(op, tensor) or not self._adopts(tensor, params):
            if self.of.get(tensor) != params:
                self.input_scales[op, i] = params
            return ()
        return neighbours(tensor)

    def _is_given_a_scale(self, op: Op, tensor: Tensor) -> bool:
        """Whether the operator that moves `tensor` tells its scale: in symmetric schemes those of
        several inputs take theirs requantized, so that other readers lose nothing.
        """
        producer = tensor.producer
        if not self.scheme.symmetric or len(float32_inputs(op)) < 2 or producer is None:
            return False
        is_moved = producer in self._ops and keeps_scale(producer, self.scheme)
        return is_moved and len(float32_inputs(producer)) == 1

    def _set_result_scale(self, op: Op, i: int, params: Quantization) -> Iterable[Op]:
        """Lets `op` give result `i` in `params`; the operators to look at again."""
        tensor = op.outputs[i]
        if not is_float32(tensor) or tensor in self._excluded:
            return ()
        if not self._adopts(tensor, params):
            if self.of.get(tensor) != params:
                self.result_scales[op, i] = params
            return ()
        return tensor.readers

    def _adopts(self, tensor: Tensor, params: Quantization) -> bool:
        """Gives `params` to a tensor without a scale, if they do for all who read it."""
        if tensor in self.of or not self.needs.allow(tensor, params):
            return False
        self.of[tensor] = params
        return True

    def _check(self, graph: Graph) -> None:
        """Raises ConverterError when a reader would get a tensor cut off."""
        for op in graph.ops:
            for i, tensor in enumerate(op.inputs):
                if tensor in self.needs.calibrated and tensor in self.of:
                    self.needs.check(
                        tensor, self.needs.input_range(op, i), self.required(op, i), op.kind
                    )
        for tensor in graph.outputs:
            if tensor in self.of and tensor in self.needs.calibrated:
                self.needs.check(tensor, self.needs.of[tensor], self.of[tensor], "the output")


def neighbours(tensor: Tensor) -> list[Op]:
    """The operators that give and read a tensor."""
    return [*([tensor.producer] if tensor.producer is not None else ()), *tensor.readers]


def float32_inputs(op: Op) -> list[Tensor]:
    """The inputs of `op` that hold float32 numbers."""
    return [tensor for tensor in op.inputs if is_float32(tensor)]


def keeps_scale(op: Op, scheme: Scheme) -> bool:
    """Whether inputs and results of `op` must share one scale."""
    rule = rule_of(op, scheme)
    return rule is not None and rule.same_scale


def selected_constants(graph: Graph, scheme: Scheme) -> list[Tensor]:
    """Constants from which an operator only takes elements, such as the table of an embedding."""
    return [
        tensor
        for op in graph.ops
        if keeps_scale(op, scheme) and len(float32_inputs(op)) == 1
        for tensor in float32_inputs(op)
        if tensor.is_constant and nonfinite_constant(op) is None
    ]


def redundant_ranges(
    graph: Graph, measured: Mapping[Tensor, Quantization], needs: Needs, scheme: Scheme
) -> set[Tensor]:
    """Tensors whose measured range gives way to the scale of a neighbour.

    In symmetric schemes the inputs of an operator of several keep theirs, as TensorFlow has it.
    """
    graph_ops = set(graph.ops)
    dropped: set[Tensor] = set()
    for op in graph.ops:
        if (
            keeps_scale(op, scheme)
            and len(float32_inputs(op)) == 1
            and float32_inputs(op)[0] in measured
        ):
            dropped.update(tensor for tensor in op.outputs if tensor in measured)
    worklist = [] if scheme.symmetric else [tensor for tensor in measured if tensor not in dropped]
    visited = set(worklist)
    while worklist:
        result = worklist.pop()
        op = result.producer
        if op is None or op not in graph_ops or not keeps_scale(op, scheme):
            continue
        sources = [
            tensor
            for tensor in float32_inputs(op)
            if tensor in measured and needs.allow(tensor, measured[result])
        ]
        dropped.update(sources)
        worklist += [tensor for tensor in sources if tensor not in visited]
        visited.update(sources)
    return dropped


def divisors_near_zero(graph: Graph, ranges: Mapping[Tensor, Range], scales: Scales) -> set[Tensor]:
    """Divisors that as integers would be 0 where they are small; they stay float32."""
    divisors = set()
    for op in ops_of(graph, *DIVISORS):
        divisor = op.inputs[DIVISORS[op.kind]]
        if divisor not in ranges or divisor not in scales.of:
            continue
        low, high = ranges[divisor]
        step = scales.of[divisor].scale
        if low < step and high > -step:
            divisors |= sources_of(divisor, scales.scheme)
            operand, constant = variable_and_constant(divisor.producer)
            if operand in scales.of and abs(constant or step) < step:  # the sum is its operand then
                divisors |= sources_of(operand, scales.scheme)
    return divisors


def sources_of(tensor: Tensor, scheme: Scheme) -> set[Tensor]:
    """A tensor and those whose elements it has, moved by operators of one float32 input."""
    sources = {tensor}
    while (
        (op := tensor.producer) is not None
        and keeps_scale(op, scheme)
        and len(float32_inputs(op)) == 1
    ):
        (tensor,) = float32_inputs(op)
        if tensor.is_constant:
            break
        sources.add(tensor)
    return sources
