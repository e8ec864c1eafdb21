"""Equations between sizes: a symbol solved for, and another size in its place."""

from __future__ import annotations

from collections.abc import Callable

from . import dims
from .dims import Atom, Dim, Extent


def substitute(x: Extent, name: str, by: Extent) -> Extent:
    """`x` with `by` in the place of a symbol."""
    if isinstance(x, int) or name not in x.symbols:
        return x
    total: Extent = 0
    for monomial, c in x.terms:
        factors = [_substituted(atom, name, by) for atom, power in monomial for _ in range(power)]
        total = dims.add(total, dims.multiply(c, dims.product(factors)))
    return total


def can_substitute(x: Extent, name: str) -> bool:
    """Whether no opaque number of `x` depends on a symbol, which tells nothing for another size."""
    return isinstance(x, int) or all(_can_substitute(atom, name) for atom in x.atoms)


def _can_substitute(atom: Atom, name: str) -> bool:
    if name not in atom.symbols or atom.kind == dims.SYMBOL:
        return True
    return atom.kind != dims.OPAQUE and all(can_substitute(arg, name) for arg in atom.args)


def _substituted(atom: Atom, name: str, by: Extent) -> Extent:
    if name not in atom.symbols:
        return dims.of_atom(atom)
    if atom.kind == dims.SYMBOL:
        return by
    return dims.FUNCTIONS[atom.kind](*(substitute(arg, name, by) for arg in atom.args))


def solve(
    x: Extent, y: Extent, new_symbol: Callable[[str], Extent], even_empty: bool = False
) -> tuple[str, Extent] | None:
    """(symbol, size) such that x = y where the symbol is that size, and nowhere else.

    Args:
        x, y: two sizes.
        new_symbol: gives a new symbol for a name, where one is a multiple of something.
        even_empty: whether that must hold where a factor of both is 0, too.
    """
    difference = dims.subtract(x, y)
    if isinstance(difference, int):
        return None
    reduced, _ = dims.cancel_factors(difference, 0)
    if isinstance(reduced, int):  # the difference is a product, of which any factor may be 0
        return None
    if even_empty and not dims.never_zero(dims.divide_exactly(difference, reduced) or 0):
        return None
    for monomial, c in reversed(reduced.terms):
        if len(monomial) != 1 or abs(c) != 1 or monomial[0][1] != 1:
            continue
        atom, remainder = monomial[0][0], dims.subtract(reduced, dims.dim_of({monomial: c}))
        if isinstance(remainder, Dim) and atom.text in remainder.symbols:
            solution = _as_multiple(reduced, atom, c, new_symbol)
        else:
            solution = dims.multiply(-c, remainder)
        if (
            atom.kind == dims.SYMBOL
            and solution is not None
            and not dims.not_negative(dims.subtract(-1, solution))
        ):
            return atom.text, solution
    return None


def _as_multiple(
    reduced: Dim, atom: Atom, c: int, new_symbol: Callable[[str], Extent]
) -> Extent | None:
    """What a symbol is where reduced = 0 says that a sum with it is a multiple of k."""
    for monomial, factor in reduced.terms:
        other = monomial[0][0] if len(monomial) == 1 else None
        if other is None or other.kind != dims.FLOOR or abs(factor) != other.args[1]:
            continue
        remainder = dims.subtract(
            dims.subtract(reduced, dims.dim_of({monomial: factor})), dims.dim_of({((atom, 1),): c})
        )
        if isinstance(remainder, int) or atom.text not in remainder.symbols:
            multiple = dims.multiply(abs(factor), new_symbol(f"{atom.text}_{abs(factor)}"))
            return dims.subtract(multiple, remainder) if c > 0 else dims.add(remainder, multiple)
    return None
