"""PAD, PADV2, MIRROR_PAD, SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND: borders added and cut off."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.layout import fill, move
from ...engine.plan.buffer import constant
from ...engine.plan.view import View
from ...engine.sizes import negative
from ...schema.dtypes import tf_name
from ..checks import required
from ..plan.substitution import moves_any
from ..registry import op

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node, Operand


REFLECT, SYMMETRIC = 0, 1


@op("PAD", "PADV2")
@moves_any
def pad(node: Node) -> Emit:
    """`x` with the second input's rows and columns of zeros, or of the third input, around it."""
    (x,) = required(node, 1)
    borders = _borders(node, x)
    value = node.optional(2)
    if value is None:
        value = constant(np.full(1, _zero(x), x.dtype))
    node.require(
        value.size == 1 and value.dtype == x.dtype,
        f"the value must be one {tf_name(x.dtype)}, got "
        f"{tf_name(value.dtype)} of shape {value.shape}",
    )
    out = node.result([before + n + after for n, (before, after) in borders], x.dtype)

    def emit(program: Program) -> None:
        inside = View.of(out)
        for axis, (n, (before, after)) in enumerate(borders):
            fill(program, value, inside.part(axis, 0, before))
            fill(program, value, inside.part(axis, before + n, after))
            inside = inside.part(axis, before, n)
        move(program, x, inside)

    return emit


@op("MIRROR_PAD")
@moves_any
def mirror_pad(node: Node) -> Emit:
    """`x` with its own rows and columns mirrored around it, the outermost too when SYMMETRIC."""
    (x,) = required(node, 1)
    borders = _borders(node, x)
    mode = int(node.options.mode)
    node.require(mode in (REFLECT, SYMMETRIC), f"mode must be REFLECT or SYMMETRIC, got {mode}")
    edge = 1 if mode == REFLECT else 0
    for axis, (n, paddings) in enumerate(borders):
        node.require(
            max(paddings) == 0 or max(paddings) <= n - edge,
            f"paddings of dimension {axis} must be at most {max(n - edge, 0)}, got {paddings}",
        )
    out = node.result([before + n + after for n, (before, after) in borders], x.dtype)

    def emit(program: Program) -> None:
        inside = View.of(out)
        for axis, (n, (before, _)) in enumerate(borders):
            inside = inside.part(axis, before, n)
        move(program, x, inside)
        for axis in reversed(range(len(borders))):
            n, (before, after) = borders[axis]
            view = View.of(out)
            for outer, (m, (start, _)) in enumerate(borders[:axis]):
                view = view.part(outer, start, m)
            end = before + n
            mirrored = view.part(axis, 2 * before - 1 + edge, before, -1)
            move(program, mirrored, view.part(axis, 0, before))
            mirrored = view.part(axis, end - 1 - edge, after, -1)
            move(program, mirrored, view.part(axis, end, after))

    return emit


@op("SPACE_TO_BATCH_ND")
@moves_any
def space_to_batch(node: Node) -> Emit:
    """Each block of rows and columns, zeros added around, shared out among as many batches."""
    (x,) = required(node, 1)
    blocks, paddings = _blocks(node, x, "paddings")
    sizes = [n + sum(padding) for n, padding in zip(x.shape[1:], paddings, strict=False)]
    for size, block in zip(sizes, blocks, strict=True):
        message = f"padded sizes {sizes} must be multiples of the block {blocks}"
        node.require_equal(size % block, 0, message)
    steps = [size // block for size, block in zip(sizes, blocks, strict=True)]
    inner_shape = x.shape[1 + len(blocks) :]
    out = node.result((x.shape[0] * prod(blocks), *steps, *inner_shape), x.dtype)

    def emit(program: Program) -> None:
        if any(map(any, paddings)):
            fill(program, constant(np.full(1, _zero(x), x.dtype)), out)
        batches = View.of(out).split(0, *blocks, x.shape[0])
        starts = [before for before, _ in paddings]
        for space, batch in _interleaved(View.of(x), batches, blocks, starts):
            move(program, space, batch)

    return emit


@op("BATCH_TO_SPACE_ND")
@moves_any
def batch_to_space(node: Node) -> Emit:
    """Batches put back as blocks of rows and columns, with borders cut off."""
    (x,) = required(node, 1)
    blocks, crops = _blocks(node, x, "crops")
    node.require_equal(
        x.shape[0] % prod(blocks),
        0,
        f"the batch must be a multiple of the block's {prod(blocks)}, got {x.shape[0]}",
    )
    sizes = [n * block for n, block in zip(x.shape[1:], blocks, strict=False)]
    sizes = [size - sum(crop) for size, crop in zip(sizes, crops, strict=True)]
    node.require(not negative(sizes), f"crops {crops} must not exceed shape {x.shape}")
    inner_shape = x.shape[1 + len(blocks) :]
    out = node.result((x.shape[0] // prod(blocks), *sizes, *inner_shape), x.dtype)

    def emit(program: Program) -> None:
        batches = View.of(x).split(0, *blocks, out.shape[0])
        starts = [before for before, _ in crops]
        for space, batch in _interleaved(View.of(out), batches, blocks, starts):
            move(program, batch, space)

    return emit


def _interleaved(
    space: View, batches: View, blocks: Sequence[int], starts: Sequence[int]
) -> Iterator[tuple[View, View]]:
    """Pairs of views of the same elements: in the image, and in the batch of each block offset.

    Image position p along an axis lies in the batch of offset (p + start) % block, at
    (p + start) // block.
    """
    for offsets in product(*map(range, blocks)):
        image, batch = space, batches
        for offset in offsets:
            batch = batch.pick(0, offset)
        for axis, (offset, block, start) in enumerate(zip(offsets, blocks, starts, strict=True), 1):
            low = max(0, -(-(start - offset) // block))
            first = low * block + offset - start
            count = max(0, -(-(space.shape[axis] - first) // block))
            image = image.part(axis, first, count, block)
            batch = batch.part(axis, low, count)
        yield image, batch


def _borders(node: Node, x: Operand) -> list[tuple[int, tuple[int, int]]]:
    """(size, (before, after)) of each dimension, from the second input."""
    (_, paddings), sizes = required(node, 2), node.sizes(1)
    node.require(
        paddings.shape == (x.ndim, 2),
        f"paddings must have shape {(x.ndim, 2)}, got {paddings.shape}",
    )
    pairs = list(zip(sizes[::2], sizes[1::2], strict=True))
    node.require(
        not negative(sizes), f"paddings must not be negative, got {list(map(list, pairs))}"
    )
    return list(zip(x.shape, pairs, strict=True))


def _blocks(node: Node, x: Operand, name: str) -> tuple[list[int], list[tuple[int, int]]]:
    """The block size and the (before, after) of each blocked dimension."""
    blocks = node.integers(1)
    (_, _, edges), sizes = required(node, 3), node.sizes(2)
    pairs = list(zip(sizes[::2], sizes[1::2], strict=False))
    node.require(
        len(blocks) < x.ndim and all(n > 0 for n in blocks),
        f"block must have fewer than {x.ndim} positive numbers, got {blocks}",
    )
    node.require(
        edges.shape == (len(blocks), 2) and not negative(sizes),
        f"{name} must be {len(blocks)} pairs of numbers that are not negative, got {pairs}",
    )
    return blocks, pairs


def _zero(x: Operand) -> int:
    """The quantized value of 0."""
    return x.quantization.zero_point if x.is_integer and x.quantization is not None else 0
