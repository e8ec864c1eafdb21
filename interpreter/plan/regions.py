"""Subgraphs of scalars, as StableHLO's reductions and sorts have them, on arrays of elements.

A subgraph whose operators work element by element is prepared for all elements at once: its
scalars are rows of them, its constants are repeated. Any other runs for one element after the
other.

    cond(a, b)  on a[n], b[n]        instead of        cond(a[0], b[0]), cond(a[1], b[1]), ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import control
from ...engine.families.elementwise import elementwise
from ...engine.families.layout import fill
from ...engine.plan.buffer import arena, constant, persistent
from ...schema.operators import operator
from ..checks import scope_of
from . import inline
from .node import Operand

if TYPE_CHECKING:
    from typing import TypeAlias

    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from .node import Node
    from .planner import Recording
    from .scope import Scope

    Rows: TypeAlias = Sequence[np.ndarray]
    Columns: TypeAlias = Callable[[Program], Sequence[Buffer]]
    """Adds what brings the operands into the order [elements of a fold, rows]."""

_FAMILIES = ("binary", "compare", "stablehlo.elementwise", "unary")
"""Modules of ops/ whose operators all work element by element."""


def on_rows(node: Node, subgraph: int) -> Callable[[Rows], list[np.ndarray]]:
    """What gives the results of a subgraph of scalars for each element of rows of one length.

    What it gives is overwritten by the next call.
    """

    def run(rows: Rows) -> list[np.ndarray]:
        scope = scope_of(node)
        if works_on_rows(scope, subgraph):
            return scope.run(subgraph, rows, each=True)
        types = [scope.callee(subgraph).tensors[t].dtype for t in scope.callee(subgraph).outputs]
        results = [np.empty(len(rows[0]), dtype) for dtype in types]
        for i in range(len(rows[0])):
            values = scope.run(subgraph, [row[i : i + 1].reshape(()) for row in rows])
            for result, value in zip(results, values, strict=True):
                result[i] = value.reshape(())
        return results

    return run


def works_on_rows(scope: Scope, subgraph: int) -> bool:
    """Whether each operator of a subgraph that is needed works element by element on scalars."""
    spec = scope.callee(subgraph)
    scalars = {*spec.inputs, *(t.index for t in spec.tensors if t.is_constant)}
    if any(spec.tensors[tensor].shape for tensor in spec.inputs):
        return False
    for position in scope.live(spec):
        call = spec.operators[position]
        row = None if call.is_custom else operator(call.kind)
        if row is None or not row.is_pure or row.calls:
            return False
        if row.family not in _FAMILIES and not row.has("elementwise"):
            return False
        scalars.update(call.outputs)
        if any(tensor not in scalars for tensor in call.inputs):
            return False
    return True


def fold(node: Node, subgraph: int) -> Callable[[Rows, Rows], list[np.ndarray]]:
    """What folds columns [elements, rows] by a subgraph, the first ones first, from starts on."""
    body = on_rows(node, subgraph)

    def run(columns: Rows, starts: Rows) -> list[np.ndarray]:
        n_rows = columns[0].shape[1]
        values = [np.full(n_rows, start.ravel()[0], start.dtype) for start in starts]
        for k in range(len(columns[0]) if n_rows else 0):
            values = body([*values, *(column[k] for column in columns)])
        return [value.copy() for value in values]

    return run


class _Part:
    """Instructions of a loop, and what they compute."""

    def __init__(self, emit: Callable[[Program], object], values: Sequence[Buffer]) -> None:
        self._emit, self.values = emit, values

    def emit(self, program: Program) -> None:
        """Adds the instructions."""
        self._emit(program)


def fold_in_program(
    node: Node, subgraph: int, operands: Sequence[Operand], columns: Columns, size: tuple[int, int]
) -> Callable[[Program, Sequence[Buffer]], Sequence[Buffer]] | None:
    """`fold` as a loop of instructions; None where the subgraph cannot be part of a program.

    Args:
        node: the operator.
        subgraph: what it folds by.
        operands: the scalars that folding starts from.
        columns: adds what brings the elements into the order [elements, rows].
        size: how many elements there are in a fold, and rows.

    Returns:
        What adds the loop and gives the buffers [rows] of the results.
    """
    count, n_rows = size
    scope = node.scope
    if scope is None or not n_rows or not works_on_rows(scope, subgraph):
        return None
    values = [Operand.of(persistent((n_rows,), x.dtype), x.name) for x in operands]
    elements = [Operand.of(arena((n_rows,), x.dtype), x.name) for x in operands]
    body = inline.record(node, subgraph, [*values, *elements], each=n_rows)
    if body is None or [x.dtype for x in body.values] != [x.dtype for x in values]:
        return None
    return lambda program, starts: _loop(
        program, starts, columns(program), (values, elements, body), count
    )


def _loop(
    program: Program,
    starts: Sequence[Buffer],
    columns: Sequence[Buffer],
    parts: tuple[Sequence[Operand], Sequence[Operand], Recording],
    count: int,
) -> Sequence[Buffer]:
    values, elements, body = parts
    position, following = persistent((1,), np.int64), arena((1,), np.int64)
    inside = arena((1,), np.bool_)
    none, one = np.iinfo(np.int64).min, constant(np.ones(1, np.int64))

    def step(program: Program) -> None:
        for column, element in zip(columns, elements, strict=True):
            row = element.reshape((1, element.size))
            program.call("gather.rows", column, position, row, split=1, none=none)
        body.emit(program)
        elementwise(program, "arithmetic.add", (position, one), following, _NO_LIMITS)

    def check(program: Program) -> None:
        end = constant(np.array([count], np.int64))
        elementwise(program, "compare.less", (position, end), inside)

    initial: list[Buffer] = []
    for start, value in zip(starts, values, strict=True):
        initial.append(arena(value.shape, value.dtype))
        fill(program, start, initial[-1])
    if not count:
        return initial
    control.loop(
        program,
        [constant(np.zeros(1, np.int64)), *initial],
        [position, *values],
        _Part(check, [inside]),
        _Part(step, [following, *body.values]),
    )
    return values


_NO_LIMITS = constant(np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max], np.int64))


def sorted_order(node: Node, subgraph: int, rows: Rows) -> np.ndarray:
    """The order [n, count] that sorts rows [n, count] together, equal elements as they were.

    A network of exchanges: each of its steps compares many pairs of elements at once. The subgraph
    takes two elements of each operand and says whether the first comes before the second.
    """
    count = rows[0].shape[1]
    order = np.empty((len(rows[0]), count), np.int64)
    order[...] = np.arange(count, dtype=np.int64)
    body = on_rows(node, subgraph)
    n_pairs = order.size // count * (count // 2) if count else 0
    for low, high in _network(count) if n_pairs else ():
        first, second = order[:, low], order[:, high]
        upper, lower = np.maximum(first, second), np.minimum(first, second)
        pairs = [
            np.resize(np.take_along_axis(row, positions, 1), n_pairs)
            for row in rows
            for positions in (upper, lower)
        ]
        swaps = body(pairs)[0][: upper.size].reshape(upper.shape)
        order[:, low] = np.where(swaps, upper, lower)
        order[:, high] = np.where(swaps, lower, upper)
    return order


@lru_cache(8)
def _network(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The pairs of places that each step of Batcher's merge exchange compares.

    Source: Knuth, The Art of Computer Programming, vol. 3, algorithm 5.2.2M.
    """
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    top = 1 << max((count - 1).bit_length() - 1, 0)
    p = top
    while p:
        q, r, distance = top, 0, p
        while True:
            low = np.arange(max(count - distance, 0), dtype=np.int64)
            low = low[(low & p) == r]
            if low.size:
                steps.append((low, low + distance))
            if q == p:
                break
            distance, q, r = q - p, q // 2, p
        p //= 2
    return steps
