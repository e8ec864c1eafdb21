"""Which kind of model a path leads to."""

from __future__ import annotations

import os
from pathlib import Path

from ...schema.files import map_file

SUFFIXES = {
    ".pb": "frozen",
    ".pbtxt": "frozen",
    ".pbtext": "frozen",
    ".textproto": "frozen",
    ".tflite": "tflite",
    ".lite": "tflite",
    ".h5": "keras",
    ".hdf5": "keras",
    ".json": "keras",
    ".keras": "keras",
    ".onnx": "onnx",
}
MAGIC_BYTES = ((0, b"\x89HDF", "keras"), (0, b"PK\x03\x04", "keras"), (4, b"TFL3", "tflite"))
"""Offset, bytes there and the kind that they tell."""
SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")


def kind_of(source: str | os.PathLike) -> tuple[str, str]:
    """("saved_model" | "frozen" | "keras" | "onnx" | "tflite", the path to load).

    Raises:
        OSError: there is no such file.
        ValueError: it is of a kind that flatlite does not read.
    """
    path = Path(source)
    if path.is_dir():
        return "saved_model", os.fspath(source)
    if path.name in SAVED_MODEL and path.exists():
        return "saved_model", os.fspath(path.parent)
    kind = SUFFIXES.get(path.suffix.lower())
    if kind != "frozen" and not path.exists():
        raise FileNotFoundError(f"'{source}' does not exist.")
    if kind is None and path.is_file():
        head = bytes(map_file(path)[:8])
        kind = next(
            (k for offset, magic, k in MAGIC_BYTES if head[offset : offset + len(magic)] == magic),
            None,
        )
    if kind is not None:
        return kind, os.fspath(source)
    raise ValueError(
        f"'{source}' is not a known kind of source; expected a SavedModel folder, a frozen "
        "GraphDef (.pb, .pbtxt), a Keras file (.keras, .h5), an ONNX file (.onnx) or a .tflite file"
    )
