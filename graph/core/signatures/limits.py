"""What the evaluation of a graph may take of the machine."""

from __future__ import annotations

import os
import time
from contextvars import ContextVar
from dataclasses import dataclass

FALLBACK_BYTES = 4 << 30
"""Assumed to be free where the system does not say."""
MAX_BYTES = 1 << 36
FOLDING_BYTES = 256 << 20
"""What one array may take where kernels run outside of an evaluation."""
MAX_DEPTH = 64


@dataclass(frozen=True)
class Limits:
    """Bytes that may be in use at once, the time.monotonic() to stop at, and the depth of calls."""

    memory: int
    deadline: float | None = None
    depth: int = 0

    @classmethod
    def of(cls, memory: int | None, seconds: float | None) -> Limits:
        """Limits from now on; None for three quarters of the free memory and no end of time."""
        deadline = None if seconds is None else time.monotonic() + seconds
        return cls(available_memory() * 3 // 4 if memory is None else memory, deadline)

    def deeper(self) -> Limits:
        """The limits of a function that is called under these."""
        return Limits(self.memory, self.deadline, self.depth + 1)


LIMITS: ContextVar[Limits] = ContextVar("LIMITS")
"""The limits of the evaluation that is going on."""


def reserve(n_bytes: int) -> None:
    """Raises MemoryError when an intermediate array of a kernel would be too large."""
    limits = LIMITS.get(None)
    allowed = FOLDING_BYTES if limits is None else limits.memory
    if n_bytes > allowed:
        raise MemoryError(f"{n_bytes} bytes are needed, {allowed} are allowed")


def available_memory() -> int:
    """Free memory in bytes, at most MAX_BYTES; FALLBACK_BYTES where the system does not tell."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return FALLBACK_BYTES
    return min(free, MAX_BYTES)
