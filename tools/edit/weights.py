"""Weights of a model as arrays, and other ones in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...schema.dtypes import PACKED_BITS, TENSOR_TYPES, unpacked
from ...schema.model import Model, Tensor, unique_names
from .names import is_real, is_weight
from .subgraphs import copied, suggestion


def weights(model: Model) -> dict[str, np.ndarray]:
    """The constants of a model that are floats or have scales, by name.

    The name is the tensor's, "name#index" where others have it, too, and "subgraph1/name" behind
    the first subgraph.
    """
    return {name: _values(tensor) for name, tensor in _named(model) if is_weight(tensor)}


def set_weights(model: Model, arrays: Mapping[str, np.ndarray]) -> Model:
    """The model with other values of some constants, of the same shapes.

    Args:
        model: any; after `strip(model, "weights")`, too.
        arrays: by the names of `weights`: values of the constant's type, or floats, which are
            rounded to its type or to the nearest number on its scales.

    Raises ValueError when there is no such constant, or shape or type are others.
    """
    result = copied(model)
    produced = {
        id(graph.tensors[i])
        for graph in result.subgraphs
        for i in (*graph.inputs, *(i for op in graph.operators for i in op.outputs))
    }
    tensors = {
        name: tensor
        for name, tensor in _named(result)
        if is_real(tensor) and id(tensor) not in produced and tensor.sparsity is None
    }
    for name, values in arrays.items():
        if name not in tensors:
            raise ValueError(f"there is no weight '{name}'{suggestion(name, tensors)}")
        tensor = tensors[name]
        array = np.asarray(values)
        if array.shape != tuple(tensor.shape):
            raise ValueError(
                f"weight '{name}' must have the shape {tuple(tensor.shape)}, got {array.shape}"
            )
        tensor.data = _as_type(name, tensor, array)
    return result


def _values(tensor: Tensor) -> np.ndarray:
    """The values of a constant, one for each element."""
    if isinstance(tensor.data, np.ndarray):
        return tensor.data
    packed = np.frombuffer(tensor.data or b"", np.uint8)
    dtype = TENSOR_TYPES[tensor.dtype]
    return unpacked(packed, PACKED_BITS[tensor.dtype], dtype, tuple(tensor.shape))


def _named(model: Model) -> Iterator[tuple[str, Tensor]]:
    for i, graph in enumerate(model.subgraphs):
        prefix = f"subgraph{i}/" if i else ""
        names = unique_names(tensor.name for tensor in graph.tensors)
        for name, tensor in zip(names, graph.tensors, strict=True):
            yield prefix + name, tensor


def _as_type(name: str, tensor: Tensor, array: np.ndarray) -> np.ndarray:
    """Values in the type of a constant."""
    dtype = TENSOR_TYPES[tensor.dtype]
    if array.dtype == dtype:
        return array
    is_float = array.dtype.kind == "f" or array.dtype.name.startswith(("bfloat", "float"))
    quantization = tensor.quantization
    if is_float and "FLOAT" in tensor.dtype:
        return array.astype(dtype)
    if tensor.dtype in PACKED_BITS and array.dtype.kind in "iu":
        low, high = _limits(tensor)
        if array.size and (array.min() < low or array.max() > high):
            raise ValueError(
                f"weight '{name}' must be in [{low}, {high}], got {array.min()} to {array.max()}"
            )
        return array.astype(dtype)
    if is_float and quantization is not None and len(quantization.scales):
        if not np.isfinite(array).all():
            raise ValueError(f"weight '{name}' is quantized and must be finite")
        scales, zero_points = quantization.shaped(array.ndim)
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = np.where(scales == 0, 0, array.astype(np.float64) / scales) + zero_points
        return np.clip(np.rint(scaled), *_limits(tensor)).astype(dtype)
    raise ValueError(f"weight '{name}' must be {tensor.dtype.lower()} or float, got {array.dtype}")


def _limits(tensor: Tensor) -> tuple[int, int]:
    """The least and the largest integer of a tensor's type."""
    bits = PACKED_BITS.get(tensor.dtype)
    if bits is None:
        limits = np.iinfo(TENSOR_TYPES[tensor.dtype])
        return int(limits.min), int(limits.max)
    half = 2 ** (bits - 1)
    return (0, 2 * half - 1) if tensor.dtype.startswith("U") else (-half, half - 1)
