"""Lookup tables as a Session keeps them: keys, values, and the bucket layout of dense tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from copy import deepcopy
from typing import cast

import numpy as np

from ...schema import dtypes
from ...schema.errors import FailedPreconditionError, InvalidArgumentError
from ..ops.text.split_text import murmur64

_WORD = 0xFFFFFFFFFFFFFFFF
MAX_LOAD_FACTOR = 0.8


def _text(shape: Iterable[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


class Table:
    """A table whose keys may come and go.

    Args:
        key_dtype: Type of the keys.
        value_dtype: Type of the values.
        value_shape: Shape of one value.
    """

    takes_changes = True
    key_shape: tuple[int, ...] = ()

    def __init__(
        self, key_dtype: np.dtype, value_dtype: np.dtype, value_shape: tuple[int, ...] = ()
    ):
        self.key_dtype, self.value_dtype, self.value_shape = key_dtype, value_dtype, value_shape
        self.entries: dict[Hashable, object] = {}

    @property
    def size(self) -> int:
        """How many keys there are."""
        return len(self.entries)

    def copy(self) -> Table:
        """A table of its own with the same contents."""
        return deepcopy(self)

    def _keys(self, keys: np.ndarray) -> list[Hashable]:
        """Keys as Python values: numbers, bytes, or tuples of them."""
        self._require_dtype("key", keys, self.key_dtype)
        return cast("list[Hashable]", keys.reshape(-1).tolist())

    def _require_dtype(self, what: str, array: np.ndarray, dtype: np.dtype) -> None:
        if array.dtype != dtype:
            names = dtypes.tf_name(dtype), dtypes.tf_name(array.dtype)
            raise InvalidArgumentError(
                None, None, f"Table {what} dtype must be {names[0]}, got {names[1]}"
            )

    def outer_shape(self, keys: np.ndarray) -> tuple[int, ...]:
        """The shape of an array of keys, each of which counts as one element."""
        return keys.shape

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """The value of each key; `default`, one or one for each key, where there is none.

        Raises InvalidArgumentError for a default of another shape.
        """
        outer = self.outer_shape(keys)
        shape = outer + self.value_shape
        if default.shape not in (self.value_shape, shape):
            raise InvalidArgumentError(
                None,
                None,
                f"Expected shape {_text(self.value_shape)} or {_text(shape)} for default value, "
                f"got {_text(default.shape)}",
            )
        result = np.empty(shape, self.value_dtype)
        result[...] = default
        rows = result.reshape(-1, *self.value_shape)
        for row, key in enumerate(self._keys(keys)):
            if key in self.entries:
                rows[row] = self.entries[key]
        return result

    def _rows(self, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The value of each key, one row each.

        Raises InvalidArgumentError for values of another shape.
        """
        shape = self.outer_shape(keys) + self.value_shape
        if values.shape != shape:
            raise InvalidArgumentError(
                None, None, f"Expected shape {_text(shape)} for value, got {_text(values.shape)}"
            )
        self._require_dtype("value", values, self.value_dtype)
        return values.reshape(-1, *self.value_shape)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Gives keys their values; of a key that is there several times, the last one."""
        rows = self._rows(keys, values)
        self.entries.update(zip(self._keys(keys), rows.tolist(), strict=True))

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Gives the table these keys and no others."""
        self.entries.clear()
        self.insert(keys, values)

    def remove(self, keys: np.ndarray) -> None:
        """Takes keys out; those that are not there change nothing."""
        for key in self._keys(keys):
            self.entries.pop(key, None)

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """All keys and their values."""
        keys = np.empty(len(self.entries), self.key_dtype)
        keys[:] = list(self.entries)
        values = np.empty((len(self.entries), *self.value_shape), self.value_dtype)
        for row, value in enumerate(self.entries.values()):
            values[row] = value
        return keys, values


class StaticTable(Table):
    """A table that is filled once."""

    takes_changes = False
    is_filled = False

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """See Table; raises FailedPreconditionError before the table is filled."""
        if not self.is_filled:
            raise FailedPreconditionError(None, None, "Table not initialized.")
        return super().find(keys, default)

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Fills the table; the same contents again change nothing.

        Raises FailedPreconditionError when a key has several values, or the table is filled with
        something else.
        """
        rows = self._rows(keys, values)
        entries: dict[Hashable, object] = {}
        for key, value in zip(self._keys(keys), rows.tolist(), strict=True):
            if entries.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    None,
                    None,
                    f"HashTable has different value for same key. Key {_plain(key)} has "
                    f"{_plain(entries[key])} and trying to add value {_plain(value)}",
                )
        if self.is_filled and entries != self.entries:
            raise FailedPreconditionError(None, None, "Table already initialized.")
        self.entries, self.is_filled = entries, True


def _plain(value: object) -> object:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


class DenseTable(Table):
    """A table of open addressing, whose export shows all buckets, empty ones too.

    Args:
        key_dtype: Type of the keys.
        value_dtype: Type of the values.
        value_shape: Shape of one value.
        empty_key: Stands in a bucket that was never used.
        deleted_key: Stands in a bucket whose key was removed.
        n_buckets: A power of 2.

    Raises:
        InvalidArgumentError: The two keys are equal or of unequal shape; `n_buckets` is no power
            of 2.
    """

    def __init__(
        self,
        key_dtype: np.dtype,
        value_dtype: np.dtype,
        value_shape: tuple[int, ...],
        empty_key: np.ndarray,
        deleted_key: np.ndarray,
        n_buckets: int,
    ):
        super().__init__(key_dtype, value_dtype, value_shape)
        if empty_key.ndim > 1:
            raise InvalidArgumentError(
                None, None, f"Empty key must be a scalar or a vector, got {_text(empty_key.shape)}"
            )
        if empty_key.shape != deleted_key.shape:
            raise InvalidArgumentError(
                None,
                None,
                "Empty and deleted keys must have same shape, got shapes: "
                f"{_text(empty_key.shape)} and {_text(deleted_key.shape)}",
            )
        self.key_shape = empty_key.shape
        self.empty, self.deleted = (self._plain_keys(key)[0] for key in (empty_key, deleted_key))
        if self.empty == self.deleted:
            raise InvalidArgumentError(None, None, "Empty and deleted keys cannot be equal")
        if n_buckets < 4 or n_buckets & (n_buckets - 1):
            raise InvalidArgumentError(
                None,
                None,
                f"Number of buckets must be at least 4 and a power of 2, got: {n_buckets}",
            )
        self._clear(n_buckets)

    def _clear(self, n_buckets: int) -> None:
        self.key_buckets: list[Hashable] = [self.empty] * n_buckets
        self.value_buckets = np.zeros((n_buckets, *self.value_shape), self.value_dtype)
        if self.value_dtype.kind == "O":
            self.value_buckets[...] = b""
        self.bucket_of: dict[Hashable, int] = {}

    @property
    def size(self) -> int:
        """How many keys there are."""
        return len(self.bucket_of)

    def _plain_keys(self, keys: np.ndarray) -> list[Hashable]:
        rows = cast("list[Hashable]", keys.reshape(-1, *self.key_shape).tolist())
        return [tuple(cast("list[Hashable]", row)) for row in rows] if self.key_shape else rows

    def outer_shape(self, keys: np.ndarray) -> tuple[int, ...]:
        """See Table; raises InvalidArgumentError for more than a vector of keys."""
        n_inner = len(self.key_shape)
        if keys.ndim > 1 + n_inner or keys.shape[keys.ndim - n_inner :] != self.key_shape:
            expected = _text((*keys.shape[: keys.ndim - n_inner][:1], *self.key_shape))
            raise InvalidArgumentError(
                None, None, f"Expected key shape {expected} got {_text(keys.shape)}"
            )
        return keys.shape[: keys.ndim - n_inner]

    def _keys(self, keys: np.ndarray) -> list[Hashable]:
        self._require_dtype("key", keys, self.key_dtype)
        plain = self._plain_keys(keys)
        for name, key in (("empty_key", self.empty), ("deleted_key", self.deleted)):
            if key in plain:
                raise InvalidArgumentError(
                    None, None, f"Using the {name} as a table key is not allowed"
                )
        return plain

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """See Table."""
        self.entries = {key: self.value_buckets[at] for key, at in self.bucket_of.items()}
        return super().find(keys, default)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """See Table; doubles the buckets until at most 0.8 of them are in use."""
        rows, plain = self._rows(keys, values), self._keys(keys)
        n_pending, n_buckets = self.size + len(plain), len(self.key_buckets)
        while n_pending > n_buckets * MAX_LOAD_FACTOR:
            n_buckets *= 2
        if n_buckets > len(self.key_buckets):
            old = [(key, self.value_buckets[at]) for at, key in enumerate(self.key_buckets)]
            self._clear(n_buckets)
            for key, value in old:
                if key not in (self.empty, self.deleted):
                    self._put(key, value)
        for key, value in zip(plain, rows, strict=True):
            self._put(key, value)

    def _put(self, key: Hashable, value: object) -> None:
        at = self.bucket_of.get(key)
        if at is None:
            mask, n_probes = len(self.key_buckets) - 1, 0
            at = _hash_of(key) & mask
            while self.key_buckets[at] != self.empty:
                n_probes += 1
                if n_probes > mask:
                    raise InvalidArgumentError(
                        None, None, "Internal error in MutableDenseHashTable insert"
                    )
                at = (at + n_probes) & mask
            self.key_buckets[at], self.bucket_of[key] = key, at
        self.value_buckets[at] = value

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Takes buckets as `export` gave them."""
        plain, self.entries = self._plain_keys(keys), {}
        rows = values.reshape(len(plain), *self.value_shape)
        self._clear(len(plain))
        self.key_buckets, self.value_buckets = plain, rows.copy()
        self.bucket_of = {
            key: at for at, key in enumerate(plain) if key not in (self.empty, self.deleted)
        }

    def remove(self, keys: np.ndarray) -> None:
        """See Table."""
        self.outer_shape(keys)
        for key in self._keys(keys):
            at = self.bucket_of.pop(key, None)
            if at is not None:
                self.key_buckets[at] = self.deleted

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys and values of all buckets, scalars as vectors of one element."""
        n_buckets = len(self.key_buckets)
        keys = np.empty((n_buckets, *self.key_shape), self.key_dtype)
        for at, key in enumerate(self.key_buckets):
            keys[at] = key
        values = self.value_buckets.copy()
        return (
            keys if self.key_shape else keys.reshape(n_buckets, 1),
            values if self.value_shape else values.reshape(n_buckets, 1),
        )


def _hash_of(key: Hashable) -> int:
    """The bucket a key starts at: numbers as they are, texts and vectors by their hash."""
    if isinstance(key, tuple):
        total = 0
        for item in cast("tuple[Hashable, ...]", key):
            low = (_hash_of(item) + 0x9E3779B97F4A7800 + (total << 10) + (total >> 4)) & _WORD
            total ^= low
        return total
    if isinstance(key, bytes):
        return murmur64(key)
    return int(cast("float", key)) & _WORD
