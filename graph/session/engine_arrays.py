"""Tensor arrays of TensorFlow 1 as memory of the engine: loops write and read without Python.

What a handle stands for is known while compiling: an array whose elements have one shape is memory
that instructions change, which grows where its size has no value yet. Where an operation has no row
here the array becomes an object (tensor_arrays.py) with the elements it has by then, for all that
follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...engine.plan.buffer import Buffer, arena, constant, persistent
from ...schema import dtypes
from ..core.shapes import Shape, is_static, merge
from ..emit.growing_memory import growing
from ..emit.list_buffer import MAX_LIST_BYTES, fits
from ..emit.lists import ADDED
from . import engine_stacks
from .engine_handles import HandleBuffer
from .tensor_arrays import FLOW, TensorArray, handle_of

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from .stage import Site

    Emitted: TypeAlias = Sequence[Buffer] | None

CLEARS, ZEROS, ZEROS_IF_WRITTEN = 1, 2, 4
"""How the kernel `arrays.read` reads."""
READ = 2
"""What the state of an element tells, beside that it was written."""


class ArrayBuffer(HandleBuffer):
    """A tensor array in memory of the engine.

    Args:
        name: The operation's, for messages.
        element_dtype: Of the elements.
        n: How many there are; None where that is known only in the run.
        state: The memory for which of them were written and read.
        sizes: What was said of their shape.
        clears, is_identical, adds_up: As of `TensorArray`.

    Attributes:
        element: The elements' shape, once one was written or read.
        items: [room, size of an element]; None where the shape is not known yet.
        counts: int64 [2]: how many elements there are, and how many writes may make of them.
        state: uint8 [room]: which were written and read.
        generation: int64 [1]: how many arrays were made in this memory.
        gradients: The arrays of its gradients, by the names of the computations.
    """

    __slots__ = (
        *("adds_up", "clears", "counts", "element", "element_dtype", "generation", "gradients"),
        *("is_identical", "items", "n", "name", "sizes", "state"),
    )

    def __init__(
        self,
        name: str,
        element_dtype: np.dtype,
        n: int | None,
        state: Buffer,
        sizes: Shape,
        *,
        clears: bool = True,
        is_identical: bool = False,
        adds_up: bool = False,
    ):
        super().__init__()
        self.name, self.element_dtype, self.n, self.sizes = name, element_dtype, n, sizes
        self.clears, self.is_identical, self.adds_up = clears, is_identical, adds_up
        self.element: tuple[int, ...] | None = None
        self.items: Buffer | None = None
        self.state = state
        self.counts = persistent((2,), np.int64)
        self.generation = persistent((1,), np.int64)
        self.gradients: dict[str, ArrayBuffer] = {}

    @property
    def way(self) -> int:
        """How elements are read."""
        has_zeros = self.adds_up or is_static(self.sizes)
        return CLEARS * self.clears | (ZEROS if has_zeros else ZEROS_IF_WRITTEN * self.is_identical)

    def take(self, element: Shape) -> Buffer | None:
        """The memory for elements of a shape; None where there can be none."""
        if not is_static(element) or self.element not in (None, element):
            return None
        try:
            merge(self.sizes, element)
        except ValueError:
            return None
        if self.items is None:
            self.items = _memory(self.n, (prod(element),), self.element_dtype)
        if self.items is not None:
            self.element = element
        return self.items

    def family(self) -> list[HandleBuffer]:
        """The array, and those of its gradients."""
        return [self, *(x for array in self.gradients.values() for x in array.family())]

    def parts(self) -> list[Buffer]:
        """State, counts, generation and elements of the family."""
        parts = [self.state, self.counts, self.generation]
        parts += [] if self.items is None else [self.items]
        return [*parts, *(part for array in self.gradients.values() for part in array.parts())]

    def objects(self, arrays: Iterator[np.ndarray]) -> list[np.ndarray]:
        """The family as objects."""
        return self._filled(None, arrays, None)

    def _filled(
        self, array: TensorArray | None, arrays: Iterator[np.ndarray], generation: int | None
    ) -> list[np.ndarray]:
        """The handles of the family of an array, whose elements are of a generation."""
        state, (n, limit), (mine,) = next(arrays), next(arrays).tolist(), next(arrays).tolist()
        rows = next(arrays) if self.items is not None else state
        if array is None:
            array = TensorArray(
                self.name,
                dtypes.array_dtype(self.element_dtype),
                n,
                self.sizes,
                is_dynamic=limit > n,
                clears=self.clears,
                is_identical=self.is_identical,
            )
        if self.element is not None and generation in (None, mine):
            for i in np.flatnonzero(state[:n]).tolist():
                value = rows[i].reshape(self.element).copy()
                array.restore(i, value, was_read=bool(state[i] & READ))
        handles = [handle_of(array)]
        for source, buffer in self.gradients.items():
            handles += buffer._filled(array.gradient(source, ()), arrays, mine)
        return handles


def _memory(n: int | None, element: tuple[int, ...], dtype: np.dtype) -> Buffer | None:
    """Memory for `n` elements, or for any number of them; None where there can be none."""
    if n is None:
        return growing(element, dtype)
    nbytes = n * prod(element) * dtype.itemsize
    return persistent((n, *element), dtype) if 0 < nbytes <= MAX_LIST_BYTES else None


def _create(program: Program, op: Site, inputs: Sequence[Buffer]) -> Emitted:
    size, dtype = inputs[0], cast("np.dtype", op.get_attr("dtype"))
    may_grow = bool(op.get_attr("dynamic_size"))
    if size.ndim or not fits(dtype) or (size.value is not None and size.value < 0):
        return None
    n = None if size.value is None or may_grow else int(size.value)
    state = _memory(n, (), np.dtype(np.uint8))
    if state is None:
        return None
    array = ArrayBuffer(
        cast("bytes", op.get_attr("tensor_array_name")).decode() or op.name,
        dtype,
        n,
        state,
        cast("Shape", op.get_attr("element_shape")),
        clears=bool(op.get_attr("clear_after_read")),
        is_identical=bool(op.get_attr("identical_element_shapes")),
    )
    operands = size.ravel(), array.generation, array.counts, array.state
    program.call("arrays.create", *operands, may_grow=int(may_grow))
    return [array, constant(FLOW)]


def _gradient(program: Program, op: Site, inputs: Sequence[Buffer]) -> Emitted:
    array, source = inputs[0], cast("bytes", op.get_attr("source")).decode()
    if not isinstance(array, ArrayBuffer) or array.element_dtype not in ADDED:
        return None
    gradient = array.gradients.get(source)
    if gradient is None:
        state = _memory(array.n, (), np.dtype(np.uint8))
        if state is None:
            return None
        name = f"{array.name}@{source}"
        gradient = ArrayBuffer(name, array.element_dtype, array.n, state, array.sizes, adds_up=True)
        array.gradients[source] = gradient
    later = gradient.generation, gradient.counts, gradient.state
    program.call("arrays.follow", array.generation, array.counts, *later)
    return [gradient, constant(FLOW)]


def _write_rows(program: Program, array: ArrayBuffer, indices: Buffer, rows: Buffer) -> Emitted:
    """Writes rows, whose shape is [indices, *element]."""
    if rows.dtype != array.element_dtype or indices.ndim != 1 or rows.shape[:1] != indices.shape:
        return None
    items = array.take(rows.shape[1:])
    if items is None or not indices.size:
        return None
    rows = rows.reshape((indices.size, items.shape[1]))
    kernel = "arrays.add" if array.adds_up else "arrays.write"
    program.call(kernel, indices, rows, array.counts, array.state, items)
    return [constant(FLOW)]


def _read_rows(
    program: Program, array: ArrayBuffer, indices: Buffer, element: Shape
) -> Buffer | None:
    """The elements at indices, [indices, *element]."""
    if not is_static(element) and array.element is not None:
        element = array.element
    items = array.take(element)
    if items is None or indices.ndim != 1 or not indices.size:
        return None
    out = arena((indices.size, *(array.element or ())), array.element_dtype)
    rows = out.reshape((indices.size, items.shape[1]))
    operands = indices, array.counts, array.state, items, rows
    program.call("arrays.read", *operands, way=array.way)
    return out


def _all(n: int) -> Buffer:
    return constant(np.arange(n, dtype=np.int32))


def _write(program: Program, op: Site, inputs: Sequence[Buffer]) -> Emitted:
    array, index, value = inputs[:3]
    if not isinstance(array, ArrayBuffer) or index.ndim:
        return None
    return _write_rows(program, array, index.ravel(), value.reshape((1, *value.shape)))


def _scatter(program: Program, op: Site, inputs: Sequence[Buffer]) -> Emitted:
    array, indices, rows = inputs[:3]
    return _write_rows(program, array, indices, rows) if isinstance(array, ArrayBuffer) else None


def _split(program: Program, op: Site, inputs: Sequence[Buffer]) -> Emitted:
    array, rows, lengths = inputs[:3]
    if not isinstance(array, ArrayBuffer) or array.n is None:
        return None
    if lengths.value is None or not rows.ndim:
        return None
    n, length = array.n, rows.shape[0] // array.n
    if not np.array_equal(lengths.value, [length] * n) or rows.shape[0] != length * n:
        return None
    return _write_rows(program, array, _all(n), rows.reshape((n, length, *rows.shape[1:])))


def _declared(op: Site) -> Shape:
    """What is known of the shape of the first result."""
    return op.outputs[0].sizes


def _read(program: Program, op: Site, inputs: Sequence[Buffer]) -> Emitted:
    array, index = inputs[:2]
    if not isinstance(array, ArrayBuffer) or index.ndim:
        return None
    rows = _read_rows(program, array, index.ravel(), _declared(op))
    return None if rows is None else [rows.reshape(rows.shape[1:])]


def _gather(program: Program, op: Site, inputs: Sequence[Buffer]) -> Emitted:
    array, indices = inputs[:2]
    sizes = _declared(op)
    if not isinstance(array, ArrayBuffer):
        return None
    rows = _read_rows(program, array, indices, None if sizes is None else sizes[1:])
    return None if rows is None else [rows]


def _concat(program: Program, op: Site, inputs: Sequence[Buffer]) -> Emitted:
    array = inputs[0]
    if not isinstance(array, ArrayBuffer) or not array.element or array.n is None:
        return None
    rows = _read_rows(program, array, _all(array.n), array.element)
    if rows is None:
        return None
    n, length, *sizes = rows.shape
    return [rows.reshape((n * length, *sizes)), constant(np.full(n, length, np.int64))]


def _size(program: Program, op: Site, inputs: Sequence[Buffer]) -> Emitted:
    array = inputs[0]
    if not isinstance(array, ArrayBuffer):
        return None
    if array.n is not None:
        return [constant(np.int32(array.n))]
    out = arena((), np.int32)
    program.call("arrays.count", array.counts, out.ravel())
    return [out]


def _same(program: Program, op: Site, inputs: Sequence[Buffer]) -> Emitted:
    return inputs[:1] if isinstance(inputs[0], HandleBuffer) else None


ROWS: dict[str, Callable[[Program, Site, Sequence[Buffer]], Emitted]] = {
    **engine_stacks.ROWS,
    "Identity": _same,
    "TensorArrayConcatV3": _concat,
    "TensorArrayGatherV3": _gather,
    "TensorArrayGradV3": _gradient,
    "TensorArrayReadV3": _read,
    "TensorArrayScatterV3": _scatter,
    "TensorArraySizeV3": _size,
    "TensorArraySplitV3": _split,
    "TensorArrayV3": _create,
    "TensorArrayWriteV3": _write,
}
MAKERS = ("StackV2", "TensorArrayV3")
"""Operations that make a handle of something else."""
