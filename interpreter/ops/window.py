"""DILATE, REDUCE_WINDOW: elements moved apart, and windows over any dimensions folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.layout import fill, move
from ...engine.plan.buffer import arena, constant
from ...engine.plan.view import View, contiguous_strides
from ...engine.sizes import largest
from ...schema.dtypes import tf_name
from ..checks import required, required_input, same_dtype
from ..plan.substitution import moves_any, small_floats
from ..registry import op

if TYPE_CHECKING:
    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ..plan.node import Node

FOLDS = {1: "add", 2: "multiply", 3: "minimum", 4: "maximum", 5: "all", 6: "any"}
"""ReduceWindowFunction -> kernel of window.py."""
_INTEGERS = tuple(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u"))
NUMBERS = (*_INTEGERS, "float32", "float64")
"""Types that windows are folded in."""


@op("DILATE")
@moves_any
def dilate(node: Node) -> Callable[[Program], None]:
    """`x` with copies of the third input between its elements.

    Along each dimension elements lie as far apart as the second input says.
    """
    x, _, value = required(node, 3)
    factors = node.sizes(1)
    node.require(x.ndim > 0, "input must have a dimension")
    node.require(
        len(factors) == x.ndim, f"there must be {x.ndim} factors, one a dimension, got {factors}"
    )
    node.require(min(factors) >= 1, f"factors must be at least 1, got {factors}")
    node.require(
        all(n > 0 or k == 1 for n, k in zip(x.shape, factors, strict=True)),
        f"factors of empty dimensions must be 1, got {factors} for shape {x.shape}",
    )
    node.require(
        value.dtype == x.dtype and value.size == 1,
        f"the padding must be one {tf_name(x.dtype)}, got "
        f"{tf_name(value.dtype)} of shape {value.shape}",
    )
    out = node.result([(n - 1) * k + 1 for n, k in zip(x.shape, factors, strict=True)], x.dtype)

    def emit(program: Program) -> None:
        if not out.size:
            return
        target = View.of(out)
        for axis, (n, k) in enumerate(zip(x.shape, factors, strict=True)):
            for between in range(1, k):
                fill(program, value, target.part(axis, between, n - 1, k))
            target = target.part(axis, 0, n, k)
        move(program, x, target)

    return emit


@op("REDUCE_WINDOW")
@small_floats
def reduce_window(node: Node) -> Callable[[Program], None]:
    """Each window of `x` folded into one element, beginning with the second input.

    The other inputs are the windows' sizes, their strides and the strides inside them.
    """
    x, start, *_ = required(node, 5)
    same_dtype(node, (x, start))
    function = FOLDS.get(int(node.options.reduce_function))
    if function is None:
        node.fail(f"reduce_function must be one of 1 to 6, got {node.options.reduce_function}")
    is_truth = x.dtype == np.bool_
    function = "any" if is_truth and function == "add" else function
    node.require(is_truth or x.dtype.name in NUMBERS, f"{tf_name(x.dtype)} is not supported")
    node.require(x.ndim > 0, "input must have a dimension")
    node.require(start.size == 1, f"the first value must be one, got shape {start.shape}")
    window, strides, dilations = (_row(node, i) for i in (2, 3, 4))
    spans = [(size - 1) * step + 1 for size, step in zip(window, dilations, strict=True)]
    counts = [
        largest(0, (n - span) // stride + 1)
        for n, span, stride in zip(x.shape, spans, strides, strict=True)
    ]
    out = node.result(counts, x.dtype)
    return lambda program: fold_windows(
        program, function, (x, start), out, (window, strides, dilations)
    )


def enlarged(
    program: Program,
    x: Buffer,
    value: Buffer,
    shape: Sequence[int],
    low: Sequence[int],
    steps: Sequence[int],
) -> Buffer:
    """Adds what puts `x` into an array of `shape` that is `value` elsewhere.

    Along each dimension its elements are `steps` apart, the first at `low`; some may lie outside.
    """
    if tuple(shape) == x.shape and not any(low):
        return x
    out = arena(shape, x.dtype)
    fill(program, value, out)
    source, target = View.of(x), View.of(out)
    for axis, (n, size, first, step) in enumerate(zip(x.shape, shape, low, steps, strict=True)):
        begin = -(min(first, 0) // step)
        count = max(0, min(n, (size - 1 - first) // step + 1) - begin)
        source = source.part(axis, begin, count)
        target = target.part(axis, first + begin * step, count, step)
    move(program, source, target)
    return out


def fold_windows(
    program: Program,
    function: str,
    operands: tuple[Buffer, Buffer],
    out: Buffer,
    steps: tuple[Sequence[int], Sequence[int], Sequence[int]],
) -> None:
    """Adds out = each window of the first operand folded by a kernel, beginning with the second.

    `steps` has the windows' sizes, their strides and the strides inside them.
    """
    if not out.size:
        return
    window, strides, dilations = steps
    pitches = contiguous_strides(operands[0].shape)
    taps = offsets(window, np.multiply(pitches, dilations))
    moves = np.multiply(pitches, strides)
    rows = offsets(out.shape[:-1], moves[:-1])
    x, start, target = (
        buffer.view(np.uint8) if buffer.dtype == np.bool_ else buffer for buffer in (*operands, out)
    )
    program.call(
        f"window.{function}",
        x.ravel(),
        start.ravel(),
        constant(rows),
        constant(taps),
        target.reshape((rows.size, out.shape[-1])),
        split=rows.size,
        stride=int(moves[-1]),
    )


def _row(node: Node, i: int) -> list[int]:
    """Input `i`, which has a positive number for each dimension of the first."""
    operand, rank = required_input(node, i), required_input(node, 0).ndim
    values = node.sizes(i)
    node.require(
        operand.dtype == np.int64 and len(values) == rank and min(values) > 0,
        f"input {i} must be {rank} positive int64, one a dimension, "
        f"got {values} ({tf_name(operand.dtype)})",
    )
    return values


def offsets(shape: Sequence[int], strides: np.ndarray) -> np.ndarray:
    """The position of each index below `shape`, in order."""
    offsets = np.zeros(1, np.int64)
    for n, stride in zip(shape, strides, strict=True):
        offsets = (offsets[:, None] + np.arange(n) * stride).ravel()
    return offsets
