"""Tables that map keys to values: `tf.lookup`."""

from __future__ import annotations

import os
import uuid
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.sparse_tensor import SparseTensor
from ...core.create import convert_to_tensor, create
from ...core.dtype import DType, as_dtype, as_numpy
from ...core.graph import Operation, Tensor
from ...core.scopes import GraphKeys, add_to_collection, get_collection, init_scope
from ...core.scopes import name_scope as scoped
from ...ops.state.tables import LINE_NUMBER, WHOLE_LINE
from ..flow.control_flow import group, no_op

if TYPE_CHECKING:
    from _typeshed import StrPath

    from ...core.typing import DTypeLike, TensorLike

Keys: TypeAlias = "Tensor | SparseTensor | RaggedTensor"
_ASSET = "asset_path"


class TextFileIndex:
    """Columns of a text file that are none: the whole line, and its number."""

    WHOLE_LINE = WHOLE_LINE
    LINE_NUMBER = LINE_NUMBER


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that fills all tables of the default graph."""
    initializers = cast("list[Operation]", get_collection(GraphKeys.TABLE_INITIALIZERS))
    return group(*initializers, name=name) if initializers else no_op(name=name)


def _shown(dtype: DTypeLike) -> str:
    return repr(as_dtype(dtype))


def _is_integer(dtype: np.dtype) -> bool:
    return dtype.kind in "iu"


class TableInitializer(ABC):
    """What a table is filled with.

    Attributes:
        key_dtype: Type of the keys.
        value_dtype: Type of the values.
        shared_name: Of tables with these contents; None when no two share theirs.
    """

    shared_name: str | None = None

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike):
        self._key_dtype, self._value_dtype = as_numpy(key_dtype), as_numpy(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """Type of the keys."""
        return as_dtype(self._key_dtype)

    @property
    def value_dtype(self) -> DType:
        """Type of the values."""
        return as_dtype(self._value_dtype)

    @property
    def _shared_name(self) -> str:
        return self.shared_name or f"hash_table_{uuid.uuid4()}"

    @abstractmethod
    def initialize(self, table: LookupTable) -> Operation:
        """An operation that fills `table`, which joins the initializers of all tables.

        Raises TypeError for a table of other types.
        """

    def _require_types_of(self, table: LookupTable) -> None:
        pairs = (("key", table.key_dtype, self.key_dtype),
                 ("value", table.value_dtype, self.value_dtype))  # fmt: skip
        for what, theirs, ours in pairs:
            if theirs != ours:
                raise TypeError(
                    f"Invalid {what} dtype for table, expected {theirs} but got {ours}."
                )


class KeyValueTensorInitializer(TableInitializer):
    """Keys and values from two tensors of one shape.

    Args:
        keys: A vector of them.
        values: One for each key.
        key_dtype: By default that of `keys`.
        value_dtype: By default that of `values`.
        name: Of the operation that fills the table.
    """

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ):
        with init_scope():
            self._keys = convert_to_tensor(keys, key_dtype, name="keys")
            self._values = convert_to_tensor(values, value_dtype, name="values")
        self._name = name if name is not None else "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: LookupTable) -> Operation:
        """See TableInitializer."""
        self._require_types_of(table)
        with scoped(self._name, "", [table.resource_handle, self._keys]):
            op = create("LookupTableImportV2", [table.resource_handle, self._keys, self._values])
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        return op


class TextFileInitializer(TableInitializer):
    """Keys and values from the columns of a text file.

    Args:
        filename: Its path, a string or a scalar tensor of one.
        key_dtype: Type of the keys.
        key_index: Their column, or one of TextFileIndex.
        value_dtype: Type of the values.
        value_index: Their column, or one of TextFileIndex.
        vocab_size: How many lines are read, all without it.
        delimiter: Between columns.
        name: Of the operation that fills the table.
        value_index_offset: What is added to the number of a line.

    Raises ValueError for columns that there are not, types that do not suit them, and no filename.
    """

    def __init__(
        self,
        filename: StrPath | Tensor,
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ):
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        super().__init__(key_dtype, value_dtype)
        self._require_column("key", key_index, self._key_dtype)
        self._require_column("value", value_index, self._value_dtype)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._filename = filename
        self._columns, self._vocab_size = (key_index, value_index), vocab_size
        self._delimiter, self._offset = delimiter, value_index_offset
        self._name = name if name is not None else "text_file_init"
        if not isinstance(filename, Tensor):
            size = [] if vocab_size is None else [str(vocab_size)]
            offset = [str(value_index_offset)] if value_index_offset else []
            words = [os.fspath(filename), *size, str(key_index), str(value_index), *offset]
            self.shared_name = f"hash_table_{'_'.join(words)}"

    @staticmethod
    def _require_column(what: str, index: int, dtype: np.dtype) -> None:
        if index < WHOLE_LINE:
            end = "." if what == "key" else ""
            raise ValueError(f"`{what}_index` should be >= {WHOLE_LINE}, received: {index}{end}")
        if index == LINE_NUMBER and dtype != np.int64:
            raise ValueError(
                f"`{what}_dtype` must be int64 for `{what}_index` {LINE_NUMBER}, received: "
                f"{_shown(dtype)}"
            )
        if index == WHOLE_LINE and not (_is_integer(dtype) or dtype == np.dtype(object)):
            raise ValueError(
                f"`{what}_dtype` should be either integer or string for `{what}_index` "
                f"{WHOLE_LINE}, received: {_shown(dtype)}"
            )

    def initialize(self, table: LookupTable) -> Operation:
        """See TableInitializer; the file becomes an asset of what is exported."""
        self._require_types_of(table)
        filename = convert_to_tensor(
            self._filename if isinstance(self._filename, Tensor) else os.fspath(self._filename),
            np.dtype(object),
            name=_ASSET,
        )
        attrs = {
            "key_index": self._columns[0],
            "value_index": self._columns[1],
            "vocab_size": -1 if self._vocab_size is None else self._vocab_size,
            "delimiter": self._delimiter.encode(),
            "offset": self._offset,
        }
        with scoped(self._name, "", [table.resource_handle, filename]):
            inputs = [table.resource_handle, filename]
            op = create("InitializeTableFromTextFileV2", inputs, attrs)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        if filename.op.type == "Const":
            add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return op


class LookupTable(ABC):
    """What all tables have in common.

    Attributes:
        default_value: A tensor: the value of keys that are not there.
    """

    _handle: Tensor | None
    default_value: Tensor

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike):
        self._key_dtype, self._value_dtype = as_numpy(key_dtype), as_numpy(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """Type of the keys."""
        return as_dtype(self._key_dtype)

    @property
    def value_dtype(self) -> DType:
        """Type of the values."""
        return as_dtype(self._value_dtype)

    @property
    def resource_handle(self) -> Tensor:
        """The handle of the table."""
        return cast("Tensor", self._handle)

    @property
    def name(self) -> str:
        """That of the operation that makes it, without its scope."""
        return self.resource_handle.op.name.rpartition("/")[2]

    def size(self, name: str | None = None) -> Tensor:
        """How many keys there are: a scalar of int64."""
        with scoped(name, f"{self.name}_Size", [self.resource_handle]):
            return ops.LookupTableSizeV2(self.resource_handle)

    @abstractmethod
    def lookup(self, keys: Keys, name: str | None = None) -> Keys:
        """The value of each key."""

    def __getitem__(self, keys: Keys) -> Keys:
        return self.lookup(keys)

    def _require_keys(self, keys: Keys) -> None:
        if np.dtype(cast("np.dtype", keys.dtype)) != self._key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {_shown(self._key_dtype)}, received: "
                f"{_shown(cast('np.dtype', keys.dtype))}"
            )

    def _find(self, keys: Tensor, default: Tensor, scope: str) -> Tensor:
        with scoped(scope, "", [self.resource_handle, keys, default]):
            return ops.LookupTableFindV2(self.resource_handle, keys, default)

    def _export(self, scope: str) -> tuple[Tensor, Tensor]:
        attrs = {"Tkeys": self._key_dtype, "Tvalues": self._value_dtype}
        with scoped(scope, "", [self.resource_handle]):
            op = create("LookupTableExportV2", [self.resource_handle], attrs)
        return op.outputs[0], op.outputs[1]


def in_form_of(keys: Keys, values: Tensor) -> Keys:
    """Values in the form in which their keys came."""
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, values, keys.dense_shape)
    if isinstance(keys, RaggedTensor):
        return keys.with_flat_values(values)
    return values


def flat_of(keys: Keys) -> Tensor:
    """The keys alone, without the form in which they come."""
    if isinstance(keys, SparseTensor):
        return keys.values
    if isinstance(keys, RaggedTensor):
        return keys.flat_values
    return convert_to_tensor(keys)


class StaticHashTable(LookupTable):
    """A table that its initializer fills once and nothing changes afterwards.

    Attributes:
        contents: The TableInitializer.

    Args:
        initializer: What it is filled with.
        default_value: The value of keys that are not there.
        name: Of the table.
        experimental_is_anonymous: Whether it is one's own, whatever others have its contents.

    Raises TypeError for a default of another type, ValueError for one that is no scalar.
    """

    def __init__(
        self,
        initializer: TableInitializer,
        default_value: TensorLike,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self.default_value = convert_to_tensor(default_value, self._value_dtype)
        if self.default_value.sizes not in (None, ()):
            raise ValueError(f"Shapes {self.default_value.sizes} and () are not compatible")
        shared = "" if experimental_is_anonymous else initializer._shared_name  # pyright: ignore[reportPrivateUsage] - of this module
        attrs = {
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
            "shared_name": shared.encode(),
        }
        self.contents = initializer
        with init_scope():
            self._handle = create("HashTableV2", (), attrs, name or "hash_table").outputs[0]
            self._initializer = initializer.initialize(self)

    @property
    def initializer(self) -> Operation:
        """Fills the table."""
        return self._initializer

    def lookup(self, keys: Keys, name: str | None = None) -> Keys:
        """The value of each key, in the form in which keys came: dense, sparse or ragged.

        Raises TypeError for keys of another type.
        """
        self._require_keys(keys)
        scope = name or f"{self.name}_Lookup"
        return in_form_of(keys, self._find(flat_of(keys), self.default_value, scope))

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and values."""
        return self._export(name or f"{self.name}_Export")


class StaticVocabularyTable(LookupTable):
    """Numbers of words; of words that are not there, one of some buckets behind them.

    Args:
        initializer: Words and their numbers; None when there are only buckets.
        num_oov_buckets: How many buckets there are.
        lookup_key_dtype: Type of the keys, by default that of the initializer.
        name: Of the table.
        experimental_is_anonymous: See StaticHashTable.

    Raises:
        ValueError: There is no bucket.
        TypeError: The types are not those of words and numbers.
    """

    def __init__(
        self,
        initializer: TableInitializer | None,
        num_oov_buckets: int,
        lookup_key_dtype: DTypeLike | None = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ):
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        key_dtype = None if lookup_key_dtype is None else as_numpy(lookup_key_dtype)
        self._table = None
        if initializer is not None:
            table_dtype = as_numpy(initializer.key_dtype)
            self._require_initializer(initializer, table_dtype, key_dtype)
            key_dtype = table_dtype if key_dtype is None else key_dtype
            self._table = StaticHashTable(initializer, -1, name, experimental_is_anonymous)
        self._n_buckets, self._name = num_oov_buckets, name or "hash_bucket"
        super().__init__(np.dtype(object) if key_dtype is None else key_dtype, np.int64)

    @staticmethod
    def _require_initializer(
        initializer: TableInitializer, table_dtype: np.dtype, key_dtype: np.dtype | None
    ) -> None:
        if as_numpy(initializer.value_dtype) != np.int64:
            raise TypeError(
                f"Invalid `value_dtype`, expected {_shown(np.int64)} but got "
                f"{initializer.value_dtype!r}."
            )
        if table_dtype not in (np.dtype(np.int64), np.dtype(object)):
            raise TypeError(
                "Invalid `key_dtype`, expected one of (tf.int64, tf.string), but got "
                f"{initializer.key_dtype!r}."
            )
        if key_dtype is not None and _is_integer(key_dtype) != _is_integer(table_dtype):
            family = "integer" if _is_integer(key_dtype) else "string"
            raise TypeError(
                f"Invalid `key_dtype`, expected {family} but got {initializer.key_dtype!r}."
            )

    @property
    def resource_handle(self) -> Tensor | None:  # pyright: ignore[reportIncompatibleMethodOverride] - as TensorFlow has it
        """The handle of the table of words, None where there is none."""
        return None if self._table is None else self._table.resource_handle

    @property
    def name(self) -> str:
        """That of the table of words, or the one it was given."""
        return self._name if self._table is None else self._table.name

    @property
    def initializer(self) -> Operation:
        """Fills the table of words."""
        return no_op() if self._table is None else self._table.initializer

    def size(self, name: str | None = None) -> Tensor:
        """How many words and buckets there are."""
        with scoped(name, f"{self.name}_Size", []):
            n_buckets = convert_to_tensor(np.int64(self._n_buckets))
            return n_buckets if self._table is None else self._table.size() + n_buckets

    def lookup(self, keys: Keys, name: str | None = None) -> Keys:
        """The number of each word, in the form in which words came: dense, sparse or ragged.

        Raises TypeError for keys of another type.
        """
        self._require_keys(keys)
        words = flat_of(keys)
        with scoped(name, f"{self.name}_Lookup", [words]):
            if self._table is not None and self._table.key_dtype == np.int64:
                words = ops.Cast(words, DstT=np.dtype(np.int64))
            texts = words if words.dtype == object else ops.AsString(words)
            numbers = ops.StringToHashBucketFast(texts, num_buckets=self._n_buckets)
            if self._table is not None:
                known = cast("Tensor", self._table.lookup(words))
                is_known = ops.NotEqual(known, self._table.default_value)
                numbers = ops.SelectV2(is_known, known, numbers + self._table.size())
            return in_form_of(keys, numbers)
