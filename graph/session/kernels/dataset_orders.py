"""Kernels of `tf.data` that give elements in another order, or again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.errors import InvalidArgumentError
from ..datasets import (
    INFINITE,
    Data,
    Element,
    Elements,
    Seeds,
    Several,
    dataset_kernel,
    dataset_of,
    some,
)
from ..resources import handle_of

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ..state import State

_UNCHECKED = 1024
"""Elements after which it is looked at whether the run goes on."""


class Repeated(Several):
    """The elements of a dataset again and again.

    Args:
        data: The dataset.
        times: How often; without end where it is negative.
        state: Says whether the run goes on.
    """

    def __init__(self, data: Data, times: int, state: State):
        self._data, self._n_left, self._state = data, times, state
        self._elements: Elements = iter(())
        self._is_fresh = False
        self._n_unchecked = 0

    def _next(self, take: Callable[[Elements], Element | list[Element] | None]) -> object:
        """What is taken of the elements, of the next time through where there is nothing left.

        Raises StopIteration behind the last time; an empty dataset stays empty.
        """
        self._n_unchecked += 1
        if not self._n_unchecked % _UNCHECKED:
            self._state.control.check()
        while True:
            taken = take(self._elements)
            if taken:
                self._is_fresh = False
                return taken
            if not self._n_left or self._is_fresh:
                raise StopIteration
            self._elements, self._is_fresh = self._data.elements(), self._n_left < 0
            self._n_left -= 1

    def __next__(self) -> Element:
        """The next one."""
        return cast("Element", self._next(lambda elements: next(elements, None)))

    def take(self, n: int) -> list[Element]:
        """Up to `n` of the next ones, none behind the last."""
        try:
            return cast("list[Element]", self._next(lambda elements: some(elements, n)))
        except StopIteration:
            return []


@dataset_kernel("RepeatDataset")
def repeated(op: Operation, state: State, source: np.ndarray, times: np.ndarray) -> Data:
    """The elements again and again: so many times, or without end."""
    data, n = dataset_of(source), int(times)
    known = data.cardinality
    if n <= 0:
        known = 0 if not n or not known else INFINITE
    elif known >= 0:
        known *= n
    return Data(lambda: Repeated(data, n, state), known)


def _seeds(seed: np.ndarray, seed2: np.ndarray) -> tuple[int, int]:
    """The seeds of an operation; fresh ones where it asks for them by zeros."""
    if not seed and not seed2:
        first, second = np.random.SeedSequence().generate_state(2).tolist()
        return int(first) or 1, int(second)
    return int(seed), int(seed2)


class Shuffled(Several):
    """Elements in random order: always one of the next `size`.

    It is TensorFlow's order for the same seeds: the buffer is a ring, and the element that comes
    first moves to where the chosen one was.
    """

    def __init__(self, elements: Elements, size: int, seeds: tuple[int, int]):
        self._elements, self._size, self._numbers = elements, size, Seeds(*seeds)
        self._ahead: deque[Element] = deque()
        self._buffer: list[Element] = []
        self._start = self._n = 0

    def __next__(self) -> Element:
        """The next one."""
        self._fill()
        if not self._n:
            raise StopIteration
        buffer, size, start = self._buffer, self._size, self._start
        chosen = (start + self._numbers.next() % self._n) % size
        element = buffer[chosen]
        buffer[chosen] = buffer[start % size]
        self._start, self._n = start + 1, self._n - 1
        return element

    def _fill(self) -> None:
        while self._n < self._size:
            element = self._ahead.popleft() if self._ahead else next(self._elements, None)
            if element is None:
                break
            place = (self._start + self._n) % self._size
            if place == len(self._buffer):
                self._buffer.append(element)
            else:
                self._buffer[place] = element
            self._n += 1

    def take(self, n: int) -> list[Element]:
        """Up to `n` of the next ones: as many as the elements taken so far let one choose."""
        to_fill = self._size - self._n
        missing = to_fill + n - 1 - len(self._ahead)
        if isinstance(self._elements, Several) and missing > 0:
            self._ahead.extend(self._elements.take(missing))
        return list(islice(self, min(n, max(1, len(self._ahead) - to_fill + 1))))


def _shuffling(
    op: Operation, size: np.ndarray, seed: np.ndarray, seed2: np.ndarray
) -> tuple[int, Callable[[], tuple[int, int]]]:
    """The size of the buffer, and what gives the seeds for each time one goes through a dataset."""
    n = int(size)
    if n <= 0:
        words = "buffer_size must be greater than zero or UNKNOWN_CARDINALITY"
        raise InvalidArgumentError(None, None, words)
    seeds = _seeds(seed, seed2)
    if op.get_attr("reshuffle_each_iteration"):
        return n, Seeds(*seeds).pair
    return n, lambda: seeds


def _shuffled(op: Operation, source: np.ndarray, *arguments: np.ndarray) -> Data:
    """A dataset in random order; `arguments` are the buffer's size and the two seeds."""
    data, (size, next_seeds) = dataset_of(source), _shuffling(op, *arguments)
    return Data(lambda: Shuffled(data.elements(), size, next_seeds()), data.cardinality)


@dataset_kernel("ShuffleDataset")
def shuffle(
    op: Operation,
    state: State,
    source: np.ndarray,
    buffer_size: np.ndarray,
    seed: np.ndarray,
    seed2: np.ndarray,
) -> Data:
    """The elements in random order."""
    return _shuffled(op, source, buffer_size, seed, seed2)


@dataset_kernel("ShuffleAndRepeatDataset")
def shuffle_and_repeat(
    op: Operation,
    state: State,
    source: np.ndarray,
    buffer_size: np.ndarray,
    seed: np.ndarray,
    seed2: np.ndarray,
    times: np.ndarray,
) -> Data:
    """The elements in random order, again and again."""
    shuffled = _shuffled(op, source, buffer_size, seed, seed2)
    return repeated(op, state, handle_of(shuffled), times)
