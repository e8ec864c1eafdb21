"""From the records of a verified file to a Model."""

from __future__ import annotations

import numpy as np

from . import tables
from .checks import operator_name
from .dtypes import PACKED_BITS, TENSOR_TYPES
from .record import Record
from .structure import Model, Operator, Quantization, Signature, Subgraph, Tensor


class Loader:
    """Turns the records of a verified file into a Model."""

    def __init__(self, root: Record) -> None:
        self.root = root
        self.codes: list[tuple[str, str | None, int]] = [
            (operator_name(code), code.custom_code, code.version)
            for code in root.operator_codes or ()
        ]
        # Operators may share one vector; what is copied is copied once.
        self.copies: dict[int, bytes] = {}

    def model(self) -> Model:
        """The whole file."""
        root = self.root
        buffers = root.buffers
        return Model(
            subgraphs=[self.subgraph(subgraph) for subgraph in root.subgraphs],
            description=root.description or "",
            signatures=[
                Signature(
                    key=signature.signature_key or "",
                    inputs={e.name or "": e.tensor_index for e in signature.inputs or ()},
                    outputs={e.name or "": e.tensor_index for e in signature.outputs or ()},
                    subgraph=signature.subgraph_index,
                )
                for signature in root.signature_defs or ()
            ],
            metadata={
                e.name or "": self.bytes_of(buffers[e.buffer].data) for e in root.metadata or ()
            },
            metadata_buffer=[self.bytes_of(buffers[i].data) for i in _list(root.metadata_buffer)],
            external_buffers=list(root.external_buffers or ()),
            external_buffer_groups=list(root.external_buffer_groups or ()),
            version=root.version,
        )

    def subgraph(self, subgraph: Record) -> Subgraph:
        """One subgraph."""
        return Subgraph(
            name=subgraph.name or "",
            tensors=[self.tensor(tensor) for tensor in subgraph.tensors or ()],
            inputs=_list(subgraph.inputs),
            outputs=_list(subgraph.outputs),
            operators=[self.operator(operator) for operator in subgraph.operators or ()],
            debug_metadata_index=subgraph.debug_metadata_index,
        )

    def tensor(self, tensor: Record) -> Tensor:
        """One tensor."""
        return Tensor(
            name=tensor.name or "",
            shape=tuple(_list(tensor.shape)),
            dtype=tables.name_of("TensorType", tensor.type),
            data=self.constant(tensor),
            shape_signature=tuple(_list(tensor.shape_signature)) or None,
            quantization=_quantization(tensor.quantization),
            is_variable=tensor.is_variable,
            sparsity=tensor.sparsity,
            has_rank=tensor.has_rank,
            variant_tensors=tensor.variant_tensors or (),
            external_buffer=tensor.external_buffer,
        )

    def constant(self, tensor: Record) -> np.ndarray | bytes | None:
        """The constant of a tensor."""
        data = self.root.buffers[tensor.buffer].data if tensor.buffer else None
        shape = _list(tensor.shape)
        if data is None or (not len(data) and 0 not in shape):
            return None
        name = tables.name_of("TensorType", tensor.type)
        if name in _AS_BYTES or tensor.sparsity is not None:
            return self.bytes_of(data)
        return data.view(TENSOR_TYPES[name]).reshape(shape)

    def operator(self, operator: Record) -> Operator:
        """One operator."""
        index: int = operator.opcode_index
        op, custom_code, version = self.codes[index]
        options = operator.builtin_options
        mutating = operator.mutating_variable_inputs
        custom_options = operator.custom_options
        return Operator(
            op=op,
            inputs=_list(operator.inputs),
            outputs=_list(operator.outputs),
            options=operator.builtin_options_2 if options is None else options,
            version=version,
            custom_code=custom_code,
            custom_options=None if custom_options is None else self.bytes_of(custom_options),
            intermediates=_list(operator.intermediates),
            mutating_variable_inputs=mutating.tolist()
            if mutating is not None and mutating.any()
            else None,
            custom_options_format=operator.custom_options_format,
            debug_metadata_index=operator.debug_metadata_index,
        )

    def bytes_of(self, data: np.ndarray | None) -> bytes:
        """A copy of a vector's bytes."""
        if data is None:
            return b""
        if id(data) not in self.copies:
            self.copies[id(data)] = data.tobytes()
        return self.copies[id(data)]


_AS_BYTES = frozenset(("STRING", "RESOURCE", "VARIANT", *PACKED_BITS))
"""Types whose constants are bytes in a Model."""


def _list(vector: np.ndarray | None) -> list[int]:
    """A vector as a list, empty when absent."""
    return [] if vector is None else vector.tolist()


def _quantization(quantization: Record | None) -> Quantization | None:
    """The quantization of a tensor; None for an empty record, which says as little."""
    if quantization is None:
        return None
    vectors = (getattr(quantization, name) for name in ("scale", "zero_point", "min", "max"))
    scale, zero_point, low, high = (v if v is not None and len(v) else None for v in vectors)
    if all(v is None for v in (scale, zero_point, low, high, quantization.details)):
        return None
    return Quantization(
        np.zeros(0, "<f4") if scale is None else scale,
        np.zeros(0, "<i8") if zero_point is None else zero_point,
        axis=quantization.quantized_dimension,
        min=low,
        max=high,
        details=quantization.details,
    )
