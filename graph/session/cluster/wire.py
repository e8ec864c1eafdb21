"""What processes of a cluster send one another: a header of JSON, and tensors behind it.

A frame is two lengths, the header, and as many blocks as it counts, each with its length: a
serialized TensorProto, or the bytes of a GraphDef. Nothing in it is imported or executed.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from ....schema import proto
from ...format.tensor_proto import TensorReader, write

if TYPE_CHECKING:
    import numpy as np

    from ...format.messages import TensorProto

Field: TypeAlias = "str | int | float | Sequence[str] | Mapping[str, Mapping[str, str]] | None"

_LENGTHS = struct.Struct("<QQ")
_LENGTH = struct.Struct("<Q")
MAX_HEADER = 64 << 20
MAX_BLOCKS = 1 << 20
MAX_BLOCK = 2 << 30
"""A message of protocol buffers has at most so many bytes."""


class Frame(NamedTuple):
    """What came."""

    header: Mapping[str, Field]
    blocks: list[bytes]

    def text(self, name: str) -> str:
        """A field of text."""
        value = self.header.get(name)
        if not isinstance(value, str):
            raise ConnectionError(f"a frame must have a text '{name}', got {value!r}")
        return value

    def number(self, name: str) -> int:
        """A field that is a whole number."""
        value = self.header.get(name)
        if not isinstance(value, int):
            raise ConnectionError(f"a frame must have a number '{name}', got {value!r}")
        return value

    def names(self, name: str) -> list[str]:
        """A field that lists names."""
        value = self.header.get(name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ConnectionError(f"a frame must have names '{name}', got {value!r}")
        return value


def send(connection: socket.socket, header: Mapping[str, Field], blocks: Sequence[bytes]) -> None:
    """Sends one frame."""
    text = json.dumps(header).encode()
    connection.sendall(_LENGTHS.pack(len(text), len(blocks)) + text)
    for block in blocks:
        connection.sendall(_LENGTH.pack(len(block)))
        connection.sendall(block)


def receive(connection: socket.socket) -> Frame | None:
    """The next frame; None where the other side has closed the connection before one.

    Raises ConnectionError where it ends within one, or has no form.
    """
    begin = connection.recv(1)
    if not begin:
        return None
    n_header, n_blocks = _LENGTHS.unpack(begin + _exactly(connection, _LENGTHS.size - 1))
    if n_header > MAX_HEADER or n_blocks > MAX_BLOCKS:
        raise ConnectionError(f"a frame of {n_header} bytes and {n_blocks} blocks is none")
    try:
        header = json.loads(_exactly(connection, n_header))
    except (ValueError, RecursionError) as error:
        raise ConnectionError(f"a frame's header must be JSON: {error}") from None
    if not isinstance(header, dict):
        raise ConnectionError("a frame's header must be an object")
    return Frame(header, [_block(connection) for _ in range(n_blocks)])


def _block(connection: socket.socket) -> bytes:
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > MAX_BLOCK:
        raise ConnectionError(f"a block of {length} bytes is more than {MAX_BLOCK}")
    return _exactly(connection, length)


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = connection.recv(min(count, 1 << 20))
        if not part:
            raise ConnectionError("the connection ended within a frame")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def tensor_block(array: np.ndarray) -> bytes:
    """The block of an array."""
    return write(array).SerializeToString()


def tensor_of(block: bytes) -> np.ndarray:
    """The array of a block.

    Raises ConnectionError where it is none.
    """
    try:
        message = cast("TensorProto", proto.parse("TensorProto", block))
        return TensorReader().read(message, "a tensor of a run")
    except ValueError as error:
        raise ConnectionError(f"a block must be a TensorProto: {error}") from None
