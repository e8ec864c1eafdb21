"""Who called, for warnings: the first line that is not flatlite's own."""

from __future__ import annotations

import sys
from types import FrameType


def caller() -> int:
    """The `stacklevel` of whoever called flatlite, for a warning where this is called."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "flatlite":
        level, frame = level + 1, frame.f_back
    return level
