"""Operators on integers that have kernels for floats only, as formulas of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..lowering.moves import like
from .graph import Tensor

if TYPE_CHECKING:
    from .builder import Builder

Formula = Callable[["Builder", Tensor], Tensor]


def integer_formula(b: Builder, kind: str, inputs: Sequence[Tensor | None]) -> Tensor | None:
    """The result of an operator of one tensor of integers; None for other operators and types."""
    formula, x = FORMULAS.get(kind), inputs[0] if inputs else None
    if formula is None or x is None or x.dtype.kind not in "iu" or x.quantization is not None:
        return None
    return formula(b, x)


def clipped(b: Builder, x: Tensor, low: int, high: int) -> Tensor:
    """min(max(x, low), high)."""
    low = max(low, np.iinfo(x.dtype).min)
    return b.MINIMUM(b.MAXIMUM(x, like(x, low, b)), like(x, high, b))


FORMULAS: dict[str, Formula] = {
    "ABS": lambda b, x: b.MAXIMUM(x, b.NEG(x)),
    "RELU": lambda b, x: b.MAXIMUM(x, like(x, 0, b)),
    "RELU6": lambda b, x: clipped(b, x, 0, 6),
    "SIGN": lambda b, x: clipped(b, x, -1, 1),
    "SQUARE": lambda b, x: b.MUL(x, x),
}
