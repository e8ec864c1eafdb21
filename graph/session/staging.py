"""Staging areas and staging maps that a Session keeps: elements that wait for their readers."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ...schema.errors import InvalidArgumentError, OpError, ResourceExhaustedError
from .queues import DONE, STUCK, Attempt, Queue

if TYPE_CHECKING:
    import numpy as np

    from .queues import Element

    Parts = dict[int, np.ndarray]
    """The components of an element that are there, by their index."""


class StagingArea(Queue):
    """A queue of which elements can be looked at, too.

    Args:
        name: For messages.
        capacity: How many elements there may be, as many as you like below 1.
        memory_limit: How many bytes they may take together, as many as you like below 1.
    """

    kind = kind_of_many = "StagingArea"

    def __init__(self, name: str, capacity: int, memory_limit: int):
        super().__init__(name, None, capacity or -1)
        self._memory_limit = memory_limit if memory_limit > 0 else math.inf

    def enqueue(self, elements: Sequence[Element]) -> Attempt:
        """Adds elements as there is room for them.

        Raises ResourceExhaustedError where one alone has more bytes than the limit.
        """
        for element in elements:
            _require_within(element, self._memory_limit)
        return super().enqueue(elements)

    def peek(self, index: int) -> Attempt:
        """An element that stays, as soon as there are so many."""

        def step(attempt: Attempt) -> int:
            if not 0 <= index < len(self._elements):
                return STUCK
            attempt.items.append(self._elements[index])
            return attempt.end()

        return self._attempt(self.dequeuing, step)

    def clear(self) -> None:
        """Drops all elements."""
        with self.lock:
            self._elements.clear()
            self.flush()

    def _has_room(self, element: Element) -> bool:
        n_bytes = sum(map(_n_bytes, self._elements)) + _n_bytes(element)
        return super()._has_room(element) and n_bytes <= self._memory_limit


class StagingMap(Queue):
    """Elements by numbers, whose components come and go one by one.

    Args:
        name: For messages.
        n_components: How many components a whole element has.
        capacity: How many whole elements there may be, as many as you like below 1.
        memory_limit: How many bytes all components may take, as many as you like below 1.
        is_ordered: Whether an element of no certain number is the one of the smallest.
    """

    kind = kind_of_many = "StagingMap"

    def __init__(
        self, name: str, n_components: int, capacity: int, memory_limit: int, is_ordered: bool
    ):
        super().__init__(name, None, capacity or -1)
        self._n_components, self._is_ordered = n_components, is_ordered
        self._memory_limit = memory_limit if memory_limit > 0 else math.inf
        self._whole: dict[int, Parts] = {}
        self._incomplete: dict[int, Parts] = {}

    def __len__(self) -> int:
        return len(self._whole)

    @property
    def n_incomplete(self) -> int:
        """How many elements lack a component."""
        return len(self._incomplete)

    def put(self, key: int, indices: Sequence[int], components: Element) -> Attempt:
        """Adds components of an element as there is room for them.

        Raises:
            InvalidArgumentError: The indices do not ascend; later, for what waits: one is out of
                range, or the element has it already.
            ResourceExhaustedError: The components have more bytes than the limit.
        """
        _require_ascending(indices)
        _require_within(components, self._memory_limit)
        is_whole = len(indices) == self._n_components
        n_bytes = _n_bytes(components)

        def step(attempt: Attempt) -> int:
            if self._n_bytes + n_bytes > self._memory_limit:
                return STUCK
            if is_whole and len(self) >= self.capacity:
                return STUCK
            return self._end(attempt, lambda: self._insert(key, indices, components))

        return self._attempt(self.enqueuing, step)

    def take(self, key: int | None, indices: Sequence[int], stays: bool = False) -> Attempt:
        """Components of a whole element, as soon as there is one; its number comes first.

        Raises InvalidArgumentError when the indices do not ascend; later, for what waits, where one
        is out of range or was taken before.
        """
        _require_ascending(indices)

        def step(attempt: Attempt) -> int:
            if key not in self._whole if key is not None else not self._whole:
                return STUCK
            number = self._next_key() if key is None else key
            return self._end(attempt, lambda: self._take_parts(attempt, number, indices, stays))

        return self._attempt(self.dequeuing, step)

    def clear(self) -> None:
        """Drops all elements, incomplete ones among them."""
        with self.lock:
            self._whole.clear()
            self._incomplete.clear()
            self.flush()

    @property
    def _n_bytes(self) -> int:
        parts = (*self._whole.values(), *self._incomplete.values())
        return sum(_n_bytes(tuple(part.values())) for part in parts)

    def _next_key(self) -> int:
        return min(self._whole) if self._is_ordered else next(iter(self._whole))

    def _insert(self, key: int, indices: Sequence[int], components: Element) -> None:
        self._require_indices(key, indices)
        present = self._incomplete.get(key, {})
        for index in indices:
            if index in present and len(indices) != self._n_components:
                words = f"The tensor for index '{index}' for key '{key}' was already initialized "
                raise InvalidArgumentError(None, None, f"{words}'{self._n_components}'.")
        parts = dict(zip(indices, components, strict=True))
        if len(indices) == self._n_components:
            self._whole.setdefault(key, parts)
            return
        self._incomplete[key] = {**present, **parts}
        if len(self._incomplete[key]) == self._n_components:
            self._whole.setdefault(key, self._incomplete.pop(key))

    def _take_parts(self, attempt: Attempt, key: int, indices: Sequence[int], stays: bool) -> None:
        self._require_indices(key, indices)
        parts = self._whole[key]
        for index in indices:
            if index not in parts:
                words = f"Tensor at index '{index}' for key '{key}' has already been removed."
                raise InvalidArgumentError(None, None, words)
        attempt.items.append(tuple(parts[index] for index in indices))
        attempt.key = key
        if not stays:
            self._whole[key] = {i: part for i, part in parts.items() if i not in indices}
            if not self._whole[key]:
                del self._whole[key]

    def _require_indices(self, key: int, indices: Sequence[int]) -> None:
        for index in indices:
            if not 0 <= index < self._n_components:
                words = f"Index '{index}' for key '{key}' was out of bounds "
                raise InvalidArgumentError(None, None, f"{words}'{self._n_components}'.")

    @staticmethod
    def _end(attempt: Attempt, act: Callable[[], None]) -> int:
        """Ends an attempt by what it does, with the error where that fails."""
        try:
            act()
        except OpError as error:
            return attempt.end(error)
        return attempt.end()

    def _go_on(self, line: deque[Attempt]) -> bool:
        """Whether anything happened in a line, in which nobody waits for those before it."""
        ended = [attempt for attempt in tuple(line) if attempt.step(attempt) == DONE]
        for attempt in ended:
            line.remove(attempt)
        return bool(ended)


def _n_bytes(components: Element) -> int:
    return sum(component.nbytes for component in components)


def _require_within(components: Element, memory_limit: float) -> None:
    n_bytes = _n_bytes(components)
    if n_bytes > memory_limit:
        words = f"Attempted to insert tensors with combined size of '{n_bytes}' bytes into Staging "
        words += f"Area with a memory limit of '{memory_limit}'."
        raise ResourceExhaustedError(None, None, words)


def _require_ascending(indices: Sequence[int]) -> None:
    if not len(indices):
        raise InvalidArgumentError(None, None, "Indices are empty")
    if any(first >= second for first, second in pairwise(indices)):
        raise InvalidArgumentError(None, None, "Indices are not strictly ordered")
