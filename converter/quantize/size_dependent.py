"""Float tensors that unknown sizes alone give: no range measured at one size holds at another.

    x:[n,4] -> SHAPE -> STRIDED_SLICE -> CAST -> s       s is 8.0 in calibration, any number later
    x, s -> DIV -> y                                     s and DIV stay float, x and y are int8

Such are the mean that a sum and a count give, and positions such as RANGE(n) / n. What only
repeats constants (BROADCAST_TO) has their range at all sizes; what takes a part of a constant
(a table of positions, cut to n) is stored on the scale of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from types import MappingProxyType

from ..ir.graph import Graph, Op, Tensor
from ..passes.fold import is_pure
from ..passes.rewrite import BINARY, RESHAPES, UNARY, names, ops_of
from .needs import Range, constant_range
from .rules import RULES, is_float32, nonfinite_constant


class Variation(IntEnum):
    """What is known of the elements of a tensor that depends on no data, the least first."""

    FIXED = 0
    """They are the same at all sizes, though more or fewer times."""
    SELECTED = 1
    """They are elements of a constant; which of them, the sizes tell."""
    VARYING = 2
    """They are any numbers."""


OF_SHAPES = names("RANK SHAPE ZEROS_LIKE")
"""Operators that do not look at the elements of their input."""

REPEATS = {**dict.fromkeys(RESHAPES | names("BROADCAST_TO TILE TRANSPOSE"), 0), "FILL": 1}
"""Operators that only repeat and order the elements of an input -> that input."""


def size_dependent_tensors(graph: Graph) -> set[Tensor]:
    """The float tensors of `graph` that depend on its sizes, not on data, and have no fixed range.

    They stay float, and so do the operators that take or give them.
    """
    variations = variations_of(graph)
    return {
        t for t, variation in variations.items() if is_float32(t) and variation == Variation.VARYING
    }


def ranges_of_parts(graph: Graph) -> dict[Tensor, Range]:
    """The range of each float tensor that takes a part of a constant: that of the whole."""
    variations = variations_of(graph)
    ranges: dict[Tensor, Range] = {}
    for op in graph.ops:
        for result in op.outputs:
            if is_float32(result) and variations.get(result) == Variation.SELECTED:
                operand = next(tensor for tensor in op.present_inputs if is_float32(tensor))
                if operand.is_constant and nonfinite_constant(op) is None:
                    ranges[result] = constant_range(operand)
                elif operand in ranges:
                    ranges[result] = ranges[operand]
    return ranges


def variations_of(
    graph: Graph, inputs: Mapping[Tensor, Variation] = MappingProxyType({})
) -> dict[Tensor, Variation]:
    """The Variation of each tensor of `graph` that depends on no data.

    Args:
        graph: a graph; what its inputs are is data, but for `inputs`.
        inputs: the inputs of a called graph that depend on none.
    """
    variations = dict(inputs)
    for op in graph.ops:
        operands = () if op.kind in OF_SHAPES else op.present_inputs
        if op.kind == "IF":
            variations.update(of_branches(op, variations))
        elif is_determined(op) and all(is_data_independent(t, variations) for t in operands):
            variations.update(
                (result, variation_of(op, result, variations)) for result in op.outputs
            )
    return variations


def size_dependent_operands(graphs: Sequence[Graph]) -> set[Tensor]:
    """The inputs of called graphs that sizes alone tell where they are called.

    They have no range that was measured, as at other sizes it is another.
    """
    operands: set[Tensor] = set()
    pending = [(graph, variations_of(graph)) for graph in graphs]
    while pending:
        graph, variations = pending.pop()
        for op in graph.ops:
            outer = op.inputs[1:] if op.kind == "IF" else op.inputs
            for called in op.graphs:
                pairs = zip(called.inputs, outer, strict=False)
                inner = {x: variations[y] for x, y in pairs if y in variations}
                varying = {x for x, variation in inner.items() if variation == Variation.VARYING}
                if not varying <= operands:
                    operands |= varying
                    pending.append((called, variations_of(called, inner)))
    return operands


def is_data_independent(tensor: Tensor, variations: Mapping[Tensor, Variation]) -> bool:
    """Whether a tensor depends on no data."""
    return tensor in variations or (tensor.is_constant and not tensor.is_variable)


def of_branches(op: Op, variations: Mapping[Tensor, Variation]) -> dict[Tensor, Variation]:
    """The Variations of the results of an IF, by those of its branches."""
    condition, *arguments = op.inputs
    if not is_data_independent(condition, variations):
        return {}
    branches = []
    for graph in op.graphs:
        pairs = zip(graph.inputs, arguments, strict=True)
        inputs = {
            inner: variations.get(outer, Variation.FIXED)
            for inner, outer in pairs
            if is_data_independent(outer, variations)
        }
        inside = variations_of(graph, inputs)
        branches.append([is_data_independent(tensor, inside) for tensor in graph.outputs])
    results = zip(op.outputs, *branches, strict=True)
    return {result: Variation.VARYING for result, *flags in results if all(flags)}


def sums_over_unknown_sizes(graph: Graph, size_dependent: set[Tensor]) -> set[Tensor]:
    """Sums along unknown dimensions that only operators on `size_dependent` read: parts of means.

    x:[n,4] -> SUM(axis 0) -> a;  a, n -> DIV -> y        a grows with n, x and y do not
    """
    return {
        op.output
        for op in ops_of(graph, "SUM")
        if is_float32(op.output) and folds_unknown(op) and not graph.is_output(op.output)
        if all(not size_dependent.isdisjoint(reader.present_inputs) for reader in op.output.readers)
    }


def folds_unknown(op: Op) -> bool:
    """Whether a reduction runs along a dimension that is unknown."""
    shape, axes = op.inputs[0].shape, op.inputs[1].value
    if shape is None or axes is None:
        return True
    return any(shape[axis] is None for axis in axes.ravel().tolist())


def is_determined(op: Op) -> bool:
    """Whether the inputs of `op` alone tell its results."""
    if op.graphs:
        return all(is_determined(inner) for graph in op.graphs for inner in graph.ops)
    return is_pure(op)


def variation_of(op: Op, result: Tensor, variations: dict[Tensor, Variation]) -> Variation:
    """The Variation of a result of an operator whose inputs depend on no data."""
    if result.value is not None or op.kind in ("RANK", "ZEROS_LIKE"):
        return Variation.FIXED
    operand_variations = [variations.get(tensor, Variation.FIXED) for tensor in op.present_inputs]
    if op.kind in REPEATS:
        return operand_variations[REPEATS[op.kind]]
    highest = max(operand_variations, default=Variation.FIXED)
    rule = RULES.get(op.kind)
    if is_float32(result) and rule is not None and rule.selects:
        data_variations = [
            variation
            for variation, tensor in zip(operand_variations, op.present_inputs, strict=True)
            if is_float32(tensor)
        ]
        if len(data_variations) == 1:
            return max(data_variations[0], min(highest, Variation.SELECTED))
    if highest != Variation.FIXED:
        return Variation.VARYING
    by_element = op.kind in UNARY | BINARY or op.kind == "FULLY_CONNECTED"
    is_fixed = by_element or all(tensor.is_static for tensor in op.present_inputs)
    return Variation.FIXED if is_fixed else Variation.VARYING
