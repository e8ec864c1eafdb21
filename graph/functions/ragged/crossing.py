"""Crosses of features of ragged, sparse and whole tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.sparse_tensor import SparseTensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from .operands import as_ragged

if TYPE_CHECKING:
    from ...core.typing import TensorLike

_HASH_KEY = 0xDECAFCAFFE
"""TensorFlow's key of crosses."""


def _feature_of(x: object) -> RaggedTensor | SparseTensor | Tensor:
    """An input as a tensor; of the value of a sparse or ragged one such a tensor."""
    if hasattr(x, "dense_shape"):
        return SparseTensor.from_value(cast("SparseTensor", x))
    return as_ragged(cast("TensorLike", x))


def _feature(values: Tensor, number: int) -> Tensor:
    """Strings as they are, whole numbers in int64."""
    if values.dtype.kind == "O" or values.dtype == np.int64:
        return values
    if values.dtype.kind not in "iu":
        raise ValueError(f"Unexpected dtype for inputs[{number}]: {values.dtype.name}")
    return ops.Cast(values, DstT=np.dtype(np.int64))


def cross(
    inputs: Sequence[RaggedTensor | SparseTensor | TensorLike],
    hashed: bool,
    num_buckets: int,
    hash_key: int | None,
    name: str | None,
) -> RaggedTensor:
    """Every choice of one feature of each input, in each row; see `tf.ragged.cross`.

    Raises:
        TypeError: The inputs are no list.
        ValueError: One has other than two dimensions or no features.
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    with name_scope(name, "RaggedCross"):
        tensors = [x if isinstance(x, (SparseTensor, Tensor)) else _feature_of(x) for x in inputs]
        for tensor in tensors:
            rank = tensor.get_shape().rank
            is_deep = isinstance(tensor, RaggedTensor) and tensor.ragged_rank != 1
            if is_deep or rank not in (None, 2):
                raise ValueError(f"tf.ragged.cross only supports inputs with rank=2, got {tensor}")
        ragged = [x for x in tensors if isinstance(x, RaggedTensor)]
        sparse = [x for x in tensors if isinstance(x, SparseTensor)]
        dense = [x for x in tensors if isinstance(x, Tensor)]
        kinds = {RaggedTensor: "R", SparseTensor: "S", Tensor: "D"}
        order = "".join(next(v for k, v in kinds.items() if isinstance(x, k)) for x in tensors)
        splits = {x.rows.dtype for x in ragged}
        values, rows = ops.RaggedCross(
            [_feature(x.flat_values, tensors.index(x)) for x in ragged],
            [x.row_splits for x in ragged],
            [x.indices for x in sparse],
            [_feature(x.values, tensors.index(x)) for x in sparse],
            [x.dense_shape for x in sparse],
            [_feature(x, next(i for i, y in enumerate(tensors) if y is x)) for x in dense],
            input_order=order,
            hashed_output=hashed,
            num_buckets=num_buckets,
            hash_key=_HASH_KEY if hash_key is None else hash_key,
            out_values_type=np.dtype(np.int64 if hashed else object),
            out_row_splits_type=np.dtype(np.int32 if splits == {np.dtype(np.int32)} else np.int64),
        )
        return RaggedTensor.from_row_splits(values, rows, validate=False)
