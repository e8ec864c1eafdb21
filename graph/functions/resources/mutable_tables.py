"""Tables that change while a graph runs, and how a Saver saves them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...core.build import ops
from ...core.create import convert_to_tensor, create
from ...core.scopes import GraphKeys, add_to_collection
from ...core.scopes import name_scope as scoped
from .lookup import Keys, LookupTable, flat_of, in_form_of

if TYPE_CHECKING:
    import numpy as np

    from ...core.graph import Operation, Tensor
    from ...core.protocols import AttrValue
    from ...core.typing import DTypeLike, TensorLike
    from ...session.session import Session

_BUCKETS = 2**17


@dataclass(frozen=True, eq=False)
class SaveableTable:
    """A table as a checkpoint has it: keys under `<name>-keys`, values under `<name>-values`.

    It is in the collection SAVEABLE_OBJECTS, which savers save beside all variables.
    """

    table: MutableTable
    name: str
    tensors: tuple[Tensor, Tensor]

    @property
    def names(self) -> list[str]:
        """What the two tensors are called."""
        return [f"{self.name}-keys", f"{self.name}-values"]

    @property
    def op(self) -> Operation:
        """The operation of the table."""
        return self.table.resource_handle.op

    @property
    def device(self) -> str:
        """The device that was noted when the table was made."""
        return self.tensors[0].op.device

    def restore(self, keys: TensorLike, values: TensorLike) -> Operation:
        """An operation that gives the table these keys and no others."""
        with scoped(f"{self.name or self.table.name}_table_restore"):
            return self.table.fill(keys, values)


class MutableTable(LookupTable):
    """A table that insert and remove change."""

    _saveable: SaveableTable | None = None
    _loading: Operation | None = None

    def saveable(self, name: str) -> SaveableTable:
        """The table as it is saved under a name."""
        if self._saveable is None:
            self._saveable = SaveableTable(self, name, self.export())
        return replace(self._saveable, name=name)

    def _save_as(self, name: str) -> None:
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self.saveable(name))

    def load(self, session: Session, keys: np.ndarray, values: np.ndarray) -> None:
        """Gives the table these keys and no others in `session`."""
        if self._loading is None:
            graph = self.resource_handle.graph
            with graph.as_default(), graph.control_dependencies(None), scoped("load"):
                feeds = [
                    ops.Placeholder(dtype=dtype) for dtype in (self._key_dtype, self._value_dtype)
                ]
                self._loading = self.fill(*feeds)
        _, *feeds = self._loading.inputs
        session.run(self._loading, dict(zip(feeds, (keys, values), strict=True)))

    def _beside(self) -> AbstractContextManager[None]:
        return self.resource_handle.graph.colocate_with(self.resource_handle)

    def fill(self, keys: TensorLike, values: TensorLike) -> Operation:
        """An operation that gives the table these keys and no others."""
        with self._beside():
            return create("LookupTableImportV2", [self.resource_handle, keys, values])

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """An operation that gives keys their values.

        Raises TypeError or ValueError for keys or values of other types.
        """
        with scoped(name, f"{self.name}_lookup_table_insert", [self.resource_handle]):
            tensors = [
                convert_to_tensor(keys, self._key_dtype, "keys"),
                convert_to_tensor(values, self._value_dtype, "values"),
            ]
            with self._beside():
                return create("LookupTableInsertV2", [self.resource_handle, *tensors])

    def remove(self, keys: Tensor, name: str | None = None) -> Operation:
        """An operation that takes keys out; those that are not there change nothing.

        Raises TypeError for keys of another type.
        """
        self._require_keys(keys)
        with scoped(name, f"{self.name}_lookup_table_remove", [self.resource_handle, keys]):
            inputs = [self.resource_handle, convert_to_tensor(keys)]
            with self._beside():
                return create("LookupTableRemoveV2", inputs)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and values; of dense tables, all buckets."""
        with self._beside():
            return self._export(name or f"{self.name}_lookup_table_export_values")


class MutableHashTable(MutableTable):
    """A table that starts empty.

    Args:
        key_dtype: Type of the keys.
        value_dtype: Type of the values.
        default_value: The value of keys that are not there, a scalar or vector as all values are.
        name: Of the table.
        checkpoint: Whether savers of all variables save it, too.
        experimental_is_anonymous: Taken for TensorFlow's sake.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ):
        super().__init__(key_dtype, value_dtype)
        self.default_value = convert_to_tensor(default_value, self._value_dtype)
        shape = self.default_value.sizes
        attrs: dict[str, AttrValue] = {
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
            "use_node_name_sharing": True,
        }
        kind = "MutableHashTableV2"
        if shape != ():
            kind, attrs["value_shape"] = "MutableHashTableOfTensorsV2", shape
        self._handle = create(kind, (), attrs, name).outputs[0]
        if checkpoint:
            self._save_as(name)

    def lookup(  # pyright: ignore[reportIncompatibleMethodOverride] - as TensorFlow has it
        self,
        keys: Keys,
        dynamic_default_values: TensorLike | None = None,
        name: str | None = None,
    ) -> Keys:
        """The value of each key.

        Args:
            keys: Of any shape, dense, sparse or ragged.
            dynamic_default_values: Those of keys that are not there, one or one for each key; by
                default the table's own.
            name: Of the operation's scope.

        Raises ValueError for keys of another type.
        """
        default = self.default_value
        if dynamic_default_values is not None:
            default = convert_to_tensor(dynamic_default_values, self._value_dtype)
        flat = convert_to_tensor(flat_of(keys), self._key_dtype, "keys")
        scope = name or f"{self.name}_lookup_table_find"
        with self._beside():
            return in_form_of(keys, self._find(flat, default, scope))


class DenseHashTable(MutableTable):
    """A table of open addressing: faster, larger, and with two keys that it cannot hold.

    Args:
        key_dtype: Type of the keys.
        value_dtype: Type of the values.
        default_value: The value of keys that are not there.
        empty_key: Stands for an empty bucket; a scalar or vector as all keys are.
        deleted_key: Stands for a bucket whose key was removed.
        initial_num_buckets: A power of 2, 131,072 by default.
        name: Of the table.
        checkpoint: Whether savers of all variables save it, too.
        experimental_is_anonymous: Taken for TensorFlow's sake.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        empty_key: TensorLike,
        deleted_key: TensorLike,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ):
        super().__init__(key_dtype, value_dtype)
        self.default_value = convert_to_tensor(
            default_value, self._value_dtype, name="default_value"
        )
        n_buckets = _BUCKETS if initial_num_buckets is None else initial_num_buckets
        empty = convert_to_tensor(empty_key, self._key_dtype, name="empty_key")
        deleted = convert_to_tensor(deleted_key, self._key_dtype, name="deleted_key")
        attrs = {
            "value_dtype": self._value_dtype,
            "value_shape": self.default_value.sizes,
            "initial_num_buckets": n_buckets,
            "use_node_name_sharing": True,
        }
        op = create("MutableDenseHashTableV2", [empty, deleted], attrs, name)
        self._handle = op.outputs[0]
        if checkpoint:
            self._save_as(name)

    def lookup(self, keys: Keys, name: str | None = None) -> Keys:
        """The value of each key: one of a vector of keys each.

        Raises ValueError for keys of another type.
        """
        flat = convert_to_tensor(flat_of(keys), self._key_dtype, "keys")
        scope = name or f"{self.name}_lookup_table_find"
        with self._beside():
            return in_form_of(keys, self._find(flat, self.default_value, scope))

    def insert_or_assign(
        self, keys: TensorLike, values: TensorLike, name: str | None = None
    ) -> Operation:
        """Gives `keys` these `values`; see insert."""
        return self.insert(keys, values, name)

    def erase(self, keys: Tensor, name: str | None = None) -> Operation:
        """Removes `keys`; see remove."""
        return self.remove(keys, name)
