"""TensorProto to numpy and back.

A TensorProto of a few bytes may declare any shape: the last value it holds stands for all that
follow. One value for a whole tensor becomes a view without memory of its own; several are written
out only as far as the reader's budget goes.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema import dtypes, proto
from ...schema.errors import ModelError

if TYPE_CHECKING:
    from . import messages

MAX_ELEMENTS = 2**31 - 1
MAX_RANK = 32
EXPANSION_BYTES = 64 << 20
"""What all constants of one graph may take beyond the bytes that the file holds of them."""

_INT_FIELDS = ("int32", "int16", "int8", "uint8", "uint16", "int4", "uint4", "int2", "uint2")
_VALUE_FIELDS: dict[str, str] = {
    **dict.fromkeys((*_INT_FIELDS, "qint8", "quint8", "qint16", "quint16", "qint32"), "int_val"),
    "float32": "float_val",
    "float64": "double_val",
    "float16": "half_val",
    "bfloat16": "half_val",
    "int64": "int64_val",
    "bool": "bool_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
    "object": "string_val",
}
"""The field that holds the elements of each dtype, one by one."""
_PARTS = {"complex64": np.dtype("<f4"), "complex128": np.dtype("<f8")}
_BITS = {"float16": np.dtype("<u2"), "bfloat16": np.dtype("<u2")}


class TensorReader:
    """Reads the constants of one graph; `budget` bounds what repeated values may expand to."""

    def __init__(self, budget: int = EXPANSION_BYTES):
        self.budget = budget

    def read(self, message: messages.TensorProto, where: str) -> np.ndarray:
        """The read-only array a TensorProto stands for; ModelError naming `where` if wrong."""
        try:
            dtype = dtypes.tf_dtype(message.dtype)
        except ValueError as error:
            raise ModelError(f"{where}: {error}") from None
        if dtype in (dtypes.RESOURCE, dtypes.VARIANT):
            raise ModelError(f"{where}: a constant cannot be a resource or variant")
        shape = _read_shape(message, where)
        array = self._elements(message, dtype, prod(shape), where)
        array = array.reshape(shape) if array.size == prod(shape) else np.broadcast_to(array, shape)
        array.flags.writeable = False
        return array

    def _elements(
        self, message: messages.TensorProto, dtype: np.dtype, size: int, where: str
    ) -> np.ndarray:
        """The elements in a row; a single one may stand for all of them."""
        content = message.tensor_content
        if content and dtype.kind == "O":
            return _strings(content, size, where)
        if content:
            if len(content) != size * dtype.itemsize:
                raise ModelError(
                    f"{where}: tensor_content must have {size * dtype.itemsize} bytes "
                    f"for {size} x {dtype}, got {len(content)}"
                )
            if dtype.kind == "b":
                return np.frombuffer(content, np.uint8) != 0
            return np.frombuffer(content, dtype)
        values = _listed(message, dtype, where)
        if len(values) > size and not (size == 0 and len(values) == 1):
            raise ModelError(f"{where}: holds {len(values)} values for {size} elements")
        if len(values) == size or size == 0:
            return values[:size]
        if len(values) == 0:
            values = _default(dtype)
        return values if len(values) == 1 else self._expanded(values, size, where)

    def _expanded(self, values: np.ndarray, size: int, where: str) -> np.ndarray:
        self.budget -= (size - len(values)) * values.itemsize
        if self.budget < 0:
            raise ModelError(
                f"{where}: {len(values)} values are repeated to {size} elements, "
                f"constants may grow by {EXPANSION_BYTES} bytes in all; store all elements"
            )
        array = np.empty(size, values.dtype)
        array[: len(values)] = values
        array[len(values) :] = values[-1]
        return array


def _read_shape(message: messages.TensorProto, where: str) -> tuple[int, ...]:
    shape = tuple(dim.size for dim in message.tensor_shape.dim)
    if message.tensor_shape.unknown_rank or any(size < 0 for size in shape):
        raise ModelError(f"{where}: the shape of a constant must be known, got {list(shape)}")
    if len(shape) > MAX_RANK:
        raise ModelError(f"{where}: rank must be <= {MAX_RANK}, got {len(shape)}")
    if prod(shape) > MAX_ELEMENTS or prod(size or 1 for size in shape) > 2**62:
        raise ModelError(f"{where}: must have at most {MAX_ELEMENTS} elements, got {list(shape)}")
    return shape


def _default(dtype: np.dtype) -> np.ndarray:
    """The one element of a tensor whose message holds none."""
    array = np.zeros(1, dtype)
    if dtype.kind == "O":
        array[0] = b""
    return array


def _strings(content: bytes, size: int, where: str) -> np.ndarray:
    """Strings one behind the other, after the lengths of all of them as varints."""
    lengths: list[int] = []
    position = length = shift = 0
    while len(lengths) < size and position < len(content) and shift < 35:
        byte = content[position]
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            lengths.append(length)
            length = shift = 0
        position += 1
    if len(lengths) < size or position + sum(lengths) != len(content):
        raise ModelError(
            f"{where}: tensor_content must have the lengths of {size} strings and the strings, got "
            f"{len(content)} bytes"
        )
    array = np.empty(size, object)
    for i, n in enumerate(lengths):
        array[i] = content[position : position + n]
        position += n
    return array


def _listed(message: messages.TensorProto, dtype: np.dtype, where: str) -> np.ndarray:
    """The elements in the field for `dtype`."""
    name = dtype.names[0] if dtype.names else dtype.name
    field = _VALUE_FIELDS.get(name)
    if field is None:
        return np.frombuffer(message.float8_val, np.uint8).view(dtype)
    values = getattr(message, field)
    if dtype.kind == "O":
        array = np.empty(len(values), object)
        array[:] = list(values)
        return array
    if name in _BITS:
        return np.array(values, np.int32).astype(_BITS[name]).view(dtype)
    if name in _PARTS:
        if len(values) % 2:
            raise ModelError(f"{where}: {field} must hold pairs, got {len(values)} numbers")
        return np.array(values, _PARTS[name]).view(dtype)
    if dtype.names:
        return np.array(values, np.int32).astype(dtype[0]).view(dtype)
    if field == "int_val":
        return np.array(values, np.int32).astype(dtype)
    return np.array(values, dtype)


def write(array: np.ndarray) -> messages.TensorProto:
    """The TensorProto that holds `array`; strings must be bytes or str."""
    array = np.asarray(array)
    message = cast("messages.TensorProto", proto.TensorProto(dtype=dtypes.tf_enum(array.dtype)))
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    message.tensor_shape.SetInParent()
    if array.dtype.kind == "O":
        message.string_val.extend(s.encode() if isinstance(s, str) else s for s in array.flat)
    elif array.size > 1 and not any(array.strides):
        _write_single(message, array)
    else:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        message.tensor_content = np.ascontiguousarray(little).tobytes()
    return message


def _write_single(message: messages.TensorProto, array: np.ndarray) -> None:
    """Writes the one value that a view without memory of its own repeats."""
    value = array.reshape(-1)[:1] if array.size == 1 else array[(0,) * array.ndim].reshape(1)
    write_values(message, value)


def write_values(message: messages.TensorProto, array: np.ndarray) -> None:
    """Writes the elements of `array` one by one into the field for its dtype."""
    values = np.ascontiguousarray(array).reshape(-1)
    name = values.dtype.names[0] if values.dtype.names else values.dtype.name
    field = _VALUE_FIELDS.get(name)
    if field is None:
        message.float8_val = values.tobytes()
    elif values.dtype.kind == "O":
        message.string_val.extend(s.encode() if isinstance(s, str) else s for s in values)
    elif name in _BITS:
        getattr(message, field).extend(values.view(_BITS[name]).tolist())
    elif name in _PARTS:
        getattr(message, field).extend(values.view(_PARTS[name]).tolist())
    elif values.dtype.names:
        getattr(message, field).extend(values.view(values.dtype[0]).tolist())
    else:
        getattr(message, field).extend(values.astype(object).tolist())
