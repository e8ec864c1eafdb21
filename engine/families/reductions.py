"""Folding of several dimensions into one value."""

from __future__ import annotations

from math import prod

import numpy as np

from ..buffer import arena, constant
from .products import permuted

_START = {"add": 0, "multiply": 1}
"""What a fold begins with; the others begin at the end of the dtype's range."""


def reduce(program, kind, x, axes, out):
    """out = `kind` over the dimensions `axes` of `x`.

    Args:
        program: where the rows go.
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
        x, out = x.view(np.uint8), out.view(np.uint8)
    if kind == "mean" and x.is_integer:
        _integer_mean(program, x, axes, out)
        return
    count = x.size // out.size if kind == "mean" else 1
    *before, last = _steps(x.shape, frozenset(axes))
    for step in before:
        x = _fold(program, kind, x.reshape(step), arena(step[::2], x.dtype), 1, False)
    whole = not before and last[::2] == (1, 1)
    _fold(program, kind, x.reshape(last), out.reshape(last[::2]), count, whole)


def _fold(program, kind, x, out, count, from_first):
    """Adds the row that folds the middle dimension of `x`; gives `out`."""
    kind = "add" if kind == "mean" else kind
    wide = x.is_float and kind in _START
    if wide and kind == "add" and x.shape[2] == 1:
        rows, sums = x.reshape(x.shape[:2]), out.reshape(out.shape[:1])
        program.call("reduce.row_sum", rows, sums, split=x.shape[0], count=float(count))
        return out
    limits = np.finfo(x.dtype) if x.is_float else np.iinfo(x.dtype)
    start = _START.get(kind, limits.min if kind == "maximum" else limits.max)
    program.call(
        f"reduce.{kind}_float" if wide else f"reduce.{kind}",
        x,
        constant(np.array([start], x.dtype)),
        out,
        *([arena(out.shape, np.float64)] if wide else []),
        split=x.shape[0],
        **({"count": float(count)} if wide else {"from_first": int(from_first)}),
    )
    return out


def sum_stored(program, x, axes, out, *, kernel, **numbers):
    """out = sums of stored integers, put on the scale of `out` by `kernel` of kernels/stored.py."""
    if out.size:
        sums = totals(program, x, axes)
        program.call(f"stored.{kernel}", sums.ravel(), out.ravel(), split=out.size, **numbers)


def multiply_stored(program, x, axes, out, **numbers):
    """out = products of stored integers, scaled after each factor (kernels/stored.py)."""
    if not out.size:
        return
    kept = [i for i in range(x.ndim) if i not in axes]
    rows = permuted(program, x, (*kept, *sorted(axes))).reshape((out.size, x.size // out.size))
    program.call("stored.product", rows, out.ravel(), split=out.size, **numbers)


def totals(program, x, axes):
    """The int64 sums of integers over the dimensions `axes`."""
    for step in _steps(x.shape, frozenset(axes)):
        sums = arena(step[::2], np.int64)
        kernel = "reduce.total" if x.itemsize > 2 else f"small_sums.total_{x.dtype}"
        program.call(kernel, x.reshape(step), sums, split=step[0])
        x = sums
    return x


def _integer_mean(program, x, axes, out):
    count = x.size // out.size
    x = totals(program, x, axes)
    program.call("reduce.quotient", x.ravel(), out.ravel(), split=out.size, count=count)


def _steps(shape, axes):
    """The folds, innermost first, as (outer, n, inner); one at least."""
    runs = []  # [is folded, size] of neighbours that go the same way
    for axis, size in enumerate(shape):
        if runs and runs[-1][0] == (axis in axes):
            runs[-1][1] *= size
        else:
            runs.append([axis in axes, size])
    steps = []
    for position in reversed(range(len(runs))):
        folded, n = runs[position]
        if folded:
            outer = prod(size for _, size in runs[:position])
            inner = prod(size for other, size in runs[position:] if not other)
            steps.append((outer, n, inner))
    return steps or [(1, 1, prod(shape))]
