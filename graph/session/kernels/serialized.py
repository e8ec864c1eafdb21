"""Sparse tensors as strings: each part is a TensorProto message."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema import proto
from ....schema.errors import InvalidArgumentError
from ...format.tensor_proto import TensorReader, write
from ..resources import resource_kernel

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ...format.messages import TensorProto
    from ..state import State


def serialized_parts(*arrays: np.ndarray) -> np.ndarray:
    """Arrays as messages."""
    strings = np.empty(len(arrays), object)
    strings[:] = [write(array).SerializeToString() for array in arrays]
    return strings


def _array(string: bytes, where: str) -> np.ndarray:
    try:
        message = proto.parse("TensorProto", string)
        return TensorReader().read(cast("TensorProto", message), where)
    except ValueError:
        words = f"Could not parse serialized_sparse[{where}]"
        raise InvalidArgumentError(None, None, words) from None


@resource_kernel("SerializeSparse")
def serialize_sparse(
    op: Operation, state: State, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> np.ndarray:
    """Indices, values and shape."""
    return serialized_parts(indices, values, shape)


@resource_kernel("SerializeManySparse")
def serialize_many_sparse(
    op: Operation, state: State, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> np.ndarray:
    """Indices, values and shape of each row."""
    if len(shape) < 2:
        words = f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}"
        raise InvalidArgumentError(None, None, words)
    rows = [indices[:, 0] == row for row in range(int(shape[0]))]
    strings = [serialized_parts(indices[row, 1:], values[row], shape[1:]) for row in rows]
    return np.stack(strings) if strings else np.empty((0, 3), object)


@resource_kernel("DeserializeManySparse", "DeserializeSparse")
def deserialize_sparse(op: Operation, state: State, strings: np.ndarray) -> KernelResult:
    """One sparse tensor of several of equal rank, whose first dimensions say which they were."""
    if not strings.ndim or strings.shape[-1] != 3:
        words = f"Serialized sparse should have 3 as the last dimension {list(strings.shape)}"
        raise InvalidArgumentError(None, None, words)
    outer = strings.shape[:-1]
    all_indices: list[np.ndarray] = []
    all_values: list[np.ndarray] = []
    sizes: list[np.ndarray] = []
    for position in np.ndindex(outer):
        parts = [_array(strings[(*position, i)], f"{position}, {i}") for i in range(3)]
        indices, values, shape = parts
        if sizes and len(sizes[0]) != len(shape):
            words = f"Inconsistent rank across SparseTensors: rank prior to SparseTensor[{position}"
            raise InvalidArgumentError(
                None, None, f"{words}] was: {len(sizes[0])} but rank is: {len(shape)}"
            )
        before = np.tile(np.array(position, np.int64), (len(indices), 1))
        all_indices.append(np.concatenate([before, indices], 1) if outer else indices)
        all_values.append(values)
        sizes.append(shape)
    if not sizes:
        words = "Must have at least 1 serialized SparseTensor, but input matrix has 0 rows"
        raise InvalidArgumentError(None, None, words)
    largest = np.max(sizes, 0) if len(sizes[0]) else np.zeros(0, np.int64)
    dense_shape = np.concatenate([np.array(outer, np.int64), largest.astype(np.int64)])
    return [np.concatenate(all_indices), np.concatenate(all_values), dense_shape]
