"""What a schema is to those who read and write by it: a module that generate.py has made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from .tables import Field


class Schema(Protocol):
    """tables.py or metadata_tables.py; each says what its names hold."""

    @property
    def FILE_IDENTIFIER(self) -> str:
        """The four letters that a file has at byte 4."""
        ...

    @property
    def ROOT_TYPE(self) -> str:
        """The table of a whole file."""
        ...

    @property
    def ENUMS(self) -> Mapping[str, Mapping[str, int]]:
        """Enum -> {member: value}."""
        ...

    @property
    def ENUM_TYPES(self) -> Mapping[str, str]:
        """Enum -> the scalar type of its fields."""
        ...

    @property
    def UNIONS(self) -> Mapping[str, tuple[str | None, ...]]:
        """Union -> its member tables."""
        ...

    @property
    def TABLES(self) -> Mapping[str, tuple[Field, ...]]:
        """Table -> its fields."""
        ...

    @property
    def ALIGNMENT(self) -> Mapping[tuple[str, str], int]:
        """(table, field) -> bytes its vector is aligned to."""
        ...

    def name_of(self, enum: str, value: int) -> str:
        """The member of `enum` that has `value`."""
        ...
