"""Which scale each tensor gets: measured ranges, spread along operators that ask for one scale.

    x -> CONV_2D -> y -> MAX_POOL_2D -> z        z takes the scale of y, as pooling must not rescale
    a, b -> CONCATENATION -> c                   a and b take the scale of c

Ranges that another one makes needless are dropped first: those of results whose scale is
prescribed, those behind an operator of one real input that keeps scales (z), and those before an
operator of several (a, b). What is left is fixed. Scales then spread from there; where two meet,
the reader that needs another one gets the tensor requantized.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..ir import Graph, Op, Tensor
from .rules import endless_constant, is_real, rule_of
from .scales import Params, of_constant, of_range, of_result

Range = tuple[float, float]


class Scales:
    """The scales of a graph's real tensors.

    Attributes:
        of: each tensor's own scale.
        read: (op, position of an input) -> the scale in which `op` must get it, where another.
        given: (op, position of a result) -> the scale in which `op` gives it, where another.
    """

    def __init__(self, graph: Graph, ranges: Mapping[Tensor, Range]) -> None:
        self._members = set(graph.ops)  # a reader may stand in a graph that is called
        self._barred: set[Tensor] = set()
        found: set[Tensor] = set()
        while True:
            self._barred |= found
            self._assign(graph, ranges)
            found = divisors_near_zero(graph, ranges, self.of)
            if found <= self._barred:
                break

    def _assign(self, graph: Graph, ranges: Mapping[Tensor, Range]) -> None:
        """Gives a scale to every tensor that may have one."""
        measured = {t: of_range(*r) for t, r in ranges.items() if is_real(t)}
        measured |= {t: of_constant(t.data) for t in moved_constants(graph)}
        for tensor in self._barred:
            measured.pop(tensor, None)
        dropped = needless(graph, measured, ranges)
        self.of = {t: params for t, params in measured.items() if t not in dropped}
        self.read: dict[tuple[Op, int], Params] = {}
        self.given: dict[tuple[Op, int], Params] = {}
        self._fixed = set(self.of)
        self._spread(graph)
        for tensor, params in measured.items():
            self.of.setdefault(tensor, params)

    def known(self, op: Op, i: int) -> Params | None:
        """The scale in which `op` takes input `i`; None for one without."""
        return self.read.get((op, i)) or self.of.get(op.inputs[i])

    def wanted(self, op: Op, i: int) -> Params:
        """The scale in which `op` takes input `i`, which must have one."""
        return self.read[op, i] if (op, i) in self.read else self.of[op.inputs[i]]

    def result(self, op: Op, i: int) -> Params:
        """The scale in which `op` gives result `i`, which must have one."""
        return self.given[op, i] if (op, i) in self.given else self.of[op.outputs[i]]

    def _spread(self, graph: Graph) -> None:
        """Gives scales to the tensors between those that have one, from the last operator on."""
        work = [op for op in graph.ops if rule_of(op) is not None]
        done: set[Op] = set()
        while work:
            op = work.pop()
            rule = rule_of(op) if op in self._members else None
            if rule is None or op in done:
                continue
            if rule.result is not None:
                prescribed = of_result(*rule.result)
                work += [o for i in range(len(op.outputs)) for o in self._give(op, i, prescribed)]
            elif rule.same_scale:
                common = self._common(op)
                if common is None:
                    continue
                for i, tensor in enumerate(op.inputs):
                    if is_real(tensor):
                        work += self._take(op, i, common)
                work += [o for i in range(len(op.outputs)) for o in self._give(op, i, common)]
            done.add(op)

    def _common(self, op: Op) -> Params | None:
        """The one scale of an operator that keeps scales; None when nothing around has one yet."""
        inputs = [t for t in op.inputs if is_real(t) and t in self.of]
        results = [t for t in op.outputs if is_real(t) and t in self.of]
        order = [*results, *inputs] if len(real_inputs(op)) > 1 else [*inputs, *results]
        first = next((t for t in order if t in self._fixed), order[0] if order else None)
        return None if first is None else self.of[first]

    def _take(self, op: Op, i: int, params: Params) -> Iterable[Op]:
        """Lets `op` take input `i` in `params`; the operators to look at again."""
        tensor = op.inputs[i]
        if tensor in self._barred:
            return ()
        if tensor.is_constant and tensor not in self.of:
            self.read[op, i] = params
            return ()
        if self.of.setdefault(tensor, params) is not params:
            if self.of[tensor] != params:
                self.read[op, i] = params
            return ()
        return [*([tensor.producer] if tensor.producer is not None else ()), *tensor.readers]

    def _give(self, op: Op, i: int, params: Params) -> Iterable[Op]:
        """Lets `op` give result `i` in `params`; the operators to look at again."""
        tensor = op.outputs[i]
        if not is_real(tensor) or tensor in self._barred:
            return ()
        if self.of.setdefault(tensor, params) is not params:
            if self.of[tensor] != params:
                self.given[op, i] = params
            return ()
        return tensor.readers


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


def needless(
    graph: Graph, measured: Mapping[Tensor, Params], ranges: Mapping[Tensor, Range]
) -> set[Tensor]:
    """Tensors whose measured range gives way to the scale of a neighbour."""
    members = set(graph.ops)
    dropped: set[Tensor] = set()
    for op in graph.ops:
        rule = rule_of(op)
        if rule is None:
            continue
        one = len(real_inputs(op)) == 1 and real_inputs(op)[0] in measured
        if rule.result is not None or (rule.same_scale and one):
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
            if tensor in measured
            and (len(set(tensor.readers)) == 1 or covers(ranges, result, tensor))
        ]
        dropped.update(before)
        work += [tensor for tensor in before if tensor not in seen]
        seen.update(before)
    return dropped


def covers(ranges: Mapping[Tensor, Range], result: Tensor, tensor: Tensor) -> bool:
    """Whether the scale of `result` also does for the other readers of `tensor`.

    It does for what goes into a CONCATENATION; a MINIMUM may cut off what others need.
    """
    if result not in ranges or tensor not in ranges:
        return False
    (low, high), (lowest, highest) = ranges[tensor], ranges[result]
    return lowest <= low and high <= highest


def divisors_near_zero(
    graph: Graph, ranges: Mapping[Tensor, Range], scales: Mapping[Tensor, Params]
) -> set[Tensor]:
    """Divisors that in 8 bits would be 0 where they are small; they stay real."""
    found = set()
    for op in graph.ops:
        rule = rule_of(op)
        divisor = op.inputs[rule.divisor] if rule is not None and rule.divisor is not None else None
        if divisor is None or divisor not in ranges or divisor not in scales:
            continue
        low, high = ranges[divisor]
        (step,) = scales[divisor].scale
        if low < step and high > -step:
            found.add(divisor)
    return found
