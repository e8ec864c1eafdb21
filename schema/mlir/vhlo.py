"""Types and attributes of the VHLO dialect, as its bytecode has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Protocol

import ml_dtypes
import numpy as np

from .cursor import Cursor
from .module import Attribute, Enum, FunctionType, OtherType, TensorType, Type, Unread

MAX_ELEMENTS = 1 << 31
UNKNOWN_SIZE = -(1 << 63)

ELEMENTS = {
    0: "bool",
    2: "bf16",
    3: "f16",
    4: "f32",
    5: "f64",
    6: "f8E4M3FN",
    7: "f8E5M2",
    9: "index",
    10: "si4",
    11: "si8",
    12: "si16",
    13: "si32",
    14: "si64",
    15: "ui4",
    16: "ui8",
    17: "ui16",
    18: "ui32",
    19: "ui64",
    27: "f8E4M3FNUZ",
    28: "f8E5M2FNUZ",
    29: "f8E4M3B11FNUZ",
    31: "si2",
    32: "ui2",
    34: "tf32",
    35: "f8E4M3",
    36: "f8E3M4",
    37: "f4E2M1FN",
    38: "f6E2M3FN",
    39: "f6E3M2FN",
    40: "f8E8M0FNU",
}
"""Code of an element type -> its name."""
OTHERS = {22: "token", 26: "witness", 33: "none"}
"""Codes of types of which nothing more is written."""
DTYPES = {
    "bool": np.dtype(np.bool_),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype("<f2"),
    "f32": np.dtype("<f4"),
    "f64": np.dtype("<f8"),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "index": np.dtype("<i8"),
    "si4": np.dtype(ml_dtypes.int4),
    "ui4": np.dtype(ml_dtypes.uint4),
    "complex<f32>": np.dtype("<c8"),
    "complex<f64>": np.dtype("<c16"),
    **{
        f"{sign}i{n}": np.dtype(f"<{k}{n // 8}")
        for sign, k in (("s", "i"), ("u", "u"))
        for n in (8, 16, 32, 64)
    },
}
"""Name of an element type -> its dtype, little-endian."""


class Tables(Protocol):
    """What a file has beside the bytes that are read."""

    def string(self, cursor: Cursor) -> str:
        """The string whose number comes next."""
        ...

    def type(self, cursor: Cursor) -> Type:
        """The type whose number comes next."""
        ...

    def attribute(self, cursor: Cursor) -> Attribute:
        """The attribute whose number comes next."""
        ...

    def dictionary(self, cursor: Cursor) -> Mapping[str, Attribute]:
        """Names and attributes."""
        ...


def dtype_of(element: str) -> np.dtype | None:
    """The dtype of an element type; None for one that arrays cannot have."""
    return DTYPES.get(element)


def read_type(cursor: Cursor, tables: Tables) -> Type:
    """The type that an entry of the table of types has."""
    code = cursor.number()
    if code in ELEMENTS:
        return OtherType(ELEMENTS[code])
    if code in OTHERS:
        return OtherType(OTHERS[code])
    reader = TYPES.get(code)
    if reader is None:
        raise cursor.error(f"must have types of VHLO, got code {code}")
    return reader(cursor, tables)


def read_attribute(cursor: Cursor, tables: Tables) -> Attribute:
    """The attribute that an entry of the table of attributes has."""
    code = cursor.number()
    if code in ENUMS:
        return Enum(ENUMS[code], cursor.number())
    reader = ATTRIBUTES.get(code)
    return Unread(f"vhlo {code}") if reader is None else reader(cursor, tables)


def _types(cursor: Cursor, tables: Tables) -> tuple[Type, ...]:
    return tuple(tables.type(cursor) for _ in range(cursor.count()))


def _element(cursor: Cursor, tables: Tables) -> str:
    element = tables.type(cursor)
    if not isinstance(element, OtherType):
        raise cursor.error(f"must have an element type, got {element}")
    return element.name


def _complex(cursor: Cursor, tables: Tables) -> Type:
    return OtherType(f"complex<{_element(cursor, tables)}>")


def _function(cursor: Cursor, tables: Tables) -> Type:
    return FunctionType(_types(cursor, tables), _types(cursor, tables))


def _tensor(cursor: Cursor, tables: Tables) -> Type:
    sizes: list[int | None] = []
    for size in cursor.signed_numbers():
        if size < 0 and size != UNKNOWN_SIZE:
            raise cursor.error(f"must have sizes from 0, got {size}")
        sizes.append(None if size < 0 else size)
    return TensorType(_element(cursor, tables), tuple(sizes))


def _bounded_tensor(cursor: Cursor, tables: Tables) -> Type:
    tables.attribute(cursor)
    return _tensor(cursor, tables)


def _unranked(cursor: Cursor, tables: Tables) -> Type:
    return TensorType(_element(cursor, tables), None)


def _tuple(cursor: Cursor, tables: Tables) -> Type:
    _types(cursor, tables)
    return OtherType("tuple")


TYPES: dict[int, Callable[[Cursor, Tables], Type]] = {
    1: _complex,
    8: _function,
    20: _tensor,
    21: _bounded_tensor,
    23: _tuple,
    24: lambda _cursor, _tables: OtherType("quantized"),
    25: _unranked,
    30: lambda _cursor, _tables: OtherType("quantized"),
    41: lambda _cursor, _tables: OtherType("buffer"),
    42: lambda _cursor, _tables: OtherType("future"),
}
"""Code of a type -> what reads it."""


def _boolean(cursor: Cursor, _tables: Tables) -> Attribute:
    return bool(cursor.number())


def _float(cursor: Cursor, tables: Tables) -> Attribute:
    dtype = dtype_of(_element(cursor, tables))
    if dtype is None or dtype.kind not in "fV":
        raise cursor.error(f"must have a number of a float type, got {dtype}")
    bits = cursor.integer(8 * dtype.itemsize, False)
    return float(np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype)[0])


def _integer(cursor: Cursor, tables: Tables) -> Attribute:
    element = _element(cursor, tables)
    bits = 64 if element == "index" else int(element[2:]) if element[1:2] == "i" else 0
    if element[:1] not in "siu" or not bits:
        raise cursor.error(f"must have a number of an integer type, got {element}")
    return cursor.integer(bits, element[0] != "u")


def _string(cursor: Cursor, tables: Tables) -> Attribute:
    return tables.string(cursor)


def _array(cursor: Cursor, tables: Tables) -> Attribute:
    return tuple(tables.attribute(cursor) for _ in range(cursor.count()))


def _dictionary(cursor: Cursor, tables: Tables) -> Attribute:
    return tables.dictionary(cursor)


def _type(cursor: Cursor, tables: Tables) -> Attribute:
    return tables.type(cursor)


def _constant(cursor: Cursor, tables: Tables) -> Attribute:
    """An array; one of equal elements is a view of one number."""
    type_, blob = tables.type(cursor), cursor.blob(cursor.number())
    if not isinstance(type_, TensorType) or type_.shape is None:
        raise cursor.error(f"must have constants of a tensor type, got {type_}")
    dtype = dtype_of(type_.element)
    if dtype is None:
        return Unread(f"constant of {type_.element}")
    shape = tuple(n for n in type_.shape if n is not None)
    count = prod(shape)
    if len(shape) < len(type_.shape) or count > MAX_ELEMENTS:
        raise cursor.error(f"must have constants of up to 2**31 elements, got {type_.shape}")
    if dtype == np.bool_:
        blob = _unpacked(blob, count)
    if len(blob) == dtype.itemsize and count:
        return np.broadcast_to(np.frombuffer(blob, dtype)[0], shape)
    if len(blob) != count * dtype.itemsize:
        raise cursor.error(
            f"must have {count * dtype.itemsize} bytes for {type_.element}{list(shape)}, got "
            f"{len(blob)}"
        )
    return np.frombuffer(blob, dtype).reshape(shape)


def _unpacked(blob: memoryview, count: int) -> memoryview:
    """Booleans as bytes of 0 and 1; they are written as bits, one byte for equal ones."""
    if len(blob) == 1 and blob[0] in (0, 0xFF):
        return memoryview(bytes([blob[0] & 1]))
    if len(blob) == -(-count // 8) and len(blob) != count:
        bits = np.unpackbits(np.frombuffer(blob, np.uint8), count=count, bitorder="little")
        return memoryview(bits.tobytes())
    return memoryview(bytes(byte & 1 for byte in blob))


ENUMS = {
    3: "comparison_direction",
    4: "comparison_type",
    5: "api_version",
    7: "fft_type",
    11: "precision",
    12: "rng_algorithm",
    13: "rng_distribution",
    16: "transpose",
    19: "result_accuracy",
}
"""Code of an attribute that is a number of an enumeration -> which."""
ATTRIBUTES: dict[int, Callable[[Cursor, Tables], Attribute]] = {
    1: _array,
    2: _boolean,
    6: _dictionary,
    8: _float,
    9: _integer,
    14: _string,
    15: _constant,
    17: _type,
}
"""Code of an attribute -> what reads it."""
