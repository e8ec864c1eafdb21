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
    Afterwards it counts as old at once: nor is it looked through as what is new would be.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # those the caller has frozen stay so
                gc.freeze()
                gc.unfreeze()  # all that is tracked is of the oldest generation now
            gc.enable()
