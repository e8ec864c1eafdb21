"""Accumulators that a Session keeps: sums of gradients that threads bring and others take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...schema.errors import InvalidArgumentError
from ..core.shapes import shown
from .queues import STUCK, Attempt, Queue, fits

if TYPE_CHECKING:
    from ..core.shapes import Shape


class Accumulator(Queue):
    """The mean, or the sum, of gradients.

    Args:
        name: For messages.
        shape: What is known of that of a gradient.
        is_mean: Whether the sum is divided by the number of gradients.
    """

    kind = kind_of_many = "ConditionalAccumulator"

    def __init__(self, name: str, shape: Shape, is_mean: bool):
        super().__init__(name, None, -1)
        self.shape, self.is_mean = shape, is_mean
        self.step = self.n_accumulated = 0
        self._sum: np.ndarray | None = None

    def apply(self, gradient: np.ndarray, step: int) -> None:
        """Adds a gradient, unless it is of a step before the current one.

        Raises InvalidArgumentError when it has another shape.
        """
        with self.lock:
            expected = self.shape if self._sum is None else self._sum.shape
            if expected is not None and not fits(gradient.shape, expected):
                words = f"Shape mismatch: expected {shown(expected)}, got {shown(gradient.shape)}"
                raise InvalidArgumentError(None, None, words)
            if step < self.step:
                return
            self._add_gradient(gradient)
            self.n_accumulated += 1
            self.flush()

    def take(self, required: int) -> Attempt:
        """Takes the result when it is of so many gradients.

        Raises InvalidArgumentError for no gradients or less.
        """
        if required <= 0:
            words = f"Argument num_required must be positive, but was {required}"
            raise InvalidArgumentError(None, None, words)

        def step(attempt: Attempt) -> int:
            if self.n_accumulated < required:
                return STUCK
            attempt.items.append(self._result())
            self.n_accumulated = 0
            self.step += 1
            return attempt.end()

        return self._attempt(self.dequeuing, step)

    def put_back(self, attempt: Attempt) -> None:
        """Nothing: what is taken is taken as a whole."""

    def _add_gradient(self, gradient: np.ndarray) -> None:
        self._sum = gradient.copy() if self._sum is None else self._sum + gradient

    def _result(self) -> tuple[np.ndarray, ...]:
        total = self._sum
        assert total is not None  # there are gradients
        self._sum = None
        return (total / total.dtype.type(self.n_accumulated) if self.is_mean else total,)


class SparseAccumulator(Accumulator):
    """The mean, or the sum, of gradients of rows; the mean of a row is over those that had it."""

    kind = kind_of_many = "SparseConditionalAccumulator"

    def __init__(self, name: str, shape: Shape, is_mean: bool):
        super().__init__(name, shape, is_mean)
        self._rows: list[tuple[int, np.ndarray, int]] = []
        self._sizes: list[int] = []

    def apply_rows(
        self, indices: np.ndarray, values: np.ndarray, sizes: Sequence[int], step: int
    ) -> None:
        """Adds the rows of a gradient, unless it is of a step before the current one.

        Raises InvalidArgumentError when indices, values and sizes do not go together.
        """
        with self.lock:
            error = self._mismatch(indices, values, sizes)
            if error is not None:
                raise InvalidArgumentError(None, None, error)
            if step < self.step:
                return
            added = [(int(i), v.copy(), 1) for i, v in zip(indices, values, strict=True)]
            self._rows = _merged(self._rows, added) if self.n_accumulated else added
            self._sizes = self._sizes if self.n_accumulated and not sizes else list(sizes)
            self.n_accumulated += 1
            self.flush()

    def _mismatch(
        self, indices: np.ndarray, values: np.ndarray, sizes: Sequence[int]
    ) -> str | None:
        if indices.ndim != 1:
            return f"Input indices should be vector but received shape: {shown(indices.shape)}"
        if not values.ndim:
            return f"Values cannot be 0-dimensional, got {shown(values.shape)}"
        if len(indices) != len(values):
            return f"Expected {len(indices)} non-empty input values, got {len(values)}"
        shape = self.shape or ()
        for i, (expected, size) in enumerate(zip(shape, sizes, strict=False)):
            if expected is not None and size != expected:
                return f"Shape mismatch: expected shape dim {i} to be {expected}, got {size}"
        for i, (expected, size) in enumerate(zip(shape[1:], values.shape[1:], strict=False), 1):
            if expected is not None and size != expected:
                return f"Shape mismatch: expected values dim {i} to be {expected}, got {size}"
        if shape and shape[0] is not None:
            for i, index in enumerate(indices.tolist()):
                if index >= shape[0]:
                    return (
                        f"Shape mismatch: index of slice {i} exceeded limits of shape; index is "
                        f"{index} exceeded {shape[0]}"
                    )
        if self.n_accumulated and self._rows and self._rows[0][1].shape != values.shape[1:]:
            known, got = self._rows[0][1].shape, values.shape[1:]
            return f"Shape mismatch: expected values shape {shown(known)}, got {shown(got)}"
        return None

    def _result(self) -> tuple[np.ndarray, ...]:
        indices = np.array([i for i, _, _ in self._rows], np.int64)
        rows = [v / v.dtype.type(n) if self.is_mean else v for _, v, n in self._rows]
        sizes = self._sizes or [-1 if n is None else n for n in self._known_sizes(rows)]
        self._rows = []
        return indices, np.stack(rows), np.array(sizes, np.int64)

    def _known_sizes(self, rows: Sequence[np.ndarray]) -> Sequence[int | None]:
        return (None, *rows[0].shape) if self.shape is None else self.shape


def _merged(
    a: list[tuple[int, np.ndarray, int]], b: list[tuple[int, np.ndarray, int]]
) -> list[tuple[int, np.ndarray, int]]:
    """Rows in the order of their indices, where both are; those of one index are added."""
    merged: list[tuple[int, np.ndarray, int]] = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i][0] == b[j][0]:
            merged.append((a[i][0], a[i][1] + b[j][1], a[i][2] + b[j][2]))
            i, j = i + 1, j + 1
        elif a[i][0] < b[j][0]:
            merged.append(a[i])
            i += 1
        else:
            merged.append(b[j])
            j += 1
    return merged + a[i:] + b[j:]
