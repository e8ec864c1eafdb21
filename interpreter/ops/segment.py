"""SEGMENT_SUM and UNSORTED_SEGMENT_*: rows of the same segment brought together."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.layout import fill
from ...engine.plan.buffer import constant
from ...engine.sizes import negative
from ...schema.dtypes import tf_name
from ..checks import required
from ..plan.substitution import small_floats
from ..registry import op

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node

    Limits: TypeAlias = np.iinfo | np.finfo


_TYPES: Sequence[type] = (np.float32, np.int32, np.int64)

SEGMENTS: dict[str, tuple[str, Callable[[Limits], float | np.floating]]] = {
    "SEGMENT_SUM": ("sum", lambda limits: 0),
    "UNSORTED_SEGMENT_SUM": ("sum", lambda limits: 0),
    "UNSORTED_SEGMENT_PROD": ("product", lambda limits: 1),
    "UNSORTED_SEGMENT_MAX": ("largest", lambda limits: limits.min),
    "UNSORTED_SEGMENT_MIN": ("smallest", lambda limits: limits.max),
}
"""Operator -> kernel of kernels/segment.py, and the value of an empty segment."""


@op(*SEGMENTS)
@small_floats
def segments(node: Node) -> Emit:
    """One row for each segment, made of the rows of `x` that the second input puts there."""
    x, ids = required(node, 2)
    node.require(x.dtype in _TYPES, f"{tf_name(x.dtype)} is not supported")
    node.require(ids.dtype == np.int32, f"segment ids must be int32, got {tf_name(ids.dtype)}")
    message = f"segment ids must have the first dimensions of {x.shape}, got {ids.shape}"
    node.require_equal(ids.shape, x.shape[: ids.ndim], message)
    in_order = node.kind == "SEGMENT_SUM"
    if in_order:
        known = node.constant(1)
        node.require(ids.ndim == 1, f"segment ids must have one dimension, got {ids.shape}")
        count = max(int(known[-1]) + 1, 0) if known.size else 0
    else:
        (count, *_) = node.sizes(2) or [-1]
        node.require(
            not negative([count]), f"the number of segments must not be negative, got {count}"
        )
    inner_shape = x.shape[ids.ndim :]
    out = node.result((count, *inner_shape), x.dtype)
    kernel, start = SEGMENTS[node.kind]
    limits = np.finfo(np.float32) if x.is_float else np.iinfo(x.dtype.name)

    def emit(program: Program) -> None:
        fill(program, constant(np.full(1, start(limits), x.dtype)), out)
        if x.size:
            program.call(
                f"segment.{kernel}",
                x.reshape((ids.size, prod(inner_shape))),
                ids.ravel(),
                out.reshape((count, prod(inner_shape))),
                sorted_ids=in_order,
            )

    return emit
