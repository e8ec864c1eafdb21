"""Types of parameters that the families share."""

from __future__ import annotations

from collections.abc import Sequence

Clamp = Sequence[float]
"""The lowest and highest value of a result: those of a fused activation, or infinities."""
Number = int | float
"""A number of a kernel, passed by its name."""
