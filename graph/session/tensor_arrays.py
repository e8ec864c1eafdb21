"""Stacks and tensor arrays of a run, which their handles hold: semantics as of TensorFlow 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.errors import InvalidArgumentError
from ..core.shapes import is_static, merge, shown

if TYPE_CHECKING:
    from ..core.shapes import Shape


FLOW = np.zeros((), np.float32)
"""What orders the operations of a tensor array, and has no value."""


WRITE_OUT_OF_RANGE = (
    "TensorArray {name}: Tried to write to index {index} but array is not resizeable and size is: "
    "{size}"
)
READ_OUT_OF_RANGE = "Tried to read from index {index} but array size is: {size}"
REFUSED = "TensorArray {name}: Could not write to TensorArray index {index} because "
WAS_READ = f"{REFUSED}it has already been read."
WAS_WRITTEN = f"{REFUSED}it has already been written to."
WAS_CLEARED = (
    "TensorArray {name}: Could not read index {index} twice because it was cleared after a "
    "previous read (perhaps try setting clear_after_read = false?)."
)
WITHOUT_SHAPE = (
    "TensorArray {name}: Could not read from TensorArray index {index}.  Furthermore, the element "
    "shape is not fully defined: {shape}.  It is possible you are working with a resizeable "
    "TensorArray and stop_gradients is not allowing the gradients to be written.  If you set the "
    "full element_shape property on the forward TensorArray, the proper all-zeros tensor will be "
    "returned instead of incurring this error."
)
IS_FULL = "Stack[{name}] overflowed its max_size ({size})"
IS_EMPTY = "Stack[{name}] is empty when calling Pop()."


def handle_of(resource: Stack | TensorArray) -> np.ndarray:
    """A handle of the shape that TensorFlow declares for it: two elements, both the object."""
    handle = np.empty(2, object)
    handle[:] = resource
    return handle


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
            raise _invalid(IS_FULL.format(name=self._name, size=self._max_size))
        self._elements.append(element)

    def pop(self) -> np.ndarray:
        """The last element, which it has no more; raises InvalidArgumentError without one."""
        self._check()
        if not self._elements:
            raise _invalid(IS_EMPTY.format(name=self._name))
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
            raise self._refused(WRITE_OUT_OF_RANGE, index)
        if value.dtype != self._dtype:
            words = f"the value dtype is {value.dtype.name} but TensorArray dtype is "
            raise self._refused(f"{REFUSED}{words}{self._dtype.name}.", index)
        if not _agrees(value.shape, self._sizes):
            words = f"the value shape is {shown(value.shape)} which is incompatible with the "
            end = f"TensorArray's inferred element shape: {shown(self._sizes)}"
            words = f"{REFUSED}{words}{end} (consider setting infer_shape=False)."
            raise self._refused(words, index)
        if index >= size:
            n_more = index + 1 - size
            self._elements += [None] * n_more
            self._shapes += [self._sizes] * n_more
            self._was_read += [False] * n_more
        before = self._elements[index]
        if self._was_read[index]:
            raise self._refused(WAS_READ, index)
        if before is not None and not self._adds_up:
            raise self._refused(WAS_WRITTEN, index)
        if before is not None and before.shape != value.shape:
            words = f"because the existing shape is {shown(before.shape)} but the new input shape"
            words = f"Could not aggregate to TensorArray index {index} {words} is"
            raise _invalid(f"TensorArray {self._name}: {words} {shown(value.shape)}.")
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
        if not 0 <= index < len(self._elements):
            raise self._refused(READ_OUT_OF_RANGE, index)
        if self._was_read[index] and self._clears:
            raise self._refused(WAS_CLEARED, index)
        element = self._elements[index]
        if element is None:
            shape = self._sizes if self._shapes[index] is None else self._shapes[index]
            if not is_static(shape):
                raise self._refused(WITHOUT_SHAPE, index, shape=shown(shape))
            filler = b"" if self._dtype.hasobject else 0
            element = np.full(shape, filler, self._dtype)
        self._elements[index] = None if self._clears else element
        self._was_read[index] = True
        return element

    def restore(self, index: int, value: np.ndarray, *, was_read: bool) -> None:
        """Puts an element there that was written, and maybe read, somewhere else."""
        self._elements[index] = None if was_read and self._clears else value
        self._shapes[index], self._was_read[index] = value.shape, was_read
        if self._is_identical and self._sizes is None:
            self._sizes = value.shape

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

    def _refused(self, words: str, index: int, **values: str) -> InvalidArgumentError:
        """The error that an element cannot be written or read."""
        size = len(self._elements)
        return _invalid(words.format(name=self._name, index=index, size=size, **values))

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
