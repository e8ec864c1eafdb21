"""The kernels of staging areas, and of maps of sparse tensors: what a name stands for is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.errors import InvalidArgumentError
from ...core.shapes import shown
from ..resources import resource_kernel, shared
from ..sparse_maps import SparseTensorsMap
from ..staging import StagingArea, StagingMap
from .queues import as_element

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ..state import State


def _limits(op: Operation) -> tuple[int, int]:
    """How many elements, and how many bytes, a staging area may have; 0 for no limit."""
    return cast("int", op.get_attr("capacity")), cast("int", op.get_attr("memory_limit"))


def _area(op: Operation, state: State) -> StagingArea:
    return shared(op, state, lambda name: StagingArea(name, *_limits(op)))


@resource_kernel("Stage")
def stage(op: Operation, state: State, *parts: np.ndarray) -> KernelResult:
    """Adds an element."""
    state.finish(op, _area(op, state).enqueue([tuple(part.copy() for part in parts)]))
    return ()


@resource_kernel("Unstage")
def unstage(op: Operation, state: State) -> KernelResult:
    """Takes the oldest element."""
    (element,) = _area(op, state).dequeue(1).wait(state.control.check)
    return as_element(op, element)


@resource_kernel("StagePeek")
def stage_peek(op: Operation, state: State, index: np.ndarray) -> KernelResult:
    """An element, which stays."""
    (element,) = _area(op, state).peek(int(index)).wait(state.control.check)
    return as_element(op, element)


@resource_kernel("StageSize")
def stage_size(op: Operation, state: State) -> np.ndarray:
    """How many elements there are."""
    return np.array(len(_area(op, state)), np.int32)


@resource_kernel("StageClear")
def stage_clear(op: Operation, state: State) -> KernelResult:
    """Drops all elements."""
    _area(op, state).clear()
    return ()


def _staging_map(op: Operation, state: State) -> StagingMap:
    n_components = len(cast("Sequence[np.dtype]", op.get_attr("dtypes")))
    is_ordered = op.type.startswith("Ordered")
    limits = _limits(op)
    return shared(op, state, lambda name: StagingMap(name, n_components, *limits, is_ordered))


def _scalar_key(key: np.ndarray) -> int:
    if key.ndim:
        words = f"key must be an int64 scalar: {shown(key.shape)}"
        raise InvalidArgumentError(None, None, words)
    return int(key)


def _of_maps(kind: str) -> Callable[[Callable[..., KernelResult]], Callable[..., KernelResult]]:
    """Registers a kernel for both maps."""
    return resource_kernel(f"Map{kind}", f"OrderedMap{kind}")


@_of_maps("Stage")
def map_stage(
    op: Operation, state: State, key: np.ndarray, indices: np.ndarray, *components: np.ndarray
) -> KernelResult:
    """Adds components of an element."""
    if key.size != 1:
        words = f"key must be an int64 scalar, got tensor with shape: {shown(key.shape)}"
        raise InvalidArgumentError(None, None, words if key.size else "key must not be empty")
    parts = tuple(component.copy() for component in components)
    state.finish(op, _staging_map(op, state).put(int(key.item()), indices.ravel().tolist(), parts))
    return ()


@_of_maps("Unstage")
def map_unstage(op: Operation, state: State, key: np.ndarray, indices: np.ndarray) -> KernelResult:
    """Takes components of an element."""
    attempt = _staging_map(op, state).take(_scalar_key(key), indices.ravel().tolist())
    (element,) = attempt.wait(state.control.check)
    return as_element(op, element)


@_of_maps("Peek")
def map_peek(op: Operation, state: State, key: np.ndarray, indices: np.ndarray) -> KernelResult:
    """Components of an element, which stay."""
    attempt = _staging_map(op, state).take(_scalar_key(key), indices.ravel().tolist(), stays=True)
    (element,) = attempt.wait(state.control.check)
    return as_element(op, element)


@_of_maps("UnstageNoKey")
def map_unstage_no_key(op: Operation, state: State, indices: np.ndarray) -> KernelResult:
    """Takes components of any element: of the smallest number where they are ordered."""
    attempt = _staging_map(op, state).take(None, indices.ravel().tolist())
    (element,) = attempt.wait(state.control.check)
    return as_element(op, (np.array(attempt.key, np.int64), *element))


@_of_maps("Size")
def map_size(op: Operation, state: State) -> np.ndarray:
    """How many whole elements there are."""
    return np.array(len(_staging_map(op, state)), np.int32)


@_of_maps("IncompleteSize")
def map_incomplete_size(op: Operation, state: State) -> np.ndarray:
    """How many elements lack a component."""
    return np.array(_staging_map(op, state).n_incomplete, np.int32)


@_of_maps("Clear")
def map_clear(op: Operation, state: State) -> KernelResult:
    """Drops all elements."""
    _staging_map(op, state).clear()
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
