"""What a Session is asked for: nests of tensors, and the same nests of values given back."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np

from ..core.composite.indexed_slices import IndexedSlices
from ..core.composite.ragged_tensor import RaggedTensor
from ..core.composite.ragged_value import RaggedTensorValue
from ..core.composite.sparse_tensor import SparseTensor, SparseTensorValue
from ..core.graph import Graph, Operation, Tensor

if TYPE_CHECKING:
    from ..core.protocols import ElementLike, Evaluated

FetchLeaf: TypeAlias = "ElementLike | IndexedSlices | RaggedTensor | SparseTensor"
FetchNest: TypeAlias = "FetchLeaf | Sequence[FetchNest | None] | Mapping[str, FetchNest] | None"
"""What a Session is asked for; None only within IndexedSlices."""
Build: TypeAlias = "Callable[[Sequence[Evaluated]], Evaluated]"
"""Makes the result of a nest from the values of all elements."""


class IndexedSlicesValue(NamedTuple):
    """What a Session gives for IndexedSlices."""

    values: np.ndarray
    indices: np.ndarray
    dense_shape: np.ndarray | None


class Fetches:
    """The tensors and operations of a nest.

    Attributes:
        elements: What is to be computed or run, each once.

    Raises:
        TypeError, ValueError, KeyError: something in the nest is neither, or of another graph.
    """

    def __init__(self, graph: Graph, nest: FetchNest):
        self._graph = graph
        self._positions: dict[Tensor | Operation, int] = {}
        self._build = self._structure(nest)

    @property
    def elements(self) -> list[Tensor | Operation]:
        """What is to be computed or run."""
        return list(self._positions)

    def results(self, values: Sequence[Evaluated]) -> Evaluated:
        """The nest with a value in place of each element: None for operations."""
        return self._build(values)

    def _structure(self, nest: FetchNest) -> Build:
        """The function that makes the result of `nest` from the values of all elements."""
        if nest is None:
            raise TypeError('Argument `fetch` = None has invalid type "NoneType". Cannot be None')
        if isinstance(nest, (list, tuple)):
            return self._of_sequence(cast("Sequence[FetchNest]", nest))
        if isinstance(nest, Mapping):
            return self._of_mapping(cast("Mapping[str, FetchNest]", nest))
        if isinstance(nest, IndexedSlices):
            return self._of_slices(nest)
        if isinstance(nest, SparseTensor):
            return self._of_sparse(nest)
        if isinstance(nest, RaggedTensor):
            return self._of_ragged(nest)
        return self._of_element(cast("ElementLike", nest))

    def _of_sparse(self, nest: SparseTensor) -> Build:
        parts = [self._structure(t) for t in (nest.indices, nest.values, nest.dense_shape)]

        def build(values: Sequence[Evaluated]) -> Evaluated:
            return SparseTensorValue(*(part(values) for part in parts))

        return build

    def _of_ragged(self, nest: RaggedTensor) -> Build:
        parts = [self._structure(part) for part in (nest.values, nest.row_splits)]

        def build(values: Sequence[Evaluated]) -> Evaluated:
            return RaggedTensorValue(*(part(values) for part in parts))

        return build

    def _of_mapping(self, nest: Mapping[str, FetchNest]) -> Build:
        keys, parts = list(nest), [self._structure(item) for item in nest.values()]
        kind = cast("Callable[[zip[tuple[str, Evaluated]]], Evaluated]", type(nest))
        if isinstance(nest, defaultdict):
            make = functools.partial(type(nest), nest.default_factory)
            kind = cast("Callable[[zip[tuple[str, Evaluated]]], Evaluated]", make)

        def build(values: Sequence[Evaluated]) -> Evaluated:
            return kind(zip(keys, [part(values) for part in parts], strict=True))

        return build

    def _of_sequence(self, nest: Sequence[FetchNest]) -> Build:
        parts = [self._structure(item) for item in nest]
        kind = cast("Callable[..., Evaluated]", type(nest))
        is_record = hasattr(kind, "_fields")

        def build(values: Sequence[Evaluated]) -> Evaluated:
            results = [part(values) for part in parts]
            return kind(*results) if is_record else kind(results)

        return build

    def _of_slices(self, nest: IndexedSlices) -> Build:
        values_of, indices_of = self._structure(nest.values), self._structure(nest.indices)
        shape_of = None if nest.dense_shape is None else self._structure(nest.dense_shape)

        def build(values: Sequence[Evaluated]) -> Evaluated:
            shape = None if shape_of is None else shape_of(values)
            return IndexedSlicesValue(values_of(values), indices_of(values), shape)

        return build

    def _of_element(self, item: ElementLike) -> Build:
        try:
            element = self._graph.as_graph_element(item)
        except TypeError as error:
            raise TypeError(
                f'Argument `fetch` = {item} has invalid type "{type(item).__name__}" must be a '
                f"string or Tensor. ({error})"
            ) from None
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"Argument `fetch` = {item} cannot be interpreted as a Tensor. ({error})"
            ) from None
        if not self._graph.is_fetchable(element):
            name = getattr(element, "op", element).name
            raise ValueError(f"Operation {name} has been marked as not fetchable.")
        position = self._positions.setdefault(element, len(self._positions))

        def build(values: Sequence[Evaluated]) -> Evaluated:
            return values[position]

        return build
