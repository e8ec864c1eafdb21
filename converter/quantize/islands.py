"""What stays float in a quantized model: which operators, why, and their share of the work."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ...schema.errors import ConverterError
from ...schema.operators import operator
from ..ir.graph import Graph, Op, Tensor
from .rules import reason_for_float
from .scheme import Scheme

MAX_SHOWN = 8  # kinds of operators named in a message


class Island(NamedTuple):
    """Operators of one kind that stay float for one reason.

    Attributes:
        kind: the operator.
        names: what the operators give, in the model's names.
        reason: why they stay float.
        share: their part of all multiplications and other steps on numbers, 0 to 1.
    """

    kind: str
    names: tuple[str, ...]
    reason: str
    share: float

    def __str__(self) -> str:
        first = f"{self.kind} x {len(self.names)}, first for '{self.names[0]}'"
        return f"{first}: {self.reason} ({self.share:.1%} of the work)"


def work_of(op: Op) -> int:
    """About how many steps on single numbers `op` takes; unknown sizes are 1."""
    row = operator(op.kind)
    largest = max((size_of(tensor) for tensor in (*op.present_inputs, *op.outputs)), default=0)
    if row is None:
        return largest
    if "linear" in row.traits:
        (weights,) = row.operand_numbers("weights")
        channels = op.inputs[weights].shape or (1,)
        n_channels = channels[row.numbers("channels")[0]] or 1
        moved = op.inputs[row.position("x")] if op.kind == "TRANSPOSE_CONV" else op.output
        return size_of(moved) * size_of(op.inputs[weights]) // n_channels
    if op.kind == "BATCH_MATMUL":
        depth = (op.inputs[0].shape or (1,))[-2 if op.options.adj_x else -1] or 1
        return size_of(op.output) * depth
    return 0 if "view" in row.traits else largest


def size_of(tensor: Tensor) -> int:
    """How many elements a tensor has where unknown dimensions are 1."""
    n = 1
    for dimension in tensor.shape or ():
        n *= 1 if dimension is None else dimension
    return n


def islands(
    graph: Graph,
    work: dict[Op, int],
    float_ops: Iterable[Op],
    size_dependent: Collection[Tensor],
    scheme: Scheme,
) -> list[Island]:
    """The operators of `graph` that stay float, by kind and reason; the most work first.

    Args:
        graph: the graph.
        work: of every operator that was there before anything was quantized.
        float_ops: those on float32 numbers that were not.
        size_dependent: tensors that depend on sizes alone.
        scheme: what they were to be quantized to.
    """
    groups: dict[tuple[str, str], list[Op]] = {}
    for op in float_ops:
        reason = reason_for_float(op, size_dependent, scheme)
        groups.setdefault((op.custom_code or op.kind, reason), []).append(op)
    total = max(sum(work.values()), 1)
    float_islands = [
        Island(
            kind,
            tuple(map(name_of, ops)),
            reason,
            sum(work.get(op, 0) for op in ops) / total,
        )
        for (kind, reason), ops in groups.items()
    ]
    return sorted(float_islands, key=lambda island: -island.share)


def name_of(op: Op) -> str:
    """What an operator gives, or what it acts on."""
    return op.output.name if op.outputs else op.origin or op.inputs[0].name


def listed(all_islands: Iterable[Island]) -> str:
    """A line for each of the first islands."""
    lines = [f"  {island}" for island in all_islands]
    hidden = [island.kind for island in list(all_islands)[MAX_SHOWN:]]
    if hidden:
        lines[MAX_SHOWN:] = [f"  and {len(hidden)} more kinds: {', '.join(dict.fromkeys(hidden))}"]
    return "\n".join(lines)


def refuse(all_islands: Collection[Island]) -> None:
    """Raises ConverterError listing the operators that would stay float, if there are any."""
    if all_islands:
        raise ConverterError(
            "strict_int8 asks for integer operators only, but these stay float:\n"
            f"{listed(all_islands)}\nstrict_int8 = False lets them run in float."
        )
