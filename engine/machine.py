"""What the machine can do at most: products per second, and bytes read per second.

    limits = measure(threads=2)
    limits.products["int8"]                       # products of bytes per second
    limits.seconds("float32", 10**9, 4 * 10**6)   # the least time for so much work

The two roofs of the roofline model (Williams, Waterman, Patterson 2009). Products are those of the
instruction that kernels of the type are made of, in registers; bytes are read again and again from
a working set of some size, so that small ones come from a near cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .build.target import amx
from .plan.arena import allocate
from .plan.buffer import bound, persistent
from .plan.program import Program

KINDS = ("float32", "int8", "int16")
WORKING_SETS = tuple(1 << n for n in range(14, 28, 2)) + (1 << 27,)
"""Bytes that are read: 16 KiB to 128 MiB."""
_OPERANDS = 256
_ROW = 256  # bytes that a row's size is a multiple of
_SHORTEST = 2e-3  # seconds of a run that is timed
_RUNS = 5


class Limits(NamedTuple):
    """The limits of a machine, for some threads.

    Attributes:
        threads: how many.
        products: kind of number ("float32", "int8", "int16") -> products, each added to a sum, per
            second. "int16" are products with bytes.
        bandwidth: (bytes of a working set, bytes read per second), the smallest first.
    """

    threads: int
    products: dict[str, float]
    bandwidth: tuple[tuple[int, float], ...]

    def bytes_per_second(self, n_bytes: int) -> float:
        """How fast a working set of so many bytes is read."""
        for size, rate in self.bandwidth:
            if n_bytes <= size:
                return rate
        return self.bandwidth[-1][1]

    def seconds(self, kind: str, products: int, n_bytes: int) -> float:
        """The least time for some products and some bytes, which go on side by side."""
        return max(products / self.products[kind], n_bytes / self.bytes_per_second(n_bytes))


def measure(threads: int = 1, advance: Callable[[], object] = lambda: None) -> Limits:
    """Measures the limits, in about half a second, on a machine that does nothing else.

    `advance` is called after each of the `steps()` measurements.

    Raises ValueError when `threads` is less than 1.
    """
    products: dict[str, float] = {}
    for kind in KINDS:
        products[kind] = _products_per_second(kind, threads)
        advance()
    rates: list[float] = []
    for size in WORKING_SETS:
        rates.append(_bytes_per_second(size, threads))
        advance()
    # a larger working set is not read faster: what looks like it is noise
    nearest = [max(rates[i:]) for i in range(len(rates))]
    return Limits(threads, products, tuple(zip(WORKING_SETS, nearest, strict=True)))


def steps() -> int:
    """How many measurements there are."""
    return len(KINDS) + len(WORKING_SETS)


def _products_per_second(kind: str, threads: int) -> float:
    amx()  # asks for the tile registers, which the kernels use where they are

    def timed(count: int) -> tuple[float, float]:
        program = Program(threads=threads)
        dtype = np.float32 if kind == "float32" else np.int32
        operands = persistent((threads, _OPERANDS), dtype)
        products = persistent((threads,), np.int64)
        program.call(f"peak.{kind}", operands, products, split=threads, count=count)
        program.keep(products)
        program.close()
        seconds = _best(program)
        return float(program.array(products).sum()), seconds

    return _rate(timed)


def _bytes_per_second(size: int, threads: int) -> float:
    row = -(-size // (threads * _ROW)) * _ROW
    values = allocate(threads * row).view(np.int32).reshape(threads, row // 4)
    values[...] = 1  # pages that were never written are all the same one

    def timed(count: int) -> tuple[float, float]:
        program = Program(threads=threads)
        x, sums = bound(values.shape, values.dtype), persistent((threads,), np.int64)
        program.call("peak.read", x, sums, split=threads, count=count)
        program.keep(sums)
        program.close({x: values})
        return float(values.nbytes * count), _best(program)

    return _rate(timed)


def _rate(timed: Callable[[int], tuple[float, float]]) -> float:
    """Work per second, from `timed(count)` -> (work, seconds) with a count that takes a while."""
    count = 1
    while True:
        work, seconds = timed(count)
        if seconds >= _SHORTEST:
            return work / seconds
        count *= max(2, min(64, int(1.5 * _SHORTEST / max(seconds, 1e-9))))


def _best(program: Program) -> float:
    """The shortest time of some runs."""
    best = float("inf")
    for _ in range(_RUNS):
        started = time.perf_counter()
        program.run()
        best = min(best, time.perf_counter() - started)
    return best
