"""Random numbers of a stream whose place is in the program's memory."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..plan.buffer import Buffer
    from ..plan.program import Program

GROUP = 4
"""Numbers that one counter of the stream gives."""


def draw(program: Program, kind: str, stream: Buffer, out: Buffer, n_counters: int) -> None:
    """out = the next numbers of a stream, which stands `n_counters` further on afterwards.

    Args:
        program: where the instructions go.
        kind: "uniform" in [0, 1), or "normal".
        stream: uint64[3], the memory of an `engine.philox.Philox`; changed.
        out: float32.
        n_counters: how many the stream leaves behind.
    """
    if out.size:
        program.call(f"draws.{kind}", stream, out.ravel(), split=ceil(out.size / GROUP))
    program.call("draws.skip", stream, counters=n_counters)
