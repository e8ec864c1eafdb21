"""Kernels that use what a Session keeps: random streams, queues, files.

    @hosted("RandomUniform")
    def random_uniform(op, state, shape):
        ...

The function takes the operation, the Session's State and the inputs as arrays, and returns one
array, or one for each output. `state.resources` is the place for what must outlive the run.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable

MODULES = ("files", "random", "variable")
"""The modules `<name>_kernels` that hold kernels; imported when a Session first asks."""

_ROWS: dict[str, Callable] = {}


def hosted(*types: str) -> Callable:
    """Registers the decorated kernel for op `types`."""

    def register(function):
        for kind in types:
            if kind in _ROWS:
                raise RuntimeError(f"op {kind} is registered twice")
            _ROWS[kind] = function
        return function

    return register


def hosted_kernel_of(kind: str) -> Callable | None:
    """The kernel of op type `kind` that needs a Session, or None."""
    _load()
    return _ROWS.get(kind)


@functools.cache
def _load() -> None:
    for module in MODULES:
        importlib.import_module(f".{module}_kernels", __package__)
