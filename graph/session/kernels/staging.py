"""The kernels of staging areas, and of maps of sparse tensors: what a name stands for is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.errors import InvalidArgumentError
from ..queues import Queue
from ..resources import resource_kernel, shared
from ..sparse_maps import SparseTensorsMap
from .queues import as_results

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ..queues import Element
    from ..state import State


class _Area(Queue):
    """A queue of which elements can be looked at, too."""

    kind = kind_of_many = "StagingArea"

    def peek(self, index: int) -> Element | None:
        """An element that stays; None where there are not so many."""
        with self.lock:
            return self._elements[index] if 0 <= index < len(self._elements) else None

    def clear(self) -> None:
        """Drops all elements."""
        with self.lock:
            self._elements.clear()
            self.flush()


def _area(op: Operation, state: State) -> _Area:
    capacity = cast("int", op.get_attr("capacity")) or -1
    return shared(op, state, lambda name: _Area(name, None, capacity))


@resource_kernel("Stage")
def stage(op: Operation, state: State, *parts: np.ndarray) -> KernelResult:
    """Adds an element."""
    state.finish(op, _area(op, state).enqueue([tuple(part.copy() for part in parts)]))
    return ()


@resource_kernel("Unstage")
def unstage(op: Operation, state: State) -> KernelResult:
    """Takes the oldest element."""
    (element,) = _area(op, state).dequeue(1).wait(state.control.check)
    return as_results(op, element)


@resource_kernel("StagePeek")
def stage_peek(op: Operation, state: State, index: np.ndarray) -> KernelResult:
    """An element, which stays."""
    element = _area(op, state).peek(int(index))
    if element is None:
        words = f"there is no element {int(index)} in the staging area"
        raise InvalidArgumentError(None, None, words)
    return as_results(op, element)


@resource_kernel("StageSize")
def stage_size(op: Operation, state: State) -> np.ndarray:
    """How many elements there are."""
    return np.array(len(_area(op, state)), np.int32)


@resource_kernel("StageClear")
def stage_clear(op: Operation, state: State) -> KernelResult:
    """Drops all elements."""
    _area(op, state).clear()
    return ()


def _map(op: Operation, state: State) -> SparseTensorsMap:
    return shared(op, state, SparseTensorsMap)


@resource_kernel("AddSparseToTensorsMap")
def add_sparse(
    op: Operation, state: State, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> np.ndarray:
    """Keeps a sparse tensor; gives its number."""
    return np.array(_map(op, state).add(indices, values, shape), np.int64)


@resource_kernel("AddManySparseToTensorsMap")
def add_many_sparse(
    op: Operation, state: State, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> np.ndarray:
    """Keeps each row of a sparse tensor; gives their numbers."""
    if len(shape) < 2:
        words = f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}"
        raise InvalidArgumentError(None, None, words)
    entries, rows = _map(op, state), (indices[:, 0] == row for row in range(int(shape[0])))
    numbers = [entries.add(indices[row, 1:], values[row], shape[1:]) for row in rows]
    return np.array(numbers, np.int64)


@resource_kernel("TakeManySparseFromTensorsMap")
def take_many_sparse(op: Operation, state: State, numbers: np.ndarray) -> KernelResult:
    """One sparse tensor of several, whose first dimension says which they were."""
    return list(_map(op, state).take(numbers.tolist()))
