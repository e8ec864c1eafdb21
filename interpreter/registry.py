"""Operators by name; a family's module is imported when a model first uses one of its operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from ..schema.operators import operator
from ..schema.registry import Registry

if TYPE_CHECKING:
    from typing import TypeAlias

    from .plan.node import Node, Prepared

    Prepare: TypeAlias = Callable[[Node], Prepared]
    """Checks a Node and infers its results."""


def family_of(kind: str) -> str:
    """The module of ops/ that has an operator, empty where none has."""
    row = operator(kind)
    return "" if row is None else row.family


OPERATORS: Registry[Prepare] = Registry("operator", f"{__package__}.ops", family_of)
"""Operator -> the function that checks a Node, infers its results and returns `emit(program)`."""


def op(*kinds: str) -> Callable[[Prepare], Prepare]:
    """Registers the decorated `prepare` for the operators `kinds`."""

    def register(prepare: Prepare) -> Prepare:
        for kind in kinds:
            OPERATORS.add(kind, prepare)
        return prepare

    return register


def prepare_of(kind: str) -> Prepare:
    """The `prepare` function of operator `kind`; raises LookupError when there is none."""
    return OPERATORS.known(kind)


@lru_cache(256)
def is_pure(kind: str) -> bool:
    """Whether an operator only computes its results, and the same from equal operands.

    It is folded when its inputs are known, and removed when its results have no readers.
    One that calls graphs is as pure as they are; one that is not supported is not.
    """
    row = operator(kind)
    return row is not None and bool(row.family) and row.is_pure and not row.calls
