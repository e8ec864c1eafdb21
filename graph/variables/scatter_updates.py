"""The methods of variables that change some of their rows or parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.scopes import name_scope
from .batch_positions import batch_positions

if TYPE_CHECKING:
    from ..core.composite.indexed_slices import IndexedSlices
    from ..core.typing import TensorLike
    from .variables import Updated


class ScatterUpdates:
    """Scattered updates, by the operation that a kind of variables adds for them."""

    _is_reference: bool

    def _change(
        self,
        kind: str,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool | None,
        name: str | None,
    ) -> Updated:
        """Adds the operation `kind`, as it is called for references; gives the new value."""
        raise NotImplementedError

    def _scatter(
        self, kind: str, sparse_delta: IndexedSlices, use_locking: bool | None, name: str | None
    ) -> Updated:
        """Changes the rows that IndexedSlices name."""
        delta = self._slices(sparse_delta)
        return self._change(kind, delta.indices, delta.values, use_locking, name)

    def _slices(self, sparse_delta: IndexedSlices) -> IndexedSlices:
        """IndexedSlices; TypeError for anything else."""
        if hasattr(sparse_delta, "indices") and hasattr(sparse_delta, "values"):
            return sparse_delta
        if self._is_reference:
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        raise TypeError(
            f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}"
        )

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Updated:
        """Adds IndexedSlices; the new value."""
        return self._scatter("ScatterAdd", sparse_delta, use_locking, name)

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Updated:
        """Subtracts IndexedSlices; the new value."""
        return self._scatter("ScatterSub", sparse_delta, use_locking, name)

    def scatter_mul(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Updated:
        """Multiplies by IndexedSlices; the new value."""
        return self._scatter("ScatterMul", sparse_delta, use_locking, name)

    def scatter_div(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Updated:
        """Divides by IndexedSlices; the new value."""
        return self._scatter("ScatterDiv", sparse_delta, use_locking, name)

    def scatter_max(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Updated:
        """The larger of it and IndexedSlices; the new value."""
        return self._scatter("ScatterMax", sparse_delta, use_locking, name)

    def scatter_min(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Updated:
        """The smaller of it and IndexedSlices; the new value."""
        return self._scatter("ScatterMin", sparse_delta, use_locking, name)

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool | None = None, name: str | None = None
    ) -> Updated:
        """Sets the rows that IndexedSlices name; the new value."""
        return self._scatter("ScatterUpdate", sparse_delta, use_locking, name)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Updated:
        """Sets var[i, ..., indices[i, ..., j]] to values[i, ..., j]; the new value."""
        delta = self._slices(sparse_delta)
        with name_scope(name):
            positions = batch_positions(delta.indices)
            return self._change("ScatterNdUpdate", positions, delta.values, use_locking, None)

    def scatter_nd_add(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Updated:
        """Adds updates at index tuples; the new value."""
        return self._change("ScatterNdAdd", indices, updates, True, name)

    def scatter_nd_sub(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Updated:
        """Subtracts updates at index tuples; the new value."""
        return self._change("ScatterNdSub", indices, updates, True, name)

    def scatter_nd_update(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Updated:
        """Sets what is at index tuples; the new value."""
        return self._change("ScatterNdUpdate", indices, updates, True, name)

    def scatter_nd_max(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Updated:
        """The larger of it and updates at index tuples; the new value."""
        return self._change("ScatterNdMax", indices, updates, True, name)

    def scatter_nd_min(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Updated:
        """The smaller of it and updates at index tuples; the new value."""
        return self._change("ScatterNdMin", indices, updates, True, name)
