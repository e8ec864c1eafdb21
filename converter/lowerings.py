"""The lowerings of one kind of source: which function makes TFLite operators of which operation."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence


class Lowerings:
    """Functions by operation type; their modules are imported when one is first asked for.

    Args:
        package: The package with the modules.
        families: Their names.
    """

    def __init__(self, package: str | None, families: Sequence[str]) -> None:
        self.functions: dict[str, Callable] = {}
        self._package, self._families = package, families
        self._imported = False

    def lower(self, *types: str) -> Callable:
        """Registers a function `(node, b) -> tensor or tuple of tensors` for operation types.

        `b` is the Builder; the tensors returned are the operation's outputs, in order.
        """

        def register(function: Callable) -> Callable:
            for type_ in types:
                if type_ in self.functions:
                    raise ValueError(f"two lowerings are registered for {type_}")
                self.functions[type_] = function
            return function

        return register

    def lower_rows(self, rows: dict[str, str]) -> None:
        """Registers operations that become one builtin of the same inputs and default options."""
        for type_, kind in rows.items():
            self.lower(type_)(lambda node, b, kind=kind: getattr(b, kind)(*node.inputs))

    def lowering_of(self, type_: str) -> Callable | None:
        """The lowering of an operation type, None when there is none."""
        if not self._imported:
            for family in self._families:
                importlib.import_module(f".{family}", self._package)
            self._imported = True
        return self.functions.get(type_)
