"""Loops without conditions that another one implies, and without values that nothing reads."""

from __future__ import annotations

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Graph, Op
from .driver import rewrite
from .fold import remove_dead_code
from .loops import collected, counted_loop, tests_of
from .rewrite import builder, replace_results, shares_graphs


@rewrite("WHILE")
def trim_loops(graph: Graph, op: Op) -> bool:
    """Drops values of a loop that only their own next value is computed from.

        WHILE(i, j, x: i < 5 and j < 5)      becomes      WHILE(j, x: j < 5)

    Of conditions that hold for the same number of iterations one stays. Holds off where another
    operator calls the same graphs.
    """
    if shares_graphs(graph, op):
        return False
    has_one_test = _keep_one_test(op)
    unused = {i for i in range(len(op.inputs)) if _is_unused(graph, op, i)}
    if not unused or len(unused) == len(op.inputs):
        return has_one_test
    values = [i for i in range(len(op.inputs)) if i not in unused]
    condition, body = op.graphs
    for callee in (condition, body):
        callee.inputs = [callee.inputs[i] for i in values]
    body.outputs = [body.outputs[i] for i in values]
    body.output_names = None
    remove_dead_code(body)
    results = builder(graph, op).WHILE(*(op.inputs[i] for i in values), graphs=(condition, body))
    results[0].producer.implements = op.implements
    replace_results(graph, op, values, results)
    return True


@rewrite("WHILE")
def take_last_row(graph: Graph, op: Op) -> bool:
    """Takes what the last iteration wrote into a value of one row from where it comes.

        WHILE(h, y: h', y' = DYNAMIC_UPDATE_SLICE(y, EXPAND_DIMS(h', 0), 0)) -> y
            becomes      WHILE(h, y: ...) -> h;  EXPAND_DIMS(h, 0)

    `trim_loops` then drops the value. Holds off where there may be no iteration.
    """
    loop = counted_loop(op)
    if loop is None or not isinstance(loop.count, int) or loop.count < 1:
        return False
    ends = {id(tensor): j for j, tensor in enumerate(loop.body.outputs)}
    position = graph.position(op) + 1
    b = Builder(graph, graph.ops[position] if position < len(graph.ops) else None)
    b.origin(op.origin)
    changed = False
    for i in loop.updated:
        y, row = op.outputs[i], collected(loop, i)
        if row is None or row[1] is not None or not (y.readers or graph.is_output(y)):
            continue
        j = ends.get(id(row[0]))
        if j is None or op.outputs[j].rank is None:
            continue
        last = b.EXPAND_DIMS(op.outputs[j], np.int32(0))
        last.origin, last.name = y.origin, y.name
        graph.replace(y, last)
        changed = True
    return changed


def _keep_one_test(op: Op) -> bool:
    """Makes the condition one comparison, of the counter that the body reads most."""
    condition, body = op.graphs[0], op.graphs[1]
    tests = [] if counted_loop(op) is None else tests_of(condition.outputs[0])
    if len(tests) < 2:
        return False

    def n_readers(test: Op) -> int:
        position = condition.inputs.index(test.inputs[0])
        return len(body.inputs[position].readers)

    best = max((test for test in tests if test is not None), key=n_readers)
    condition.outputs = [best.output]
    remove_dead_code(condition)
    return True


def _is_unused(graph: Graph, op: Op, i: int) -> bool:
    """Whether nothing but its own next value is computed from value `i`."""
    condition, body = op.graphs
    if op.outputs[i].readers or graph.is_output(op.outputs[i]) or condition.inputs[i].readers:
        return False
    entering, leaving = body.inputs[i], body.outputs[i]
    if any(x is entering or x is leaving for j, x in enumerate(body.outputs) if j != i):
        return False
    if condition.is_output(condition.inputs[i]):
        return False
    if entering is leaving:
        return not entering.readers
    update = leaving.producer
    if leaving.readers or (update is not None and len(update.outputs) > 1):
        return False
    return all(reader is update for reader in entering.readers)
