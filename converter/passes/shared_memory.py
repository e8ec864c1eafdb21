"""Tensors that LiteRT computes in the memory of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from .fold import is_pure
from .loop_values import copied

MOVES = {"BITCAST": 1, "EXPAND_DIMS": 1, "RESHAPE": 1, "SQUEEZE": 1}
"""Operators whose result is the memory of their first input, unchanged."""
IN_PLACE = {"ADD": 2, "DIV": 2, "DYNAMIC_UPDATE_SLICE": 1, "MUL": 2, "SOFTMAX": 1, "SUB": 2}
"""Operators that may write over an input -> how many of the first are taken for that."""
SIZES_ONLY = {"RANK", "SHAPE"}
SCALAR_BYTES = 4
"""Results that are no larger get memory of their own."""


class Overwriting(NamedTuple):
    """An operator that writes over what others still read.

    Attributes:
        op: the operator.
        i: the input in whose memory its result lies.
        readers: the operators after it that read this memory under another name.
    """

    op: Op
    i: int
    readers: list[Op]


def keep_from_overwriting(graph: Graph) -> int:
    """Lets what LiteRT writes over be read before, or gives the operator that does it a copy.

        x -> MUL -> y -> RESHAPE -> z -> ADD -> r;   y -> GATHER -> g

    becomes

        x -> MUL -> y -> GATHER -> g;   y -> RESHAPE -> z -> ADD -> r

    LiteRT lets y lie on x and z on y, and counts who reads x and z before ADD writes there, not
    who reads y. Where a reader needs the result of ADD, ADD gets SLICE(z).
    """
    count = 0
    while (overwriting := next(overwritings(graph), None)) is not None:
        op, i, readers = overwriting
        if not _read_before(graph, op, readers):
            x = op.inputs[i]
            op.set_input(i, copied(Builder(graph, before=op), x))
        count += 1
    return count


def overwritings(graph: Graph) -> Iterator[Overwriting]:
    """The operators for which LiteRT plans memory that is still read, in their order."""
    positions = {op: k for k, op in enumerate(graph.ops)}
    owners: dict[Tensor, Tensor] = {}
    aliases: dict[Tensor, list[Tensor]] = {}
    for k, op in enumerate(graph.ops):
        inputs = [i for i in _shareable(op) if _may_share(graph, op, i)]
        for i in inputs:
            x = op.inputs[i]
            readers = [
                reader
                for alias in aliases.get(owners.get(x, x), ())
                for reader in alias.readers
                if positions.get(reader, 0) > k and reader.kind not in SIZES_ONLY
            ]
            if op.kind in IN_PLACE and readers:
                yield Overwriting(op, i, list(dict.fromkeys(readers)))
        if inputs:
            owner = owners.get(op.inputs[inputs[0]], op.inputs[inputs[0]])
            if op.kind in MOVES or len(owner.readers) == 1:
                owners[op.output] = owner
                aliases.setdefault(owner, []).append(op.output)


def _shareable(op: Op) -> range:
    return range(min(len(op.inputs), MOVES.get(op.kind, 0) or IN_PLACE.get(op.kind, 0)))


def _may_share(graph: Graph, op: Op, i: int) -> bool:
    """Whether LiteRT may let the result of `op` lie on input `i`, at some sizes."""
    x, y = op.inputs[i], op.output
    if x is None or x.is_constant or x.is_variable or x in graph.inputs or graph.is_output(y):
        return False
    if op.kind in MOVES:
        return True
    sizes = [n for n in (_bytes(x), _bytes(y)) if n is not None]
    is_small_or_other = any(n <= SCALAR_BYTES for n in sizes) or len(set(sizes)) > 1
    return graph.sole_reader(x) is op and x.dtype == y.dtype and not is_small_or_other


def _bytes(x: Tensor) -> int | None:
    return prod(map(int, x.shape)) * x.dtype.itemsize if x.is_static else None


def _read_before(graph: Graph, op: Op, readers: Sequence[Op]) -> bool:
    """Moves readers in front of `op`, if nothing that they need comes after it."""
    position = graph.position(op)
    earlier = {*graph.ops[:position]}
    for reader in readers:
        operands = [x for x in reader.present_inputs if x.producer is not None]
        if not is_pure(reader) or not all(x.producer in earlier for x in operands):
            return False
    for reader in readers:
        graph.ops.insert(graph.position(op), graph.ops.pop(graph.position(reader)))
    return True
