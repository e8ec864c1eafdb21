"""Memory for elements whose number nothing bounds: of loops' lists, and TensorFlow 1's stacks.

It has more addresses than are ever used: there is memory behind one when something is written.
"""

from __future__ import annotations

import mmap
import sys
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.buffer import PERSISTENT, Buffer, Storage

if TYPE_CHECKING:
    from collections.abc import Sequence

RESERVED = 1 << 34
"""Bytes of addresses for the elements of one list."""
_FLAGS = {"linux": 0x4022, "darwin": 0x1042}
"""Private and anonymous memory that is not there before it is written to, as mmap takes it."""


def growing(element: Sequence[int], dtype: np.dtype, name: str = "") -> Buffer | None:
    """Memory [room, *element], zeros at first; None where the system or the kernels have none."""
    nbytes = prod(element) * dtype.itemsize
    memory = _reserved() if nbytes and not dtype.hasobject else None
    if memory is None:
        return None
    storage = Storage(PERSISTENT, RESERVED, memory, name)
    return Buffer(dtype, (RESERVED // nbytes, *element), storage)


def grows(buffer: Buffer | None) -> bool:
    """Whether a buffer is such memory."""
    if buffer is None:
        return False
    return buffer.storage.kind == PERSISTENT and buffer.storage.nbytes == RESERVED


def _reserved() -> np.ndarray | None:
    flags = _FLAGS.get(sys.platform)
    if flags is None:
        return None
    try:
        return np.frombuffer(mmap.mmap(-1, RESERVED, flags=flags), np.uint8)
    except OSError:
        return None
