"""What TensorFlow's ops allow of attributes and of the ranks of inputs, read from three tables."""

from __future__ import annotations

import functools
import json
from typing import NamedTuple, cast

from .signatures import signature_of
from .tables import rows_of


class RankLimit(NamedTuple):
    """The ranks that one input may have; `position` counts from the end where it is negative."""

    position: int
    least: int
    most: int
    words: str


_ANY = 1 << 10


def allowed_types(kind: str, attr: str) -> tuple[str, ...] | None:
    """The names of the types that attribute `attr` of op type `kind` may have; None for all."""
    types = _limits("allowed_types").get(f"{kind}.{attr}")
    return None if types is None else tuple(types.split())


def attribute_limit(kind: str, attr: str) -> list[str] | int | None:
    """The strings that an attribute may be, or the least integer or length; None for all."""
    text = _limits("attribute_limits").get(f"{kind}.{attr}")
    return None if text is None else cast("list[str] | int", json.loads(text))


@functools.lru_cache(1024)
def rank_limits(kind: str) -> tuple[RankLimit, ...]:
    """The inputs of op type `kind` whose ranks are limited."""
    signature = signature_of(kind)
    if signature is None:
        return ()
    lists = [i for i, arg in enumerate(signature.inputs) if arg.count or arg.is_list]
    limits: list[RankLimit] = []
    for i, argument in enumerate(signature.inputs):
        text = _limits("operand_ranks").get(f"{kind}.{argument.name}")
        is_behind = bool(lists) and i > lists[-1]
        if text is not None and (is_behind or not lists or i < lists[0]):
            limits.append(_rank_limit(text, i - len(signature.inputs) if is_behind else i))
    return tuple(limits)


def _rank_limit(text: str, position: int) -> RankLimit:
    rank = int(text.lstrip("<>="))
    if text.startswith(">="):
        return RankLimit(position, rank, _ANY, f"at least rank {rank}")
    if text.startswith("<="):
        return RankLimit(position, 0, rank, f"at most rank {rank}")
    return RankLimit(position, rank, rank, f"rank {rank}")


@functools.cache
def _limits(name: str) -> dict[str, str]:
    """What a table says, by `op.name`."""
    table: dict[str, str] = {}
    for row in rows_of(name).split("\n")[1:-1]:
        limit, _, names = row.rpartition(": ")
        table.update(dict.fromkeys(names.split(), limit))
    return table
