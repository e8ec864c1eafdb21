"""What a Keras file may hold."""

from __future__ import annotations

MAX_TEXT = 64 << 20
"""Bytes an architecture may have."""
MAX_UNPACK_RATIO = 100
"""How many times its own size a file may hold when it is unpacked."""
MIN_UNPACK_LIMIT = 16 << 20
"""Bytes that any file may unpack to."""


def unpack_limit(content: bytes) -> int:
    """The bytes that a file may unpack to."""
    return max(MIN_UNPACK_LIMIT, MAX_UNPACK_RATIO * len(content))
