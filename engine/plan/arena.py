"""Memory for tensors: 64-byte aligned, zero, and never more than the machine can give."""

from __future__ import annotations

import contextlib
import mmap
import os

import numpy as np

ALIGNMENT = 64
SLACK = 64  # bytes after the end that a vector load may touch
HUGE_PAGE = 1 << 21
_HUGE: int = getattr(mmap, "MADV_HUGEPAGE", 0)  # 0 where there are none
LARGEST = 1 << 36
_UNCHECKED = 1 << 26  # below this the memory left is not looked up


def allocate(n_bytes: int) -> np.ndarray:
    """`n_bytes` zero bytes at an aligned address, with slack after them; in huge pages if large."""
    if n_bytes >= HUGE_PAGE and _HUGE:
        memory = _huge_pages(n_bytes + HUGE_PAGE + SLACK, n_bytes)
        start = -address(memory) % HUGE_PAGE
    else:
        memory = np.zeros(n_bytes + ALIGNMENT + SLACK, np.uint8)
        start = -address(memory) % ALIGNMENT
    return memory[start : start + n_bytes]


def _huge_pages(n_bytes: int, used: int) -> np.ndarray:
    """`n_bytes` of memory; the whole huge pages among the `used` are asked for as such."""
    try:
        mapping = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:  # limits of the process or the system
        raise MemoryError(f"the system does not give {n_bytes:,} bytes: {error}") from error
    array = np.frombuffer(mapping, np.uint8)
    first = -address(array) % HUGE_PAGE
    with contextlib.suppress(OSError):  # a kernel without huge pages
        mapping.madvise(_HUGE, first, used // HUGE_PAGE * HUGE_PAGE)
    return array


def address(array: np.ndarray) -> int:
    """Where an array's first byte lies."""
    return array.__array_interface__["data"][0]


def aligned(n_bytes: int) -> int:
    """`n_bytes` rounded up to the alignment."""
    return -(-n_bytes // ALIGNMENT) * ALIGNMENT


class MemoryLimitError(MemoryError):
    """Tensors would take more memory than they may."""


def check_limit(n_bytes: int, limit: int | None = None) -> None:
    """Refuses to plan for more memory than `limit`: 3/4 of what is left, at most 64 GiB.

    Raises MemoryLimitError with both numbers.
    """
    reason = "the limit that was set"
    if limit is None:
        if n_bytes <= _UNCHECKED:
            return
        limit = min(LARGEST, available() * 3 // 4)
        reason = "3/4 of the memory left, at most 64 GiB"
    if n_bytes > limit:
        raise MemoryLimitError(
            f"the tensors need {n_bytes:,} bytes, at most {limit:,} may be used ({reason}); "
            "make the inputs smaller"
        )


def available() -> int:
    """Bytes of memory the system can still give to this process."""
    limits = [_meminfo() or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    most, used = (_number(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
    if most is not None and used is not None:
        limits.append(max(most - used, 0))
    return min(limits)


def _meminfo() -> int | None:
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def _number(path: str) -> int | None:
    """The number in a file of the control group; None when there is no limit."""
    try:
        with open(path) as file:
            text = file.read().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
