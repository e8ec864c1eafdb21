"""What is known of each TFLite operator, parsed a row at a time when asked for.

The rows are in operator_table.py: operands, results, the types LiteRT's kernels take, and options
that LiteRT insists on. Types have short names here, such as "f32" or, with scales, "qi8".
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import tables
from .operator_table import ROWS

TYPES = {
    "f32": "FLOAT32",
    "f16": "FLOAT16",
    "bf16": "BFLOAT16",
    "f64": "FLOAT64",
    "i4": "INT4",
    "i8": "INT8",
    "u8": "UINT8",
    "i16": "INT16",
    "u16": "UINT16",
    "i32": "INT32",
    "u32": "UINT32",
    "i64": "INT64",
    "u64": "UINT64",
    "bool": "BOOL",
    "str": "STRING",
    "c64": "COMPLEX64",
    "c128": "COMPLEX128",
    "res": "RESOURCE",
    "var": "VARIANT",
}
"""Short name -> TensorType."""
SHORT = {name: short for short, name in TYPES.items()}
LEFT_OUT = "-"


@dataclass(frozen=True)
class Place:
    """One operand or result: its name, and whether it may be left out or stand for several."""

    name: str
    is_optional: bool = False
    is_variadic: bool = False


@dataclass(frozen=True)
class Combination:
    """Types that an operator takes together.

    Attributes:
        operands, results: for each place the set of its types, or the number of an earlier place
            whose type it has.
        runs_here: whether our interpreter takes them, too.
    """

    operands: tuple[frozenset[str] | int, ...]
    results: tuple[frozenset[str] | int, ...]
    runs_here: bool

    def accepts(self, operands: Sequence[str], results: Sequence[str]) -> bool:
        """Whether these types, one for each place, are among them."""
        if len(operands) != len(self.operands) or len(results) != len(self.results):
            return False
        found = [*operands, *results]
        for kind, types in zip(found, (*self.operands, *self.results), strict=True):
            if kind != found[types] if isinstance(types, int) else kind not in types:
                return False
        return True


@dataclass(frozen=True)
class Operator:
    """What the table says of one operator.

    Attributes:
        kind: its name in the schema.
        operands, results: in order.
        combinations: the types it takes; empty when nothing is known of them.
        options: name -> the numbers it may have, for options without which LiteRT refuses it.
        traits: what else is true of it, in words of the table.
    """

    kind: str
    operands: tuple[Place, ...]
    results: tuple[Place, ...]
    combinations: tuple[Combination, ...]
    options: dict[str, tuple[int, ...]]
    traits: frozenset[str]

    @property
    def counts(self) -> tuple[int, int | None]:
        """The least and the largest number of operands, None without a limit."""
        least = sum(not (one.is_optional or one.is_variadic) for one in self.operands)
        variadic = any(one.is_variadic for one in self.operands)
        return least + variadic, None if variadic else len(self.operands)

    def accepts(self, operands: Sequence[str], results: Sequence[str]) -> bool:
        """Whether LiteRT has a kernel for these types; True when nothing is known of them.

        Operands that are left out at the end may be missing.
        """
        if not self.combinations:
            return True
        given = types_of_places(self.operands, operands)
        made = types_of_places(self.results, results)
        if given is None or made is None:
            return False
        return any(one.accepts(given, made) for one in self.combinations)


def types_of_places(places: Sequence[Place], types: Sequence[Any]) -> list[Any] | None:
    """One type for each place, of which a variadic one has several equal ones.

    None when those differ, or there are too few or too many.
    """
    found, i = [], 0
    for k, place in enumerate(places):
        if place.is_variadic:
            n = len(types) - i - (len(places) - k - 1)
            several = set(types[i : i + n])
            if n < 1 or len(several) != 1:
                return None
            found.append(several.pop())
            i += n
        else:
            found.append(types[i] if i < len(types) else LEFT_OUT)
            i += 1
    return found if i >= len(types) else None


def spread(places: Sequence[Place], types: Sequence[Any], n: int) -> list[Any]:
    """The types of `n` tensors, from one type for each place."""
    found = []
    for place, one in zip(places, types, strict=True):
        found += [one] * (n - len(places) + 1 if place.is_variadic else 1)
    return found[:n]


@functools.lru_cache(256)
def operator(kind: str) -> Operator | None:
    """The row of a builtin operator, None when the table has none."""
    start = ROWS.find(f"\n{kind} ")
    if start < 0:
        return None
    return _parse(ROWS[start + 1 : ROWS.index("\n", start + 1)])


def known(kind: str) -> Operator:
    """The row of an operator that the table has; raises LookupError for another."""
    row = operator(kind)
    if row is None:
        raise LookupError(f"the table of operators has no row for {kind}")
    return row


def kinds() -> list[str]:
    """All operators of the table."""
    return [row.split(" ", 1)[0] for row in ROWS.strip().splitlines()]


def _parse(row: str) -> Operator:
    head, types, options, traits, *_ = (*map(str.strip, row.split(";")), "", "", "")
    kind, _, head = head.partition(" ")
    operands, _, results = head.partition("->")
    return Operator(
        kind,
        tuple(map(_place, operands.split())),
        tuple(map(_place, results.split())),
        _combinations(types),
        dict(map(_option, options.split())),
        frozenset(traits.split()),
    )


def _place(text: str) -> Place:
    return Place(text.strip("[]*"), text.startswith("["), text.startswith("*"))


def _combinations(text: str) -> tuple[Combination, ...]:
    here, _, elsewhere = text.partition("||")
    found = []
    for part, runs_here in ((here, True), (elsewhere, False)):
        for one in filter(None, map(str.strip, part.split("|"))):
            operands, _, results = one.partition("->")
            kinds = (tuple(map(_types, side.split())) for side in (operands, results))
            found.append(Combination(next(kinds), next(kinds), runs_here))
    return tuple(found)


def _types(text: str) -> frozenset[str] | int:
    return int(text[1:]) if text.startswith("=") else frozenset(text.split(","))


def _option(text: str) -> tuple[str, tuple[int, ...]]:
    name, _, values = text.partition("=")
    return name, tuple(tables.TENSOR_TYPE[value] for value in values.split(","))
