"""One scale around the sum with a constant, in whole steps of which the constant lies.

    x -> EXP -> a, 1.0 -> ADD -> y -> LOG        a and y take one scale of which 1.0 is a multiple

ADD then moves integers by a constant and rounds nothing. Holds off where the scale would have to
grow so much that one rounding costs more than the two on the scales that were measured, and in
int16, where no rounding of a sum is felt.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...schema.quantization import Quantization
from ..ir.graph import Graph, Op, Tensor
from ..passes.rewrite import ops_of, scalar_of
from .needs import Range
from .rules import is_float32, rule_of
from .scales import of_scale
from .scheme import Scheme


def scales_of_exact_sums(
    graph: Graph,
    measured: Mapping[Tensor, Quantization],
    ranges: Mapping[Tensor, Range],
    scheme: Scheme,
) -> dict[Tensor, Quantization]:
    """The scales of operands and results of sums with a constant that they make exact.

    Args:
        graph: a float graph.
        measured: the scales that the tensors' own ranges give.
        ranges: these ranges.
        scheme: what the scales are for.
    """
    exact: dict[Tensor, Quantization] = {}
    if scheme.symmetric:
        return exact
    for op in ops_of(graph, "ADD", "SUB"):
        operand, constant = variable_and_constant(op)
        if operand is None or not constant or op.options.fused_activation_function:
            continue
        pair = (operand, op.output)
        if not all(t in measured and t not in exact and is_free(t, graph, scheme) for t in pair):
            continue
        scales = [measured[tensor].scale for tensor in pair]
        n_steps = int(abs(constant) / max(scales))
        if n_steps and (scale := abs(constant) / n_steps) ** 2 < scales[0] ** 2 + scales[1] ** 2:
            exact |= {t: of_scale(scale, *ranges[t], scheme.integers) for t in pair}
    return exact


def variable_and_constant(op: Op | None) -> tuple[Tensor | None, float | None]:
    """Of a sum the operand that is computed and the number that is added; else None."""
    if op is None or op.kind not in ("ADD", "SUB"):
        return None, None
    for i, constant in enumerate(op.inputs):
        if constant.is_constant and is_float32(op.output) and (i or op.kind == "ADD"):
            return op.inputs[1 - i], scalar_of(constant)
    return None, None


def is_free(tensor: Tensor, graph: Graph, scheme: Scheme) -> bool:
    """Whether no operator but the sum asks anything of a tensor's scale, and nobody outside."""
    if tensor.producer is None or graph.is_output(tensor):
        return False
    is_operand = len(tensor.readers) == 1 and tensor.readers[0].kind in ("ADD", "SUB")
    neighbours = [tensor.producer] if is_operand else [tensor.producer, *tensor.readers]
    rule = rule_of(tensor.producer, scheme)
    if rule is None or rule.result is not None:
        return False
    rules = [rule_of(op, scheme) for op in neighbours]
    return all(rule is not None and not rule.same_scale for rule in rules)
