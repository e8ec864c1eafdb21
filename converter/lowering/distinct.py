"""Whether index tuples are surely different, at whatever inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.operators import having

if TYPE_CHECKING:
    from ..ir.graph import Op, Tensor

DEEPEST = 16  # producers that are looked at, one behind the other
VIEWS = having("view")
OFFSETS = ("ADD", "SUB")


def has_distinct_tuples(indices: Tensor, depth: int = DEEPEST) -> bool:
    """Whether no two of the tuples along the last axis are equal."""
    sizes = indices.sizes
    if not sizes:
        return False
    if all(n == 1 for n in sizes[:-1]):
        return True
    if sizes[-1] == 1 and has_distinct_elements(indices, depth):
        return True
    if indices.value is not None:
        rows = indices.value.reshape(-1, indices.value.shape[-1])
        return len(np.unique(rows, axis=0)) == len(rows)
    op = indices.producer
    if op is None or not depth:
        return False
    if op.kind == "WHERE":
        return True
    if _is_widened(op):
        return has_distinct_tuples(op.inputs[0], depth - 1)
    if op.kind in OFFSETS:
        moved = _moved(op, 1)
        return moved is not None and has_distinct_tuples(moved, depth - 1)
    if op.kind == "TRANSPOSE" and len(sizes) == 2:
        op = op.inputs[0].producer
        return op is not None and _has_distinct_part(op, 0, depth)
    return _has_distinct_part(op, len(sizes) - 1, depth)


def _is_widened(op: Op) -> bool:
    """Whether an operator makes other integers of integers."""
    return op.kind == "CAST" and all(x.dtype.kind in "iu" for x in (op.inputs[0], op.outputs[0]))


def _has_distinct_part(op: Op, axis: int, depth: int) -> bool:
    """Whether one of the columns or parts that become tuples tells them apart."""
    if op.kind == "PACK" and op.options.axis == axis:
        return any(has_distinct_elements(x, depth - 1) for x in op.inputs)
    if op.kind == "CONCATENATION" and op.options.axis == axis:
        return any(has_distinct_tuples(x, depth - 1) for x in op.inputs)
    return False


def has_distinct_elements(x: Tensor, depth: int = DEEPEST) -> bool:
    """Whether no two elements of a tensor are equal."""
    if x.value is not None:
        return np.unique(x.value).size == x.value.size
    if x.sizes is not None and all(n == 1 for n in x.sizes):
        return True
    op = x.producer
    if op is None or not depth:
        return False
    if op.kind == "RANGE":
        return True
    if op.kind == "TOPK_V2":
        return op.outputs[1] is x and len(x.dims) == 1
    if op.kind in VIEWS or _is_widened(op):
        return has_distinct_elements(op.inputs[0], depth - 1)
    if op.kind in OFFSETS:
        moved = _moved(op, 0)
        return moved is not None and has_distinct_elements(moved, depth - 1)
    return False


def _moved(op: Op, n_columns: int) -> Tensor | None:
    """The operand to which the other adds the same everywhere, but for the last `n_columns` axes;
    None where there is no such operand.
    """
    for x, offset in (op.inputs, op.inputs[::-1]):
        sizes = offset.sizes
        if sizes is None or x.sizes is None or list(x.sizes) != list(op.outputs[0].sizes or ()):
            continue
        if all(n == 1 for n in sizes[: len(sizes) - n_columns]):
            return x
    return None
