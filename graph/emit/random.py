"""Random operations in the engine: the numbers that their kernels would draw, by instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.draws import draw
from ...engine.plan.buffer import arena

if TYPE_CHECKING:
    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ..session.stage import Site

KINDS = {"RandomUniform": "uniform", "RandomStandardNormal": "normal"}
"""By the op's type, what its stream gives."""
PER_NUMBER = 256
"""Counters that a run takes for each number it gives."""

IN_TURN = "_in_turn"
"""The attribute of an operation whose result has, as rows, what several runs would draw."""


def emit(program: Program, op: Site, stream: Buffer, shape: Buffer) -> Buffer | None:
    """Draws numbers of a known shape from the stream of an operation; None for other dtypes."""
    sizes = shape.value
    if (
        op.get_attr("dtype") != np.float32
        or IN_TURN in op.attrs
        or sizes is None
        or (sizes < 0).any()
    ):
        return None
    out = arena(tuple(sizes.tolist()), np.float32)
    draw(program, KINDS[op.type], stream, out, out.size * PER_NUMBER)
    return out
