"""Which function makes TFLite operators of which operation of a source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...schema.registry import Homes as Homes
from ...schema.registry import Registry

Lowering = Callable[..., Any]
"""`(node, b) -> tensor or tuple of tensors`: `b` is the Builder, the tensors returned are the
operation's outputs, in order."""


class Lowerings(Registry[Lowering]):
    """The lowerings of one kind of source, by operation type."""

    def lower(self, *types: str) -> Callable[[Lowering], Lowering]:
        """Registers the decorated function for operation types."""

        def register(function: Lowering) -> Lowering:
            for type_ in types:
                self.add(type_, function)
            return function

        return register

    def lower_rows(self, rows: Mapping[str, str]) -> None:
        """Registers operations that become one builtin of the same inputs and default options."""
        for type_, kind in rows.items():
            self.add(type_, lambda node, b, kind=kind: b.op(kind, *node.inputs))
