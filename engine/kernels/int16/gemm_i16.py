"""Matrix products and convolutions of int16 with packed int8, a tile (_gemm_i16_tile.py) at a time.

As gemm_f32.py in all but the numbers. Results are int16, or the sums they are made of where these
are rounded by another instruction. `abs_sums` has for each panel the largest sum of the absolute
values of a column's weights: it says whether all sums are int32. `pitch` is not 0 if AMX is to be
used where there is any (_gemm_i16_amx.py): the bytes between rows of its inputs.
"""

from typing import NamedTuple

from numba import int32, int64

from ...build.kernel import address, choose, inline, kernel, stack_buffer
from ...records import COUNTS, DILATION, HEIGHT, WIDTH, Int16Epilogue, ItemSize
from ...tiling import AMX_DEPTH, BLOCK_BYTES, BLOCK_ROWS, CHANNEL_BLOCK, PANEL, TABLES
from .._items import Panels
from .._pixels import in_tuples, point_pixels
from ..float32._gemm_f32_tile import point, point_tap, vector_width
from ..int8._gemm_i8_amx import begin_amx, end_amx, has_amx
from ..int8._gemm_i8_packing import columns_at_once, put_column, put_columns
from ..int8._requantize import TERMS
from ._gemm_i16_amx import (
    gather_halves,
    i16_amx_tile,
    quick_of_amx_sums,
    totals_of_amx_sums,
)
from ._gemm_i16_tile import (
    CHAIN,
    PAIRS,
    TOTALS,
    clear_totals,
    i16_columns,
    i16_part_4,
    i16_part_7,
    i16_part_10,
    i16_part_for,
    i16_partial_tile,
    i16_rows,
    i16_tile,
    int16_of_totals,
    int32_of_totals,
    int64_of_totals,
)

_ROW = 4 * PANEL
_TABLE = 8 * BLOCK_ROWS
_tile = choose(i16_part_4, i16_part_7, i16_part_10, i16_tile, i16_partial_tile)
_PARTIAL = 4
_tables = stack_buffer(TABLES * _TABLE)
_blocks = stack_buffer(BLOCK_BYTES)
_sums = stack_buffer(2 * BLOCK_ROWS * _ROW)
_totals = stack_buffer(BLOCK_ROWS * TOTALS)
_pixels = stack_buffer(3 * _TABLE)
_RESULTS = ("int16", "int32", "int64")
_LARGEST = (1 << 16) - 1
"""The sum of absolute values up to which all sums are int32."""


class Results(NamedTuple):
    """What sums become: the terms of the matrix, bytes of a result, and the epilogue."""

    terms: int
    size: int
    quick: int
    low: int
    high: int


class TileResults(NamedTuple):
    """Where the results of a tile go, and their terms: the last arguments of the microkernels."""

    targets: int
    out_skip: int
    columns: int
    terms: int
    low: int
    high: int


@inline
def terms_of_tile(terms, column):
    """The address of the terms of the tile that begins at `column`."""
    block = column // CHANNEL_BLOCK
    return terms + 8 * TERMS * block + 4 * (column - CHANNEL_BLOCK * block)


@inline
def tile_results(results, targets, column, n, terms):
    """The results of the tile that begins at `column`, of rows in the table `targets`."""
    skip = results.size * column
    return TileResults(targets, skip, n - column, terms, results.low, results.high)


@inline
def add_chain(part, entry, count, skip, length, at, ahead, totals, results):
    """The tile of the form `part`, or the partial one."""
    if results.columns <= vector_width():
        part = _PARTIAL
    targets, out_skip, columns, terms, low, high = results
    _tile(part, entry, count, skip, length, at, ahead, totals, targets, out_skip, columns, terms,
          low, high)  # fmt: skip


@inline
def run_tile(n_rows, tables, segments, depth, weights, ahead, totals, chain, quick, size,
             results):  # fmt: skip
    """One tile from its tables: the results' first, then the inputs'.

    `chain` products at most have sums in int32.
    """
    part, rows = i16_part_for(n_rows), (depth + 1) // 2
    if quick and segments * 2 * rows <= chain:
        add_chain(part, tables + _TABLE, segments, 0, depth, weights, ahead, 0, results)
        return
    clear_totals(totals)
    k_block = max(1, chain // (2 * rows))
    segment = k = 0
    while segment < segments:
        count, length = min(k_block, segments - segment), min(chain, depth - k)
        add_chain(part, tables + (1 + segment) * _TABLE, count, 2 * k, length, weights, ahead,
                  totals, results)  # fmt: skip
        weights += count * ((length + 1) // 2) * PAIRS
        ahead += count * ((length + 1) // 2) * (PAIRS // 2)
        k += length
        if k >= depth:
            segment += count
            k = 0
    finish(totals, n_rows, size, results)


@inline
def finish(totals, n_rows, size, results):
    """Stores what totals are, or what they give, in `size` bytes."""
    targets, out_skip, columns, terms, low, high = results
    if size == 2:
        int16_of_totals(totals, n_rows, targets, out_skip, columns, terms, low, high)
    elif size == 4:
        int32_of_totals(totals, n_rows, targets, out_skip, columns, terms, low, high)
    else:
        int64_of_totals(totals, n_rows, targets, out_skip, columns, terms, low, high)


@inline
def tiles(tables, n_rows, segments, depth, panels, abs_sums, column, end, results, totals):
    """All tiles of `n_rows` rows whose tables follow one another, for columns up to `end`."""
    height, width = i16_rows(), i16_columns()
    while column < end:
        panel = column // PANEL
        weights = panels.start + panel * panels.pitch + 2 * (column - panel * PANEL)
        next_weights = weights + panels.pitch if column + PANEL < end else weights
        chain = CHAIN if abs_sums[panel] > _LARGEST else panels.pitch
        terms, row, at = terms_of_tile(results.terms, column), 0, tables
        while row < n_rows:
            run_tile(min(height, n_rows - row), at, segments, depth, weights, next_weights, totals,
                     chain, results.quick, results.size,
                     tile_results(results, at, column, panels.n, terms))  # fmt: skip
            if row <= height:
                next_weights += panels.pitch // 2
            if row == height:
                next_weights = weights
            at += (1 + segments) * _TABLE
            row += height
        column += width


@inline
def amx_tiles(tables, n_rows, blocks, pitch, steps, panels, abs_sums, column, end, results,
              totals):  # fmt: skip
    """What `tiles` does, for rows that lie in blocks, by AMX."""
    sums = _sums()
    while column < end:
        panel = column // PANEL
        tile_terms, row, at = terms_of_tile(results.terms, column), 0, tables
        small = results.quick and abs_sums[panel] <= _LARGEST
        while row < n_rows:
            count, block = min(BLOCK_ROWS, n_rows - row), blocks + 2 * row * pitch
            i16_amx_tile(block, pitch, steps, panels.start + panel * panels.pitch, sums)
            block_results = tile_results(results, at, column, panels.n, tile_terms)
            if small:
                targets, out_skip, columns, terms, low, high = block_results
                quick_of_amx_sums(sums, count, targets, out_skip, columns, terms, low, high)
            else:
                totals_of_amx_sums(sums, totals)
                finish(totals, count, results.size, block_results)
            row += BLOCK_ROWS
            at += _TABLE
        column += PANEL


@inline
def amx_steps(segments, depth):
    """How many steps AMX takes to multiply a row."""
    return (segments * ((depth + 3) // 4) * 4 + AMX_DEPTH - 1) // AMX_DEPTH


@inline
def prepare_tile(entry, segments, depth, block, pitch):
    """Does what comes once for the rows of a tile; gives where the next tile's tables begin."""
    if pitch:
        gather_halves(entry + _TABLE, segments, depth, block, pitch)
        return entry + _TABLE
    return entry + (1 + segments) * _TABLE


@inline
def all_tiles(tables, n_rows, segments, depth, block, pitch, panels, abs_sums, column, end,
              results, totals):  # fmt: skip
    """`tiles`, or `amx_tiles` where there is a `pitch`."""
    if pitch:
        amx_tiles(tables, n_rows, block, pitch, amx_steps(segments, depth), panels, abs_sums,
                  column, end, results, totals)  # fmt: skip
    else:
        tiles(tables, n_rows, segments, depth, panels, abs_sums, column, end, results, totals)


@kernel(
    "a:int16[*,m,*] packed:int8[*,panels,*,128] abs_sums:int64[*,panels] terms:int64[*,48] "
    "a_of:int32[batch] b_of:int32[batch] out:T[batch,m,n] depth:i pitch:i item_size:ItemSize "
    "epilogue:Int16Epilogue",
    T=_RESULTS,
    ItemSize=ItemSize,
    Int16Epilogue=Int16Epilogue,
)
def matmul(
    a, packed, abs_sums, terms, a_of, b_of, out, depth, pitch, item_size, epilogue,
    first, last, fault,
):  # fmt: skip
    """out[i] = a[a_of[i], :, :depth] @ packed[b_of[i]].

    The columns of an item are a multiple of the panel.
    """
    rows, columns = item_size
    height, n, step = out.shape[1], out.shape[2], 2 * a.shape[2]
    panel_bytes, size = packed.shape[2] * _ROW, out.itemsize
    blocks, groups = (height + rows - 1) // rows, (n + columns - 1) // columns
    tables, totals, block, tile, at_once = _tables(), _totals(), _blocks(), i16_rows(), rows
    quick, low, high = epilogue
    results, pitch = Results(address(terms), size, quick, low, high), pitch * has_amx()
    if pitch:
        tile, at_once = BLOCK_ROWS, BLOCK_BYTES // (2 * pitch) // BLOCK_ROWS * BLOCK_ROWS
        begin_amx(totals)
    for item in range(first, last):
        position = item // groups
        column = (item - position * groups) * columns
        batch = position // blocks
        row = (position - batch * blocks) * rows
        stop, end = min(row + rows, height), min(column + columns, n)
        start = address(packed) + b_of[batch] * packed.shape[1] * panel_bytes
        panels = Panels(start, panel_bytes, n)
        while row < stop:
            count = min(at_once, stop - row)
            begin = address(a) + (a_of[batch] * a.shape[1] + row) * step
            target = address(out) + size * n * (batch * height + row)
            tile_row, entry = 0, tables
            while tile_row < count:
                n_rows = min(tile, count - tile_row)
                point(entry, target + tile_row * size * n, size * n, n_rows)
                point(entry + _TABLE, begin + tile_row * step, step, n_rows)
                entry = prepare_tile(entry, 1, depth, block + 2 * tile_row * pitch, pitch)
                tile_row += tile
            all_tiles(tables, count, 1, depth, block, pitch, panels, abs_sums[b_of[batch]], column,
                      end, results, totals)  # fmt: skip
            row += count
    if pitch:
        end_amx()


@kernel(
    "x:int16[batch,*,*,*] packed:int8[groups,panels,*,128] abs_sums:int64[groups,panels] "
    "terms:int64[groups,*,48] padding:int16[depth] geometry:int64[6,2] out:T[batch,*,*,*] "
    "taps_h:i taps_w:i n:i item_size:ItemSize pitch:i epilogue:Int16Epilogue",
    T=_RESULTS,
    ItemSize=ItemSize,
    Int16Epilogue=Int16Epilogue,
)
def convolution(
    x, packed, abs_sums, terms, padding, geometry, out, taps_h, taps_w, n, item_size, pitch,
    epilogue, first, last, fault,
):  # fmt: skip
    """out = sum of input * weights under the filter.

    `geometry` is as in gemm_f32.convolution; `padding` are zeros. The rows of an item are pixels,
    its columns channels, a multiple of the panel.
    """
    (pixels, columns), (quick, low, high) = item_size, epilogue
    depth, segments, size = padding.size, taps_h * taps_w, out.itemsize
    sliding = in_tuples(geometry)
    total = x.shape[0] * sliding[COUNTS][HEIGHT] * sliding[COUNTS][WIDTH]
    panel_bytes = packed.shape[2] * _ROW
    blocks, shares = (total + pixels - 1) // pixels, (n + columns - 1) // columns
    tables, totals, starts, block = _tables(), _totals(), _pixels(), _blocks()
    tile, pitch = i16_rows(), pitch * has_amx()
    at_once = max(1, TABLES // (1 + segments)) * tile
    if pitch:
        tile = BLOCK_ROWS
        at_once = min(BLOCK_BYTES // (2 * pitch) // tile, TABLES - segments) * tile
        begin_amx(totals)
    for item in range(first, last):
        position = item // shares
        column = (item - position * shares) * columns
        group = position // blocks
        pixel = (position - group * blocks) * pixels
        end, limit = min(pixel + pixels, total), min(column + columns, n)
        panels = Panels(address(packed) + group * packed.shape[1] * panel_bytes, panel_bytes, n)
        group_terms = address(terms) + group * terms.shape[1] * 8 * TERMS
        while pixel < end:
            count, row, entry = min(at_once, end - pixel), 0, tables
            while row < count:
                point_pixels(starts, entry, x, out, pixel + row, end, tile, group * depth,
                             group * n, sliding, 2, size, False)  # fmt: skip
                at = entry + _TABLE
                for i in range(taps_h):
                    for j in range(taps_w):
                        down = i * sliding[DILATION][HEIGHT]
                        right = j * sliding[DILATION][WIDTH]
                        offset = 2 * (down * x.shape[2] + right) * x.shape[3]
                        point_tap(at, starts, offset, down, right, x.shape[1], x.shape[2],
                                  address(padding))  # fmt: skip
                        at += _TABLE
                entry = prepare_tile(entry, segments, depth, block + 2 * row * pitch, pitch)
                row += tile
            results = Results(group_terms, size, quick, low, high)
            all_tiles(tables, count, segments, depth, block, pitch, panels, abs_sums[group],
                      column, limit, results, totals)  # fmt: skip
            pixel += count
    if pitch:
        end_amx()


@inline
def largest_abs_sum(columns):
    """The largest sum of the absolute values of a column."""
    largest = int64(0)
    for j in range(columns.shape[0]):
        column, total = columns[j], int32(0)
        for i in range(column.size):
            total += abs(int32(column[i]))
        largest = max(largest, int64(total))
    return largest


@inline
def put_pairs(weights, segments, depth, target):
    """A panel of pairs of weights, two rows of them in one of `target`."""
    rows = (depth + 1) // 2
    for segment in range(segments):
        for row in range(rows):
            pair, at = segment * rows + row, segment * depth + 2 * row
            begin = PAIRS * (pair % 2)
            line = target[pair // 2, begin : begin + PAIRS]
            for j in range(2 * weights.shape[0], PAIRS):
                line[j] = 0
            if 2 * row + 1 < depth:
                for j in range(weights.shape[0]):
                    line[2 * j], line[2 * j + 1] = weights[j, at], weights[j, at + 1]
            else:
                for j in range(weights.shape[0]):
                    line[2 * j], line[2 * j + 1] = weights[j, at], 0


@inline
def put_fours(weights, segments, depth, target):
    """A panel of fours of weights, as _gemm_i8_packing.py packs them."""
    n, n_done = weights.shape[0], int64(0)
    for j in range(PANEL):
        if j % columns_at_once() == 0:
            n_done, end = int64(0), j + columns_at_once()
            if end <= n:
                n_done = put_columns(weights[j:end], segments, depth, 0, j, target)
        if j < n:
            put_column(weights[j], segments, depth, 0, j, target, n_done)
        else:
            for row in range(target.shape[0]):
                for i in range(4):
                    target[row, 4 * j + i] = 0


@kernel(
    "weights:int8[batch,n,k] out:int8[batch,panels,*,128] out_abs_sums:int64[batch,panels] "
    "segments:i for_amx:i"
)
def pack(weights, out, out_abs_sums, segments, for_amx, first, last, fault):
    """Packs matrices whose columns are contiguous, cut in `segments`. An item is a panel.

    `for_amx` says whether they are for AMX where there is any.
    """
    panels, n, depth = out.shape[1], weights.shape[1], weights.shape[2] // segments
    for item in range(first, last):
        batch = item // panels
        panel = item - batch * panels
        columns = weights[batch, panel * PANEL : min(n, (panel + 1) * PANEL)]
        out_abs_sums[batch, panel] = largest_abs_sum(columns)
        if for_amx and has_amx():
            put_fours(columns, segments, depth, out[batch, panel])
        else:
            put_pairs(columns, segments, depth, out[batch, panel])
