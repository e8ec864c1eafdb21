"""Lists that loops begin without elements and make longer in each iteration."""

from __future__ import annotations

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .fold import remove_dead_code
from .rewrite import builder, producer_of, replace_results, shares_graphs

SIZE_OPERANDS = {
    "BROADCAST_TO": (1,),
    "FILL": (0,),
    "PAD": (1,),
    "RESHAPE": (1,),
    "SLICE": (1, 2),
    "STRIDED_SLICE": (1, 2, 3),
    "TILE": (1,),
}
"""Operators -> operands that their results' sizes follow from, so that LiteRT allocates the results
while it runs if it computes one of them."""


@rewrite("WHILE")
def grow_from_nothing(graph: Graph, op: Op) -> bool:
    """Lets a loop whose list begins without elements compute a size in its body.

        WHILE(x: CONCATENATION(x, EXPAND_DIMS(y, 0)))
            becomes      WHILE(x, [1]: CONCATENATION(x, RESHAPE(y, [1])), [1])

    where the second [1] is a value of the loop. LiteRT runs a loop whose values become larger, but
    not one whose values have no elements at first and whose body has all of its sizes before it
    runs. Holds off where another operator calls the same graphs.
    """
    condition, body = op.graphs
    if shares_graphs(graph, op) or any(map(_computes_sizes, body.ops)):
        return False
    rows = [row for i in range(len(op.inputs)) if (row := _appended(op, i))]
    if not rows:
        return False
    concatenation, position = max(rows, key=lambda row: _is_reshaped(row[0].inputs[row[1]]))
    x = concatenation.inputs[position]
    shape = np.array([n if isinstance(n, int) else -1 for n in x.sizes or ()], np.int32)
    values = [Builder(callee).input("row_shape", np.int32, shape.shape) for callee in op.graphs]
    body.outputs, body.output_names = [*body.outputs, values[1]], None
    condition.output_names = None
    concatenation.set_input(position, _reshaped(body, concatenation, x, values[1]))
    remove_dead_code(body)
    b = builder(graph, op)
    loop = b.WHILE(*op.inputs, shape, graphs=op.graphs)
    loop[0].producer.implements = op.implements
    replace_results(graph, op, range(len(op.outputs)), loop[: len(op.outputs)])
    return True


def _appended(op: Op, i: int) -> tuple[Op, int] | None:
    """The CONCATENATION that makes a list longer which begins without elements, and which of its
    operands is appended; None if value `i` is no such list.
    """
    sizes = op.inputs[i].sizes
    body = op.graphs[1]
    concatenation = producer_of(body.outputs[i], "CONCATENATION")
    if not sizes or 0 not in sizes or concatenation is None or len(concatenation.inputs) != 2:
        return None
    position = 1 if concatenation.inputs[0] is body.inputs[i] else 0
    row = concatenation.inputs[position]
    is_list = concatenation.inputs[1 - position] is body.inputs[i]
    if not is_list or row.sizes is None or row.quantization:
        return None
    n_unknown = sum(not isinstance(n, int) for n in row.sizes)
    return (concatenation, position) if n_unknown < 2 and 0 not in row.sizes else None


def _reshaped(body: Graph, before: Op, x: Tensor, shape: Tensor) -> Tensor:
    """`x` in its own shape, in the place of what reshapes it for `before` alone."""
    source = x.producer.inputs[0] if x.producer and _is_reshaped(x) else x
    result = builder(body, before).RESHAPE(source, shape)
    result.sizes = x.sizes
    return result


def _is_reshaped(x: Tensor) -> bool:
    """Whether an operator that only reshapes gives a tensor, to one reader."""
    return producer_of(x, "EXPAND_DIMS", "RESHAPE") is not None and len(x.readers) == 1


def _computes_sizes(op: Op) -> bool:
    """Whether LiteRT learns the sizes of what an operator gives only when it runs."""
    return any(_is_computed(op.input(i)) for i in SIZE_OPERANDS.get(op.kind, ()))


def _is_computed(x: Tensor | None) -> bool:
    """Whether a tensor's value follows from the values, not the sizes alone, of others."""
    if x is None or x.is_constant:
        return False
    if x.producer is None:
        return True
    return x.producer.kind not in ("RANK", "SHAPE") and any(map(_is_computed, x.producer.inputs))
