"""TRANSPOSE, SPACE_TO_DEPTH, DEPTH_TO_SPACE, MATRIX_DIAG, MATRIX_SET_DIAG: other places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.layout import fill, move
from ...engine.plan.buffer import constant
from ...engine.plan.view import View
from ...engine.sizes import least
from ..checks import required, same_dtype
from ..plan.substitution import moves_any
from ..registry import op

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node, Operand


@op("TRANSPOSE")
@moves_any
def transpose(node: Node) -> Emit | None:
    """`x` with its dimensions in the order of the second input."""
    (x,) = required(node, 1)
    permutation_axes = node.integers(1)
    node.require(
        sorted(axis % x.ndim if -x.ndim <= axis < x.ndim else -1 for axis in permutation_axes)
        == list(range(x.ndim)),
        f"permutation must name each of the {x.ndim} axes once, got {permutation_axes}",
    )
    permutation = tuple(axis % x.ndim for axis in permutation_axes)
    shape = [x.shape[axis] for axis in permutation]
    moving = [axis for axis in permutation if x.shape[axis] != 1]
    if moving == sorted(moving):
        node.alias(x, shape)
        return None
    out = node.result(shape, x.dtype)

    def emit(program: Program) -> None:
        move(program, View.of(x).transpose(permutation), View.of(out))

    return emit


def _blocks(node: Node) -> tuple[Operand, int]:
    """The 4-D input and the block size of SPACE_TO_DEPTH and DEPTH_TO_SPACE."""
    (x,) = required(node, 1)
    block = int(node.options.block_size)
    node.require(x.ndim == 4, f"input must have 4 dimensions, got shape {x.shape}")
    node.require(block > 0, f"block_size must be positive, got {block}")
    return x, block


@op("SPACE_TO_DEPTH")
@moves_any
def space_to_depth(node: Node) -> Emit:
    """Each block of rows and columns becomes one pixel with the channels of all."""
    x, block = _blocks(node)
    n, h, w, c = x.shape
    for n_pixels in (h, w):
        message = f"height and width must be multiples of block_size {block}, got {x.shape}"
        node.require_equal(n_pixels % block, 0, message)
    out = node.result((n, h // block, w // block, block * block * c), x.dtype)

    def emit(program: Program) -> None:
        tiles = View.of(x, (n, h // block, block, w // block, block, c))
        pixels = View.of(out, (n, h // block, w // block, block, block, c))
        move(program, tiles.transpose((0, 1, 3, 2, 4, 5)), pixels)

    return emit


@op("DEPTH_TO_SPACE")
@moves_any
def depth_to_space(node: Node) -> Emit:
    """Each pixel becomes a block of rows and columns, its channels shared out among them."""
    x, block = _blocks(node)
    n, h, w, c = x.shape
    node.require(
        c % (block * block) == 0,
        f"channels must be a multiple of block_size squared, {block * block}, got {c}",
    )
    depth = c // (block * block)
    out = node.result((n, h * block, w * block, depth), x.dtype)

    def emit(program: Program) -> None:
        pixels = View.of(x, (n, h, w, block, block, depth))
        tiles = View.of(out, (n, h, block, w, block, depth))
        move(program, pixels.transpose((0, 1, 3, 2, 4, 5)), tiles)

    return emit


@op("MATRIX_DIAG")
@moves_any
def matrix_diag(node: Node) -> Emit:
    """Square matrices with the rows of `x` as diagonals and zeros elsewhere."""
    (x,) = required(node, 1)
    node.require(x.ndim >= 1, f"input must have a dimension, got shape {x.shape}")
    out = node.result((*x.shape, x.shape[-1]), x.dtype)

    def emit(program: Program) -> None:
        fill(program, constant(np.zeros(1, x.dtype)), out)
        move(program, x, _diagonal(out))

    return emit


@op("MATRIX_SET_DIAG")
@moves_any
def matrix_set_diag(node: Node) -> Emit:
    """The matrices of `x` with the rows of the second input as diagonals."""
    x, diagonals = required(node, 2)
    same_dtype(node, (x, diagonals))
    node.require(x.ndim >= 2, f"input must have two dimensions, got shape {x.shape}")
    expected_shape = (*x.shape[:-2], least(*x.shape[-2:]))
    node.require_equal(
        diagonals.shape,
        expected_shape,
        f"diagonals must have shape {expected_shape}, got {diagonals.shape}",
    )
    out = node.result(x.shape, x.dtype)

    def emit(program: Program) -> None:
        move(program, x, out)
        move(program, diagonals, _diagonal(out))

    return emit


def _diagonal(matrices: Operand) -> View:
    """The view of the diagonals of the last two dimensions."""
    view = View.of(matrices)
    n = min(view.shape[-2:])
    strides = (*view.strides[:-2], sum(view.strides[-2:]))
    return View(matrices, (*view.shape[:-2], n), strides)
