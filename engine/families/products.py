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
