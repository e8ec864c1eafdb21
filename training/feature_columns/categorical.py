"""Columns of categories: by hashes, numbers, vocabularies, crosses, and with weights."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from typing import cast as cast_type

import numpy as np

from ...graph.core.build import ops
from ...graph.core.composite.sparse_tensor import SparseTensor
from ...graph.core.dtype import DType, as_dtype
from ...graph.core.graph import Tensor
from ...graph.functions.array.casting import cast
from ...graph.functions.io.features import VarLenFeature
from ...graph.functions.resources.lookup import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)
from ...graph.functions.sparse.arithmetic import cross_hashed
from ...graph.functions.sparse.tensors import from_dense
from .columns import (
    CategoricalColumn,
    Features,
    Ids,
    as_ids,
    require_key,
    require_string_or_int,
)

STRINGS, WHOLE_NUMBERS = np.dtype(object), np.dtype(np.int64)


def _words(tensor: SparseTensor) -> Tensor:
    """The values of a feature as strings."""
    return tensor.values if as_dtype(tensor.dtype).name == "string" else ops.AsString(tensor.values)


@dataclass(frozen=True)
class _OfFeature(CategoricalColumn):
    """A column of the categories of one feature."""

    key: str

    @property
    def name(self) -> str:
        """The feature's."""
        return self.key

    @property
    def feature_dtype(self) -> Any:
        """How the feature is parsed."""
        return WHOLE_NUMBERS

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of any length."""
        return {self.key: VarLenFeature(as_dtype(self.feature_dtype))}


@dataclass(frozen=True)
class HashedCategoricalColumn(_OfFeature):
    """See `categorical_column_with_hash_bucket`."""

    hash_bucket_size: int
    dtype: DType

    @property
    def feature_dtype(self) -> Any:
        """As it was said."""
        return self.dtype

    @property
    def num_buckets(self) -> int:
        """As many as there are hashes."""
        return self.hash_bucket_size

    def transformed(self, features: Features) -> SparseTensor:
        """The hashes."""
        tensor = features.sparse(self.key)
        require_string_or_int(tensor.dtype, f"column_name: {self.key} input_tensor")
        hashes = ops.StringToHashBucketFast(
            _words(tensor), num_buckets=self.hash_bucket_size, name="lookup"
        )
        return as_ids(hashes, tensor)


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = STRINGS
) -> HashedCategoricalColumn:
    """Categories that are hashes of words or whole numbers.

    Args:
        key: The feature's name.
        hash_bucket_size: How many categories there are.
        dtype: Of the feature, strings or whole numbers.

    Raises ValueError for less than 1 category, or another dtype.
    """
    if hash_bucket_size is None or hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    require_string_or_int(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(require_key(key), hash_bucket_size, as_dtype(dtype))


@dataclass(frozen=True)
class IdentityCategoricalColumn(_OfFeature):
    """See `categorical_column_with_identity`."""

    number_buckets: int
    default_value: int | None

    @property
    def num_buckets(self) -> int:
        """As it was said."""
        return self.number_buckets

    def transformed(self, features: Features) -> SparseTensor:
        """The numbers; what is out of range is the default, where there is one."""
        tensor = features.sparse(self.key)
        if not as_dtype(tensor.dtype).is_integer:
            raise ValueError(
                f"Invalid input, not integer. key: {self.key} dtype: {as_dtype(tensor.dtype)!s}"
            )
        values = cast(tensor.values, np.int64)
        if self.default_value is None:
            return as_ids(values, tensor)
        count, zero = np.int64(self.number_buckets), np.int64(0)
        is_out = ops.LogicalOr(ops.Less(values, zero), ops.GreaterEqual(values, count))
        default = ops.Fill(ops.Shape(values), np.int64(self.default_value))
        return as_ids(ops.Select(is_out, default, values), tensor)


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Categories that are the feature's whole numbers.

    Args:
        key: The feature's name.
        num_buckets: How many there are.
        default_value: What others become; without it an indicator has none of them, and a table
            fails when it runs.

    Raises ValueError for less than 1 category, or a default that is none of them.
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    return IdentityCategoricalColumn(require_key(key), num_buckets, default_value)


@dataclass(frozen=True)
class _VocabularyColumn(_OfFeature):
    """A column of the places of words, or of whole numbers, in a vocabulary."""

    dtype: DType
    num_oov_buckets: int
    default_value: int

    @property
    def feature_dtype(self) -> Any:
        """As it was said."""
        return self.dtype

    @abstractmethod
    def initializer(self, key_dtype: np.dtype) -> Any:
        """What fills the table."""

    def transformed(self, features: Features) -> SparseTensor:
        """The places."""
        tensor = features.sparse(self.key)
        is_text = self.dtype.name == "string"
        if is_text is not (as_dtype(tensor.dtype).name == "string"):
            raise ValueError(
                "Column dtype and SparseTensors dtype must be compatible. "
                f"key: {self.key}, column dtype: {self.dtype!s}, "
                f"tensor dtype: {as_dtype(tensor.dtype)!s}"
            )
        keys = tensor.values if is_text else cast(tensor.values, np.int64)
        initializer = self.initializer(STRINGS if is_text else WHOLE_NUMBERS)
        name = f"{self.key}_lookup"
        if self.num_oov_buckets:
            table = StaticVocabularyTable(
                initializer, self.num_oov_buckets, name=name, lookup_key_dtype=keys.dtype
            )
        else:
            table = StaticHashTable(initializer, self.default_value, name=name)
        return as_ids(cast_type("Tensor", table.lookup(keys)), tensor)


@dataclass(frozen=True)
class VocabularyListCategoricalColumn(_VocabularyColumn):
    """See `categorical_column_with_vocabulary_list`."""

    vocabulary_list: tuple[Any, ...]

    @property
    def num_buckets(self) -> int:
        """The words, and the places of others."""
        return len(self.vocabulary_list) + self.num_oov_buckets

    def initializer(self, key_dtype: np.dtype) -> Any:
        """The words and their places."""
        words = np.array(self.vocabulary_list, key_dtype)
        return KeyValueTensorInitializer(words, np.arange(len(words), dtype=np.int64))


def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """Categories that are places in a list.

    Args:
        key: The feature's name.
        vocabulary_list: Words or whole numbers, each once.
        dtype: Of the feature, strings or whole numbers; by default as the list has it.
        default_value: The category of what is not in the list.
        num_oov_buckets: How many categories what is not in the list is hashed to, instead.

    Raises ValueError for an empty list, something twice, another dtype, or both of the last two.
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    kind = as_dtype(np.array(vocabulary_list).dtype)
    kind = as_dtype("string") if kind.dtype.kind in "USO" else kind
    require_string_or_int(kind, f"column_name: {key} vocabulary")
    _require_one_default(default_value, num_oov_buckets, key)
    dtype = kind if dtype is None else as_dtype(dtype)
    require_string_or_int(dtype, f"column_name: {key}")
    if dtype.is_integer != kind.is_integer:
        raise ValueError(
            f"dtype {dtype!s} and vocabulary dtype {kind!s} do not match, column_name: {key}"
        )
    return VocabularyListCategoricalColumn(
        require_key(key), dtype, num_oov_buckets, default_value, tuple(vocabulary_list)
    )


def _require_one_default(default_value: int | None, num_oov_buckets: int, key: str) -> None:
    if num_oov_buckets and default_value not in (None, -1):
        raise ValueError(
            "Can't specify both num_oov_buckets and default_value in "
            f"categorical_column_with_vocabulary of {key}."
        )
    if num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


@dataclass(frozen=True)
class VocabularyFileCategoricalColumn(_VocabularyColumn):
    """See `categorical_column_with_vocabulary_file`."""

    vocabulary_file: str
    vocabulary_size: int

    @property
    def num_buckets(self) -> int:
        """The lines, and the places of others."""
        return self.vocabulary_size + self.num_oov_buckets

    def initializer(self, key_dtype: np.dtype) -> Any:
        """The lines and their numbers."""
        return TextFileInitializer(
            self.vocabulary_file,
            key_dtype,
            TextFileIndex.WHOLE_LINE,
            np.int64,
            TextFileIndex.LINE_NUMBER,
            vocab_size=self.vocabulary_size,
        )


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = STRINGS,
) -> VocabularyFileCategoricalColumn:
    """Categories that are numbers of lines of a file.

    Args:
        key: The feature's name.
        vocabulary_file: The path of a file with a word in each line.
        vocabulary_size: How many lines are read, all without it.
        num_oov_buckets: How many categories what is in none of them is hashed to.
        default_value: The category of it, instead; -1 by default.
        dtype: Of the feature, strings or whole numbers.

    Raises ValueError for no file, less than 1 line, another dtype, or both kinds of others.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        with open(vocabulary_file, encoding="utf8") as file:
            vocabulary_size = sum(1 for _ in file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _require_one_default(default_value, num_oov_buckets, key)
    require_string_or_int(dtype, f"column_name: {key}")
    default = -1 if default_value is None else default_value
    return VocabularyFileCategoricalColumn(
        require_key(key),
        as_dtype(dtype),
        num_oov_buckets,
        default,
        vocabulary_file,
        vocabulary_size,
    )


@dataclass(frozen=True)
class CrossedColumn(CategoricalColumn):
    """See `crossed_column`."""

    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None

    @property
    def name(self) -> str:
        """The names of all that is crossed, sorted."""
        return "_X_".join(sorted(_leaves(self)))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Words, and what columns say of theirs."""
        spec: dict[str, Any] = {}
        for key in self.keys:
            spec |= (
                {key: VarLenFeature(as_dtype("string"))}
                if isinstance(key, str)
                else key.parse_example_spec
            )
        return spec

    @property
    def num_buckets(self) -> int:
        """As many as there are hashes."""
        return self.hash_bucket_size

    def transformed(self, features: Features) -> SparseTensor:
        """The hashes of all choices of one category of each."""
        parts: list[Any] = []
        for key in _leaf_columns(self):
            if isinstance(key, str):
                parts.append(features.raw(key))
                continue
            ids = key.ids(features)
            if ids.weights is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates "
                    f"weight_tensor. Given column: {key.name}"
                )
            parts.append(ids.ids)
        return cross_hashed(parts, self.hash_bucket_size, self.hash_key)


def _leaf_columns(column: CrossedColumn) -> list[Any]:
    leaves: list[Any] = []
    for key in column.keys:
        leaves += _leaf_columns(key) if isinstance(key, CrossedColumn) else [key]
    return leaves


def _leaves(column: CrossedColumn) -> list[str]:
    return [key if isinstance(key, str) else key.name for key in _leaf_columns(column)]


def crossed_column(
    keys: Sequence[str | CategoricalColumn], hash_bucket_size: int, hash_key: int | None = None
) -> CrossedColumn:
    """Categories that are hashes of combinations.

    Args:
        keys: At least two: names of features, or columns of categories but hashed ones.
        hash_bucket_size: How many categories there are.
        hash_key: What the hash begins with.

    Raises ValueError for less than 1 category or 2 keys, or another kind of column.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError(
                f"Unsupported key type. All keys must be either string, or categorical column "
                f"except HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before "
                "crossing will increase probability of collision. Instead, use the feature name as "
                f"a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


@dataclass(frozen=True)
class WeightedCategoricalColumn(CategoricalColumn):
    """See `weighted_categorical_column`."""

    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: DType

    @property
    def name(self) -> str:
        """Of the categories, and of the weights."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the categories, and the weights."""
        spec = self.categorical_column.parse_example_spec
        if self.weight_feature_key in spec:
            raise ValueError(
                f"Parse config {spec[self.weight_feature_key]} already exists for "
                f"{self.weight_feature_key}."
            )
        return spec | {self.weight_feature_key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        """That of the categories."""
        return self.categorical_column.num_buckets

    def transformed(self, features: Features) -> Ids:
        """The categories with their weights."""
        weights = features.raw(self.weight_feature_key)
        if as_dtype(self.dtype) != as_dtype(weights.dtype):
            raise ValueError(
                f"Bad dtype, expected {self.dtype!s}, but got {as_dtype(weights.dtype)!s}."
            )
        if not isinstance(weights, SparseTensor):
            weights = from_dense(weights)
        values = cast(weights.values, np.float32)
        weights = SparseTensor(weights.indices, values, weights.dense_shape)
        return Ids(self.categorical_column.ids(features).ids, weights)


def weighted_categorical_column(
    categorical_column: CategoricalColumn, weight_feature_key: str, dtype: Any = np.float32
) -> WeightedCategoricalColumn:
    """Categories with weights of another feature.

    Args:
        categorical_column: The categories.
        weight_feature_key: The feature of their weights, of the same shape.
        dtype: Of the weights.

    Raises ValueError when `dtype` is neither of floats nor of whole numbers.
    """
    kind = as_dtype(dtype)
    if not kind.is_integer and not kind.is_floating:
        raise ValueError(f"dtype {kind!s} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, kind)


@dataclass(frozen=True)
class SequenceCategoricalColumn(CategoricalColumn):
    """Categories of the steps of sequences."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:
        """Of the categories."""
        return self.categorical_column.name

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the categories."""
        return self.categorical_column.parse_example_spec

    @property
    def num_buckets(self) -> int:
        """That of the categories."""
        return self.categorical_column.num_buckets

    def transformed(self, features: Features) -> Ids:
        """[rows, steps, categories of a step]"""
        ids, weights = self.categorical_column.ids(features)
        if ids.get_shape().ndims == 2:
            shape = ops.ConcatV2([ids.dense_shape, np.array([1], np.int64)], np.int32(0))
            positions = ops.Pad(ids.indices, [[0, 0], [0, 1]])
            ids = SparseTensor(positions, ids.values, shape)
        return Ids(ids, weights)


def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = STRINGS
) -> SequenceCategoricalColumn:
    """`categorical_column_with_hash_bucket` of the steps of sequences."""
    return SequenceCategoricalColumn(
        categorical_column_with_hash_bucket(key, hash_bucket_size, dtype)
    )


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """`categorical_column_with_identity` of the steps of sequences."""
    return SequenceCategoricalColumn(
        categorical_column_with_identity(key, num_buckets, default_value)
    )


def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = STRINGS,
) -> SequenceCategoricalColumn:
    """`categorical_column_with_vocabulary_file` of the steps of sequences."""
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
        )
    )


def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """`categorical_column_with_vocabulary_list` of the steps of sequences."""
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_list(
            key, vocabulary_list, dtype, default_value, num_oov_buckets
        )
    )
