"""The kernels of queues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ....schema.errors import InvalidArgumentError, NotFoundError
from ...core.node_words import type_word
from ...core.shapes import shown
from ..queues import PaddingQueue, PriorityQueue, Queue, ShuffleQueue, check_element
from ..resources import handle_of, resource_kernel, shared

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ...core.shapes import Shape
    from ..queues import Element
    from ..state import State

    Shapes: TypeAlias = "Sequence[Shape] | None"

SINGLE = {"QueueEnqueue": "QueueEnqueueV2", "QueueDequeue": "QueueDequeueV2"}


def _declared(op: Operation) -> tuple[Shapes, int]:
    """Shapes and capacity."""
    shapes = cast("Sequence[Shape]", op.get_attr("shapes"))
    return list(shapes) or None, cast("int", op.get_attr("capacity"))


def _component_types(op: Operation) -> list[np.dtype]:
    return [np.dtype(x) for x in cast("Sequence[np.dtype]", op.get_attr("component_types"))]


def _queue(op: Operation, state: State, kind: type[Queue], make: Callable[..., Queue]) -> object:
    """The handle of a queue; refuses one of the same name that was declared otherwise."""
    shapes, capacity = _declared(op)
    types = _component_types(op)
    if kind is PriorityQueue:
        types.insert(0, np.dtype(np.int64))
        shapes = [(), *(shapes or ())]
    queue = shared(op, state, lambda name: make(name, shapes, capacity))
    if not isinstance(queue, Queue) or queue.kind != kind.kind:
        shared_kind = type(queue).__name__ if not isinstance(queue, Queue) else queue.kind
        raise InvalidArgumentError(None, None, f"Expected {shared_kind}, found {op.type}")
    declared = (queue.capacity, queue.shapes, queue.types or types)
    queue.types = declared[2]
    words = f"Shared queue '{queue.name}' has"
    if declared[0] != capacity and capacity >= 0:
        text = f"{words} capacity {queue.capacity} but requested capacity was {capacity}"
        raise InvalidArgumentError(None, None, text)
    if declared[2] != types:
        existing, requested = (
            ", ".join(type_word(x) for x in listed) for listed in (queue.types, types)
        )
        text = f"{words} component types {existing} but requested component types were {requested}"
        raise InvalidArgumentError(None, None, text)
    if declared[1] != shapes:
        existing, requested = (_shapes_text(listed) for listed in (queue.shapes, shapes))
        text = (
            f"{words} component shapes {existing} but requested component shapes were {requested}"
        )
        raise InvalidArgumentError(None, None, text)
    return queue


def _shapes_text(shapes: Shapes) -> str:
    return f"[{','.join(shown(shape) for shape in shapes or ())}]"


@resource_kernel("FIFOQueue", "FIFOQueueV2")
def fifo_queue(op: Operation, state: State) -> np.ndarray:
    """A queue."""
    return handle_of(_queue(op, state, Queue, Queue))


@resource_kernel("PaddingFIFOQueue", "PaddingFIFOQueueV2")
def padding_queue(op: Operation, state: State) -> np.ndarray:
    """A queue of elements of unequal sizes."""
    return handle_of(_queue(op, state, PaddingQueue, PaddingQueue))


@resource_kernel("PriorityQueue", "PriorityQueueV2")
def priority_queue(op: Operation, state: State) -> np.ndarray:
    """A queue in the order of numbers."""
    return handle_of(_queue(op, state, PriorityQueue, PriorityQueue))


@resource_kernel("RandomShuffleQueue", "RandomShuffleQueueV2")
def shuffle_queue(op: Operation, state: State) -> np.ndarray:
    """A queue in any order."""
    least, *seeds = (
        cast("int", op.get_attr(name)) for name in ("min_after_dequeue", "seed", "seed2")
    )

    def make(name: str, shapes: Shapes, capacity: int) -> Queue:
        return ShuffleQueue(name, shapes, capacity, least, (seeds[0], seeds[1]))

    return handle_of(_queue(op, state, ShuffleQueue, make))


def queue_of(handle: np.ndarray) -> Queue:
    """The queue behind a handle."""
    queue = cast("object", handle.item())
    if not isinstance(queue, Queue):
        raise NotFoundError(None, None, "the first input must be the handle of a queue")
    return queue


@resource_kernel("QueueEnqueue", "QueueEnqueueV2")
def enqueue(op: Operation, state: State, handle: np.ndarray, *parts: np.ndarray) -> KernelResult:
    """Adds one element."""
    queue, element = queue_of(handle), tuple(part.copy() for part in parts)
    check_element(queue, element, False)
    state.finish(op, queue.enqueue([element]))
    return ()


@resource_kernel("QueueEnqueueMany", "QueueEnqueueManyV2")
def enqueue_many(
    op: Operation, state: State, handle: np.ndarray, *parts: np.ndarray
) -> KernelResult:
    """Adds the rows of arrays, each an element."""
    queue = queue_of(handle)
    check_element(queue, parts, True)
    elements = [tuple(part[i].copy() if part.ndim > 1 else np.array(part[i], part.dtype)
                      for part in parts) for i in range(len(parts[0]))]  # fmt: skip
    state.finish(op, queue.enqueue(elements))
    return ()


def as_element(op: Operation, parts: Sequence[np.ndarray]) -> KernelResult:
    """An element as what a kernel gives: one array, or one for each output."""
    return parts[0] if len(op.outputs) == 1 else list(parts)


@resource_kernel("QueueDequeue", "QueueDequeueV2")
def dequeue(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Takes one element."""
    (element,) = queue_of(handle).dequeue(1).wait(state.control.check)
    return as_element(op, element)


@resource_kernel("QueueDequeueMany", "QueueDequeueManyV2")
def dequeue_many(
    op: Operation, state: State, handle: np.ndarray, count: np.ndarray
) -> KernelResult:
    """Takes elements, each a row of the results."""
    return _several(op, state, queue_of(handle), int(count), False)


@resource_kernel("QueueDequeueUpTo", "QueueDequeueUpToV2")
def dequeue_up_to(
    op: Operation, state: State, handle: np.ndarray, count: np.ndarray
) -> KernelResult:
    """Takes elements, fewer where the queue is closed."""
    return _several(op, state, queue_of(handle), int(count), True)


def _several(
    op: Operation, state: State, queue: Queue, count: int, may_be_fewer: bool
) -> KernelResult:
    if count < 0:
        kind = "DequeueUpToOp" if may_be_fewer else "DequeueManyOp"
        raise InvalidArgumentError(None, None, f"{kind} requested {count} < 0 elements")
    dtypes = _component_types(op)
    if not count or queue.shapes is None:
        return as_element(op, [queue.joined((), i, x) for i, x in enumerate(dtypes)])
    elements: list[Element] = queue.dequeue(count, may_be_fewer).wait(state.control.check)
    return as_element(op, [queue.joined(elements, i, x) for i, x in enumerate(dtypes)])


@resource_kernel("QueueClose", "QueueCloseV2")
def close(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Lets nothing in any more."""
    attempt = queue_of(handle).close(bool(op.get_attr("cancel_pending_enqueues")))
    if attempt is not None:
        attempt.wait(state.control.check)
    return ()


@resource_kernel("QueueIsClosed", "QueueIsClosedV2")
def is_closed(op: Operation, state: State, handle: np.ndarray) -> np.ndarray:
    """Whether nothing gets in any more."""
    return np.array(queue_of(handle).is_closed)


@resource_kernel("QueueSize", "QueueSizeV2")
def size(op: Operation, state: State, handle: np.ndarray) -> np.ndarray:
    """How many elements there are."""
    return np.array(len(queue_of(handle)), np.int32)
