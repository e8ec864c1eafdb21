"""What stands for a variable in sets and dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .variables import Variable


class VariableReference:
    """Stands for a variable where it is compared by identity."""

    def __init__(self, variable: Variable):
        self._variable = variable

    def deref(self) -> Variable:
        """The variable."""
        return self._variable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VariableReference) and other._variable is self._variable

    def __hash__(self) -> int:
        return id(self._variable)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._variable!r}>"
