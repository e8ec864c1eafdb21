"""`tf.compat`: bytes and text, and which types of Python's count as numbers."""

from __future__ import annotations

import contextlib
import datetime
import numbers
import os
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator

    from _typeshed import StrPath

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def as_bytes(bytes_or_text: object, encoding: str = "utf-8") -> bytes:
    """Text encoded, bytes as they are; TypeError for anything else."""
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: object, encoding: str = "utf-8") -> str:
    """Bytes decoded, text as it is; TypeError for anything else."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: object, encoding: str = "utf-8") -> str:
    """Bytes decoded, and anything else as `str` has it."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: StrPath) -> str:
    """A path as text, whatever says it."""
    return os.fspath(path)


_horizon = [datetime.date(2026, 1, 16)]  # TensorFlow 2.21's


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Generator[None]:
    """A block in which graphs may use what readers of that day on know."""
    _horizon.append(datetime.date(year, month, day))
    try:
        yield
    finally:
        _horizon.pop()


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether graphs may use what readers of that day on know: it lies before the horizon."""
    return _horizon[-1] > datetime.date(year, month, day)
