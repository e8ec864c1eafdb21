"""Metadata after an edit: what they say of inputs and outputs that are still there."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ...schema.errors import ModelError
from ...schema.metadata import (
    METADATA,
    SubGraphMetadata,
    TensorMetadata,
    build_metadata,
    changed,
    mapped,
    parse_metadata,
    recorded_files,
)
from ...schema.model import Model
from ...schema.record import Record

Ends: TypeAlias = Sequence[tuple[int, int] | str]
"""Inputs or outputs of an edited model: (model, place there) of one that was there, else a name."""
SIDES = ("input", "output")


def describe_ends(result: Model, models: Sequence[Model], ends: Mapping[str, Ends]) -> None:
    """Gives an edited model the metadata and files of those that it was made of, in place.

    Names and descriptions are those of the first that has metadata.

    Args:
        result: the edited model.
        models: those it was made of.
        ends: its inputs as "input", its outputs as "output".
    """
    parts = [_readable(model) for model in models]
    result.metadata.pop(METADATA, None)
    result.associated_files = {}
    renamed = _joined_files(result, models, parts)
    if not any(parts):
        return
    parts = [_with_names(part, names) for part, names in zip(parts, renamed, strict=True)]
    graphs = [_graph(part) for part in parts]
    fields: dict[str, Any] = {}
    for side in SIDES:
        entries = [_entry(graphs, side, end) for end in ends[side]]
        fields[f"{side}_tensor_metadata"] = entries
        fields |= _of_side(graphs, side, ends[side], entries)
    for name in ("associated_files", "custom_metadata"):
        fields[name] = [x for graph in graphs for x in getattr(graph, name) or ()] or None
    described = [part for part in parts if part is not None]
    first_graph = _graph(described[0])
    graph = SubGraphMetadata(**fields, name=first_graph.name, description=first_graph.description)
    files = [x for part in described for x in part.associated_files or ()]
    metadata = changed(described[0], subgraph_metadata=[graph], associated_files=files or None)
    stale = {name for part in described for name in recorded_files(part)}
    stale -= set(recorded_files(metadata))
    result.associated_files = {n: x for n, x in result.associated_files.items() if n not in stale}
    result.metadata[METADATA] = build_metadata(metadata)


def _readable(model: Model) -> Record | None:
    """The metadata of a model; None without any, or with such as cannot be read."""
    if METADATA not in model.metadata:
        return None
    try:
        return parse_metadata(model.metadata[METADATA])
    except ModelError as error:
        notes = "; ".join(getattr(error, "__notes__", ()))
        warnings.warn(f"{METADATA} is left out: {error}: {notes}", stacklevel=4)
        return None


def _graph(part: Record | None) -> Record:
    """What metadata say of the first subgraph."""
    described = () if part is None else part.subgraph_metadata or ()
    return described[0] if described else SubGraphMetadata()


def _entry(graphs: Sequence[Record], side: str, end: tuple[int, int] | str) -> Record:
    """What is said of an input or output."""
    if isinstance(end, str):
        return TensorMetadata(name=end)
    entries = getattr(graphs[end[0]], f"{side}_tensor_metadata") or ()
    return entries[end[1]] if end[1] < len(entries) else TensorMetadata()


def _of_side(
    graphs: Sequence[Record], side: str, ends: Ends, entries: Sequence[Record]
) -> dict[str, Any]:
    """Process units where all of a model's inputs or outputs are there, and groups of them."""
    units: list[Record] = []
    groups: list[Record] = []
    names = {entry.name for entry in entries}
    for number, graph in enumerate(graphs):
        n_entries = len(getattr(graph, f"{side}_tensor_metadata") or ())
        of_model = {end[1] for end in ends if not isinstance(end, str) and end[0] == number}
        if of_model.issuperset(range(n_entries)):
            units += getattr(graph, f"{side}_process_units") or ()
        for group in getattr(graph, f"{side}_tensor_groups") or ():
            left = [name for name in group.tensor_names or () if name in names]
            if left:
                groups.append(changed(group, tensor_names=left))
    return {f"{side}_process_units": units or None, f"{side}_tensor_groups": groups or None}


def _joined_files(
    result: Model, models: Sequence[Model], parts: Sequence[Record | None]
) -> list[dict[str, str]]:
    """Gives `result` the files of all models; for each model, what it calls them -> their names."""
    renamed: list[dict[str, str]] = []
    for model, part in zip(models, parts, strict=True):
        names: dict[str, str] = {}
        for name, content in model.associated_files.items():
            free = name
            number = 1
            while result.associated_files.get(free, content) != content:
                stem, dot, ending = name.rpartition(".")
                free = f"{stem}_{number}{dot}{ending}" if dot else f"{name}_{number}"
                number += 1
            result.associated_files[free] = content
            names[name] = free
        renamed.append(names if part is not None else {})
    return renamed


def _with_names(part: Record | None, names: Mapping[str, str]) -> Record | None:
    """Metadata that name files as they are called now."""
    if part is None or all(old == new for old, new in names.items()):
        return part

    def rename(record: Record) -> Record:
        if type(record).__name__ != "AssociatedFile":
            return record
        return changed(record, name=names.get(record.name, record.name))

    renamed = mapped(part, rename)
    assert isinstance(renamed, Record)
    return renamed
