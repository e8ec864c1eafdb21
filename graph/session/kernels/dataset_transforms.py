"""Kernels of `tf.data` that choose, order and put together elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count, islice
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
)
from ...core.evaluate import as_results
from ...core.fingerprint import fingerprint
from ...core.shapes import shown
from ..datasets import (
    INFINITE,
    UNKNOWN,
    Data,
    Element,
    Elements,
    dataset_kernel,
    dataset_of,
    declared,
    divided,
    positive,
    row,
    steps,
    total,
)
from ..resources import handle_of, resource_kernel
from .dataset_functions import batches
from .serialized import serialized_parts

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ..state import State


@dataset_kernel(
    "AssertCardinalityDataset",
    "ModelDataset",
    "OptimizeDataset",
    "OptimizeDatasetV2",
    "OptionsDataset",
    "PrefetchDataset",
    "RewriteDataset",
)
def same(op: Operation, state: State, source: np.ndarray, *options: np.ndarray) -> Data:
    """The dataset itself: what the operation asks for changes no element."""
    data = dataset_of(source)
    if op.type != "AssertCardinalityDataset":
        return data
    expected = int(options[0])

    def elements() -> Elements:
        n = 0
        for element in data.elements():
            n += 1
            if 0 <= expected < n:
                words = f"Input dataset was expected to contain {expected} elements but contained"
                raise FailedPreconditionError(None, None, f"{words} at least {n} elements.")
            yield element
        if expected == INFINITE or n < expected:
            count = "an infinite number of" if expected == INFINITE else expected
            words = f"Input dataset was expected to contain {count} elements but contained only"
            raise FailedPreconditionError(None, None, f"{words} {n} element{'s' * (n != 1)}.")

    return Data(elements, expected)


@dataset_kernel("BatchDataset", "BatchDatasetV2", "ParallelBatchDataset")
def batched(op: Operation, state: State, source: np.ndarray, *options: np.ndarray) -> Data:
    """So many elements at a time as the rows of one."""
    data, size = dataset_of(source), positive(options[0], "Batch size")
    drops = op.type != "BatchDataset" and bool(options[-1])
    return Data(
        lambda: batches(data.elements(), size, drops), divided(data.cardinality, size, drops)
    )


def _padded(
    parts: Sequence[np.ndarray], padded_shape: np.ndarray, padding: np.ndarray
) -> np.ndarray:
    """Arrays as rows, each padded at the end of every dimension."""
    for part in parts:
        if part.ndim != len(padded_shape):
            raise InvalidArgumentError(
                None, None,
                "All elements in a batch must have the same rank as the padded shape for component"
                f". Expected rank {len(padded_shape)} but got element with rank {part.ndim}",
            )  # fmt: skip
    sizes = [
        max(part.shape[i] for part in parts) if size < 0 else int(size)
        for i, size in enumerate(padded_shape)
    ]
    out = np.empty((len(parts), *sizes), parts[0].dtype)
    out[...] = padding
    for i, part in enumerate(parts):
        if any(n > size for n, size in zip(part.shape, sizes, strict=True)):
            raise DataLossError(
                None, None,
                "Attempted to pad to a smaller size than the input element.",
            )  # fmt: skip
        out[(i, *(slice(n) for n in part.shape), ...)] = part  # the dots, for strings of rank 0
    return out


@dataset_kernel("PaddedBatchDataset", "PaddedBatchDatasetV2")
def padded_batched(op: Operation, state: State, source: np.ndarray, *arrays: np.ndarray) -> Data:
    """So many elements at a time as the rows of one, padded to one shape."""
    n = cast("int", op.get_attr("N"))
    data, size = dataset_of(source), positive(arrays[0], "Batch size")
    shapes, paddings = arrays[1 : 1 + n], arrays[1 + n : 1 + 2 * n]
    drops = op.type == "PaddedBatchDatasetV2" and bool(arrays[-1])

    def elements() -> Elements:
        inner = data.elements()

        def step() -> Element:
            taken = list(islice(inner, size))
            if not taken or (drops and len(taken) < size):
                raise StopIteration
            columns = zip(zip(*taken, strict=True), shapes, paddings, strict=True)
            return tuple(_padded(*column) for column in columns)

        return steps(step)

    return Data(elements, divided(data.cardinality, size, drops))


@dataset_kernel("DenseToSparseBatchDataset")
def sparse_batched(
    op: Operation, state: State, source: np.ndarray, batch_size: np.ndarray, row_shape: np.ndarray
) -> Data:
    """So many elements at a time as the rows of a sparse tensor, serialized."""
    data, size = dataset_of(source), positive(batch_size, "Batch size")

    def sparse(rows: Sequence[np.ndarray]) -> Element:
        sizes = [
            max(part.shape[i] for part in rows) if size < 0 else int(size)
            for i, size in enumerate(row_shape)
        ]
        for part in rows:
            if any(n > most for n, most in zip(part.shape, sizes, strict=True)):
                words = "larger than `row_shape`"
                raise DataLossError(None, None, f"Row has shape {shown(part.shape)}: {words}")
        positions = [np.indices(part.shape).reshape(part.ndim, -1).T for part in rows]
        indices = np.concatenate(
            [np.insert(place, 0, i, axis=1) for i, place in enumerate(positions)]
        ).astype(np.int64)
        values = np.concatenate([part.ravel() for part in rows])
        out = serialized_parts(indices, values, np.array([len(rows), *sizes], np.int64))
        return (out,)

    def elements() -> Elements:
        inner = data.elements()

        def step() -> Element:
            taken = [element[0] for element in islice(inner, size)]
            if not taken:
                raise StopIteration
            return sparse(taken)

        return steps(step)

    return Data(elements, divided(data.cardinality, size, False))


@dataset_kernel("UnbatchDataset")
def unbatched(op: Operation, state: State, source: np.ndarray) -> Data:
    """The rows of elements."""
    data = dataset_of(source)

    def elements() -> Elements:
        outer, rows = data.elements(), cast("Elements", iter(()))

        def step() -> Element:
            nonlocal rows
            while True:
                element = next(rows, None)
                if element is not None:
                    return element
                rows = _rows(next(outer))

        return steps(step)

    return Data(elements, INFINITE if data.cardinality == INFINITE else UNKNOWN)


def _rows(element: Element) -> Elements:
    n = len(element[0])
    for k, component in enumerate(element):
        if len(component) != n:
            raise InvalidArgumentError(
                None, None,
                "Input element must have the same batch size in each component. Component 0 had "
                f"size {n} but component {k} had size, {len(component)}.",
            )  # fmt: skip
    return (tuple(row(component, i) for component in element) for i in range(n))


@dataset_kernel("RebatchDatasetV2")
def rebatched(
    op: Operation, state: State, source: np.ndarray, sizes: np.ndarray, drop_remainder: np.ndarray
) -> Data:
    """The rows of elements in batches of other sizes, which come in turns."""
    data, turns_of = dataset_of(source), cast("list[int]", sizes.ravel().tolist())

    def elements() -> Elements:
        rows = (r for element in data.elements() for r in _rows(element))
        turns = count()

        def step() -> Element:
            size = turns_of[next(turns) % len(turns_of)]
            taken = list(islice(rows, size))
            if not taken or (drop_remainder and len(taken) < size):
                raise StopIteration
            return tuple(np.stack(parts) for parts in zip(*taken, strict=True))

        return steps(step)

    return Data(elements)


@dataset_kernel("TakeDataset")
def taken(op: Operation, state: State, source: np.ndarray, limit: np.ndarray) -> Data:
    """The first elements: so many, or all."""
    data, n = dataset_of(source), int(limit)
    if n < 0:
        return data
    known = {INFINITE: n, UNKNOWN: UNKNOWN if n else 0}.get(
        data.cardinality, min(n, data.cardinality)
    )
    return Data(lambda: islice(data.elements(), n), known)


@dataset_kernel("SkipDataset")
def skipped(op: Operation, state: State, source: np.ndarray, number: np.ndarray) -> Data:
    """What comes behind so many elements; nothing behind -1."""
    data, n = dataset_of(source), int(number)
    if n < 0:
        return Data(lambda: iter(()), 0)
    known = data.cardinality if data.cardinality < 0 else max(data.cardinality - n, 0)
    return Data(lambda: islice(data.elements(), n, None), known)


@dataset_kernel("ShardDataset")
def shard(
    op: Operation, state: State, source: np.ndarray, num_shards: np.ndarray, index: np.ndarray
) -> Data:
    """Every so manieth element."""
    data, n, first = dataset_of(source), int(num_shards), int(index)
    if n <= 0:
        words = f"Number of shards must be greater than zero (currently num_shards = {n})."
        raise InvalidArgumentError(None, None, words)
    if not 0 <= first < n:
        words = f"Index must be between 0 and {n - 1} (currently index = {first})."
        raise InvalidArgumentError(None, None, words)
    known = data.cardinality
    if known >= 0:
        known = known // n + (first < known % n)
    return Data(lambda: islice(data.elements(), first, None, n), known)


@dataset_kernel("ZipDataset")
def zipped(op: Operation, state: State, *sources: np.ndarray) -> Data:
    """Elements of several datasets side by side, up to the end of the shortest."""
    parts = [dataset_of(source) for source in sources]

    def elements() -> Elements:
        return (
            tuple(chain.from_iterable(group))
            for group in zip(*(data.elements() for data in parts), strict=False)
        )

    counts = [data.cardinality for data in parts]
    if UNKNOWN in counts:
        return Data(elements)
    return Data(elements, min((n for n in counts if n != INFINITE), default=INFINITE))


@dataset_kernel("ConcatenateDataset")
def concatenated(op: Operation, state: State, source: np.ndarray, another: np.ndarray) -> Data:
    """The elements of one dataset, then those of another."""
    parts = [dataset_of(source), dataset_of(another)]
    return Data(
        lambda: chain.from_iterable(data.elements() for data in parts),
        total(data.cardinality for data in parts),
    )


@dataset_kernel("WindowDataset")
def windows(
    op: Operation,
    state: State,
    source: np.ndarray,
    size: np.ndarray,
    shift: np.ndarray,
    stride: np.ndarray,
    drop_remainder: np.ndarray,
) -> Data:
    """Datasets of so many elements at equal distances, a dataset for each component."""
    data, n_components = dataset_of(source), len(declared(op)[0])
    width, move, step_size = (
        positive(array, f"Window {name}")
        for name, array in (("size", size), ("shift", shift), ("stride", stride))
    )
    reach = (width - 1) * step_size + 1

    def elements() -> Elements:
        inner, buffer = data.elements(), list[Element]()
        n_skipped = 0

        def step() -> Element:
            nonlocal n_skipped
            for _ in islice(inner, n_skipped):
                pass
            n_skipped = 0
            buffer.extend(islice(inner, max(reach - len(buffer), 0)))
            if not buffer or (drop_remainder and len(buffer) < reach):
                raise StopIteration
            members = buffer[:reach:step_size]
            n_skipped = max(move - len(buffer), 0) if len(buffer) == reach else 0
            del buffer[:move]
            return tuple(handle_of(_column(members, k)) for k in range(n_components))

        return steps(step)

    known = data.cardinality
    if known >= 0:
        known = max(-(-(known - reach + 1) // move), 0) if drop_remainder else -(-known // move)
    return Data(elements, known)


def _column(members: Sequence[Element], k: int) -> Data:
    """One component of elements."""
    return Data(lambda: ((member[k],) for member in members), len(members))


@dataset_kernel("DirectedInterleaveDataset")
def directed(op: Operation, state: State, selector: np.ndarray, *sources: np.ndarray) -> Data:
    """Elements of several datasets; another one says which comes next."""
    choices, parts = dataset_of(selector), [dataset_of(source) for source in sources]
    stops = bool(op.get_attr("stop_on_empty_dataset"))

    def elements() -> Elements:
        chosen = choices.elements()
        inner: list[Iterator[Element] | None] = [data.elements() for data in parts]

        def step() -> Element:
            while any(elements is not None for elements in inner):
                i = int(next(chosen)[0])
                if not 0 <= i < len(inner):
                    words = f"Selector index out of range: {i} >= {len(inner)}"
                    raise InvalidArgumentError(None, None, words)
                elements = inner[i]
                element = None if elements is None else next(elements, None)
                if element is not None:
                    return element
                if stops:
                    break
                inner[i] = None
            raise StopIteration

        return steps(step)

    return Data(elements)


@dataset_kernel("UniqueDataset")
def unique(op: Operation, state: State, source: np.ndarray) -> Data:
    """The elements that have not come before."""
    data = dataset_of(source)

    def elements() -> Elements:
        seen = set[bytes | object]()
        for element in data.elements():
            part = element[0]
            key = repr(part.tolist()) if part.ndim else cast("object", part.item())
            if key not in seen:
                seen.add(key)
                yield element

    return Data(elements)


@dataset_kernel("IgnoreErrorsDataset")
def ignore_errors(op: Operation, state: State, source: np.ndarray) -> Data:
    """The elements that can be computed."""
    data = dataset_of(source)

    def elements() -> Elements:
        inner = data.elements()

        def step() -> Element:
            while True:
                element = _attempted(inner)
                if element is not None:
                    return element

        return steps(step)

    return Data(elements)


def _attempted(elements: Elements) -> Element | None:
    """The next element, None where it cannot be computed."""
    try:
        return next(elements)
    except OutOfRangeError:
        raise StopIteration from None
    except OpError:
        return None


@resource_kernel("DatasetCardinality")
def cardinality(op: Operation, state: State, source: np.ndarray) -> np.ndarray:
    """How many elements there are."""
    return np.array(dataset_of(source).cardinality, np.int64)


@resource_kernel("DatasetFingerprint")
def dataset_fingerprint(op: Operation, state: State, source: np.ndarray) -> np.ndarray:
    """What tells the operations of a dataset from others."""
    return np.array(fingerprint(op.inputs[0]), np.uint64)


@resource_kernel("DatasetToSingleElement")
def single_element(op: Operation, state: State, source: np.ndarray) -> KernelResult:
    """The only element."""
    first = list(islice(dataset_of(source).elements(), 2))
    if len(first) != 1:
        words = "was empty" if not first else "had more than one element"
        raise InvalidArgumentError(None, None, f"Dataset {words}.")
    return as_results(first[0])
