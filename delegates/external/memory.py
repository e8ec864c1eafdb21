"""Memory that a C library reads, and what it may free and replace."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from .structures import POINTER, Structure


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None)
    libc.malloc.argtypes, libc.malloc.restype = [ctypes.c_size_t], POINTER
    libc.free.argtypes, libc.free.restype = [POINTER], None
    return libc


def malloced_ints(numbers: Iterable[int]) -> int:
    """The address of a new TfLiteIntArray that whoever holds it frees."""
    content = np.array([0, *numbers], np.int32)
    content[0] = content.size - 1
    address: int | None = _libc().malloc(content.nbytes)
    if not address:
        raise MemoryError(f"no memory for {content.size} numbers")
    ctypes.memmove(address, content.ctypes.data, content.nbytes)
    return address


def free(address: int | None) -> None:
    """Frees what malloc gave."""
    _libc().free(address)


def ints_at(address: int | None) -> list[int]:
    """The numbers of a TfLiteIntArray."""
    if not address:
        return []
    n = ctypes.c_int32.from_address(address).value
    return list((ctypes.c_int32 * n).from_address(address + 4))


class Arrays:
    """Memory that stays as long as this object, and is no C library's to free."""

    def __init__(self) -> None:
        self._objects: list[object] = []

    def put(self, thing: Structure | ctypes.Array[Any]) -> int:
        """The address of a C object."""
        self._objects.append(thing)
        return ctypes.addressof(thing)

    def ints(self, numbers: Iterable[int]) -> int:
        """The address of a TfLiteIntArray."""
        return self._counted(np.array([*numbers], np.int32))

    def floats(self, numbers: np.ndarray) -> int:
        """The address of a TfLiteFloatArray."""
        return self._counted(numbers.astype(np.float32))

    def text(self, text: str | bytes) -> int:
        """The address of a C string."""
        return self.put(
            ctypes.create_string_buffer(text.encode() if isinstance(text, str) else text)
        )

    def array(self, array: np.ndarray) -> int:
        """The address of a numpy array's elements, a copy where they do not lie in order."""
        array = np.ascontiguousarray(array)
        self._objects.append(array)
        return array.ctypes.data

    def _counted(self, numbers: np.ndarray) -> int:
        return self.array(np.append(np.int32(numbers.size), numbers.view(np.int32)))


def n_bytes(shape: Sequence[int], bits: int) -> int:
    """Bytes that so many elements take."""
    n = bits
    for size in shape:
        n *= size
    return (n + 7) // 8
