"""Reshapes that undo each other around elementwise operators."""

from __future__ import annotations

from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .rewrite import BINARY, RESHAPES, UNARY, builder, options_of, producer_of, same_shape, swap

LARGEST = 16  # operators between the reshapes


@rewrite("RESHAPE")
def cancel_reshapes(graph: Graph, op: Op) -> bool:
    """Drops a RESHAPE together with those that made the shape before, several operators earlier.

        x -> RESHAPE -> y -> LOGISTIC -> s;  MUL(y, s) -> RESHAPE -> z
            becomes      x -> LOGISTIC -> s;  MUL(x, s) -> z

    Holds off where something else reads what is between, it repeats an operand, or not all of it
    begins in a RESHAPE of the shape that comes out.
    """
    region = _region(graph, op)
    if not region:
        return False
    b = builder(graph, op)
    moved: dict[int, Tensor] = {}

    def before(x: Tensor) -> Tensor:
        if x.is_constant:
            return x
        reshape = producer_of(x, *RESHAPES)
        return moved[id(x)] if reshape is None else reshape.inputs[0]

    for inner in sorted(region, key=graph.position):
        b.origin(inner.origin)
        result = b.op(inner.kind, *map(before, inner.inputs), **options_of(inner))
        result.origin, result.name = inner.output.origin, inner.output.name
        moved[id(inner.output)] = result
    swap(graph, op, moved[id(op.inputs[0])])
    return True


def _region(graph: Graph, op: Op) -> list[Op]:
    """The elementwise ops between a RESHAPE and those that it undoes; none where it undoes none."""
    region: dict[int, Op] = {}
    pending = [op.inputs[0]]
    while pending:
        tensor = pending.pop()
        producer = tensor.producer
        if producer is None or id(producer) in region:
            if producer is None and not (tensor.is_constant and tensor.data.size == 1):
                return []
            continue
        if producer.kind in RESHAPES and tensor is not op.inputs[0]:
            if not same_shape(producer.inputs[0], op.output):
                return []
            continue
        if not _is_elementwise(producer) or len(region) == LARGEST:
            return []
        region[id(producer)] = producer
        pending += producer.inputs
    is_read_outside = any(
        graph.is_output(inner.output)
        or any(reader is not op and id(reader) not in region for reader in inner.output.readers)
        for inner in region.values()
    )
    return [] if is_read_outside else list(region.values())


def _is_elementwise(op: Op) -> bool:
    """Whether each element comes of those at its place, or of one number, and types stay."""
    if (op.kind not in UNARY and op.kind not in BINARY) or len(op.outputs) != 1:
        return False
    return all(
        tensor.dtype == op.output.dtype
        and tensor.quantization is None
        and (same_shape(tensor, op.output) or (tensor.is_constant and tensor.data.size == 1))
        for tensor in op.present_inputs
    )
