"""FULLY_CONNECTED's shuffled weights: uint8 in blocks as kernels of 2018 wanted them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.elementwise import look_up
from ...engine.families.layout import move
from ...engine.plan.buffer import arena, constant
from ...engine.plan.view import View
from ..plan.node import Operand
from .quantized import quantization_of

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node

_ROWS, _COLUMNS = 4, 16
"""Of a block."""
_SIGN = 128
"""The zero point that bytes are stored without."""


def unshuffled(node: Node, x: Operand, weights: Operand) -> tuple[Operand, Callable[[int], Emit]]:
    """The weights in order, and what declares the second result for a number of rows.

    Blocks of 4 rows and 16 columns lie one behind the other, as those of 4 rows of the input do in
    that result. Both have numbers without their zero point, which is 128.
    """
    dtypes = x.dtype, weights.dtype, node.outputs[0].dtype
    node.require(
        dtypes == (np.uint8, np.uint8, np.int16),
        "shuffled weights are for uint8 times uint8 to int16, got {} times {} to {}".format(
            *dtypes
        ),
    )
    n, depth = weights.shape
    node.require(
        n % _ROWS == depth % _COLUMNS == 0,
        f"shuffled weights must be blocks of 4 by 16, got shape {weights.shape}",
    )
    for name, operand in (("the input", x), ("weights", weights)):
        zero_points = quantization_of(node, operand, name).zero_points
        node.require(
            (zero_points == _SIGN).all(),
            f"{name} must have zero point 128 where weights are shuffled, got {zero_points}",
        )
    value = weights.value
    if value is None:
        node.fail("shuffled weights must be a constant")
    blocks = value.reshape((n // _ROWS, depth // _COLUMNS, _ROWS, _COLUMNS))
    ordered = blocks.swapaxes(1, 2).reshape((n, depth)) ^ np.uint8(_SIGN)

    def shuffle(n_rows: int) -> Emit:
        node.require(n_rows in (1, _ROWS), f"shuffled weights take 1 or 4 rows, got {n_rows}")
        declared = node.outputs[1].shape if len(node.outputs) == 2 else None
        node.require(
            declared is not None and prod(declared) == n_rows * depth,
            f"the second result must have {n_rows * depth} elements, got shape {declared}",
        )
        out = node.result(declared or (), np.uint8)
        swapped = constant(np.arange(256, dtype=np.uint8) ^ np.uint8(_SIGN))

        def emit(program: Program) -> None:
            ordered = x.reshape((n_rows, depth // _COLUMNS, _COLUMNS))
            blocks = arena((depth // _COLUMNS, n_rows, _COLUMNS), np.uint8)
            move(program, View.of(ordered).transpose((1, 0, 2)), blocks)
            look_up(program, blocks.reshape(out.shape), swapped, out)

        return emit

    return Operand.known(ordered, weights.name, weights.quantization), shuffle
