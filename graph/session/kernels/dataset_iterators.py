"""Kernels of `tf.data`: iterators and what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.dtypes import tf_name
from ....schema.errors import InvalidArgumentError, OutOfRangeError
from ...core.evaluate import as_results
from ...core.shapes import shown
from ..datasets import (
    DatasetIterator,
    Element,
    Optional,
    dataset_of,
    declared,
)
from ..resources import handle_of, resource_kernel, shared
from .control import body_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ...core.shapes import Shape
    from ...core.signatures.attributes import FunctionRef
    from ..state import State

_TYPE_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


@resource_kernel("Iterator", "IteratorV2")
def iterator(op: Operation, state: State) -> np.ndarray:
    """An iterator, which `MakeIterator` starts."""
    return handle_of(shared(op, state, lambda name: DatasetIterator(*declared(op))))


@resource_kernel("OneShotIterator")
def one_shot_iterator(op: Operation, state: State) -> np.ndarray:
    """An iterator over the dataset that a function makes the first time."""

    def make(name: str) -> DatasetIterator:
        reference = cast("FunctionRef", op.get_attr("dataset_factory"))
        (data,) = body_of(state, op, reference, ()).run(())
        started = DatasetIterator(*declared(op))
        started.start(dataset_of(data))
        return started

    return handle_of(shared(op, state, make))


def iterator_of(array: np.ndarray) -> DatasetIterator:
    """The iterator that a handle stands for; InvalidArgumentError for another thing's."""
    item = cast("object", array.item())
    if not isinstance(item, DatasetIterator):
        raise InvalidArgumentError(None, None, "the handle is not one of an iterator")
    return item


@resource_kernel("MakeIterator")
def make_iterator(
    op: Operation, state: State, source: np.ndarray, array: np.ndarray
) -> KernelResult:
    """Lets an iterator go through a dataset from its start."""
    iterator_of(array).start(dataset_of(source))
    return ()


def _require_alike(op: Operation, element: Element) -> Element:
    """Refuses an element of other types or shapes than the operation declares."""
    types, shapes = declared(op)
    if len(types) != len(element):
        words = f"Number of components does not match: expected {len(types)} types but got"
        raise InvalidArgumentError(None, None, f"{words} {len(element)}.")
    for k, (part, dtype, shape) in enumerate(zip(element, types, shapes, strict=True)):
        if dtype.names is None and part.dtype != dtype:
            expected, got = (_TYPE_NAMES.get(t.name, tf_name(t)) for t in (dtype, part.dtype))
            words = f"Data type mismatch at component {k}: expected {expected} but got {got}."
            raise InvalidArgumentError(None, None, words)
        if not _is_compatible(part.shape, shape):
            raise InvalidArgumentError(
                None, None,
                f"Incompatible shapes at component {k}: expected {shown(shape)} but got "
                f"{shown(part.shape)}.",
            )  # fmt: skip
    return element


def _is_compatible(sizes: Sequence[int], shape: Shape) -> bool:
    if shape is None:
        return True
    return len(sizes) == len(shape) and all(
        known is None or known < 0 or n == known for n, known in zip(sizes, shape, strict=True)
    )


@resource_kernel("IteratorGetNext", "IteratorGetNextSync")
def get_next(op: Operation, state: State, array: np.ndarray) -> KernelResult:
    """The next element; OutOfRangeError behind the last."""
    state.control.check()
    return as_results(_require_alike(op, iterator_of(array).next()))


@resource_kernel("IteratorGetNextAsOptional")
def get_next_as_optional(op: Operation, state: State, array: np.ndarray) -> np.ndarray:
    """The next element, or that there is none."""
    try:
        return handle_of(Optional(_require_alike(op, iterator_of(array).next())))
    except OutOfRangeError:
        return handle_of(Optional())


@resource_kernel("IteratorToStringHandle")
def to_string_handle(op: Operation, state: State, array: np.ndarray) -> np.ndarray:
    """A string that stands for an iterator in this Session."""
    iterator = iterator_of(array)
    name = f"iterator:{id(iterator):x}"
    with state.lock:
        state.resources[name] = iterator
    return np.array(name.encode(), object)


@resource_kernel("IteratorFromStringHandle", "IteratorFromStringHandleV2")
def from_string_handle(op: Operation, state: State, text: np.ndarray) -> np.ndarray:
    """The iterator that a string stands for.

    Raises InvalidArgumentError where it stands for none, or for one of other types or shapes.
    """
    if text.ndim:
        raise InvalidArgumentError(None, None, "string_handle must be a scalar")
    name = cast("bytes", text.item()).decode(errors="replace")
    iterator = state.resources.get(name)
    if not isinstance(iterator, DatasetIterator):
        words = f"The provided string handle is not of an iterator of this Session: {name!r}"
        raise InvalidArgumentError(None, None, words)
    types, shapes = declared(op)
    if types and types != iterator.types:
        expected, got = (
            ", ".join(_TYPE_NAMES.get(t.name, tf_name(t)) for t in listed)
            for listed in (types, iterator.types)
        )
        words = f"Data type mismatch: expected [{expected}] but got [{got}]."
        raise InvalidArgumentError(None, None, words)
    if shapes and any(
        a is not None and b is not None and not _may_agree(a, b)
        for a, b in zip(shapes, iterator.shapes, strict=True)
    ):
        words = "the string handle is of an iterator whose elements have other shapes"
        raise InvalidArgumentError(None, None, words)
    return handle_of(iterator)


def _may_agree(shape: Sequence[int | None], other: Sequence[int | None]) -> bool:
    return len(shape) == len(other) and all(
        a is None or b is None or a < 0 or b < 0 or a == b
        for a, b in zip(shape, other, strict=True)
    )


@resource_kernel("OptionalFromValue")
def optional_from_value(op: Operation, state: State, *components: np.ndarray) -> np.ndarray:
    """An optional with an element."""
    return handle_of(Optional(tuple(x.copy() for x in components)))


@resource_kernel("OptionalNone")
def optional_none(op: Operation, state: State) -> np.ndarray:
    """An optional without one."""
    return handle_of(Optional())


def _optional(array: np.ndarray) -> Optional:
    item = cast("object", array.item())
    if not isinstance(item, Optional):
        raise InvalidArgumentError(None, None, "the input must be a scalar variant, an optional")
    return item


@resource_kernel("OptionalHasValue")
def optional_has_value(op: Operation, state: State, array: np.ndarray) -> np.ndarray:
    """Whether an optional has an element."""
    return np.array(_optional(array).element is not None)


@resource_kernel("OptionalGetValue")
def optional_get_value(op: Operation, state: State, array: np.ndarray) -> KernelResult:
    """The element of an optional; InvalidArgumentError where there is none."""
    element = _optional(array).element
    if element is None:
        raise InvalidArgumentError(None, None, "The given optional does not have a value.")
    return as_results(_require_alike(op, element))
