"""Stacks and tensor arrays of a run, which their handles hold: semantics as of TensorFlow 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.errors import InvalidArgumentError
from ..core.shapes import is_static, merge, shown

if TYPE_CHECKING:
    from ..core.shapes import Shape


def _invalid(words: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, words)


def _agrees(shape: tuple[int, ...], known: Shape) -> bool:
    if shape == known:
        return True
    try:
        merge(shape, known)
    except ValueError:
        return False
    return True


class Stack:
    """Elements of which the last one is taken first.

    Args:
        name: Its operation's.
        max_size: How many it holds; without limit where negative.
    """

    def __init__(self, name: str, max_size: int):
        self._name, self._max_size = name, max_size
        self._elements: list[np.ndarray] = []
        self._is_closed = False

    def push(self, element: np.ndarray) -> None:
        """Adds an element; raises InvalidArgumentError where there is no room."""
        self._check()
        if 0 <= self._max_size <= len(self._elements):
            words = f"Stack[{self._name}] overflowed its max_size ({self._max_size})"
            raise _invalid(words)
        self._elements.append(element)

    def pop(self) -> np.ndarray:
        """The last element, which it has no more; raises InvalidArgumentError without one."""
        self._check()
        if not self._elements:
            raise _invalid(f"Stack[{self._name}] is empty when calling Pop().")
        return self._elements.pop()

    def close(self) -> None:
        """Drops the elements."""
        self._elements.clear()
        self._is_closed = True

    def _check(self) -> None:
        if self._is_closed:
            raise _invalid(f"Stack[{self._name}] has already been closed.")


class TensorArray:
    """Elements by their index, each written once; those of gradients add up.

    Args:
        name: Its operation's, for messages.
        dtype: Of the elements.
        size: How many there are.
        sizes: What is known of their shape.
        is_dynamic: Whether a write behind the last element makes more of them.
        clears: Whether an element that was read is gone.
        is_identical: Whether all have one shape.
        adds_up: Whether an element may be written repeatedly: the sum counts.
    """

    def __init__(
        self,
        name: str,
        dtype: np.dtype,
        size: int,
        sizes: Shape,
        *,
        is_dynamic: bool = False,
        clears: bool = True,
        is_identical: bool = False,
        adds_up: bool = False,
    ):
        self._name, self._dtype, self._sizes = name, dtype, sizes
        self._is_dynamic, self._clears, self._adds_up = is_dynamic, clears, adds_up
        self._is_identical = is_identical
        self._elements: list[np.ndarray | None] = [None] * size
        self._shapes: list[Shape] = [sizes] * size
        self._was_read = [False] * size
        self._gradients: dict[str, TensorArray] = {}
        self._is_closed = False

    @property
    def size(self) -> int:
        """How many elements there are."""
        self._check()
        return len(self._elements)

    def close(self) -> None:
        """Drops the elements."""
        self._elements.clear()
        self._is_closed = True

    def gradient(self, source: str, before: tuple[int, ...]) -> TensorArray:
        """The array of the gradients that `source` names, with zeros of the shapes of these.

        Args:
            source: Which computation of gradients it belongs to.
            before: Sizes in front of those of the elements.
        """
        self._check()
        self._is_dynamic = False
        array = self._gradients.get(source)
        if array is None:
            sizes = None if self._sizes is None else (*before, *self._sizes)
            name = f"{self._name}@{source}"
            array = TensorArray(name, self._dtype, len(self._elements), sizes, adds_up=True)
            array._shapes = [None if x is None else (*before, *x) for x in self._shapes]
            self._gradients[source] = array
        return array

    def write(self, index: int, value: np.ndarray) -> None:
        """Writes an element; raises InvalidArgumentError where it cannot be written."""
        self._check()
        size = len(self._elements)
        if index < 0 or (index >= size and not self._is_dynamic):
            kind = "" if self._is_dynamic else " is not resizeable and"
            words = f"Tried to write to index {index} but array{kind} size is: {size}"
            raise _invalid(f"TensorArray {self._name}: {words}")
        refused = f"TensorArray {self._name}: Could not write to TensorArray index {index}"
        if value.dtype != self._dtype:
            words = f"the value dtype is {value.dtype.name} but TensorArray dtype is "
            raise _invalid(f"{refused} because {words}{self._dtype.name}.")
        if not _agrees(value.shape, self._sizes):
            words = f"the value shape is {shown(value.shape)} which is incompatible with the "
            end = f"TensorArray's inferred element shape: {shown(self._sizes)}"
            raise _invalid(f"{refused} because {words}{end} (consider setting infer_shape=False).")
        if index >= size:
            n_more = index + 1 - size
            self._elements += [None] * n_more
            self._shapes += [self._sizes] * n_more
            self._was_read += [False] * n_more
        before = self._elements[index]
        if self._was_read[index]:
            raise _invalid(f"{refused} because it has already been read.")
        if before is not None and not self._adds_up:
            raise _invalid(f"{refused} because it has already been written to.")
        if before is not None and before.shape != value.shape:
            words = f"the aggregated shape is {shown(before.shape)}, the new one "
            raise _invalid(f"{refused}: {words}{shown(value.shape)}.")
        self._elements[index] = value if before is None else np.add(before, value)
        self._shapes[index] = value.shape
        if self._is_identical and self._sizes is None:
            self._sizes = value.shape

    def read(self, index: int) -> np.ndarray:
        """An element, zeros of its shape where none was written.

        Raises:
            InvalidArgumentError: There is none, it is read a second time, or its shape is unknown.
        """
        self._check()
        where, size = f"TensorArray {self._name}:", len(self._elements)
        if not 0 <= index < size:
            raise _invalid(f"Tried to read from index {index} but array size is: {size}")
        if self._was_read[index]:
            words = f"Could not read index {index} twice because it was cleared after a previous"
            end = "read (perhaps try setting clear_after_read = false?)."
            raise _invalid(f"{where} {words} {end}")
        element = self._elements[index]
        if element is None:
            shape = self._shapes[index]
            if not is_static(shape):
                words = f"Could not read from TensorArray index {index}. Furthermore, the element"
                end = f"shape is not fully defined: {shown(shape)}."
                raise _invalid(f"{where} {words} {end}")
            filler = b"" if self._dtype.hasobject else 0
            element = np.full(shape, filler, self._dtype)
        if self._clears:
            self._elements[index], self._was_read[index] = None, True
        return element

    def gather(self, indices: np.ndarray, sizes: Shape) -> np.ndarray:
        """Elements along a new first dimension, of the known shape where there are none.

        Raises:
            InvalidArgumentError: As `read`, or they differ in their shapes.
        """
        if indices.ndim != 1:
            raise _invalid(
                f"Expected indices to be a vector, but received shape: {shown(indices.shape)}"
            )
        elements = [self.read(int(i)) for i in indices]
        if not elements:
            return np.zeros((0, *self._known_sizes(sizes)), self._dtype)
        for i, element in enumerate(elements):
            if element.shape != elements[0].shape:
                raise _invalid(
                    f"TensorArray has inconsistent shapes.  Index 0 has shape: "
                    f"{shown(elements[0].shape)} but index {i} has shape: {shown(element.shape)}"
                )
        return np.stack(elements)

    def scatter(self, indices: np.ndarray, value: np.ndarray) -> None:
        """Writes a row of `value` at each index; raises InvalidArgumentError as `write`."""
        if indices.ndim != 1 or not value.ndim or len(indices) != len(value):
            words = "Expected len(indices) == values.shape[0], but saw: "
            raise _invalid(f"{words}{indices.size} vs. {len(value) if value.ndim else 'a scalar'}")
        for i, row in zip(indices, value, strict=True):
            self.write(int(i), np.array(row, self._dtype))

    def concat(self, sizes: Shape) -> tuple[np.ndarray, np.ndarray]:
        """All elements along their first dimension, and their lengths there, int64."""
        elements = [self.read(i) for i in range(self.size)]
        lengths = np.array([len(x) if x.ndim else 0 for x in elements], np.int64)
        if not elements:
            return np.zeros((0, *self._known_sizes(sizes)), self._dtype), lengths
        for i, element in enumerate(elements):
            if not element.ndim:
                words = f"Concat saw a scalar shape at index {i} but requires at least vectors."
                raise _invalid(f"{words}  Did you mean to call pack?")
            if element.shape[1:] != elements[0].shape[1:]:
                raise _invalid(
                    f"TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) "
                    f"shape: {shown(elements[0].shape[1:])} but index {i} has (excepting dimension "
                    f"0) shape: {shown(element.shape[1:])}"
                )
        return np.concatenate(elements), lengths

    def split(self, value: np.ndarray, lengths: np.ndarray) -> None:
        """Writes pieces of `value`, of these lengths; raises InvalidArgumentError as `write`."""
        if lengths.ndim != 1:
            raise _invalid(
                f"Expected lengths to be a vector, received shape: {shown(lengths.shape)}"
            )
        total = int(lengths.sum())
        if not value.ndim or total != len(value):
            words = "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is"
            raise _invalid(f"{words} {total} and value's shape is: {shown(value.shape)}")
        if len(lengths) != self.size and not self._is_dynamic:
            words = "TensorArray's size is not equal to the size of lengths"
            raise _invalid(f"{words} ({self.size} vs. {len(lengths)}), and it is not resizeable")
        ends = np.cumsum(lengths).tolist()
        for i, (begin, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            self.write(i, value[begin:end].copy())

    def _known_sizes(self, sizes: Shape) -> tuple[int, ...]:
        """The shape of elements where there are none."""
        shape = sizes if sizes is not None else self._sizes
        if not is_static(shape):
            words = f"TensorArray has size zero, but element shape {shown(shape)} is not fully"
            raise _invalid(f"{words} defined. Currently only static shapes are supported")
        return shape

    def _check(self) -> None:
        if self._is_closed:
            raise _invalid(f"TensorArray {self._name} has already been closed.")
