"""Rows by name: what every table of operators, gradients, lowerings and layers is."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from .named_tuple import Generic, TypeVar

Row = TypeVar("Row")
Home = Callable[[str], str]
"""The module that has the row of a name, empty where none has."""


class Homes:
    """The module that has the row of each name, by a text with a line for each module.

        activation: Elu Relu Relu6

    Such a text is written by tests/write_homes.py.
    """

    def __init__(self, text: str) -> None:
        self._names = dict(line.split(": ") for line in text.split("\n") if line)
        self._module_of: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """The module of a name, empty where the text has none."""
        if not self._module_of:
            for module, names in self._names.items():
                self._module_of.update(dict.fromkeys(names.split(" "), module))
        return self._module_of.get(name, "")

    @property
    def modules(self) -> list[str]:
        """All modules."""
        return [*self._names]


class Registry(Generic[Row]):
    """Rows by name, added by modules that are imported when a row is first asked for.

    Args:
        what: what a name is of, for messages, such as "operator".
        package: the package of the modules.
        modules: their names, all imported together; or a function that gives the module of a name,
            so that no other is imported; or Homes, by which the others are imported for a name that
            they do not have.
    """

    def __init__(
        self, what: str, package: str | None, modules: Sequence[str] | Home | Homes
    ) -> None:
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
            if callable(self._modules):
                self._import(self._modules(name))
                row = self._rows.get(name)
            if row is None:
                self._import_all()
                row = self._rows.get(name)
        return row

    def known(self, name: str) -> Row:
        """The row of a name that must have one; raises LookupError."""
        row = self.get(name)
        if row is None:
            raise LookupError(f"{self._what} {name} is not supported")
        return row

    def names(self) -> list[str]:
        """The names with a row, sorted.

        Where a function says which module has a name, not those whose module is not imported yet.
        """
        self._import_all()
        return sorted(self._rows)

    def _import_all(self) -> None:
        """Imports every module that is known of; a name without a row then has none."""
        modules = self._modules
        if isinstance(modules, Homes):
            modules = modules.modules
        if not callable(modules):
            self._import(*modules)
            self._is_complete = True

    def _import(self, *modules: str) -> None:
        for module in filter(None, modules):
            importlib.import_module(f".{module}", self._package)
