"""The dictionaries that describe tensors and operators, key by key as LiteRT gives them."""

from typing import Any

import numpy as np

from ..schema.quantization import Quantization
from .spec import OperatorSpec, SubgraphSpec, TensorSpec

_NONE = Quantization(np.empty(0, np.float32), np.empty(0, np.int64))


def tensor_details(tensor: TensorSpec, shape: tuple[int, ...]) -> dict[str, Any]:
    """The description of one tensor whose shape is now `shape`."""
    quantization = tensor.quantization or _NONE
    per_tensor = len(quantization.scales) == 1
    return {
        "name": tensor.name,
        "index": tensor.index,
        "shape": np.array(shape, np.int32),
        "shape_signature": np.array(tensor.signature or shape, np.int32),
        "dtype": numpy_type(tensor),
        "quantization": ((quantization.scale, quantization.zero_point) if per_tensor else (0.0, 0)),
        "quantization_parameters": {
            "scales": np.array(quantization.scales, np.float32),
            "zero_points": np.array(quantization.zero_points, np.int32),
            "quantized_dimension": quantization.axis,
            "block_size": quantization.block_size,
        },
        "sparsity_parameters": _sparsity(tensor.sparsity),
    }


def operator_details(spec: SubgraphSpec, operator: OperatorSpec) -> dict[str, Any]:
    """The description of one operator."""
    return {
        "index": operator.position,
        "op_name": operator.kind,
        "inputs": np.array(operator.inputs, np.int32),
        "outputs": np.array(operator.outputs, np.int32),
        "operand_types": [numpy_type(spec.tensors[t]) for t in operator.inputs if t >= 0],
        "result_types": [numpy_type(spec.tensors[t]) for t in operator.outputs if t >= 0],
    }


def numpy_type(tensor: TensorSpec) -> type:
    """The numpy scalar type a user sees; integers of less than a byte are seen as int8."""
    if tensor.dtype.names:
        return np.object_
    if tensor.dtype.hasobject:
        return np.bytes_
    return np.int8 if tensor.bits else tensor.dtype.type


def _sparsity(record: Any) -> dict[str, Any]:
    if record is None:
        return {}
    return {
        "traversal_order": _vector(record.traversal_order),
        "block_map": _vector(record.block_map),
        "dim_metadata": [_dimension(level) for level in record.dim_metadata or ()],
    }


def _dimension(level: Any) -> dict[str, Any]:
    if level.format == 0:
        return {"format": 0, "dense_size": int(level.dense_size)}
    return {
        "format": int(level.format),
        "array_segments": _vector(getattr(level.array_segments, "values", None)),
        "array_indices": _vector(getattr(level.array_indices, "values", None)),
    }


def _vector(values: Any) -> np.ndarray:
    return np.array([] if values is None else values, np.int32)
