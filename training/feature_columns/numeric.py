"""Columns of numbers, and their ranges as categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from ...graph.core.build import ops
from ...graph.core.composite.sparse_tensor import SparseTensor
from ...graph.core.dtype import DType, as_dtype
from ...graph.core.graph import Tensor
from ...graph.functions.array.casting import cast
from ...graph.functions.array.creation import one_hot
from ...graph.functions.io.features import FixedLenFeature
from ...graph.variables.variables import Variable
from .columns import CategoricalColumn, DenseColumn, Features, Ids, require_key


@dataclass(frozen=True)
class NumericColumn(DenseColumn):
    """See `numeric_column`."""

    key: str
    shape: tuple[int, ...]
    default_value: tuple[float, ...] | None
    dtype: DType
    normalizer_fn: Callable[[Tensor], Tensor] | None

    @property
    def name(self) -> str:
        """The feature's."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of a fixed shape."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """The feature's."""
        return self.shape

    def transformed(self, features: Features) -> Tensor:
        """The feature as float32, normalized."""
        tensor = features.raw(self.key)
        if isinstance(tensor, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. "
                f"SparseTensor is not supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return cast(tensor, np.float32)

    def dense(
        self, features: Features, collections: Sequence[str], trainable: bool
    ) -> tuple[Tensor, list[Variable]]:
        """The numbers themselves."""
        return features.of(self), []


def numeric_column(
    key: str,
    shape: int | Sequence[int] = (1,),
    default_value: float | Sequence[float] | None = None,
    dtype: Any = np.float32,
    normalizer_fn: Callable[[Tensor], Tensor] | None = None,
) -> NumericColumn:
    """A column of numbers.

    Args:
        key: The feature's name.
        shape: Of one row.
        default_value: What a row has that lacks the feature: a number, or one for each element.
        dtype: Of the feature, floats or whole numbers.
        normalizer_fn: What is made of the feature.

    Raises:
        TypeError: A size is no whole number, a default does not fit `dtype`, or `normalizer_fn` is
            no function.
        ValueError: A size is not positive, a default has another shape, or `dtype` has no numbers.
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not isinstance(size, (int, np.integer)):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {shape}")
    kind = as_dtype(dtype)
    if not kind.is_integer and not kind.is_floating:
        raise ValueError(f"dtype must be convertible to float. dtype: {kind!s}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    default = _default(default_value, sizes, kind, key)
    return NumericColumn(require_key(key), sizes, default, kind, normalizer_fn)


def _default(value: Any, shape: tuple[int, ...], dtype: DType, key: str) -> Any:
    """A default for each element, as nested tuples."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or (array.dtype.kind == "f" and dtype.is_integer):
        raise TypeError(
            f"default_value must be compatible with dtype. default_value: {value}, "
            f"dtype: {dtype!s}, key: {key}"
        )
    if array.ndim and array.shape != shape:
        raise ValueError(
            f"The shape of default_value must be equal to given shape. default_value: {value}, "
            f"shape: {shape}, default_value shape: {array.shape}, key: {key}"
        )
    return _nested(np.broadcast_to(array.astype(dtype.dtype), shape).tolist())


def _nested(value: Any) -> Any:
    return tuple(map(_nested, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class BucketizedColumn(DenseColumn, CategoricalColumn):
    """See `bucketized_column`."""

    source_column: NumericColumn
    boundaries: tuple[float, ...]

    @property
    def name(self) -> str:
        """Of the numbers, bucketized."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the numbers."""
        return self.source_column.parse_example_spec

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """A number for each range of each element."""
        return (*self.source_column.shape, len(self.boundaries) + 1)

    @property
    def num_buckets(self) -> int:
        """The ranges of all elements."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def transformed(self, features: Features) -> Tensor:
        """The range of each number."""
        return ops.Bucketize(
            features.of(self.source_column), boundaries=list(self.boundaries), name="bucketize"
        )

    def dense(
        self, features: Features, collections: Sequence[str], trainable: bool
    ) -> tuple[Tensor, list[Variable]]:
        """1 for the range of each number, 0 for the others."""
        ranges = cast(features.of(self), np.int64)
        return one_hot(ranges, len(self.boundaries) + 1, 1.0, 0.0), []

    def ids(self, features: Features) -> Ids:
        """The range of each element, those of the next element behind those of the one before."""
        ranges = features.of(self)
        n = self.source_column.shape[0]
        rows = ops.Shape(ranges)[0]
        row = ops.Reshape(
            ops.Tile(
                ops.ExpandDims(ops.Range(np.int32(0), rows, np.int32(1)), np.int32(1)), [1, n]
            ),
            [-1],
        )
        column = ops.Tile(np.arange(n, dtype=np.int32), ops.ExpandDims(rows, np.int32(0)))
        flat = ops.Reshape(ranges, [-1]) + np.int32(len(self.boundaries) + 1) * column
        indices = cast(ops.Transpose(ops.Pack([row, column]), [1, 0]), np.int64)
        shape = cast(ops.Pack([rows, np.int32(n)]), np.int64)
        return Ids(SparseTensor(indices, cast(flat, np.int64), shape))


def bucketized_column(
    source_column: NumericColumn, boundaries: Sequence[float]
) -> BucketizedColumn:
    """The ranges of a column's numbers.

    Args:
        source_column: A `numeric_column` of one dimension.
        boundaries: Ascending; each is the least number of a range, the first of which has no end.

    Raises ValueError for another column, or boundaries that do not ascend.
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). "
            f"Given: {source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)):
        raise ValueError("boundaries must be a sorted list.")
    if any(low >= high for low, high in pairwise(boundaries)):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


def n_elements(column: DenseColumn) -> int:
    """How many numbers a row of a column has."""
    return prod(column.variable_shape)
