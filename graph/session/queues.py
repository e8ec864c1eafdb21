"""Queues that a Session keeps: what threads put in and take out, and how they wait for it.

A queue does what is attempted in the order in which it was attempted: an attempt that cannot go on
waits at the front of its line, those behind it wait too.
"""

from __future__ import annotations

import heapq
import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine.philox import Philox, Words
from ...schema.errors import (
    CancelledError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
)
from ..core.shapes import shown

if TYPE_CHECKING:
    from ..core.shapes import Shape

    Element = tuple[np.ndarray, ...]

PATIENCE = 0.05
"""Seconds after which a thread that waits looks whether its run is to end."""
STUCK, MOVED, DONE = range(3)
"""What became of an attempt: nothing, a part, or all."""


class Attempt:
    """Something that a thread wants of a queue.

    Attributes:
        what: "Enqueue" or "Dequeue", for messages.
        items: The elements that were taken so far.
        key: The number of the element, where a map gave it.
        error: Why it failed.
    """

    def __init__(self, queue: Queue, line: deque[Attempt], step: Callable[[Attempt], int]):
        self.what = "Enqueue" if line is queue.enqueuing else "Dequeue"
        self.items: list[Element] = []
        self.key = 0
        self.error: OpError | None = None
        self._queue, self._line, self.step = queue, line, step
        self._done = threading.Event()

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to wait for."""
        return self._done.is_set()

    def end(self, error: OpError | None = None) -> int:
        """Notes that it is over, for better or worse."""
        self.error = error
        self._done.set()
        return DONE

    def wait(self, check: Callable[[], None]) -> list[Element]:
        """What was taken, when it is over; `check` raises where the run is to end before.

        Raises OpError when it failed.
        """
        try:
            while not self._done.wait(PATIENCE):
                check()
        except BaseException as error:
            self.cancel()
            if isinstance(error, CancelledError):
                words = f"{self.what} operation was cancelled"
                raise CancelledError(None, None, words) from None
            raise
        if self.error is not None:
            raise self.error
        return self.items

    def cancel(self) -> None:
        """Takes it out of its line; what was taken goes back."""
        queue = self._queue
        with queue.lock:
            if self in self._line:
                self._line.remove(self)
                queue.put_back(self)
            self._done.set()
            queue.flush()


class Queue:
    """Elements in the order in which they came.

    Args:
        name: For messages.
        shapes: Those of the components; None where elements may have any.
        capacity: How many elements there may be, as many as you like below 0.
    """

    kind = kind_of_many = "FIFOQueue"

    def __init__(self, name: str, shapes: Sequence[Shape] | None, capacity: int):
        self.name, self.shapes = name, shapes
        self.capacity = math.inf if capacity < 0 else capacity
        self.types: list[np.dtype] = []
        self.is_closed = False
        self.lock = threading.RLock()
        self.enqueuing: deque[Attempt] = deque()
        self.dequeuing: deque[Attempt] = deque()
        self._elements: deque[Element] = deque()

    def __len__(self) -> int:
        return len(self._elements)

    def enqueue(self, elements: Sequence[Element]) -> Attempt:
        """Adds elements as there is room for them."""
        waiting = deque(elements)

        def step(attempt: Attempt) -> int:
            if self.is_closed:
                words = f"{self.kind} '{self.name}' is closed."
                return attempt.end(CancelledError(None, None, words))
            before = len(waiting)
            while waiting and self._has_room(waiting[0]):
                self._add(waiting.popleft())
            if not waiting:
                return attempt.end()
            return STUCK if len(waiting) == before else MOVED

        return self._attempt(self.enqueuing, step)

    def dequeue(self, count: int, may_be_fewer: bool = False) -> Attempt:
        """Takes elements as they come; what there is of them when the queue is closed."""
        missing = count

        def step(attempt: Attempt) -> int:
            nonlocal missing
            if self.is_closed and len(self) < missing:
                error = self._insufficient(self.kind if count == 1 else self.kind_of_many, missing)
                self.put_back(attempt)
                if not may_be_fewer or not len(self):
                    if may_be_fewer and self.enqueuing:
                        return MOVED
                    return attempt.end(error)
                missing = len(self)
            before = missing
            while missing and self._n_available > 0:
                attempt.items.append(self._take())
                missing -= 1
            if not missing:
                return attempt.end()
            return STUCK if missing == before else MOVED

        return self._attempt(self.dequeuing, step)

    def close(self, cancel_pending: bool) -> Attempt | None:
        """Lets nothing in any more; waits for what wants in before, or lets that fail."""
        if not cancel_pending:
            return self._attempt(self.enqueuing, self._close)
        with self.lock:
            self.is_closed = True
            while self.enqueuing:
                error = CancelledError(None, None, "Enqueue operation was cancelled")
                self.enqueuing.popleft().end(error)
            self.flush()
        return None

    def flush(self) -> None:
        """Lets what is attempted go on as far as it can."""
        with self.lock:
            moved = True
            while moved:
                added, taken = self._go_on(self.enqueuing), self._go_on(self.dequeuing)
                moved = added or taken

    def put_back(self, attempt: Attempt) -> None:
        """Adds what was taken in vain at the front."""
        self._elements.extendleft(reversed(attempt.items))
        attempt.items.clear()

    def joined(self, elements: Sequence[Element], index: int, dtype: np.dtype) -> np.ndarray:
        """One component of several elements, as one array.

        Raises InvalidArgumentError where the queue's elements have no declared shapes.
        """
        if self.shapes is None:
            words = f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have "
            raise InvalidArgumentError(None, None, f"{words}specified shapes.")
        arrays = [element[index] for element in elements]
        sizes = tuple(size or 0 for size in self.shapes[index] or ())
        return np.stack(arrays) if arrays else np.empty((0, *sizes), dtype)

    @property
    def _n_available(self) -> int:
        """How many elements may be taken now."""
        return len(self)

    def _has_room(self, element: Element) -> bool:
        """Whether `element` may be added now."""
        return len(self) < self.capacity

    def _add(self, element: Element) -> None:
        self._elements.append(element)

    def _take(self) -> Element:
        return self._elements.popleft()

    def _close(self, attempt: Attempt) -> int:
        if self.is_closed:
            words = f"Queue '{self.name}' is already closed."
            return attempt.end(CancelledError(None, None, words))
        self.is_closed = True
        return attempt.end()

    def _insufficient(self, kind: str, requested: int) -> OpError:
        words = f"{kind} '{self.name}' is closed and has insufficient elements "
        return OutOfRangeError(
            None, None, f"{words}(requested {requested}, current size {len(self)})"
        )

    def _attempt(self, line: deque[Attempt], step: Callable[[Attempt], int]) -> Attempt:
        attempt = Attempt(self, line, step)
        with self.lock:
            line.append(attempt)
            self.flush()
        return attempt

    def _go_on(self, line: deque[Attempt]) -> bool:
        """Whether anything happened in a line."""
        moved = False
        while line:
            progress = line[0].step(line[0])
            moved = moved or progress != STUCK
            if progress != DONE:
                break
            line.popleft()
        return moved


class PaddingQueue(Queue):
    """A queue whose elements' sizes differ; those taken together are filled up with zeros."""

    kind_of_many = "PaddingFIFOQueue"

    def joined(self, elements: Sequence[Element], index: int, dtype: np.dtype) -> np.ndarray:
        """One component of several elements, each as large as the largest."""
        arrays = [element[index] for element in elements]
        if not arrays:
            return super().joined(elements, index, dtype)
        sizes = np.max([array.shape for array in arrays], axis=0).astype(int).tolist()
        empty = b"" if dtype.hasobject else 0
        joined = np.full((len(arrays), *sizes), empty, arrays[0].dtype)
        for target, array in zip(joined, arrays, strict=True):
            if array.ndim:
                target[tuple(map(slice, array.shape))] = array
        return joined if sizes else np.stack(arrays)


class ShuffleQueue(Queue):
    """A queue that gives any of its elements.

    Args:
        name: For messages.
        shapes: Those of the components.
        capacity: How many elements there may be.
        least: How many stay as long as the queue is open, so that there is something to choose.
        seed: Two numbers, of which the order follows; zeros for any order.
    """

    kind = kind_of_many = "RandomShuffleQueue"

    def __init__(
        self,
        name: str,
        shapes: Sequence[Shape] | None,
        capacity: int,
        least: int,
        seed: tuple[int, int],
    ):
        super().__init__(name, shapes, capacity)
        self._least = least
        self._words = Words(Philox(*seed))

    @property
    def _n_available(self) -> int:
        return len(self) - (0 if self.is_closed else self._least)

    def _take(self) -> Element:
        elements = self._elements
        i = self._words.word() % len(elements)
        elements[i], elements[-1] = elements[-1], elements[i]
        return elements.pop()


class PriorityQueue(Queue):
    """A queue that gives the element with the smallest number, which is its first component."""

    kind = kind_of_many = "PriorityQueue"

    def __init__(self, name: str, shapes: Sequence[Shape] | None, capacity: int):
        super().__init__(name, shapes, capacity)
        self._heap: list[tuple[int, int, Element]] = []
        self._n_added = 0

    def __len__(self) -> int:
        return len(self._heap)

    def put_back(self, attempt: Attempt) -> None:
        """Adds what was taken in vain."""
        for element in attempt.items:
            self._add(element)
        attempt.items.clear()

    def _add(self, element: Element) -> None:
        heapq.heappush(self._heap, (int(element[0]), self._n_added, element))
        self._n_added += 1

    def _take(self) -> Element:
        return heapq.heappop(self._heap)[2]


def check_element(queue: Queue, element: Element, many: bool) -> None:
    """Raises InvalidArgumentError unless what is to be added fits; `many` are several elements."""
    for i, array in enumerate(element):
        count: tuple[int, ...] = element[0].shape[:1] if many else ()
        shape = queue.shapes[i] if queue.shapes else None
        if shape is not None and not fits(array.shape, (*count, *shape)):
            words = f"Shape mismatch in tuple component {i}. Expected {shown((*count, *shape))}"
            raise InvalidArgumentError(None, None, f"{words}, got {shown(array.shape)}")
        if many and array.shape[:1] != count:
            words = "All input tensors must have the same size in the 0th dimension. Component "
            sizes = f"{i} has {len(array)}, and should have {len(element[0])}"
            raise InvalidArgumentError(None, None, f"{words}{sizes}")


def fits(array_shape: tuple[int, ...], shape: tuple[int | None, ...]) -> bool:
    """Whether an array can have a shape."""
    return len(array_shape) == len(shape) and all(
        size is None or size == n for size, n in zip(shape, array_shape, strict=True)
    )
