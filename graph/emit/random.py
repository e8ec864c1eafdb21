"""Random operations in the engine: the numbers that their kernels would draw, by instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...engine.families.draws import draw
from ...engine.plan.buffer import arena

if TYPE_CHECKING:
    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ..session.stage import Site

FLOATS, INTEGERS = (np.float32,), (np.int32, np.int64)
KINDS = {
    "RandomStandardNormal": ("normal", "dtype", FLOATS),
    "RandomUniform": ("uniform", "dtype", FLOATS),
    "RandomUniformInt": ("integers", "Tout", INTEGERS),
    "TruncatedNormal": ("truncated", "dtype", FLOATS),
}
"""By the op's type, what its stream gives, the attribute that is its dtype, and which there are."""
PER_NUMBER = 256
"""Counters that a run takes for each number it gives."""

IN_TURN = "_in_turn"
"""The attribute of an operation whose result has, as rows, what several runs would draw."""


def emit(
    program: Program, op: Site, stream: Buffer, shape: Buffer, *limits: Buffer
) -> Buffer | None:
    """Draws numbers of a known shape from the stream of an operation; None for other dtypes."""
    kind, attribute, dtypes = KINDS[op.type]
    sizes, dtype = shape.value, cast("np.dtype", op.get_attr(attribute))
    if dtype not in dtypes or IN_TURN in op.attrs or sizes is None or (sizes < 0).any():
        return None
    out = arena(tuple(sizes.tolist()), dtype)
    draw(program, kind, stream, out, out.size * PER_NUMBER, limits)
    return out
