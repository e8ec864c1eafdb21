"""Where the code stands that adds operations to graphs."""

from __future__ import annotations

import sys
from traceback import FrameSummary, StackSummary
from types import CodeType
from typing import TypeAlias

Frames: TypeAlias = "tuple[tuple[CodeType, int], ...]"
"""Functions and their lines, innermost first."""
MAX_FRAMES = 32
"""Frames that an operation remembers."""
PACKAGE = __name__.split(".", 1)[0] + "."


def calling_frames() -> Frames:
    """The functions outside of this package that are being run, with their lines."""
    frames: list[tuple[CodeType, int]] = []
    frame = sys._getframe(1)
    while frame is not None and len(frames) < MAX_FRAMES:
        if not str(frame.f_globals.get("__name__", "")).startswith(PACKAGE):
            frames.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(frames)


def summary_of(frames: Frames) -> StackSummary:
    """Frames as Python's tracebacks have them, outermost first; lines are read when asked for."""
    return StackSummary.from_list(
        [
            FrameSummary(code.co_filename, line, code.co_name, lookup_line=False)
            for code, line in reversed(frames)
        ]
    )
