"""The tables of a schema as lines of text, each read when it is first asked for.

A file needs a few of them, and most of the time of importing them all went into making tuples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

Default = int | float | bool | None
"""What a field holds that a file leaves out; None for what is not a scalar."""
Field = tuple[str, str, Default, int]
"""name, type, default, slot"""

_WORDS: dict[str, Default] = {"": None, "False": False, "True": True}


class Rows(Mapping[str, tuple[Field, ...]]):
    """Table -> its fields, of a text with a line for each table.

    >>> Rows("AddOptions fused_activation_function:ActivationFunctionType:0=0")["AddOptions"]
    (('fused_activation_function', 'ActivationFunctionType', 0, 0),)
    """

    def __init__(self, text: str) -> None:
        rows = (line.partition(" ") for line in text.split("\n") if line)
        self._rows = {name: fields for name, _, fields in rows}
        self._fields: dict[str, tuple[Field, ...]] = {}

    def __getitem__(self, table: str) -> tuple[Field, ...]:
        fields = self._fields.get(table)
        if fields is None:
            fields = self._fields[table] = tuple(map(_field, self._rows[table].split()))
        return fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, table: object) -> bool:
        return table in self._rows


def row_of(table: str, fields: tuple[Field, ...]) -> str:
    """The line of a table."""
    words = [
        f"{name}:{type_}:{slot}={'' if default is None else default}"
        for name, type_, default, slot in fields
    ]
    return " ".join([table, *words])


def _field(word: str) -> Field:
    declared, _, default = word.partition("=")
    name, type_, slot = declared.split(":")
    value = _WORDS[default] if default in _WORDS else _number(default)
    return name, type_, value, int(slot)


def _number(text: str) -> float:
    return float(text) if "." in text or "e" in text else int(text)
