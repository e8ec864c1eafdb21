"""Partitioning a graph: as few partitions as the claims allow, none that waits for itself."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from heapq import heapify, heappop, heappush
from typing import Protocol, TypeVar


class Value(Hashable, Protocol):
    """What one step gives and others read."""

    @property
    def storage(self) -> Hashable:
        """Its memory."""
        ...


class Step(Hashable, Protocol):
    """What runs: operators, and partitions of them."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def inputs(self) -> Sequence[Value | None]:
        """What it reads."""
        ...

    @property
    def results(self) -> Sequence[Value]:
        """What it gives."""
        ...

    @property
    def stateful(self) -> bool:
        """Whether it must stay in order with others of that kind."""
        ...


StepT = TypeVar("StepT", bound=Step)


def partition_graph(
    ops: Sequence[StepT], claimed: Collection[StepT], minimum: int = 1
) -> list[list[StepT]]:
    """The claimed operators in groups that run one after the other, each as one step.

        a -> B -> c -> D             claimed in capitals: B and D cannot be one step for c's sake
        a -> B -> D and B -> E       here B, D and E can

    An operator's level is the number of times that a way to it leaves the claimed operators and
    comes back. Levels are groups: no way leads from a level back to itself through anything else,
    and as the longest such way needs as many groups, there are no fewer. A group of fewer
    than `minimum` operators that compute something moves to later levels; what cannot is given up.

    Args:
        ops: everything that runs, each after what it reads: `inputs` and `results` are operands,
            `stateful` says that it must stay in order with others of that kind.
        claimed: those that may be in a group.
        minimum: the smallest size of a group.
    """
    claimed = set(claimed)
    dependencies = _dependencies(ops)
    while True:
        levels = _levels(ops, dependencies, claimed)
        groups: dict[int, list[StepT]] = {}
        for op in ops:
            if op in claimed:
                groups.setdefault(levels[op], []).append(op)
        small = [level for level in groups if _n_computing(groups[level]) < minimum]
        if not small:
            return [groups[level] for level in sorted(groups)]
        readers = _readers(ops, dependencies)
        for level in sorted(small):
            if _n_computing(groups[level]) >= minimum:  # others moved into it
                continue
            unmovable = _move(groups, level, levels, readers, claimed)
            if unmovable:
                claimed.difference_update(unmovable)
                break
        else:
            groups = {level: group for level, group in groups.items() if group}
            return [_sorted(ops, groups[level]) for level in sorted(groups)]


def is_view(op: Step) -> bool:
    """Whether the operator only gives its input's memory another shape."""
    shared = {x.storage for x in op.inputs if x is not None}
    return all(x.storage in shared for x in op.results)


def _dependencies(ops: Sequence[StepT]) -> dict[StepT, list[StepT]]:
    """What each operator has to wait for."""
    producer: dict[Value | None, StepT] = {x: op for op in ops for x in op.results}
    dependencies: dict[StepT, list[StepT]] = {}
    last: StepT | None = None
    for op in ops:
        dependencies[op] = [producer[x] for x in op.inputs if x in producer]
        if op.stateful:
            dependencies[op] += [] if last is None else [last]
            last = op
    return dependencies


def _readers(
    ops: Sequence[StepT], dependencies: dict[StepT, list[StepT]]
) -> dict[StepT, list[StepT]]:
    readers: dict[StepT, list[StepT]] = {op: [] for op in ops}
    for op, producers in dependencies.items():
        for producer in producers:
            readers[producer].append(op)
    return readers


def _levels(
    ops: Sequence[StepT], dependencies: dict[StepT, list[StepT]], claimed: Collection[StepT]
) -> dict[StepT, int]:
    """The earliest level of each operator; on a level, the others run before the claimed."""
    levels: dict[StepT, int] = {}
    for op in ops:
        passes = ((levels[p], p in claimed and op not in claimed) for p in dependencies[op])
        levels[op] = max((level + is_boundary for level, is_boundary in passes), default=0)
    return levels


def _n_computing(group: Sequence[Step]) -> int:
    return sum(not is_view(op) for op in group)


def _move(
    groups: dict[int, list[StepT]],
    level: int,
    levels: dict[StepT, int],
    readers: dict[StepT, list[StepT]],
    claimed: Collection[StepT],
) -> list[StepT]:
    """Moves a level's group to later levels that have one; if some cannot, gives those instead."""
    others = [n for n in groups if n > level and groups[n]]
    targets: dict[StepT, int] = {}
    unmovable: list[StepT] = []
    for op in reversed(groups[level]):
        latest = max(others, default=level)
        for reader in readers[op]:
            reader_level = targets.get(reader, levels[reader])
            latest = min(latest, reader_level if reader in claimed else reader_level - 1)
        candidates = [n for n in others if n <= latest]
        if candidates:
            targets[op] = max(candidates)
        else:
            unmovable.append(op)
    if not unmovable:
        for op, target in targets.items():
            groups[target].append(op)
            levels[op] = target
        groups[level] = []
    return unmovable


def _sorted(ops: Sequence[StepT], group: Collection[StepT]) -> list[StepT]:
    inside = set(group)
    return [op for op in ops if op in inside]


def in_order(steps: Sequence[StepT]) -> list[StepT]:
    """The steps so that each comes after what it reads; those with state keep their order.

    Raises ValueError when some wait for one another.
    """
    maker: dict[Value | None, int] = {x: i for i, step in enumerate(steps) for x in step.results}
    readers: list[list[int]] = [[] for _ in steps]
    n_missing = [0] * len(steps)
    last: int | None = None
    for i, step in enumerate(steps):
        needs = {maker[x] for x in step.inputs if x in maker}
        if step.stateful:
            needs.update(() if last is None else (last,))
            last = i
        n_missing[i] = len(needs)
        for j in needs:
            readers[j].append(i)
    ready = [i for i, n in enumerate(n_missing) if not n]
    heapify(ready)
    order: list[StepT] = []
    while ready:
        i = heappop(ready)
        order.append(steps[i])
        for j in readers[i]:
            n_missing[j] -= 1
            if not n_missing[j]:
                heappush(ready, j)
    if len(order) < len(steps):
        stuck = [step.name for i, step in enumerate(steps) if n_missing[i]]
        raise ValueError(f"its parts wait for one another: {', '.join(stuck)}")
    return order
