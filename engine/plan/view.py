"""Strided views of buffers: moving elements is copying view to view (families/layout.py)."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from .buffer import Buffer, constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MIN_RANK = 2  # of a geometry: the kernel's two innermost loops
_FEW_ROWS = 16


class View:
    """Elements of `buffer` at `offset + index . strides` for each index below `shape`.

    Attributes:
        buffer: where the elements lie.
        shape: how many there are along each dimension.
        strides: distance between neighbours, in elements; 0 repeats, negative runs backwards.
        offset: position of the first element.
    """

    __slots__ = ("buffer", "offset", "shape", "strides")

    def __init__(
        self, buffer: Buffer, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0
    ):
        self.buffer = buffer
        self.shape = shape
        self.strides = strides
        self.offset = offset

    @classmethod
    def of(cls, buffer: Buffer, shape: tuple[int, ...] | None = None) -> View:
        """The whole of `buffer`, under another shape when given."""
        shape = buffer.shape if shape is None else tuple(shape)
        if prod(shape) != buffer.size:
            raise ValueError(f"cannot view {buffer.shape} as {shape}")
        return cls(buffer, shape, contiguous_strides(shape))

    def part(self, axis: int, start: int, count: int, step: int = 1) -> View:
        """The `count` slices at `start`, `start + step`, ... along `axis`."""
        shape, strides = list(self.shape), list(self.strides)
        offset = self.offset + start * strides[axis] if count else self.offset
        shape[axis], strides[axis] = count, strides[axis] * step
        return View(self.buffer, tuple(shape), tuple(strides), offset)

    def pick(self, axis: int, index: int) -> View:
        """The slice `index` along `axis`, without that dimension."""
        return self.part(axis, index, 1).drop(axis)

    def drop(self, axis: int) -> View:
        """The view without dimension `axis`, whose size is 1."""
        shape, strides = list(self.shape), list(self.strides)
        del shape[axis], strides[axis]
        return View(self.buffer, tuple(shape), tuple(strides), self.offset)

    def insert(self, axis: int, count: int = 1) -> View:
        """The view repeated `count` times along a new dimension before `axis`."""
        shape = (*self.shape[:axis], count, *self.shape[axis:])
        strides = (*self.strides[:axis], 0, *self.strides[axis:])
        return View(self.buffer, shape, strides, self.offset)

    def split(self, axis: int, *sizes: int) -> View:
        """Dimension `axis` as several, whose sizes multiply to its own."""
        inner = contiguous_strides(sizes)
        step = self.strides[axis]
        shape = (*self.shape[:axis], *sizes, *self.shape[axis + 1 :])
        strides = (
            *self.strides[:axis],
            *(n * step for n in inner),
            *self.strides[axis + 1 :],
        )
        return View(self.buffer, shape, strides, self.offset)

    def transpose(self, permutation: tuple[int, ...]) -> View:
        """The dimensions in the order `permutation` names them."""
        shape = tuple(self.shape[i] for i in permutation)
        return View(self.buffer, shape, tuple(self.strides[i] for i in permutation), self.offset)

    def broadcast(self, shape: tuple[int, ...]) -> View:
        """The view repeated to `shape` by numpy's rule."""
        shape = tuple(shape)
        strides = broadcast_strides(self.strides, self.shape, shape)
        return View(self.buffer, shape, strides, self.offset)

    @property
    def reach(self) -> tuple[int, int]:
        """The lowest and the highest position of an element; the view is not empty."""
        spans = [(n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)]
        low = self.offset + sum(span for span in spans if span < 0)
        return low, self.offset + sum(span for span in spans if span > 0)


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of an array of `shape` that lies in one piece, last dimension innermost."""
    strides: list[int] = []
    step = 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def broadcast_strides(
    strides: Sequence[int], shape: Sequence[int], target: Sequence[int]
) -> tuple[int, ...]:
    """`strides` of `shape` to iterate over the shape `target`, repeating where it is larger."""
    n_new = len(target) - len(shape)
    broadcast = [0] * n_new
    for size, full, stride in zip(shape, target[n_new:], strides, strict=True):
        if size not in (1, full):
            raise ValueError(f"cannot broadcast {shape} to {target}")
        broadcast.append(stride if size == full else 0)
    return tuple(broadcast)


def collapse(shape: Sequence[int], *strides: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The fewest dimensions that visit the same positions in the same order.

    Returns the shape and as many stride tuples as were given: dimensions of size 1 are gone, and
    neighbours are one where every stride allows it.
    """
    dims: list[list[int]] = []  # [size, stride, stride, ...]
    for size, *steps in zip(shape, *strides, strict=True):
        if size == 1:
            continue
        if dims and all(
            outer == step * size for outer, step in zip(dims[-1][1:], steps, strict=True)
        ):
            dims[-1] = [dims[-1][0] * size, *steps]
        else:
            dims.append([size, *steps])
    columns = list(zip(*dims, strict=True)) or [()] * (1 + len(strides))
    return tuple(columns)


@lru_cache(1024)
def geometry_of(
    shape: tuple[int, ...], strides: tuple[int, ...], target_strides: tuple[int, ...]
) -> tuple[Buffer, int]:
    """The buffer `geometry` of a move and its number of items: few dimensions, target in order."""
    dims = zip(shape, strides, target_strides, strict=True)
    dims = sorted(dims, key=lambda dim: -abs(dim[2]))
    columns = collapse(*zip(*dims, strict=True)) if dims else [()] * 3
    missing = MIN_RANK - len(columns[0])
    sizes = [1] * missing + list(columns[0])
    steps, target_steps = ([0] * missing + list(column) for column in columns[1:])
    if abs(steps[-1]) > 1:
        # next to the innermost dimension the one the source runs along: both fill cache lines
        runs = [d for d in range(len(sizes) - 1) if abs(steps[d]) == 1]
        for row in (sizes, steps, target_steps) if runs else ():
            row.insert(len(row) - 2, row.pop(runs[-1]))
    elif len(sizes) > MIN_RANK and sizes[-2] < _FEW_ROWS:
        # many rows one after another: what is between takes longer than short rows
        longest = max(range(len(sizes) - 1), key=lambda k: (sizes[k], k))
        for row in (sizes, steps, target_steps):
            row.insert(len(row) - 2, row.pop(longest))
    return table_of([*zip(sizes, steps, target_steps, strict=True)]), prod(sizes[:-1])


def table_of(dims: Iterable[tuple[int, ...]]) -> Buffer:
    """The constant whose columns are `dims`, as kernels take a geometry."""
    return constant(np.array([*zip(*dims, strict=True)], np.int64))
