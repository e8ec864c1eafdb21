"""Reads what a verified model file declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..schema import tables
from ..schema.dtypes import PACKED_BITS, numpy_dtype
from ..schema.flatbuffer import Record, options_class
from ..schema.quantization import Blocks, Quantization
from ..schema.runtime_versions import known_versions
from .registry import family_of
from .spec import NOTHING, OperatorSpec, SignatureSpec, SubgraphSpec, TensorSpec

if TYPE_CHECKING:
    from ..schema.external import ExternalBuffers

_OBJECTS = np.dtype(object)
"""Of variants: an array without dimensions that holds what one stands for."""
_HANDLES = frozenset(("RESOURCE", "VARIANT"))
"""Types whose values only a run gives: bytes that a file has for them mean nothing."""


def subgraph_of(model: Record, index: int, external: Callable[[], ExternalBuffers]) -> SubgraphSpec:
    """Subgraph `index` of the schema's record of a model, whose constants may be in other files."""
    record, buffers = model.subgraphs[index], model.buffers or ()
    codes = [_code(code) for code in model.operator_codes or ()]
    data = [
        external().data(i, tensor)
        if tensor.external_buffer
        else (buffers[tensor.buffer].data if buffers else None)
        for i, tensor in enumerate(record.tensors or ())
    ]
    tensors = list(zip(record.tensors or (), data, strict=True))
    return SubgraphSpec(
        index,
        record.name or "",
        _ints(record.inputs),
        _ints(record.outputs),
        tuple(_tensor(i, tensor, content, tensors) for i, (tensor, content) in enumerate(tensors)),
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


def _tensor(
    index: int,
    record: Record,
    data: np.ndarray | None,
    tensors: Sequence[tuple[Record, np.ndarray | None]],
) -> TensorSpec:
    """What a record declares; `tensors` are the records of the subgraph with their buffers."""
    type_name, shape = tables.name_of("TensorType", record.type), _ints(record.shape)
    if type_name in _HANDLES:
        data = None
    quantization = _quantization(record.quantization)
    details = None if record.quantization is None else record.quantization.details
    if details is not None and type(details).__name__ == "BlockwiseQuantization":
        quantization = _by_blocks(index, shape, details, tensors)
    return TensorSpec(
        index,
        record.name or "",
        shape,
        _ints(record.shape_signature),
        _OBJECTS if type_name == "VARIANT" else numpy_dtype(record.type),
        type_name,
        PACKED_BITS.get(type_name, 0),
        quantization,
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
    return () if vector is None else tuple(vector.tolist())


def _by_name(maps: Iterable[Record] | None) -> dict[str, int]:
    return {entry.name or "": int(entry.tensor_index) for entry in maps or ()}


def _sorted(names: dict[str, int]) -> dict[str, int]:
    return dict(sorted(names.items()))


def _quantization(record: Record | None) -> Quantization | None:
    if record is None or record.scale is None or not len(record.scale):
        return None
    zero_points = record.zero_point
    if zero_points is None or not len(zero_points):
        zero_points = np.zeros(len(record.scale), np.int64)
    return Quantization(record.scale, zero_points, record.quantized_dimension)


def _by_blocks(
    index: int,
    shape: tuple[int, ...],
    details: Record,
    tensors: Sequence[tuple[Record, np.ndarray | None]],
) -> Quantization:
    """The quantization of a tensor of `shape` whose blocks have scales in other tensors."""
    from ..schema.errors import ModelError

    block = _ints(details.block_shape) or (*[1] * (len(shape) - 1), int(details.block_size))
    fits = len(block) == len(shape) and all(
        size > 0 and n % size == 0 for n, size in zip(shape, block, strict=False)
    )
    if not fits:
        raise ModelError(f"tensor {index} of shape {shape} must divide into blocks, got {block}")
    counts = tuple(n // size for n, size in zip(shape, block, strict=True))

    def numbers(tensor: int) -> np.ndarray | None:
        if tensor < 0:
            return None
        record, data = tensors[tensor]
        kind = numpy_dtype(record.type)
        if kind.hasobject or data is None or data.size != prod(counts) * kind.itemsize:
            raise ModelError(
                f"tensor {index} has {prod(counts)} blocks, which tensor {tensor} must have "
                f"numbers for, got {kind} of shape {_ints(record.shape)}"
            )
        return np.frombuffer(data, kind).reshape(counts)

    scales = numbers(int(details.scales))
    if scales is None:
        raise ModelError(f"tensor {index} is quantized by blocks and must name its scales")
    # Writers that set none, as AI Edge's quantizer, leave the format's 0; LiteRT reads none at all.
    zero_points = numbers(int(details.zero_points) or -1)
    if zero_points is not None:
        zero_points = zero_points.astype(np.int64)
    blocks = Blocks(block, scales.astype(np.float32), zero_points, scales)
    return Quantization([], [], max(len(shape) - 1, 0), block[-1], details=details, blocks=blocks)


def check_operators(model: Record) -> None:
    """Raises ModelError, in LiteRT's words, when a model has an operator that nothing here runs."""
    for code in model.operator_codes or ():
        kind, version, is_custom = _code(code)
        known = known_versions(kind)
        if is_custom or (version in known and family_of(kind)):
            continue
        from ..schema.errors import ModelError

        why = (
            "An older version of this builtin might be supported. Are you using an old TFLite "
            f"binary with a newer model? flatlite knows {known[0]} to {known[-1]}."
        )
        if not family_of(kind):
            why = "Neither TensorFlow Lite nor flatlite has a kernel for it."
        raise ModelError(f"Didn't find op for builtin opcode '{kind}' version '{version}'. {why}")


def _code(record: Record) -> tuple[str, int, bool]:
    builtin = max(record.builtin_code, record.deprecated_builtin_code)
    kind = tables.name_of("BuiltinOperator", builtin)
    if kind == "CUSTOM":
        return record.custom_code or "", record.version, True
    return kind, record.version, False
