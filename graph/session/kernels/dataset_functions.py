"""Kernels of `tf.data` that call a function for elements."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.errors import InvalidArgumentError
from ...core.evaluate import as_results
from ..datasets import (
    UNKNOWN,
    Data,
    Element,
    Elements,
    dataset_kernel,
    dataset_of,
    divided,
    positive,
    several,
    stacked,
    steps,
)
from ..resources import resource_kernel
from .element_functions import ElementFunction, Filtered, Mapped, function_of

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ..state import State


def _mapped(
    op: Operation, state: State, arrays: Sequence[np.ndarray], attr: str = "f"
) -> ElementFunction:
    return function_of(op, state, attr, "other_arguments", arrays)


def _holds(function: ElementFunction, element: Element) -> bool:
    return bool(function(element)[0])


@dataset_kernel("MapDataset", "ParallelMapDatasetV2")
def mapped(op: Operation, state: State, source: np.ndarray, *arrays: np.ndarray) -> Data:
    """What the function gives for each element."""
    data, function = dataset_of(source), _mapped(op, state, arrays)
    known = data.cardinality if op.get_attr("preserve_cardinality") else UNKNOWN
    return Data(lambda: Mapped(function, data.elements()), known)


@dataset_kernel("FilterDataset")
def filtered(op: Operation, state: State, source: np.ndarray, *arrays: np.ndarray) -> Data:
    """The elements for which the function holds."""
    data, function = dataset_of(source), _mapped(op, state, arrays, "predicate")
    return Data(lambda: Filtered(function, data.elements()))


@dataset_kernel("TakeWhileDataset")
def taken_while(op: Operation, state: State, source: np.ndarray, *arrays: np.ndarray) -> Data:
    """The elements up to the first for which the function does not hold."""
    data, function = dataset_of(source), _mapped(op, state, arrays, "predicate")

    def elements() -> Elements:
        inner, goes_on = data.elements(), True

        def step() -> Element:
            nonlocal goes_on
            element = next(inner)
            goes_on = goes_on and _holds(function, element)
            if not goes_on:
                raise StopIteration
            return element

        return steps(step)

    return Data(elements)


@dataset_kernel("FlatMapDataset")
def flat_mapped(op: Operation, state: State, source: np.ndarray, *arrays: np.ndarray) -> Data:
    """The elements of the datasets that the function gives, one dataset after the other."""
    data, function = dataset_of(source), _mapped(op, state, arrays)

    def elements() -> Elements:
        outer, inner = data.elements(), cast("Elements", iter(()))

        def step() -> Element:
            nonlocal inner
            while True:
                element = next(inner, None)
                if element is not None:
                    return element
                inner = dataset_of(function(next(outer))[0]).elements()

        return steps(step)

    return Data(elements)


@dataset_kernel(
    "InterleaveDataset", "LegacyParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV4"
)
def interleaved(op: Operation, state: State, source: np.ndarray, *arrays: np.ndarray) -> Data:
    """Blocks of elements of the datasets that the function gives, several at a time in turns."""
    signature = op.signature
    assert signature is not None
    names = [argument.name for argument in signature.inputs]
    behind = dict(zip(reversed(names), reversed(arrays), strict=False))
    cycle = positive(behind["cycle_length"], "`cycle_length`")
    block = positive(behind["block_length"], "`block_length`")
    data, function = dataset_of(source), _mapped(op, state, arrays)

    def elements() -> Elements:
        outer = data.elements()
        open_elements: list[Elements | None] = [None] * cycle
        place, n_taken, has_more = 0, 0, True

        def step() -> Element:
            nonlocal place, n_taken, has_more
            while has_more or any(inner is not None for inner in open_elements):
                if open_elements[place] is None and has_more:
                    argument = next(outer, None)
                    has_more = argument is not None
                    if argument is not None:
                        open_elements[place] = dataset_of(function(argument)[0]).elements()
                inner = open_elements[place]
                element = None if inner is None else next(inner, None)
                if element is None:
                    open_elements[place] = None
                n_taken += 1
                if element is None or n_taken == block:
                    place, n_taken = (place + 1) % cycle, 0
                if element is not None:
                    return element
            raise StopIteration

        return steps(step)

    return Data(elements)


@dataset_kernel("MapAndBatchDataset")
def mapped_and_batched(
    op: Operation, state: State, source: np.ndarray, *arrays: np.ndarray
) -> Data:
    """Batches of what the function gives."""
    *_, batch_size, _, drop_remainder = arrays
    data, function = dataset_of(source), _mapped(op, state, arrays)
    size, drops = positive(batch_size, "batch_size"), bool(drop_remainder)

    def elements() -> Elements:
        return batches(Mapped(function, data.elements()), size, drops)

    return Data(elements, divided(data.cardinality, size, drops))


def batches(elements: Elements, size: int, drops_remainder: bool) -> Elements:
    """So many elements at a time as the rows of one.

    What a function gives is batched as TensorFlow does it, which makes one operation of both: a
    batch is gone with all its elements when the function fails for one.
    """
    mapped = elements if isinstance(elements, Mapped) else None

    def step() -> Element:
        taken = several(elements, size) if mapped is None else mapped.batch(size)
        if not taken or (drops_remainder and len(taken) < size):
            raise StopIteration
        return stacked(taken, mapped is not None)

    return steps(step)


@dataset_kernel("ScanDataset")
def scanned(op: Operation, state: State, source: np.ndarray, *arrays: np.ndarray) -> Data:
    """What the function gives for a state and each element beside the next state."""
    n_state = len(cast("Sequence[object]", op.get_attr("Tstate")))
    data, function = dataset_of(source), _mapped(op, state, arrays)
    known = data.cardinality if op.get_attr("preserve_cardinality") else UNKNOWN

    def elements() -> Elements:
        inner, current = data.elements(), tuple(arrays[:n_state])

        def step() -> Element:
            nonlocal current
            results = function((*current, *next(inner)))
            current = results[:n_state]
            return results[n_state:]

        return steps(step)

    return Data(elements, known)


@resource_kernel("ReduceDataset")
def reduced(op: Operation, state: State, source: np.ndarray, *arrays: np.ndarray) -> KernelResult:
    """What the function makes of an initial state and one element after the other."""
    n_state = len(cast("Sequence[object]", op.get_attr("Tstate")))
    function, current = _mapped(op, state, arrays), tuple(arrays[:n_state])
    for element in dataset_of(source).elements():
        current = function((*current, *element))
        state.control.check()
    return as_results(current)


@dataset_kernel("GroupByWindowDataset")
def grouped_by_window(op: Operation, state: State, source: np.ndarray, *arrays: np.ndarray) -> Data:
    """What a function makes of the next elements with the same key, as many as another one says."""
    data = dataset_of(source)
    key_of, reduce, size_of = (
        function_of(op, state, f"{name}_func", f"{name}_func_other_arguments", arrays)
        for name in ("key", "reduce", "window_size")
    )

    def elements() -> Elements:
        inner, groups = data.elements(), dict[int, list[Element]]()
        sizes: dict[int, int] = {}
        ready = cast("Elements", iter(()))
        remaining: deque[int] | None = None

        def window(key: int) -> Elements:
            members = groups.pop(key)
            window = Data(lambda: iter(members), len(members))
            array = np.empty((), object)
            array[()] = window
            return dataset_of(reduce((np.array(key, np.int64), array))[0]).elements()

        def step() -> Element:
            nonlocal ready, remaining
            while True:
                element = next(ready, None)
                if element is not None:
                    return element
                member = next(inner, None) if remaining is None else None
                if member is None:
                    remaining = deque(sorted(groups)) if remaining is None else remaining
                    if not remaining:
                        raise StopIteration
                    ready = window(remaining.popleft())
                    continue
                key = int(key_of(member)[0])
                if key not in sizes:
                    sizes[key] = int(size_of((np.array(key, np.int64),))[0])
                    if sizes[key] <= 0:
                        words = f"Window size must be greater than zero, but got {sizes[key]}."
                        raise InvalidArgumentError(None, None, words)
                groups.setdefault(key, []).append(member)
                if len(groups[key]) == sizes[key]:
                    ready = window(key)

        return steps(step)

    return Data(elements)


@dataset_kernel("GroupByReducerDataset")
def grouped_by_reducer(
    op: Operation, state: State, source: np.ndarray, *arrays: np.ndarray
) -> Data:
    """What functions make of all elements with the same key, one for each key."""
    data = dataset_of(source)
    key_of, init, reduce, finalize = (
        function_of(op, state, f"{name}_func", f"{name}_func_other_arguments", arrays)
        for name in ("key", "init", "reduce", "finalize")
    )

    def elements() -> Elements:
        states: dict[int, Element] = {}
        for element in data.elements():
            key = int(key_of(element)[0])
            current = states[key] if key in states else init((np.array(key, np.int64),))
            states[key] = reduce((*current, *element))
        return map(finalize, (states[key] for key in sorted(states)))

    return Data(elements)
