"""The attributes of an op that is called, as graphs hold them, or TensorFlow's errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ....schema import dtypes
from ..dtype import DType, as_numpy
from ..tensor_shape import TensorShape, as_shape
from ..text import real_types
from .op_limits import allowed_types, attribute_limit
from .signatures import REQUIRED

if TYPE_CHECKING:
    from ..protocols import AttrValue
    from ..typing import DTypeLike, ShapeLike
    from .signatures import Signature

    Maker: TypeAlias = Callable[[object], object]


def _integer(value: object) -> int:
    if isinstance(value, (str, bytes)):
        raise TypeError
    return int(cast("int", value))


def _number(value: object) -> object:
    if not isinstance(value, real_types):
        raise TypeError
    return cast("object", value)


def _flag(value: object) -> bool:
    if value is not True and value is not False and type(value) is not np.bool_:
        raise TypeError
    return bool(value)


def _text(value: object) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if not isinstance(value, bytes):
        raise TypeError
    return value


def _type(value: object) -> np.dtype:
    if isinstance(value, (np.ndarray, np.generic)):
        return cast("np.ndarray", value).dtype
    if not isinstance(value, (np.dtype, DType, str, bytes, type)):
        raise TypeError
    return as_numpy(cast("DTypeLike", value))


def _shape(value: object) -> object:
    if isinstance(value, int):
        return (int(value),)
    is_listed = isinstance(value, (list, TensorShape))
    return as_shape(cast("ShapeLike", value)) if is_listed else value


_MAKERS: dict[str, tuple[str, Maker]] = {
    "int": ("int", _integer),
    "float": ("float", _number),
    "bool": ("bool", _flag),
    "string": ("string", _text),
    "type": ("DataType", _type),
    "shape": ("TensorShape", _shape),
}


def checked_attrs(signature: Signature, attrs: Mapping[str, AttrValue]) -> dict[str, AttrValue]:
    """`attrs` in the kinds that the op declares: dtypes of numpy, bytes, Python's numbers.

    None stands for an attribute's default.

    Raises:
        TypeError: "Expected int for argument 'k' not ...": a value is of another kind.
    """
    return {
        name: _checked(signature, name, value)
        for name, value in attrs.items()
        if value is not None or not _has_default(signature, name)
    }


def _has_default(signature: Signature, name: str) -> bool:
    return name in signature.attrs and signature.attrs[name].default is not REQUIRED


def _checked(signature: Signature, name: str, value: AttrValue) -> AttrValue:
    if name not in signature.attrs:
        return value.encode() if isinstance(value, str) else value
    kind = signature.attrs[name].kind
    item = kind.removeprefix("list(").removesuffix(")")
    if item not in _MAKERS:
        return value
    if item == kind:
        return attribute_value(name, kind, value)
    is_listed = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim)
    if not is_listed:
        function = signature.function_name
        raise TypeError(f"Expected list for '{name}' argument to '{function}' Op, not {value!r}.")
    items = [attribute_value(name, item, element) for element in cast("Sequence[AttrValue]", value)]
    return cast("AttrValue", items)


def int_value(name: str, value: object) -> int:
    """An integer; TypeError in TensorFlow's words for an attribute `name` that is none."""
    return cast("int", attribute_value(name, "int", cast("AttrValue", value)))


def attribute_value(name: str, kind: str, value: AttrValue) -> AttrValue:
    """A value of an attribute as graphs hold it; see `checked_attrs`."""
    words, make = _MAKERS[kind]
    try:
        return cast("AttrValue", make(value))
    except (TypeError, ValueError, OverflowError, NotImplementedError):  # the last of tensors
        raise TypeError(f"Expected {words} for argument '{name}' not {value!r}.") from None


def require_limits(signature: Signature, attrs: Mapping[str, AttrValue]) -> None:
    """Raises TensorFlow's errors for attributes outside what the op allows.

    Types that inputs have are checked with these.
    """
    of_inputs = {argument.dtype for argument in signature.inputs}
    for name, value in attrs.items():
        declared = signature.attrs.get(name)
        if declared is None:
            continue
        if declared.kind == "type":
            if name not in of_inputs:
                _require_type(signature.type, name, value)
            continue
        limit = attribute_limit(signature.type, name)
        place = f"Attr '{name}' of '{signature.type}' Op passed"
        if isinstance(limit, list):
            text = cast("bytes", value).decode()
            if text not in limit:
                allowed = '", "'.join(limit)
                raise ValueError(f"{place} string '{text}' not in: \"{allowed}\".")
        elif limit is not None and isinstance(value, list) and len(value) < limit:
            raise ValueError(f"{place} list of length {len(value)} less than minimum {limit}.")
        elif limit is not None and isinstance(value, int) and value < limit:
            raise ValueError(f"{place} {value} less than minimum {limit}.")


def _require_type(kind: str, name: str, value: AttrValue) -> None:
    names = allowed_types(kind, name)
    if names is None or value is None:
        return
    actual = dtypes.tf_name(cast("np.dtype", value))
    if actual not in names:
        raise TypeError(
            f"Value passed to parameter '{name}' has DataType {actual} not in list of allowed "
            f"values: {', '.join(names)}"
        )
