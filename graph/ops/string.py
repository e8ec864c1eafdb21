"""Strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema.fingerprint import fingerprint64
from ..core.registry import add_row, op
from ..core.shapes import Shape, merged, same

if TYPE_CHECKING:
    from ..core.protocols import OperationView


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


def _parsed_shapes(op: OperationView) -> list[Shape]:
    """Those of dense features; what is sparse or ragged has as many elements as are found."""
    batch = op.inputs[0].sizes
    n_sparse = cast("int", op.get_attr("num_sparse"))
    sparse_types, ragged = (
        cast("Sequence[object]", op.get_attr(name))
        for name in ("sparse_types", "ragged_value_types")
    )
    dense = cast("Sequence[Shape]", op.get_attr("dense_shapes"))
    rank = None if batch is None else len(batch) + 1
    shapes: list[Shape] = [(None, rank) for _ in range(n_sparse)]
    shapes += [(None,) for _ in sparse_types]
    shapes += [(rank,) for _ in range(n_sparse)]
    shapes += [None if batch is None or shape is None else batch + shape for shape in dense]
    shapes += [(None,) for _ in range(2 * len(ragged))]
    return shapes


add_row("ParseExampleV2", None, _parsed_shapes)
