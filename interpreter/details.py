"""The dictionaries that describe tensors and operators, key by key as LiteRT gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypedDict

    from ..schema.flatbuffer import Record
    from ..schema.quantization import Quantization
    from .spec import OperatorSpec, SubgraphSpec, TensorSpec

    class QuantizationParameters(TypedDict):
        """How a tensor is quantized; empty arrays where it is not."""

        scales: np.ndarray
        zero_points: np.ndarray
        quantized_dimension: int
        block_size: int

    class DimensionDetails(TypedDict, total=False):
        """How one dimension of a sparse tensor is stored: with its size when it is dense."""

        format: int
        dense_size: int
        array_segments: np.ndarray
        array_indices: np.ndarray

    class SparsityParameters(TypedDict, total=False):
        """How a sparse tensor is stored; nothing for a dense one."""

        traversal_order: np.ndarray
        block_map: np.ndarray
        dim_metadata: list[DimensionDetails]

    class TensorDetails(TypedDict):
        """One tensor."""

        name: str
        index: int
        shape: np.ndarray
        shape_signature: np.ndarray
        dtype: type[np.generic]
        quantization: tuple[float, int]
        quantization_parameters: QuantizationParameters
        sparsity_parameters: SparsityParameters

    class OperatorDetails(TypedDict):
        """One operator."""

        index: int
        op_name: str
        inputs: np.ndarray
        outputs: np.ndarray
        operand_types: list[type[np.generic]]
        result_types: list[type[np.generic]]


def tensor_details(tensor: TensorSpec, shape: tuple[int, ...]) -> TensorDetails:
    """The description of one tensor whose shape is now `shape`."""
    quantization, pair = tensor.quantization, (0.0, 0)
    if quantization is not None and len(quantization.scales) == 1:
        pair = quantization.scale, quantization.zero_point
    return {
        "name": tensor.name,
        "index": tensor.index,
        "shape": np.array(shape, np.int32),
        "shape_signature": np.array(tensor.signature or shape, np.int32),
        "dtype": numpy_type(tensor),
        "quantization": pair,
        "quantization_parameters": _parameters(quantization),
        "sparsity_parameters": _sparsity(tensor.sparsity),
    }


def _parameters(quantization: Quantization | None) -> QuantizationParameters:
    none = quantization is None
    return {
        "scales": np.array(() if none else quantization.scales, np.float32),
        "zero_points": np.array(() if none else quantization.zero_points, np.int32),
        "quantized_dimension": 0 if none else quantization.axis,
        "block_size": 0 if none else quantization.block_size,
    }


def operator_details(spec: SubgraphSpec, operator: OperatorSpec) -> OperatorDetails:
    """The description of one operator."""
    return {
        "index": operator.position,
        "op_name": operator.kind,
        "inputs": np.array(operator.inputs, np.int32),
        "outputs": np.array(operator.outputs, np.int32),
        "operand_types": [numpy_type(spec.tensors[t]) for t in operator.inputs if t >= 0],
        "result_types": [numpy_type(spec.tensors[t]) for t in operator.outputs if t >= 0],
    }


def numpy_type(tensor: TensorSpec) -> type[np.generic]:
    """The numpy scalar type a user sees; integers of less than a byte are seen as a byte's."""
    if tensor.dtype.names or tensor.type_name == "VARIANT":
        return np.object_
    if tensor.dtype.hasobject:
        return np.bytes_
    return tensor.byte_type if tensor.bits else tensor.dtype.type


def _sparsity(record: Record | None) -> SparsityParameters:
    if record is None:
        return {}
    return {
        "traversal_order": _vector(record.traversal_order),
        "block_map": _vector(record.block_map),
        "dim_metadata": [_dimension(level) for level in record.dim_metadata or ()],
    }


def _dimension(level: Record) -> DimensionDetails:
    if level.format == 0:
        return {"format": 0, "dense_size": int(level.dense_size)}
    return {
        "format": int(level.format),
        "array_segments": _vector(getattr(level.array_segments, "values", None)),
        "array_indices": _vector(getattr(level.array_indices, "values", None)),
    }


def _vector(values: np.ndarray | None) -> np.ndarray:
    return np.array([] if values is None else values, np.int32)
