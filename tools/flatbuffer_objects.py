"""Models as objects with the schema's names in camelCase: what flatbuffers' own classes look like.

`object_of` gives the object of a record, `record_of` takes it back. A table's class has the name of
the table and a T (`ModelT`); strings are bytes, vectors of numbers arrays, of tables lists; beside
a union stands the number of its member.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..schema import tables
from ..schema.flatbuffer import Record, record


class TableObject:
    """Base of the classes that `object_class` gives: attributes, all with their defaults."""

    def __init__(self, **fields: Any):
        for name, default in _defaults(type(self).__name__[:-1]).items():
            setattr(self, name, fields.pop(name, default))
        if fields:
            raise TypeError(f"{type(self).__name__} has no attributes {sorted(fields)}")

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{k}={v!r:.60}' for k, v in vars(self).items())})"
        )


@cache
def object_class(table: str) -> type[TableObject]:
    """The class of a table's objects, "ModelT" for "Model"."""
    return type(
        f"{table}T", (TableObject,), {"__doc__": f"A {table} table.", "__module__": __name__}
    )


def camel(name: str) -> str:
    """A field's name in camelCase.

    >>> camel("builtin_options_2")
    'builtinOptions2'
    """
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _defaults(table: str) -> dict[str, Any]:
    defaults: dict[str, Any] = {}
    for name, kind, default, _ in tables.TABLES[table]:
        if kind in tables.UNIONS:
            defaults[f"{camel(name)}Type"] = 0
        defaults[camel(name)] = default
    return defaults


def object_of(table: Record) -> Any:
    """The object of a record, and of all records in it; arrays are shared, and may be read only."""
    name = type(table).__name__
    fields: dict[str, Any] = {}
    for field, kind, *_ in tables.TABLES[name]:
        value = getattr(table, field)
        if kind in tables.UNIONS:
            member = "" if value is None else type(value).__name__
            fields[f"{camel(field)}Type"] = tables.UNIONS[kind].index(member) if member else 0
        fields[camel(field)] = _to_object(value)
    return object_class(name)(**fields)


def _to_object(value: Any) -> Any:
    if isinstance(value, Record):
        return object_of(value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    return [_to_object(x) for x in value] if isinstance(value, tuple) else value


def record_of(table: Any) -> Record:
    """The record of an object."""
    name = type(table).__name__.removesuffix("T")
    fields = {
        field: _to_record(getattr(table, camel(field)), kind)
        for field, kind, *_ in tables.TABLES[name]
    }
    return record(name)(**fields)


def _to_record(value: Any, kind: str) -> Any:
    inner = kind.strip("[]")
    if value is None:
        return None
    if inner == "string":
        return value if isinstance(value, str) else bytes(value).decode("utf-8", "surrogateescape")
    if inner in tables.TABLES or inner in tables.UNIONS:
        return tuple(map(record_of, value)) if kind != inner else record_of(value)
    return value if kind == inner else np.asarray(value, _DTYPES[inner])


_DTYPES = {
    "bool": np.bool_,
    "byte": np.int8,
    "ubyte": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
