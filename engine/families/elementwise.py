"""Operations on elements of several operands, broadcast by numpy's rule."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant
from ..plan.view import MIN_RANK, View, broadcast_strides, collapse, contiguous_strides
from ..sizes import broadcast_size
from .layout import move

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Number

_MIN_COLUMNS = 64  # of a row, below which the kernels spend their time between rows
_MAX_COLUMNS = 256  # of several rows merged into one
_MIN_REPEATS = 4  # of a longer row in a result, so that making it is worth it
_MIN_LINE_SIZE = 1 << 13  # elements for which it pays to look for a line in a table
_LINE_STEPS = 40  # in which that is found
_LINE_MARGIN = 2.0**-10  # how far the numbers of a line stay away from whole ones, in all
_MAX_LINE = 400.0  # how large they may be
_LINE_SHIFT = 8  # bits of a fraction of int16 whose whole part is an int8
_MAX_MULTIPLIER = (1 << 15) - 1
_LINES = 256  # multipliers that are tried
_MIN_BEND = 8  # entries of a table that may bend
_MIN_DEPTH = 1.5  # how far one that bends is below a line, at least: more than rounding makes
_MIN_SIZE = 4096  # elements of a result for which merging is worth an instruction of its own


def elementwise(
    program: Program,
    kernel: str,
    operands: Sequence[Buffer],
    out: Buffer,
    *more: Buffer,
    **numbers: Number,
) -> None:
    """Appends the instruction `out = kernel(*operands)`; nothing when `out` has no elements.

    Args:
        program: where the instruction goes.
        kernel: its name; it takes the operands and `out` in one dimension each, then
            `geometry` (kernels/elementwise/_broadcast.py says what that is), then `more`.
        operands: Buffers whose shapes broadcast to that of `out`.
        out: the result.
        more: further buffers.
        numbers: numbers of the kernel.
    """
    if not out.size:
        return
    shape, shapes = out.shape, [operand.shape for operand in operands]
    merged = merged_rows(shape, *shapes) if out.size >= _MIN_SIZE else None
    if merged is not None:
        shape, *shapes = merged
        pairs = zip(operands, shapes, strict=True)
        operands = [_tile_rows(program, operand, merged_shape) for operand, merged_shape in pairs]
    geometry = _geometry(shape, *shapes)
    flat = [operand.ravel() for operand in operands]
    program.call(kernel, *flat, out.ravel(), geometry, *more, split=out.size, **numbers)


@lru_cache(1024)
def merged_rows(
    shape: tuple[int, ...], *shapes: tuple[int, ...]
) -> tuple[tuple[int, ...], ...] | None:
    """Shapes of longer rows, of the result and the operands: some repeat short ones, others run on.

    What repeats them has its rows as often as a longer one holds: that is little of the result.
    """
    strides = [broadcast_strides(contiguous_strides(s), s, shape) for s in shapes]
    sizes, *steps = collapse(shape, *strides)
    if len(sizes) < MIN_RANK or sizes[-1] >= _MIN_COLUMNS:
        return None
    *outer, rows, columns = sizes
    if {step[-2:] for step in steps} != {(0, 1), (columns, 1)}:
        return None
    limit = min(_MAX_COLUMNS // columns, max(rows // _MIN_REPEATS, 1) if outer else rows)
    times = max(n for n in range(1, limit + 1) if rows % n == 0)
    if times == 1:
        return None
    merged = (*outer, rows // times, columns * times)
    runs = (tuple(n if step else 1 for n, step in zip(merged, s, strict=True)) for s in steps)
    return merged, *runs


def _tile_rows(program: Program, operand: Buffer, shape: tuple[int, ...]) -> Buffer:
    """An operand in longer rows, of `shape`: as often as they hold what it has for them."""
    if operand.size == prod(shape):
        return operand.reshape(shape)
    n_rows = prod(shape[:-1])
    rows = operand.reshape((n_rows, operand.size // n_rows))
    longer = arena((n_rows, prod(shape) // operand.size, rows.shape[1]), operand.dtype)
    move(program, View.of(rows).insert(1, longer.shape[1]), longer)
    return longer.reshape(shape)


def look_up(
    program: Program, x: Buffer, table: Buffer, out: Buffer, zero: int | None = None
) -> None:
    """Appends the instruction `out = table[x]`; `table` has an entry for each bit pattern.

    Signed elements below `zero`, if there is one, are faults.
    """
    if not out.size:
        return
    if zero is not None:
        program.call("lookup.look_up_from", x.ravel(), table, out.ravel(), split=x.size, zero=zero)
        return
    is_int8, value = x.dtype == out.dtype == np.int8, table.value
    if is_int8 and value is not None and out.size >= _MIN_LINE_SIZE:
        content = value.tobytes()
        if (largest := _largest_line(content)) is not None:
            lines, limits = largest
            program.call(
                "lookup.largest_line", x.ravel(), lines, out.ravel(), split=x.size, **limits
            )
            return
        if (line := _line(content)) is not None:
            program.call("lookup.line", x.ravel(), out.ravel(), split=x.size, **line)
            return
    unsigned = f"uint{8 * x.itemsize}"
    kernel = "lookup.look_up" if x.itemsize == 1 else "lookup.look_up_int16"
    source, target = x.ravel().view(unsigned), out.ravel().view(unsigned)
    program.call(kernel, source, table.view(unsigned), target, split=x.size)


@lru_cache(256)
def _largest_line(table: bytes) -> tuple[Buffer, dict[str, int]] | None:
    """Lines and limits with which the kernel `largest_line` gives a table of int8, or None.

    The second line is that of the numbers before a bend upwards, as a leaky rectifier has.
    """
    entries = _in_order(table).astype(np.int64)
    x, low, high = np.arange(-128, 128), int(entries.min()), int(entries.max())
    inside = np.flatnonzero((entries > low) & (entries < high))
    if len(inside) < 2 or np.diff(entries).min() < 0:
        return None
    parts = [slice(inside[0], inside[-1] + 1)]
    bend = _bend(entries, *inside[[0, -1]])
    if bend is not None:
        parts = [slice(inside[0], bend), slice(bend, inside[-1] + 1)]
    lines = [_int16_line(x[part], entries[part]) for part in parts]
    if any(line is None for line in lines):
        return None
    numbers = np.array(lines, np.int64)
    multiplier, offset, shift = numbers.T[:, :, None]
    totals = np.clip((x * multiplier >> 8) + offset, -(1 << 15), (1 << 15) - 1)
    if (np.clip((totals >> shift).max(0), low, high) != entries).any():
        return None
    return constant(numbers), {"low": low, "high": high}


def _in_order(table: bytes) -> np.ndarray:
    """The entries of a table of int8 from that of -128 on, which stand by their bit patterns."""
    entries = np.frombuffer(table, np.int8)
    return np.concatenate((entries[128:], entries[:128]))


def _bend(entries: np.ndarray, first: int, last: int) -> int | None:
    """The entry from which on a table is steeper, if there is one between `first` and `last`."""
    steps = np.arange(first + 1, last)
    if len(steps) < _MIN_BEND:
        return None
    above = entries[first] + (entries[last] - entries[first]) / (last - first) * (steps - first)
    depth = above - entries[steps]
    return int(steps[depth.argmax()]) if depth.max() > _MIN_DEPTH else None


def _int16_line(x: np.ndarray, y: np.ndarray) -> tuple[int, int, int] | None:
    """(x * multiplier / 256 + offset) / 2 ** shift is y, each quotient rounded down: the three."""
    if len(x) < 2:
        return None
    slope = (y[-1] - y[0]) / (x[-1] - x[0])
    shift = _LINE_SHIFT
    while shift and slope * 2 ** (8 + shift) >= _MAX_MULTIPLIER:
        shift -= 1
    unit, reach = 2 ** (8 + shift), 0.6 / (x[-1] - x[0])
    least, most = (int((slope + sign * reach) * unit) for sign in (-1, 1))
    multipliers = np.linspace(max(least, 0), min(most, _MAX_MULTIPLIER), _LINES)
    multipliers = multipliers.astype(np.int64)[:, None]
    lowest = (y << shift) - (x * multipliers >> 8)
    first, last = lowest.max(1), lowest.min(1) + (1 << shift) - 1
    best = int((last - first).argmax())
    if last[best] < first[best]:
        return None
    return int(multipliers[best, 0]), int(first[best] + last[best]) // 2, shift


@lru_cache(256)
def _line(table: bytes) -> dict[str, float] | None:
    """The numbers of the kernel `line` that gives what a table of int8 has; None without any.

    Results are the whole part of x * scale + offset, within limits. No such number lies so near to
    a whole one that rounding it could matter.
    """
    entries = _in_order(table).astype(np.float64)
    x, low, high = np.arange(-128.0, 128.0), entries.min(), entries.max()
    inside = np.flatnonzero((entries > low) & (entries < high))
    steps = np.diff(entries)
    if len(inside) < 2 or steps.min() < 0 or np.ptp(steps[inside[0] : inside[-1]]) > 1:
        return None
    above, below = entries > low, entries < high

    def margins(scale: float) -> tuple[float, float]:
        """The largest and the least offset for a scale."""
        upper = (entries + 1 - x * scale)[below].min()
        return float(upper), float((entries - x * scale)[above].max())

    span = inside[-1] - inside[0]
    slope = (entries[inside[-1]] - entries[inside[0]]) / span
    least, most = slope - 1 / span, slope + 1 / span
    for _ in range(_LINE_STEPS):
        first, second = least + (most - least) / 3, most - (most - least) / 3
        widths = [upper - lower for upper, lower in map(margins, (first, second))]
        least, most = (first, most) if widths[0] < widths[1] else (least, second)
    scale = float(np.float32((least + most) / 2))
    upper, lower = margins(scale)
    if upper - lower < _LINE_MARGIN or abs(scale) * 128 + abs(upper) > _MAX_LINE:
        return None
    return {"scale": scale, "offset": (upper + lower) / 2, "low": int(low), "high": int(high)}


@lru_cache(1024)
def _geometry(shape: tuple[int, ...], *shapes: tuple[int, ...]) -> Buffer:
    """The buffer `geometry` for a result of `shape` and operands of `shapes`."""
    strides = [broadcast_strides(contiguous_strides(s), s, shape) for s in shapes]
    columns = collapse(shape, contiguous_strides(shape), *strides)
    if not columns[0]:  # one element
        columns = [(1,)] + [(0,)] * (1 + len(shapes))
    return constant(np.array([columns[0], *columns[2:]], np.int64))


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape numpy's rule gives; None when the shapes do not fit together."""
    result_shape = shapes[0]
    for shape in shapes[1:]:
        short, long = sorted((result_shape, shape), key=len)
        missing = len(long) - len(short)
        sizes = [broadcast_size(m, n) for m, n in zip(short, long[missing:], strict=True)]
        if None in sizes:
            return None
        result_shape = (*long[:missing], *(n for n in sizes if n is not None))
    return result_shape
