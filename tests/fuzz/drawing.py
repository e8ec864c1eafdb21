"""What random models are made of: types, shapes, scales, values and operands.

A type is a dtype's name, with a `q` before it where it has scales: `qint8`, `qint4`. Everything is
drawn from one generator and from nothing that the product computes, so a seed stays the same model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from math import prod
from pathlib import Path

import ml_dtypes
import numpy as np
from cases import options_record

from flatlite.schema.model import Model, Operator, Quantization, Subgraph, Tensor
from flatlite.schema.targets.versions import update_versions

QUANTIZED = ("qint8", "quint8", "qint16")
SCALED = (*QUANTIZED, "qint4")
NARROW = {"int4": (-8, 7), "int2": (-2, 1)}
"""Types of fewer than 8 bits, which arrays hold as int8, and their limits."""
WORDS = (b"", b"a", b"bc", b"\0z", "\u00e9".encode(), b"several words of text")
TOP_RANK = 8
SIZES = (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 31, 33, 64, 65)
LARGE_SIZES = (1, 2, 7, 48, 64, 100, 129, 200, 257, 400)
MOST, MOST_OF_LARGE = 3000, 60_000
"""Elements of a drawn tensor."""
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 3e38, -3e38, np.inf, -np.inf, np.nan)
INTEREST = {
    **dict.fromkeys(("float32", "float64", "bfloat16"), _FLOATS),
    "float16": (0.0, -0.0, 1.0, -1.0, 0.5, 6e-8, 65504, -65504, np.inf, -np.inf, np.nan),
    **{
        f"int{n}": (0, 1, -1, -(1 << n - 1), (1 << n - 1) - 1, 1 << n // 2) for n in (8, 16, 32, 64)
    },
}
"""Values at which functions change or end."""


@dataclass
class Drawn:
    """A model, and what its inputs are given."""

    model: Model
    feeds: list[np.ndarray]
    called_by: str = ""
    """The operator that runs it as its subgraph: "IF" or "WHILE"; a model of its own without."""
    threads: int = 1
    """Of this interpreter; LiteRT has one."""
    repeats: bool = False
    """Whether the same inputs give the same results once more."""

    @property
    def graph(self) -> Subgraph:
        """The only subgraph, but for that of the caller."""
        return self.model.subgraphs[0]


@dataclass(frozen=True)
class Row:
    """An operator, the types it is drawn with, and `draw(d, operator, type)`.

    Where `sums` is true, values of INTEREST are left out: the order of a sum decides what infinite
    and huge values leave of it.
    """

    op: str
    types: tuple[str, ...]
    draw: Callable[[Draw, str, str], None]
    sums: bool


ROWS: list[Row] = []


def rows(table: dict[str, str], sums: bool = False):
    """Puts a row for each operator of `table` (operator -> types) into ROWS."""

    def register(draw):
        ROWS.extend(Row(op, tuple(types.split()), draw, sums) for op, types in table.items())
        return draw

    return register


@lru_cache(1)
def all_rows() -> tuple[Row, ...]:
    """The rows of every module of operators/."""
    for path in sorted((Path(__file__).parent / "operators").glob("*.py")):
        import_module(f"fuzz.operators.{path.stem}")
    return tuple(ROWS)


class Draw:
    """A graph that grows operator by operator."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.graph = Subgraph("main")
        self.feeds: dict[int, np.ndarray] = {}
        self.special = self.chance(0.05)  # whether values of INTEREST occur
        self.spread = self.pick([5.0] * 11 + [30.0, 100.0])  # of scales' exponents: 2**100 is 1e30
        self.large = self.chance(0.05)  # whether tensors outgrow the blocks of kernels
        self.lofty = self.chance(0.08)  # whether ranks go up to TOP_RANK
        self.hollow = self.chance(0.06)  # whether dimensions may be 0
        self.varies = False  # whether an operator gives something else each time it runs
        self._types: dict[int, str] = {}

    def chance(self, share: float) -> bool:
        """True in `share` of all calls."""
        return bool(self.rng.random() < share)

    def pick(self, choices):
        """One of `choices`."""
        choices = list(choices)
        return choices[int(self.rng.integers(len(choices)))]

    def integer(self, low: int, high: int) -> int:
        """From `low` to `high`, both included."""
        return int(self.rng.integers(low, high + 1))

    def flag(self) -> bool:
        """True or False."""
        return self.chance(0.5)

    def size(self) -> int:
        """One dimension."""
        if self.hollow and self.chance(0.2):
            return 0
        return self.pick(LARGE_SIZES if self.large else SIZES)

    def shape(self, ranks: Iterable[int] = range(6)) -> tuple[int, ...]:
        """Dimensions of a tensor of one of these ranks, not too large in all.

        A range of them has no end but TOP_RANK where the model is lofty.
        """
        if self.lofty and isinstance(ranks, range):
            ranks = range(ranks.start, TOP_RANK + 1)
        sizes = [self.size() for _ in range(self.pick(ranks))]
        while prod(sizes) > (MOST_OF_LARGE if self.large else MOST):
            largest = int(np.argmax(sizes))
            sizes[largest] = max(1, sizes[largest] // 3)
        return tuple(sizes)

    def scheme(self, kind: str, channels: int = 0, axis: int = 0) -> Quantization | None:
        """A random quantization of a type: one scale, or one for each of `channels`."""
        if kind not in SCALED and not channels:
            return None
        middle = (-10.0 if kind != "qint16" else -14.0) if self.spread < 100 else 0.0
        exponents = self.rng.uniform(middle - self.spread, middle + self.spread, channels or 1)
        scales = np.exp2(np.round(exponents) if self.chance(0.3) else exponents)
        zero = 0
        if kind in ("qint8", "quint8") or (kind == "qint16" and self.chance(0.05)):
            limits = np.iinfo(kind[1:])
            zero = self.pick([limits.min, 128 if kind == "quint8" else 0, None, None, None])
            zero = self.integer(limits.min, limits.max) if zero is None else zero
        zeros = np.full(len(scales), 0 if channels else zero, np.int64)
        return Quantization(scales.astype(np.float32), zeros, axis)

    def values(self, kind: str, shape, low=None, high=None) -> np.ndarray:
        """Random values of a type, within limits where they are given."""
        dtype = kind.removeprefix("q")
        if dtype == "string":
            words = WORDS if len(shape) else WORDS[1:]  # LiteRT reads no scalar without a byte
            return np.array(self.rng.choice(np.array(words, object), shape), object)
        if dtype.startswith("complex"):
            array = np.empty(shape, dtype)
            array.real, array.imag = (self.values("float32", shape, low, high) for _ in range(2))
            return array
        if dtype == "bool":
            return np.asarray(self.rng.random(shape) < 0.5)
        array = self._floats(shape, low, high) if "float" in dtype else None
        if array is None:
            array = self._integers(dtype, shape, kind.startswith("q"), low, high)
        array = np.array(array, dtype_of(kind))
        if self.special and low is None and dtype in INTEREST:
            chosen = self.rng.choice(np.array(INTEREST[dtype], array.dtype), shape)
            array = np.where(self.rng.random(shape) < 0.2, chosen, array)
        return np.asarray(array).reshape(shape)

    def _floats(self, shape, low, high) -> np.ndarray:
        ends = (-4.0, 4.0) if low is None else (low, high)
        array = np.asarray(self.rng.uniform(*ends, shape))
        return np.round(array) if self.chance(0.2) else array

    def _integers(self, dtype, shape, scaled, low, high) -> np.ndarray:
        least, most = limits_of(dtype)
        wide = scaled or self.chance(0.2)
        if low is not None:
            least, most = max(least, low), min(most, high)
        elif not wide:
            least, most = max(-9, least), min(9, most)
        return self.rng.integers(least, most, shape, dtype_of(dtype), endpoint=True)

    def at(self, index: int) -> Tensor:
        """A tensor."""
        return self.graph.tensors[index]

    def kind(self, index: int) -> str:
        """The type of a tensor."""
        return self._types[index]

    def tensor(self, kind: str, shape, scheme=None, data=None) -> int:
        """A new tensor."""
        name = kind.removeprefix("q").upper()
        index = len(self.graph.tensors)
        if data is not None and name.lower() in NARROW:
            data = data.astype(name.lower())
        unknown = shape is None
        self.graph.tensors.append(
            Tensor(f"t{index}", () if unknown else tuple(shape), name, data, quantization=scheme)
        )
        self._types[index] = "unknown" if unknown else kind
        return index

    def close(self, index: int) -> None:
        """Keeps a result from being read by other operators."""
        self._types[index] = "closed"

    def input(self, kind: str, shape, scheme=None, low=None, high=None) -> int:
        """A new input."""
        index = self.tensor(kind, shape, scheme or self.scheme(kind))
        self.graph.inputs.append(index)
        self.feeds[index] = self.values(kind, shape, low, high)
        return index

    def constant(self, kind: str, shape, scheme=None, low=None, high=None) -> int:
        """A new constant of random values."""
        values = self.values(kind, shape, low, high)
        return self.tensor(kind, shape, scheme or self.scheme(kind), values)

    def x(self, kind: str, ranks=range(6), shape=None, scheme=None, low=None, high=None) -> int:
        """An operand that may be anything: a tensor of the graph, a new input or a constant."""
        if low is None and self.chance(0.75):
            fit = [
                i
                for i, tensor in enumerate(self.graph.tensors)
                if self._types[i] == kind
                and tensor.data is None
                and (tensor.shape == tuple(shape) if shape is not None else False)
                | (shape is None and len(tensor.shape) in tuple(ranks))
                and (scheme is None or _same(scheme, tensor.quantization))
            ]
            if fit:
                return self.pick(fit[-3:])
        shape = self.shape(ranks) if shape is None else shape
        make = self.constant if self.graph.inputs and self.chance(0.35) else self.input
        return make(kind, shape, scheme, low, high)

    def known(self, values, dtype="int32", at_run_time=0.1) -> int:
        """An operand with exactly these values: mostly a constant, sometimes an input."""
        values = np.asarray(values, dtype)
        if not self.chance(at_run_time):
            return self.tensor(dtype, values.shape, None, values)
        index = self.tensor(dtype, values.shape)
        self.graph.inputs.append(index)
        self.feeds[index] = values
        return index

    def like(self, index: int, shape=None, scheme=None) -> int:
        """A result of the type of a tensor, with its scale or another; () is a scalar."""
        tensor = self.at(index)
        shape = tensor.shape if shape is None else shape
        return self.tensor(self.kind(index), shape, scheme or tensor.quantization)

    def rescaled(self, index: int, shape=None, kind=None) -> int:
        """A result like a tensor, with a scale of its own where it is quantized."""
        kind = kind or self.kind(index)
        return self.tensor(
            kind, self.at(index).shape if shape is None else shape, self.scheme(kind)
        )

    def add(self, op: str, inputs, outputs, **options) -> None:
        """Appends an operator."""
        record = options_record(op, options)
        self.graph.operators.append(Operator(op, list(inputs), list(outputs), record))

    def finish(self, resizes: bool = True) -> Drawn:
        """The model: what nobody reads is an output, and sometimes what somebody reads, too."""
        read = {i for step in self.graph.operators for i in step.inputs}
        produced = [i for step in self.graph.operators for i in step.outputs]
        self.graph.outputs = [i for i in produced if i not in read or self.chance(0.25)]
        model = Model([self.graph])
        update_versions(model)
        feeds = [self.feeds[i] for i in self.graph.inputs]
        caller = self.pick(["IF", "WHILE"]) if self.chance(0.1) else ""
        repeats = not (self.varies or any(tensor.is_variable for tensor in self.graph.tensors))
        if not repeats or "unknown" in [self._types[i] for i in self.graph.outputs]:
            caller = ""  # which has results of known shapes
        elif resizes and not caller and self.chance(0.1):
            self._declare_others()
        return Drawn(model, feeds, caller, self.pick((1, 1, 2, 3)), repeats)

    def _declare_others(self) -> None:
        """Other sizes of inputs and results in the file: they are resized before it runs."""
        for index in (*self.graph.inputs, *self.graph.outputs):
            tensor = self.at(index)
            if tensor.quantization is None or len(tensor.quantization.scales) == 1:
                tensor.shape = tuple(1 if self.flag() else n for n in tensor.shape)


def dtype_of(kind: str) -> np.dtype:
    """What arrays hold a type's elements as."""
    name = kind.removeprefix("q")
    if name in NARROW:
        return np.dtype(np.int8)
    return np.dtype({"string": object, "bfloat16": ml_dtypes.bfloat16}.get(name, name))


def limits_of(dtype: str) -> tuple[int, int]:
    """The lowest and the highest integer of a type."""
    if dtype in NARROW:
        return NARROW[dtype]
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _same(one: Quantization, other: Quantization | None) -> bool:
    return other is not None and one == other
