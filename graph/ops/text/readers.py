"""Ops that read and write files: session/reader_kernels.py says what they do in a Session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.registry import add_row
from ...core.shapes import require, scalar

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Shape

READERS = (
    "FixedLengthRecordReader", "IdentityReader", "TFRecordReader", "TextLineReader",
    "WholeFileReader",
)  # fmt: skip


def _pair(op: OperationView) -> list[Shape]:
    return [(), ()]


def _vectors(op: OperationView) -> list[Shape]:
    return [(None,), (None,)]


def _nothing(op: OperationView) -> list[Shape]:
    return []


def _restored(op: OperationView) -> list[Shape]:
    shape = op.inputs[1].sizes
    words = f"Shape must be rank 0 but is rank {len(shape or ())}"
    require(op, shape is None or not shape, words)
    return []


for _suffix in ("", "V2"):
    for _kind in READERS:
        add_row(_kind + _suffix, None, scalar, pure=False)
    add_row(f"ReaderRead{_suffix}", None, _pair, pure=False)
    add_row(f"ReaderReadUpTo{_suffix}", None, _vectors, pure=False)
    for _kind in ("NumRecordsProduced", "NumWorkUnitsCompleted", "SerializeState"):
        add_row(f"Reader{_kind}{_suffix}", None, scalar, pure=False)
    add_row(f"ReaderRestoreState{_suffix}", None, _restored, pure=False)
    add_row(f"ReaderReset{_suffix}", None, _nothing, pure=False)
add_row("ReadFile", None, scalar, pure=False)
add_row("WriteFile", None, _nothing, pure=False)
add_row("MatchingFiles", None, lambda op: (None,), pure=False)
