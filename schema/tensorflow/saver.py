"""From a Model to the records of a file."""

from __future__ import annotations

import hashlib

import numpy as np

from .. import tables
from ..dtypes import PACKED_BITS, TENSOR_TYPES
from ..errors import ModelError
from ..files import page_out
from ..record import Record, record
from ..strings import write_strings
from ..structure import Model, Operator, Quantization, Signature, Subgraph, Tensor


class Saver:
    """Turns a Model into the records of a file."""

    def __init__(self) -> None:
        self.buffers = [record("Buffer")()]
        self.buffer_of: dict[tuple[int, bytes], int] = {}
        self.codes: dict[tuple[int, str | None, int], int] = {}

    def model(self, model: Model) -> Record:
        """The Model record."""
        subgraphs = tuple(self.subgraph(subgraph) for subgraph in model.subgraphs)
        entry = record("Metadata")
        metadata = tuple(
            entry(name=name, buffer=self.buffer(content))
            for name, content in model.metadata.items()
        )
        return record("Model")(
            version=model.version,
            operator_codes=self.operator_codes(),
            subgraphs=subgraphs,
            description=model.description or None,
            metadata=metadata or None,
            metadata_buffer=[self.buffer(content) for content in model.metadata_buffer] or None,
            signature_defs=tuple(map(_signature_def, model.signatures)) or None,
            external_buffer_groups=tuple(model.external_buffer_groups) or None,
            external_buffers=tuple(model.external_buffers) or None,
            buffers=tuple(self.buffers),
        )

    def operator_codes(self) -> tuple[Record, ...]:
        """The operators used, in the order of their first use."""
        last = tables.BUILTIN_OPERATOR["PLACEHOLDER_FOR_GREATER_OP_CODES"]
        return tuple(
            record("OperatorCode")(
                deprecated_builtin_code=min(code, last),
                builtin_code=code,
                custom_code=custom_code,
                version=version,
            )
            for code, custom_code, version in self.codes
        )

    def subgraph(self, subgraph: Subgraph) -> Record:
        """A SubGraph record."""
        return record("SubGraph")(
            name=subgraph.name or None,
            tensors=tuple(self.tensor(tensor) for tensor in subgraph.tensors),
            inputs=list(subgraph.inputs),
            outputs=list(subgraph.outputs),
            operators=tuple(self.operator(operator) for operator in subgraph.operators),
            debug_metadata_index=subgraph.debug_metadata_index,
        )

    def tensor(self, tensor: Tensor) -> Record:
        """A Tensor record."""
        if tensor.dtype not in tables.TENSOR_TYPE:
            raise ModelError(
                f"tensor '{tensor.name}': dtype must be a TensorType, got {tensor.dtype!r}"
            )
        return record("Tensor")(
            name=tensor.name or None,
            shape=list(tensor.shape),
            type=tables.TENSOR_TYPE[tensor.dtype],
            buffer=self.buffer(_buffer_content(tensor)),
            shape_signature=list(tensor.shape_signature or ()) or None,
            quantization=_quantization_record(tensor.quantization),
            is_variable=tensor.is_variable,
            sparsity=tensor.sparsity,
            has_rank=tensor.has_rank,
            variant_tensors=tuple(tensor.variant_tensors) or None,
            external_buffer=tensor.external_buffer,
        )

    def operator(self, operator: Operator) -> Record:
        """An Operator record."""
        if operator.op not in tables.BUILTIN_OPERATOR:
            raise ModelError(f"operator must be one of the schema's, got {operator.op!r}")
        key = (tables.BUILTIN_OPERATOR[operator.op], operator.custom_code, operator.version)
        name = type(operator.options).__name__
        second = name in tables.UNIONS["BuiltinOptions2"]
        return record("Operator")(
            opcode_index=self.codes.setdefault(key, len(self.codes)),
            inputs=list(operator.inputs),
            outputs=list(operator.outputs),
            builtin_options=None if second else operator.options,
            builtin_options_2=operator.options if second else None,
            custom_options=operator.custom_options,
            custom_options_format=operator.custom_options_format,
            intermediates=list(operator.intermediates) or None,
            mutating_variable_inputs=operator.mutating_variable_inputs,
            debug_metadata_index=operator.debug_metadata_index,
        )

    def buffer(self, content: bytes | np.ndarray | None) -> int:
        """Index of the buffer with this content; 0 for none."""
        if content is None:
            return 0
        if isinstance(content, np.ndarray):
            data, flat = content, np.ascontiguousarray(content).reshape(-1).view("u1")
        else:
            data = flat = np.frombuffer(content, "u1") if len(content) else np.zeros(0, "u1")
        key = (data.nbytes, hashlib.sha256(flat.data).digest())
        page_out(data)
        if key not in self.buffer_of:
            self.buffer_of[key] = len(self.buffers)
            self.buffers.append(record("Buffer")(data=data))
        return self.buffer_of[key]


def _signature_def(signature: Signature) -> Record:
    """A SignatureDef record."""

    def tensor_maps(names: dict[str, int]) -> tuple[Record, ...]:
        return tuple(record("TensorMap")(name=n, tensor_index=i) for n, i in names.items())

    return record("SignatureDef")(
        signature_key=signature.key,
        inputs=tensor_maps(signature.inputs),
        outputs=tensor_maps(signature.outputs),
        subgraph_index=signature.subgraph,
    )


def _quantization_record(quantization: Quantization | None) -> Record | None:
    """A QuantizationParameters record."""
    if quantization is None:
        return None

    def vector(values: np.ndarray | None) -> np.ndarray | None:
        return values if values is not None and len(values) else None

    return record("QuantizationParameters")(
        scale=vector(quantization.scales),
        zero_point=vector(quantization.zero_points),
        min=vector(quantization.min),
        max=vector(quantization.max),
        details=quantization.details,
        quantized_dimension=quantization.axis,
    )


def _buffer_content(tensor: Tensor) -> bytes | np.ndarray | None:
    """The bytes of a tensor's constant, as a file has them; None when there is none."""
    data = tensor.data
    if not isinstance(data, np.ndarray):
        return data
    if tensor.sparsity is None and data.shape != tuple(tensor.shape):
        raise ModelError(
            f"tensor '{tensor.name}': data must have the shape {tuple(tensor.shape)},"
            f" got {data.shape}"
        )
    if tensor.dtype == "STRING":
        return write_strings(data.reshape(-1).tolist())
    expected = TENSOR_TYPES[tensor.dtype]
    if data.dtype.byteorder == ">":
        data = data.astype(data.dtype.newbyteorder("<"))
    if data.dtype != expected:
        raise ModelError(f"tensor '{tensor.name}': data must be {expected}, got {data.dtype}")
    bits = PACKED_BITS.get(tensor.dtype)
    if bits is None and not data.flags.c_contiguous:
        return data  # put in order when it is written
    flat = np.ascontiguousarray(data).reshape(-1).view("u1")
    return flat if bits is None else _packed(flat, bits)


def _packed(values: np.ndarray, bits: int) -> np.ndarray:
    """Elements of 2 or 4 bits, several to a byte, the first one lowest."""
    per_byte = 8 // bits
    padded = np.zeros(-(-len(values) // per_byte) * per_byte, "u1")
    padded[: len(values)] = values & ((1 << bits) - 1)
    shifts = np.arange(0, 8, bits, dtype="u1")
    return np.bitwise_or.reduce(padded.reshape(-1, per_byte) << shifts, axis=1)
