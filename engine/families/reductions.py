"""Reductions: sum, mean, product, minimum, maximum, position and cumulative sum along axes."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant
from .layout import fill
from .products import permute

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Number

_START = {"add": 0, "multiply": 1}
"""What a reduction begins with; the others begin at the end of the dtype's range."""


def reduce(program: Program, kind: str, x: Buffer, axes: Collection[int], out: Buffer) -> None:
    """out = `kind` over the dimensions `axes` of `x`.

    Args:
        program: where the instructions go.
        kind: "add", "mean", "multiply", "maximum" or "minimum". A mean of integers is rounded
            towards zero. The last two begin at the end of the finite range, so they pass over nan;
            over a whole tensor they begin with its first element.
        x: float32, int32, int64, or (maximum and minimum) bool.
        axes: dimensions of `x`.
        out: like `x`, without those dimensions or with 1 in their place.
    """
    if not out.size:
        return
    if x.dtype == np.bool_:
        if not x.size:
            fill(program, constant(np.array([kind == "minimum"])), out)
            return
        x, out = x.view(np.uint8), out.view(np.uint8)
    if kind == "mean" and x.is_integer:
        _integer_mean(program, x, axes, out)
        return
    count = x.size // out.size if kind == "mean" else 1
    *before, last = _steps(x.shape, frozenset(axes))
    for step in before:
        x = _reduce_middle(program, kind, x.reshape(step), arena(step[::2], x.dtype), 1, False)
    is_full = not before and last[::2] == (1, 1)
    _reduce_middle(program, kind, x.reshape(last), out.reshape(last[::2]), count, is_full)


def _reduce_middle(
    program: Program, kind: str, x: Buffer, out: Buffer, count: int, from_first: bool
) -> Buffer:
    """Appends the instruction that reduces the middle dimension of `x`; returns `out`."""
    kind, outer = "add" if kind == "mean" else kind, x.shape[0]
    rows = x.shape[2] == 1
    if rows:
        x, out = x.reshape(x.shape[:2]), out.reshape((outer,))
    if x.is_float and kind in _START:
        _reduce_float64(program, kind, x, out, float(count))
        return out
    limits = np.finfo(x.dtype.name) if x.is_float else np.iinfo(x.dtype.name)
    start = _START.get(kind, limits.min if kind == "maximum" else limits.max)
    program.call(
        f"reduce{'_f32' * x.is_float}.{'row_' * rows}{kind}",
        x,
        constant(np.array([start], x.dtype)),
        out,
        split=outer,
        from_first=int(from_first),
    )
    return out


def _reduce_float64(program: Program, kind: str, x: Buffer, out: Buffer, count: float) -> None:
    """The instruction of a float32 sum, divided by `count`, or product, which need float64."""
    outer = x.shape[0]
    if x.ndim == 2 and kind == "add":
        program.call("reduce_f32.row_sum", x, out, split=outer, count=count)
    elif x.ndim == 2:
        program.call("reduce_f32.row_product", x, out, split=outer)
    elif kind == "add":
        program.call("reduce_f32.add", x, out, split=outer, count=count)
    else:
        program.call("reduce_f32.multiply", x, out, arena(out.shape, np.float64), split=outer)


def position(program: Program, x: Buffer, axis: int, out: Buffer, *, smallest: bool) -> None:
    """out = where along `axis` the largest or smallest element of `x` comes first."""
    outer, n, inner = sizes_around(x, axis)
    rows = inner == 1
    program.call(
        f"reduce{'_f32' * (rows and x.is_float)}.{'row_' * rows}position",
        x.reshape((outer, n) if rows else (outer, n, inner)),
        out.reshape((outer,) if rows else (outer, inner)),
        split=outer,
        smallest=int(smallest),
    )


def cumulate(
    program: Program, x: Buffer, axis: int, out: Buffer, *, exclusive: bool, reverse: bool
) -> None:
    """out = sums of `x` along `axis` up to each element: without it, or from the end."""
    shape = sizes_around(x, axis)
    program.call(
        "reduce_f32.cumulate" if x.is_float else "reduce.cumulate",
        x.reshape(shape),
        out.reshape(shape),
        arena(shape[::2], np.float64 if x.is_float else np.int64),
        split=shape[0],
        exclusive=int(exclusive),
        reverse=int(reverse),
    )


def sizes_around(x: Buffer, axis: int) -> tuple[int, int, int]:
    """The size of `x` before, along and after `axis`."""
    return prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1 :])


def sum_quantized(
    program: Program,
    x: Buffer,
    axes: Collection[int],
    out: Buffer,
    *,
    kernel: str,
    **numbers: Number,
) -> None:
    """out = sums of quantized `x`, on the scale of `out` by `kernel` of int8/quantized.py."""
    if out.size:
        sums = totals(program, x, axes)
        program.call(f"quantized.{kernel}", sums.ravel(), out.ravel(), split=out.size, **numbers)


def multiply_quantized(
    program: Program, x: Buffer, axes: Collection[int], out: Buffer, **numbers: Number
) -> None:
    """out = products of quantized `x`, rescaled after each factor (int8/quantized.py)."""
    if not out.size:
        return
    outer_axes = [i for i in range(x.ndim) if i not in axes]
    rows = permute(program, x, (*outer_axes, *sorted(axes))).reshape((out.size, x.size // out.size))
    program.call("quantized.product", rows, out.ravel(), split=out.size, **numbers)


def totals(program: Program, x: Buffer, axes: Collection[int]) -> Buffer:
    """The int64 sums of integers over the dimensions `axes`."""
    for step in _steps(x.shape, frozenset(axes)):
        sums = arena(step[::2], np.int64)
        program.call(_total_kernel(x.dtype), x.reshape(step), sums, split=step[0])
        x = sums
    return x


@cache
def _total_kernel(dtype: np.dtype) -> str:
    """The kernel that adds integers; numpy puts the name of a dtype together anew each time."""
    return "reduce.total" if dtype.itemsize > 2 else f"sum_i8.total_{dtype.name}"


def _integer_mean(program: Program, x: Buffer, axes: Collection[int], out: Buffer) -> None:
    count = x.size // out.size
    x = totals(program, x, axes)
    program.call("reduce.quotient", x.ravel(), out.ravel(), split=out.size, count=count)


def _steps(shape: tuple[int, ...], axes: frozenset[int]) -> list[tuple[int, int, int]]:
    """The reductions, innermost first, as (outer, n, inner); one at least."""
    runs: list[tuple[bool, int]] = []  # (is reduced, size) of neighbouring dimensions
    for axis, size in enumerate(shape):
        if runs and runs[-1][0] == (axis in axes):
            runs[-1] = axis in axes, runs[-1][1] * size
        else:
            runs.append((axis in axes, size))
    steps: list[tuple[int, int, int]] = []
    for position in reversed(range(len(runs))):
        is_reduced, n = runs[position]
        if is_reduced:
            outer = prod(size for _, size in runs[:position])
            inner = prod(size for reduced, size in runs[position:] if not reduced)
            steps.append((outer, n, inner))
    return steps or [(1, 1, prod(shape))]
