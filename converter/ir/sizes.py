"""Sizes while operators are prepared, and what a graph knows of its unknown ones.

`prepare` runs on `Size`, an int whose arithmetic carries the expression it comes from: the number
lets the rule run, the expression is the answer.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

from ...schema.errors import ConverterError, UnsupportedOps
from ..callers import caller
from . import dims
from .dims import Dim, Extent
from .equations import can_substitute, solve, substitute

STEP = 240
"""Reference sizes are this times a prime, so that what usual models divide by divides them."""

MIN_DATA_PRIME = 1009
"""The smallest prime of a size that depends on the data."""

MAX_DECIDED = 6
"""Conditionals of which a branch is chosen by trying both."""

NON_WORD = re.compile(r"\W")


class Size(int):
    """A number for a dimension, and the expression that the dimension is.

    Sums, products, quotients and the functions of engine/sizes.py carry the expression on;
    comparisons look at the number alone.
    """

    dim: Dim
    __array_ufunc__ = None  # numpy's numbers leave arithmetic with it to this class

    def __new__(cls, number: int, dim: Dim) -> Size:
        """The number `number` for the dimension `dim`."""
        size = super().__new__(cls, number)
        size.dim = dim
        return size

    def __repr__(self) -> str:
        """The expression, so that messages do not show a number that the source does not have."""
        return str(self.dim)

    def __abs__(self) -> int:
        return self.largest(self, -self)

    def __neg__(self) -> int:
        return 0 - self

    def least(self, *sizes: int) -> int:
        """The smallest of some sizes."""
        return _size(min(map(int, sizes)), dims.smallest, *sizes)

    def largest(self, *sizes: int) -> int:
        """The largest of some sizes."""
        return _size(max(map(int, sizes)), dims.largest, *sizes)

    def from_front(self, size: int) -> int:
        """The position it is in a dimension of `size`; a negative one counts from its end."""
        number = int(self) + int(size) if self < 0 else int(self)
        return _size(number, dims.from_front, self, size)

    def broadcast_size(self, other: int) -> int:
        """The size to which both broadcast by numpy's rule."""
        sizes = int(self), int(other)
        number = max(sizes) if 1 in sizes or 0 not in sizes else 0
        return _size(number, dims.broadcast, self, other)


def _operator(name: str, symbolic: Callable[..., Extent]) -> None:
    """Gives Size the operator `name`, from either side."""
    plain = getattr(int, f"__{name}__")

    def forward(self: Size, other: Any) -> Any:
        return _size(plain(int(self), int(other)), symbolic, self, other)

    def backward(self: Size, other: Any) -> Any:
        return _size(plain(int(other), int(self)), symbolic, other, self)

    setattr(Size, f"__{name}__", forward)
    setattr(Size, f"__r{name}__", backward)


for _name, _symbolic in {
    "add": dims.add,
    "sub": dims.subtract,
    "mul": dims.multiply,
    "floordiv": dims.floor_div,
    "mod": dims.modulo,
}.items():
    _operator(_name, _symbolic)


def _size(number: int, symbolic: Callable[..., Extent], *args: Any) -> int:
    return as_size(symbolic(*(extent(arg) for arg in args)), number)


def as_size(x: Extent, number: int | None = None) -> int:
    """What `prepare` sees of a size: a Size of this number, or of its reference; or the number."""
    if isinstance(x, int):
        return x
    return Size(x.reference if number is None else number, x)


def extent(n: Any) -> Extent:
    """The expression that an int of `prepare` carries, or the number."""
    return n.dim if isinstance(n, Size) else int(n)


class Assumption(Exception):
    """The source runs only where a symbol has a certain size; lowering starts again with that."""

    def __init__(self, name: str, dim: Extent):
        super().__init__(f"{name} = {dim}")
        self.name, self.dim = name, dim


class Scope:
    """The unknown sizes of a graph and of those it calls.

    Args:
        assumed: symbol -> the size that it must have where the source runs at all.

    Attributes:
        shared: unknown dimensions that the source gives a name.
        numbers: for each of ALTERNATIVES, symbol -> number.
        is_certain: whether all that is lowered runs whenever the model does; not in a branch.
        demands: sizes that are 0 wherever the source runs.
        is_lowering: whether operators are the source's; what passes demand may be more.
        initializer: makes the graph that runs once before all others; None where there is none.
        select_ops: what may become operators of TensorFlow's Flex delegate; None for nothing.
        decided: name of a conditional node -> the branch that alone can be lowered.
        undecided: names of those whose branches give results of unequal ranks.
        aliases: name of a number that an operator gives -> all names it has, since a pass put
            another operator in the place of the one that gave it.
    """

    def __init__(self, assumed: Mapping[str, Extent] | None = None) -> None:
        self.assumed = dict(assumed or {})
        self.is_certain = True
        self.demands: dict[Dim, None] = {}
        self.is_lowering = True
        self.initializer: Any = None
        self.select_ops: Any = None
        self.decided: dict[str, bool] = {}
        self.undecided: list[str] = []
        self.aliases: dict[str, set[str]] = {}
        self.shared: dict[str, Extent] = {}
        self.numbers: list[dict[str, int]] = [{} for _ in ALTERNATIVES]
        self._names: set[str] = set()
        self._primes: dict[bool, Iterator[int]] = {True: primes(MIN_DATA_PRIME), False: primes(7)}
        self._batches = primes(7)

    def batch(self, name: str) -> Extent:
        """A new unknown first dimension of an input."""
        return self._new(name, next(self._batches))

    def length(self, name: str, data_dependent: bool = False) -> Extent:
        """A new unknown dimension: of an input, or one that depends on the data."""
        return self._new(name, STEP * next(self._primes[data_dependent]), data_dependent)

    def named(self, name: str, is_first: bool) -> Extent:
        """The unknown dimension that the source calls `name`; a new one at first.

        `is_first` says whether it is new as a first dimension.
        """
        if name not in self.shared:
            self.shared[name] = self.batch(name) if is_first else self.length(name)
        return self.shared[name]

    def _new(self, name: str, reference: int, data_dependent: bool = False) -> Extent:
        name = NON_WORD.sub("_", name)
        name = f"_{name}" if name[:1].isdigit() else name
        unique, numbers = name, count(2)
        while unique in self._names:
            unique = f"{name}{next(numbers)}"
        self._names.add(unique)
        if unique in self.assumed:
            return self.assumed[unique]
        for alternative, known in zip(ALTERNATIVES, self.numbers, strict=True):
            known[unique] = alternative(len(known), reference)
        return dims.symbol(unique, reference, data_dependent)

    def unify(self, x: str, y: str) -> None:
        """Notes that two names are of one number."""
        names = self.aliases.get(x, {x}) | self.aliases.get(y, {y})
        self.aliases.update(dict.fromkeys(names, names))

    def assume(self, x: int, y: int, even_empty: bool = False) -> Assumption | None:
        """What must hold so that two sizes are equal; None when nothing can be said.

        `even_empty` says whether it must hold where a factor of both is 0.
        """
        solution = solve(extent(x), extent(y), lambda name: dims.symbol(name, STEP), even_empty)
        may_restart = self.is_certain and self.is_lowering
        return Assumption(*solution) if solution is not None and may_restart else None


ALTERNATIVES: tuple[Callable[[int, int], int], ...] = (
    lambda i, reference: STEP if reference > STEP else 4,
    lambda i, reference: 12,
    lambda i, reference: STEP * (i + 2),
    lambda i, reference: STEP * (64 - i % 64),
    lambda i, reference: 3 + 2 * i,
    lambda i, reference: 1,
)
"""Other numbers for the i-th symbol, for operators that refuse the references."""


def lowered(
    lower: Callable[[Scope], Any],
    assumed: Mapping[str, Extent] | None = None,
    decided: Mapping[str, bool] | None = None,
) -> Any:
    """What `lower` gives, started again with each equality that an operator demands.

    Where it fails after branches of unequal ranks, one of these is taken for the only one that ever
    runs if with the other an operator refuses its operands; a warning says so.
    """
    before = dict(assumed or {})
    scope = Scope(before)
    scope.decided.update(decided or {})
    try:
        lowering = lower(scope)
    except Assumption as assumption:
        name, dim = assumption.name, assumption.dim
    except ConverterError as error:
        if not scope.undecided or len(scope.decided) == MAX_DECIDED:
            raise
        return _of_one_branch(lower, scope, error)
    else:
        scope.is_lowering = False
        return lowering
    others = {
        other: substitute(x, name, dim) for other, x in before.items() if can_substitute(x, name)
    }  # the others are demanded again
    return lowered(lower, {**others, name: dim}, decided)


def _of_one_branch(lower: Callable[[Scope], Any], scope: Scope, error: ConverterError) -> Any:
    """What `lower` gives with the branch of a conditional that alone can be lowered.

    Raises `error` where both or none can, UnsupportedOps where what the other lacks is a lowering.
    """
    name = scope.undecided[0]

    def attempt(branch: bool) -> Any:
        try:
            return lowered(lower, scope.assumed, {**scope.decided, name: branch})
        except UnsupportedOps:
            raise
        except ConverterError as refusal:
            return refusal

    lowerings = {branch: attempt(branch) for branch in (True, False)}
    taken = [branch for branch in lowerings if not isinstance(lowerings[branch], ConverterError)]
    if len(taken) != 1:
        raise error
    warnings.warn(
        f"conditional '{name}' is written as its {'then' if taken[0] else 'else'} branch: with the "
        f"other, {lowerings[not taken[0]]}. Where its condition says otherwise the file is wrong",
        stacklevel=caller(),
    )
    return lowerings[taken[0]]


def primes(first: int) -> Iterator[int]:
    """Primes from `first` on."""
    return (n for n in count(first) if all(n % k for k in range(2, int(n**0.5) + 1)))
