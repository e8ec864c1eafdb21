"""Random numbers of a stream whose place is in the program's memory."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..plan.buffer import Buffer
    from ..plan.program import Program

COUNTER_BYTES = 16
"""Bytes of the numbers that one counter of the stream gives."""


def draw(
    program: Program,
    kind: str,
    stream: Buffer,
    out: Buffer,
    n_counters: int,
    limits: Sequence[Buffer] = (),
) -> None:
    """out = the next numbers of a stream, which stands `n_counters` further on afterwards.

    Args:
        program: where the instructions go.
        kind: "uniform" in [0, 1), "normal", "truncated" (normal, within two standard deviations),
            or "integers".
        stream: uint64[3], the memory of an `engine.philox.Philox`; changed.
        out: float32; int32 or int64 for "integers".
        n_counters: how many the stream leaves behind.
        limits: scalars of the dtype of `out`: the least of the integers, and what all are below.
    """
    if out.size:
        items = ceil(out.nbytes / COUNTER_BYTES)
        operands = [limit.ravel() for limit in limits]
        program.call(f"draws.{kind}", stream, *operands, out.ravel(), split=items)
    program.call("draws.skip", stream, counters=n_counters)
