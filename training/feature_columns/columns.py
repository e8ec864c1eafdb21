"""What every column is, and the features that columns are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...graph.core.build import ops
from ...graph.core.composite.sparse_tensor import SparseTensor
from ...graph.core.create import convert_to_tensor
from ...graph.core.dtype import as_dtype
from ...graph.core.graph import Tensor
from ...graph.functions.array.casting import cast
from ...graph.functions.sparse.tensors import from_dense
from ...graph.variables.variables import Variable


class Ids(NamedTuple):
    """The categories of each row.

    Attributes:
        ids: [rows, ...] int64, below the column's number of categories.
        weights: Of each of them; None where all count alike.
    """

    ids: SparseTensor
    weights: SparseTensor | None = None


@dataclass
class Features:
    """The features of a model by name, and what columns made of them, once each."""

    by_name: Mapping[str, Any]
    results: MutableMapping[Any, Any] = field(default_factory=dict)

    def raw(self, key: str) -> Tensor | SparseTensor:
        """A feature as it came, of at least rank 2; ValueError when it is not there."""
        if key not in self.by_name:
            raise ValueError(f"Feature {key} is not in features dictionary.")
        feature = self.by_name[key]
        if isinstance(feature, SparseTensor):
            return feature
        tensor = convert_to_tensor(feature, name=key)
        if tensor.sizes == ():
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {tensor}")
        return ops.ExpandDims(tensor, np.int32(-1)) if tensor.get_shape().ndims == 1 else tensor

    def of(self, column: Column) -> Any:
        """What a column makes of its features."""
        if column not in self.results:
            self.results[column] = column.transformed(self)
        return self.results[column]

    def sparse(self, key: str) -> SparseTensor:
        """A feature without what is empty: "" of strings, -1 of whole numbers."""
        feature = self.raw(key)
        if isinstance(feature, SparseTensor):
            return feature
        if as_dtype(feature.dtype).is_integer:
            indices = ops.Where(ops.NotEqual(feature, np.asarray(-1, feature.dtype)))
            shape = ops.Shape(feature, out_type=np.dtype(np.int64))
            return SparseTensor(indices, ops.GatherNd(feature, indices), shape)
        return from_dense(feature)


class Column(ABC):
    """One column."""

    @property
    @abstractmethod
    def name(self) -> str:
        """By which columns are sorted, and their variables' scopes are called."""

    @property
    @abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """How its features are parsed from an Example."""

    @abstractmethod
    def transformed(self, features: Features) -> Any:
        """The tensors that its results are made of."""


class DenseColumn(Column):
    """A column that is numbers."""

    @property
    def scope(self) -> str:
        """The variable scope of its variables."""
        return self.name

    @property
    @abstractmethod
    def variable_shape(self) -> tuple[int, ...]:
        """The shape of one row."""

    @abstractmethod
    def dense(
        self, features: Features, collections: Sequence[str], trainable: bool
    ) -> tuple[Tensor, list[Variable]]:
        """[rows, *variable_shape], and the variables that it took."""


class CategoricalColumn(Column):
    """A column that is categories."""

    @property
    @abstractmethod
    def num_buckets(self) -> int:
        """How many categories there are."""

    def ids(self, features: Features) -> Ids:
        """The categories of each row."""
        transformed = features.of(self)
        return transformed if isinstance(transformed, Ids) else Ids(transformed)


def require_key(key: object) -> str:
    """The name of a feature; ValueError for what is no string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")
    return key


def require_string_or_int(dtype: Any, what: str) -> None:
    """ValueError unless a dtype is of strings or of whole numbers."""
    kind = as_dtype(dtype)
    if kind.name != "string" and not kind.is_integer:
        raise ValueError(f"{what} dtype must be string or integer. dtype: {kind!s}.")


def as_ids(values: Tensor, like: SparseTensor) -> SparseTensor:
    """Categories at the places of a feature."""
    return SparseTensor(like.indices, cast(values, np.int64), like.dense_shape)
