"""Typed records: the tables of a schema as Python objects.

A record has one attribute for each field of its table in tflite.fbs, or in metadata.fbs. Vectors
of numbers are read-only numpy views of the file, vectors of tables or strings are tuples, a union
is the record it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from . import tables

if TYPE_CHECKING:
    from .definition import Schema

FieldValue: TypeAlias = (
    "int | float | str | bytes | np.ndarray | Record | Sequence[FieldValue] | None"
)
"""What a field of a record holds."""


class Record:
    """Base of the classes `record` gives: attributes, equality, a repr of what is not default."""

    __slots__: tuple[str, ...] = ()
    DEFAULTS: ClassVar[dict[str, tables.Default]] = {}
    SCHEMA: ClassVar[Schema] = tables

    if TYPE_CHECKING:
        # The attributes are those of the table, each of a type that only the schema knows.

        def __getattr__(self, name: str) -> Any: ...  # pyright: ignore[reportExplicitAny]
        def __setattr__(self, name: str, value: FieldValue) -> None: ...

    def __init__(self, **fields: FieldValue) -> None:
        for name, default in self.DEFAULTS.items():
            setattr(self, name, fields.pop(name, default))
        if fields:
            name = type(self).__name__
            raise TypeError(f"{name} has {', '.join(self.DEFAULTS) or 'no fields'}; got {fields}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(same(getattr(self, n), getattr(other, n)) for n in self.__slots__)

    def __repr__(self) -> str:
        fields = [
            f"{name}={_shown(value)}"
            for name, value in ((name, getattr(self, name)) for name in self.__slots__)
            if not same(value, self.DEFAULTS[name])
        ]
        return f"{type(self).__name__}({', '.join(fields)})"

    def __reduce__(self) -> tuple[Callable[..., Record], tuple[str, dict[str, FieldValue], str]]:
        fields = {n: getattr(self, n) for n in self.__slots__}
        return _restore, (type(self).__name__, fields, self.SCHEMA.FILE_IDENTIFIER)


_RECORDS: dict[str, type[Record]] = {}
"""Classes by table: no two schemas have a table of one name."""


def record(name: str, schema: Schema = tables) -> type[Record]:
    """The class of a table of a schema: one attribute for each field, keywords with its defaults.

    >>> record("Conv2DOptions")(stride_w=2)
    Conv2DOptions(stride_w=2)
    """
    class_ = _RECORDS.get(name)
    if class_ is None:
        defaults = {field: default for field, _, default, _ in schema.TABLES[name]}
        namespace = {
            "__slots__": tuple(defaults),
            "__doc__": f"A {name} table of the schema {schema.FILE_IDENTIFIER}.",
            "SCHEMA": schema,
            "__module__": __name__,
            "DEFAULTS": defaults,
        }
        # Two threads may be here at once; both get the class of the first.
        class_ = _RECORDS.setdefault(name, type(name, (Record,), namespace))
    return class_


def options_class(op: str) -> type[Record] | None:
    """The class of a builtin operator's options; None for an operator that has none.

    >>> options_class("MEAN").__name__
    'ReducerOptions'
    """
    if op not in tables.BUILTIN_OPERATOR:
        raise ValueError(f"operator must be one of the schema's, got {op!r}")
    name = _options_names().get(op)
    return record(name) if name else None


_SHARED_OPTIONS = {
    "Conv3DOptions": ("CONV_3D_TRANSPOSE",),
    "L2NormOptions": ("L2_NORMALIZATION",),
    "MaximumMinimumOptions": ("MAXIMUM", "MINIMUM"),
    "Pool2DOptions": ("AVERAGE_POOL_2D", "L2_POOL_2D", "MAX_POOL_2D"),
    "RandomOptions": ("MULTINOMIAL", "RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM"),
    "ReducerOptions": (
        *("MEAN", "SUM", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"),
    ),
    "SequenceRNNOptions": ("UNIDIRECTIONAL_SEQUENCE_RNN",),
}
"""Operators whose options do not have the operator's own name."""


@cache
def _options_names() -> dict[str, str]:
    """Operator -> name of its options table."""
    named = {
        member.removesuffix("Options").lower(): member
        for union in ("BuiltinOptions", "BuiltinOptions2")
        for member in tables.UNIONS[union]
        if member is not None
    }
    words = {op: op.replace("_", "").lower() for op in tables.BUILTIN_OPERATOR}
    names = {op: named[word] for op, word in words.items() if word in named}
    for member, ops in _SHARED_OPTIONS.items():
        names.update(dict.fromkeys(ops, member))
    return names


def same(a: FieldValue, b: FieldValue) -> bool:
    """Whether two values of fields are equal; arrays of one type by their bytes."""
    if not (isinstance(a, np.ndarray) or isinstance(b, np.ndarray)):
        return a == b or (a != a and b != b)
    if a is None or b is None:
        return False
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.dtype.hasobject or a.shape != b.shape:
        return np.array_equal(a, b)
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def _shown(value: FieldValue) -> str:
    """A field's value for repr; of a long vector, its length."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    return repr(value.tolist()) if value.size <= 1000 else f"<{value.size} numbers>"


def _restore(name: str, fields: dict[str, FieldValue], identifier: str) -> Record:
    """The record that a pickle holds."""
    if identifier == tables.FILE_IDENTIFIER:
        return record(name)(**fields)
    from . import metadata_tables

    return record(name, metadata_tables)(**fields)
