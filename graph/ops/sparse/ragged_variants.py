"""Ragged tensors as variants, whole or row by row, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.registry import op
from ...core.shapes import Shape, as_shape

if TYPE_CHECKING:
    from ...core.protocols import OperationView


@dataclass(frozen=True)
class Ragged:
    """Values, and the row splits around them, the outermost first."""

    splits: tuple[np.ndarray, ...]
    values: np.ndarray

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.splits[0]) - 1 if self.splits else len(self.values)

    def row(self, i: int) -> Ragged:
        """One row, of one dimension less."""
        if not self.splits:
            return Ragged((), self.values[i].copy())
        low, high = (int(n) for n in self.splits[0][i : i + 2])
        inner: list[np.ndarray] = []
        for splits in self.splits[1:]:
            part = splits[low : high + 1]
            low, high = (int(n) for n in (part[0], part[-1]))
            inner.append(part - part[0])
        return Ragged(tuple(inner), self.values[low:high].copy())


def _box(items: Sequence[Ragged], shape: tuple[int, ...]) -> np.ndarray:
    boxes = np.empty(len(items), object)
    boxes[:] = items
    return boxes.reshape(shape)


def _encoded_shape(op: OperationView) -> Shape:
    if not op.get_attr("batched_input"):
        return ()
    shape, has_splits = op.inputs[0].sizes, len(op.inputs) > 1
    if not shape:
        return (None,)
    n = shape[0]
    return (None if n is None else n - 1 if has_splits else n,)


@op("RaggedTensorToVariant", shape=_encoded_shape, pure=False)
def to_variant(*parts: np.ndarray, batched_input: bool) -> np.ndarray:
    """A variant of the whole, or one of each row."""
    whole = Ragged(tuple(parts[:-1]), parts[-1])
    if not batched_input:
        return _box([whole], ())
    return _box([whole.row(i) for i in range(whole.n_rows)], (whole.n_rows,))


def _decoded_shape(op: OperationView) -> list[Shape]:
    rank = cast("int", op.get_attr("output_ragged_rank"))
    return [*([(None,)] * rank), None]


@op("RaggedTensorFromVariant", shape=_decoded_shape, pure=False)
def from_variant(
    boxes: np.ndarray,
    *,
    input_ragged_rank: int,
    output_ragged_rank: int,
    Tvalues: np.dtype,
    Tsplits: np.dtype,
) -> list[np.ndarray]:
    """The splits and values of all variants, one behind another."""
    items = [_opened(item) for item in boxes.ravel()]
    inner_rank = output_ragged_rank - boxes.ndim if input_ragged_rank < 0 else input_ragged_rank
    if inner_rank < 0 or inner_rank + boxes.ndim != output_ragged_rank:
        raise ValueError(
            "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(). Found "
            f"output_ragged_rank: {output_ragged_rank}, encoded_ragged.dims(): {boxes.ndim}, "
            f"input_ragged_rank: {inner_rank} ."
        )
    for item in items:
        if len(item.splits) != inner_rank:
            raise ValueError(
                f"Encoded input RaggedTensorVariant has ragged_rank={len(item.splits)}.  "
                f"Expected ragged_rank={inner_rank}."
            )
    if not boxes.ndim:
        return [*items[0].splits, items[0].values]
    outer = [np.arange(prod(boxes.shape[:i]) + 1) * boxes.shape[i] for i in range(1, boxes.ndim)]
    splits = [*outer, _offsets([item.n_rows for item in items])]
    for level in range(inner_rank):
        parts = [item.splits[level] for item in items]
        starts = _offsets([int(part[-1]) for part in parts])
        moved = [part[1:] + start for part, start in zip(parts, starts, strict=False)]
        splits.append(np.concatenate([np.zeros(1, Tsplits), *moved]))
    values = np.concatenate([x.values for x in items]) if items else np.zeros(0, Tvalues)
    return [*(np.asarray(one).astype(Tsplits) for one in splits), values]


def _offsets(counts: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def _opened(item: object) -> Ragged:
    if not isinstance(item, Ragged):
        raise ValueError(f"the variant must be a ragged tensor, got {type(item).__name__}")
    return item


@op("RaggedTensorToVariantGradient", shape=lambda op: as_shape(op, 2), pure=False)
def to_variant_gradient(
    boxes: np.ndarray, splits: np.ndarray, shape: np.ndarray, *, Tvalues: np.dtype
) -> np.ndarray:
    """The values of the rows' gradients; zeros of a row without one."""
    sizes = tuple(shape.tolist())
    lengths = np.diff(splits) if splits.size else np.ones(boxes.size, np.int64)
    parts = [
        item.values.ravel()
        if isinstance(item, Ragged)
        else np.zeros(int(n) * prod(sizes[1:]), Tvalues)
        for item, n in zip(boxes.ravel(), lengths, strict=True)
    ]
    return np.concatenate(parts or [np.zeros(0, Tvalues)]).reshape(sizes)
