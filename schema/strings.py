"""String tensors: how a TFLite buffer holds them.

A count, count + 1 offsets from the start of the buffer, and the bytes; all integers are int32.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .errors import ModelError
from .files import byte_view

if TYPE_CHECKING:
    from .files import Content


def read_strings(data: Content) -> list[bytes]:
    """The strings in a buffer; none when it is empty.

    Raises ModelError when the offsets do not lie in order inside the buffer.

    >>> read_strings(write_strings([b"one", b""]))
    [b'one', b'']
    """
    content = byte_view(data)
    if not len(content):
        return []
    offsets = _offsets(content).tolist()
    return [bytes(content[start:end]) for start, end in pairwise(offsets)]


def write_strings(strings: Iterable[bytes | str]) -> bytes:
    """The buffer that holds `strings`; text is encoded as UTF-8."""
    encoded = [s.encode() if isinstance(s, str) else bytes(s) for s in strings]
    start = 4 * (len(encoded) + 2)
    offsets = np.cumsum([start, *map(len, encoded)])
    if offsets[-1] > np.iinfo("<i4").max:
        raise ModelError(f"strings must take under 2 GB together, got {offsets[-1]} bytes")
    header = np.concatenate([[len(encoded)], offsets]).astype("<i4")
    return b"".join([header.tobytes(), *encoded])


def check_strings(data: Content) -> int:
    """How many strings a buffer holds; raises ModelError unless it is a string table."""
    return max(0, len(_offsets(byte_view(data))) - 1)


def _offsets(content: memoryview) -> np.ndarray:
    """The offsets of a string table, verified."""
    if len(content) < 4:
        raise ModelError(f"a string buffer must have 4 bytes or more, got {len(content)}")
    count = int(np.frombuffer(content, "<i4", 1)[0])
    if not 0 <= count <= (len(content) - 4) // 4 - (count > 0):
        raise ModelError(
            f"a string buffer of {len(content)} bytes cannot hold the {count} strings it counts"
        )
    offsets = np.frombuffer(content, "<i4", count + 1 if count else 0, 4)
    if not count:
        return offsets
    falls = np.any(offsets[1:] < offsets[:-1])
    if offsets[0] < 4 * (count + 2) or offsets[-1] > len(content) or falls:
        raise ModelError("the offsets of a string buffer must lie in order inside of it")
    return offsets
