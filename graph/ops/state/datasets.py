"""Datasets and iterators: shapes of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.registry import add_row
from ...core.shapes import scalar
from ...core.signatures.signatures import op_types

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Shape

HANDLES = (
    *("Iterator", "IteratorV2", "OneShotIterator", "IteratorGetNextAsOptional"),
    *("IteratorToStringHandle", "IteratorFromStringHandle", "IteratorFromStringHandleV2"),
    *(
        "DatasetCardinality",
        "DatasetFingerprint",
        "OptionalFromValue",
        "OptionalNone",
        "OptionalHasValue",
    ),
)
ELEMENTS = (
    *("IteratorGetNext", "IteratorGetNextSync", "OptionalGetValue"),
    *("DatasetToSingleElement", "ReduceDataset"),
)


def _nothing(op: OperationView) -> list[Shape]:
    return []


def _declared(op: OperationView) -> list[Shape]:
    """The shapes that an attribute says components have."""
    return list(op.get_attr("output_shapes"))


STEPS = ("InitializeTableFromDataset", "MakeIterator", "SaveDataset")
_OTHERS = (*HANDLES, *ELEMENTS, *STEPS)
DATASETS = [kind for kind in op_types() if "Dataset" in kind and kind not in _OTHERS]
for _kind in (*DATASETS, *HANDLES):
    add_row(_kind, None, scalar, pure=False)
for _kind in ELEMENTS:
    add_row(_kind, None, _declared, pure=False)
for _kind in STEPS:
    add_row(_kind, None, _nothing, pure=False)
