"""Categories as numbers: counted, or as rows of a table that is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from ...graph.core.build import ops
from ...graph.core.graph import Tensor
from ...graph.functions.array.creation import one_hot
from ...graph.functions.sparse.embedding import (
    embedding_lookup_sparse,
    safe_embedding_lookup_sparse,
)
from ...graph.functions.sparse.tensors import to_dense
from ...graph.variables.get_variable import get_variable
from ...graph.variables.initializers import TruncatedNormal
from ...graph.variables.variables import Variable
from ..checkpoints.init_from_checkpoint import init_from_checkpoint
from .categorical import SequenceCategoricalColumn
from .columns import CategoricalColumn, DenseColumn, Features, Ids


def _require_no_sequence(column: DenseColumn, categories: CategoricalColumn, kind: str) -> None:
    if isinstance(categories, SequenceCategoricalColumn):
        raise ValueError(
            f"In {kind!s}: {column.name}. categorical_column must not be of type "
            "SequenceCategoricalColumn. Suggested fix A: If you wish to use input_layer, use a "
            "non-sequence categorical_column_with_*."
        )


@dataclass(frozen=True)
class IndicatorColumn(DenseColumn):
    """See `indicator_column`."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:
        """Of the categories."""
        return f"{self.categorical_column.name}_indicator"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the categories."""
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """A number for each category."""
        return (1, self.categorical_column.num_buckets)

    def transformed(self, features: Features) -> Tensor:
        """How often each category is there, or the sum of its weights."""
        ids, weights = self.categorical_column.ids(features)
        n = self.categorical_column.num_buckets
        hot = one_hot(to_dense(ids, default_value=-1), n, 1.0, 0.0)
        if weights is not None:
            hot = hot * ops.ExpandDims(to_dense(weights), np.int32(-1))
        return ops.Sum(hot, np.array([-2], np.int32))

    def dense(
        self, features: Features, collections: Sequence[str], trainable: bool
    ) -> tuple[Tensor, list[Variable]]:
        """The counts."""
        _require_no_sequence(self, self.categorical_column, "indicator_column")
        return features.of(self), []


def indicator_column(categorical_column: CategoricalColumn) -> IndicatorColumn:
    """How often each category is in a row; ValueError for what is no column of categories."""
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError(
            "Unsupported input type. Input must be a CategoricalColumn. "
            f"Given: {categorical_column}"
        )
    return IndicatorColumn(categorical_column)


@dataclass(frozen=True)
class EmbeddingColumn(DenseColumn):
    """See `embedding_column` and `shared_embedding_columns`.

    Attributes:
        shared_name: Of the table, and of the scope that it is in, where columns share it.
    """

    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Callable[..., Any]
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool
    use_safe_embedding_lookup: bool
    shared_name: str | None = None

    @property
    def name(self) -> str:
        """Of the categories."""
        kind = "embedding" if self.shared_name is None else "shared_embedding"
        return f"{self.categorical_column.name}_{kind!s}"

    @property
    def scope(self) -> str:
        """The column's, or that of all that share the table."""
        return self.name if self.shared_name is None else self.shared_name

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the categories."""
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """A row of the table."""
        return (self.dimension,)

    def transformed(self, features: Features) -> Ids:
        """The categories."""
        return self.categorical_column.ids(features)

    def dense(
        self, features: Features, collections: Sequence[str], trainable: bool
    ) -> tuple[Tensor, list[Variable]]:
        """The rows of the categories, combined."""
        _require_no_sequence(self, self.categorical_column, "embedding_column")
        ids, weights = features.of(self)
        table = self._table(features, collections, self.trainable and trainable)
        rank = ids.shape.rank
        is_safe = self.use_safe_embedding_lookup or rank is None or rank > 2
        lookup = safe_embedding_lookup_sparse if is_safe else embedding_lookup_sparse
        rows = lookup(
            table,
            ids,
            weights,
            combiner=self.combiner,
            name=f"{self.name}_weights",
            max_norm=self.max_norm,
        )
        return rows, [table]

    def _table(self, features: Features, collections: Sequence[str], trainable: bool) -> Variable:
        """The table, made once where it is shared."""
        key = ("table", self.shared_name)
        if self.shared_name is not None and key in features.results:
            return features.results[key]
        table = get_variable(
            "embedding_weights",
            (self.categorical_column.num_buckets, self.dimension),
            np.float32,
            self.initializer,
            trainable=trainable,
            collections=collections,
        )
        if self.ckpt_to_load_from is not None:
            init_from_checkpoint(self.ckpt_to_load_from, {str(self.tensor_name_in_ckpt): table})
        if self.shared_name is not None:
            features.results[key] = table
        return table


def _checked_initializer(
    dimension: int | None,
    initializer: Callable[..., Any] | None,
    ckpt_to_load_from: str | None,
    tensor_name_in_ckpt: str | None,
    what: str,
) -> Callable[..., Any]:
    """The initializer of a table; ValueError for arguments that do not go together."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. {what}")
    return initializer or TruncatedNormal(mean=0.0, stddev=1 / sqrt(dimension))


def embedding_column(
    categorical_column: CategoricalColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> EmbeddingColumn:
    """Rows of a table for categories, combined.

    Args:
        categorical_column: The categories.
        dimension: Of a row.
        combiner: "mean", "sqrtn" or "sum".
        initializer: Of the table; a truncated normal of 1 / sqrt(dimension) by default.
        ckpt_to_load_from: A checkpoint, which has it instead.
        tensor_name_in_ckpt: The table's name there.
        max_norm: Longer rows are made so long.
        trainable: Whether the table is trained.
        use_safe_embedding_lookup: Whether rows without categories are zeros, and negative numbers
            left out; without it each row must have some.

    Raises ValueError for a dimension less than 1, half of a checkpoint, or no function.
    """
    chosen = _checked_initializer(
        dimension,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        f"Embedding of column_name: {categorical_column.name}",
    )
    return EmbeddingColumn(
        categorical_column,
        dimension,
        combiner,
        chosen,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
        use_safe_embedding_lookup,
    )


def shared_embedding_columns(
    categorical_columns: Sequence[CategoricalColumn],
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> list[EmbeddingColumn]:
    """`embedding_column` of several columns, with one table.

    Args:
        categorical_columns: Columns with the same number of categories.
        dimension, combiner, initializer: See `embedding_column`.
        shared_embedding_collection_name: The scope of the table; by default of the columns' names.
        ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable, use_safe_embedding_lookup: See
            `embedding_column`.

    Raises ValueError for other numbers of categories, and what `embedding_column` raises.
    """
    chosen = _checked_initializer(
        dimension,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        "Embedding of shared columns",
    )
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    for column in ordered[1:]:
        if column.num_buckets != ordered[0].num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number "
                f"of buckets. Given column: {ordered[0]} with buckets: {ordered[0].num_buckets} "
                f"does not match column: {column} with buckets: {column.num_buckets}"
            )
    shared = shared_embedding_collection_name
    if not shared:
        shared = "_".join(column.name for column in ordered) + "_shared_embedding"
    return [
        EmbeddingColumn(
            column,
            dimension,
            combiner,
            chosen,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            max_norm,
            trainable,
            use_safe_embedding_lookup,
            shared,
        )
        for column in categorical_columns
    ]
