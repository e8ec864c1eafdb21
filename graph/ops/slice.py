"""Parts of tensors, and tensors with more around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..core.registry import op
from ..core.shapes import (
    Dim,
    Shape,
    UnknownRank,
    as_shape,
    integers,
    known,
    merged_shapes,
    plus,
    require,
    require_rank,
    same,
    vector_size,
)

if TYPE_CHECKING:
    from ..core.protocols import OperationView


def _numbers(array: np.ndarray | None, n: int) -> list[Dim]:
    """The elements of a value, None where unknown; `n` unknown ones when nothing is known."""
    if array is None:
        return [None] * n
    return [None if item is None else int(item) for item in array.flat]


def _slice_shape(op: OperationView) -> Shape:
    begins, sizes = op.inputs[1].value, op.inputs[2].value
    shape = _sliced(op)
    rank = len(shape)
    starts = _numbers(begins, rank)
    lengths = _numbers(sizes, rank)
    words = f"Shape must be rank {len(starts)} but is rank {rank}"
    require(op, len(starts) == rank, words)
    merged_shapes(op, (len(starts),), (len(lengths),))
    result: list[Dim] = []
    for size, start, length in zip(shape, starts, lengths, strict=True):
        if length is not None and length >= 0:
            result.append(length)
        else:
            result.append(None if start is None or length != -1 else plus(size, -start))
    return tuple(result)


def _sliced(op: OperationView) -> tuple[Dim, ...]:
    """The shape of the input; of its rank alone begin and size know, too."""
    try:
        return known(op, 0)
    except UnknownRank:
        begins = op.inputs[1].sizes
        return (None,) * vector_size(op, 1 if begins and begins[0] is not None else 2)


@op("Slice", shape=_slice_shape, moves_elements=True)
def slice_(x: np.ndarray, begin: np.ndarray, size: np.ndarray) -> np.ndarray:
    """`size` elements from `begin` along each axis; size -1 is up to the end."""
    index: list[slice] = []
    parts = zip(begin.tolist(), size.tolist(), x.shape, strict=True)
    for i, (start, length, whole) in enumerate(parts):
        end = whole if length == -1 else start + length
        if not 0 <= start <= whole:
            raise ValueError(f"Expected begin[{i}] in [0, {whole}], but got {start}")
        if not start <= end <= whole:
            raise ValueError(f"Expected size[{i}] in [0, {whole - start}], but got {length}")
        index.append(slice(start, end))
    return x[tuple(index)]


class StridedIndex:
    """What begin, end, strides and the masks of StridedSlice say of each dimension."""

    def __init__(
        self,
        op: OperationView,
        begin: Sequence[Dim],
        end: Sequence[Dim],
        strides: Sequence[Dim],
        rank: int,
    ) -> None:
        self.masks = {
            name: cast("int", op.get_attr(f"{name}_mask"))
            for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
        }
        if not len(begin) == len(end) == len(strides):
            n, m = len(begin), len(strides) if len(begin) == len(end) else len(end)
            raise ValueError(
                f"Dimension 0 in both shapes must be equal, but are {n} and {m}. Shapes are [{n}] "
                f"and [{m}]."
            )
        if self.masks["ellipsis"] & (self.masks["ellipsis"] - 1):
            raise ValueError("Multiple ellipses in slice spec not allowed")
        self.begin, self.end, self.strides, self.rank = begin, end, strides, rank
        for i, stride in enumerate(strides):
            if stride == 0:
                raise ValueError(f"strides[{i}] must be non-zero")

    def has(self, name: str, i: int) -> bool:
        """Whether bit `i` of a mask is set."""
        return bool(self.masks[name] >> i & 1)

    def items(self) -> Iterator[Entry]:
        """What each entry says, in order; an ellipsis as the whole dimensions it stands for."""
        n = len(self.begin)
        has_ellipsis = self.masks["ellipsis"] & ((1 << n) - 1)
        named = sum(not self.has("ellipsis", i) and not self.has("new_axis", i) for i in range(n))
        if named > self.rank == 0:
            raise ValueError("Attempting to slice scalar input.")
        if named > self.rank:
            words = f"input has only {self.rank} dims"
            raise ValueError(f"Index out of range using input dim {self.rank}; {words}")
        for i in range(n):
            if self.has("ellipsis", i):
                yield from [slice(None)] * (self.rank - named)
            elif self.has("new_axis", i):
                yield np.newaxis
            elif self.has("shrink_axis", i):
                yield Shrunk(self.begin[i])
            else:
                yield Part(
                    self.begin[i],
                    self.end[i],
                    self.strides[i],
                    self.has("begin", i),
                    self.has("end", i),
                )
        if not has_ellipsis:
            yield from [slice(None)] * (self.rank - named)


Entry: TypeAlias = "Shrunk | Part | slice | None"
"""What an entry of a strided slice says: one element, a range, whole dimensions or a new one."""


def _number(dim: Dim) -> int:
    if dim is None:
        raise TypeError("a number of the index is not known")
    return int(dim)


class Shrunk:
    """One element of a dimension, which then goes."""

    def __init__(self, position: Dim) -> None:
        self.position = position


class Part:
    """A range of a dimension; each bound may be open, and each number unknown (None)."""

    def __init__(self, begin: Dim, end: Dim, stride: Dim, open_begin: bool, open_end: bool) -> None:
        self.begin, self.end, self.stride = begin, end, stride
        self.open_begin, self.open_end = open_begin, open_end

    def slice(self) -> slice:
        """As Python's slice."""
        return slice(
            None if self.open_begin else _number(self.begin),
            None if self.open_end else _number(self.end),
            _number(self.stride),
        )

    def size(self, whole: int | None) -> int | None:
        """How many elements of a dimension of size `whole` it has, None when that is unknown."""
        begin = 0 if self.open_begin else self.begin
        end = 0 if self.open_end else self.end
        if begin is None or end is None or self.stride is None:
            return None
        if whole is not None:
            return len(range(*self.slice().indices(whole)))
        if self.open_begin or self.open_end:
            return None
        same_side = (begin >= 0) == (end >= 0)
        return 0 if same_side and (end - begin) * self.stride <= 0 else None


def _strided_slice_shape(op: OperationView) -> Shape:
    shape = known(op, 0)
    begin, end, strides = (_numbers(op.inputs[i].value, vector_size(op, i)) for i in (1, 2, 3))
    sizes = list(shape)
    result: list[Dim] = []
    try:
        items = list(StridedIndex(op, begin, end, strides, len(shape)).items())
    except ValueError as error:
        raise ValueError(f"{op.type} '{op.name}': {error}") from None
    for item in items:
        if item is np.newaxis:
            result.append(1)
        elif isinstance(item, Shrunk):
            axis = len(shape) - len(sizes)
            size, position = sizes.pop(0), item.position
            fits = size is None or position is None or -size <= position < size
            words = f"slice index {position} of dimension {axis} out of bounds."
            require(op, fits, f"{words} Its size is {size}")
        elif isinstance(item, Part):
            result.append(item.size(sizes.pop(0)))
        else:
            result.append(sizes.pop(0))
    return tuple(result)


def strided_index(
    op: OperationView, x_rank: int, begin: np.ndarray, end: np.ndarray, strides: np.ndarray
) -> tuple[int | slice | None, ...]:
    """The numpy index that StridedSlice and its relatives mean."""
    items = StridedIndex(op, begin.tolist(), end.tolist(), strides.tolist(), x_rank).items()
    return tuple(
        item.slice()
        if isinstance(item, Part)
        else _number(item.position)
        if isinstance(item, Shrunk)
        else item
        for item in items
    )


@op("StridedSlice", shape=_strided_slice_shape, moves_elements=True)
def strided_slice(
    x: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, *, op: OperationView
) -> np.ndarray:
    """What Python's x[begin:end:strides, ..., newaxis, 3] gives, said in masks."""
    return x[strided_index(op, x.ndim, begin, end, strides)]


@op("StridedSliceGrad", shape=lambda op: as_shape(op, 0))
def strided_slice_grad(
    shape: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    strides: np.ndarray,
    dy: np.ndarray,
    *,
    op: OperationView,
) -> np.ndarray:
    """`dy` at the places of a slice of zeros."""
    result = np.zeros([int(n) for n in shape], dy.dtype)
    result[strided_index(op, result.ndim, begin, end, strides)] = dy
    return result


@op("TensorStridedSliceUpdate", shape=lambda op: op.inputs[0].sizes)
def tensor_strided_slice_update(
    x: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    strides: np.ndarray,
    value: np.ndarray,
    *,
    op: OperationView,
) -> np.ndarray:
    """`x` with `value` at the places of a slice."""
    result = x.copy()
    result[strided_index(op, x.ndim, begin, end, strides)] = value
    return result


def _pad_shape(op: OperationView) -> Shape:
    paddings = op.inputs[1].sizes
    is_none = paddings is not None and paddings[:1] == (0,)
    if not is_none:
        require_rank(op, 1, 2)
        if paddings is not None and paddings[1] is not None:
            require(op, paddings[1] == 2, f"Dimension must be 2 but is {paddings[1]}")
    try:
        shape = known(op, 0)
    except UnknownRank:
        return (None,) * vector_size(op, 1)
    rank = None if paddings is None else paddings[0]
    words = f"Shape must be rank {rank} but is rank {len(shape)}"
    require(op, rank is None or rank == len(shape), words)
    pads = op.inputs[1].value
    if pads is None:
        return shape if not shape else (None,) * len(shape)
    numbers = [None if n is None else int(n) for n in pads.flat]
    require(op, all(n is None or n >= 0 for n in numbers), "Paddings must be non-negative")
    return tuple(
        None if before is None or after is None else plus(n, before, after)
        for n, before, after in zip(shape, numbers[::2], numbers[1::2], strict=True)
    )


def _pairs(x: np.ndarray, paddings: np.ndarray) -> list[list[int]]:
    """The paddings of each dimension; ValueError for negative ones."""
    pairs: list[list[int]] = paddings.reshape(-1, 2).tolist()
    for pair in pairs:
        if min(pair) < 0:
            raise ValueError(f"Paddings must be non-negative: {pair[0]} {pair[1]}")
    if len(pairs) != x.ndim:
        raise ValueError(f"paddings must be {x.ndim} pairs, got {len(pairs)}")
    return pairs


@op("Pad", shape=_pad_shape)
def pad(x: np.ndarray, paddings: np.ndarray) -> np.ndarray:
    """`x` with zeros (empty strings) around it."""
    return pad_v2(x, paddings, np.array(b"" if x.dtype == object else 0, x.dtype))


@op("PadV2", shape=_pad_shape)
def pad_v2(x: np.ndarray, paddings: np.ndarray, value: np.ndarray) -> np.ndarray:
    """`x` with `value` around it."""
    pairs = _pairs(x, paddings)
    if not pairs:
        return x
    sizes = [before + size + after for (before, after), size in zip(pairs, x.shape, strict=True)]
    result = np.full(sizes, value, x.dtype)
    inner = (slice(before, before + n) for (before, _), n in zip(pairs, x.shape, strict=True))
    result[tuple(inner)] = x
    return result


@op("MirrorPad", shape=_pad_shape)
def mirror_pad(x: np.ndarray, paddings: np.ndarray, *, mode: bytes) -> np.ndarray:
    """`x` with its mirror image around it: without its edge (REFLECT) or with it (SYMMETRIC)."""
    limit = 1 if mode == b"REFLECT" else 0
    for size, pair in zip(x.shape, paddings.tolist(), strict=True):
        if max(pair) > size - limit:
            words = "less than" if limit else "no greater than"
            raise ValueError(
                f"paddings must be {words} the dimension size: {pair[0]}, {pair[1]} "
                f"{'not less than' if limit else 'greater than'} {size}"
            )
    return np.pad(x, paddings, mode="reflect" if limit else "symmetric")


def _mirror_pad_grad_shape(op: OperationView) -> Shape:
    shape, pads = known(op, 0), integers(op, 1)
    if pads is None:
        return (None,) * len(shape)
    return tuple(plus(n, -a, -b) for n, a, b in zip(shape, pads[::2], pads[1::2], strict=True))


@op("MirrorPadGrad", shape=_mirror_pad_grad_shape)
def mirror_pad_grad(dy: np.ndarray, paddings: np.ndarray, *, mode: bytes) -> np.ndarray:
    """The sum of what each element of the unpadded tensor became."""
    inner = [n - sum(pair) for n, pair in zip(dy.shape, paddings.tolist(), strict=True)]
    positions = np.arange(int(np.prod(inner))).reshape(inner)
    spread = mirror_pad(positions, paddings, mode=mode)
    sums = np.zeros(positions.size, np.float64 if dy.dtype.kind == "f" else dy.dtype)
    np.add.at(sums, spread.reshape(-1), dy.reshape(-1))
    return sums.reshape(inner)


def _xla_slice_shape(op: OperationView) -> Shape:
    sizes = op.inputs[2].value
    return tuple(_numbers(sizes, len(known(op, 0))))


def _starts(starts: np.ndarray, shape: tuple[int, ...], sizes: tuple[int, ...]) -> list[int]:
    """Where a block begins: moved so far that it lies within."""
    rows = zip(starts.tolist(), shape, sizes, strict=True)
    return [min(max(start, 0), n - size) for start, n, size in rows]


@op("XlaDynamicSlice", shape=_xla_slice_shape)
def xla_dynamic_slice(x: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """A block of `x`."""
    begins = _starts(starts, x.shape, tuple(sizes.tolist()))
    return x[tuple(slice(b, b + n) for b, n in zip(begins, sizes.tolist(), strict=True))]


@op("XlaDynamicUpdateSlice", shape=same)
def xla_dynamic_update_slice(x: np.ndarray, update: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """`x` with a block in the place of another."""
    begins, result = _starts(starts, x.shape, update.shape), x.copy()
    result[tuple(slice(b, b + n) for b, n in zip(begins, update.shape, strict=True))] = update
    return result
