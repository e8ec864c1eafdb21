"""Programs over shapes: what is drawn, and how large everything in it is at each of its sizes.

A program is drawn once and written as it is drawn, by a writer for TensorFlow or for ONNX. Beside
each size and array stand its values and dimensions at every binding of the unknown sizes, in numpy,
so that what is drawn is valid at most of them. They guide and decide nothing: what is right, the
source's own runtime says.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LITERALS = (2, 3, 4, 5, 6, 7, 8, 10, 16, 20, 32, 100, 240, 250, 480, 1000)
SMALL = (1, 2, 3, 4, 5, 7, 11, 13)
LARGE = (241, 479, 487, 1009)
N_ELEMENTS = 1500  # that an array may have at any binding
LARGEST = 2**24  # value of a size: float32 holds it


class Refused(Exception):
    """This step cannot be drawn here; another one may."""


@dataclass(frozen=True)
class Size:
    """A scalar integer: what the writer calls it, and its value at each binding."""

    handle: Any
    values: np.ndarray


@dataclass(frozen=True)
class Array:
    """A float32 array: its handle, its dimensions at each binding, and those that are numbers."""

    handle: Any
    dims: tuple[np.ndarray, ...]
    known: tuple[int | None, ...]

    @property
    def rank(self) -> int:
        return len(self.dims)


@dataclass
class Program:
    """A program as it grows.

    Attributes:
        rng: decides everything.
        writer: writes it down.
        literals: what its numbers are drawn from.
        symbols: the values of each unknown size at every binding.
        alive: at which bindings everything so far is valid.
        inputs: (name, dimensions as numbers or symbols, dtype, integers lie below).
    """

    rng: random.Random
    writer: Any
    literals: list[int]
    symbols: dict[str, np.ndarray]
    alive: np.ndarray
    inputs: list[tuple] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)

    def require(self, holds) -> None:
        """Narrows the bindings to those where `holds`; Refused when too few are left."""
        alive = self.alive & holds
        if alive.sum() < max(4, 0.6 * self.alive.sum()):
            raise Refused
        self.alive = alive

    def always(self, holds) -> bool:
        """Whether something holds wherever the program is valid."""
        return bool(np.all(np.asarray(holds) | ~self.alive))

    def array(self, handle, dims, known=None) -> Array:
        """A new array, which must not grow too large."""
        dims = tuple(np.broadcast_to(np.asarray(d, np.int64), self.alive.shape) for d in dims)
        total = np.ones(self.alive.shape, np.int64)
        for d in dims:
            self.require(d >= 0)
            total = total * np.clip(d, 0, 10 * N_ELEMENTS)
            self.require(total <= N_ELEMENTS)
        known = (None,) * len(dims) if known is None else tuple(known)
        return Array(handle, tuple(np.maximum(d, 0) for d in dims), known)

    def size(self, handle, values) -> Size:
        """A new scalar, which must stay exact in float32."""
        values = np.broadcast_to(np.asarray(values, np.int64), self.alive.shape)
        self.require(np.abs(values) < LARGEST)
        return Size(handle, values)

    def literal(self) -> Size:
        """One of the program's own numbers."""
        number = self.rng.choice(self.literals)
        return self.size(self.writer.number(number), number)

    def number(self, value: int) -> Size:
        return self.size(self.writer.number(value), value)

    def dim(self, x: Array, axis: int) -> Size:
        """A dimension as the program asks for it."""
        return self.size(self.writer.dim(x.handle, axis, x.rank), x.dims[axis])

    def pick(self, *ranks: int) -> Array:
        """An array of one of these ranks, the last ones more often."""
        fitting = [x for x in self.arrays if not ranks or x.rank in ranks]
        if not fitting:
            raise Refused
        return fitting[-1] if self.rng.random() < 0.7 else self.rng.choice(fitting)

    def axis(self, x: Array) -> int:
        """An axis, an unknown one where there is any."""
        if not x.rank:
            raise Refused
        unknown = [i for i, n in enumerate(x.known) if n is None]
        return self.rng.choice(unknown or range(x.rank))

    def any_dim(self) -> Size:
        x = self.pick()
        return self.dim(x, self.axis(x))


def bindings(rng: random.Random, names: list[str], literals: list[int]) -> dict[str, np.ndarray]:
    """Values of the unknown sizes: ones, equal, unequal, multiples, nothing, large ones, and both
    sides of every literal."""
    n = len(names)
    rows = [[1] * n, [rng.choice((4, 6, 12))] * n, rng.choices(SMALL, k=n), rng.choices(SMALL, k=n)]
    rows.append([m * rng.choice((4, 12)) for m in rng.choices((1, 2, 3), k=n)])
    special = [(0, 4), (rng.choice(LARGE), 3)]
    for k in literals:
        special += [(k - 1, 5), (k, 5), (k + 1, 5)]
    for value, others in special:
        row = [rng.randint(1, others) for _ in names]
        if n:
            row[rng.randrange(n)] = value
        rows.append(row)
    unique = list(dict.fromkeys(map(tuple, rows)))
    return {name: np.int64([row[i] for row in unique]) for i, name in enumerate(names)}
