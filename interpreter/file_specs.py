"""Reads what a verified model file declares."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..schema import tables
from ..schema.dtypes import PACKED_BITS, numpy_dtype
from ..schema.flatbuffer import Record, options_class
from ..schema.quantization import Quantization
from .spec import NOTHING, OperatorSpec, SignatureSpec, SubgraphSpec, TensorSpec

_HANDLES = frozenset(("RESOURCE", "VARIANT"))
"""Types whose values only a run gives: bytes that a file has for them mean nothing."""


def subgraph_of(model: Record, index: int) -> SubgraphSpec:
    """Subgraph `index` of the schema's record of a model."""
    record, buffers = model.subgraphs[index], model.buffers or ()
    codes = [_code(code) for code in model.operator_codes or ()]
    return SubgraphSpec(
        index,
        record.name or "",
        _ints(record.inputs),
        _ints(record.outputs),
        tuple(
            _tensor(i, tensor, buffers[tensor.buffer].data if buffers else None)
            for i, tensor in enumerate(record.tensors or ())
        ),
        tuple(
            _operator(i, operator, codes[operator.opcode_index])
            for i, operator in enumerate(record.operators or ())
        ),
    )


def signatures_of(model: Record) -> dict[str, SignatureSpec]:
    """The signatures of a model's record by key; their names in alphabetical order as in LiteRT."""
    return {
        s.key: SignatureSpec(s.key, _sorted(s.inputs), _sorted(s.outputs), s.subgraph)
        for s in signatures_in_order(model)
    }


def signatures_in_order(model: Record) -> list[SignatureSpec]:
    """The signatures of a model's record, they and their names in the file's order."""
    return [
        SignatureSpec(
            record.signature_key or "",
            _by_name(record.inputs),
            _by_name(record.outputs),
            record.subgraph_index,
        )
        for record in model.signature_defs or ()
    ]


def _tensor(index: int, record: Record, data: np.ndarray | None) -> TensorSpec:
    type_name, shape = tables.name_of("TensorType", record.type), _ints(record.shape)
    if type_name in _HANDLES:
        data = None
    return TensorSpec(
        index,
        record.name or "",
        shape,
        _ints(record.shape_signature),
        numpy_dtype(record.type),
        type_name,
        PACKED_BITS.get(type_name, 0),
        _quantization(record.quantization),
        record.is_variable,
        record.sparsity,
        NOTHING if data is None else data,
    )


def _operator(position: int, record: Record, code: tuple[str, int, bool]) -> OperatorSpec:
    kind, _, is_custom = code
    options = record.builtin_options or record.builtin_options_2
    if options is None and not is_custom:
        default = options_class(kind)
        options = default() if default else None
    custom = record.custom_options
    return OperatorSpec(
        position,
        code,
        _ints(record.inputs),
        _ints(record.outputs),
        _ints(record.intermediates),
        options,
        b"" if custom is None else bytes(custom),
    )


def _ints(vector: np.ndarray | None) -> tuple[int, ...]:
    return () if vector is None else tuple(np.asarray(vector).tolist())


def _by_name(maps: Iterable[Record] | None) -> dict[str, int]:
    return {entry.name or "": int(entry.tensor_index) for entry in maps or ()}


def _sorted(names: dict[str, int]) -> dict[str, int]:
    return dict(sorted(names.items()))


def _quantization(record: Record | None) -> Quantization | None:
    if record is None or record.scale is None or not len(record.scale):
        return None
    scales = np.asarray(record.scale, np.float32)
    if record.zero_point is None or not len(record.zero_point):
        zero_points = np.zeros(len(scales), np.int64)
    else:
        zero_points = np.asarray(record.zero_point, np.int64)
    return Quantization(scales, zero_points, int(record.quantized_dimension))


def _code(record: Record) -> tuple[str, int, bool]:
    builtin = max(record.builtin_code, record.deprecated_builtin_code)
    kind = tables.name_of("BuiltinOperator", builtin)
    if kind == "CUSTOM":
        return record.custom_code or "", record.version, True
    return kind, record.version, False
