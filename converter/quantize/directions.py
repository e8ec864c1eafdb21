"""LSTMs in two directions as one in each, for which LiteRT has an int8 kernel.

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
from ..passes.rewrite import builder
from .cells import LSTM, wants_int8

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Graph, Op, Tensor
    from .cells import SchemesOf

KIND = "BIDIRECTIONAL_SEQUENCE_LSTM"
WIDTH = 2  # the axis of the elements of a result


def split_directions(graphs: Iterable[Graph], schemes_of: SchemesOf) -> None:
    """Splits the LSTMs of float graphs that are to work on int8."""
    for graph in graphs:
        for op in list(graph.ops):
            if op.kind == KIND and wants_int8(op, schemes_of) and is_apart(op):
                split(graph, op)


def is_apart(op: Op) -> bool:
    """Whether no direction adds an auxiliary input, and the int8 kernel has the activation."""
    row = known(KIND)
    tanh = ACTIVATION_FUNCTION_TYPE[LSTM.activation]
    has_weights = any(op.input(row.position(f"{way}_aux_to_cell")) for way in ("fw", "bw"))
    return op.options.fused_activation_function == tanh and not has_weights


def split(graph: Graph, op: Op) -> None:
    """Puts two operators and the reversals between them in the place of `op`."""
    row, b = known(KIND), builder(graph, op)
    axis = int32s([0 if op.options.time_major else 1])
    x, second = op.inputs[0], op.input(row.position("aux"))
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
    row, options = known(KIND), op.options
    names = [operand.name for operand in known(LSTM.operands).operands[1:]]
    present = {operand.name for operand in row.operands}
    operands = [
        op.input(row.position(f"{way}_{name}")) if f"{way}_{name}" in present else None
        for name in names
    ]
    return b.UNIDIRECTIONAL_SEQUENCE_LSTM(
        x,
        *operands,
        fused_activation_function=options.fused_activation_function,
        cell_clip=options.cell_clip,
        proj_clip=options.proj_clip,
        time_major=options.time_major,
    )
