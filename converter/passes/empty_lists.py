"""Lists that a loop fills and that may turn out to have no rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..ir import dims
from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from ..ir.legal_types import has_kernel_for
from .driver import rewrite
from .loop_values import MAX_RANK
from .rewrite import builder, names, producer_of, replace_results, shares_graphs

READS_ROWS = names("DYNAMIC_UPDATE_SLICE GATHER GATHER_ND")
"""Operators that see only the rows that they ask for."""
READS_IN_BODY = READS_ROWS | {"SHAPE"}
"""With it those whose results in the body do not matter: without rows to write into it never runs.
"""


@rewrite("WHILE")
def keep_a_row(graph: Graph, op: Op) -> bool:
    """Gives a list that a loop writes into a row where it would have none.

        FILL([n, 4]) -> y -> WHILE(y: DYNAMIC_UPDATE_SLICE(y, row, [i, 0])) -> z

    becomes

        FILL(MAXIMUM([n, 4], [1, 0])) -> y -> WHILE(...) -> SLICE(0, [n, 4]) -> z

    LiteRT prepares the body before it knows that it will not run, and refuses a row that is written
    into no rows. Holds off where there certainly is one, as a row was written into the list before,
    where condition or body look at more of the list than rows, and where another operator calls the
    same graphs.
    """
    if shares_graphs(graph, op):
        return False
    lists = [i for i in range(len(op.inputs)) if _may_lack_rows(op, i)]
    if not lists:
        return False
    b, inputs = builder(graph, op), list(op.inputs)
    shapes = {i: _lengthen(b, inputs, i) for i in lists}
    for i in lists:
        for tensor in _versions(op, i):
            tensor.sizes = inputs[i].sizes
    loop = list(b.WHILE(*inputs, graphs=op.graphs))
    loop[0].producer.implements = op.implements
    results = list(loop)
    for i, shape in shapes.items():
        if op.outputs[i].readers or graph.is_output(op.outputs[i]):
            results[i] = b.SLICE(loop[i], np.zeros(loop[i].rank, np.int32), shape)
    replace_results(graph, op, range(len(op.outputs)), results)
    return True


def _may_lack_rows(op: Op, i: int) -> bool:
    """Whether value `i` is a list that the body writes rows into and that may have none."""
    x = op.inputs[i]
    sizes = x.sizes
    if not sizes or len(sizes) > MAX_RANK or dims.never_zero(sizes[0]) or x.quantization:
        return False
    if producer_of(x, "FILL") is None and not has_kernel_for("PAD", [x.dtype, np.int32], x.dtype):
        return False
    if producer_of(x, "DYNAMIC_UPDATE_SLICE") is not None:
        return False
    in_condition, *in_body = (
        {reader.kind for reader in version.readers} for version in _versions(op, i)
    )
    update = producer_of(op.graphs[1].outputs[i], "DYNAMIC_UPDATE_SLICE")
    if (
        update is None
        or list(_versions(op, i))[-1] is not op.graphs[1].inputs[i]
        or not in_condition <= READS_ROWS
        or not set().union(*in_body) <= READS_IN_BODY
    ):
        return False
    row = update.inputs[1].sizes
    return row is not None and row[0] == 1 and row[1:] == sizes[1:]


def _versions(op: Op, i: int) -> Iterator[Tensor]:
    """Value `i` in the condition and in the body, and what the body makes of it, step by step."""
    condition, body = op.graphs
    yield condition.inputs[i]
    tensor = body.outputs[i]
    while (update := producer_of(tensor, "DYNAMIC_UPDATE_SLICE")) is not None:
        yield tensor
        tensor = update.inputs[0]
    yield tensor


def _lengthen(b: Builder, inputs: list[Tensor], i: int) -> Tensor:
    """Puts a list with a row in the place of one that may have none; gives the shape of the old."""
    x = inputs[i]
    rank = len(x.sizes or ())
    fill = producer_of(x, "FILL")
    one_row = np.eye(1, rank, dtype=np.int32)[0]
    if fill is not None:
        shape = fill.inputs[0]
        inputs[i] = b.FILL(b.MAXIMUM(shape, one_row.astype(shape.dtype)), fill.inputs[1])
        return shape
    paddings = np.stack([np.zeros(rank, np.int32), one_row], axis=1)
    inputs[i] = b.PAD(x, paddings)
    return b.SHAPE(x, out_type="INT32")
