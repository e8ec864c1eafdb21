"""The large initializers of a serialized ONNX model, as views of its bytes.

Protocol buffers would copy them twice. What is not plainly so written is left to them: the message
without the elements of these initializers is the model's in everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import ml_dtypes
import numpy as np

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
"""Wire types."""
GRAPH, INITIALIZER = 7, 5
"""Fields of ModelProto and of GraphProto."""
DIMS, DATA_TYPE, RAW_DATA = 1, 2, 9
DESCRIPTIVE = (DIMS, DATA_TYPE, 8, 12)
"""Fields of TensorProto that say type, shape, name and documentation."""
SMALLEST = 1 << 12
"""Bytes of elements from which on an initializer is not copied."""
TYPES = {
    1: np.float32,
    2: np.uint8,
    3: np.int8,
    4: np.uint16,
    5: np.int16,
    6: np.int32,
    7: np.int64,
    10: np.float16,
    11: np.float64,
    12: np.uint32,
    13: np.uint64,
    16: ml_dtypes.bfloat16,
}
"""ONNX's numbers of types whose elements stand in raw data as in an array."""


def without_weights(content: memoryview) -> tuple[bytes, dict[int, np.ndarray]]:
    """The message without large initializers' elements, and these by the initializer's position.

    A malformed message, or one with two graphs, is given back as it is.
    """
    weights: dict[int, np.ndarray] = {}
    try:
        parts = list(_model(content, weights))
    except (IndexError, ValueError):
        return bytes(content), {}
    return (b"".join(parts), weights) if weights else (bytes(content), {})


def _model(content: memoryview, weights: dict[int, np.ndarray]) -> Iterator[bytes]:
    n_graphs = 0
    for number, start, begin, end in _fields(content):
        if number != GRAPH:
            yield bytes(content[start:end])
            continue
        n_graphs += 1
        if n_graphs > 1:
            raise ValueError("two graphs")
        graph = b"".join(_graph(content[begin:end], weights))
        yield _delimited(GRAPH, graph)


def _graph(content: memoryview, weights: dict[int, np.ndarray]) -> Iterator[bytes]:
    n_initializers = 0
    for number, start, begin, end in _fields(content):
        array, described = None, b""
        if number == INITIALIZER:
            if end - begin > SMALLEST:
                described, array = _tensor(content[begin:end])
            if array is not None:
                weights[n_initializers] = array
                yield _delimited(INITIALIZER, described)
            n_initializers += 1
        if array is None:
            yield bytes(content[start:end])


def _tensor(content: memoryview) -> tuple[bytes, np.ndarray | None]:
    """An initializer without its elements, and these; None where it is not plain."""
    described, dims, data_type, raw = b"", [], 0, None
    for number, start, begin, end in _fields(content):
        if number == RAW_DATA and raw is None:
            raw = content[begin:end]
            continue
        if number not in DESCRIPTIVE:
            return b"", None
        described += content[start:end]
        if number == DATA_TYPE:
            data_type, _ = _varint(content, begin)
        elif number == DIMS:
            while begin < end:
                n, begin = _varint(content, begin)
                dims.append(n)
    array = None if raw is None else view_of(raw, data_type, dims)
    return (b"", None) if array is None else (described, array)


def view_of(content: memoryview, data_type: int, dims: Sequence[int]) -> np.ndarray | None:
    """Raw data as an array of ONNX's type; None where it is small, has another size, or elements
    that stand otherwise in an array.
    """
    if data_type not in TYPES or content.nbytes < SMALLEST:
        return None
    dtype = np.dtype(TYPES[data_type])
    if prod(dims) * dtype.itemsize != content.nbytes:
        return None
    return np.frombuffer(content, dtype).reshape(tuple(dims))


def _fields(content: memoryview) -> Iterator[tuple[int, int, int, int]]:
    """(number, where the field begins, where its value begins, where it ends) of each field."""
    position, end = 0, content.nbytes
    while position < end:
        start = position
        tag, position = _varint(content, position)
        number, wire_type = tag >> 3, tag & 7
        begin = position
        if wire_type == VARINT:
            _, position = _varint(content, position)
        elif wire_type == LENGTH:
            length, begin = _varint(content, position)
            position = begin + length
        elif wire_type in (FIXED32, FIXED64):
            position += 4 if wire_type == FIXED32 else 8
        else:
            raise ValueError(f"wire type {wire_type}")
        if position > end:
            raise ValueError("a field goes past the end")
        yield number, start, begin, position


def _varint(content: memoryview, position: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends."""
    number = shift = 0
    while True:
        byte = content[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def _delimited(number: int, content: bytes) -> bytes:
    """A field of a message or of bytes."""
    header, length = bytearray([number << 3 | LENGTH]), len(content)
    while length >= 0x80:
        header.append(length & 0x7F | 0x80)
        length >>= 7
    header.append(length)
    return bytes(header) + content
