"""Kernels that use what a Session keeps: random streams, queues, files.

    @hosted("RandomUniform")
    def random_uniform(op, state, shape):
        ...

The function takes the operation, the Session's State and the inputs as arrays, and returns one
array, or one for each output. `state.resources` is the place for what must outlive the run.
"""

from __future__ import annotations

from collections.abc import Callable

from ...schema.registry import Registry

MODULES = ("files_kernels", "random_kernels", "variable_kernels")
"""The modules that hold kernels; imported when a Session first asks."""

HOSTED: Registry[Callable] = Registry("op", __package__, MODULES)


def hosted(*types: str) -> Callable:
    """Registers the decorated kernel for op `types`."""

    def register(function):
        for kind in types:
            HOSTED.add(kind, function)
        return function

    return register
