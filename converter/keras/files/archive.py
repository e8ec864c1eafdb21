"""The files Keras writes: `.keras` archives and `.h5`, as architecture and weights."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ....schema.errors import ModelError
from ....schema.files import read_bytes
from .hdf5_process import Store
from .limits import MAX_TEXT, unpack_limit

if TYPE_CHECKING:
    from .live import LiveWeights

CONFIG, METADATA, WEIGHTS = "config.json", "metadata.json", "model.weights.h5"
ASSETS = "assets/"
ZIP, HDF5 = b"PK\x03\x04", b"\x89HDF\r\n\x1a\n"
MAX_MEMBERS = 100_000
MAX_DEPTH = 100
"""How deep an architecture may be nested."""
ENCRYPTED = 1
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)
"""What zipfile raises on archives that are none."""


@dataclass(frozen=True)
class Archive:
    """A model file, opened.

    Attributes:
        config: the architecture: {"class_name": ..., "config": ...}.
        version: of the Keras that wrote it, such as (3, 15); 2 stands for all of tf_keras.
        weights: what holds the weights.
        is_legacy: whether the weights lie as in `.h5`, by layer and weight name.
        prefix: of the path of each layer where they do.
        assets: the files that layers keep beside their weights, by their paths in the archive.
    """

    config: dict
    version: tuple[int, ...]
    weights: Store | LiveWeights
    is_legacy: bool
    prefix: str = "model_weights/"
    assets: dict[str, bytes] = field(default_factory=dict)


def open_archive(path: str | os.PathLike, weights_file: str | os.PathLike | None = None) -> Archive:
    """The model in a `.keras` or `.h5` file, or in the JSON of its architecture beside weights.

    Raises:
        ValueError: weights are given beside a file that has some, or none beside JSON.
        OSError: the file cannot be read.
        ModelError: it holds no model, or more than such a file may.
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        raise IsADirectoryError(f"'{name}' is a folder, and a Keras file is a .keras or .h5 file")
    try:
        content = read_bytes(name)
    except FileNotFoundError:
        raise FileNotFoundError(f"No file or directory found at {name}") from None
    is_json = content.lstrip()[:1] == b"{"
    if is_json != (weights_file is not None):
        fix = "give the weights in weights_file" if is_json else "weights_file is for JSON alone"
        raise ValueError(f"'{name}' has {'no' if is_json else 'its'} weights; {fix}")
    if weights_file is not None:
        return _json_beside(content, name, os.fspath(weights_file))
    if content.startswith(ZIP):
        return _keras(content, name)
    if content.startswith(HDF5):
        return _h5(content, name)
    raise ModelError(f"'{name}' is neither a .keras nor an .h5 file: it begins {content[:8]!r}")


def _h5(content: bytes, name: str) -> Archive:
    store = Store(content, f"'{name}'")
    config = store.text("", "model_config")
    if config is None:
        raise ModelError(
            f"'{name}' has no architecture, only weights; save the whole model with "
            "model.save('model.keras')"
        )
    version = _version(store.text("", "keras_version"))
    return Archive(parsed_json(config, f"'{name}': model_config"), version, store, True)


def _json_beside(content: bytes, name: str, weights: str) -> Archive:
    """The architecture that model.to_json() gives, and what model.save_weights() wrote."""
    config = parsed_json(content.decode("utf-8", "replace"), f"'{name}'")
    version = config.get("keras_version")
    if version is None:  # Keras 3 does not say it
        version = "3" if "module" in config else "2"
    content = read_bytes(weights)
    if not content.startswith(HDF5):
        raise ModelError(f"'{weights}' must be an HDF5 file of weights: it begins {content[:8]!r}")
    store = Store(content, f"'{weights}'")
    is_legacy = bool(store.texts("", "layer_names"))
    return Archive(config, _version(version), store, is_legacy, "")


def _keras(content: bytes, name: str) -> Archive:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_names(archive, name)
            config = _member(archive, CONFIG, name, MAX_TEXT)
            metadata = b"{}"
            if METADATA in archive.namelist():
                metadata = _member(archive, METADATA, name, MAX_TEXT)
            limit = unpack_limit(content)
            weights = _member(archive, WEIGHTS, name, limit)
            assets = {}
            for member in archive.namelist():
                if member.startswith(ASSETS) and not member.endswith("/"):
                    assets[member] = _member(archive, member, name, limit)
                    limit -= len(assets[member])
    except ModelError:
        raise
    except DAMAGED as error:
        raise ModelError(f"'{name}' is a damaged archive: {error}") from None
    versions = parsed_json(metadata.decode("utf-8", "replace"), f"'{name}': {METADATA}")
    return Archive(
        parsed_json(config.decode("utf-8", "replace"), f"'{name}': {CONFIG}"),
        _version(versions.get("keras_version")),
        Store(weights, f"'{name}': {WEIGHTS}"),
        False,
        assets=assets,
    )


def _check_names(archive: zipfile.ZipFile, name: str) -> None:
    names = [info.filename for info in archive.infolist()]
    if len(names) > MAX_MEMBERS or len(set(names)) < len(names):
        raise ModelError(f"'{name}' is no Keras archive: it has {len(names)} members, some twice")
    for member in names:
        path = PurePosixPath(member.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts:
            raise ModelError(f"'{name}' is no Keras archive: '{member}' leads out of it")


def _member(archive: zipfile.ZipFile, member: str, name: str, limit: int) -> bytes:
    """What one member holds; at most `limit` bytes are unpacked."""
    if member not in archive.namelist():
        raise ModelError(f"'{name}' is no Keras archive: it has no {member}")
    info = archive.getinfo(member)
    if info.flag_bits & ENCRYPTED or info.compress_type not in PACKINGS:
        raise ModelError(
            f"'{name}': {member} is encrypted or packed in an unknown way; pack it "
            "with ZIP's deflate, or not at all"
        )
    with archive.open(info) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ModelError(f"'{name}': {member} must be at most {limit} bytes, and is larger")
    return content


def _version(text: Any) -> tuple[int, ...]:
    """(3, 15) of "3.15.1"; what a file does not say was written by Keras 2."""
    parts = str(text).split(".")[:2] if isinstance(text, str) else []
    return tuple(int(part) for part in parts if part.isdecimal() and len(part) < 6) or (2,)


def parsed_json(text: str, what: str) -> dict:
    """An object of JSON, of bounded size and depth."""
    if len(text) > MAX_TEXT:
        raise ModelError(f"{what} must be at most {MAX_TEXT} bytes, got {len(text)}")
    try:
        value = json.loads(text)
    except RecursionError:
        raise ModelError(f"{what} is nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise ModelError(f"{what} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ModelError(f"{what} must be a JSON object, got {type(value).__name__}")
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _inside(parent)]
    if level:
        raise ModelError(f"{what} is nested deeper than {MAX_DEPTH} levels")
    return value


def _inside(value: Any) -> list[Any]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in items if isinstance(item, dict | list)]
