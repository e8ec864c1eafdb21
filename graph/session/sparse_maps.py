"""Sparse tensors that a Session keeps by number until they are taken."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...schema.errors import InvalidArgumentError

if TYPE_CHECKING:
    Sparse: TypeAlias = "tuple[np.ndarray, np.ndarray, np.ndarray]"
    """Indices, values and shape."""


class SparseTensorsMap:
    """Sparse tensors by number.

    Args:
        name: For messages.
    """

    def __init__(self, name: str):
        self.name = name
        self._lock = threading.Lock()
        self._tensors: dict[int, Sparse] = {}
        self._n_added = 0

    def add(self, indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> int:
        """Keeps a sparse tensor; gives its number."""
        with self._lock:
            self._n_added += 1
            self._tensors[self._n_added - 1] = indices.copy(), values.copy(), shape.copy()
            return self._n_added - 1

    def take(self, numbers: Sequence[int]) -> Sparse:
        """Takes sparse tensors of equal rank, one behind the other along a new first dimension.

        Raises InvalidArgumentError where there is none of a number, or ranks differ.
        """
        with self._lock:
            missing = [number for number in numbers if number not in self._tensors]
            if missing:
                words = f"Unable to find SparseTensor: {missing[0]} in map: {self.name}"
                raise InvalidArgumentError(None, None, words)
            taken = [self._tensors.pop(number) for number in numbers]
        ranks = {len(shape) for _, _, shape in taken}
        if len(ranks) != 1:
            words = f"Inconsistent rank across SparseTensors: got {sorted(ranks)}"
            raise InvalidArgumentError(None, None, words)
        indices = [np.insert(x, 0, i, axis=1) for i, (x, _, _) in enumerate(taken)]
        largest = np.max([shape for _, _, shape in taken], 0)
        whole = np.insert(largest, 0, len(taken)).astype(np.int64)
        return np.concatenate(indices), np.concatenate([x for _, x, _ in taken]), whole
