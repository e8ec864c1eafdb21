"""Operators on types that no kernel takes, prepared on others: strings as numbers, half floats.

A `prepare` under one of these decorators never sees such operands.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from ..checks import name_of_dtype
from .node import Node

if TYPE_CHECKING:
    from ..registry import Prepare
    from .node import Prepared

_SMALL_FLOATS = frozenset(["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
_ELEMENT_LIMIT = 16
"""Bytes of an element from which on no kernel moves it."""


def moves_any(prepare: Prepare) -> Prepare:
    """`prepare` of an operator that only moves elements, for strings and complex128, too.

    It runs on the elements' numbers, counted from 1, and 0 is the empty string (or zero) that some
    operators put in.
    """

    @wraps(prepare)
    def prepare_any(node: Node) -> Prepared:
        moved = [i for i, x in enumerate(node.inputs) if x is not None and _has_no_kernel(x.dtype)]
        if not moved:
            return prepare(node)
        from .substituted_types import moved_as_indices

        return moved_as_indices(node, prepare, moved)

    return prepare_any


def small_floats(prepare: Prepare) -> Prepare:
    """`prepare` of an operator on float32, for float16, bfloat16 and float8, too.

    It computes in float32 and rounds each result once, as LiteRT does where it has them.
    """

    @wraps(prepare)
    def prepare_small_floats(node: Node) -> Prepared:
        names = [name_of_dtype(x.dtype) for x in node.inputs if x is not None]
        if _SMALL_FLOATS.isdisjoint(names):
            return prepare(node)
        halves = [*_SMALL_FLOATS.intersection(names)]
        if len(halves) != 1 or "float32" in names:
            return prepare(node)
        from .substituted_types import in_float32

        return in_float32(node, prepare, halves[0])

    return prepare_small_floats


def _has_no_kernel(dtype: np.dtype) -> bool:
    return dtype.hasobject or dtype.itemsize >= _ELEMENT_LIMIT
