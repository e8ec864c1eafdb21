"""Memory beside which nothing may be touched: for finding kernels that run past their arrays."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

END, START = "end", "start"


def guarded(n_bytes: int, side: str = END) -> np.ndarray:
    """`n_bytes` zero bytes up to the end of a page before one that faults when touched.

    Where `side` is START, from the start of a page after such a one. At the end, the start is
    aligned only as far as the size is a multiple of the elements' width.
    """
    page = mmap.PAGESIZE
    pages = -(-n_bytes // page) * page
    try:
        memory = np.frombuffer(mmap.mmap(-1, pages + page), np.uint8)
    except OSError as error:
        raise MemoryError(f"the system does not give {n_bytes:,} bytes: {error}") from error
    start = memory.__array_interface__["data"][0]
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if protect(start + pages if side == END else start, page, 0):
        raise OSError(ctypes.get_errno(), "mprotect failed")
    return memory[pages - n_bytes : pages] if side == END else memory[page : page + n_bytes]
