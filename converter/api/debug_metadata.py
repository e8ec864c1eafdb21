"""The entry debug_metadata of a file: from which node of the source each operator comes.

Its tables are those of TensorFlow Lite's debug_metadata.fbs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NAME = "debug_metadata"
CONVERSION, LOCATION = 1, 1
NAME_LOC, UNKNOWN_LOC = 4, 6
"""The members of the unions DebugMetadataType, Attribute and LocationType."""


def debug_metadata(origins: Sequence[Sequence[str]]) -> bytes:
    """The flatbuffer of a DebugMetadata table.

    Args:
        origins: for each subgraph the source's node of each of its operators.
    """
    from flatbuffers import Builder

    names = list(dict.fromkeys(name for row in origins for name in row))
    positions = {name: i + 1 for i, name in enumerate(names)}  # the first place is unknown
    b = Builder(1024)
    locations = [_location(b, UNKNOWN_LOC, _table(b)), *(_named(b, name) for name in names)]
    subgraphs = [_subgraph(b, [positions[name] for name in row]) for row in origins]
    subgraphs_vector = _offsets(b, subgraphs)
    kinds = b.CreateByteVector(bytes([LOCATION]) * len(locations))
    values = _offsets(b, locations)
    conversion = _table(b, subgraphs_vector, kinds, values)
    roots = b.CreateByteVector(bytes([CONVERSION])), _offsets(b, [conversion])
    b.Finish(_table(b, *roots))
    return bytes(b.Output())


def _table(b: Any, *offsets: int) -> int:
    """A table whose fields are these."""
    b.StartObject(len(offsets))
    for slot, offset in enumerate(offsets):
        b.PrependUOffsetTRelativeSlot(slot, offset, 0)
    return b.EndObject()


def _location(b: Any, kind: int, value: int) -> int:
    b.StartObject(2)
    b.PrependUint8Slot(0, kind, 0)
    b.PrependUOffsetTRelativeSlot(1, value, 0)
    return b.EndObject()


def _named(b: Any, name: str) -> int:
    return _location(b, NAME_LOC, _table(b, b.CreateString(name)))


def _offsets(b: Any, offsets: Sequence[int]) -> int:
    b.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        b.PrependUOffsetTRelative(offset)
    return b.EndVector()


def _subgraph(b: Any, positions: Sequence[int]) -> int:
    """A SubgraphDebugMetadata whose operators have these locations."""
    operators = []
    for place in positions:
        b.StartVector(4, 1, 4)
        b.PrependUint32(place)
        operators.append(_table(b, b.EndVector()))
    return _table(b, _offsets(b, operators))
