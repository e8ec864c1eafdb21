"""Python's collection of garbage while modules are imported, or a model is opened or read."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

_MOST_OF_PYTHON = 1000
"""Objects that are frozen without a caller: Python 3.12 begins so with some hundred.

Whoever freezes, freezes all there is: thousands, as Python has begun.
"""


@contextmanager
def collection_paused() -> Generator[None]:
    """No garbage is collected meanwhile, and what was made counts as old when all went well.

    Modules, and what a plan or a graph is made of, stay: to look through these, and through all
    that the caller's program holds, again and again as they grow is a tenth of the time that
    opening a file takes.
    """
    if not gc.isenabled():
        yield
        return
    gc.collect(1)  # what is garbage before must not become old
    gc.disable()
    try:
        yield
        if gc.get_freeze_count() < _MOST_OF_PYTHON:  # else the caller's would be thawed
            gc.freeze()
            gc.unfreeze()
    finally:
        gc.enable()
