"""Functions of one element that are no activations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..checks import name_of_dtype, required, supported
from ..plan.substitution import small_floats
from ..registry import op
from .quantized import is_quantized

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..plan.node import Node, Prepared


FLOAT = (np.float32,)
KERNELS = {
    "ABS": ("absolute", (np.float32, np.int16, np.int32)),
    "NEG": ("negative", (np.float32, np.int16, np.int32, np.int64)),
    "SIGN": ("sign", (np.float32, np.int32)),
    "SQUARE": ("square", FLOAT),
    "CEIL": ("ceil", FLOAT),
    "COS": ("cos", FLOAT),
    "EXP": ("exp", FLOAT),
    "FLOOR": ("floor", FLOAT),
    "LOG": ("log", FLOAT),
    "ROUND": ("round", FLOAT),
    "RSQRT": ("rsqrt", FLOAT),
    "SIN": ("sin", FLOAT),
    "SQRT": ("sqrt", FLOAT),
    "LOGICAL_NOT": ("logical_not", (np.bool_,)),
}
"""Operator -> kernel of kernels/unary.py, dtypes."""


@op(*KERNELS)
@small_floats
def unary(node: Node) -> Prepared:
    """The function of each element of `x`."""
    kernel, dtypes = KERNELS[node.kind]
    (x,) = required(node, 1)
    if is_quantized(x):
        from .tables import TABLES, look_up

        if name_of_dtype(x.dtype) in TABLES.get(node.kind, ()):
            return look_up(node, x)
    if x.dtype not in dtypes:
        from . import other_numbers

        if other_numbers.takes(node, other_numbers.UNARY, x):
            return other_numbers.unary(node, x)
    supported(node, (x,), dtypes)
    out = node.result(x.shape, x.dtype)

    def emit(program: Program) -> None:
        source, target = x.ravel(), out.ravel()
        if x.dtype == np.bool_:
            source, target = source.view(np.uint8), target.view(np.uint8)
        if x.size:
            program.call(f"unary.{kernel}", source, target, split=x.size)

    return emit
