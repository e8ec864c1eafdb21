"""Which scale each tensor gets: measured ranges, spread along operators that ask for one scale.

    x -> CONV_2D -> y -> MAX_POOL_2D -> z        z takes the scale of y, as pooling must not rescale
    a, b -> CONCATENATION -> c                   a and b take the scale of c

Ranges that another one makes needless are dropped first: those behind an operator of one real
input that keeps scales (z), and those before an operator of several (a, b). What is left is fixed,
and so are results whose scale is prescribed. Scales then spread from there, but only to tensors all
of whose readers find in them what they need (needs.py); where two meet, the reader that needs
another one gets the tensor requantized.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ...schema.quantization import Quantization
from ..ir.graph import Graph, Op, Tensor
from ..passes.rewrite import ops_of
from .needs import Needs, Range, covers, hull
from .rules import DIVISORS, endless_constant, is_real, rule_of
from .scales import coarsened, of_constant, of_range, of_result
from .sized import from_sizes, ranges_of_parts, sums_over_sizes


class Scales:
    """The scales of a graph's real tensors.

    Attributes:
        of: each tensor's own scale.
        read: (op, position of an input) -> the scale in which `op` must get it, where another.
        written: (op, position of a result) -> the scale in which `op` gives it, where another.
        needs: what the readers need of the tensors' ranges; every scale that is read covers it.
        sized: tensors that have none, as their range at other sizes is another.
    """

    def __init__(self, graph: Graph, ranges: Mapping[Tensor, Range]) -> None:
        parts = ranges_of_parts(graph).items()
        ranges = {**ranges, **{t: hull(ranges[t], whole) for t, whole in parts if t in ranges}}
        self._members = set(graph.ops)  # a reader may stand in a graph that is called
        self.needs = Needs(graph, ranges)
        self.sized = from_sizes(graph)
        self.sized |= sums_over_sizes(graph, self.sized)
        self._barred = set(self.sized)
        while True:
            self._assign(graph, ranges)
            barred = divisors_near_zero(graph, ranges, self.of) - self._barred
            finest = self._too_fine(graph)
            if not barred and not finest:
                break
            self._barred |= barred
            self.needs.finest |= finest
        self._check(graph)

    def _assign(self, graph: Graph, ranges: Mapping[Tensor, Range]) -> None:
        """Gives a scale to every tensor that may have one."""
        finest = self.needs.finest
        measured = {
            t: coarsened(of_range(*r), finest.get(t, 0.0)) for t, r in ranges.items() if is_real(t)
        }
        measured |= {t: of_constant(t.data) for t in moved_constants(graph)}
        prescribed = {
            tensor: of_result(*rule.result)
            for op in graph.ops
            if (rule := rule_of(op)) is not None and rule.result is not None
            for tensor in op.outputs
            if tensor in measured
        }
        measured |= prescribed
        for tensor in self._barred:
            measured.pop(tensor, None)
        dropped = needless(graph, measured, self.needs) - set(prescribed)
        self.of = {t: params for t, params in measured.items() if t not in dropped}
        self.read: dict[tuple[Op, int], Quantization] = {}
        self.written: dict[tuple[Op, int], Quantization] = {}
        self._fixed = set(self.of)
        self._done: set[Op] = set()
        self._spread([op for op in graph.ops if rule_of(op) is not None])
        for tensor, params in reversed(measured.items()):
            if tensor not in self.of:  # those that its range gave way to have taken another scale
                self.of[tensor] = params
                self._fixed.add(tensor)
                self._spread(neighbours(tensor))

    def _too_fine(self, graph: Graph) -> dict[Tensor, float]:
        """The results whose scale their kernel cannot give -> the scale that it must be above.

        Such a result was (almost) always 0 in calibration.
        """
        limits = {}
        for op in graph.ops:
            rule = rule_of(op)
            if rule is None or rule.finest is None or op.output not in self.of:
                continue
            scales = [self._operand(op, i) for i in range(len(op.inputs))]
            finest = rule.finest(max(scales))
            if self.result(op, 0).scale <= finest:
                limits[op.output] = finest
        return limits

    def _operand(self, op: Op, i: int) -> float:
        """The scale in which `op` takes input `i`; 0 for one that stays real."""
        params = self.of_input(op, i)
        if params is None and op.inputs[i].is_constant and endless_constant(op) is None:
            params = of_constant(op.inputs[i].data)
        return 0.0 if params is None else params.scale

    def of_input(self, op: Op, i: int) -> Quantization | None:
        """The scale in which `op` takes input `i`; None for one without."""
        return self.read.get((op, i)) or self.of.get(op.inputs[i])

    def required(self, op: Op, i: int) -> Quantization:
        """The scale in which `op` takes input `i`, which must have one or be a constant."""
        params = self.of_input(op, i)
        return of_constant(op.inputs[i].data) if params is None else params

    def result(self, op: Op, i: int) -> Quantization:
        """The scale in which `op` gives result `i`, which must have one."""
        return self.written[op, i] if (op, i) in self.written else self.of[op.outputs[i]]

    def _spread(self, work: list[Op]) -> None:
        """Gives scales to the tensors around operators, from the last one on, and farther away."""
        while work:
            op = work.pop()
            rule = rule_of(op) if op in self._members else None
            if rule is None or op in self._done:
                continue
            if rule.same_scale:
                common = self._common(op)
                if common is None:
                    continue
                for i, tensor in enumerate(op.inputs):
                    if is_real(tensor):
                        work += self._take(op, i, common)
                work += [o for i in range(len(op.outputs)) for o in self._give(op, i, common)]
            self._done.add(op)

    def _common(self, op: Op) -> Quantization | None:
        """The one scale of an operator that keeps scales; None when nothing around has one yet."""
        inputs = [t for t in op.inputs if is_real(t) and t in self.of]
        results = [t for t in op.outputs if is_real(t) and t in self.of]
        order = [*results, *inputs] if len(real_inputs(op)) > 1 else [*inputs, *results]
        order.sort(key=lambda tensor: tensor not in self._fixed)
        needed = self.needs.common(op)
        if not order or needed is None or not np.isfinite(needed).all():
            return self.of[order[0]] if order else None
        fitting = (self.of[tensor] for tensor in order if covers(self.of[tensor], needed))
        return next(fitting, None) or of_range(*needed)

    def _take(self, op: Op, i: int, params: Quantization) -> Iterable[Op]:
        """Lets `op` take input `i` in `params`; the operators to look at again."""
        tensor = op.inputs[i]
        if tensor in self._barred:
            return ()
        if tensor.is_constant and tensor not in self.of:
            self.read[op, i] = params
            return ()
        if not self._adopts(tensor, params):
            if self.of.get(tensor) != params:
                self.read[op, i] = params
            return ()
        return neighbours(tensor)

    def _give(self, op: Op, i: int, params: Quantization) -> Iterable[Op]:
        """Lets `op` give result `i` in `params`; the operators to look at again."""
        tensor = op.outputs[i]
        if not is_real(tensor) or tensor in self._barred:
            return ()
        if not self._adopts(tensor, params):
            if self.of.get(tensor) != params:
                self.written[op, i] = params
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
                if is_real(tensor) and not tensor.is_constant and tensor in self.of:
                    self.needs.check(tensor, self.needs.read(op, i), self.required(op, i), op.kind)
        for tensor in graph.outputs:
            if tensor in self.of and not tensor.is_constant:
                self.needs.check(tensor, self.needs.of[tensor], self.of[tensor], "the output")


def neighbours(tensor: Tensor) -> list[Op]:
    """The operators that give and read a tensor."""
    return [*([tensor.producer] if tensor.producer is not None else ()), *tensor.readers]


def real_inputs(op: Op) -> list[Tensor]:
    """The inputs of `op` that hold real numbers."""
    return [tensor for tensor in op.inputs if is_real(tensor)]


def keeps_scale(op: Op) -> bool:
    """Whether inputs and results of `op` must share one scale."""
    rule = rule_of(op)
    return rule is not None and rule.same_scale


def moved_constants(graph: Graph) -> list[Tensor]:
    """Constants from which an operator only takes elements, such as the table of an embedding."""
    return [
        tensor
        for op in graph.ops
        if keeps_scale(op) and len(real_inputs(op)) == 1
        for tensor in real_inputs(op)
        if tensor.is_constant and endless_constant(op) is None
    ]


def needless(graph: Graph, measured: Mapping[Tensor, Quantization], needs: Needs) -> set[Tensor]:
    """Tensors whose measured range gives way to the scale of a neighbour."""
    members = set(graph.ops)
    dropped: set[Tensor] = set()
    for op in graph.ops:
        if keeps_scale(op) and len(real_inputs(op)) == 1 and real_inputs(op)[0] in measured:
            dropped.update(tensor for tensor in op.outputs if tensor in measured)
    work = [tensor for tensor in measured if tensor not in dropped]
    seen = set(work)
    while work:
        result = work.pop()
        op = result.producer
        if op is None or op not in members or not keeps_scale(op):
            continue
        before = [
            tensor
            for tensor in real_inputs(op)
            if tensor in measured and needs.allow(tensor, measured[result])
        ]
        dropped.update(before)
        work += [tensor for tensor in before if tensor not in seen]
        seen.update(before)
    return dropped


def divisors_near_zero(
    graph: Graph, ranges: Mapping[Tensor, Range], scales: Mapping[Tensor, Quantization]
) -> set[Tensor]:
    """Divisors that in 8 bits would be 0 where they are small; they stay real."""
    divisors = set()
    for op in ops_of(graph, *DIVISORS):
        divisor = op.inputs[DIVISORS[op.kind]]
        if divisor not in ranges or divisor not in scales:
            continue
        low, high = ranges[divisor]
        step = scales[divisor].scale
        if low < step and high > -step:
            divisors |= moved_from(divisor)
    return divisors


def moved_from(tensor: Tensor) -> set[Tensor]:
    """A tensor and those whose elements it has, moved by operators of one real input."""
    sources = {tensor}
    while (op := tensor.producer) is not None and keeps_scale(op) and len(real_inputs(op)) == 1:
        (tensor,) = real_inputs(op)
        if tensor.is_constant:
            break
        sources.add(tensor)
    return sources
