"""Columns as a layer of inputs, and as a linear model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from ...graph.core.build import ops
from ...graph.core.dtype import DType, as_dtype
from ...graph.core.graph import Tensor
from ...graph.core.scopes import GraphKeys, name_scope
from ...graph.functions.array.array import concat
from ...graph.functions.sparse.embedding import safe_embedding_lookup_sparse
from ...graph.functions.sparse.tensors import reshape
from ...graph.variables.get_variable import get_variable
from ...graph.variables.initializers import Zeros
from ...graph.variables.variable_scope import variable_scope
from ...graph.variables.variables import Variable
from .columns import CategoricalColumn, Column, DenseColumn, Features
from .numeric import NumericColumn, n_elements, numeric_column

Variables = MutableMapping[Any, Any]
"""Column -> the variables that a model made of it."""


def _listed(feature_columns: Any) -> list[Any]:
    """Columns as a list, each name once; ValueError or TypeError otherwise."""
    if isinstance(feature_columns, Column):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, Mapping):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    columns = [*feature_columns]
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict[str, Any] = {}
    for column in columns:
        name = getattr(column, "name", None)
        if name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {by_name[name]}. "
                "This usually means that these columns refer to same base feature. Either one must "
                "be discarded or a duplicated but renamed item must be inserted in features dict."
            )
        by_name[str(name)] = column
    return columns


def _collections(weight_collections: Iterable[str] | None) -> list[str]:
    names = [*(weight_collections or [])]
    for name in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES):
        if name not in names:
            names.append(name)
    return names


def input_layer(
    features: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    cols_to_vars: Variables | None = None,
    cols_to_output_tensors: MutableMapping[Any, Tensor] | None = None,
) -> Tensor:
    """The numbers of all columns side by side, in the order of the columns' names.

    Args:
        features: Name -> tensor or SparseTensor, a row for each example.
        feature_columns: Columns of numbers.
        weight_collections: What tables are added to, besides the graph's variables.
        trainable: Whether tables are trained.
        cols_to_vars: Takes the variables of each column.
        cols_to_output_tensors: Takes the tensor of each column.

    Returns [rows, numbers] float32.

    Raises ValueError for no columns, one twice, or one that is no numbers.
    """
    columns = _listed(feature_columns)
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical "
                f"column with an embedding_column or indicator_column. Given: {column}"
            )
    collections, cache = _collections(weight_collections), Features(features)
    tensors: list[Tensor] = []
    with variable_scope(None, default_name="input_layer"):
        for column in sorted(columns, key=lambda column: column.name):
            with variable_scope(None, default_name=column.scope):
                tensor, variables = column.dense(cache, collections, trainable)
                rows = ops.Shape(tensor)[0]
                flat = ops.Reshape(tensor, ops.Pack([rows, np.int32(n_elements(column))]))
                flat.set_shape((None, n_elements(column)))
                tensors.append(flat)
                if cols_to_vars is not None:
                    cols_to_vars[column] = variables
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = flat
        return concat(tensors, 1)


def linear_model(
    features: Mapping[str, Any],
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    cols_to_vars: Variables | None = None,
) -> Tensor:
    """The weighted sum of all columns: numbers by their weights, categories by one for each.

    Args:
        features: See `input_layer`.
        feature_columns: Columns of numbers or of categories.
        units: How many sums there are.
        sparse_combiner: "sum", "mean" or "sqrtn" of the categories of a row.
        weight_collections, trainable: See `input_layer`.
        cols_to_vars: Takes the variables of each column, and of "bias".

    Returns [rows, units] float32.

    Raises ValueError for no columns, one twice, or something else.
    """
    columns = _listed(feature_columns)
    for column in columns:
        if not isinstance(column, (DenseColumn, CategoricalColumn)):
            raise ValueError(
                "Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. "
                f"Given: {column}"
            )
    collections, cache = _collections(weight_collections), Features(features)
    sums: list[Tensor] = []
    with variable_scope(None, default_name="linear_model"):
        for column in sorted(columns, key=lambda column: column.name):
            scope = column.scope if isinstance(column, DenseColumn) else column.name
            with variable_scope(None, default_name=scope):
                total, variables = _weighted_sum(
                    column, cache, units, sparse_combiner, collections, trainable
                )
            sums.append(total)
            if cols_to_vars is not None:
                cols_to_vars[column] = variables
        whole = ops.AddN(sums, name="weighted_sum_no_bias")
        bias = get_variable(
            "bias_weights",
            [units],
            np.float32,
            Zeros(),
            trainable=trainable,
            collections=collections,
        )
        if cols_to_vars is not None:
            cols_to_vars["bias"] = [bias]
        return ops.BiasAdd(whole, bias, name="weighted_sum")


def _weighted_sum(
    column: Column,
    features: Features,
    units: int,
    combiner: str,
    collections: Sequence[str],
    trainable: bool,
) -> tuple[Tensor, list[Variable]]:
    """[rows, units] of one column, and its variables."""

    def weights(n: int) -> Variable:
        return get_variable(
            "weights", (n, units), np.float32, Zeros(), trainable=trainable, collections=collections
        )

    if isinstance(column, CategoricalColumn):
        ids, factors = column.ids(features)
        rows = ops.Pack([ids.dense_shape[0], np.int64(-1)])
        table = weights(column.num_buckets)
        total = safe_embedding_lookup_sparse(
            table,
            reshape(ids, rows),
            None if factors is None else reshape(factors, rows),
            combiner,
            name="weighted_sum",
        )
        return total, [table]
    assert isinstance(column, DenseColumn)
    n = n_elements(column)
    tensor, variables = column.dense(features, collections, trainable)
    flat = ops.Reshape(tensor, ops.Pack([ops.Shape(tensor)[0], np.int32(n)]))
    table = weights(n)
    with name_scope("weighted_sum"):
        return ops.MatMul(flat, table), [*variables, table]


def make_parse_example_spec(feature_columns: Iterable[Column]) -> dict[str, Any]:
    """How `tf.io.parse_example` reads all features of columns.

    Raises ValueError for what is no column, or columns that read a feature in different ways.
    """
    result: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, Column):
            raise ValueError(
                f"All feature_columns must be _FeatureColumn instances. Given: {column}"
            )
        for key, value in column.parse_example_spec.items():
            if key in result and value != result[key]:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. "
                    f"Given {value} and {result[key]}"
                )
            result[key] = value
    return result


class SequenceNumericColumn(NumericColumn):
    """See `sequence_numeric_column`."""

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of any length."""
        from ...graph.functions.io.features import VarLenFeature

        return {self.key: VarLenFeature(as_dtype(self.dtype))}


def sequence_numeric_column(
    key: str,
    shape: int | Sequence[int] = (1,),
    default_value: float = 0.0,
    dtype: DType | Any = np.float32,
    normalizer_fn: Any = None,
) -> SequenceNumericColumn:
    """Numbers of the steps of sequences.

    Args:
        key, shape, dtype, normalizer_fn: See `numeric_column`.
        default_value: What fills up the shorter sequences.

    Raises what `numeric_column` raises.
    """
    column = numeric_column(key, shape, None, dtype, normalizer_fn)
    return SequenceNumericColumn(
        column.key, column.shape, (default_value,), column.dtype, column.normalizer_fn
    )
