"""What matrix products and convolutions of every type share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf, prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant
from ..plan.view import View
from .layout import move

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Sliding

NO_CLAMP = (-inf, inf)


def filters_of(program: Program, weights: Buffer) -> Buffer:
    """What `depthwise` takes to one channel, as filters of `conv2d`."""
    return permute(program, weights, (2, 0, 1)).reshape((weights.shape[2], *weights.shape[:2], 1))


def permute(program: Program, x: Buffer, order: Sequence[int]) -> Buffer:
    """`x` with its dimensions in `order`; done once when `x` is constant."""
    out = arena(tuple(x.shape[i] for i in order), x.dtype)
    move(program, View.of(x).transpose(tuple(order)), View.of(out))
    return out


def swap_last_two(program: Program, matrices: Buffer) -> Buffer:
    """`matrices` with their last two dimensions swapped."""
    rank = matrices.ndim
    return permute(program, matrices, (*range(rank - 2), rank - 1, rank - 2))


def as_matrices(x: Buffer) -> Buffer:
    """`x` with all dimensions but the last two as one."""
    return x.reshape((prod(x.shape[:-2]), *x.shape[-2:]))


def matrix_of(batch: Sequence[int], batch_dims: Sequence[int]) -> Buffer:
    """For each index of the dimensions `batch`: its matrix among those of `batch_dims`."""
    return _matrix_of(tuple(batch), tuple(batch_dims))


@lru_cache(256)
def _matrix_of(batch: tuple[int, ...], batch_dims: tuple[int, ...]) -> Buffer:
    indices = np.arange(prod(batch_dims), dtype=np.int32).reshape(batch_dims)
    return constant(np.broadcast_to(indices, batch).ravel())


def steps(name: str, values: Sequence[int]) -> dict[str, int]:
    """Numbers of a kernel, one for each of the last dimensions of depth, height and width."""
    return {f"{name}_{axis}": v for axis, v in zip("dhw"[-len(values) :], values, strict=True)}


def columns_as_rows(
    x: Buffer, weights: Buffer, out: Buffer, sliding: Sliding, first_axis: int = 1
) -> tuple[Buffer, Buffer, Buffer, Sliding]:
    """A convolution, or transposed one, of images one pixel wide as that of images one pixel high.

    Kernels go along rows; the elements lie in the same order. All others stay as they are.
    `first_axis` is that of the weights' height.
    """
    widths = x.shape[2], out.shape[2], weights.shape[first_axis + 1]
    if widths != (1, 1, 1) or sliding.before[1] or x.shape[1] == 1:
        return x, weights, out, sliding
    x, out = (_turned(image, 1) for image in (x, out))
    return x, _turned(weights, first_axis), out, sliding._make(numbers[::-1] for numbers in sliding)


def _turned(buffer: Buffer, axis: int) -> Buffer:
    """The same elements with dimension `axis` and the one behind it, of size 1, exchanged."""
    shape = list(buffer.shape)
    shape[axis], shape[axis + 1] = shape[axis + 1], shape[axis]
    return buffer.reshape(shape)


def columns_meet(
    x: Buffer, weights: Buffer, bias: Buffer | None, out: Buffer, sliding: Sliding
) -> bool:
    """Whether each column of `x` is spread over a few columns of `out` that no other one reaches.

    Of a transposed convolution whose bias, if any, is constant.
    """
    width, step = weights.shape[2], sliding.stride[1]
    meet = width == step > 1 == sliding.dilation[1] and not sliding.before[1]
    return meet and out.shape[2] == step * x.shape[2] and (bias is None or bias.is_constant)


def columns_as_channels(
    program: Program, weights: Buffer, bias: Buffer | None, out: Buffer, sliding: Sliding
) -> tuple[Buffer, Buffer | None, Buffer, Sliding]:
    """The weights, bias and results of a transposed convolution where `columns_meet`.

    Each column of `x` gives `step` columns of `out`, which become one with `step` times the
    channels.
    """
    n, height, width, channels = weights.shape
    weights = permute(program, weights, (2, 0, 1, 3)).reshape((width * n, height, 1, channels))
    if bias is not None and bias.value is not None:
        bias = constant(np.tile(bias.value.ravel(), width))
    batch, rows, columns, _ = out.shape
    out = out.reshape((batch, rows, columns // width, width * n))
    return weights, bias, out, sliding._replace(stride=(sliding.stride[0], 1))
