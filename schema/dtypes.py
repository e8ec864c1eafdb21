"""numpy dtypes of the element types that TFLite files and TensorFlow graphs name by number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from . import tables

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

RESOURCE = np.dtype([("resource", "<i4")])
"""Stands for a handle of a variable or table; no array has it."""
VARIANT = np.dtype([("variant", "<i4")])
"""Stands for a value of any type, such as a TensorList; no array has it."""

_NATIVE = {
    "float32": np.dtype("<f4"),
    "float16": np.dtype("<f2"),
    "float64": np.dtype("<f8"),
    "int8": np.dtype("i1"),
    "int16": np.dtype("<i2"),
    "int32": np.dtype("<i4"),
    "int64": np.dtype("<i8"),
    "uint8": np.dtype("u1"),
    "uint16": np.dtype("<u2"),
    "uint32": np.dtype("<u4"),
    "uint64": np.dtype("<u8"),
    "bool": np.dtype("?"),
    "complex64": np.dtype("<c8"),
    "complex128": np.dtype("<c16"),
    "string": np.dtype(object),
    "resource": RESOURCE,
    "variant": VARIANT,
    "qint8": np.dtype([("qint8", "i1")]),
    "quint8": np.dtype([("quint8", "u1")]),
    "qint16": np.dtype([("qint16", "<i2")]),
    "quint16": np.dtype([("quint16", "<u2")]),
    "qint32": np.dtype([("qint32", "<i4")]),
}
_TF_NAMES = (
    *(None, "float32", "float64", "int32", "uint8", "int16", "int8", "string", "complex64"),
    *("int64", "bool", "qint8", "quint8", "qint32", "bfloat16", "qint16", "quint16", "uint16"),
    *("complex128", "float16", "resource", "variant", "uint32", "uint64", "float8_e5m2"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "int4"),
    *("uint4", "int2", "uint2", "float4_e2m1fn"),
)
"""Names by value of TensorFlow's DataType enum."""
TF_REFERENCE = 100
"""A DataType above this is a reference to the type that is as much smaller."""

_TFLITE_NAMES = tuple(name.lower() for name in tables.TENSOR_TYPE)
PACKED_BITS = {"INT4": 4, "UINT4": 4, "INT2": 2}
"""Bits an element takes in a file, of the types that share bytes there."""


def array_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of arrays of an element type while they are computed with: handles and variants are
    objects, quantized numbers the integers they are made of.
    """
    if dtype.names is None:
        return dtype
    return np.dtype(object) if dtype in (RESOURCE, VARIANT) else dtype[0]


class _TensorTypes(Mapping[str, np.dtype]):
    """TensorType name -> numpy dtype; those numpy lacks come from ml_dtypes when asked for."""

    def __getitem__(self, name: str) -> np.dtype:
        if name not in tables.TENSOR_TYPE:
            raise KeyError(name)
        return _dtype(name.lower())

    def __iter__(self) -> Iterator[str]:
        return iter(tables.TENSOR_TYPE)

    def __len__(self) -> int:
        return len(tables.TENSOR_TYPE)


TENSOR_TYPES: Mapping[str, np.dtype] = _TensorTypes()


@cache
def numpy_dtype(tensor_type: int) -> np.dtype:
    """The dtype of a TFLite TensorType; strings are objects.

    >>> numpy_dtype(9)
    dtype('int8')
    """
    if not 0 <= tensor_type < len(_TFLITE_NAMES):
        raise ValueError(f"tensor type must be in [0, {len(_TFLITE_NAMES)}), got {tensor_type}")
    return _dtype(_TFLITE_NAMES[tensor_type])


def tensor_type(dtype: DTypeLike) -> int:
    """The TFLite TensorType of a dtype, or of anything np.dtype() takes.

    >>> tensor_type("float32"), tensor_type(object)
    (0, 5)
    """
    name = _name(dtype)
    if name not in _TFLITE_NAMES:
        raise ValueError(f"dtype must be one TFLite has, got {dtype}")
    return _TFLITE_NAMES.index(name)


def tf_dtype(enum: int) -> np.dtype:
    """The dtype of a TensorFlow DataType; a reference type gives that of what it refers to.

    >>> tf_dtype(1), tf_dtype(101)
    (dtype('float32'), dtype('float32'))
    """
    value = enum - TF_REFERENCE if enum > TF_REFERENCE else enum
    if not is_tf_enum(enum):
        raise ValueError(f"DataType must be in [1, {len(_TF_NAMES)}), got {enum}")
    return _dtype(_TF_NAMES[value])


def is_tf_enum(number: int) -> bool:
    """Whether a number is one of TensorFlow's DataTypes, or of references to them.

    >>> is_tf_enum(1), is_tf_enum(101), is_tf_enum(0)
    (True, True, False)
    """
    value = number - TF_REFERENCE if number > TF_REFERENCE else number
    return 0 < value < len(_TF_NAMES)


def tf_enum(dtype: DTypeLike) -> int:
    """The TensorFlow DataType of a dtype, or of anything np.dtype() takes.

    >>> tf_enum("int64")
    9
    """
    name = _name(dtype)
    if name not in _TF_NAMES:
        raise ValueError(f"dtype must be one TensorFlow has, got {dtype}")
    return _TF_NAMES.index(name)


def tf_enum_of_name(name: str) -> int:
    """The TensorFlow DataType called `name`; ValueError when there is none.

    >>> tf_enum_of_name("string")
    7
    """
    if name not in _TF_NAMES:
        raise ValueError(f"dtype must be one TensorFlow has, got {name!r}")
    return _TF_NAMES.index(name)


def tf_name(dtype: DTypeLike) -> str:
    """A dtype as TensorFlow writes it.

    >>> tf_name(object), tf_name("float32")
    ('string', 'float32')
    """
    return _name(dtype)


@cache
def _dtype(name: str) -> np.dtype:
    """The dtype with this name of ours."""
    dtype = _NATIVE.get(name)
    if dtype is None:
        import ml_dtypes

        dtype = np.dtype(getattr(ml_dtypes, name))
    return dtype


def _name(dtype: DTypeLike) -> str:
    """The name of ours for a dtype."""
    dtype = np.dtype(dtype)
    if dtype.kind in "OSUT":
        return "string"
    return dtype.names[0] if dtype.names and len(dtype.names) == 1 else dtype.name


def unpacked(data: np.ndarray, bits: int, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Elements of `bits` bits, the low ones of a byte first, as one element for each byte."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    fields = (data[:, None] >> shifts) & ((1 << bits) - 1)
    fields = fields.reshape(-1)[: prod(shape)].astype(np.int8)
    if dtype.name.startswith("int"):
        sign = 1 << (bits - 1)
        fields = (fields ^ sign) - sign
    return fields.astype(dtype).reshape(shape)
