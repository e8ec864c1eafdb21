"""Strings as numbers, fields of CSV, messages and tensors."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema import proto
from ....schema.dtypes import tf_name
from ....schema.errors import DataLossError
from ...core.registry import op
from ...core.shapes import same, scalar, unknown
from ...format.tensor_proto import TensorReader, write

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Shape
    from ...format.messages import TensorProto

_WINDOWS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}
_SPACE = b" \t\n\v\f\r"


def _fields(record: bytes, delimiter: bytes, has_quotes: bool) -> list[bytes]:
    """The fields of one record."""
    if not has_quotes or not any(c in record for c in b'"\n\r'):
        return record.split(delimiter)
    fields: list[bytes] = []
    i, n, delimiter_code = 0, len(record), delimiter[0]
    while True:
        if i < n and record[i] == 0x22:
            i, text = _quoted(record, i + 1, delimiter_code)
        else:
            end = record.find(delimiter, i)
            end = n if end < 0 else end
            text = record[i:end]
            if any(c in text for c in b'"\n\r'):
                raise ValueError("Unquoted fields cannot have quotes/CRLFs inside")
            i = end
        fields.append(text)
        if i >= n:
            return fields
        i += 1


def _quoted(record: bytes, i: int, delimiter: int) -> tuple[int, bytes]:
    """What stands in quotes from i on, and where the field ends."""
    text = bytearray()
    n = len(record)
    while i < n:
        if record[i] != 0x22:
            text.append(record[i])
            i += 1
        elif i + 1 < n and record[i + 1] == 0x22:
            text.append(0x22)
            i += 2
        elif i + 1 == n or record[i + 1] == delimiter:
            return i + 1, bytes(text)
        else:
            break
    if i >= n:
        raise ValueError("Quoted field has to end with quote followed by delim or end")
    raise ValueError("Quote inside a string has to be escaped by another quote")


def _number(text: bytes, dtype: np.dtype, field: int, record: int) -> float:
    """A field as a number."""
    try:
        if b"_" in text or text.strip(_SPACE) != text:
            raise ValueError
        if dtype.kind == "f":
            return float(text)
        number, limits = int(text), np.iinfo(dtype)
        if limits.min <= number <= limits.max:
            return number
        raise ValueError
    except ValueError:
        word = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
        shown = text.decode("utf-8", "replace")
        words = f"Field {field} in record {record} is not a valid {word}: {shown}"
        raise ValueError(words) from None


def _csv_shapes(op: OperationView) -> list[Shape]:
    for tensor in op.inputs[1:]:
        sizes = tensor.sizes
        if sizes is not None and len(sizes) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(sizes)}")
        if sizes == (1,) or not sizes or sizes[0] in (None, 0):
            continue
        raise ValueError("Shape of a default must be a length-0 or length-1 vector")
    return [op.inputs[0].sizes] * len(op.outputs)


@op("DecodeCSV", shape=_csv_shapes)
def decode_csv(
    records: np.ndarray,
    *defaults: np.ndarray,
    field_delim: bytes | str,
    use_quote_delim: bool,
    na_value: bytes | str,
    select_cols: Sequence[int],
    OUT_TYPE: Sequence[object],
) -> np.ndarray | list[np.ndarray]:
    """The columns of records; a default stands for an empty field."""
    delimiter, nothing = (x.encode() if isinstance(x, str) else x for x in (field_delim, na_value))
    if len(delimiter) != 1:
        raise ValueError(f"field_delim should be only 1 char, got {delimiter.decode()!r}")
    types = [np.dtype(cast("np.dtype", t)) for t in OUT_TYPE]
    columns = [np.empty(records.shape, dtype) for dtype in types]
    for i, record in enumerate(cast("list[bytes]", records.ravel().tolist())):
        fields = _fields(record, delimiter, use_quote_delim) if record else []
        if select_cols:
            fields = [fields[c] for c in select_cols if c < len(fields)]
        if len(fields) != len(types):
            raise ValueError(f"Expect {len(types)} fields but have {len(fields)} in record {i}")
        rows = zip(fields, types, defaults, columns, strict=True)
        for field, (text, dtype, default, column) in enumerate(rows):
            if not text or text == nothing:
                if not default.size:
                    raise ValueError(f"Field {field} is required but missing in record {i}!")
                column.flat[i] = default.ravel()[0]
            else:
                is_text = dtype.hasobject
                column.flat[i] = text if is_text else _number(text, dtype, field, i)
    return columns[0] if len(columns) == 1 else columns


def _raw_shape(op: OperationView) -> Shape:
    shape = op.inputs[0].sizes
    return None if shape is None else (*shape, None)


@op("DecodeRaw", shape=_raw_shape)
def decode_raw(x: np.ndarray, *, out_type: np.dtype, little_endian: bool) -> np.ndarray:
    """The bytes of strings as numbers, all of one length."""
    texts = cast("list[bytes]", x.ravel().tolist())
    size = len(texts[0]) if texts else 0
    for i, text in enumerate(texts):
        if len(text) != size:
            raise ValueError(
                f"DecodeRaw requires input strings to all be the same size, but element {i} has "
                f"size {size} != {len(text)}"
            )
    return _decoded(b"".join(texts), x.shape, out_type, little_endian, size)


def _decoded(
    content: bytes, shape: tuple[int, ...], dtype: np.dtype, little_endian: bool, size: int
) -> np.ndarray:
    if size % dtype.itemsize:
        raise ValueError(
            f"Input to DecodeRaw has length {size} that is not a multiple of {dtype.itemsize}, the "
            f"size of {tf_name(dtype)}"
        )
    order = dtype if dtype.kind == "V" else dtype.newbyteorder("<" if little_endian else ">")
    return np.frombuffer(content, order).reshape(*shape, size // dtype.itemsize).astype(dtype)


def _padded_shape(op: OperationView) -> Shape:
    shape, length = op.inputs[0].sizes, op.inputs[1].value
    width = cast("np.dtype", op.get_attr("out_type")).itemsize
    if length is not None and length.size == 1 and int(length.ravel()[0]) % width:
        raise ValueError(f"fixed_length must be evenly divisible by {width}")
    known = None if length is None else int(length.ravel()[0]) // width
    return None if shape is None else (*shape, known)


@op("DecodePaddedRaw", shape=_padded_shape)
def decode_padded_raw(
    x: np.ndarray, length: np.ndarray, *, out_type: np.dtype, little_endian: bool
) -> np.ndarray:
    """The bytes of strings, cut or filled up with zeros to one length, as numbers."""
    size = int(length)
    if size % out_type.itemsize:
        raise ValueError(
            f"fixed_length ({size}) must be a multiple of the size of out_type "
            f"({out_type.itemsize})"
        )
    texts = cast("list[bytes]", x.ravel().tolist())
    content = b"".join(text[:size].ljust(size, b"\0") for text in texts)
    return _decoded(content, x.shape, out_type, little_endian, size)


@op("DecodeCompressed", shape=same)
def decode_compressed(x: np.ndarray, *, compression_type: bytes | str) -> np.ndarray:
    """Strings that are compressed as what they were."""
    kind = compression_type.decode() if isinstance(compression_type, bytes) else compression_type
    if not kind:
        return x
    if kind not in _WINDOWS:
        words = "Only ZLIB, GZIP or NONE are supported compressions. Received "
        raise ValueError(f"{words}'{kind}'")
    result = np.empty(x.shape, object)
    try:
        for i, text in enumerate(cast("list[bytes]", x.ravel().tolist())):
            result.flat[i] = zlib.decompress(text, _WINDOWS[kind])
    except zlib.error as error:
        number, _, words = str(error).removeprefix("Error ").partition(" ")
        words = words.removeprefix("while decompressing data: ")
        raise DataLossError(None, None, f"inflate() failed with error {number}: {words}") from None
    return result


@op("DecodeJSONExample", shape=same)
def decode_json_example(x: np.ndarray) -> np.ndarray:
    """Examples written as JSON as serialized messages."""
    from google.protobuf import json_format

    result = np.empty(x.shape, object)
    for i, text in enumerate(cast("list[bytes]", x.ravel().tolist())):
        message = proto.message("Example")()
        try:
            json_format.Parse(text, message)
        except (json_format.ParseError, UnicodeDecodeError) as error:
            raise ValueError(f"Error while parsing JSON: {error}") from None
        result.flat[i] = message.SerializeToString(deterministic=True)
    return result


@op("SerializeTensor", shape=scalar)
def serialize_tensor(x: np.ndarray) -> np.ndarray:
    """A tensor as a serialized TensorProto."""
    return np.array(write(x).SerializeToString(), object)


@op("ParseTensor", shape=unknown)
def parse_tensor(serialized: np.ndarray, *, out_type: np.dtype) -> np.ndarray:
    """The tensor of a serialized TensorProto."""
    if serialized.ndim:
        raise ValueError(
            f"Expected `serialized` to be a scalar, got shape: {list(serialized.shape)}"
        )
    content = cast("bytes", serialized.item())
    try:
        message = cast("TensorProto", proto.parse("TensorProto", content))
        array = TensorReader().read(message, "serialized")
    except ValueError:
        encoded = base64.b64encode(content).decode()
        words = f"Could not parse `serialized` as TensorProto, base64: {encoded}"
        raise ValueError(words) from None
    if array.dtype != out_type:
        raise ValueError(
            f"Type mismatch between parsed tensor ({tf_name(array.dtype)}) and dtype "
            f"({tf_name(out_type)})"
        )
    return array
