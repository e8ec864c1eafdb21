"""Kernels that make one value of a ragged tensor, and ragged tensors of such values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.errors import InvalidArgumentError
from ...core.shapes import shown
from ..resources import handle_of, resource_kernel

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ..state import State


@dataclass(frozen=True)
class RaggedVariant:
    """A ragged tensor as one value.

    Attributes:
        splits: Row splits from the outside in; none for a dense tensor.
        values: The innermost values.
    """

    splits: tuple[np.ndarray, ...]
    values: np.ndarray

    def row(self, i: int) -> RaggedVariant:
        """A row of the outermost dimension."""
        begin, end = self.splits[0][i : i + 2]
        inner = list[np.ndarray]()
        for splits in self.splits[1:]:
            part = splits[begin : end + 1]
            begin, end = part[0], part[-1]
            inner.append(part - begin)
        return RaggedVariant(tuple(inner), self.values[begin:end])


@resource_kernel("RaggedTensorToVariant")
def to_variant(op: Operation, state: State, *arrays: np.ndarray) -> np.ndarray:
    """The tensor as a scalar, or each of its rows as an element of a vector."""
    *splits, values = arrays
    if not op.get_attr("batched_input"):
        return handle_of(RaggedVariant(tuple(splits), values))
    if splits:
        whole = RaggedVariant(tuple(splits), values)
        rows = [whole.row(i) for i in range(len(splits[0]) - 1)]
    else:
        if not values.ndim:
            raise InvalidArgumentError(None, None, "rt_dense_values must have rank 1 or more")
        rows = [RaggedVariant((), values[i, ...]) for i in range(len(values))]
    vector = np.empty(len(rows), object)
    vector[:] = rows
    return vector


def _parts(op: Operation, encoded: np.ndarray, rank: int) -> list[RaggedVariant]:
    """The values of an array; checks their ragged ranks and types."""
    dtype = np.dtype(cast("np.dtype", op.get_attr("Tvalues")))
    parts = cast("list[object]", encoded.ravel().tolist())
    checked = list[RaggedVariant]()
    for i, part in enumerate(parts):
        if not isinstance(part, RaggedVariant):
            words = f"Input Variant element at index {i} doesn't hold a RaggedTensorVariant: {part}"
            raise InvalidArgumentError(None, None, words)
        if len(part.splits) != rank:
            words = f"Encoded input RaggedTensorVariant has ragged_rank={len(part.splits)}."
            raise InvalidArgumentError(None, None, f"{words}  Expected ragged_rank={rank}.")
        if part.values.dtype != dtype:
            words = f"Expected values Tensor dtype: {dtype}, found: {part.values.dtype}"
            raise InvalidArgumentError(None, None, words)
        checked.append(part)
    return checked


def _require_same_shapes(values: Sequence[np.ndarray], first: int) -> None:
    """Raises InvalidArgumentError where values differ in sizes from dimension `first` on."""
    for i, array in enumerate(values):
        if array.ndim != values[0].ndim or array.shape[first:] != values[0].shape[first:]:
            raise InvalidArgumentError(
                None, None,
                "All flat_values must have compatible shapes.  Shape at index 0: "
                f"{shown(values[0].shape)}.  Shape at index {i}: {shown(array.shape)}",
            )  # fmt: skip


def _splits(lengths: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The row splits of rows of these lengths."""
    splits = np.zeros(lengths.size + 1, dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def _joined(parts: Sequence[np.ndarray], dtype: np.dtype) -> np.ndarray:
    """The splits of several tensors one behind the other."""
    return _splits(np.concatenate([np.zeros(0, dtype), *map(np.diff, parts)]), dtype)


@resource_kernel("RaggedTensorFromVariant")
def from_variant(op: Operation, state: State, encoded: np.ndarray) -> KernelResult:
    """The tensor of a scalar, or the one whose rows an array's elements are."""
    output_rank = cast("int", op.get_attr("output_ragged_rank"))
    input_rank = cast("int", op.get_attr("input_ragged_rank"))
    rank = output_rank - encoded.ndim if input_rank < 0 else input_rank
    if output_rank == 0:
        parts = _parts(op, encoded, 0)
        values = [part.values for part in parts]
        _require_same_shapes(values, 0)
        return np.stack(values).reshape(encoded.shape + values[0].shape)
    if rank < 0 or output_rank != encoded.ndim + rank:
        raise InvalidArgumentError(
            None, None,
            "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
            f"output_ragged_rank: {output_rank}, input_ragged_rank: {rank}, "
            f"encoded_variant.dims(): {encoded.ndim}.",
        )  # fmt: skip
    parts = _parts(op, encoded, rank)
    if not encoded.ndim:
        return [*parts[0].splits, parts[0].values]
    dtype = np.dtype(cast("np.dtype", op.get_attr("Tsplits")))
    outer = [
        _splits(np.full(prod(encoded.shape[:axis]), encoded.shape[axis], dtype), dtype)
        for axis in range(1, encoded.ndim)
    ]
    counts = [len(part.splits[0]) - 1 if rank else len(part.values) for part in parts]
    rows = _splits(np.array(counts, dtype), dtype)
    inner = [_joined([part.splits[k] for part in parts], dtype) for k in range(rank)]
    values = [part.values for part in parts]
    _require_same_shapes(values, 1)
    empty = np.empty(0, np.dtype(cast("np.dtype", op.get_attr("Tvalues"))))
    return [*outer, rows, *inner, np.concatenate(values) if values else empty]
