"""Functions that exporters write as many operations, such as erf by its polynomials.

JAX writes what StableHLO lacks (CHLO's operations) as polynomials before a module is saved; all of
them have the location of the call. Where such operations compute the function that their location
names, at numbers over its whole domain, TF's operation stands for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...schema.errors import ConverterError, ModelError, UnsupportedOps
from ...schema.mlir.module import Block, Operation, Value
from ..core.evaluate import evaluate
from ..core.graph import Graph, Tensor
from .shapes import dtype_at, shape_at

if TYPE_CHECKING:
    from .writer import Writer


class Known(NamedTuple):
    """TF's name of a function, and between which numbers it is compared."""

    kind: str
    low: float
    high: float


FUNCTIONS = {
    "acos": Known("Acos", -0.99, 0.99),
    "acosh": Known("Acosh", 1.01, 50.0),
    "asin": Known("Asin", -0.99, 0.99),
    "asinh": Known("Asinh", -50.0, 50.0),
    "atanh": Known("Atanh", -0.99, 0.99),
    "cosh": Known("Cosh", -8.0, 8.0),
    "digamma": Known("Digamma", 0.05, 30.0),
    "erf": Known("Erf", -5.0, 5.0),
    "erf_inv": Known("Erfinv", -0.99, 0.99),
    "erfc": Known("Erfc", -5.0, 5.0),
    "lgamma": Known("Lgamma", 0.05, 30.0),
    "sinh": Known("Sinh", -8.0, 8.0),
    "tan": Known("Tan", -1.5, 1.5),
}
"""The last part of a location -> what the operations there should compute."""

FEWEST = 4
"""Operations of an expansion; fewer are as good as TF's operation."""
POINTS, MAX_POINTS = 64, 1 << 16
"""Numbers at which a function is compared at least, and up to how many elements at once."""
TOLERANCE = {2: 2e-2, 4: 2e-5, 8: 1e-7}
"""By the bytes of a number, relative to the numbers and to 1."""
UNKNOWN_SIZE = 3
"""What stands for a size that is not known."""


CALLED = {"floor_divide": "FloorDiv", "remainder": "FloorMod"}
"""The name of a function, but for a number at its end -> what it should compute of integers."""
INTEGERS = 200
"""The largest and least numbers at which these are compared."""


def known_call(name: str, arguments: Sequence[Tensor], w: Writer) -> str | None:
    """TF's operation that a function of a module computes of integers and a constant."""
    kind, function = CALLED.get(name.rstrip("_0123456789")), w.module.functions.get(name)
    body = function.regions[0] if function is not None and function.regions else None
    if kind is None or body is None or len(arguments) != 2:
        return None
    x, y = arguments
    if x.dtype not in (np.int32, np.int64) or y.op.type != "Const" or x.sizes is None:
        return None
    if not np.all(y.op.get_attr("value")):
        return None  # by 0 it has another result
    graph = w.traced(body)
    (result,), (first, second) = graph.outputs or [], graph.inputs or []
    expected = graph.add(kind, None, (first, second), {}).outputs[0]
    shape = [UNKNOWN_SIZE if n is None else n for n in x.sizes]
    count = int(np.prod(shape))
    if not 0 < count <= MAX_POINTS:
        return None
    rounds = -(-2 * INTEGERS // count)
    points = np.arange(rounds * count) - INTEGERS
    for part in points.reshape(rounds, *shape).astype(np.dtype(x.dtype)):
        feed = {first: part, second: np.asarray(y.op.get_attr("value"))}
        actual, correct = evaluate(graph, [result, expected], feed)
        if not np.array_equal(actual, correct):
            return None
    return kind


def expansions(block: Block) -> Iterator[tuple[Known | None, list[Operation]]]:
    """The operations of a block by location, with the function that the location names."""
    for location, operations in groupby(block.operations, lambda op: op.location):
        group = list(operations)
        known = FUNCTIONS.get(location.rpartition("/")[2])
        yield known if len(group) >= FEWEST else None, group


def recognised(
    known: Known, group: Sequence[Operation], used: frozenset[Value], w: Writer
) -> tuple[Value, Value] | None:
    """(x, y) of operations that compute y as the known function of x; None of others.

    `used` are the values that other operations read.
    """
    ends = _ends(group, used, w)
    if ends is None:
        return None
    x, y = ends
    unnamed = [replace(op, location="") for op in group]  # which nothing is recognised by
    try:
        graph = w.traced(Block([x], [*unnamed, Operation("vhlo", "return", "", {}, [y])]))
        return ends if _computes(known, graph) else None
    except (ConverterError, ModelError, UnsupportedOps):
        return None


def _ends(
    group: Sequence[Operation], used: frozenset[Value], w: Writer
) -> tuple[Value, Value] | None:
    """The only value that a group reads and the only one that it gives to others."""
    results = {value for op in group for value in op.results}
    operands = {value for op in group for value in op.operands}
    read = [x for x in operands - results if not w.is_constant(x)]
    outgoing = results & used
    constants = {value for op in group if op.name == "constant" for value in op.results}
    if len(read) != 1 or len(outgoing - constants) != 1 or outgoing & constants:
        return None
    (x,), (y,) = read, outgoing
    is_alike = dtype_at(x) == dtype_at(y) and shape_at(x) == shape_at(y)
    return (x, y) if is_alike and dtype_at(x).kind in "fV" else None


def _computes(known: Known, graph: Graph) -> bool:
    """Whether a graph of one input gives what an operation does, over its whole domain."""
    (x,), (y,) = graph.inputs or [], graph.outputs or []
    shape = tuple(UNKNOWN_SIZE if n is None else n for n in x.sizes or ())
    count = int(np.prod(shape))
    if not 0 < count <= MAX_POINTS:
        return False
    expected = graph.add(known.kind, None, (x,), {}).outputs[0]
    rounds = -(-POINTS // count)
    points = np.linspace(known.low, known.high, rounds * count)
    for part in points.reshape(count, rounds).T:
        feed = part.reshape(shape).astype(x.dtype.dtype)
        values = [t.astype(np.float64) for t in evaluate(graph, [y, expected], {x: feed})]
        tolerance = TOLERANCE[x.dtype.dtype.itemsize]
        if not np.allclose(*values, rtol=tolerance, atol=tolerance):
            return False
    return True
