"""What a Session is asked for: nests of tensors, and the same nests of values given back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.graph import Graph, Operation, Tensor
from ..core.indexed_slices import IndexedSlices


class IndexedSlicesValue(NamedTuple):
    """What a Session gives for IndexedSlices."""

    values: np.ndarray
    indices: np.ndarray
    dense_shape: np.ndarray | None


class SparseTensorValue(NamedTuple):
    """What a Session gives for a SparseTensor, and takes to feed one."""

    indices: Any
    values: Any
    dense_shape: Any


class Fetches:
    """The tensors and operations of a nest.

    Attributes:
        elements: What is to be computed or run, each once.

    Raises:
        TypeError, ValueError, KeyError: something in the nest is neither, or of another graph.
    """

    def __init__(self, graph: Graph, nest):
        self._graph = graph
        self._positions: dict[Tensor | Operation, int] = {}
        self._build = self._structure(nest)

    @property
    def elements(self) -> list[Tensor | Operation]:
        """What is to be computed or run."""
        return list(self._positions)

    def results(self, values: Sequence) -> Any:
        """The nest with a value in place of each element: None for operations."""
        return self._build(values)

    def _structure(self, nest) -> Callable[[Sequence], Any]:
        """The function that makes the result of `nest` from the values of all elements."""
        if nest is None:
            raise TypeError('Argument `fetch` = None has invalid type "NoneType". Cannot be None')
        if isinstance(nest, (list, tuple)):
            return self._of_sequence(nest)
        if isinstance(nest, Mapping):
            keys, parts = list(nest), [self._structure(item) for item in nest.values()]
            kind: Any = type(nest)

            def build(values):
                return kind(zip(keys, [part(values) for part in parts], strict=True))

            return build
        if isinstance(nest, IndexedSlices):
            parts = (nest.values, nest.indices, nest.dense_shape)
            return self._of_record(IndexedSlicesValue, parts)
        return self._of_element(nest)

    def _of_sequence(self, nest):
        parts = [self._structure(item) for item in nest]
        kind: Any = type(nest)
        if hasattr(kind, "_fields"):
            return lambda values: kind(*[part(values) for part in parts])
        return lambda values: kind([part(values) for part in parts])

    def _of_record(self, kind: Any, parts):
        built = [None if part is None else self._structure(part) for part in parts]
        return lambda values: kind(*[part and part(values) for part in built])

    def _of_element(self, item):
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
        position = self._positions.setdefault(element, len(self._positions))
        return lambda values: values[position]
