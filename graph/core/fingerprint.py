"""What tells computations apart: equal for operations that do the same, whatever their names."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, cast

import numpy as np

from .order import data_inputs, ordered
from .signatures.attributes import FunctionRef

if TYPE_CHECKING:
    from .graph import Operation, Tensor
    from .library import FunctionLibrary


def fingerprint(tensor: Tensor) -> int:
    """64 bits that follow from the operations and functions a tensor is computed by."""
    rows = _operations([tensor.op], tensor.op.graph.functions)
    digest = hashlib.sha256(repr(rows).encode()).digest()
    return int.from_bytes(digest[:8], "little")


def _operations(ends: list[Operation], library: FunctionLibrary) -> list[object]:
    positions: dict[Operation, int] = {}
    rows: list[object] = []
    for op in ordered(ends, lambda op: [*data_inputs(op), *op.control_inputs]):
        positions[op] = len(positions)
        attrs = [(key, _value(op.attrs[key], library)) for key in sorted(op.attrs)]
        rows.append((op.type, attrs, [(positions[x.op], x.value_index) for x in op.inputs]))
    return rows


def _value(value: object, library: FunctionLibrary) -> object:
    """An attribute as text tells it apart; a function as what it computes."""
    if isinstance(value, FunctionRef):
        body = library.body(value)
        return _operations([output.op for output in body.outputs or ()], body.functions)
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray", value)
        return (array.dtype.name, array.shape, array.tolist())
    return str(value)
