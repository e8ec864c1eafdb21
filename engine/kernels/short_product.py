"""Matrix products and convolutions of int16 with packed bytes, a tile at a time (_short_tile.py).

As product.py in all but the numbers. Results are int16, or the sums they are made of where these
are rounded by another row. `quick` says whether results of int32 sums are int32 before they are
held within the limits. `reach` has for each panel the largest sum of the sizes of a column's
weights: it says whether all sums are int32.
"""

from numba import int32, int64

from ..kernel import address, inline, kernel, room
from ._pixels import point_pixels
from ._requantize import BLOCK, TERMS
from ._short_tile import (
    CHAIN,
    PAIRS,
    TOTALS,
    clear_totals,
    ints_of_totals,
    short_columns,
    short_part_4,
    short_part_7,
    short_part_10,
    short_part_for,
    short_rows,
    short_tile,
    short_tile_narrow,
    shorts_of_totals,
    words_of_totals,
)
from ._tile import PANEL, ROWS_OF_TABLE, point, point_tap, vector_width

TABLES = 384
"""Tables there is room for: one more for each tile than the filter has segments."""
_TABLE = 8 * ROWS_OF_TABLE
_tables = room(TABLES * _TABLE)
_totals = room(ROWS_OF_TABLE * TOTALS)
_pixels = room(3 * _TABLE)
_RESULTS = ("int16", "int32", "int64")
_LARGEST = (1 << 16) - 1
"""The reach up to which all sums are int32."""


@inline
def one_piece(part, entry, count, skip, length, at, ahead, totals, targets, column, columns, terms,
              low, high):  # fmt: skip
    """The tile of the form `part`, or the narrow one."""
    if columns <= vector_width():
        short_tile_narrow(entry, count, skip, length, at, ahead, totals, targets, column, columns,
                          terms, low, high)  # fmt: skip
    elif part == 0:
        short_part_4(entry, count, skip, length, at, ahead, totals, targets, column, columns,
                     terms, low, high)  # fmt: skip
    elif part == 1:
        short_part_7(entry, count, skip, length, at, ahead, totals, targets, column, columns,
                     terms, low, high)  # fmt: skip
    elif part == 2:
        short_part_10(entry, count, skip, length, at, ahead, totals, targets, column, columns,
                      terms, low, high)  # fmt: skip
    else:
        short_tile(entry, count, skip, length, at, ahead, totals, targets, column, columns, terms,
                   low, high)  # fmt: skip


@inline
def one_tile(n_rows, tables, segments, depth, weights, ahead, totals, column, columns, chain,
             ending):  # fmt: skip
    """One tile from its tables: the results' first, then the inputs'.

    `chain` products at most have sums in int32.
    """
    terms, size, quick, low, high = ending
    part, skip_out, rows = short_part_for(n_rows), size * column, (depth + 1) // 2
    if quick and segments * 2 * rows <= chain:
        one_piece(part, tables + _TABLE, segments, 0, depth, weights, ahead, 0, tables, skip_out,
                  columns, terms, low, high)  # fmt: skip
        return
    clear_totals(totals)
    together = max(1, chain // (2 * rows))
    segment = done = 0
    while segment < segments:
        count, length = min(together, segments - segment), min(chain, depth - done)
        one_piece(part, tables + (1 + segment) * _TABLE, count, 2 * done, length, weights, ahead,
                  totals, tables, skip_out, columns, terms, low, high)  # fmt: skip
        weights += count * ((length + 1) // 2) * PAIRS
        ahead += count * ((length + 1) // 2) * (PAIRS // 2)
        done += length
        if done >= depth:
            segment += count
            done = 0
    if size == 2:
        shorts_of_totals(totals, n_rows, tables, skip_out, columns, terms, low, high)
    elif size == 4:
        ints_of_totals(totals, n_rows, tables, skip_out, columns, terms, low, high)
    else:
        words_of_totals(totals, n_rows, tables, skip_out, columns, terms, low, high)


@inline
def tiles(tables, n_rows, segments, depth, panels, panel_bytes, reach, n, column, end, ending,
          totals):  # fmt: skip
    """All tiles of `n_rows` rows whose tables follow one another, for columns up to `end`."""
    height, width = short_rows(), short_columns()
    while column < end:
        panel, block = column // PANEL, column // BLOCK
        weights = panels + panel * panel_bytes + 2 * (column - panel * PANEL)
        coming = weights + panel_bytes if column + PANEL < end else weights
        chain = CHAIN if reach[panel] > _LARGEST else panel_bytes
        own = (ending[0] + 8 * TERMS * block + 4 * (column - BLOCK * block), *ending[1:])
        row, at = 0, tables
        while row < n_rows:
            one_tile(min(height, n_rows - row), at, segments, depth, weights, coming, totals,
                     column, n - column, chain, own)  # fmt: skip
            if row <= height:
                coming += panel_bytes // 2
            if row == height:
                coming = weights
            at += (1 + segments) * _TABLE
            row += height
        column += width


@kernel(
    "a:int16[*,m,*] packed:int8[*,panels,*,64] reach:int64[*,panels] terms:int64[*,48] "
    "a_of:int32[batch] b_of:int32[batch] out:T[batch,m,n] depth:i rows:i columns:i quick:i low:i "
    "high:i",
    T=_RESULTS,
)
def matmul(
    a, packed, reach, terms, a_of, b_of, out, depth, rows, columns, quick, low, high,
    first, last, fault,
):  # fmt: skip
    """out[i] = a[a_of[i], :, :depth] @ packed[b_of[i]].

    An item is `rows` rows times `columns` columns, a multiple of the panel.
    """
    height, n, pitch = out.shape[1], out.shape[2], 2 * a.shape[2]
    panel_bytes, size = packed.shape[2] * PAIRS, out.itemsize
    blocks, groups = (height + rows - 1) // rows, (n + columns - 1) // columns
    tables, totals, tile = _tables(), _totals(), short_rows()
    ending = (address(terms), size, quick, low, high)
    for item in range(first, last):
        place = item // groups
        column = (item - place * groups) * columns
        batch = place // blocks
        row = (place - batch * blocks) * rows
        count = min(rows, height - row)
        begin = address(a) + (a_of[batch] * a.shape[1] + row) * pitch
        target = address(out) + size * n * (batch * height + row)
        panels = address(packed) + b_of[batch] * packed.shape[1] * panel_bytes
        done, entry = 0, tables
        while done < count:
            some = min(tile, count - done)
            point(entry, target + done * size * n, size * n, some)
            point(entry + _TABLE, begin + done * pitch, pitch, some)
            done += tile
            entry += 2 * _TABLE
        tiles(tables, count, 1, depth, panels, panel_bytes, reach[b_of[batch]], n, column,
              min(column + columns, n), ending, totals)  # fmt: skip


@kernel(
    "x:int16[batch,*,*,*] packed:int8[groups,panels,*,64] reach:int64[groups,panels] "
    "terms:int64[groups,*,48] nothing:int16[depth] geometry:int64[6,2] out:T[batch,*,*,*] "
    "taps_h:i taps_w:i n:i pixels:i columns:i quick:i low:i high:i",
    T=_RESULTS,
)
def convolution(
    x, packed, reach, terms, nothing, geometry, out, taps_h, taps_w, n, pixels, columns, quick,
    low, high, first, last, fault,
):  # fmt: skip
    """out = sum of input * weights under the filter.

    `geometry` is as in product.convolution; `nothing` are zeros. An item is `pixels` results times
    `columns` of the channels, a multiple of the panel.
    """
    depth, segments, size = nothing.size, taps_h * taps_w, out.itemsize
    total = x.shape[0] * geometry[0, 0] * geometry[0, 1]
    panel_bytes = packed.shape[2] * PAIRS
    blocks, shares = (total + pixels - 1) // pixels, (n + columns - 1) // columns
    tables, totals, starts, tile = _tables(), _totals(), _pixels(), short_rows()
    at_once = max(1, TABLES // (1 + segments)) * tile
    for item in range(first, last):
        place = item // shares
        column = (item - place * shares) * columns
        group = place // blocks
        pixel = (place - group * blocks) * pixels
        end, limit = min(pixel + pixels, total), min(column + columns, n)
        panels = address(packed) + group * packed.shape[1] * panel_bytes
        own = address(terms) + group * terms.shape[1] * 8 * TERMS
        while pixel < end:
            count, row, entry = min(at_once, end - pixel), 0, tables
            while row < count:
                point_pixels(starts, entry, x, out, pixel + row, end, tile, group * depth,
                             group * n, geometry, 2, size)  # fmt: skip
                entry += _TABLE
                for i in range(taps_h):
                    for j in range(taps_w):
                        down, right = i * geometry[2, 0], j * geometry[2, 1]
                        offset = 2 * (down * x.shape[2] + right) * x.shape[3]
                        point_tap(entry, starts, offset, down, right, x.shape[1], x.shape[2],
                                  address(nothing))  # fmt: skip
                        entry += _TABLE
                row += tile
            tiles(tables, count, segments, depth, panels, panel_bytes, reach[group], n, column,
                  limit, (own, size, quick, low, high), totals)  # fmt: skip
            pixel += count


@inline
def reach_of(columns):
    """The largest of the sums of the sizes of numbers in a column."""
    most = int64(0)
    for j in range(columns.shape[0]):
        column, total = columns[j], int32(0)
        for i in range(column.size):
            total += abs(int32(column[i]))
        most = max(most, int64(total))
    return most


@kernel(
    "weights:int8[batch,n,k] out:int8[batch,panels,*,64] out_reach:int64[batch,panels] segments:i"
)
def pack(weights, out, out_reach, segments, first, last, fault):
    """Packs matrices whose columns lie in one piece each, cut in `segments`. An item is a panel."""
    panels, n, depth = out.shape[1], weights.shape[1], weights.shape[2] // segments
    rows = (depth + 1) // 2
    for item in range(first, last):
        batch = item // panels
        panel = item - batch * panels
        target, count = out[batch, panel], min(PANEL, n - panel * PANEL)
        own = weights[batch, panel * PANEL : panel * PANEL + count]
        out_reach[batch, panel] = reach_of(own)
        for segment in range(segments):
            for row in range(rows):
                line, at = target[segment * rows + row], segment * depth + 2 * row
                for j in range(2 * count, 2 * PANEL):
                    line[j] = 0
                if 2 * row + 1 < depth:
                    for j in range(count):
                        line[2 * j], line[2 * j + 1] = own[j, at], own[j, at + 1]
                else:
                    for j in range(count):
                        line[2 * j], line[2 * j + 1] = own[j, at], 0
