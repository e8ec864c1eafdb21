"""Which function writes each StableHLO operation as TF operations."""

from __future__ import annotations

from collections.abc import Callable

from ...schema.registry import Registry

WRITERS: Registry[Callable] = Registry(
    "StableHLO operation",
    __package__,
    ("control", "elementwise", "linear_algebra", "moves", "products", "random"),
)
"""Name of an operation -> `write(op, w)`, which gives its result or a list of them."""


def writes(*names: str) -> Callable[[Callable], Callable]:
    """Registers the decorated function for operations of these names."""

    def register(function: Callable) -> Callable:
        for name in names:
            WRITERS.add(name, function)
        return function

    return register
