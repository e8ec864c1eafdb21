"""A drawn model as the subgraph of a caller: both branches of an IF, or the body of a WHILE."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from cases import options_record

from flatlite.schema.model import Model, Operator, Subgraph, Tensor, save
from flatlite.schema.targets.versions import update_versions

from .drawing import Drawn, dtype_of

ITERATIONS = 2
"""Of a WHILE; each computes the same of the same inputs."""


def content_and_feeds(case: Drawn) -> tuple[bytes, list[np.ndarray]]:
    """The bytes of a drawn model, with its caller where it has one, and what its inputs are given.

    IF takes a condition before the model's inputs. WHILE counts and carries the inputs; it gives
    the results of the last iteration, and is given zeros for what they were before the first.
    """
    if not case.called_by:
        return save(case.model), case.feeds
    if case.called_by == "IF":
        model, feeds = _branches(case.graph), [np.array(len(case.feeds) % 2 == 0), *case.feeds]
    else:
        model, feeds = _loop(case.graph), [np.array(0, np.int32), *case.feeds]
        feeds += [_zeros(case.graph.tensors[i]) for i in case.graph.outputs]
    update_versions(model)
    return save(model), feeds


def _branches(graph: Subgraph) -> Model:
    main = Subgraph("main", [Tensor("condition", (), "BOOL")])
    main.inputs = [0, *_like(main, graph, graph.inputs)]
    main.outputs = _like(main, graph, graph.outputs)
    fields = {"then_subgraph_index": 1, "else_subgraph_index": 2}
    main.operators = [
        Operator("IF", list(main.inputs), list(main.outputs), options_record("IF", fields))
    ]
    return Model([main, deepcopy(graph), deepcopy(graph)])


def _loop(graph: Subgraph) -> Model:
    main, condition = (Subgraph(name, [_counter()]) for name in ("main", "condition"))
    for subgraph in (main, condition):
        subgraph.inputs = [0, *_like(subgraph, graph, [*graph.inputs, *graph.outputs])]
    main.tensors.append(_counter())
    results = [len(main.tensors) - 1, *_like(main, graph, [*graph.inputs, *graph.outputs])]
    fields = {"cond_subgraph_index": 1, "body_subgraph_index": 2}
    main.operators = [
        Operator("WHILE", list(main.inputs), results, options_record("WHILE", fields))
    ]
    main.outputs = results[len(results) - len(graph.outputs) :]
    _compute(condition, "LESS", ITERATIONS, Tensor("goes_on", (), "BOOL"))
    condition.outputs = [len(condition.tensors) - 1]
    body = deepcopy(graph)
    body.tensors.append(_counter())
    before = _like(body, graph, graph.outputs)
    counter = len(body.tensors) - 1 - len(before)
    body.inputs = [counter, *graph.inputs, *before]
    _compute(body, "ADD", 1, _counter(), counter)
    body.outputs = [len(body.tensors) - 1, *graph.inputs, *graph.outputs]
    return Model([main, condition, body])


def _counter() -> Tensor:
    return Tensor("counter", (), "INT32")


def _compute(subgraph: Subgraph, op: str, number: int, result: Tensor, counter: int = 0) -> None:
    """Appends `result` = op(counter, number)."""
    first = len(subgraph.tensors)
    subgraph.tensors += [Tensor("number", (), "INT32", np.array(number, np.int32)), result]
    record = options_record(op, {})
    subgraph.operators.append(Operator(op, [counter, first], [first + 1], record))


def _like(subgraph: Subgraph, graph: Subgraph, indices: list[int]) -> list[int]:
    """New tensors without data, like those of `graph`."""
    first = len(subgraph.tensors)
    for i in indices:
        tensor = deepcopy(graph.tensors[i])
        tensor.data = None
        subgraph.tensors.append(tensor)
    return list(range(first, len(subgraph.tensors)))


def _zeros(tensor: Tensor) -> np.ndarray:
    zeros = np.zeros(tensor.shape, dtype_of(tensor.dtype.lower()))
    return np.full(zeros.shape, b"", object) if zeros.dtype == object else zeros
