"""Inputs, attributes and outputs of TensorFlow's ops, parsed one row at a time when asked for."""

from __future__ import annotations

import enum
import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from ....schema import dtypes
from .tables import rows_of

if TYPE_CHECKING:
    from ..protocols import AnyGetAttr, AttrValue, DTypeAttr

MAX_TENSORS = 65_536
"""How many tensors one argument may stand for."""


class Default(enum.Enum):
    """In the place of a default."""

    REQUIRED = "required"


REQUIRED: Final = Default.REQUIRED
"""Default of an attribute that has none."""


@dataclass(frozen=True)
class Argument:
    """One input or output of an op.

    `dtype` is the dtype, or the name of the attribute that holds it; `count` the attribute that
    says how many tensors it stands for; with `is_list` the attribute `dtype` holds one dtype for
    each tensor.
    """

    name: str
    dtype: DTypeAttr | str
    count: str | None = None
    is_list: bool = False
    is_reference: bool = False

    def dtypes(self, get_attr: AnyGetAttr) -> list[DTypeAttr]:
        """The dtypes of the tensors it stands for, where `get_attr(name)` gives the attributes."""
        if self.is_list:
            listed = list(cast("Sequence[DTypeAttr | None]", get_attr(str(self.dtype))))
            # Not `None in listed`: None == np.dtype(np.float64).
            dtypes = [dtype for dtype in listed if dtype is not None]
            if len(dtypes) < len(listed):
                raise ValueError(f"attribute {self.dtype} must hold types, got {listed}")
            return dtypes
        dtype = get_attr(self.dtype) if isinstance(self.dtype, str) else self.dtype
        if dtype is None:
            raise ValueError(f"attribute {self.dtype} must be a type, got {dtype}")
        if self.count is None:
            return [cast("DTypeAttr", dtype)] if isinstance(self.dtype, str) else [self.dtype]
        count = cast("int", get_attr(self.count))
        if not 0 <= count <= MAX_TENSORS:
            raise ValueError(f"{self.count} must be in [0, {MAX_TENSORS}], got {count}")
        return [cast("DTypeAttr", dtype)] * count


@dataclass(frozen=True)
class Attribute:
    """One attribute of an op: its kind in TensorFlow's words and its default."""

    name: str
    kind: str
    default: AttrValue | Default = REQUIRED


@dataclass(frozen=True)
class Signature:
    """What TensorFlow declares of one op."""

    type: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    attrs: dict[str, Attribute]
    is_stateful: bool

    @functools.cached_property
    def function_name(self) -> str:
        """The name of the function that TensorFlow makes for the op."""
        words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "_", self.type)
        return words.lower()

    @functools.cached_property
    def required(self) -> tuple[str, ...]:
        """The attributes without a default."""
        return tuple(name for name, attr in self.attrs.items() if attr.default is REQUIRED)

    @functools.cached_property
    def inferred(self) -> frozenset[str]:
        """The attributes that the inputs determine."""
        counts = [argument.count for argument in self.inputs if argument.count]
        dtypes = [argument.dtype for argument in self.inputs if isinstance(argument.dtype, str)]
        return frozenset((*counts, *dtypes))

    def output_dtypes(self, get_attr: AnyGetAttr) -> list[DTypeAttr]:
        """The dtypes of an operation's outputs, where `get_attr(name)` gives its attributes."""
        return [dtype for argument in self.outputs for dtype in argument.dtypes(get_attr)]

    def input_dtypes(self, get_attr: AnyGetAttr) -> list[DTypeAttr]:
        """The dtypes of an operation's inputs, where `get_attr(name)` gives its attributes."""
        return [dtype for argument in self.inputs for dtype in argument.dtypes(get_attr)]


@functools.lru_cache(1024)
def signature_of(kind: str) -> Signature | None:
    """The signature of op type `kind`, or None when the table has no such op."""
    if not kind.isidentifier():
        return None
    rows = rows_of("op_signatures")
    for prefix in ("\n", "\n!"):
        start = rows.find(f"{prefix}{kind} ")
        if start >= 0:
            return _parse(rows[start + 1 : rows.index("\n", start + 1)])
    return None


def op_types() -> list[str]:
    """All op types of the table."""
    return [row.split(" ", 1)[0].lstrip("!") for row in rows_of("op_signatures").split("\n")[1:-1]]


def _parse(row: str) -> Signature:
    arguments, _, attributes = row.partition(" ;")
    head, _, outputs = arguments.partition(" ->")
    kind, *inputs = head.split()
    attrs = {attr.name: attr for attr in map(_attribute, attributes.split())}
    return Signature(
        kind.lstrip("!"),
        tuple(_argument(text, attrs) for text in inputs),
        tuple(_argument(text, attrs) for text in outputs.split()),
        attrs,
        kind.startswith("!"),
    )


def _argument(text: str, attrs: dict[str, Attribute]) -> Argument:
    name, _, kind = text.partition(":")
    is_reference = kind.startswith("&")
    count, star, kind = kind.lstrip("&").rpartition("*")
    dtype = kind if kind in attrs else _dtype(kind)
    return Argument(name, dtype, count or None, bool(star) and not count, is_reference)


def _attribute(text: str) -> Attribute:
    declared, has_default, default = text.partition("=")
    name, _, kind = declared.partition(":")
    return Attribute(name, kind, _default(json.loads(default), kind) if has_default else REQUIRED)


def _default(value: AttrValue, kind: str) -> AttrValue:
    """A default of the table as graphs hold it: bytes, dtypes, shapes as tuples, arrays."""
    if kind.startswith("list("):
        return [_default(item, kind[5:-1]) for item in cast("list[AttrValue]", value)]
    if kind == "string":
        return cast("str", value).encode()
    if kind == "type":
        return _dtype(cast("str", value))
    if kind == "shape" and value == "?":
        return None
    if kind == "shape":
        return tuple(None if dim < 0 else dim for dim in cast("list[int]", value))
    if kind == "tensor":
        ((dtype, items),) = cast("dict[str, list[float]]", value).items()
        return np.array(items, dtype)
    return value


_ENUMS = {
    "bfloat16": 14,
    "qint8": 11,
    "quint8": 12,
    "qint32": 13,
    "qint16": 15,
    "quint16": 16,
}


def _dtype(name: str) -> np.dtype:
    """The dtype a name of the table stands for."""
    if name == "string":
        return np.dtype(object)
    if name in ("resource", "variant"):
        return dtypes.RESOURCE if name == "resource" else dtypes.VARIANT
    return dtypes.tf_dtype(_ENUMS[name]) if name in _ENUMS else np.dtype(name)
