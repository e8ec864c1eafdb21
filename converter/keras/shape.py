"""Layers that move values without computing: Flatten, Permute, padding, cropping, upsampling."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...graph.core.graph import Tensor
from ...graph.core.shapes import is_static
from .registry import Call, is_integer, layer
from .resize import interpolation_of, resize_images


def batch_size(call: Call, x):
    """The first dimension of `x` as a tensor."""
    bounds = [call.constant([value]) for value in (0, 1, 1)]
    return call.op("StridedSlice", call.op("Shape", x), *bounds, shrink_axis_mask=1)


def reshaped(call: Call, x, target: list[int]):
    """`x` with the dimensions after the batch as in `target`, one of them perhaps -1."""
    shape = call.shape(x)
    dims = shape[1:]
    if -1 in target and is_static(dims):
        known = prod(n for n in target if n != -1)
        call.require(known and prod(dims) % known == 0, f"{dims} cannot take the form {target}")
        target = [prod(dims) // known if n == -1 else n for n in target]
    if shape[0] is not None or -1 not in target:
        first = -1 if shape[0] is None else shape[0]
        return call.op("Reshape", x, call.constant([first, *target]))
    sizes = [batch_size(call, x), *map(call.constant, target)]
    return call.op("Reshape", x, call.op("Pack", *sizes, axis=0))


@layer("Flatten")
def flatten(call: Call, x):
    """All dimensions after the batch in one; channels last, whatever their place."""
    shape = call.shape(x)
    if call.is_channels_first() and len(shape) > 2:
        order = [0, *range(2, len(shape)), 1]
        x = call.op("Transpose", x, call.constant(order))
    return reshaped(call, x, [-1] if len(shape) > 1 else [1])


@layer("Reshape")
def reshape(call: Call, x):
    """The same values in another form."""
    target = call.setting("target_shape")
    is_valid = isinstance(target, list) and all(is_integer(n) and -1 <= n < 1 << 31 for n in target)
    call.check(
        is_valid and target.count(-1) <= 1, "target_shape", "integers, at most one of them -1"
    )
    return reshaped(call, x, target)


@layer("Permute")
def permute(call: Call, x):
    """The dimensions after the batch in another order."""
    dims, rank = call.setting("dims"), len(call.shape(x))
    is_valid = isinstance(dims, list) and all(map(is_integer, dims))
    is_valid = is_valid and sorted(dims) == list(range(1, rank))
    call.check(is_valid, "dims", f"an order of 1 to {rank - 1}")
    return call.op("Transpose", x, call.constant([0, *dims]))


@layer("RepeatVector")
def repeat_vector(call: Call, x):
    """Each row n times."""
    call.shape(x, 2)
    (n,) = call.integers("n", 1)
    y = call.op("ExpandDims", x, call.constant(1))
    return call.op("Tile", y, call.constant([1, n, 1]))


def pairs(call: Call, name: str, n: int) -> list[list[int]]:
    """A setting (before, after) for each of `n` dimensions; one number stands for all."""
    setting = call.setting(name)
    values: Any = [setting] * n if is_integer(setting) else setting
    if n == 1 and isinstance(values, list) and len(values) == 2 and all(map(is_integer, values)):
        values = [values]
    is_valid = isinstance(values, list) and len(values) == n
    values = [[v, v] if is_integer(v) else v for v in values] if is_valid else []
    is_valid = is_valid and all(
        isinstance(v, list) and len(v) == 2 and all(is_integer(i) and 0 <= i < 1 << 31 for i in v)
        for v in values
    )
    call.check(is_valid, name, f"{n} pairs of numbers from 0")
    return values


def padding_pairs(call: Call, x, name: str, n: int) -> list[list[int]]:
    """A setting of pairs for all dimensions of `x`."""
    call.shape(x, n + 2)
    leading = [[0, 0]] if n == 1 or not call.is_channels_first() else [[0, 0], [0, 0]]
    all_pairs = leading + pairs(call, name, n)
    return all_pairs + [[0, 0]] * (n + 2 - len(all_pairs))


def zero_padding(n: int):
    """Writes zeros around images or sequences."""
    return lambda call, x: call.op("Pad", x, call.constant(padding_pairs(call, x, "padding", n)))


def cropping(n: int):
    """Writes images or sequences without their edges."""

    def write(call: Call, x):
        crops = padding_pairs(call, x, "cropping", n)
        shape = call.shape(x)
        for size, (before, after) in zip(shape, crops, strict=True):
            call.check(size is None or before + after < size, "cropping", f"less than {shape}")
        begin, end = [before for before, _ in crops], [-after for _, after in crops]
        to_end = sum(1 << i for i, after in enumerate(end) if after == 0)
        bounds = [call.constant(values) for values in (begin, end, [1] * len(crops))]
        return call.op("StridedSlice", x, *bounds, end_mask=to_end)

    return write


for _n in (1, 2, 3):
    layer(f"ZeroPadding{_n}D")(zero_padding(_n))
    layer(f"Cropping{_n}D")(cropping(_n))

MOST_INDICES = 256
"""Of a constant by which slices are repeated; of more, three operators are less of a file."""


def repeated(call: Call, x, axis: int, n: int):
    """Each slice along an axis `n` times."""
    if n == 1:
        return x
    rank, length = len(call.shape(x)), call.shape(x)[axis]
    if length is not None and length * n <= MOST_INDICES:
        indices = call.constant(np.repeat(np.arange(length), n))
        return call.op("GatherV2", x, indices, call.constant(axis))
    dims = [call.size(x, i) if size is None else size for i, size in enumerate(call.shape(x))]
    y = call.op("ExpandDims", x, call.constant(axis + 1))
    y = call.op("Tile", y, call.constant([1] * (axis + 1) + [n] + [1] * (rank - axis - 1)))
    size: Any = dims[axis]
    dims[axis] = size * n if is_integer(size) else call.op("Mul", size, call.constant(n))
    return call.op("Reshape", y, call.sizes(dims))


@layer("UpSampling2D")
def up_sampling(call: Call, x):
    """Larger images."""
    if call.is_channels_first():
        x = call.op("Transpose", x, call.constant([0, 2, 3, 1]))
    call.shape(x, 4)
    size = enlarged(call, x, call.integers("size", 2, 2))
    y = resize_images(call, x, size, interpolation_of(call))
    return call.op("Transpose", y, call.constant([0, 3, 1, 2])) if call.is_channels_first() else y


def enlarged(call: Call, x, factors: list[int]) -> list[int] | Tensor:
    """Height and width times some factors."""
    height, width = call.shape(x)[1:3]
    if height is not None and width is not None:
        return [height * factors[0], width * factors[1]]
    bounds = [call.constant([value]) for value in (1, 3, 1)]
    size = call.op("StridedSlice", call.op("Shape", x), *bounds)
    return call.op("Mul", size, call.constant(factors))


@layer("UpSampling1D")
def up_sampling_1d(call: Call, x):
    """Each step `size` times."""
    call.shape(x, 3)
    return repeated(call, x, 1, call.integers("size", 1, 2)[0])


@layer("UpSampling3D")
def up_sampling_3d(call: Call, x):
    """Each slice along three axes some times."""
    call.shape(x, 5)
    first = 2 if call.is_channels_first() else 1
    for i, n in enumerate(call.integers("size", 3, 2)):
        x = repeated(call, x, first + i, n)
    return x
