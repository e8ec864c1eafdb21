"""Which part of its range each reader of a tensor tells apart, so that no scale cuts into it.

    x -> RELU -> y                  RELU needs all that x took in calibration
    x, b -> MINIMUM -> y -> ABS     MINIMUM needs no more of x than y took: what is larger never
                                    leaves it, and may be cut off before as well as behind it

An operator that moves or chooses elements needs of its inputs what is needed of its results. An
output of the graph is needed whole.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...schema.errors import ConverterError
from ...schema.quantization import Quantization
from ..ir.graph import Graph, Op, Tensor
from .cells import CELLS
from .rules import is_float32, rule_of
from .scales import ACTIVATIONS, of_range, of_result
from .scheme import INT8, Integers, Scheme

Range = tuple[float, float]
COARSE = 8  # steps of its own scale in one step of the scale that a shared tensor takes over


class Needs:
    """What the readers of a graph's tensors need of their ranges.

    Attributes:
        calibrated: the range of each tensor in calibration, as it can be quantized at all.
        of: the part of it that some reader tells apart.
        min_scales: what the scales of some tensors must be above, as their kernels give no finer
            ones.
        outputs: the graph's outputs.
    """

    def __init__(self, graph: Graph, ranges: Mapping[Tensor, Range], scheme: Scheme = INT8) -> None:
        self._scheme = scheme
        self.calibrated = dict(ranges)
        for op in graph.ops:
            rule = rule_of(op, scheme)
            if rule is not None and rule.result is not None:
                limits = limits_of(of_result(*rule.result), scheme.integers)
                self.calibrated.update(
                    (t, within(ranges[t], limits)) for t in op.outputs if t in ranges
                )
        graph_ops = set(graph.ops)
        self.outputs = set(graph.outputs)
        self.min_scales: dict[Tensor, float] = {}
        self.of: dict[Tensor, Range] = {}
        for tensor, measured in self.calibrated.items():
            is_state = tensor.producer is not None and tensor.producer.kind in CELLS
            if is_state or tensor in self.outputs or not set(tensor.readers) <= graph_ops:
                self.of[tensor] = measured
        for op in reversed(graph.ops):
            for i, tensor in enumerate(op.inputs):
                if tensor in self.calibrated:
                    needed = within(self.input_range(op, i), self.calibrated[tensor])
                    self.of[tensor] = hull(self.of.get(tensor), needed)

    def input_range(self, op: Op, i: int) -> Range:
        """What `op` needs of the range of its input `i`, which must be measured or constant."""
        tensor = op.inputs[i]
        measured = constant_range(tensor) if tensor.is_constant else self.calibrated[tensor]
        rule = rule_of(op, self._scheme)
        results = [tensor for tensor in op.outputs if is_float32(tensor)]
        if rule is None or not rule.selects or not all(result in self.of for result in results):
            return measured
        needed = None
        for result in results:
            needed = hull(needed, self.of[result])
        return measured if needed is None else within(measured, needed)

    def told_apart(self, tensor: Tensor, measured: Range) -> Range:
        """The range that a scale is made of: what was measured of a tensor, or what its readers
        tell apart where that is far less, as the maximum of masked numbers does. Both are widened
        to hold 0, as scales are.
        """
        needed, whole = (hull((0.0, 0.0), r) for r in (self.of.get(tensor, measured), measured))
        is_far_less = (needed[1] - needed[0]) * COARSE < whole[1] - whole[0]
        return needed if is_far_less else measured

    def allow(self, tensor: Tensor, params: Quantization) -> bool:
        """Whether `params` do for what gives a tensor and for all who read it.

        They must not be too coarse for some of several readers; the only reader may ask for any
        scale, as its own result has no finer one.
        """
        if params.scale <= self.min_scales.get(tensor, 0.0):
            return False
        needed = self.of.get(tensor)
        if needed is None:
            return True
        is_shared = tensor in self.outputs or len(set(tensor.readers)) > 1
        finest = of_range(*needed, self._scheme.integers).scale
        coarsest = finest * COARSE if is_shared else np.inf
        return self.covers(params, needed) and params.scale <= coarsest

    def common(self, op: Op, adopted: Mapping[Tensor, Quantization]) -> Range | None:
        """What one scale for all inputs of `op` must hold; None where that is not known of one.

        Of inputs without a range it is all that the scale stands for which they have `adopted`.
        """
        needed = None
        for i, tensor in enumerate(op.inputs):
            if not is_float32(tensor):
                continue
            if tensor.is_constant or tensor in self.calibrated:
                needed = hull(needed, self.input_range(op, i))
            elif tensor in adopted:
                needed = hull(needed, limits_of(adopted[tensor], self._scheme.integers))
            else:
                return None
        return needed

    def check(self, tensor: Tensor, needed: Range, params: Quantization, reader: str) -> None:
        """Raises ConverterError when `params` cut into what a reader needs of a tensor."""
        if tensor in self.calibrated and not self.covers(params, needed):
            low, high = limits_of(params, self._scheme.integers)
            raise ConverterError(
                f"{reader} would read '{tensor.name}', of which it needs {needed[0]:.4g} to "
                f"{needed[1]:.4g}, as {low:.4g} to {high:.4g}; please report it"
            )

    def covers(self, params: Quantization, needed: Range) -> bool:
        """Whether `params` stand for all of a range, but for the step that rounding may take."""
        low, high = limits_of(params, self._scheme.integers)
        step = params.scale * (1 + 1e-5)
        return low - step <= needed[0] and needed[1] <= high + step


def limits_of(params: Quantization, integers: Integers = ACTIVATIONS) -> Range:
    """The smallest and the largest number that `params` can stand for."""
    scale, zero_point = params.scale, params.zero_point
    return (integers.low - zero_point) * scale, (integers.high - zero_point) * scale


def within(inner: Range, outer: Range) -> Range:
    """A range cut off at another one; its nearest end where they have nothing in common."""
    low, high = np.clip(inner, *outer).tolist()
    return low, high


def hull(first: Range | None, second: Range) -> Range:
    """The range that holds two others."""
    return second if first is None else (min(first[0], second[0]), max(first[1], second[1]))


def constant_range(tensor: Tensor) -> Range:
    """The smallest and the largest element of a constant."""
    if not tensor.data.size:
        return 0.0, 0.0
    return float(tensor.data.min()), float(tensor.data.max())
