"""Reads the conversion metadata of a file, without the code that wrote it."""

import struct

from flatlite.schema.model import load


def field(content, table, slot):
    """Position of a field of the table at a position; None when it is left out."""
    vtable = table - struct.unpack_from("<i", content, table)[0]
    size = struct.unpack_from("<H", content, vtable)[0]
    offset = (
        struct.unpack_from("<H", content, vtable + 4 + 2 * slot)[0] if 4 + 2 * slot < size else 0
    )
    return table + offset if offset else None


def follow(content, position):
    return position + struct.unpack_from("<I", content, position)[0]


def metadata(model):
    """The environment's version and type, and the optimization modes, in a file."""
    content = bytes(load(model).metadata["CONVERSION_METADATA"])
    root = follow(content, 0)
    environment, options = (follow(content, field(content, root, slot)) for slot in (0, 1))
    api, kind = (field(content, environment, slot) for slot in (1, 2))
    modes = follow(content, field(content, options, 0))
    (n,) = struct.unpack_from("<I", content, modes)
    return {
        "api_version": struct.unpack_from("<I", content, api)[0],
        "model_type": 0 if kind is None else struct.unpack_from("<i", content, kind)[0],
    }, list(struct.unpack_from(f"<{n}i", content, modes + 4))
