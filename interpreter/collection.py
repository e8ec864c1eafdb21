"""Python's collection of garbage while a model is opened or read."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Generator[None]:
    """No garbage is collected meanwhile.

    What a plan or a graph is made of stays: to look through it, and through all that the caller's
    program holds, again and again as it grows is a tenth of the time that opening a file takes.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
