"""The order of operations that hand values to one another by way of queues, without a dependency.

TensorFlow runs them side by side: one that waits for a value lets others go on. Here one runs after
another, so what may have to wait comes as late as it can, and of several such that first for which
something was put in before.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from ..core.calls import with_called
from ..core.order import ordered

if TYPE_CHECKING:
    from ..core.graph import Operation

Item = TypeVar("Item", bound=Hashable)

MANY = 2**62
"""As many elements as anybody may want."""
GIVING = {
    **dict.fromkeys(("QueueEnqueue", "QueueEnqueueV2"), 1),
    **dict.fromkeys(("QueueEnqueueMany", "QueueEnqueueManyV2"), MANY),
    **dict.fromkeys(("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient"), 1),
    "SparseAccumulatorApplyGradient": 1,
    "BarrierInsertMany": MANY,
    **dict.fromkeys(("Stage", "MapStage", "OrderedMapStage"), 1),
}
"""Operations that put something in -> how many elements at most."""
TAKING = frozenset(
    (
        *("QueueDequeue", "QueueDequeueV2", "QueueDequeueMany", "QueueDequeueManyV2"),
        *("QueueDequeueUpTo", "QueueDequeueUpToV2"),
        *("AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient"),
        *("SparseAccumulatorTakeGradient", "BarrierTakeMany", "Unstage", "StagePeek"),
        *("MapUnstage", "MapUnstageNoKey", "MapPeek"),
        *("OrderedMapUnstage", "OrderedMapUnstageNoKey", "OrderedMapPeek"),
    )
)
"""Operations that may wait for what is put in."""


def exchanging(operations: Iterable[Operation]) -> list[Operation]:
    """Those of `operations`, and of the functions that they call, that put in or take out."""
    return [op for op in with_called(operations) if op.type in GIVING or op.type in TAKING]


def scheduled(
    items: Sequence[Item],
    before: Callable[[Item], Iterable[Item]],
    operations: Callable[[Item], Iterable[Operation]],
) -> list[Item]:
    """`items` in an order in which what may wait comes late.

    Args:
        items: What to run.
        before: What each has to come after.
        operations: Those that run with an item.

    Raises Cycle where there is no order.
    """
    order = ordered(items, before)
    exchanges = {item: exchanging(operations(item)) for item in order}
    if not any(op.type in TAKING for listed in exchanges.values() for op in listed):
        return order
    return _Schedule(order, before, exchanges).run()


class _Schedule(Generic[Item]):
    """An order in the making."""

    def __init__(
        self,
        order: Sequence[Item],
        before: Callable[[Item], Iterable[Item]],
        exchanges: dict[Item, list[Operation]],
    ):
        self._order, self._exchanges = order, exchanges
        self._after: dict[Hashable, list[int]] = defaultdict(list)
        self._missing: list[int] = []
        for position, item in enumerate(order):
            earlier = {*before(item)}
            self._missing.append(len(earlier))
            for other in earlier:
                self._after[other].append(position)
        self._balance: Counter[object] = Counter()
        giving = (op for listed in exchanges.values() for op in listed if op.type in GIVING)
        self._n_to_come = Counter(map(_source, giving))
        self._ready: list[int] = []
        self._takers: list[int] = []

    def run(self) -> list[Item]:
        """The order."""
        for position, missing in enumerate(self._missing):
            if not missing:
                self._push(position)
        result: list[Item] = []
        while self._ready or self._takers:
            position = heapq.heappop(self._ready) if self._ready else self._next_taker()
            item = self._order[position]
            result.append(item)
            for op in self._exchanges[item]:
                self._balance[_source(op)] += GIVING.get(op.type, -1)
                self._n_to_come[_source(op)] -= op.type in GIVING
            for other in self._after[item]:
                self._missing[other] -= 1
                if not self._missing[other]:
                    self._push(other)
        return result

    def _push(self, position: int) -> None:
        takes = any(op.type in TAKING for op in self._exchanges[self._order[position]])
        if takes:
            self._takers.append(position)
        else:
            heapq.heappush(self._ready, position)

    def _next_taker(self) -> int:
        """One for which something was put in, best where no more is to come; else the first."""
        position = min(self._takers, key=self._urgency)
        self._takers.remove(position)
        return position

    def _urgency(self, position: int) -> tuple[bool, bool, int]:
        listed = self._exchanges[self._order[position]]
        sources = [_source(op) for op in listed if op.type in TAKING]
        is_empty = any(self._balance[source] <= 0 for source in sources)
        return is_empty, any(self._n_to_come[source] for source in sources), position


def _source(op: Operation) -> object:
    """What an operation puts in or takes out of: by its name, else the operation that gives it."""
    queue = op if "shared_name" in op.attrs else op.inputs[0].op
    while queue.inputs and queue is not op:
        queue = queue.inputs[0].op
    return queue.attrs.get("shared_name") or queue
