"""Types of parameters that the families share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

Clamp = Sequence[float]
"""The lowest and highest value of a result: those of a fused activation, or infinities."""
Number = int | float
"""A number of a kernel, passed by its name."""


class Window(TypedDict):
    """How a filter moves over its input, and the limits of what it gives."""

    stride: Sequence[int]
    before: Sequence[int]
    dilation: Sequence[int]
    clamp: Clamp
