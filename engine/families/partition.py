"""How matrix products in tiles are partitioned among threads, and how AMX reads them."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from ..build import target
from ..records import ItemSize
from ..tiling import AMX_DEPTH, BLOCK_BYTES, BLOCK_ROWS, PANEL

if TYPE_CHECKING:
    from ..plan.program import Program

HALF_TILE = 7  # rows of an item: half the tallest tile
_STEP = 6  # the same where no tile is that tall: a whole one, or several
_SHORT_SHARE = 8  # of steps: a thread reads weights once for all of them
_MANY_ROWS = 98  # rows of a thread that are enough for items twice as high
_PRODUCTS_PER_TRANSFER = 27  # done while a thread fetches an element that another one wrote
_LARGE = 1 << 20  # bytes of weights that no near cache has any more
_WEIGHTS_PER_TRANSFER = 5  # read from a far cache while an element another thread wrote is fetched

DOT_LENGTH = 4
"""Products that one instruction adds; the last of a row are read with those before them."""
_MIN_AMX_ROWS, _MIN_AMX_DEPTH = 6, 16
"""Rows, and products of a sum, for which AMX pays."""


def tile_step() -> int:
    """Rows that this processor's tiles are no taller than, or twice as tall."""
    return HALF_TILE if "avx512f" in target.flags() else _STEP


def by_rows(program: Program, height: int, depth: int, n: int, step: int = HALF_TILE) -> bool:
    """Whether the threads share out the rows, as they do in the instructions before and after.

    Where steps of `step` rows would leave some threads idle for longer than it takes to fetch what
    others wrote, they share out the panels instead.
    """
    threads, steps = program.threads, ceil(height / step)
    idle = threads * ceil(ceil(height / threads) / step) / steps - 1
    return idle * depth * n <= _PRODUCTS_PER_TRANSFER * (depth + n)


def _shares_weights(program: Program, height: int, depth: int, n: int) -> bool:
    """Whether each thread should read some of the weights, once, and not all of them.

    Of few rows, such as a prompt's, weights are most of what is read, and no near cache has them.
    Then, though, each thread reads inputs that others wrote, and others its results.
    """
    is_large = 2 * 4 * depth * n > _LARGE
    transfers = height * (depth + n)
    return program.threads > 1 and is_large and depth * n >= _WEIGHTS_PER_TRANSFER * transfers


def partition(program: Program, height: int, depth: int, n: int) -> tuple[ItemSize, int]:
    """The size of an item, and how many items `height` rows of `n` results are."""
    step = tile_step()
    row_wise = by_rows(program, height, depth, n, step) and not _shares_weights(
        program, height, depth, n
    )
    steps = ceil(ceil(height / step) / program.threads)
    rows = 2 * step if height >= _MANY_ROWS * program.threads else step
    if row_wise and program.threads > 1 and steps <= _SHORT_SHARE:
        rows = step * steps
    elif not row_wise and PANEL * program.threads <= n:
        rows = step * ceil(height / step)
    columns = PANEL * ceil(n / PANEL) if row_wise else PANEL
    return ItemSize(rows, columns), ceil(height / rows) * ceil(n / columns)


def partition_int8(
    program: Program, height: int, depth: int, n: int, for_amx: bool
) -> tuple[ItemSize, int]:
    """`partition` of a product of int8, by AMX or not.

    The work done once for the rows of an item is repeated by each item with some of its columns.
    """
    step, most_steps = (BLOCK_ROWS, 2) if for_amx else (tile_step(), 8)
    panels = ceil(n / PANEL)
    if by_rows(program, height, depth, n, step):
        sizes = range(step * most_steps, 0, -step)
        rows, columns = min(sizes, key=lambda rows: _most_rows(program, height, rows)), panels
    else:
        rows, columns = height, ceil(panels / program.threads)
    return ItemSize(rows, PANEL * columns), ceil(height / rows) * ceil(panels / columns)


def _most_rows(program: Program, height: int, rows: int) -> int:
    """The rows of the thread that has most of them, where an item has so many `rows`."""
    return rows * ceil(ceil(height / rows) / program.threads)


def amx_pitch(rows: int, segments: int, depth: int, planes: int = 1) -> int:
    """Bytes between rows of inputs for AMX; 0 where it is not to be used.

    `planes` is the bytes of an input.
    """
    count = segments * ceil(depth / DOT_LENGTH) * DOT_LENGTH
    if not target.amx() or rows < _MIN_AMX_ROWS or count < _MIN_AMX_DEPTH:
        return 0
    blocks = ceil(count / AMX_DEPTH)
    pitch = AMX_DEPTH * ((blocks + 1) | 1)  # odd: rows lie in different places of the nearest cache
    return pitch if BLOCK_ROWS * planes * pitch <= BLOCK_BYTES else 0


def amx_rows(segments: int, depth: int) -> int:
    """Rows of four products in a panel for AMX."""
    return (
        AMX_DEPTH // DOT_LENGTH * ceil(segments * ceil(depth / DOT_LENGTH) * DOT_LENGTH / AMX_DEPTH)
    )
