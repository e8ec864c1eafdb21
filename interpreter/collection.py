"""Python's collection of garbage while a model is opened or read."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Generator[None]:
    """No garbage is collected meanwhile, and what was made counts as old when all went well.

    What a plan or a graph is made of stays: to look through it, and through all that the caller's
    program holds, again and again as it grows is a tenth of the time that opening a file takes.
    """
    if not gc.isenabled():
        yield
        return
    gc.collect(1)  # what is garbage before must not become old
    gc.disable()
    try:
        yield
        if not gc.get_freeze_count():  # else the caller's frozen objects would be thawed
            gc.freeze()
            gc.unfreeze()
    finally:
        gc.enable()
