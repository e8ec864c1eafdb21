"""Messages of any type as tensors of their fields, and back: DecodeProtoV2, EncodeProto."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from google.protobuf import descriptor_pb2, text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from ....schema import proto
from ....schema.dtypes import tf_enum
from ....schema.errors import DataLossError
from ....schema.files import read_bytes
from ...core.registry import op

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Shape

LOCAL, INLINE = "local://", b"bytes://"
_F = FieldDescriptor
_SINGLE, _DOUBLE = ("float32", "float64"), ("float64",)
_INT32, _INT64 = ("int32", "int64"), ("int64",)
_UINT32, _UINT64 = ("uint32", "uint64"), ("uint64",)
KINDS: dict[int, tuple[str, tuple[str, ...]]] = {
    _F.TYPE_BOOL: ("bool", ("bool",)),
    _F.TYPE_BYTES: ("bytes", ("object",)),
    _F.TYPE_DOUBLE: ("double", _DOUBLE),
    _F.TYPE_ENUM: ("enum", ("int32",)),
    _F.TYPE_FIXED32: ("fixed32", _UINT32),
    _F.TYPE_FIXED64: ("fixed64", _UINT64),
    _F.TYPE_FLOAT: ("float", _SINGLE),
    _F.TYPE_GROUP: ("group", ("object",)),
    _F.TYPE_INT32: ("int32", _INT32),
    _F.TYPE_INT64: ("int64", _INT64),
    _F.TYPE_MESSAGE: ("message", ("object",)),
    _F.TYPE_SFIXED32: ("sfixed32", _INT32),
    _F.TYPE_SFIXED64: ("sfixed64", _INT64),
    _F.TYPE_SINT32: ("sint32", _INT32),
    _F.TYPE_SINT64: ("sint64", _INT64),
    _F.TYPE_STRING: ("string", ("object",)),
    _F.TYPE_UINT32: ("uint32", _UINT32),
    _F.TYPE_UINT64: ("uint64", _UINT64),
}
"""Type of a field -> its name, and the types its values may have in a tensor."""
MESSAGES = (_F.TYPE_MESSAGE, _F.TYPE_GROUP)


def _bytes(value: bytes | str) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode()


@functools.lru_cache(maxsize=64)
def _pool(source: bytes) -> DescriptorPool:
    """The descriptors that a source names: TensorFlow's own, a file's or those within it."""
    if source in (b"", LOCAL.encode()):
        return proto.pool()
    words = (
        "Source does not represent serialized file descriptor set proto. This may be due to a "
        "missing dependency on the file containing REGISTER_DESCRIPTOR_POOL"
    )
    try:
        inline = source.removeprefix(INLINE)
        content = inline if source.startswith(INLINE) else read_bytes(source.decode())
        files = descriptor_pb2.FileDescriptorSet.FromString(content).file
        pool = DescriptorPool()
        for file in files:
            pool.AddSerializedFile(file.SerializeToString())
    except (DecodeError, OSError, UnicodeDecodeError):
        raise ValueError(f"{words}; got {source[:60]!r}") from None
    except TypeError as error:  # a file that needs another, or contradicts one
        raise ValueError(f"Failed to load {source[:60]!r}: {error}") from None
    return pool


def _message_class(source: bytes | str, kind: bytes | str) -> type[Message]:
    try:
        descriptor = _pool(_bytes(source)).FindMessageTypeByName(_text(kind))
    except KeyError:
        raise ValueError(f"No descriptor found for message type {_text(kind)}") from None
    return GetMessageClass(descriptor)


def _fields(class_: type[Message], names: Sequence[bytes | str]) -> list[FieldDescriptor]:
    """The fields of these names; the full name of an extension stands for it."""
    fields: list[FieldDescriptor] = []
    for name in map(_text, names):
        field = class_.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            words = f"Unknown field: {name} in message type {class_.DESCRIPTOR.full_name}"
            raise ValueError(words)
        fields.append(field)
    return fields


@functools.lru_cache(maxsize=1024)
def _is_repeated(field: FieldDescriptor) -> bool:
    """Whether a field may have several values; versions of protobuf differ in how one asks it."""
    message = descriptor_pb2.DescriptorProto()
    field.containing_type.CopyToProto(message)
    return message.field[field.index].label == descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED


def _values_of(message: Message, field: FieldDescriptor) -> list[object]:
    """The values that a field has, none where it is not set; messages as bytes."""
    if _is_repeated(field):
        values = list(cast("Sequence[object]", getattr(message, field.name)))
    elif field.has_presence:
        values = [getattr(message, field.name)] if message.HasField(field.name) else []
    else:
        value = getattr(message, field.name)
        values = [value] if value != field.default_value else []
    return [_as_item(value) for value in values]


def _as_item(value: object) -> object:
    if isinstance(value, Message):
        return value.SerializeToString()
    return value.encode() if isinstance(value, str) else value


def _padding(field: FieldDescriptor) -> object:
    """What stands where a message has no value."""
    if field.type in MESSAGES:
        return b""
    default: object = field.default_value
    if _is_repeated(field):
        return b"" if field.type in (_F.TYPE_STRING, _F.TYPE_BYTES) else 0
    return _as_item(default)


def _parsed(class_: type[Message], content: bytes, is_text: bool) -> Message:
    """A message of its bytes or text."""
    message = class_()
    try:
        if is_text:
            text_format.Parse(content, message)
        else:
            message.ParseFromString(content)
    except text_format.ParseError:
        raise DataLossError(None, None, "Unable to parse text protobuf") from None
    except DecodeError:
        words = "CountFields: Failed to consume entire buffer; the message is damaged"
        raise DataLossError(None, None, words) from None
    return message


def _decoded_shape(op: OperationView) -> list[Shape]:
    batch = op.inputs[0].sizes
    fields = len(cast("Sequence[object]", op.attrs["field_names"]))
    n = len(op.outputs) - 1
    if batch is None:
        return [None] * (n + 1)
    return [(*batch, fields), *[(*batch, None)] * n]


@op("DecodeProtoV2", shape=_decoded_shape)
def decode_proto(
    contents: np.ndarray,
    *,
    message_type: bytes | str,
    field_names: Sequence[bytes | str],
    output_types: Sequence[object],
    descriptor_source: bytes | str,
    message_format: bytes | str,
    sanitize: bool,
) -> list[np.ndarray]:
    """How many values each field has in each message, and the values, filled up to the most."""
    dtypes = [np.dtype(cast("np.dtype", dtype)) for dtype in output_types]
    if len(dtypes) != len(field_names):
        raise ValueError("field_names and output_types attributes must have the same length")
    if _text(message_format) not in ("binary", "text"):
        raise ValueError(f"format must be one of binary or text, got {_text(message_format)!r}")
    class_ = _message_class(descriptor_source, message_type)
    fields = _fields(class_, field_names)
    for field, dtype in zip(fields, dtypes, strict=True):
        name, allowed = KINDS[field.type]
        if dtype.name not in allowed:
            words = {value: key for key, value in proto.enum("DataType").items()}
            raise ValueError(
                f"Unexpected output type for {field.full_name}: {name} to {words[tf_enum(dtype)]}"
            )
    if not contents.size:
        raise ValueError("Bufs argument must contain at least one value")
    is_text = _text(message_format) == "text"
    messages = [
        _parsed(class_, content, is_text)
        for content in cast("list[bytes]", contents.ravel().tolist())
    ]
    sizes = np.zeros((len(messages), len(fields)), np.int32)
    columns: list[np.ndarray] = []
    for column, (field, dtype) in enumerate(zip(fields, dtypes, strict=True)):
        is_repeat = field in fields[:column]  # a field that is asked for twice is given once
        rows = [[] if is_repeat else _values_of(message, field) for message in messages]
        sizes[:, column] = [len(row) for row in rows]
        width = max(*map(len, rows), 0 if _is_repeated(field) else 1, *([1] if is_repeat else [0]))
        array = np.full((len(rows), max(width, 1)), _padding(field), dtype)
        for i, row in enumerate(rows):
            array[i, : len(row)] = row
        columns.append(array.reshape(*contents.shape, -1))
    return [sizes.reshape(*contents.shape, len(fields)), *columns]


def _encoded_shape(op: OperationView) -> Shape:
    sizes = op.inputs[0].sizes
    for tensor in op.inputs:
        if tensor.sizes is not None and len(tensor.sizes) < 2 and tensor is not op.inputs[0]:
            raise ValueError(f"Shape must be at least rank 2 but is rank {len(tensor.sizes)}")
    if sizes is not None and len(sizes) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {len(sizes)}")
    return None if sizes is None else sizes[:-1]


@op("EncodeProto", shape=_encoded_shape)
def encode_proto(
    sizes: np.ndarray,
    *columns: np.ndarray,
    field_names: Sequence[bytes | str],
    message_type: bytes | str,
    descriptor_source: bytes | str,
    Tinput_types: Sequence[object],
) -> np.ndarray:
    """Messages of the first values of each row of their fields."""
    class_ = _message_class(descriptor_source, message_type)
    fields = _fields(class_, field_names)
    batch = columns[0].shape[:-1] if columns else sizes.shape[:-1]
    expected = (*batch, len(fields))
    if sizes.shape != expected:
        raise ValueError(
            f"sizes should be batch_size + [len(field_names)].  Saw: {_shown(sizes.shape)} but "
            f"expected: {_shown(expected)}"
        )
    for field, column in zip(fields, columns, strict=True):
        name, allowed = KINDS[field.type]
        if column.dtype.name not in allowed:
            kind = {"float32": "float", "float64": "double", "object": "string"}
            raise ValueError(
                f"Incompatible type for field {field.name}.  Saw dtype: "
                f"{kind.get(column.dtype.name, column.dtype.name)} but field type is: {name}"
            )
        if column.shape[:-1] != batch:
            raise ValueError(
                f"Values must match up to the last dimension, got {_shown(column.shape)} for field "
                f"{field.name} and {_shown(columns[0].shape)} for the first"
            )
    counts = sizes.reshape(-1, len(fields))
    rows = [column.reshape(len(counts), -1) for column in columns]
    order = sorted(range(len(fields)), key=lambda i: fields[i].number)
    result = np.empty(len(counts), object)
    for i, numbers in enumerate(counts.tolist()):
        parts: list[bytes] = []
        for j in order:
            if numbers[j] > rows[j].shape[1]:
                raise ValueError(
                    f"Size to write must not be larger than value tensor; but saw: {numbers[j]} > "
                    f"{rows[j].shape[1]} at message {i} field {j}"
                )
            values = cast("list[object]", rows[j][i, : numbers[j]].tolist())
            parts.append(_written(class_, fields[j], values))
        result[i] = b"".join(parts)
    return result.reshape(batch)


def _shown(shape: Sequence[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _written(class_: type[Message], field: FieldDescriptor, values: list[object]) -> bytes:
    """A field with these values on the wire; one that is not repeated is there as often."""
    if field.type in MESSAGES:
        inner = GetMessageClass(field.message_type)
        values = [inner.FromString(cast("bytes", value)) for value in values]
    elif field.type == _F.TYPE_STRING:
        values = [cast("bytes", value).decode() for value in values]
    if _is_repeated(field):
        return _alone(class_, field, values)
    return b"".join(_alone(class_, field, [value]) for value in values)


def _alone(class_: type[Message], field: FieldDescriptor, values: list[object]) -> bytes:
    """A message with nothing but a field."""
    return class_(**{field.name: values if _is_repeated(field) else values[0]}).SerializeToString()
