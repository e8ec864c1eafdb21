"""What stands for a tensor or variable in sets and dicts."""

from __future__ import annotations

from typing import Generic, TypeVar, cast

Referred = TypeVar("Referred")


class Reference(Generic[Referred]):
    """Stands for an object where it is compared by identity."""

    def __init__(self, value: Referred):
        self._value = value

    def deref(self) -> Referred:
        """The object."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Reference) and cast("Reference[object]", other)._value is self._value
        )

    def __hash__(self) -> int:
        return id(self._value)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._value!r}>"
