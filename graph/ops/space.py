"""Blocks of space moved into the batch or the channels, and back."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import op
from ..core.shapes import (
    Dim,
    Shape,
    divided,
    integers,
    known,
    plus,
    require,
    times,
    value,
    vector_size,
)

if TYPE_CHECKING:
    from ..core.protocols import OperationView


def divisible(size: Dim, by: int) -> str:
    """What is wrong with a size that blocks do not fill."""
    return f"Dimension size must be evenly divisible by {by} but is {size}"


def _require_vector(op: OperationView) -> None:
    block = op.inputs[1].sizes
    require(op, block is None or len(block) == 1, "block_shape must have rank 1.")


def _space_to_batch_shape(op: OperationView) -> Shape:
    _require_vector(op)
    shape, block, pads = known(op, 0), integers(op, 1), integers(op, 2)
    if block is None or pads is None:
        return _blocks_shape(op, shape, lambda n, by: times(n, by))
    n = len(block)
    require(op, len(shape) > n and len(pads) == 2 * n, f"block {block} does not fit {shape}")
    require(op, min(block, default=1) >= 1, "block_shape must be positive")
    require(op, min(pads, default=0) >= 0, "paddings cannot be negative")
    padded = [
        plus(size, before, after)
        for size, before, after in zip(shape[1 : n + 1], pads[::2], pads[1::2], strict=True)
    ]
    for size, by in zip(padded, block, strict=True):
        require(op, size is None or size % by == 0, divisible(size, by))
    inner = tuple(divided(size, by) for size, by in zip(padded, block, strict=True))
    return (times(shape[0], *block),) + inner + shape[n + 1 :]


def _blocks_shape(
    op: OperationView, shape: tuple[Dim, ...], batch_of: Callable[[Dim, int], Dim]
) -> Shape:
    """What is known of the result when paddings or block sizes are not."""
    block, n = integers(op, 1), vector_size(op, 1)
    require(op, len(shape) > n, f"a block of {n} dimensions does not fit {shape}")
    batch = None if block is None else batch_of(shape[0], prod(block))
    return (batch,) + (None,) * n + shape[n + 1 :]


@op("SpaceToBatchND", shape=_space_to_batch_shape)
def space_to_batch_nd(x: np.ndarray, block: np.ndarray, paddings: np.ndarray) -> np.ndarray:
    """Each position within a block becomes a batch of its own."""
    n = len(block)
    sizes = [int(b) for b in block]
    x = np.pad(x, [(0, 0), *paddings.tolist()] + [(0, 0)] * (x.ndim - n - 1))
    split = [
        part
        for size, by in zip(x.shape[1 : n + 1], sizes, strict=True)
        for part in (size // by, by)
    ]
    x = x.reshape([x.shape[0], *split, *x.shape[n + 1 :]])
    inner = range(2 * n + 1, x.ndim)
    x = x.transpose([*range(2, 2 * n + 1, 2), 0, *range(1, 2 * n, 2), *inner])
    return x.reshape((prod(x.shape[: n + 1]), *x.shape[n + 1 :]))


def _batch_to_space_shape(op: OperationView) -> Shape:
    _require_vector(op)
    shape, block, crops = known(op, 0), integers(op, 1), integers(op, 2)
    if block is None or crops is None:
        return _blocks_shape(op, shape, divided)
    n = len(block)
    require(op, len(shape) > n and len(crops) == 2 * n, f"block {block} does not fit {shape}")
    require(op, min(block, default=1) >= 1, "block_shape must be positive")
    batch = shape[0]
    for size in block:
        require(op, batch is None or batch % size == 0, divisible(batch, size))
        batch = divided(batch, size)
    inner = tuple(
        plus(times(size, by), -before, -after)
        for size, by, before, after in zip(
            shape[1 : n + 1], block, crops[::2], crops[1::2], strict=True
        )
    )
    require(op, min(crops, default=0) >= 0, "crops cannot be negative")
    for size, by, before, after in zip(
        shape[1 : n + 1], block, crops[::2], crops[1::2], strict=True
    ):
        if size is not None:
            left, cut = size * by - before, after
            words = f"Negative dimension size caused by subtracting {cut} from {left}"
            require(op, left >= cut, words)
    return (divided(shape[0], prod(block)),) + inner + shape[n + 1 :]


@op("BatchToSpaceND", shape=_batch_to_space_shape)
def batch_to_space_nd(x: np.ndarray, block: np.ndarray, crops: np.ndarray) -> np.ndarray:
    """Batches become positions within blocks, and what `crops` says is cut off."""
    n, sizes = len(block), [int(b) for b in block]
    input_sizes = x.shape[1:]
    x = x.reshape([*sizes, len(x) // prod(sizes), *input_sizes])
    spatial = [axis for i in range(n) for axis in (n + 1 + i, i)]
    x = x.transpose([n, *spatial, *range(2 * n + 1, x.ndim)])
    merged = [size * by for size, by in zip(input_sizes[:n], sizes, strict=True)]
    x = x.reshape([x.shape[0], *merged, *input_sizes[n:]])
    for axis, (before, after) in enumerate(crops.tolist(), 1):
        x = x.take(range(before, x.shape[axis] - after), axis)
    return x


def _square_block(op: OperationView) -> np.ndarray:
    size = op.get_attr("block_size")
    return np.array([size, size])


def _space_to_batch_v1_shape(op: OperationView) -> Shape:
    if op.inputs[0].sizes is None:
        return (None,) * 4
    shape, pads, by = known(op, 0, 4), value(op, 1), op.get_attr("block_size")
    if pads is None:
        return (times(shape[0], by * by), None, None, shape[3])
    sizes = (
        divided(plus(n, *map(int, pair)), by) for n, pair in zip(shape[1:3], pads, strict=True)
    )
    return (times(shape[0], by * by), *sizes, shape[3])


@op("SpaceToBatch", shape=_space_to_batch_v1_shape)
def space_to_batch(x: np.ndarray, paddings: np.ndarray, *, op: OperationView) -> np.ndarray:
    """Each position within a square block becomes a batch of its own."""
    return space_to_batch_nd(x, _square_block(op), paddings)


def _batch_to_space_v1_shape(op: OperationView) -> Shape:
    if op.inputs[0].sizes is None:
        return (None,) * 4
    shape, crops, by = known(op, 0, 4), value(op, 1), op.get_attr("block_size")
    if crops is None:
        return (divided(shape[0], by * by), None, None, shape[3])
    sizes = (
        plus(times(n, by), *(-int(c) for c in pair))
        for n, pair in zip(shape[1:3], crops, strict=True)
    )
    return (divided(shape[0], by * by), *sizes, shape[3])


@op("BatchToSpace", shape=_batch_to_space_v1_shape)
def batch_to_space(x: np.ndarray, crops: np.ndarray, *, op: OperationView) -> np.ndarray:
    """Batches become positions within square blocks, and what `crops` says is cut off."""
    return batch_to_space_nd(x, _square_block(op), crops)


def _channels_last(x: np.ndarray, data_format: bytes) -> np.ndarray:
    return np.moveaxis(x, 1, -1) if data_format == b"NCHW" else x


def _channels_back(x: np.ndarray, data_format: bytes) -> np.ndarray:
    return np.moveaxis(x, -1, 1) if data_format == b"NCHW" else x


def _depth_shape(op: OperationView, to_depth: bool) -> Shape:
    shape, by = known(op, 0, 4), op.get_attr("block_size")
    data_format = op.get_attr("data_format")
    require(
        op,
        data_format in (b"NHWC", b"NCHW"),
        f"data_format must be NHWC or NCHW, got {data_format}",
    )
    require(op, by > 1, f"block_size must be > 1, got {by}")
    first = data_format == b"NCHW"
    n, h, w, c = (shape[0], *shape[2:], shape[1]) if first else shape
    shrink, grow = ((h, w), c) if to_depth else ((c,), None)
    step = by if to_depth else by * by
    for size in shrink:
        require(op, size is None or size % step == 0, divisible(size, step))
    if to_depth:
        h, w, c = divided(h, by), divided(w, by), times(grow, by * by)
    else:
        h, w, c = times(h, by), times(w, by), divided(c, by * by)
    return (n, c, h, w) if first else (n, h, w, c)


@op("SpaceToDepth", shape=lambda op: _depth_shape(op, True))
def space_to_depth(x: np.ndarray, *, block_size: int, data_format: bytes) -> np.ndarray:
    """The positions within each block become channels."""
    x, by = _channels_last(x, data_format), block_size
    n, h, w, c = x.shape
    x = x.reshape(n, h // by, by, w // by, by, c).transpose(0, 1, 3, 2, 4, 5)
    return _channels_back(x.reshape(n, h // by, w // by, by * by * c), data_format)


@op("DepthToSpace", shape=lambda op: _depth_shape(op, False))
def depth_to_space(x: np.ndarray, *, block_size: int, data_format: bytes) -> np.ndarray:
    """Channels become the positions within blocks."""
    x, by = _channels_last(x, data_format), block_size
    n, h, w, c = x.shape
    x = x.reshape(n, h, w, by, by, c // (by * by)).transpose(0, 1, 3, 2, 4, 5)
    return _channels_back(x.reshape(n, h * by, w * by, c // (by * by)), data_format)


def _permutation(source: bytes, destination: bytes) -> list[int]:
    """Where each letter of one format stands in the other."""
    for name, letters in ("Source", source), ("Destination", destination):
        if len(letters) not in (4, 5):
            variable = "src_format" if name == "Source" else "dst_format"
            message = f"{name} format must be of length 4 or 5, received {variable} = "
            raise ValueError(message + letters.decode())
    if len(set(source)) != len(source) or sorted(source) != sorted(destination):
        message = "Destination and source format must determine a permutation, got "
        raise ValueError(f"{message}{source.decode()} and {destination.decode()}")
    return [destination.index(letter) for letter in source]


@op("DataFormatDimMap", shape=lambda op: op.inputs[0].sizes)
def data_format_dim_map(x: np.ndarray, *, src_format: bytes, dst_format: bytes) -> np.ndarray:
    """The dimensions that those of one format are in another, modulo how many there are.

    What is still negative counts as the last one.
    """
    positions = np.array(_permutation(src_format, dst_format), x.dtype)
    n = len(positions)
    remainder = np.fmod(x + np.array(n, x.dtype), n)
    return positions[np.where(remainder < 0, n - 1, remainder)]


@op("DataFormatVecPermute", shape=lambda op: op.inputs[0].sizes)
def data_format_vec_permute(x: np.ndarray, *, src_format: bytes, dst_format: bytes) -> np.ndarray:
    """A vector, or pairs, of one format's dimensions in the order of another.

    As many as there are spatial dimensions are those alone.
    """
    _permutation(src_format, dst_format)
    n = len(src_format)
    if x.ndim not in (1, 2):
        raise ValueError(f"input must be a vector or 2D tensor, but got shape {list(x.shape)}")
    if len(x) not in (n, n - 2):
        words = "1D input must" if x.ndim == 1 else "First dimension of 2D input must"
        raise ValueError(f"{words} be of size {n - 2} or {n}, but got shape {list(x.shape)}")
    if x.ndim == 2 and x.shape[1] != 2:
        message = "Second dimension of 2D input must be of size 2, but got shape "
        raise ValueError(f"{message}{list(x.shape)}")
    if len(x) == n - 2:
        spatial = b"HW" if n == 4 else b"DHW"
        src_format, dst_format = (
            bytes(letter for letter in letters if letter in spatial)
            for letters in (src_format, dst_format)
        )
        if len(src_format) != n - 2:
            letters = "H and W" if n == 4 else "D, H and W"
            raise ValueError(f"Format specifier must contain {letters} for 2D case")
    return x[[src_format.index(letter) for letter in dst_format]]
