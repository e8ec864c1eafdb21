"""What is known of each TFLite operator, parsed a row at a time when asked for.

The rows are in operator_table.py (what it is) and operator_types.py (the types that LiteRT's
kernels take). Types have short names here, such as "f32" or, with scales, "qi8".
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import prod

from . import tables
from .named_tuple import NamedTuple, TypeVar
from .operator_table import ROWS

TYPES = {
    "f32": "FLOAT32",
    "f16": "FLOAT16",
    "bf16": "BFLOAT16",
    "f64": "FLOAT64",
    "f8e4m3": "FLOAT8_E4M3FN",
    "f8e5m2": "FLOAT8_E5M2",
    "i2": "INT2",
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

T = TypeVar("T")
Code = TypeVar("Code", bound="str | None")  # of a type, None where it is implied


class Argument(NamedTuple):
    """One operand or result.

    Attributes:
        name: what the row calls it.
        is_optional: whether it may be left out.
        is_variadic: whether it stands for several.
        number: the option that says for how many; empty where none does.
        type: of a result, the operand or the option that gives its type, or a short type; empty
            where only the file states it.
        is_default: whether the file may state another type.
    """

    name: str
    is_optional: bool = False
    is_variadic: bool = False
    number: str = ""
    type: str = ""
    is_default: bool = False


class Combination(NamedTuple):
    """Types that an operator takes together.

    Attributes:
        operands, results: for each argument the set of its types, or the number of an earlier
            argument whose type it has.
        runs_here: whether our interpreter takes them, too.
    """

    operands: tuple[frozenset[str] | int, ...]
    results: tuple[frozenset[str] | int, ...]
    runs_here: bool

    def accepts(self, operands: Sequence[str], results: Sequence[str]) -> bool:
        """Whether these types, one for each argument, are among them."""
        if len(operands) != len(self.operands) or len(results) != len(self.results):
            return False
        codes = [*operands, *results]
        for code, types in zip(codes, (*self.operands, *self.results), strict=True):
            if code != codes[types] if isinstance(types, int) else code not in types:
                return False
        return True


class Operator(NamedTuple):
    """What the table says of one operator.

    Attributes:
        kind: its name in the schema.
        family: the module of interpreter/ops that has it; empty where none does.
        operands, results: in order.
        traits: the words of the table that are true of it.
        facts: the words that have a value, such as "axes" -> "axis".
        options: name -> the numbers it may have, for options without which LiteRT refuses it.
    """

    kind: str
    family: str
    operands: tuple[Argument, ...]
    results: tuple[Argument, ...]
    traits: frozenset[str]
    facts: dict[str, str]
    options: dict[str, tuple[int, ...]]

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """The types that LiteRT's kernels take; empty when nothing is known of them."""
        return _combinations(self.kind)

    @property
    def counts(self) -> tuple[int, int | None]:
        """The least and the largest number of operands, None without a limit."""
        needed = [i for i, operand in enumerate(self.operands, 1) if not operand.is_optional]
        variadic = any(operand.is_variadic for operand in self.operands)
        return max(needed, default=0), None if variadic else len(self.operands)

    @property
    def is_pure(self) -> bool:
        """Whether equal operands give equal results and nothing else happens."""
        return self.traits.isdisjoint(("stateful", "writes"))

    @property
    def calls(self) -> tuple[str, ...]:
        """The options that hold the subgraphs it runs."""
        return tuple(filter(None, self.facts.get("calls", "").split(",")))

    def has(self, word: str) -> bool:
        """Whether a trait such as "view", or a fact such as "axes" or "int8=same", is in it."""
        name, _, value = word.partition("=")
        return name in self.traits or (name in self.facts and value in ("", self.facts[name]))

    def position(self, name: str) -> int:
        """Where an operand of this name is; raises LookupError when it has none."""
        for i, operand in enumerate(self.operands):
            if operand.name == name:
                return i
        raise LookupError(f"{self.kind} has no operand {name!r}")

    def operand_numbers(self, fact: str) -> tuple[int, ...]:
        """The operands that a fact such as "axes" or "weights" names, by position."""
        return tuple(self.position(name) for name in filter(None, self.fact(fact).split(",")))

    def rank(self, ranks: Sequence[int | None], lengths: Sequence[int | None]) -> int | None:
        """The rank of its results, None where it depends on more than its operands' ranks.

        Args:
            ranks: those of the operands, None where unknown or left out.
            lengths: how many elements each operand has, None where unknown.
        """
        text = self.fact("rank")
        if "broadcast" in self.traits or text == "max":
            known_ranks = [rank for rank in ranks if rank is not None]
            return max(known_ranks) if len(known_ranks) == len(ranks) else None
        if "elementwise" in self.traits:
            return ranks[0]
        if text.isdigit() or not text:
            return int(text) if text else None
        name = text.strip("#+-0123456789")
        of_operands = lengths if text.startswith("#") else ranks
        position = self.position(name)
        n = of_operands[position] if position < len(of_operands) else None
        offset = text.partition(name)[2]
        return None if n is None else n + int(offset or 0)

    def fact(self, name: str) -> str:
        """The value of a word; empty where the row does not have it."""
        return self.facts.get(name, "")

    def numbers(self, fact: str) -> tuple[int, ...]:
        """The numbers that a fact such as "spatial" lists."""
        return tuple(map(int, filter(None, self.fact(fact).split(","))))

    @property
    def limits(self) -> tuple[float, float]:
        """What its results are clamped to, if that is all it does; infinite where nothing is."""
        low, _, high = self.fact("clamp").partition(",")
        return float(low or "-inf"), float(high or "inf")

    def scale_of(self, code: str) -> tuple[float, int] | None:
        """The scale and zero point that a result of this type, such as "i8", always has."""
        if code not in self.facts:
            return None
        scale, _, zero_point = self.facts[code].partition(",")
        above, _, below = scale.partition("/")
        return int(above) / int(below), int(zero_point)

    def products(
        self, operands: Sequence[Sequence[int] | None], results: Sequence[Sequence[int]]
    ) -> int:
        """How many products it adds up, from shapes; 0 for an operator that is no sum of products.

        Args:
            operands: the shapes of its operands, None for one that is left out.
            results: those of its results.

        >>> known("FULLY_CONNECTED").products([(8, 128), (10, 128), (10,)], [(8, 10)])
        10240
        """
        numbers = (*self.operand_numbers("weights"), *self.operand_numbers("hybrid"))
        weights = [operands[i] for i in dict.fromkeys(numbers) if i < len(operands)]
        x = operands[self.position("x")] if weights else None
        if x is None:
            return 0
        if "linear" in self.traits:
            filters = operands[self.operand_numbers("weights")[0]] or (0,)
            if self.kind == "TRANSPOSE_CONV":
                return prod(x) * prod(filters[:-1])
            return prod(results[0]) * prod(filters) // (filters[self.numbers("channels")[0]] or 1)
        if self.kind == "BATCH_MATMUL":  # either axis of x may be the depth
            return prod(results[0]) * prod(x[-2:]) // (results[0][-2] or 1)
        return prod(x[:-1]) * sum(prod(shape) for shape in weights if shape is not None)

    def accepts(self, operands: Sequence[str], results: Sequence[str]) -> bool:
        """Whether LiteRT has a kernel for these types; True when nothing is known of them.

        Operands that are left out at the end may be missing.
        """
        return not self.combinations or bool(self.accepting(operands, results))

    def accepting(self, operands: Sequence[str], results: Sequence[str]) -> list[Combination]:
        """The combinations that these types of operands and results are among."""
        types = self.by_argument(operands, results)
        return [] if types is None else [c for c in self.combinations if c.accepts(*types)]

    def by_argument(
        self, operands: Sequence[str], results: Sequence[Code]
    ) -> tuple[list[str], list[Code | str]] | None:
        """One type for each operand and for each result of the row; None where they do not fit."""
        operand_types = types_of_arguments(self.operands, operands)
        result_types = types_of_arguments(self.results, results)
        if operand_types is None or result_types is None:
            return None
        return operand_types, result_types


def types_of_arguments(
    arguments: Sequence[Argument], types: Sequence[Code]
) -> list[Code | str] | None:
    """One type for each argument, of which a variadic one has several equal ones.

    None when those differ, or there are too few or too many.
    """
    single: list[Code | str] = []
    i = 0
    for k, argument in enumerate(arguments):
        if argument.is_variadic:
            n = len(types) - i - (len(arguments) - k - 1)
            several = set(types[i : i + n])
            if n < 1 or len(several) != 1:
                return None
            single.append(several.pop())
            i += n
        else:
            single.append(types[i] if i < len(types) else LEFT_OUT)
            i += 1
    return single if i >= len(types) else None


def spread(arguments: Sequence[Argument], types: Sequence[T], n: int) -> list[T]:
    """The types of `n` tensors, from one type for each argument."""
    spread_types: list[T] = []
    for argument, type_ in zip(arguments, types, strict=True):
        spread_types += [type_] * (n - len(arguments) + 1 if argument.is_variadic else 1)
    return spread_types[:n]


@functools.lru_cache(256)
def operator(kind: str) -> Operator | None:
    """The row of a builtin operator, None when there is none of this name."""
    text = text_of(kind, ROWS)
    return None if text is None else parsed(f"{kind} {text}")


def known(kind: str) -> Operator:
    """The row of a builtin operator; raises LookupError when there is none of this name."""
    row = operator(kind)
    if row is None:
        raise LookupError(f"the table of operators has no row for {kind}")
    return row


@functools.cache
def kinds() -> tuple[str, ...]:
    """All builtin operators of the schema."""
    return tuple(row.split(" ", 1)[0] for row in ROWS.strip().splitlines())


@functools.cache
def having(word: str) -> frozenset[str]:
    """The operators with a trait or a fact, such as "elementwise", "axes" or "int8=same".

    >>> sorted(having("view"))
    ['DENSIFY', 'EXPAND_DIMS', 'RESHAPE', 'SQUEEZE', 'STABLEHLO_RESHAPE']
    """
    return frozenset(row.kind for row in map(known, kinds()) if row.has(word))


def text_of(kind: str, rows: str) -> str | None:
    """The row of an operator without its name, None when there is none."""
    start = rows.find(f"\n{kind} ")
    if start < 0:
        return None
    return rows[start + len(kind) + 2 : rows.index("\n", start + 1)]


def parsed(text: str) -> Operator:
    """A row of the form that operator_table.py explains."""
    head, traits, options, *_ = (*map(str.strip, text.split(";")), "", "")
    names, _, results = head.partition("->")
    kind, family, *operands = names.split()
    words = traits.split()
    return Operator(
        kind,
        family.strip("-"),
        tuple(map(_argument, operands)),
        tuple(map(_argument, results.split())),
        frozenset(word for word in words if "=" not in word),
        dict(word.split("=", 1) for word in words if "=" in word),
        dict(map(_option, options.split())),
    )


def _argument(text: str) -> Argument:
    is_optional = text.startswith("[")
    name, _, type_ = text.strip("[]").partition(":")
    count, star, name = name.rpartition("*")
    return Argument(name, is_optional, bool(star), count, type_.rstrip("?"), type_.endswith("?"))


@functools.lru_cache(256)
def _combinations(kind: str) -> tuple[Combination, ...]:
    from .operator_types import ROWS as TYPE_ROWS  # of no use to an interpreter

    return combinations_in(text_of(kind, TYPE_ROWS) or "")


def combinations_in(text: str) -> tuple[Combination, ...]:
    """The types of a row of the form that operator_types.py explains."""
    here, _, elsewhere = text.partition("||")
    combinations: list[Combination] = []
    for part, runs_here in ((here, True), (elsewhere, False)):
        for types in filter(None, map(str.strip, part.split("|"))):
            operands, _, results = types.partition("->")
            sides = (tuple(map(_types, side.split())) for side in (operands, results))
            combinations.append(Combination(next(sides), next(sides), runs_here))
    return tuple(combinations)


def _types(text: str) -> frozenset[str] | int:
    return int(text[1:]) if text.startswith("=") else frozenset(text.split(","))


def _option(text: str) -> tuple[str, tuple[int, ...]]:
    name, _, values = text.partition("=")
    return name, tuple(tables.TENSOR_TYPE[value] for value in values.split(","))
