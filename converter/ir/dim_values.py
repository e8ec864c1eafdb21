"""The numbers that sizes take where their symbols have numbers."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from .dims import BROADCAST, FLOOR, MAX, OPAQUE, SYMBOL, WRAP, Atom, Extent


def evaluate(x: Extent, numbers: Mapping[str, int]) -> int:
    """The number `x` takes where its symbols and opaque numbers take those of `numbers`.

    Raises KeyError when one of them is not there, ZeroDivisionError for a division by 0.
    """
    return _evaluated(x, numbers, {})


def _evaluated(x: Extent, numbers: Mapping[str, int], known: dict[Atom, int]) -> int:
    """`evaluate`; an atom that stands in many places is computed once."""
    if isinstance(x, int):
        return x
    for monomial, _ in x.terms:
        for atom, _ in monomial:
            if atom not in known:
                known[atom] = _number_of(atom, numbers, known)
    return sum(
        c * prod(known[atom] ** power for atom, power in monomial) for monomial, c in x.terms
    )


def _number_of(atom: Atom, numbers: Mapping[str, int], known: dict[Atom, int]) -> int:
    if atom.kind in (SYMBOL, OPAQUE):
        return numbers[atom.text]
    values = [_evaluated(arg, numbers, known) for arg in atom.args]
    if atom.kind == FLOOR:
        return values[0] // values[1]
    if atom.kind == BROADCAST:
        return next((value for value in values if value != 1), 1)
    if atom.kind == WRAP:
        return values[0] + (values[1] if values[0] < 0 else 0)
    return max(values) if atom.kind == MAX else min(values)
