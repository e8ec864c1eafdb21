"""Kernels of `tf.data` that keep elements, in memory or in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ....schema.errors import InvalidArgumentError
from ....schema.tensorflow.bundle import INDEX_SUFFIX, open_bundle, write_bundle
from ..datasets import Data, Element, Elements, dataset_kernel, dataset_of, declared

if TYPE_CHECKING:
    import numpy as np

    from ...core.graph import Operation
    from ..state import State


@dataset_kernel("CacheDataset")
def cached(op: Operation, state: State, source: np.ndarray, filename: np.ndarray) -> Data:
    """The elements as they were when one had been through all for the first time."""
    data = dataset_of(source)
    path = cast("bytes", filename.item()).decode("utf-8", "surrogateescape")
    if path:
        return _in_files(data, path, len(declared(op)[0]))
    memory = list[Element]()
    is_whole = False

    def keep(elements: list[Element]) -> None:
        nonlocal is_whole
        if not is_whole:
            memory.extend(elements)
            is_whole = True

    return Data(lambda: iter(memory) if is_whole else _noted(data, keep), data.cardinality)


def _noted(data: Data, keep: Callable[[list[Element]], None]) -> Elements:
    """The elements, handed over when one is through."""
    elements = list[Element]()
    for element in data.elements():
        elements.append(element)
        yield element
    keep(elements)


def _in_files(data: Data, path: str, n_components: int) -> Data:
    """The elements in a bundle, which is written when one is through."""

    def write(elements: Sequence[Element]) -> None:
        write_bundle(
            path,
            {_key(i, k, n_components): x for i, e in enumerate(elements) for k, x in enumerate(e)},
        )

    def elements() -> Elements:
        is_there = Path(path + INDEX_SUFFIX).exists()
        return _read(path, n_components) if is_there else _noted(data, write)

    return Data(elements, data.cardinality)


def _read(path: str, n_components: int) -> Elements:
    """The elements of a bundle; InvalidArgumentError for one of other things."""
    bundle = open_bundle(path)
    n = len(bundle.keys()) // max(n_components, 1)
    names = [[_key(i, k, n_components) for k in range(n_components)] for i in range(n)]
    if sorted(key for keys in names for key in keys) != sorted(bundle.keys()):
        words = f"Files '{path}' are no cache of elements with {n_components} components"
        raise InvalidArgumentError(None, None, words)
    return (tuple(bundle.read(key) for key in keys) for keys in names)


def _key(i: int, k: int, n_components: int) -> str:
    """TensorFlow's name of a component of an element: numbers with spaces before them."""
    width = len(str(n_components - 1))
    return f"{i:7d}_{k:{width}d}"
