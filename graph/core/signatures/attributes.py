"""Attribute values of nodes: AttrValue messages to Python and back.

bytes int float bool   as they are          list(...)   a list of one kind
type                   np.dtype             tensor      a read-only array
shape                  tuple, None inside for an unknown size, or None for an unknown rank
func                   FunctionRef          placeholder FunctionAttr, in function bodies only
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ....schema import dtypes, proto
from ....schema.errors import ModelError
from ...format import tensor_proto
from ...format.tensor_proto import TensorReader
from ..dtype import DType
from ..shapes import MAX_RANK, Shape

if TYPE_CHECKING:
    from ...format.messages import (
        AttrValueMessage,
        ListValue,
        NameAttrList,
        Repeated,
        TensorProto,
        TensorShapeProto,
    )
    from ..protocols import AttrValue, DTypeAttr

    Item: TypeAlias = bytes | float | TensorShapeProto | TensorProto | NameAttrList

MAX_FUNCTION_DEPTH = 100
"""How deep functions may be nested in the attributes of functions."""

_KINDS = {
    "s": "string",
    "i": "int",
    "f": "float",
    "b": "bool",
    "type": "type",
    "shape": "shape",
    "tensor": "tensor",
    "func": "func",
}
_FIELDS = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True)
class FunctionRef:
    """A function of the library, with the attributes it is called with."""

    name: str
    attrs: Mapping[str, AttrValue] = field(default_factory=dict[str, "AttrValue"], hash=False)


@dataclass(frozen=True)
class FunctionAttr:
    """In a function's body: the attribute `name` of the call stands here."""

    name: str


def read_shape(message: TensorShapeProto) -> Shape:
    """The shape a TensorShapeProto stands for; any negative size is unknown."""
    if message.unknown_rank:
        return None
    if len(message.dim) > MAX_RANK:
        raise ModelError(f"rank must be <= {MAX_RANK}, got {len(message.dim)}")
    return tuple(None if dim.size < 0 else dim.size for dim in message.dim)


class AttributeReader:
    """Reads the attributes of one graph's nodes."""

    def __init__(self, tensors: TensorReader | None = None):
        self.tensors = tensors or TensorReader()

    def read(
        self, message: AttrValueMessage, kind: str | None, where: str, depth: int = 0
    ) -> AttrValue:
        """The value of an AttrValue; ModelError naming `where` when it is not of `kind`."""
        which = message.WhichOneof("value")
        if which == "placeholder":
            return FunctionAttr(message.placeholder)
        actual = "list" if which == "list" else _KINDS.get(which or "")
        expected = "list" if kind and kind.startswith("list(") else kind
        if kind and actual != expected:
            raise ModelError(f"{where} must be of kind {kind}, got {actual}")
        if which is None:
            return None
        if which != "list":
            return self._item(getattr(message, which), _KINDS[which], where, depth)
        name, items = self._list(message.list, kind, where)
        return [self._item(item, name, where, depth) for item in items]

    def _list(self, message: ListValue, kind: str | None, where: str) -> tuple[str, Repeated[Item]]:
        """The kind and the items of a list."""
        filled = [name.name for name, _ in message.ListFields()]
        if len(filled) > 1:
            raise ModelError(f"{where} must be a list of one kind, got {', '.join(filled)}")
        name = _FIELDS[kind[5:-1]] if kind else (filled or ["i"])[0]
        if filled and filled[0] != name:
            raise ModelError(f"{where} must be of kind {kind}, got list({_KINDS[filled[0]]})")
        return _KINDS[name], getattr(message, name)

    def _item(self, value: Item, kind: str, where: str, depth: int) -> AttrValue:
        """One value of a kind that is not a list."""
        try:
            if kind == "type":
                return dtypes.tf_dtype(cast("int", value)) if value else None
            if kind == "shape":
                return read_shape(cast("TensorShapeProto", value))
        except ValueError as error:
            raise ModelError(f"{where}: {error}") from None
        if kind == "tensor":
            return self.tensors.read(cast("TensorProto", value), where)
        if kind == "func":
            if depth > MAX_FUNCTION_DEPTH:
                raise ModelError(f"{where}: functions are nested more than {depth - 1} deep")
            function = cast("NameAttrList", value)
            attrs = {
                name: self.read(
                    item, None, f"{where} of '{function.name}', attribute {name}", depth + 1
                )
                for name, item in sorted(function.attr.items())
            }
            return FunctionRef(function.name, attrs)
        return cast("bytes | float", value)


def write(value: AttrValue, kind: str | None = None) -> AttrValueMessage:
    """The AttrValue of a Python value; `kind` tells an empty list's or a number's kind."""
    message = cast("AttrValueMessage", proto.AttrValue())
    if (kind and kind.startswith("list(")) or isinstance(value, list):
        message.list.SetInParent()
        for item in cast("Sequence[AttrValue]", value):
            name = kind[5:-1] if kind else _kind_of(item)
            _write_item(getattr(message.list, _FIELDS[name]), item, name)
    elif isinstance(value, FunctionAttr):
        message.placeholder = value.name
    else:
        _write_single(message, value, kind or _kind_of(value))
    return message


def _kind_of(value: AttrValue) -> str:
    """The kind of a value whose attribute is not in any signature."""
    for types, kind in _PYTHON_KINDS:
        if isinstance(value, types):
            return kind
    raise TypeError(f"an attribute cannot be a {type(value).__name__}: {value!r}")


_PYTHON_KINDS = (
    (bool, "bool"),
    (int, "int"),
    (float, "float"),
    ((bytes, str), "string"),
    ((np.dtype, DType), "type"),
    ((tuple, type(None)), "shape"),
    (np.ndarray, "tensor"),
    (FunctionRef, "func"),
)


def _write_single(message: AttrValueMessage, value: AttrValue, kind: str) -> None:
    if kind in ("int", "float", "bool", "string", "type"):
        setattr(message, _FIELDS[kind], _plain(value, kind))
    else:
        getattr(message, _FIELDS[kind]).CopyFrom(_message(value, kind))


def _write_item(items: Repeated[Item], value: AttrValue, kind: str) -> None:
    plain = kind in ("int", "float", "bool", "string", "type")
    items.append(_plain(value, kind) if plain else _message(value, kind))


def _plain(value: AttrValue, kind: str) -> bytes | float:
    if kind == "type":
        return 0 if value is None else dtypes.tf_enum(cast("DTypeAttr", value))
    return value.encode() if isinstance(value, str) else cast("bytes | float", value)


def _message(value: AttrValue, kind: str) -> TensorProto | NameAttrList | TensorShapeProto:
    if kind == "tensor":
        return tensor_proto.write(cast("np.ndarray", value))
    if kind == "func":
        function = cast("FunctionRef", value)
        attrs = {name: write(item) for name, item in function.attrs.items()}
        return cast("NameAttrList", proto.NameAttrList(name=function.name, attr=attrs))
    sizes = cast("Shape", value)
    shape = cast("TensorShapeProto", proto.TensorShapeProto(unknown_rank=sizes is None))
    for size in sizes or ():
        shape.dim.add(size=-1 if size is None else size)
    return shape
