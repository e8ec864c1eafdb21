"""Reads what a kernel declares about its arguments, and checks a call against it.

A declaration is a line of `name:type` words, in the order of the kernel's parameters:

    x:float32[2]         C-contiguous array, dtype float32, two dimensions
    x:float32[rows,*]    the same; every dimension called `rows` in this line must be equal
    x:T2  x:T[rows,*]    dtype from the set T, given beside the declaration: T=(int8, int32)
    axis:i  alpha:f      an int64 and a float64
    low:float32  low:T   one number of that dtype, or of what T is in the call
    window:PoolWindow    a record (records.py): an int64 for each of its fields

A record is given beside the declaration like a set, PoolWindow=PoolWindow, and the call passes one
by its name; its words are declared as `window.size_h:i` and so on.

The letter of a set stands for one dtype throughout the line, and the kernel is compiled once for
each choice. `WIDTHS` stands for the unsigned integer as wide as the dtype that comes, whatever that
is: for kernels that only move elements. An array is read only, unless its name begins with `out`
(written), `inout` (read and written) or `scratch` (room to work in, with no meaning before or
after).

    x:T1 y:T1 out~x~y:T1

says that `out` may lie on `x` or on `y`, byte for byte, where these have as many elements: its
elements are each written once, by the item whose number says where they stand, after the elements
of x and y at that place were read, which nothing else reads. Such a kernel reports no fault and
has no other array to write to.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NoReturn, SupportsIndex, TypeAlias, cast

import numpy as np

from .. import abi

if TYPE_CHECKING:
    from ..plan.buffer import Buffer

Scalar: TypeAlias = "float | np.number | np.bool_"
"""A single number that a kernel is given: an int and a bool, too."""
Number: TypeAlias = "Scalar | tuple[int, ...]"
"""A number, or a record of integers (records.py), that a kernel is given by name."""
Names: TypeAlias = "tuple[str, ...]"
Dtypes: TypeAlias = "Widths | Iterable[object]"
"""A set of dtypes as it is declared: what numba or numpy call them, or their names."""
DescribedSets: TypeAlias = "dict[str, tuple[bool, list[str]]]"
"""letter -> whether it is a set of widths, dtype names"""

READ, WRITE, READ_WRITE, SCRATCH = "read", "write", "read-write", "scratch"
_ROLES = (("out", WRITE), ("inout", READ_WRITE), ("scratch", SCRATCH))
_SCALARS = {"i": "int64", "f": "float64"}
_DTYPES = frozenset(
    ["bool", "float32", "float64", "complex64", "complex128"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
_FLOATS = {
    np.dtype("float32"): (struct.Struct("<f"), struct.Struct("<i")),
    np.dtype("float64"): (struct.Struct("<d"), struct.Struct("<q")),
}
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
MAX_RANK = 8


class Widths(tuple[str, ...]):
    """A set of unsigned integers (and complex128 for 16 bytes), chosen by element width."""

    __slots__ = ()


WIDTHS = Widths(("uint8", "uint16", "uint32", "uint64"))
WIDTHS16 = Widths((*WIDTHS, "complex128"))


class Argument:
    """One declared argument: an array when `rank` is a number, else a single number.

    `reads` says whether the kernel needs the array's elements as they were, `writes` whether they
    are others afterwards. `named` has (position, name, size or None) of each dimension with a name
    or a size; `is_word` is true for an int64. `over` has the names of the arrays it may lie on.
    `record` is the name of the record that it is a field of, "" if of none.
    """

    __slots__ = (
        *("dtype", "is_word", "letter", "name", "named", "over", "rank", "reads", "record", "role"),
        *("slot", "writes"),
    )

    def __init__(
        self,
        name: str,
        letter: str | None,
        dtype: np.dtype | None,
        rank: int | None,
        dims: Names | None,
        slot: int,
        over: Names = (),
    ) -> None:
        self.name, self.letter, self.dtype = name, letter, dtype
        self.rank, self.slot, self.over = rank, slot, over
        self.record = name.rpartition(".")[0]
        self.is_word = dtype == np.int64
        self.named = [
            (i, dim, int(dim) if dim.isdigit() else None)
            for i, dim in enumerate(dims or ())
            if dim != "*"
        ]
        role = next((role for start, role in _ROLES if name.startswith(start)), READ)
        self.role = role
        self.reads, self.writes = role in (READ, READ_WRITE), role != READ


class Declaration:
    """The arguments of one kernel and the sets of dtypes it is compiled for.

    `in_place` has the positions of the array that is the result and of those it may lie on; None
    where it may lie on none.
    """

    def __init__(self, name: str, text: str, sets: Mapping[str, Dtypes]) -> None:
        self.name, self.text = name, text
        self.sets = {letter: _dtype_set(name, letter, names) for letter, names in sets.items()}
        self.arguments: list[Argument] = []
        self.n_slots = abi.FIRST
        for word in text.replace(", ", ",").split():
            self._add(word)
        used = {a.letter for a in self.arguments if a.letter}
        if used != set(self.sets):
            raise ValueError(
                f"{name}: sets {sorted(self.sets)} given, {sorted(used)} used in '{text}'"
            )
        self.arrays = [a for a in self.arguments if a.rank is not None]
        self.in_place = self._places()
        self.read = [i for i, a in enumerate(self.arrays) if a.reads]
        self.written = [i for i, a in enumerate(self.arrays) if a.writes]
        if self.in_place is not None:
            self._check_in_place()
        self.scalars = [a for a in self.arguments if a.rank is None]
        self.has_records = any(a.record for a in self.scalars)
        for argument in self.scalars:
            if argument.letter and all(a.letter != argument.letter for a in self.arrays):
                raise ValueError(f"{name}: no array says what '{argument.name}' is")
        self.letters = sorted(self.sets)
        self._dtypes: dict[str, dict[np.dtype, str]] = {letter: {} for letter in self.sets}

    def _add(self, word: str) -> None:
        """Reads one word of the declaration."""
        name, _, type_text = word.partition(":")
        name, *over = name.split("~")
        kind, bracket, inside = type_text.partition("[")
        names_fit = all(part.isidentifier() for part in (*name.split(".", 1), kind))
        if not names_fit or inside[-1:] != "]"[: len(bracket)]:
            raise ValueError(f"{self.name}: cannot read '{word}' in the declaration")
        inside = inside[:-1] if bracket else None
        rank, dims = _dims(inside)
        if inside is None and kind[:-1] in self.sets and kind[-1].isdigit():
            kind, rank = kind[:-1], int(kind[-1])
        if rank is None:
            kind = _SCALARS.get(kind, kind)
        letter = kind if kind in self.sets else None
        if letter is None and kind not in _DTYPES:
            raise ValueError(f"{self.name}: '{word}' is of unknown dtype '{kind}'")
        if rank is not None and rank > MAX_RANK:
            raise ValueError(f"{self.name}: '{word}' has more than {MAX_RANK} dimensions")
        if any(a.name == name for a in self.arguments):
            raise ValueError(f"{self.name}: argument '{name}' is declared twice")
        dtype = None if letter else np.dtype(kind)
        self.arguments.append(Argument(name, letter, dtype, rank, dims, self.n_slots, tuple(over)))
        self.n_slots += 1 + (rank or 0)

    def _places(self) -> tuple[int, list[int]] | None:
        names = [array.name for array in self.arrays]
        for i, array in enumerate(self.arrays):
            if array.over:
                return i, [names.index(name) for name in array.over if name in names]
        return None

    def _check_in_place(self) -> None:
        """Refuses arrays that lie on others unless one result lies on what is only read."""
        read = {a.name for a in self.arrays if a.role == READ}
        written = [a for a in self.arrays if a.role != READ]
        if len(written) > 1 or written[0].role != WRITE or not read.issuperset(written[0].over):
            raise ValueError(
                f"{self.name}: one result may lie on what is only read, got '{self.text}'"
            )

    def specialisations(self) -> Iterator[dict[str, str]]:
        """Every choice of dtypes, as {letter: dtype name}."""
        for names in product(*(self.sets[letter] for letter in self.letters)):
            yield dict(zip(self.letters, names, strict=True))

    @classmethod
    def restore(cls, name: str, text: str, sets: DescribedSets) -> Declaration:
        """The declaration that `described_sets` and `text` describe."""
        return cls(
            name, text, {k: Widths(v) if is_widths else v for k, (is_widths, v) in sets.items()}
        )

    def described_sets(self) -> DescribedSets:
        """The sets as plain data: {letter: (by width?, dtype names)}."""
        return {k: (isinstance(v, Widths), list(v)) for k, v in self.sets.items()}

    def key(self, choice: Mapping[str, str]) -> str:
        """The name of the code compiled for `choice`."""
        if not choice:
            return self.name
        if len(choice) == 1:
            (name,) = choice.values()
            return f"{self.name}[{name}]"
        return f"{self.name}[{','.join(choice[letter] for letter in self.letters)}]"

    def chosen(self, dtypes: Iterable[str]) -> str:
        """The key of the code for a call with arrays of these dtypes.

        Raises ValueError where `bind` would.
        """
        choice: dict[str, str] = {}
        for argument, dtype in zip(self.arrays, dtypes, strict=True):
            if argument.letter is not None:
                self._check_choice(argument, np.dtype(dtype), choice)
        return self.key(choice)

    def bind(
        self, buffers: Sequence[Buffer], numbers: Mapping[str, Number]
    ) -> tuple[str, list[int]]:
        """Checks a call; gives the key of its code and its record without pointers.

        Raises ValueError, naming kernel, argument, what was expected and what came.
        """
        if len(buffers) != len(self.arrays):
            names = ", ".join(a.name for a in self.arrays)
            raise ValueError(
                f"{self.name}: expected {len(self.arrays)} buffers ({names}), got {len(buffers)}"
            )
        record = [0] * self.n_slots
        choice: dict[str, str] = {}
        named: dict[str, int] = {}
        for argument, buffer in zip(self.arrays, buffers, strict=True):
            if not hasattr(buffer, "storage"):
                self._refuse(argument, "a buffer", repr(buffer))
            shape, dtype, storage = buffer.shape, buffer.dtype, buffer.storage
            letter = argument.letter
            if len(shape) != argument.rank:
                self._refuse(argument, f"rank {argument.rank}", f"shape {shape}")
            if letter is None:
                if dtype is not argument.dtype and dtype != argument.dtype:
                    self._refuse(argument, argument.dtype, dtype)
            elif choice.get(letter) is None or choice[letter] != self._dtypes[letter].get(dtype):
                self._check_choice(argument, dtype, choice)
            is_whole = not buffer.offset and prod(shape) * dtype.itemsize <= storage.nbytes
            is_simple = argument.role == READ or storage.kind != "constant"
            if not (is_whole and is_simple) or (shape and min(shape) < 0):
                self._check_memory(argument, buffer, shape, dtype)
            for i, dim, fixed in argument.named:
                expected = named.setdefault(dim, shape[i]) if fixed is None else fixed
                if shape[i] != expected:
                    self._refuse(argument, f"{dim} = {expected}", f"shape {shape}")
            start = argument.slot + 1
            record[start : start + len(shape)] = shape
        scalars = _by_field(numbers) if self.has_records else numbers
        if len(scalars) != len(self.scalars):
            self._refuse_numbers(scalars)
        for argument in self.scalars:
            if argument.name not in scalars:
                self._refuse_numbers(scalars)
            number = scalars[argument.name]
            if argument.is_word and type(number) is int and _LEAST <= number <= _MOST:
                record[argument.slot] = number
                continue
            dtype = argument.dtype or np.dtype(choice[argument.letter or ""])
            record[argument.slot] = self._bits(argument, dtype, number)
        return self.key(choice), record

    def _check_choice(self, argument: Argument, dtype: np.dtype, choice: dict[str, str]) -> None:
        assert argument.letter is not None
        known = self._dtypes[argument.letter]
        name = known.get(dtype)
        if name is None:
            name = known[dtype] = self._choose(argument, dtype)
        if choice.setdefault(argument.letter, name) != name:
            self._refuse(argument, f"{choice[argument.letter]} like the arguments before", name)

    def _choose(self, argument: Argument, dtype: np.dtype) -> str:
        assert argument.letter is not None
        names, name = self.sets[argument.letter], dtype.name
        if isinstance(names, Widths) and not dtype.hasobject:
            name = "complex128" if dtype.itemsize == 16 else f"uint{8 * dtype.itemsize}"
        if name not in names:
            self._refuse(argument, f"one of {', '.join(names)}", dtype)
        return name

    def _check_memory(
        self, argument: Argument, buffer: Buffer, shape: Sequence[int], dtype: np.dtype
    ) -> None:
        storage, offset = buffer.storage, buffer.offset
        end = offset + prod(shape) * dtype.itemsize
        if offset < 0 or end > storage.nbytes or (shape and min(shape) < 0):
            self._refuse(argument, f"at most {storage.nbytes} bytes", f"bytes {offset} to {end}")
        if offset and offset % dtype.alignment:
            self._refuse(argument, f"an offset that {dtype.alignment} divides", offset)
        if argument.role != READ and storage.kind == "constant":
            self._refuse(argument, "a buffer that may be written", "a constant")

    def _bits(self, argument: Argument, dtype: np.dtype, number: object) -> int:
        """A number as the 64 bits that stand in the record."""
        try:
            if dtype in _FLOATS:
                pack, read = _FLOATS[dtype]
                return read.unpack(pack.pack(number))[0]
            value = operator.index(cast("SupportsIndex", number))
        except (TypeError, struct.error, OverflowError):
            self._refuse(argument, f"a number of {dtype}", repr(number))
        low, high = _range(dtype)
        if not low <= value <= high:
            self._refuse(argument, f"{dtype} in [{low}, {high}]", value)
        return value if value < 1 << 63 else value - (1 << 64)

    def _refuse(self, argument: Argument, expected: object, got: object) -> NoReturn:
        raise ValueError(f"{self.name}: '{argument.name}' must be {expected}, got {got}")

    def _refuse_numbers(self, numbers: Mapping[str, object]) -> NoReturn:
        names = ", ".join(a.name for a in self.scalars) or "none"
        raise ValueError(
            f"{self.name}: numbers must be {names}, got {', '.join(numbers) or 'none'}"
        )


def expanded(text: str, records: Mapping[str, type[tuple[int, ...]]]) -> str:
    """A declaration with a word for each field of its records, classes by the names there."""
    words: list[str] = []
    for word in text.replace(", ", ",").split():
        name, _, kind = word.partition(":")
        fields: tuple[str, ...] = getattr(records.get(kind), "_fields", ())
        words += [f"{name}.{field}:i" for field in fields] or [word]
    return " ".join(words)


def _by_field(numbers: Mapping[str, Number]) -> dict[str, Number]:
    """The numbers of a call with those of records apart."""
    flat: dict[str, Number] = {}
    for name, number in numbers.items():
        if isinstance(number, tuple):
            fields: tuple[str, ...] = getattr(number, "_fields", ())
            flat.update(zip([f"{name}.{field}" for field in fields], number, strict=True))
        else:
            flat[name] = number
    return flat


def named(request: str, declarations: Mapping[str, Declaration]) -> str | None:
    """The key of the code that a request is for; None when it is for none.

    Args:
        request: a key, or `kernel(dtype,dtype)` with the dtypes of the arrays in a call.
        declarations: by kernel.
    """
    name, bracket, dtypes = request.partition("(")
    if not bracket:
        return request
    try:
        return declarations[name].chosen([d for d in dtypes[:-1].split(",") if d])
    except (KeyError, TypeError, ValueError):
        return None  # the call is refused when its arguments are checked


@cache
def _range(dtype: np.dtype) -> tuple[int, int]:
    """The lowest and the highest number of a dtype; none at all for what is no integer."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind not in "iu":
        return 1, 0
    top = 1 << (8 * dtype.itemsize - (dtype.kind == "i"))
    return (-top if dtype.kind == "i" else 0), top - 1


def _dims(inside: str | None) -> tuple[int | None, Names | None]:
    """(rank, dimensions) for what stands between the brackets."""
    if inside is None:
        return None, None
    dims = tuple(dim.strip() for dim in inside.split(","))
    if len(dims) == 1 and dims[0].isdigit():
        return int(dims[0]), None
    return len(dims), dims


def _dtype_set(name: str, letter: str, dtypes: Dtypes) -> Names:
    if isinstance(dtypes, Widths):
        return dtypes
    names = tuple(getattr(d, "__name__", None) or str(d) for d in dtypes)
    names = tuple("bool" if n in ("bool_", "boolean") else n for n in names)
    if not names or not set(names) <= _DTYPES:
        raise ValueError(
            f"{name}: set {letter} must hold dtypes out of {sorted(_DTYPES)}, got {names}"
        )
    return names
