"""Rows by name: what every table of operators, gradients, lowerings and layers is."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

Row = TypeVar("Row")
Home = Callable[[str], str]
"""The module that has the row of a name, empty where none has."""


class Registry(Generic[Row]):
    """Rows by name, added by modules that are imported when a row is first asked for.

    Args:
        what: what a name is of, for messages, such as "operator".
        package: the package of the modules.
        modules: their names, all imported together; or a function that gives the module of a name,
            so that no other is imported.
    """

    def __init__(self, what: str, package: str | None, modules: Sequence[str] | Home) -> None:
        self._what, self._package, self._modules = what, package, modules
        self._rows: dict[str, Row] = {}
        self._is_complete = False

    def add(self, name: str, row: Row) -> None:
        """Adds a row; raises ValueError when there is one of that name."""
        if name in self._rows:
            raise ValueError(f"{self._what} {name} is registered twice")
        self._rows[name] = row

    def get(self, name: str) -> Row | None:
        """The row of a name, None when there is none."""
        row = self._rows.get(name)
        if row is None and not self._is_complete:
            self._import(self._modules if not callable(self._modules) else [self._modules(name)])
            row = self._rows.get(name)
        return row

    def known(self, name: str) -> Row:
        """The row of a name that must have one; raises LookupError."""
        row = self.get(name)
        if row is None:
            raise LookupError(f"{self._what} {name} is not supported")
        return row

    def names(self) -> list[str]:
        """The names with a row, sorted; not those whose module is not imported yet."""
        if not callable(self._modules):
            self._import(self._modules)
        return sorted(self._rows)

    def _import(self, modules: Iterable[str]) -> None:
        for module in filter(None, modules):
            importlib.import_module(f".{module}", self._package)
        self._is_complete = not callable(self._modules)
