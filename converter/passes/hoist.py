"""What every iteration of a loop computes alike, computed once before it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .fold import is_pure, remove_dead_code
from .rewrite import (
    BINARY,
    REDUCTIONS,
    RESHAPES,
    UNARY,
    builder,
    options_of,
    replace_results,
    same_shape,
    shares_graphs,
)

MAY_FAIL = frozenset(("BUCKETIZE", "DIV", "FLOOR_DIV", "FLOOR_MOD", "POW"))
"""What LiteRT refuses some integers in; a loop without iterations would not have asked."""
HOISTED = UNARY | BINARY | REDUCTIONS | RESHAPES | {"SELECT", "TRANSPOSE"}


class Group(NamedTuple):
    """Operators of a body that depend on one another, and on no value that changes.

    Attributes:
        ops: the operators in their order.
        values: the positions of the loop values that they read.
    """

    ops: list[Op]
    values: set[int]


@rewrite("WHILE")
def hoist_invariants(graph: Graph, op: Op) -> bool:
    """Computes before a loop what each iteration would compute of values that do not change.

        WHILE(x, w: x' = SELECT(GREATER(w, 0), y, x), w)
            becomes      WHILE(x, GREATER(w, 0): x' = SELECT(m, y, x), m)

    LiteRT copies the values of a loop in each iteration: holds off where there would be more of
    them, single numbers excepted, or larger ones, on what may fail, and where another operator
    calls the same graphs. `trim_loops` drops the values that nobody reads any more.
    """
    if shares_graphs(graph, op):
        return False
    groups = [group for group in _groups(op) if _is_worth_it(graph, op, group)]
    for group in groups:
        op = _hoist(graph, op, group)
    return bool(groups)


def _groups(op: Op) -> list[Group]:
    """The operators of the body that may run before the loop."""
    body = op.graphs[1]
    positions = {id(x): {i} for i, x in enumerate(body.inputs) if body.outputs[i] is x}
    groups: list[Group] = []
    for inner in body.ops:
        computed = [x for x in inner.present_inputs if not x.is_constant]
        if not computed or not _may_move(inner) or any(id(x) not in positions for x in computed):
            continue
        values = set().union(*(positions[id(x)] for x in computed))
        touched = [group for group in groups if group.values & values]
        groups = [group for group in groups if group not in touched]
        ops = [other for group in touched for other in group.ops]
        groups.append(Group([*ops, inner], values.union(*(group.values for group in touched))))
        positions[id(inner.output)] = values
    return groups


def _may_move(op: Op) -> bool:
    if op.kind not in HOISTED or len(op.outputs) != 1 or not is_pure(op):
        return False
    return op.kind not in MAY_FAIL or op.output.dtype.kind == "f"


def _results(body: Graph, ops: Sequence[Op]) -> list[Tensor]:
    """What other operators read of these."""
    return [op.output for op in ops if _is_read(body, op.output, ops)]


def _is_read(body: Graph, tensor: Tensor, ops: Sequence[Op]) -> bool:
    return body.is_output(tensor) or any(reader not in ops for reader in tensor.readers)


def _is_worth_it(graph: Graph, op: Op, group: Group) -> bool:
    """Whether each result may take the place of a value that nobody else reads."""
    condition, body = op.graphs
    free = [
        body.inputs[i]
        for i in group.values
        if not condition.inputs[i].readers
        and not condition.is_output(condition.inputs[i])
        and sum(x is body.inputs[i] for x in body.outputs) == 1
        and all(reader in group.ops for reader in body.inputs[i].readers)
        and not (op.outputs[i].readers or graph.is_output(op.outputs[i]))
    ]
    for result in _results(body, group.ops):
        if result.shape is not None and _n_elements(result) == 1:
            continue
        place = next((x for x in free if _fits(result, x)), None)
        if place is None:
            return False
        free.remove(place)
    return True


def _fits(result: Tensor, value: Tensor) -> bool:
    """Whether a result has certainly no more bytes than a value."""
    if result.dtype.itemsize > value.dtype.itemsize:
        return False
    if same_shape(result, value):
        return True
    if not (result.is_static and value.is_static):
        return False
    return _n_elements(result) <= _n_elements(value)


def _n_elements(tensor: Tensor) -> int:
    """How many elements there are, 0 where a size is unknown."""
    return prod(n or 0 for n in tensor.dims)


def _hoist(graph: Graph, op: Op, group: Group) -> Op:
    """Moves the operators of a group before the loop; gives the loop that takes their results."""
    condition, body = op.graphs
    results = _results(body, group.ops)
    outer = {id(body.inputs[i]): op.inputs[i] for i in group.values}
    b = builder(graph, op)
    for inner in group.ops:
        outer[id(inner.output)] = _copied(b, inner, outer)
    for result in results:
        for callee in (condition, body):
            value = Tensor(result.name, result.dtype, result.sizes)
            value.quantization, value.origin = result.quantization, result.origin
            callee.inputs = [*callee.inputs, value]
        body.replace(result, body.inputs[-1])
        body.outputs = [*body.outputs, body.inputs[-1]]
    body.output_names = None
    remove_dead_code(body)
    inputs = [*op.inputs, *(outer[id(result)] for result in results)]
    loop = b.WHILE(*inputs, graphs=(condition, body))
    new_op = loop[0].producer
    new_op.implements = op.implements
    replace_results(graph, op, range(len(op.outputs)), loop[: len(op.outputs)])
    return new_op


def _copied(b: Builder, op: Op, outer: dict[int, Tensor]) -> Tensor:
    """The result of the same operator, of the tensors that stand for its operands."""
    inputs = [None if x is None else outer.get(id(x)) or _constant(b, x) for x in op.inputs]
    result = b.op(op.kind, *inputs, dtype=op.output.dtype, **options_of(op))
    result.name, result.quantization = op.output.name, op.output.quantization
    return result


def _constant(b: Builder, x: Tensor) -> Tensor:
    constant = b.constant(x.data, x.name)
    constant.quantization, constant.origin = x.quantization, x.origin
    return constant
