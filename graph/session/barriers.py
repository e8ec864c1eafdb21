"""Barriers that a Session keeps: elements that are there when all their components are."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...schema.errors import CancelledError, InvalidArgumentError
from ..core.shapes import shown
from .queues import Attempt, PriorityQueue, fits

if TYPE_CHECKING:
    from ..core.shapes import Shape

_FIRST_INDEX = np.iinfo(np.int64).min
"""Where TensorFlow begins to count."""


class Barrier:
    """Elements by their keys, whose components come one by one.

    Args:
        name: For messages.
        dtypes: Of the components.
        shapes: Of the components; None where they may have any.
    """

    def __init__(self, name: str, dtypes: Sequence[np.dtype], shapes: Sequence[Shape] | None):
        self.name, self.dtypes, self.shapes = name, list(dtypes), shapes
        self._lock = threading.RLock()
        self._incomplete: dict[bytes, tuple[int, list[np.ndarray | None]]] = {}
        whole = None if shapes is None else [(), (), *shapes]
        self.ready = PriorityQueue(name, whole, -1)
        self._n_inserts = 0
        self._is_closed = self._is_cancelled = False

    @property
    def n_incomplete(self) -> int:
        """How many elements lack a component."""
        return len(self._incomplete)

    def insert(self, keys: np.ndarray, values: np.ndarray, component: int) -> None:
        """Adds one component of several elements.

        Raises:
            InvalidArgumentError: An element has it, there is no such component, or it has another
                shape.
            CancelledError: The barrier is closed and an element is new.
        """
        self._check(keys, values, component)
        with self._lock:
            if self._is_closed:
                self._require_begun(keys)
            index = _FIRST_INDEX + self._n_inserts
            is_new = False
            complete: list[tuple[np.ndarray, ...]] = []
            for key, value in zip(keys.tolist(), values, strict=True):
                if key not in self._incomplete:
                    is_new = True
                    self._incomplete[key] = index, [None] * len(self.dtypes)
                first, parts = self._incomplete[key]
                if parts[component] is not None:
                    words = f"Key {key.decode(errors='replace')} already has a value for component"
                    raise InvalidArgumentError(None, None, f"{words} {component}")
                parts[component] = np.array(value, values.dtype)
                present = [part for part in parts if part is not None]
                if len(present) == len(parts):
                    del self._incomplete[key]
                    complete.append((np.array(first, np.int64), _string(key), *present))
            self._n_inserts += is_new
            self.ready.enqueue(complete)
            self._close_ready()

    def take(self, count: int, may_be_fewer: bool) -> Attempt:
        """Takes complete elements: index, key and components of each.

        Fewer where that is allowed and nothing more comes.
        """
        return self.ready.dequeue(count, may_be_fewer)

    def close(self, cancel_pending: bool) -> None:
        """Lets no new elements in; without pending ones, nothing at all.

        Raises CancelledError where it was closed before.
        """
        with self._lock:
            if self._is_closed and (self._is_cancelled or not cancel_pending):
                words = f"Barrier '{self.name}' is already closed."
                raise CancelledError(None, None, words)
            self._is_closed = True
            if cancel_pending:
                self._is_cancelled = True
                self._incomplete.clear()
            self._close_ready()

    def _close_ready(self) -> None:
        """Says that no further element becomes complete, where that is so."""
        if self._is_closed and not self._incomplete and not self.ready.is_closed:
            self.ready.close(False)

    def _require_begun(self, keys: np.ndarray) -> None:
        new = [key for key in keys.tolist() if key not in self._incomplete]
        if new or self._is_cancelled:
            shown_key = new[0].decode(errors="replace") if new else ""
            words = f"Barrier {self.name} is closed, but attempted to insert a brand new key: "
            raise CancelledError(None, None, f"{words}{shown_key}")

    def _check(self, keys: np.ndarray, values: np.ndarray, component: int) -> None:
        if not 0 <= component < len(self.dtypes):
            words = f"The component ID is out of range {component} > num_components (= "
            raise InvalidArgumentError(None, None, f"{words}{len(self.dtypes)})")
        shape = None if self.shapes is None else self.shapes[component]
        if shape is not None and not fits(values.shape, (len(keys), *shape)):
            words = f"Shape mismatch in tuple component {component}. Expected "
            got = f"{shown((len(keys), *shape))}, got {shown(values.shape)}"
            raise InvalidArgumentError(None, None, f"{words}{got}")


def _string(value: bytes) -> np.ndarray:
    array = np.empty((), object)
    array[()] = value
    return array
