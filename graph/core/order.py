"""Topological order, and what stands before an operation."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from .graph import Operation, Tensor

T = TypeVar("T", bound=Hashable)


class Cycle(ValueError):
    """Items that wait for one another; `items` is one round of them."""

    def __init__(self, items: Sequence[Hashable]):
        self.items = items
        names = [str(getattr(item, "name", item)) for item in items]
        shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        super().__init__(f"the graph has a cycle through {shown}")


def ordered(items: Iterable[T], before: Callable[[T], Iterable[T]]) -> list[T]:
    """`items` and all they wait for, each after the ones `before(item)` names.

    The given order is kept where it can be. Raises Cycle when there is no such order.
    """
    done: dict[T, bool] = {}
    result: list[T] = []
    for start in items:
        if start in done:
            continue
        done[start] = False
        path = [(start, iter(before(start)))]
        while path:
            item, waiting = path[-1]
            following = next((other for other in waiting if not done.get(other, False)), None)
            if following is None:
                done[item] = True
                result.append(item)
                path.pop()
            elif following in done:
                names = [item for item, _ in path]
                raise Cycle(names[names.index(following) :])
            else:
                done[following] = False
                path.append((following, iter(before(following))))
    return result


def data_inputs(op: Operation) -> list[Operation]:
    """The operations whose outputs `op` reads, but for a loop's back edge."""
    return [
        tensor.op
        for tensor in op.all_inputs
        if tensor is not None and not is_back_edge(op.type, tensor.op.type)
    ]


def data_and_control_inputs(op: Operation) -> list[Operation]:
    """The operations that must have run before `op`; a loop's back edge is not among them."""
    return data_inputs(op) + op.control_inputs


def is_back_edge(reader: str, producer: str) -> bool:
    """Whether an edge between ops of these types closes a loop."""
    return reader in ("Merge", "RefMerge") and producer in ("NextIteration", "RefNextIteration")


def copied_from(tensor: Tensor) -> Tensor:
    """The tensor that `tensor` is a copy of, through Identity operations."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor
