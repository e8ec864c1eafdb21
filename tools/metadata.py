"""What a model says of itself: metadata and associated files read, set, and as JSON.

    get_metadata(model)         set_metadata(model, metadata, files)         labels(model)

A Model keeps them as `metadata["TFLITE_METADATA"]` and `associated_files`; `load` and `save` of
flatlite.edit read and write both.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..schema import metadata_tables as tables
from ..schema.associated_files import is_file_name
from ..schema.metadata import (
    METADATA,
    Record,
    build_metadata,
    parse_metadata,
    record_of,
    recorded_files,
)
from ..schema.model import Model
from .edit.subgraphs import copied, listed

LABELS = ("TENSOR_AXIS_LABELS", "TENSOR_VALUE_LABELS")
"""Types of files with one label in each line."""


def get_metadata(model: Model) -> Record | None:
    """The ModelMetadata of a model, None when it has none.

    Raises ModelError when they are damaged.
    """
    content = model.metadata.get(METADATA)
    return None if content is None else parse_metadata(content)


def set_metadata(
    model: Model, metadata: Record | None, files: Mapping[str, bytes] | None = None
) -> Model:
    """The model with other metadata and associated files.

    Args:
        model: any.
        metadata: a ModelMetadata, whose min_parser_version is computed; None takes away what there
            is.
        files: name -> bytes of files that are packed behind the model, in addition to those that
            are there and that `metadata` name.

    Raises ValueError when the metadata are not of this model's inputs and outputs, or name a file
    that is not there; ModelError when a field holds what its type cannot.
    """
    result = copied(model)
    if metadata is None:
        result.metadata.pop(METADATA, None)
        result.associated_files = dict(files or {})
        return result
    content = build_metadata(metadata)
    _check_ends(model, metadata)
    before = get_metadata(model)
    stale = set() if before is None else set(recorded_files(before))
    names = recorded_files(metadata)
    current_files = {
        n: x for n, x in model.associated_files.items() if n in names or n not in stale
    }
    result.associated_files = {**current_files, **(files or {})}
    missing = [name for name in names if name not in result.associated_files]
    if missing:
        raise ValueError(
            f"File, '{missing[0]}', is recorded in the metadata, but has not been loaded into the "
            f"populator; give the bytes of {listed(missing)} in files"
        )
    for name in files or {}:
        if not is_file_name(name):
            raise ValueError(f"files must have names without folders, got {name!r:.99}")
        if name not in names:
            warnings.warn(
                f"File, '{name}', does not exist in the metadata. But packing it to tflite model "
                "is still allowed.",
                stacklevel=2,
            )
    result.metadata[METADATA] = content
    return result


def _check_ends(model: Model, metadata: Record) -> None:
    """Raises ValueError unless there is an entry for each input and output."""
    described = metadata.subgraph_metadata or ()
    if len(described) != 1:
        raise ValueError(
            f"The number of SubgraphMetadata should be exactly one, but got {len(described)}."
        )
    graph = model.subgraphs[0]
    for side, ends in (("input", graph.inputs), ("output", graph.outputs)):
        entries = getattr(described[0], f"{side}_tensor_metadata") or ()
        if len(entries) != len(ends):
            names = listed([graph.tensors[i].name for i in ends]) or "none"
            raise ValueError(
                f"The number of {side} tensors ({len(ends)}) should match the number of {side} "
                f"tensor metadata ({len(entries)}); one for each of {names}, in this order"
            )


def labels(model: Model, output: int = 0, locale: str | None = None) -> list[str]:
    """The labels of an output's elements or values, from its first associated file that has some.

    Args:
        model: any.
        output: which of the outputs.
        locale: of the file, such as "en"; None for the first one.

    Raises ValueError when there is none.
    """
    metadata = get_metadata(model)
    described = () if metadata is None else metadata.subgraph_metadata or ()
    entries = (described[0].output_tensor_metadata or ()) if described else ()
    files = (entries[output].associated_files or ()) if output < len(entries) else ()
    for file in files:
        is_locale = locale is None or file.locale == locale
        if is_locale and tables.name_of("AssociatedFileType", file.type) in LABELS:
            content = model.associated_files.get(file.name)
            if content is not None:
                return content.decode().splitlines()
    suffix = "" if locale is None else f" for the locale '{locale}'"
    raise ValueError(
        f"output {output} must have an associated file of labels{suffix}, and the metadata name "
        f"{listed([file.name for file in files]) or 'none'}"
    )


def to_json(metadata: Record) -> str:
    """Metadata as JSON in the form of TensorFlow Lite Support; what is left out has its default.

    >>> from flatlite.metadata import ModelMetadata
    >>> print(to_json(ModelMetadata(name="digits")))
    {
      "name": "digits"
    }
    """
    return json.dumps(as_object(metadata), indent=2, ensure_ascii=False)


def as_object(record: Record) -> dict[str, Any]:
    """The fields of a record that have not their defaults, as JSON holds them."""
    fields: dict[str, Any] = {}
    for name, type_, default, _ in tables.TABLES[type(record).__name__]:
        value = getattr(record, name)
        if value is None or (default is not None and value == default):
            continue
        if type_ in tables.UNIONS:
            fields[f"{name}_type"] = type(value).__name__
        fields[name] = _encoded(value, type_)
    return fields


def _encoded(value: Any, type_: str) -> Any:
    """A value of a field of some type, as JSON holds it."""
    inner = type_.strip("[]")
    if type_ != inner:
        items = value.tolist() if isinstance(value, np.ndarray) and inner != "float" else value
        return [_encoded(item, inner) for item in items]
    if isinstance(value, Record):
        return as_object(value)
    if inner in tables.ENUMS:
        return tables.name_of(inner, value)
    return float(str(np.float32(value))) if inner == "float" else value


def from_json(text: str | bytes) -> Record:
    """The ModelMetadata that `to_json`, or TensorFlow Lite Support, has written as JSON.

    Raises ValueError, saying where, for what is no such text.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"metadata must be JSON: {error}") from None
    return _table(content, "ModelMetadata", "metadata")


def _table(content: Any, table: str, where: str) -> Record:
    """A record from its JSON."""
    if not isinstance(content, dict):
        raise ValueError(f"{where} must be an object, a {table}, got {content!r:.60}")
    types = {name: type_ for name, type_, *_ in tables.TABLES[table]}
    unions = {f"{name}_type" for name, type_ in types.items() if type_ in tables.UNIONS}
    unknown = [name for name in content if name not in {*types, *unions}]
    if unknown:
        raise ValueError(
            f"{where} has no '{unknown[0]}'; a {table} has {', '.join(types) or 'no fields'}"
        )
    fields = {}
    for name, type_ in types.items():
        if name not in content:
            continue
        if type_ in tables.UNIONS:
            fields[name] = _union(content, name, type_, where)
        else:
            fields[name] = _decoded(content[name], type_, f"{where}.{name}")
    return record_of(table, tables)(**fields)


def _union(content: dict[str, Any], name: str, union: str, where: str) -> Record:
    """The record of a union, whose type is another key."""
    member = content.get(f"{name}_type")
    members = [name for name in tables.UNIONS[union] if name is not None]
    if not isinstance(member, str) or member not in members:
        raise ValueError(f"{where}.{name}_type must be one of {listed(members)}, got {member!r}")
    return _table(content[name], member, f"{where}.{name}")


def _decoded(value: Any, type_: str, where: str) -> Any:
    """A value of a field of some type, from its JSON."""
    inner = type_.strip("[]")
    if type_ != inner:
        if not isinstance(value, list):
            raise ValueError(f"{where} must be a list, got {value!r:.60}")
        items = tuple(_decoded(item, inner, f"{where}[{i}]") for i, item in enumerate(value))
        return np.array(items, np.float32) if inner == "float" else items
    if inner in tables.TABLES:
        return _table(value, inner, where)
    if inner in tables.ENUMS:
        members = tables.ENUMS[inner]
        if not isinstance(value, str) or value not in members:
            raise ValueError(f"{where} must be one of {listed([*members])}, got {value!r:.60}")
        return members[value]
    expected_type = {"string": str, "float": (int, float)}.get(inner, int)
    if isinstance(value, bool) or not isinstance(value, expected_type):
        kind = {"string": "a string", "float": "a number"}.get(inner, "an integer")
        raise ValueError(f"{where} must be {kind}, got {value!r:.60}")
    if inner != "float":
        return value
    with np.errstate(over="ignore"):
        return float(np.float32(value))
