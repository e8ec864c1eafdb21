"""GraphDef messages: from a file, binary or text, from bytes, or from another message."""

from __future__ import annotations

import os

from ...schema import proto
from ...schema.errors import noted
from ...schema.files import read_bytes

CHECKED = 1024  # bytes looked at to tell text from a damaged binary file
TEXT_SUFFIXES = (".pbtxt", ".pbtext", ".textproto")


def message_of(graph_def):
    """A GraphDef message of our own, which may be changed; from a file, message or bytes."""
    if isinstance(graph_def, str | os.PathLike):
        return load_graph_def(graph_def)
    if hasattr(graph_def, "SerializeToString"):
        graph_def = graph_def.SerializeToString()
    try:
        return proto.parse("GraphDef", bytes(graph_def))
    except ValueError as error:
        raise ValueError(f"graph_def must be a serialized GraphDef, and has {error}") from None


def load_graph_def(path):
    """The GraphDef message of a file, binary or text.

    Raises OSError when the file is missing or holds no GraphDef.
    """
    name = os.fspath(path)
    try:
        content = read_bytes(name)
    except FileNotFoundError:
        raise FileNotFoundError(f"File '{name}' does not exist.") from None
    failure = f"Unable to parse input file '{name}'."
    if not content:
        raise noted(OSError(failure), "The file is empty; write it again.")
    try:
        graph_def = _parse(content, name.endswith(TEXT_SUFFIXES))
    except ValueError as error:
        raise noted(OSError(failure), f"It has {error}; a GraphDef file is wanted.") from None
    if not graph_def.node:
        raise noted(OSError(failure), "It has no nodes; a GraphDef file is wanted.")
    return graph_def


def _parse(content: bytes, is_text: bool):
    """The GraphDef in `content`; without a telling name the file may be of either kind."""
    if is_text:
        return proto.parse_text("GraphDef", content)
    try:
        return proto.parse("GraphDef", content)
    except ValueError:
        if content[:1] == b"\n" or not content[:CHECKED].isascii():
            raise
    return proto.parse_text("GraphDef", content)
