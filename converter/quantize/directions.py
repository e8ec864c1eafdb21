"""Recurrent layers in two directions as one in each: integer kernels of LiteRT know one direction.

x -> BIDIRECTIONAL_SEQUENCE_LSTM -> y, z        becomes

x -> UNIDIRECTIONAL_SEQUENCE_LSTM -> y
x -> REVERSE_V2 -> UNIDIRECTIONAL_SEQUENCE_LSTM -> REVERSE_V2 -> z
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...schema.operators import known
from ...schema.tables import ACTIVATION_FUNCTION_TYPE
from ..lowering.moves import int32s
from ..passes.rewrite import builder, options_of
from .cells import wants_int8
from .unroll import is_unrollable

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Graph, Op, Tensor
    from .cells import SchemesOf

LSTM, RNN = "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN"
ONE = {LSTM: "UNIDIRECTIONAL_SEQUENCE_LSTM", RNN: "UNIDIRECTIONAL_SEQUENCE_RNN"}
WIDTH = 2  # the axis of the elements of a result


def split_directions(
    graphs: Iterable[Graph], schemes_of: SchemesOf, unrolls: bool, strict: bool
) -> None:
    """Splits the layers of float graphs that are to work on integers.

    Args:
        graphs: the graphs.
        schemes_of: the schemes in which an operator may work on integers.
        unrolls: whether plain cells are written out step by step then.
        strict: whether LSTMs are, too.
    """
    for graph in graphs:
        for op in list(graph.ops):
            is_split = (strict or wants_int8(op, schemes_of)) and op.kind == LSTM
            is_split |= unrolls and op.kind == RNN
            is_split &= bool(schemes_of(op))
            if is_split and is_apart(op, strict):
                split(graph, op)


def is_apart(op: Op, strict: bool) -> bool:
    """Whether no direction adds an auxiliary input, and integers have each of them."""
    row = known(op.kind)
    weights = ("fw_aux_to_cell", "bw_aux_to_cell") if op.kind == LSTM else ("fw_aux", "bw_aux")
    if any(op.input(row.position(name)) is not None for name in weights):
        return False
    if op.kind == RNN:
        return is_unrollable(op, tuple(row.position(f"{way}_weights") for way in ("fw", "bw")))
    return strict or op.options.fused_activation_function == ACTIVATION_FUNCTION_TYPE["TANH"]


def split(graph: Graph, op: Op) -> None:
    """Puts two operators and the reversals between them in the place of `op`."""
    row, b = known(op.kind), builder(graph, op)
    axis = int32s([0 if op.options.time_major else 1])
    x = op.inputs[0]
    second = op.input(row.position("aux")) if op.kind == LSTM else None  # which RNNs do not look at
    y = one_direction(b, op, "fw", x)
    z = one_direction(b, op, "bw", b.REVERSE_V2(x if second is None else second, axis))
    results = [y, b.REVERSE_V2(z, axis)]
    if op.options.merge_outputs:
        results = [b.CONCATENATION(*results, axis=WIDTH)]
    for old, new in zip(op.outputs, results, strict=True):
        new.origin, new.name = old.origin, old.name
        graph.replace(old, new)
    graph.remove(op)


def one_direction(b: Builder, op: Op, way: str, x: Tensor) -> Tensor:
    """The operator of the direction whose operands begin with `way`."""
    row, kind, options = known(op.kind), ONE[op.kind], options_of(op)
    names = [operand.name for operand in known(kind).operands[1:]]
    present = {operand.name for operand in row.operands}
    operands = [
        op.input(row.position(f"{way}_{name}")) if f"{way}_{name}" in present else None
        for name in names
    ]
    del options["merge_outputs"]
    return b.op(kind, x, *operands, **options)
