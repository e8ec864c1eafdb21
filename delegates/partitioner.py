"""Partitioning a graph: as few partitions as the claims allow, none that waits for itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any


def partition_graph(
    ops: Sequence[Any], claimed: Collection[Any], minimum: int = 1
) -> list[list[Any]]:
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
        groups: dict[int, list[Any]] = {}
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


def is_view(op: Any) -> bool:
    """Whether the operator only gives its input's memory another shape."""
    shared = {x.storage for x in op.inputs if x is not None}
    return all(x.storage in shared for x in op.results)


def _dependencies(ops: Sequence[Any]) -> dict[Any, list[Any]]:
    """What each operator has to wait for."""
    producer = {x: op for op in ops for x in op.results}
    dependencies, last = {}, None
    for op in ops:
        dependencies[op] = [producer[x] for x in op.inputs if x in producer]
        if op.stateful:
            dependencies[op] += [] if last is None else [last]
            last = op
    return dependencies


def _readers(ops: Sequence[Any], dependencies: dict[Any, list[Any]]) -> dict[Any, list[Any]]:
    readers: dict[Any, list[Any]] = {op: [] for op in ops}
    for op, producers in dependencies.items():
        for producer in producers:
            readers[producer].append(op)
    return readers


def _levels(
    ops: Sequence[Any], dependencies: dict[Any, list[Any]], claimed: Collection[Any]
) -> dict[Any, int]:
    """The earliest level of each operator; on a level, the others run before the claimed."""
    levels: dict[Any, int] = {}
    for op in ops:
        passes = ((levels[p], p in claimed and op not in claimed) for p in dependencies[op])
        levels[op] = max((level + is_boundary for level, is_boundary in passes), default=0)
    return levels


def _n_computing(group: Sequence[Any]) -> int:
    return sum(not is_view(op) for op in group)


def _move(
    groups: dict[int, list[Any]],
    level: int,
    levels: dict[Any, int],
    readers: dict[Any, list[Any]],
    claimed: Collection[Any],
) -> list[Any]:
    """Moves a level's group to later levels that have one; if some cannot, gives those instead."""
    others = [n for n in groups if n > level and groups[n]]
    targets: dict[Any, int] = {}
    unmovable = []
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


def _sorted(ops: Sequence[Any], group: Collection[Any]) -> list[Any]:
    inside = set(group)
    return [op for op in ops if op in inside]
