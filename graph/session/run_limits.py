"""What a caller allows the runs of a Session, and where that is checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ...engine.plan.arena import check_limit
from ...engine.run.limits import Limits, over_limit, shape_over_limit
from ...schema.errors import InvalidArgumentError, ResourceExhaustedError
from ..core.operation_errors import located
from ..core.shapes import is_static, shown

if TYPE_CHECKING:
    from ..core.graph import Operation
    from .delegated import SessionDelegate

MAX_ELEMENTS = 2**63 - 1
"""Elements that a tensor may have at most."""
OF_FILES = ("subgraphs", "file_bytes")


def checked_limits(limits: Limits | None, memory_limit: int | None) -> Limits | None:
    """The limits of a Session that was made with these arguments.

    Raises TypeError and ValueError as `Session` does.
    """
    if limits is not None and not isinstance(cast("object", limits), Limits):
        raise TypeError(f"limits must be a Limits, got {type(limits).__name__}")
    if limits is not None:
        of_files = [name for name in OF_FILES if getattr(limits, name) is not None]
        if of_files:
            raise ValueError(
                f"limits: a Session has no file, of which {' and '.join(of_files)} would be a "
                "limit; set memory, elements, tensors or operators"
            )
    if memory_limit is None:
        return limits
    if type(memory_limit) is not int:
        raise TypeError(f"memory_limit must be a whole number of bytes, got {memory_limit!r}")
    if memory_limit < 0:
        raise ValueError(f"memory_limit must not be negative, got {memory_limit}")
    if limits is not None and limits.memory is not None:
        raise ValueError(
            f"memory_limit is limits.memory, got {memory_limit:,} and {limits.memory:,}"
        )
    return Limits(memory=memory_limit) if limits is None else replace(limits, memory=memory_limit)


def checked_delegates(delegates: Sequence[SessionDelegate]) -> Sequence[SessionDelegate]:
    """The delegates of a Session; raises TypeError for something that is none."""
    if isinstance(delegates, str) or not isinstance(cast("object", delegates), Sequence):
        raise TypeError(f"delegates must be a list of delegates, got {delegates!r}")
    for delegate in delegates:
        methods = (getattr(delegate, name, None) for name in ("parts", "compile"))
        if isinstance(delegate, type) or not all(map(callable, methods)):
            raise TypeError(
                "delegates must hold objects with a name and the methods parts and compile, got "
                f"{delegate!r}; flatlite.lite.load_delegate makes one"
            )
    return tuple(delegates)


def check_size(limits: Limits | None, op: Operation, name: str, shape: Iterable[int]) -> None:
    """Raises ResourceExhaustedError when a tensor of a run has too many elements."""
    words = shape_over_limit(limits, name, shape, "the run")
    if words:
        raise ResourceExhaustedError(None, op, located(op, words))


def check_countable(op: Operation) -> None:
    """Raises InvalidArgumentError where a result has more elements than can be counted."""
    for tensor in op.outputs:
        if is_static(tensor.sizes) and prod(tensor.sizes) > MAX_ELEMENTS:
            words = f"Shape {shown(tensor.sizes)} would have more than 2**63 - 1 elements"
            raise InvalidArgumentError(None, op, located(op, words))


def check_bytes(op: Operation, memory_limit: int | None) -> None:
    """Raises ResourceExhaustedError where results of known sizes take more than a run may."""
    n_bytes = sum(
        prod(tensor.sizes) * np.dtype(tensor.dtype).itemsize
        for tensor in op.outputs
        if is_static(tensor.sizes)
    )
    try:
        check_limit(n_bytes, memory_limit)
    except MemoryError as error:
        raise ResourceExhaustedError(None, op, located(op, str(error))) from None


def check_counts(limits: Limits | None, operations: Sequence[Operation]) -> None:
    """Raises ResourceExhaustedError when a run has too many operations or tensors."""
    if limits is None:
        return
    n_tensors = sum(len(op.outputs) for op in operations)
    for words in (
        over_limit(limits.operators, len(operations), "operators", "the run"),
        over_limit(limits.tensors, n_tensors, "tensors", "the run"),
    ):
        if words:
            raise ResourceExhaustedError(None, None, words)
