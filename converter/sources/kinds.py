"""Which kind of model a path leads to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...schema.errors import ModelError, noted
from ...schema.files import map_file
from .source import naming

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
READERS = {
    "saved_model": ("a SavedModel", "from_saved_model", " by its folder"),
    "frozen": ("a GraphDef", "from_frozen_graph", ""),
    "keras": ("a Keras file", "from_keras_model_file", ""),
    "onnx": ("an ONNX file", "from_onnx_model", ""),
    "tflite": ("a .tflite file", "from_tflite_model", ""),
}
"""What a kind is called, what reads it, and how."""


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
        kind = _kind_of_bytes(path)
    if kind is not None:
        return kind, os.fspath(source)
    raise ValueError(
        f"'{source}' is not a known kind of source; expected a SavedModel folder, a frozen "
        "GraphDef (.pb, .pbtxt), a Keras file (.keras, .h5), an ONNX file (.onnx) or a .tflite file"
    )


@contextmanager
def reading(kind: str, path: str | os.PathLike | None) -> Iterator[None]:
    """`naming`, for a reader of one kind: an error about a file of another says what reads it."""
    try:
        with naming(path):
            yield
    except (OSError, ModelError) as error:
        if path is None:
            raise
        other = _recognised(Path(path))
        if other is None or other == kind:
            raise
        words, method, how = READERS[other]
        raise noted(error, f"'{os.fspath(path)}' is {words}, which {method} reads{how}.") from None


def _recognised(path: Path) -> str | None:
    """The kind of a file or folder, None where nothing tells it."""
    if path.is_dir():
        has_graph = any((path / name).is_file() for name in SAVED_MODEL)
        return "saved_model" if has_graph else None
    if not path.is_file():
        return None
    if path.name in SAVED_MODEL:
        return "saved_model"
    return _kind_of_bytes(path) or SUFFIXES.get(path.suffix.lower())


def _kind_of_bytes(path: Path) -> str | None:
    head = bytes(map_file(path)[:8])
    return next(
        (k for offset, magic, k in MAGIC_BYTES if head[offset : offset + len(magic)] == magic), None
    )
