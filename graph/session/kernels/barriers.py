"""The kernels of barriers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.errors import NotFoundError
from ..barriers import Barrier
from ..resources import handle_of, resource_kernel, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ...core.shapes import Shape
    from ..state import State


def _barrier(handle: np.ndarray) -> Barrier:
    barrier = cast("object", handle.item())
    if not isinstance(barrier, Barrier):
        raise NotFoundError(None, None, "the first input must be the handle of a barrier")
    return barrier


@resource_kernel("Barrier")
def barrier(op: Operation, state: State) -> np.ndarray:
    """A barrier."""
    dtypes = [np.dtype(x) for x in cast("Sequence[np.dtype]", op.get_attr("component_types"))]
    shapes = list(cast("Sequence[Shape]", op.get_attr("shapes"))) or None
    return handle_of(shared(op, state, lambda name: Barrier(name, dtypes, shapes)))


@resource_kernel("BarrierInsertMany")
def insert_many(
    op: Operation, state: State, handle: np.ndarray, keys: np.ndarray, values: np.ndarray
) -> KernelResult:
    """Adds one component of several elements."""
    _barrier(handle).insert(keys, values, cast("int", op.get_attr("component_index")))
    return ()


@resource_kernel("BarrierTakeMany")
def take_many(op: Operation, state: State, handle: np.ndarray, count: np.ndarray) -> KernelResult:
    """Takes complete elements: their indices, keys and components."""
    barrier = _barrier(handle)
    may_be_fewer = bool(op.get_attr("allow_small_batch"))
    elements = barrier.take(int(count), may_be_fewer).wait(state.control.check)
    dtypes = [np.dtype(np.int64), np.dtype(object), *barrier.dtypes]
    return [barrier.ready.joined(elements, i, dtype) for i, dtype in enumerate(dtypes)]


@resource_kernel("BarrierClose")
def close(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Lets no new elements in."""
    _barrier(handle).close(bool(op.get_attr("cancel_pending_enqueues")))
    return ()


@resource_kernel("BarrierReadySize")
def ready_size(op: Operation, state: State, handle: np.ndarray) -> np.ndarray:
    """How many elements are complete."""
    return np.array(len(_barrier(handle).ready), np.int32)


@resource_kernel("BarrierIncompleteSize")
def incomplete_size(op: Operation, state: State, handle: np.ndarray) -> np.ndarray:
    """How many elements lack a component."""
    return np.array(_barrier(handle).n_incomplete, np.int32)
