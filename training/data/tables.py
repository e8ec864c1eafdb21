"""Lookup tables of what datasets have: `tf.data.experimental.table_from_dataset` and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ...graph.core.composite.type_specs import TensorSpec
from ...graph.core.create import create
from ...graph.core.dtype import as_dtype
from ...graph.core.scopes import GraphKeys, add_to_collection, name_scope
from ...graph.functions.resources.lookup import (
    LookupTable,
    StaticHashTable,
    StaticVocabularyTable,
    TableInitializer,
)
from .base import int64

if TYPE_CHECKING:
    from ...graph.core.graph import Operation
    from ...graph.core.typing import DTypeLike, TensorLike
    from .dataset import Dataset


class DatasetInitializer(TableInitializer):
    """Keys and values from a dataset, for `tf.lookup.StaticHashTable`.

    Args:
        dataset: Of pairs of scalars, a key and its value.

    Raises ValueError where elements are something else.
    """

    def __init__(self, dataset: Dataset):
        key, value = _pair(dataset.element_spec)
        super().__init__(key.dtype, value.dtype)
        self.dataset = dataset

    def initialize(self, table: LookupTable) -> Operation:
        """See TableInitializer."""
        self._require_types_of(table)
        op = create(
            "InitializeTableFromDataset", [table.resource_handle, self.dataset.variant_tensor]
        )
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        return op


def _pair(spec: object) -> tuple[TensorSpec, TensorSpec]:
    """What is known of keys and values; ValueError unless they are pairs of scalars."""
    words = (
        "Datasets used to initialize lookup tables must produce elements in the form (key, value), "
        "where the keys and values are scalar tensors. However, the given dataset produces"
    )
    parts = cast("Sequence[object]", spec) if isinstance(spec, tuple) else (spec,)
    if len(parts) != 2:
        raise ValueError(
            f"{words} {len(parts)} components instead of two (key, value) components. Full dataset "
            f"element spec: {spec}."
        )
    for name, part in zip(("key", "value"), parts, strict=True):
        if not isinstance(part, TensorSpec):
            raise ValueError(f"{words} non-Tensor {name}s of type {type(part)}.")
        if part.shape.rank:
            raise ValueError(f"{words} non-scalar {name} Tensors of rank {part.shape.rank}.")
    return cast("tuple[TensorSpec, TensorSpec]", tuple(parts))


def table_from_dataset(
    dataset: Dataset,
    num_oov_buckets: int = 0,
    vocab_size: TensorLike | None = None,
    default_value: TensorLike | None = None,
    hasher_spec: None = None,
    key_dtype: DTypeLike = "string",
    name: str | None = None,
) -> LookupTable:
    """A table of pairs of keys and values, which `tf.tables_initializer` fills.

    Args:
        dataset: Of pairs of scalars.
        num_oov_buckets: Numbers behind those of the keys, among which keys that are not there
            share by their hash; then values are int64.
        vocab_size: How many pairs there are, at least 1; as many as there are by default.
        default_value: The value of keys that are not there; -1 by default, where values are
            numbers.
        hasher_spec: None: keys are hashed by FarmHash's Fingerprint64.
        key_dtype: Of the keys that are looked up: integers or strings.
        name: Of the operations.

    Raises:
        ValueError: Elements are no pairs of scalars, a number is out of its range, or there is no
            `default_value` for values that are no numbers.
        TypeError: Keys are of another type.
        FailedPreconditionError: When it is filled and there are fewer pairs than `vocab_size`.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     words = tf.data.Dataset.from_tensor_slices(["no", "yes"])
    ...     table = tf.data.experimental.index_table_from_dataset(words)
    ...     session.run(tf.tables_initializer())
    ...     print(session.run(table.lookup(tf.constant(["yes", "maybe"]))))
    [ 1 -1]
    """
    _, value = _pair(dataset.element_spec)
    if hasher_spec is not None:
        raise ValueError(f"`hasher_spec` must be None, got {hasher_spec!r}")
    if default_value is None:
        default_value = -1
        if not (value.dtype.is_integer or value.dtype.is_floating):
            raise ValueError(
                "`default_value` must be specified when creating a table from a dataset that "
                f"produces values of type {value.dtype!s}."
            )
    if num_oov_buckets < 0:
        raise ValueError(
            f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}."
        )
    n_pairs = None if vocab_size is None else int64(vocab_size)
    if n_pairs is not None and n_pairs.value is not None and n_pairs.value < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    kind = as_dtype(key_dtype)
    if not kind.is_integer and kind != as_dtype("string"):
        raise TypeError(f"`key_dtype` must be either an integer or string type, but got {kind!s}")
    if n_pairs is not None:
        dataset = dataset.take(n_pairs)
        dataset = dataset.with_inputs("AssertCardinalityDataset", [n_pairs])
    with name_scope(name, "string_to_index", None):
        initializer = DatasetInitializer(dataset)
        with name_scope(None, "hash_table", None):
            if num_oov_buckets:
                return StaticVocabularyTable(initializer, num_oov_buckets, kind)
            return StaticHashTable(initializer, default_value)


def index_table_from_dataset(
    dataset: Dataset,
    num_oov_buckets: int = 0,
    vocab_size: TensorLike | None = None,
    default_value: TensorLike = -1,
    hasher_spec: None = None,
    key_dtype: DTypeLike = "string",
    name: str | None = None,
) -> LookupTable:
    """A table of keys, whose values are their places in the dataset: int64 from 0 on.

    `dataset` has keys alone; `vocab_size` is how many of them count, `default_value` the value of
    others. Arguments and errors are those of `table_from_dataset`.
    """
    pairs = dataset.enumerate().map(lambda place, key: (key, place))
    return table_from_dataset(
        pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name
    )
