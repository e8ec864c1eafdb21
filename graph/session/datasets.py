"""What operations of `tf.data` stand for in a Session: datasets, and iterators over them.

A dataset is gone through by an iterator of Python, which goes on behind an element that failed.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

import numpy as np

from ...engine.philox import Philox
from ...schema.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from ..core.shapes import shown
from .resources import handle_of, resource_kernel

if TYPE_CHECKING:
    from ..core.graph import Operation
    from ..core.shapes import Shape
    from .state import State

Element: TypeAlias = tuple[np.ndarray, ...]
"""The components of an element, in order."""
Elements: TypeAlias = Iterator[Element]

INFINITE, UNKNOWN = -1, -2
"""Cardinalities that are no number of elements."""
_WORD = 1 << 32
KernelT = TypeVar("KernelT", bound="Callable[..., Data]")
_END = object()
_UNCHECKED = 1024
"""Elements of a source after which it is looked at whether the run goes on."""


@dataclass(frozen=True)
class Data:
    """A dataset.

    Attributes:
        elements: Goes through it from the start.
        cardinality: How many elements there are, INFINITE, or UNKNOWN before one has been through.
    """

    elements: Callable[[], Elements]
    cardinality: int = UNKNOWN


class Several(ABC, Iterator[Element]):
    """Elements that are better asked for several at a time."""

    @abstractmethod
    def take(self, n: int) -> list[Element]:
        """Up to `n` of the next ones, before the first that fails; none behind the last."""


def some(elements: Elements, n: int) -> list[Element]:
    """Up to `n` of the next elements, none when there are no more.

    Of elements that come one by one, it is the next.
    """
    return elements.take(n) if isinstance(elements, Several) else list(islice(elements, 1))


def several(elements: Elements, n: int) -> list[Element]:
    """The next `n` elements, fewer when there are no more.

    When one fails, those before it are lost.
    """
    if not isinstance(elements, Several):
        return list(islice(elements, n))
    taken = list[Element]()
    while len(taken) < n and (more := elements.take(n - len(taken))):
        taken += more
    return taken


def steps(step: Callable[[], Element]) -> Elements:
    """What a function gives again and again, until it raises StopIteration.

    After another exception it can be asked for the next element, unlike a generator.
    """
    return iter(step, _END)


def checked(elements: Elements, state: State) -> Elements:
    """The elements of a source that may have more than anybody waits for: a run can be ended."""
    n = 0

    def step() -> Element:
        nonlocal n
        n += 1
        if not n % _UNCHECKED:
            state.control.check()
        return next(elements)

    return steps(step)


def dataset_of(array: np.ndarray) -> Data:
    """The dataset that a scalar holds.

    Raises InvalidArgumentError where it holds something else.
    """
    data = cast("object", array.item())
    if not isinstance(data, Data):
        words = "Input `input_dataset` must be a scalar variant that holds a dataset"
        raise InvalidArgumentError(None, None, words)
    return data


def dataset_kernel(*types: str) -> Callable[[KernelT], KernelT]:
    """Registers a kernel that gives a dataset: it takes the operation, the state and the inputs."""

    def register(function: KernelT) -> KernelT:
        def kernel(op: Operation, state: State, *arrays: np.ndarray) -> np.ndarray:
            return handle_of(function(op, state, *arrays))

        resource_kernel(*types)(kernel)
        return function

    return register


class DatasetIterator:
    """What stands for an iterator: how far one has been through a dataset.

    Attributes:
        types: Of the components; none where any may come.
        shapes: What is known of theirs.
    """

    def __init__(self, types: Sequence[np.dtype], shapes: Sequence[Shape]):
        self.types, self.shapes = list(types), list(shapes)
        self.lock = threading.Lock()
        self._elements: Elements | None = None

    def start(self, data: Data) -> None:
        """Goes through a dataset from its start."""
        with self.lock:
            self._elements = data.elements()

    def next(self) -> Element:
        """The next element.

        Raises:
            OutOfRangeError: There are no more.
            FailedPreconditionError: Nothing was given to go through.
        """
        with self.lock:
            if self._elements is None:
                raise FailedPreconditionError(
                    None, None,
                    "GetNext() failed because the iterator has not been initialized. Ensure that "
                    "you have run the initializer operation for this iterator before getting the "
                    "next element.",
                )  # fmt: skip
            element = next(self._elements, None)
        if element is None:
            raise OutOfRangeError(None, None, "End of sequence")
        return element


@dataclass(frozen=True)
class Optional:
    """An element or none."""

    element: Element | None = None


class Seeds:
    """Numbers of 32 bits from a stream of TensorFlow's, one after the other."""

    def __init__(self, seed: int, seed2: int):
        self._stream = Philox(seed, seed2)
        self._words: list[int] = []

    def next(self) -> int:
        """The next number."""
        if not self._words:
            self._words = self._stream.words(np.arange(64)).astype(np.int64).ravel().tolist()[::-1]
            self._stream.skip(64)
        return self._words.pop()

    def pair(self) -> tuple[int, int]:
        """Two numbers, the seeds of another stream."""
        return self.next(), self.next()


def declared(op: Operation) -> tuple[list[np.dtype], list[Shape]]:
    """Types and shapes of the components that an operation gives."""
    types = cast("Sequence[np.dtype]", op.get_attr("output_types"))
    shapes = op.get_attr("output_shapes")
    return [np.dtype(x) for x in types], list(shapes)


def row(array: np.ndarray, i: int) -> np.ndarray:
    """A row of an array, an array as well where it is a single number or string."""
    return array[i, ...]


def stacked(elements: Sequence[Element], is_mapped: bool = False) -> Element:
    """Elements as the rows of each component.

    Raises InvalidArgumentError for components of unequal shapes, in the words of `MapAndBatch` if
    `is_mapped`.
    """
    for k, parts in enumerate(zip(*elements, strict=True)):
        for i, part in enumerate(parts):
            if part.shape != parts[0].shape:
                words = (
                    "Cannot add tensor to the batch: number of elements does not match. Shapes "
                    f"are: [tensor]: {shown(part.shape)}, [batch]: {shown(parts[0].shape)}"
                ) if is_mapped else (
                    f"Cannot batch tensors with different shapes in component {k}. First element "
                    f"had shape {shown(parts[0].shape)} and element {i} had shape "
                    f"{shown(part.shape)}."
                )  # fmt: skip
                raise InvalidArgumentError(None, None, words)
    return tuple(np.stack(parts) for parts in zip(*elements, strict=True))


def total(cardinalities: Iterable[int]) -> int:
    """How many elements several datasets have together."""
    counts = list(cardinalities)
    if INFINITE in counts:
        return INFINITE
    return UNKNOWN if UNKNOWN in counts else sum(counts)


def divided(count: int, size: int, drop_remainder: bool) -> int:
    """How many batches of `size` so many elements give."""
    if count < 0:
        return count
    return count // size if drop_remainder else -(-count // size)


def positive(array: np.ndarray, name: str) -> int:
    """A number that must be greater than zero; InvalidArgumentError where it is not."""
    number = int(array)
    if number <= 0:
        raise InvalidArgumentError(None, None, f"{name} must be greater than zero.")
    return number
