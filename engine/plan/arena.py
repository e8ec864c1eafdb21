"""Memory for tensors: 64-byte aligned, zero, and never more than the machine can give."""

from __future__ import annotations

import contextlib
import mmap
import os

import numpy as np

ALIGNMENT = 64
SLACK = 64  # bytes after the end that a vector load may touch
HUGE_PAGE = 1 << 21
_MIN_HUGE = HUGE_PAGE // 2  # bytes for which a huge page pays: hundreds of small ones, each a fault
_HUGE: int = getattr(mmap, "MADV_HUGEPAGE", 0)  # 0 where there are none
LARGEST = 1 << 36
_UNCHECKED = 1 << 26  # below this the memory left is not looked up


def allocate(n_bytes: int) -> np.ndarray:
    """`n_bytes` zero bytes at an aligned address, with slack after them; in huge pages if large."""
    if n_bytes >= _MIN_HUGE and _HUGE:
        memory = _huge_pages(n_bytes)
        start = -address(memory) % HUGE_PAGE
    else:
        memory = np.zeros(n_bytes + ALIGNMENT + SLACK, np.uint8)
        start = -address(memory) % ALIGNMENT
    return memory[start : start + n_bytes]


def _huge_pages(n_bytes: int) -> np.ndarray:
    """Memory with `n_bytes` from its first huge page on, and slack.

    The last page is a huge one as well where at least half of it is used.
    """
    n_pages = (n_bytes + HUGE_PAGE - _MIN_HUGE) // HUGE_PAGE
    size = HUGE_PAGE + max(n_bytes + SLACK, n_pages * HUGE_PAGE)
    try:
        mapping = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:  # limits of the process or the system
        raise MemoryError(f"the system does not give {n_bytes:,} bytes: {error}") from error
    array = np.frombuffer(mapping, np.uint8)
    with contextlib.suppress(OSError):  # a kernel without huge pages
        mapping.madvise(_HUGE, -address(array) % HUGE_PAGE, n_pages * HUGE_PAGE)
    return array


def address(array: np.ndarray) -> int:
    """Where an array's first byte lies."""
    return array.__array_interface__["data"][0]


def aligned(n_bytes: int) -> int:
    """`n_bytes` rounded up to the alignment."""
    return -(-n_bytes // ALIGNMENT) * ALIGNMENT


def check_limit(n_bytes: int, limit: int | None = None) -> None:
    """Refuses to plan for more memory than `limit`: 3/4 of what is left, at most 64 GiB.

    Raises MemoryError with both numbers.
    """
    reason = "the limit that was set"
    if limit is None:
        if n_bytes <= _UNCHECKED:
            return
        limit = min(LARGEST, available() * 3 // 4)
        reason = "3/4 of the memory left, at most 64 GiB"
    if n_bytes > limit:
        raise MemoryError(
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
