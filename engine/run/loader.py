"""Brings a flat image into memory as code that can be called (x86-64 Linux)."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import struct
from typing import TYPE_CHECKING

from ..build.target import PAGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_READ, _WRITE, _EXECUTE = mmap.PROT_READ, mmap.PROT_WRITE, mmap.PROT_EXEC
_PRIVATE, _ANONYMOUS, _FIXED = mmap.MAP_PRIVATE, mmap.MAP_ANONYMOUS, 0x10
_VOID, _SIZE, _INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
_FAILED = ctypes.c_void_p(-1).value
_libraries: list[ctypes.CDLL] = []


class LoadError(RuntimeError):
    """An image that names functions this system does not have."""


def map_file(descriptor: int, offset: int, size: int, slots: Mapping[str, int]) -> int:
    """Maps `size` bytes of an open file as code; gives its address.

    The code's pages are the file's own and never writable. Where the system does not allow that
    (a file system mounted noexec) the bytes are copied to memory of ours.
    """
    if not slots:
        base = _mmap(None, size, _READ | _EXECUTE, _PRIVATE, descriptor, offset)
        return map_bytes(os.pread(descriptor, size, offset), slots) if base is None else base
    addresses = _resolve(slots)
    base = _mmap(None, size + PAGE, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
    if base is None:
        raise MemoryError(f"no room to map {size} bytes of code")
    if _mmap(base, size, _READ | _EXECUTE, _PRIVATE | _FIXED, descriptor, offset) is None:
        _libc().munmap(base, size + PAGE)
        return map_bytes(os.pread(descriptor, size, offset), slots)
    _fill(base + size, addresses)
    return base


def map_bytes(code: bytes, slots: Mapping[str, int]) -> int:
    """Copies code to fresh memory and makes it executable; gives its address."""
    addresses = _resolve(slots)
    base = _mmap(None, len(code) + PAGE, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
    if base is None:
        raise MemoryError(f"no room to map {len(code)} bytes of code")
    ctypes.memmove(base, code, len(code))
    if _libc().mprotect(base, len(code), _READ | _EXECUTE):
        reason = os.strerror(ctypes.get_errno())
        _libc().munmap(base, len(code) + PAGE)
        raise RuntimeError(
            f"this system refuses executable memory ({reason}), which compiled kernels need;"
            " allow it for this process (SELinux: execmem) or run elsewhere"
        )
    _fill(base + len(code), addresses)
    return base


def _fill(page: int, addresses: Sequence[int]) -> None:
    """Writes the addresses of external functions to their page and closes it."""
    ctypes.memmove(page, struct.pack(f"<{len(addresses)}Q", *addresses), 8 * len(addresses))
    _libc().mprotect(page, PAGE, _READ)


def _resolve(slots: Mapping[str, int]) -> list[int]:
    """The addresses of external functions, in the order of their slots."""
    return [_address(name) for name in sorted(slots, key=slots.__getitem__)]


def _address(name: str) -> int:
    for library in _find_libraries():
        with contextlib.suppress(AttributeError):
            return ctypes.cast(library[name], ctypes.c_void_p).value or 0
    raise LoadError(f"this system's libc and libm have no function '{name}'")


def _find_libraries() -> list[ctypes.CDLL]:
    if not _libraries:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [_VOID, _SIZE, _INT, _INT, _INT, ctypes.c_long]
        libc.munmap.argtypes = [_VOID, _SIZE]
        libc.mprotect.argtypes = [_VOID, _SIZE, _INT]
        _libraries.append(libc)
        with contextlib.suppress(OSError):  # musl has no such file, libm is part of libc
            _libraries.append(ctypes.CDLL("libm.so.6"))
    return _libraries


def _libc() -> ctypes.CDLL:
    return _find_libraries()[0]


def _mmap(
    address: int | None, size: int, protection: int, flags: int, descriptor: int, offset: int
) -> int | None:
    base = _libc().mmap(address, size, protection, flags, descriptor, offset)
    return None if base == _FAILED else base
