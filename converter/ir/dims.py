"""Sizes that depend on unknown ones: integer polynomials over symbols, interned.

    n, h = symbol("n", 7), symbol("h", 1680)
    floor_div(2 * n * h + 4, 2)      is      n*h + 2

A size is an int or a `Dim`; equal sizes are the same object. Besides symbols, a term may hold what
polynomials lack: floor(a / b), the largest or smallest of some sizes, the size two broadcast to, a
position that counts from the end where it is negative, and opaque numbers, of which only what they
depend on is known. Every symbol is at least 0.

Rewriting is by identities of integers alone. Each Dim has a reference, the number it takes where
every symbol takes its own; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from math import gcd, prod
from typing import Any
from weakref import WeakValueDictionary

Monomial = tuple[tuple["Atom", int], ...]
"""(atom, power) in the order of their texts; () for the constant term."""

SYMBOL, OPAQUE = "symbol", "opaque"
FLOOR, MAX, MIN, BROADCAST, WRAP = "floor", "max", "min", "broadcast", "wrap"
REPLACEABLE = (FLOOR, MAX, MIN, BROADCAST)  # by what bounds them, in proofs
DEPTH = 8  # of proofs that a size is not negative
MAX_PROOFS = 3**DEPTH  # of sums with functions replaced; the more there are, the less deep
MAX_ARGS = 6  # of a max or min that others are flattened into
CACHE_SIZE = 4096  # results of each function

_ATOMS: WeakValueDictionary[tuple, Atom] = WeakValueDictionary()
_DIMS: WeakValueDictionary[tuple, Dim] = WeakValueDictionary()


class Atom:
    """What a term multiplies: a symbol, or a function of sizes.

    Attributes:
        kind: SYMBOL, OPAQUE, or which function it is.
        args: the sizes it is a function of; () for symbols and opaque numbers.
        text: how it is written; no two atoms have the same.
        reference: the number it takes where every symbol takes its reference.
        data_dependent: whether it depends on the data.
        symbols: the texts of the symbols and opaque numbers it depends on.
    """

    __slots__ = ("__weakref__", "args", "data_dependent", "kind", "reference", "symbols", "text")

    kind: str
    args: tuple[Any, ...]
    text: str
    reference: int
    data_dependent: bool
    symbols: frozenset[str]

    def __repr__(self) -> str:
        return self.text


class Dim:
    """A size that is not a number: a sum of terms.

    Attributes:
        terms: (monomial, coefficient) in the order they are written.
        reference: the number it takes where every symbol takes its reference.
        symbols: the texts of the symbols and opaque numbers it depends on.
        data_dependent: whether it depends on the data.
    """

    __slots__ = ("__weakref__", "_text", "data_dependent", "reference", "symbols", "terms")

    terms: tuple[tuple[Monomial, int], ...]
    reference: int
    symbols: frozenset[str]
    data_dependent: bool

    @property
    def atoms(self) -> Iterator[Atom]:
        """The atoms of its terms, those of one term after those of the one before."""
        return (atom for monomial, _ in self.terms for atom, _ in monomial)

    def __repr__(self) -> str:
        if not self._text:
            self._text = _terms_text(self.terms)
        return self._text


Extent = int | Dim
"""A size: a number, or an expression that is none."""


def _atom(
    kind: str, args: tuple, text: str, reference: int, data_dependent: bool, symbols: frozenset[str]
) -> Atom:
    key = (kind, args, text, reference, data_dependent)
    atom = _ATOMS.get(key)
    if atom is None:
        atom = Atom()
        atom.kind, atom.args, atom.text, atom.reference = kind, args, text, reference
        atom.data_dependent, atom.symbols = data_dependent, symbols
        _ATOMS[key] = atom
    return atom


def dim_of(terms: Mapping[Monomial, int]) -> Extent:
    """The sum of `terms`; those with the coefficient 0 are left out."""
    nonzero = [(monomial, c) for monomial, c in terms.items() if c]
    if not nonzero or (len(nonzero) == 1 and not nonzero[0][0]):
        return nonzero[0][1] if nonzero else 0
    nonzero.sort(key=_term_order)
    key = tuple(nonzero)
    dim = _DIMS.get(key)
    if dim is None:
        dim = Dim()
        dim.terms, dim._text = key, ""
        dim.reference = sum(
            c * prod(atom.reference**power for atom, power in monomial) for monomial, c in key
        )
        dim.symbols = frozenset().union(*(atom.symbols for atom in dim.atoms))
        dim.data_dependent = any(atom.data_dependent for atom in dim.atoms)
        _DIMS[key] = dim
    return dim


def _term_order(term: tuple[Monomial, int]) -> tuple:
    monomial, _ = term
    degree = sum(power for _, power in monomial)
    return -degree, [(atom.text, power) for atom, power in monomial]


def of_atom(atom: Atom) -> Dim:
    """The size that is an atom and nothing else."""
    dim = dim_of({((atom, 1),): 1})
    assert isinstance(dim, Dim)
    return dim


def symbol(name: str, reference: int, data_dependent: bool = False) -> Dim:
    """An unknown size; the same name and reference give the same Dim."""
    return of_atom(_atom(SYMBOL, (), name, reference, data_dependent, frozenset((name,))))


def opaque(name: str, reference: int, args: Iterable[Extent] = ()) -> Dim:
    """A number of which only what it depends on is known; the same name gives the same Dim."""
    dependencies = [arg for arg in args if isinstance(arg, Dim)]
    symbols = frozenset((name,)).union(*(dim.symbols for dim in dependencies))
    data_dependent = any(dim.data_dependent for dim in dependencies)
    return of_atom(_atom(OPAQUE, (), name, reference, data_dependent, symbols))


def terms_of(x: Extent) -> dict[Monomial, int]:
    """Monomial -> coefficient, the constant term's monomial being ()."""
    if isinstance(x, Dim):
        return dict(x.terms)
    return {(): x} if x else {}


def reference_of(x: Extent) -> int:
    """The number itself, or that of a Dim's reference."""
    return x.reference if isinstance(x, Dim) else x


def name_of(x: Extent) -> str:
    """The name of a number that an operator gives, opaque or of the data; "" for all others."""
    atom = _as_atom(x) if isinstance(x, Dim) else None
    if atom is None or atom.args or not (atom.kind == OPAQUE or atom.data_dependent):
        return ""
    return atom.text


def opaque_names(x: Extent) -> set[str]:
    """The names of the opaque numbers in `x`."""
    atoms = list(x.atoms) if isinstance(x, Dim) else []
    names = {atom.text for atom in atoms if atom.kind == OPAQUE}
    return names.union(*(opaque_names(arg) for atom in atoms for arg in atom.args))


def references(x: Extent) -> dict[str, int]:
    """The references of the symbols and opaque numbers of `x`, by their texts."""
    if isinstance(x, int):
        return {}
    numbers: dict[str, int] = {}
    for atom in x.atoms:
        if atom.kind in (SYMBOL, OPAQUE):
            numbers[atom.text] = atom.reference
        for arg in atom.args:
            numbers |= references(arg)
    return numbers


@lru_cache(CACHE_SIZE)
def add(x: Extent, y: Extent) -> Extent:
    """x + y"""
    if isinstance(x, int) and isinstance(y, int):
        return x + y
    terms = terms_of(x)
    for monomial, c in terms_of(y).items():
        terms[monomial] = terms.get(monomial, 0) + c
    return dim_of(terms)


@lru_cache(CACHE_SIZE)
def multiply(x: Extent, y: Extent) -> Extent:
    """x * y"""
    if isinstance(x, int) and isinstance(y, int):
        return x * y
    terms: dict[Monomial, int] = {}
    for first, a in terms_of(x).items():
        for second, b in terms_of(y).items():
            monomial = _multiply_monomials(first, second)
            terms[monomial] = terms.get(monomial, 0) + a * b
    return dim_of(terms)


def subtract(x: Extent, y: Extent) -> Extent:
    """x - y"""
    return add(x, multiply(-1, y))


def product(sizes: Iterable[Extent]) -> Extent:
    """All of `sizes` multiplied."""
    total: Extent = 1
    for size in sizes:
        total = multiply(total, size)
    return total


def _multiply_monomials(first: Monomial, second: Monomial) -> Monomial:
    powers = dict(first)
    for atom, power in second:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda pair: pair[0].text))


@lru_cache(CACHE_SIZE)
def floor_div(x: Extent, y: Extent) -> Extent:
    """floor(x / y), what Python's x // y is; raises ZeroDivisionError for y = 0."""
    if isinstance(x, int) and isinstance(y, int):
        return x // y
    exact = divide_exactly(x, y)
    if exact is not None:
        return exact
    if isinstance(y, int):
        assert isinstance(x, Dim)
        return _floor_by(x, y) if y > 0 else floor_div(multiply(-1, x), -y)
    x, y = cancel_factors(x, y)
    if isinstance(y, int):
        return floor_div(x, y)
    if not_negative(x) and not_negative(subtract(subtract(y, x), 1)):
        return 0
    return _floor_atom(x, y)


def modulo(x: Extent, y: Extent) -> Extent:
    """x - y * floor(x / y), what Python's x % y is."""
    return subtract(x, multiply(y, floor_div(x, y)))


def _floor_by(x: Dim, k: int) -> Extent:
    """floor(x / k) for k > 1 that does not divide all of x."""
    quotients: dict[Monomial, int] = {}
    remainders: dict[Monomial, int] = {}
    for monomial, c in terms_of(x).items():
        quotients[monomial] = c // k if not monomial or c >= 0 else -(-c // k)
        remainders[monomial] = c - k * quotients[monomial]
    quotient, remainder = dim_of(quotients), dim_of(remainders)
    if isinstance(remainder, int):
        return add(quotient, remainder // k)
    offset = remainders.get((), 0)
    slopes = subtract(remainder, offset)
    assert isinstance(slopes, Dim)
    shared = gcd(k, *(c for _, c in slopes.terms))
    if shared > 1:
        slopes = divide_exactly(slopes, shared)
        assert slopes is not None
        reduced = add(slopes, offset // shared)
        return add(quotient, floor_div(reduced, k // shared))
    if slopes.terms[0][1] < 0:
        upper = add(multiply(-1, remainder), k - 1)
        return subtract(quotient, floor_div(upper, k))
    if not_negative(remainder) and not_negative(subtract(k - 1, remainder)):
        return quotient
    return add(quotient, _floor_of_remainder(remainder, slopes, offset, k))


def _floor_of_remainder(remainder: Dim, slopes: Dim, offset: int, k: int) -> Extent:
    """floor(remainder / k), where remainder = slopes + offset has nothing that k divides."""
    atom = _as_atom(slopes)
    if atom is not None and atom.kind == FLOOR and isinstance(atom.args[1], int):
        x, by = atom.args
        return floor_div(add(x, offset * by), by * k)
    if atom is not None and atom.kind in (MAX, MIN):
        return _extreme(atom.kind, [floor_div(add(arg, offset), k) for arg in atom.args])
    return _floor_atom(remainder, k)


def _floor_atom(x: Extent, y: Extent) -> Dim:
    dividend, divisor = reference_of(x), reference_of(y)
    return of_atom(_function(FLOOR, (x, y), dividend // divisor if divisor else 0))


def _function(kind: str, args: tuple[Extent, ...], reference: int) -> Atom:
    symbols = frozenset().union(*(arg.symbols for arg in args if isinstance(arg, Dim)))
    data_dependent = any(arg.data_dependent for arg in args if isinstance(arg, Dim))
    text = f"{kind}({', '.join(map(str, args))})"
    return _atom(kind, args, text, reference, data_dependent, symbols)


def _as_atom(x: Dim) -> Atom | None:
    """The atom that `x` is; None where it is more."""
    (monomial, c), *others = x.terms
    if others or c != 1 or len(monomial) != 1 or monomial[0][1] != 1:
        return None
    return monomial[0][0]


@lru_cache(CACHE_SIZE)
def divide_exactly(x: Extent, y: Extent) -> Extent | None:
    """x / y where the quotient is a polynomial with integers for coefficients; else None."""
    if isinstance(y, int):
        if y == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        terms = terms_of(x)
        if any(c % y for c in terms.values()):
            return None
        return dim_of({monomial: c // y for monomial, c in terms.items()})
    if isinstance(x, int):
        return 0 if x == 0 else None
    return _long_division(terms_of(x), sorted(y.terms, key=_lexicographic))


def _lexicographic(term: tuple[Monomial, int]) -> tuple:
    """Lexicographic order of monomials, the largest first."""
    return tuple((atom.text, -power) for atom, power in term[0]) + (("\uffff", 0),)


def _long_division(remainder: dict[Monomial, int], divisor: list) -> Extent | None:
    leading, factor = divisor[0]
    quotient: dict[Monomial, int] = {}
    while remainder:
        monomial, c = min(remainder.items(), key=_lexicographic)
        quotient_monomial = _divide_monomials(monomial, leading)
        if quotient_monomial is None or c % factor:
            return None
        quotient[quotient_monomial] = c // factor
        for other, coefficient in divisor:
            term = _multiply_monomials(quotient_monomial, other)
            value = remainder.get(term, 0) - quotient[quotient_monomial] * coefficient
            if value:
                remainder[term] = value
            else:
                remainder.pop(term, None)
    return dim_of(quotient)


def _divide_monomials(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """monomial / divisor; None where it is none."""
    powers = dict(monomial)
    for atom, power in divisor:
        powers[atom] = powers.get(atom, 0) - power
    if any(power < 0 for power in powers.values()):
        return None
    return tuple((atom, power) for atom, power in powers.items() if power)


def cancel_factors(x: Extent, y: Extent) -> tuple[Extent, Extent]:
    """x and y without the factors that all their terms share."""
    terms = [*terms_of(x).items(), *terms_of(y).items()]
    factor = gcd(*(c for _, c in terms))
    shared = dict(terms[0][0])
    for monomial, _ in terms[1:]:
        powers = dict(monomial)
        shared = {atom: min(n, powers.get(atom, 0)) for atom, n in shared.items()}
    common = tuple((atom, n) for atom, n in shared.items() if n)
    by = dim_of({common: factor})
    first, second = divide_exactly(x, by), divide_exactly(y, by)
    assert first is not None and second is not None
    return first, second


def largest(*sizes: Extent) -> Extent:
    """The largest of some sizes."""
    return _extreme(MAX, sizes)


def smallest(*sizes: Extent) -> Extent:
    """The smallest of some sizes."""
    return _extreme(MIN, sizes)


def _extreme(kind: str, sizes: Iterable[Extent]) -> Extent:
    sign = 1 if kind == MAX else -1
    args = _flatten(kind, dict.fromkeys(sizes))
    undominated: list[Extent] = []
    for i, arg in enumerate(args):
        is_dominated = any(
            not_negative(multiply(sign, subtract(other, arg)))
            for j, other in enumerate(args)
            if j != i and (other in undominated or j > i)
        )
        if not is_dominated:
            undominated.append(arg)
    if len(undominated) == 1:
        return undominated[0]
    undominated.sort(key=lambda arg: str(subtract(arg, terms_of(arg).get((), 0))))
    offset = terms_of(undominated[-1]).get((), 0)
    shifted = tuple(subtract(arg, offset) for arg in undominated)
    extremum: Callable[..., int] = max if kind == MAX else min
    atom = _function(kind, shifted, extremum(reference_of(arg) for arg in shifted))
    return add(of_atom(atom), offset)


def _flatten(kind: str, sizes: Iterable[Extent]) -> list[Extent]:
    """The sizes, with the arguments of a max within a max in its place."""
    flat: list[Extent] = []
    for size in sizes:
        inner = _nested_args(kind, size)
        flat += [size] if inner is None else inner
    return list(dict.fromkeys(flat)) if len(flat) <= MAX_ARGS else list(sizes)


def _nested_args(kind: str, size: Extent) -> list[Extent] | None:
    for monomial, c in size.terms if isinstance(size, Dim) else ():
        if c == 1 and len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].kind == kind:
            atom = monomial[0][0]
            addend = subtract(size, of_atom(atom))
            return [add(addend, arg) for arg in atom.args]
    return None


@lru_cache(CACHE_SIZE)
def broadcast(x: Extent, y: Extent) -> Extent:
    """The size to which `x` and `y` broadcast by numpy's rule."""
    if x is y or x == y or y == 1:
        return x
    if x == 1 or isinstance(y, int):
        return y
    if isinstance(x, int):
        return x
    sizes = dict.fromkeys([*broadcast_args(x), *broadcast_args(y)])
    args = tuple(sorted(sizes, key=str))
    if len(args) == 1:
        return args[0]
    return of_atom(_function(BROADCAST, args, max(reference_of(arg) for arg in args)))


@lru_cache(CACHE_SIZE)
def from_front(position: Extent, size: Extent) -> Extent:
    """A position in a dimension of `size`, where a negative one counts from its end."""
    if not_negative(position):
        return position
    if not_negative(subtract(-1, position)):
        return add(position, size)
    index, n = reference_of(position), reference_of(size)
    return of_atom(_function(WRAP, (position, size), index + (n if index < 0 else 0)))


def broadcast_args(x: Dim) -> tuple[Extent, ...]:
    """The sizes that broadcast to this one; itself where it is no such size."""
    atom = _as_atom(x)
    return atom.args if atom is not None and atom.kind == BROADCAST else (x,)


@lru_cache(CACHE_SIZE)
def not_negative(x: Extent, depth: int = DEPTH) -> bool:
    """Whether `x` is proved to be at least 0 whatever its symbols are."""
    if isinstance(x, int):
        return x >= 0
    low = _lower_bound(x)
    if low is not None and low >= 0:
        return True
    if x.reference < 0:
        return False
    functions = [
        (monomial, c)
        for monomial, c in x.terms
        if len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].kind in REPLACEABLE
    ]
    while depth and len(functions) ** depth > MAX_PROOFS:
        depth -= 1
    if not depth:
        return False
    return any(
        _is_sum_not_negative(monomial[0][0], c, subtract(x, dim_of({monomial: c})), depth - 1)
        for monomial, c in functions
    )


def never_zero(x: Extent) -> bool:
    """Whether `x` is proved to be another number than 0 whatever its symbols are."""
    return not_negative(subtract(x, 1)) or not_negative(subtract(-1, x))


def _is_sum_not_negative(atom: Atom, c: int, addend: Extent, depth: int) -> bool:
    """Whether c * atom + addend is proved to be at least 0."""
    if atom.kind in (MAX, MIN, BROADCAST):
        is_bound = (atom.kind == MAX) == (c > 0) and atom.kind != BROADCAST
        sums = (not_negative(add(addend, multiply(c, arg)), depth) for arg in atom.args)
        return any(sums) if is_bound else all(sums)
    if atom.kind == FLOOR and isinstance(atom.args[1], int):
        x, k = atom.args
        # for integers, floor(x / k) + r >= 0 where x + k*r >= 0, and r >= floor(x / k) where
        # k*r + k - 1 >= x; a factor c leaves less room
        if abs(c) == 1:
            slack = 0 if c > 0 else k - 1
            return not_negative(add(add(multiply(k, addend), multiply(c, x)), slack), depth)
        bound = subtract(x, k - 1) if c > 0 else x
        return not_negative(add(multiply(k, addend), multiply(c, bound)), depth)
    return False


@lru_cache(CACHE_SIZE)
def _lower_bound(x: Dim) -> int | None:
    """A number that `x` is never below; None where none is known."""
    total = 0
    for monomial, c in x.terms:
        bound = 1
        for atom, power in monomial:
            low, high = _atom_bounds(atom)
            factor = low if c > 0 else high
            if low is None or low < 0 or factor is None:
                return None
            bound *= factor**power
        total += c * bound
    return total


def _upper_bound(x: Dim) -> int | None:
    low = _lower_bound(negated) if isinstance(negated := multiply(-1, x), Dim) else negated
    return None if low is None else -low


@lru_cache(CACHE_SIZE)
def _atom_bounds(atom: Atom) -> tuple[int | None, int | None]:
    """Numbers that an atom is never below and never above."""
    if atom.kind == SYMBOL:
        return 0, None
    if atom.kind in (OPAQUE, WRAP):
        return None, None
    if atom.kind == FLOOR:
        x, by = atom.args
        if not isinstance(by, int):
            return (0, None) if not_negative(x) and not_negative(subtract(by, 1)) else (None, None)
        low, high = _bounds(x)
        return None if low is None else low // by, None if high is None else high // by
    lows, highs = zip(*map(_bounds, atom.args), strict=True)
    known_lows, known_highs = (
        [n for n in lows if n is not None],
        [n for n in highs if n is not None],
    )
    has_low, has_high = len(known_lows) == len(lows), len(known_highs) == len(highs)
    if atom.kind == MAX:
        return max(known_lows, default=None), max(known_highs) if has_high else None
    if atom.kind == MIN:
        return min(known_lows) if has_low else None, min(known_highs, default=None)
    return min(known_lows) if has_low else None, max(known_highs) if has_high else None


def _bounds(x: Extent) -> tuple[int | None, int | None]:
    return (x, x) if isinstance(x, int) else (_lower_bound(x), _upper_bound(x))


def _terms_text(terms: tuple[tuple[Monomial, int], ...]) -> str:
    parts = []
    for monomial, c in terms:
        factors = [atom.text for atom, power in monomial for _ in range(power)]
        sign, magnitude = "-" if c < 0 else "+", abs(c)
        if magnitude != 1 or not factors:
            factors.insert(0, str(magnitude))
        parts.append(f"{sign}{'*'.join(factors)}")
    return "".join(parts).removeprefix("+")


Function = Callable[..., Extent]
FUNCTIONS: dict[str, Function] = {
    FLOOR: floor_div,
    MAX: largest,
    MIN: smallest,
    BROADCAST: lambda first, *others: reduce(broadcast, others, first),
    WRAP: from_front,
}
"""Word in the text of a size -> what it computes."""
