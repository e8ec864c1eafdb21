"""The entry TFLITE_METADATA of a model: what it does, what its inputs and outputs mean.

    parse_metadata(bytes) -> ModelMetadata record        build_metadata(record) -> bytes

Its tables are those of metadata.fbs; the files they name are associated_files.py's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING

from . import metadata_tables as tables
from .errors import ModelError
from .record import FieldValue, Record
from .record import record as record_of

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

METADATA = "TFLITE_METADATA"
"""The name of the entry."""

AssociatedFile = record_of("AssociatedFile", tables)
AudioProperties = record_of("AudioProperties", tables)
BertTokenizerOptions = record_of("BertTokenizerOptions", tables)
BoundingBoxProperties = record_of("BoundingBoxProperties", tables)
Content = record_of("Content", tables)
CustomMetadata = record_of("CustomMetadata", tables)
FeatureProperties = record_of("FeatureProperties", tables)
ImageProperties = record_of("ImageProperties", tables)
ImageSize = record_of("ImageSize", tables)
ModelMetadata = record_of("ModelMetadata", tables)
NormalizationOptions = record_of("NormalizationOptions", tables)
ProcessUnit = record_of("ProcessUnit", tables)
RegexTokenizerOptions = record_of("RegexTokenizerOptions", tables)
ScoreCalibrationOptions = record_of("ScoreCalibrationOptions", tables)
ScoreThresholdingOptions = record_of("ScoreThresholdingOptions", tables)
SentencePieceTokenizerOptions = record_of("SentencePieceTokenizerOptions", tables)
Stats = record_of("Stats", tables)
SubGraphMetadata = record_of("SubGraphMetadata", tables)
TensorGroup = record_of("TensorGroup", tables)
TensorMetadata = record_of("TensorMetadata", tables)
ValueRange = record_of("ValueRange", tables)

AssociatedFileType = IntEnum("AssociatedFileType", tables.ASSOCIATED_FILE_TYPE)
BoundingBoxType = IntEnum("BoundingBoxType", tables.BOUNDING_BOX_TYPE)
ColorSpaceType = IntEnum("ColorSpaceType", tables.COLOR_SPACE_TYPE)
CoordinateType = IntEnum("CoordinateType", tables.COORDINATE_TYPE)
ScoreTransformationType = IntEnum("ScoreTransformationType", tables.SCORE_TRANSFORMATION_TYPE)

OLDEST = "1.0.0"
SINCE: dict[tuple[str, str], str] = {
    ("AssociatedFile", "version"): "1.4.1",
    ("SubGraphMetadata", "input_process_units"): "1.1.0",
    ("SubGraphMetadata", "output_process_units"): "1.1.0",
    ("SubGraphMetadata", "input_tensor_groups"): "1.2.0",
    ("SubGraphMetadata", "output_tensor_groups"): "1.2.0",
    ("SubGraphMetadata", "custom_metadata"): "1.5.0",
    ("AudioProperties", ""): "1.3.0",
    ("BertTokenizerOptions", ""): "1.1.0",
    ("SentencePieceTokenizerOptions", ""): "1.1.0",
    ("RegexTokenizerOptions", ""): "1.2.1",
}
"""(table, field) -> the version of the schema that first had it; no field is the whole table."""
FILE_TYPES_SINCE: dict[int, str] = {
    tables.ASSOCIATED_FILE_TYPE["VOCABULARY"]: "1.0.1",
    tables.ASSOCIATED_FILE_TYPE["SCANN_INDEX_FILE"]: "1.4.0",
}
"""The same of types of associated files."""


def parse_metadata(content: ReadableBuffer) -> Record:
    """The ModelMetadata record of an entry's bytes; vectors are views of them.

    Raises ModelError for the first thing that is wrong.
    """
    from .reader import read

    return read(memoryview(content).toreadonly().cast("B"), schema=tables)


def build_metadata(metadata: Record) -> bytes:
    """The bytes of a ModelMetadata record, min_parser_version as its parts demand.

    Raises ModelError when a field holds what its type cannot.
    """
    from .writer import write

    if type(metadata) is not ModelMetadata:
        raise ModelError(f"metadata must be a ModelMetadata record, got {metadata!r:.80}")
    version = minimum_parser_version(metadata)
    content = write(changed(metadata, min_parser_version=version), schema=tables)
    parse_metadata(content)  # so that nothing is written that is not read
    return content


def minimum_parser_version(metadata: Record) -> str:
    """The first version of metadata.fbs that has all that is said.

    >>> minimum_parser_version(ModelMetadata(associated_files=[AssociatedFile(version="2")]))
    '1.4.1'
    """
    versions = {OLDEST}
    for record in inner_records(metadata):
        table = type(record).__name__
        fields = [name for name in record.__slots__ if getattr(record, name) is not None]
        versions |= {SINCE[table, name] for name in ("", *fields) if (table, name) in SINCE}
        if table == "AssociatedFile":
            versions.add(FILE_TYPES_SINCE.get(record.type, OLDEST))
    return max(versions, key=lambda version: [int(part) for part in version.split(".")])


def inner_records(value: FieldValue) -> Iterator[Record]:
    """A record and all within it, in the order of fields."""
    if isinstance(value, Record):
        yield value
        for name in value.__slots__:
            yield from inner_records(getattr(value, name))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from inner_records(item)


def recorded_files(metadata: Record) -> list[str]:
    """The names of the associated files that metadata speak of, each once."""
    files = (r.name or "" for r in inner_records(metadata) if type(r) is AssociatedFile)
    return list(dict.fromkeys(files))


def changed(record: Record, **fields: FieldValue) -> Record:
    """A record with other values of some fields."""
    return type(record)(**{n: getattr(record, n) for n in record.__slots__} | fields)


def mapped(value: FieldValue, change: Callable[[Record], Record]) -> FieldValue:
    """A value with `change` of every record within it, those inside first."""
    if isinstance(value, Record):
        inner = {name: mapped(getattr(value, name), change) for name in value.__slots__}
        return change(type(value)(**inner))
    if isinstance(value, list | tuple):
        return tuple(map(partial(mapped, change=change), value))
    return value
