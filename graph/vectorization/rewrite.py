"""A function of one row, written as a function of all rows at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..core.build import ops
from ..core.function_graph import is_stateful
from ..core.graph import Operation, Tensor
from ..core.order import data_inputs, ordered
from ..core.registry import is_pure, row_of
from ..core.scopes import get_default_graph
from ..core.shapes import broadcasting, same
from .elementwise import alongside, each
from .registry import RULES, Call, NoRule, Options, Rule, Value, rows

READS = (
    *("VarHandleOp", "ReadVariableOp", "Variable", "VariableV2", "HashTable", "HashTableV2"),
    *("MutableHashTableV2", "NoOp"),
)
"""Operations with a state that give every row the same, as none of them changes it."""
COUNTS_FROM_FRONT = (
    *("BatchNormWithGlobalNormalization", "Dequantize", "LRN", "LRNGrad", "RandomShuffle"),
    *("XlaDynamicUpdateSlice", "XlaScatter", "XlaSelectAndScatter", "XlaSort"),
)
"""Operations that keep the shape of their input and treat its dimensions unequally."""


def over_rows(
    outputs: Sequence[Tensor],
    values: Mapping[Tensor, Value],
    n: Tensor,
    options: Options,
) -> list[Value]:
    """Adds to the default graph what computes tensors of another graph for all rows at once.

    Args:
        outputs: The tensors, of the graph of a function's body.
        values: What takes the place of the function's arguments.
        n: How many rows there are, an int32.
        options: How operations are treated.

    Raises NoRule for an operation without a form for all rows that nothing does one by one.
    """
    known, checks = dict(values), list[Operation]()
    arguments = {tensor.op for tensor in known}

    def needed(op: Operation) -> Sequence[Operation]:
        return [] if op in arguments else [*data_inputs(op), *op.control_inputs]

    for op in ordered([tensor.op for tensor in outputs if tensor not in known], needed):
        if op in arguments:
            continue
        call = Call(op, [known[tensor] for tensor in op.inputs], n, options, checks)
        known.update(zip(op.outputs, _results(call), strict=True))
    results = [known[tensor] for tensor in outputs]
    if not checks:
        return results
    with get_default_graph().control_dependencies(checks):
        return [Value(ops.Identity(value.tensor), value.is_stacked) for value in results]


def _results(call: Call) -> list[Value]:
    is_one = not any(value.is_stacked for value in call.inputs)
    if is_one and (call.op.type in READS or is_pure(call.op.type)):
        tensors = [value.tensor for value in call.inputs]
        return [Value(tensor, False) for tensor in call.again(*tensors)]
    try:
        results = rule_of(call)(call)
    except NoRule:
        if call.options.one_by_one is None:
            raise
        results = call.options.one_by_one(call)
    listed = [results] if isinstance(results, (Tensor, Value)) else results
    return [item if isinstance(item, Value) else Value(item, True) for item in listed]


def rule_of(call: Call) -> Rule:
    """The rule of an operation: its own, or that of what keeps a shape or broadcasts.

    Raises NoRule where there is none.
    """
    kind = call.op.type
    rule, row = RULES.get(kind), row_of(kind)
    if rule is not None:
        return rule
    if row is not None and row.is_pure and kind not in COUNTS_FROM_FRONT:
        if row.shape is broadcasting:
            return alongside
        if row.shape is same:
            return each
    raise call.refusal("there is no rule for it")


@rows("If", "StatelessIf")
def branches(call: Call) -> list[Tensor]:
    """Results of one of two functions without effects, of which both are computed for all rows."""
    if not call.options.does_both or not call.is_stacked(0) or call.rank(0):
        raise call.refusal("each row takes a branch of its own")
    results: list[list[Value]] = []
    for name in ("then_branch", "else_branch"):
        body = call.op.graph.functions.body(call.op.get_attr(name))
        if is_stateful([body]):
            raise call.refusal(f"its {name} has effects")
        values = dict(zip(body.inputs or (), call.inputs[1:], strict=True))
        results.append(over_rows(body.outputs or (), values, call.n, call.options))
    chosen: list[Tensor] = []
    for output, x, y in zip(call.op.outputs, *results, strict=True):
        if output.sizes is None:
            raise call.refusal("the rank of a result is not known")
        ones = np.ones(len(output.sizes), np.int32)
        shape = ops.ConcatV2([call.counted(), ones], np.int32(0))
        chosen.append(ops.SelectV2(ops.Reshape(call.rows(0), shape), x.tensor, y.tensor))
    return chosen
