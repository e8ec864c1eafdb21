"""Strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....schema.fingerprint import fingerprint64
from ...core.registry import op
from ...core.shapes import Shape, merged, same

if TYPE_CHECKING:
    from ...core.protocols import OperationView


def _join_shape(op: OperationView) -> Shape:
    """That of the inputs which are not single strings."""
    shapes = [tensor.sizes for tensor in op.inputs]
    if None in shapes:
        return None
    return merged(op, [i for i, shape in enumerate(shapes) if shape != ()]) or ()


@op("StringJoin", shape=_join_shape)
def string_join(*inputs: np.ndarray, separator: bytes) -> np.ndarray:
    """The strings of all inputs one after another, single ones for each of the others."""
    arrays = np.broadcast_arrays(*inputs) or [np.array(b"", object)]
    result = np.empty(arrays[0].shape, object)
    for i, parts in enumerate(zip(*(array.flat for array in arrays), strict=True)):
        result.flat[i] = separator.join(parts)
    return result


@op("StringToHashBucketFast", shape=same)
def string_to_hash_bucket_fast(x: np.ndarray, *, num_buckets: int) -> np.ndarray:
    """The fingerprint of each string modulo a number."""
    numbers = [fingerprint64(text) % num_buckets for text in x.ravel().tolist()]
    return np.array(numbers, np.int64).reshape(x.shape)
