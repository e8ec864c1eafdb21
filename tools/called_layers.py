"""The values within the graphs that loops and branches call, in a float and a quantized file.

    x -> WHILE(cond, body) -> y      body is run on x, on what it gives, and so on while cond holds

An interpreter keeps nothing of a graph that an operator calls, so each of these graphs is run here
as a function of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..interpreter.interpreter import Interpreter
from ..schema.model import Model, save
from ..schema.operators import operator
from ..schema.structure import Operator, Signature

MOST_ITERATIONS = 64  # of a loop that are looked at
KEY = "called"

Read = Callable[[int], np.ndarray]
"""The value of a tensor of the subgraph that ran last, by its index."""


class Run(NamedTuple):
    """One run of a subgraph, or of what an operator of it calls.

    Attributes:
        subgraph: its number.
        read: the values of its tensors.
    """

    subgraph: int
    read: Read


class CalledGraphs:
    """The subgraphs of a file as functions."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._interpreters: dict[int, Interpreter] = {}

    def run(self, number: int, arrays: Sequence[np.ndarray]) -> Run:
        """Runs a subgraph on its inputs."""
        if number not in self._interpreters:
            self._interpreters[number] = self._interpreter(number)
        interpreter = self._interpreters[number]
        inputs = {f"x{i}": array for i, array in enumerate(arrays)}
        interpreter.get_signature_runner(KEY)(**inputs)
        return Run(number, lambda index: interpreter.get_tensor(index, number))

    def _interpreter(self, number: int) -> Interpreter:
        subgraph = self.model.subgraphs[number]
        inputs = {f"x{i}": index for i, index in enumerate(subgraph.inputs)}
        outputs = {f"y{i}": index for i, index in enumerate(subgraph.outputs)}
        signature = Signature(KEY, inputs, outputs, number)
        content = save(replace(self.model, signatures=[signature]))
        return Interpreter(model_content=content, experimental_preserve_all_tensors=True)

    def results(self, run: Run) -> list[np.ndarray]:
        """What a run of a subgraph gave."""
        return [np.array(run.read(i)) for i in self.model.subgraphs[run.subgraph].outputs]


def called_runs(
    plain: CalledGraphs,
    quantized: CalledGraphs,
    runs: tuple[Run, Run],
    same_results: Callable[[int, int], dict[int, int]],
) -> Iterator[tuple[Run, Run]]:
    """The runs of what operators of two subgraphs call, each as often as it is called.

    Args:
        plain, quantized: the files.
        runs: of the subgraphs in both.
        same_results: of a subgraph in both files the index of a tensor in the first -> the index of
            the same one in the second.
    """
    first, second = runs
    pairs = same_results(first.subgraph, second.subgraph)
    operators = quantized.model.subgraphs[second.subgraph].operators
    by_result = {index: op for op in operators for index in op.outputs}
    for op in plain.model.subgraphs[first.subgraph].operators:
        other = by_result.get(pairs.get(op.outputs[0], -1)) if op.outputs else None
        if op.op not in CALLERS or other is None or other.op != op.op:
            continue
        if any(keeps_something(graphs.model) for graphs in (plain, quantized)):
            continue
        sides = (
            Call(plain, op, inputs_of(op, first)),
            Call(quantized, other, inputs_of(other, second)),
        )
        for inner in CALLERS[op.op](*sides):
            yield inner
            yield from called_runs(plain, quantized, inner, same_results)


def keeps_something(model: Model) -> bool:
    """Whether an operator of a file keeps something from run to run, which functions share."""
    kinds = {op.op for subgraph in model.subgraphs for op in subgraph.operators}
    rows = (operator(kind) for kind in kinds)
    return any(row is not None and "stateful" in row.traits for row in rows)


def called_subgraphs(op: Operator) -> tuple[int, ...]:
    """The numbers of the subgraphs that an operator calls."""
    row = operator(op.op)
    calls = None if row is None else row.fact("calls")
    return tuple(getattr(op.options, name) for name in calls.split(",")) if calls else ()


class Call(NamedTuple):
    """An operator that calls subgraphs of a file, and what it gets."""

    graphs: CalledGraphs
    op: Operator
    arrays: list[np.ndarray]


def inputs_of(op: Operator, run: Run) -> list[np.ndarray]:
    """What an operator got in a run of its subgraph."""
    return [np.array(run.read(i)) for i in op.inputs]


def branch_runs(first: Call, second: Call) -> Iterator[tuple[Run, Run]]:
    """The branch that both files take; none where they differ."""
    if bool(first.arrays[0]) != bool(second.arrays[0]):
        return
    name = "then_subgraph_index" if first.arrays[0] else "else_subgraph_index"
    one, other = (
        call.graphs.run(getattr(call.op.options, name), call.arrays[1:]) for call in (first, second)
    )
    yield one, other


def loop_runs(first: Call, second: Call) -> Iterator[tuple[Run, Run]]:
    """The iterations that both files take, at most MOST_ITERATIONS."""
    states = [call.arrays for call in (first, second)]
    for _ in range(MOST_ITERATIONS):
        runs = []
        for call, state in zip((first, second), states, strict=True):
            condition, body = called_subgraphs(call.op)
            check = call.graphs.run(condition, state)
            if not call.graphs.results(check)[0]:
                return
            runs.append(call.graphs.run(body, state))
        yield runs[0], runs[1]
        states = [c.graphs.results(r) for c, r in zip((first, second), runs, strict=True)]


CALLERS: dict[str, Callable[[Call, Call], Iterator[tuple[Run, Run]]]] = {
    "IF": branch_runs,
    "WHILE": loop_runs,
}
"""Operators that call subgraphs, and how these are run again."""
