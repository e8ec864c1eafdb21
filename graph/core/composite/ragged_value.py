"""RaggedTensorValue: what a Session gives for a ragged tensor."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt


class RaggedTensorValue:
    """What a Session gives for a RaggedTensor, and takes to feed one.

    Args:
        values: The concatenated rows: an array, or a RaggedTensorValue.
        row_splits: [n + 1], int32 or int64: where each row begins, and where the last one ends.

    Raises TypeError for another type of `row_splits`, ValueError for another rank.
    """

    def __init__(self, values: npt.ArrayLike | RaggedTensorValue, row_splits: npt.ArrayLike):
        splits = np.asarray(row_splits)
        if splits.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
            raise TypeError(f"row_splits must have dtype int32 or int64, got {splits.dtype.name}")
        if splits.ndim != 1:
            raise ValueError(f"row_splits must be a 1D numpy array, got shape {splits.shape}")
        self._values = values if isinstance(values, RaggedTensorValue) else np.asarray(values)
        self._row_splits = splits

    @property
    def values(self) -> np.ndarray | RaggedTensorValue:
        """The concatenated rows."""
        return self._values

    @property
    def row_splits(self) -> np.ndarray:
        """Where each row begins, and where the last one ends."""
        return self._row_splits

    @property
    def flat_values(self) -> np.ndarray:
        """The concatenated values of the innermost rows."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensorValue) else values

    @property
    def nested_row_splits(self) -> tuple[np.ndarray, ...]:
        """Those of this one, and of the rows within, from the outside in."""
        inner = self._values
        splits = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return (self._row_splits, *splits)

    @property
    def ragged_rank(self) -> int:
        """How many dimensions have sizes of their own for each row."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> np.dtype:
        """Of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The number of rows, and None for each dimension that has none of its own."""
        inner = self.flat_values.shape[1:]
        return (len(self._row_splits) - 1, *[None] * self.ragged_rank, *inner)

    def to_list(self) -> list[object]:
        """The rows as nested lists."""
        values = self._values
        items = values.to_list() if isinstance(values, RaggedTensorValue) else values.tolist()
        rows = cast("Sequence[object]", items)
        return [rows[start:end] for start, end in pairwise(self._row_splits.tolist())]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.{type(self).__name__}(values={self._values!r}, row_splits={self._row_splits!r})"
