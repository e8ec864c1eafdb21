"""Which function writes each StableHLO operation as TF operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ...schema.registry import Registry

if TYPE_CHECKING:
    from ...schema.mlir.module import Operation
    from ..core.graph import Tensor
    from .writer import Writer

Results: TypeAlias = "Tensor | Sequence[Tensor]"
Write: TypeAlias = "Callable[[Operation, Writer], Results]"
"""`write(op, w)` gives the result of an operation or a list of them."""
WRITERS: Registry[Write] = Registry(
    "StableHLO operation",
    __package__,
    ("control", "elementwise", "linear_algebra", "moves", "products", "random"),
)
"""By the name of an operation."""


def writes(*names: str) -> Callable[[Write], Write]:
    """Registers the decorated function for operations of these names."""

    def register(function: Write) -> Write:
        for name in names:
            WRITERS.add(name, function)
        return function

    return register
