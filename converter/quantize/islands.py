"""What stays float in a quantized model: which operators, why, and their share of the work."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import prod
from typing import NamedTuple

from ...schema.errors import ConverterError
from ...schema.operators import operator
from ..ir.graph import Graph, Op, Tensor
from .rules import reason_for_float
from .scheme import Scheme
from .unroll import MOST_STEPS

RECURRENT = (
    "recurrent.lstm",
    "recurrent.rnn",
)  # families whose operators multiply each step by all weights
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
    tensors = (*op.present_inputs, *op.outputs)
    largest = max((size_of(tensor) for tensor in tensors), default=0)
    if row is None or any(tensor.shape is None for tensor in tensors):
        return largest
    operands = [None if tensor is None else _shape_of(tensor) for tensor in op.inputs]
    products = row.products(operands, [_shape_of(tensor) for tensor in op.outputs])
    return products or (0 if "view" in row.traits else largest)


def _shape_of(tensor: Tensor) -> tuple[int, ...]:
    return tuple(1 if n is None else n for n in tensor.shape or ())


def size_of(tensor: Tensor) -> int:
    """How many elements a tensor has where unknown dimensions are 1."""
    return prod(_shape_of(tensor))


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
            tuple(op.name for op in ops),
            reason,
            sum(work.get(op, 0) for op in ops) / total,
        )
        for (kind, reason), ops in groups.items()
    ]
    return sorted(float_islands, key=lambda island: -island.share)


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
        advice = "strict_int8 = False lets them run in float."
        if any(is_recurrent(island.kind) for island in all_islands):
            advice = (
                "Recurrent layers and loops are written out where the number of steps is known and "
                f"at most {MOST_STEPS}: give the inputs that length. {advice}"
            )
        raise ConverterError(
            "strict_int8 asks for integer operators only, but these stay float:\n"
            f"{listed(all_islands)}\n{advice}"
        )


def is_recurrent(kind: str) -> bool:
    """Whether an operator takes one step after the other."""
    row = operator(kind)
    return kind == "WHILE" or (row is not None and row.family in RECURRENT)
