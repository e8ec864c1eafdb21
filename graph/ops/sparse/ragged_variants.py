"""Ragged tensors as variants, whole or row by row, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.registry import op
from ...core.shapes import Shape, as_shape, shown

if TYPE_CHECKING:
    from ...core.protocols import OperationView


@dataclass(frozen=True)
class RaggedVariant:
    """A ragged tensor as one value.

    Attributes:
        splits: Row splits from the outside in; none for a dense tensor.
        values: The innermost values.
    """

    splits: tuple[np.ndarray, ...]
    values: np.ndarray

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.splits[0]) - 1 if self.splits else len(self.values)

    def row(self, i: int) -> RaggedVariant:
        """One row, of one dimension less."""
        if not self.splits:
            return RaggedVariant((), self.values[i, ...])
        begin, end = self.splits[0][i : i + 2]
        inner = list[np.ndarray]()
        for splits in self.splits[1:]:
            part = splits[begin : end + 1]
            begin, end = part[0], part[-1]
            inner.append(part - begin)
        return RaggedVariant(tuple(inner), self.values[begin:end])


def _box(items: Sequence[RaggedVariant], shape: tuple[int, ...]) -> np.ndarray:
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
    whole = RaggedVariant(tuple(parts[:-1]), parts[-1])
    if not batched_input:
        return _box([whole], ())
    if not whole.values.ndim:
        raise ValueError("rt_dense_values must have rank 1 or more")
    return _box([whole.row(i) for i in range(whole.n_rows)], (whole.n_rows,))


def _decoded_shape(op: OperationView) -> list[Shape]:
    rank = cast("int", op.get_attr("output_ragged_rank"))
    return [*([(None,)] * rank), None]


@op("RaggedTensorFromVariant", shape=_decoded_shape, pure=False)
def from_variant(
    encoded: np.ndarray,
    *,
    input_ragged_rank: int,
    output_ragged_rank: int,
    Tvalues: np.dtype,
    Tsplits: np.dtype,
) -> list[np.ndarray] | np.ndarray:
    """The tensor of a scalar, or the one whose rows an array's elements are."""
    rank = output_ragged_rank - encoded.ndim if input_ragged_rank < 0 else input_ragged_rank
    if not output_ragged_rank:
        parts = _parts(encoded, 0, Tvalues)
        _require_same_shapes(parts, 0)
        values = np.stack([part.values for part in parts])
        return values.reshape(encoded.shape + values.shape[1:])
    if rank < 0 or output_ragged_rank != encoded.ndim + rank:
        raise ValueError(
            "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
            f"output_ragged_rank: {output_ragged_rank}, input_ragged_rank: {rank}, "
            f"encoded_variant.dims(): {encoded.ndim}."
        )
    parts = _parts(encoded, rank, Tvalues)
    if not encoded.ndim:
        return [*parts[0].splits, parts[0].values]
    _require_same_shapes(parts, 1)
    shape = encoded.shape
    outer = [np.arange(prod(shape[:i]) + 1) * shape[i] for i in range(1, encoded.ndim)]
    splits = [*outer, _offsets([part.n_rows for part in parts])]
    for level in range(rank):
        lengths = [np.diff(part.splits[level]) for part in parts]
        splits.append(_offsets(np.concatenate([*lengths, np.zeros(0, np.int64)])))
    values = [part.values for part in parts]
    joined = np.concatenate(values) if values else np.zeros(0, Tvalues)
    return [*(each.astype(Tsplits) for each in splits), joined]


def _offsets(counts: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _parts(encoded: np.ndarray, rank: int, dtype: np.dtype) -> list[RaggedVariant]:
    """The values of an array; checks their ragged ranks and types."""
    parts = list[RaggedVariant]()
    for i, part in enumerate(encoded.ravel().tolist()):
        if not isinstance(part, RaggedVariant):
            raise ValueError(
                f"Input Variant element at index {i} doesn't hold a RaggedTensorVariant: {part}"
            )
        if len(part.splits) != rank:
            raise ValueError(
                f"Encoded input RaggedTensorVariant has ragged_rank={len(part.splits)}.  "
                f"Expected ragged_rank={rank}."
            )
        if part.values.dtype != dtype:
            raise ValueError(f"Expected values Tensor dtype: {dtype}, found: {part.values.dtype}")
        parts.append(part)
    return parts


def _require_same_shapes(parts: Sequence[RaggedVariant], first: int) -> None:
    """Raises ValueError where values differ in rank, or in sizes from dimension `first` on."""
    shapes = [part.values.shape for part in parts]
    for i, shape in enumerate(shapes):
        if len(shape) != len(shapes[0]) or shape[first:] != shapes[0][first:]:
            raise ValueError(
                "All flat_values must have compatible shapes.  Shape at index 0: "
                f"{shown(shapes[0])}.  Shape at index {i}: {shown(shape)}"
            )


@op("RaggedTensorToVariantGradient", shape=lambda op: as_shape(op, 2), pure=False)
def to_variant_gradient(
    boxes: np.ndarray, splits: np.ndarray, shape: np.ndarray, *, Tvalues: np.dtype
) -> np.ndarray:
    """The values of the rows' gradients; zeros of a row without one."""
    sizes = tuple(shape.tolist())
    lengths = np.diff(splits) if splits.size else np.ones(boxes.size, np.int64)
    parts = [
        item.values.ravel()
        if isinstance(item, RaggedVariant)
        else np.zeros(int(n) * prod(sizes[1:]), Tvalues)
        for item, n in zip(boxes.ravel(), lengths, strict=True)
    ]
    return np.concatenate(parts or [np.zeros(0, Tvalues)]).reshape(sizes)
