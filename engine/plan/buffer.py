"""What a kernel reads and writes: a typed, shaped, C-contiguous window onto some storage."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, DTypeLike

CONSTANT, ARENA, PERSISTENT, BOUND = "constant", "arena", "persistent", "bound"


class Storage:
    """Memory that one or more buffers look at.

    A `constant` holds its bytes from the start. `arena` memory is shared among the instructions of
    one program and means something only between the first instruction that writes it and the last
    that reads it. `persistent` memory keeps its bytes from run to run (a model's variables).
    `bound` memory belongs to the caller and may be another array at each run (feeds and
    fetches).

    `alignment` is what its address must be a multiple of. `make` gives the array of a constant when
    it is first asked for.
    """

    __slots__ = ("__weakref__", "_array", "_make", "alignment", "kind", "name", "nbytes")

    def __init__(
        self,
        kind: str,
        nbytes: int,
        array: Any = None,  # an ndarray where the kind has one  # pyright: ignore[reportExplicitAny]
        name: str = "",
        alignment: int = 8,
        make: Callable[[], np.ndarray] | None = None,
    ):
        self.kind = kind
        self.nbytes = nbytes
        self._array, self._make = array, make
        self.name = name
        self.alignment = alignment

    @property
    def array(self) -> Any:  # pyright: ignore[reportExplicitAny] - as `array` above
        """The bytes, or the objects; None where they have no memory yet."""
        make = self._make
        if make is not None:
            self._array, self._make = make(), None
        return self._array

    @array.setter
    def array(self, array: Any) -> None:  # pyright: ignore[reportExplicitAny] - as `array` above
        self._array = array

    def __repr__(self) -> str:
        return f"Storage({self.kind}, {self.nbytes} bytes, {self.name!r})"


class Buffer:
    """A window onto a storage: dtype, shape and the byte where it starts."""

    __slots__ = ("dtype", "offset", "shape", "storage")

    def __init__(self, dtype: DTypeLike, shape: Sequence[int], storage: Storage, offset: int = 0):
        self.dtype = np.dtype(dtype)
        self.shape = tuple(shape)
        self.storage = storage
        self.offset = offset

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype}, {self.shape}, {self.storage!r})"

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def is_integer(self) -> bool:
        """Whether the elements are signed or unsigned integers."""
        return self.dtype.kind in "iu"

    @property
    def is_float(self) -> bool:
        """Whether the elements are real floats of numpy's own."""
        return self.dtype.kind == "f"

    @property
    def is_constant(self) -> bool:
        """Whether the bytes are known and never change."""
        return self.storage.kind == CONSTANT

    @property
    def value(self) -> np.ndarray | None:
        """A constant's elements as a read-only array; None for everything else."""
        if self.storage.kind != CONSTANT or self.storage.array is None:
            return None
        view = window(self.storage.array, self)
        view.flags.writeable = False
        return view

    def reshape(self, shape: Sequence[int]) -> Buffer:
        """The same bytes in another shape with as many elements."""
        shape = tuple(shape)
        if prod(shape) != self.size:
            raise ValueError(f"cannot reshape {self.shape} to {shape}")
        return Buffer(self.dtype, shape, self.storage, self.offset)

    def part(self, first: int, count: int) -> Buffer:
        """The `count` elements of the first dimension from `first` on."""
        if not 0 <= first <= first + count <= self.shape[0]:
            raise ValueError(f"{self.shape} has no elements {first} to {first + count}")
        shape = (count, *self.shape[1:])
        offset = self.offset + first * prod(self.shape[1:]) * self.dtype.itemsize
        return Buffer(self.dtype, shape, self.storage, offset)

    def ravel(self) -> Buffer:
        """The same bytes in one dimension."""
        return Buffer(self.dtype, (self.size,), self.storage, self.offset)

    def view(self, dtype: DTypeLike) -> Buffer:
        """The same bytes read as another dtype of the same width."""
        dtype = np.dtype(dtype)
        if dtype.itemsize != self.dtype.itemsize:
            raise ValueError(f"cannot view {self.dtype} as {dtype}: the widths differ")
        return Buffer(dtype, self.shape, self.storage, self.offset)


def window(memory: np.ndarray, buffer: Buffer) -> np.ndarray:
    """The array of `buffer` within `memory`: its storage's bytes, or its objects."""
    if buffer.dtype.hasobject:
        return memory.reshape(buffer.shape)
    return np.ndarray(buffer.shape, buffer.dtype, memory, buffer.offset)


def constant(array: ArrayLike, name: str = "") -> Buffer:
    """A buffer with the values of `array`, which must not change afterwards.

    Elements that are not in order, or not aligned, are copied when they are first asked for.
    """
    values = np.asarray(array)
    return Buffer(values.dtype, values.shape, constant_storage(values, name))


def constant_storage(values: np.ndarray, name: str = "") -> Storage:
    """The storage of `constant(values, name)`."""
    flags = values.flags
    is_plain = flags.c_contiguous and flags.aligned
    return Storage(
        CONSTANT,
        values.nbytes,
        _flat(values) if is_plain else None,
        name,
        min(values.itemsize, 8),  # that of the widest dtype it can be seen as
        None if is_plain else lambda: _flat(np.require(values, requirements=["C", "A"])),
    )


def _flat(array: np.ndarray) -> np.ndarray:
    """The bytes of an array in order, or its objects."""
    flat = array.reshape(-1)
    if array.dtype.hasobject:
        return flat
    return flat.view(np.uint8) if array.size else np.empty(0, np.uint8)


@lru_cache(256)
def zeros(shape: tuple[int, ...], dtype: DTypeLike) -> Buffer:
    """A constant of zeros; those of one shape and dtype share their memory."""
    return constant(np.zeros(shape, dtype))


def arena(shape: Sequence[int], dtype: DTypeLike, name: str = "") -> Buffer:
    """A buffer in the program's arena: alive from its first instruction to its last."""
    return _empty(ARENA, shape, dtype, name)


def persistent(shape: Sequence[int], dtype: DTypeLike, name: str = "") -> Buffer:
    """A buffer that keeps its bytes from run to run, zero at first."""
    return _empty(PERSISTENT, shape, dtype, name)


def bound(shape: Sequence[int], dtype: DTypeLike, name: str = "") -> Buffer:
    """A buffer whose memory is given by `Program.rebind` before each run."""
    return _empty(BOUND, shape, dtype, name)


def _empty(kind: str, shape: Sequence[int], dtype: DTypeLike, name: str) -> Buffer:
    dtype, shape = np.dtype(dtype), tuple(shape)
    nbytes = prod(map(int, shape)) * dtype.itemsize
    return Buffer(dtype, shape, Storage(kind, nbytes, None, name))
