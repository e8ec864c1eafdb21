"""Matrix products and convolutions of int16 with packed int8, a tile (_gemm_i16_tile.py) at a time.

As gemm_f32.py in all but the numbers. Results are int16, or the sums they are made of where these
are rounded by another row. `quick` says whether results of int32 sums are int32 before they are
held within the limits. `reach` has for each panel the largest sum of the sizes of a column's
weights: it says whether all sums are int32. `pitch` is not 0 if matrices are to be multiplied where
they can be (_gemm_i16_amx.py): the bytes between rows of their inputs.
"""

from numba import int32, int64

from ...build.kernel import address, inline, kernel, stack_buffer
from ...tiling import AMX_DEPTH, BLOCK_BYTES, BLOCK_ROWS, CHANNEL_BLOCK, PANEL, TABLES
from .._pixels import point_pixels
from ..float32._gemm_f32_tile import point, point_tap, vector_width
from ..int8._gemm_i8_amx import begin_matrices, end_matrices, has_matrices
from ..int8._gemm_i8_packing import columns_turned, put_column, put_columns
from ..int8._requantize import TERMS
from ._gemm_i16_amx import (
    gather_halves,
    i16_amx_tile,
    quick_of_matrices,
    totals_of_matrices,
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
_tables = stack_buffer(TABLES * _TABLE)
_blocks = stack_buffer(BLOCK_BYTES)
_sums = stack_buffer(2 * BLOCK_ROWS * _ROW)
_totals = stack_buffer(BLOCK_ROWS * TOTALS)
_pixels = stack_buffer(3 * _TABLE)
_RESULTS = ("int16", "int32", "int64")
_LARGEST = (1 << 16) - 1
"""The reach up to which all sums are int32."""


@inline
def one_chain(part, entry, count, skip, length, at, ahead, totals, targets, column, columns, terms,
              low, high):  # fmt: skip
    """The tile of the form `part`, or the partial one."""
    if columns <= vector_width():
        i16_partial_tile(entry, count, skip, length, at, ahead, totals, targets, column, columns,
                         terms, low, high)  # fmt: skip
    elif part == 0:
        i16_part_4(entry, count, skip, length, at, ahead, totals, targets, column, columns, terms,
                   low, high)  # fmt: skip
    elif part == 1:
        i16_part_7(entry, count, skip, length, at, ahead, totals, targets, column, columns, terms,
                   low, high)  # fmt: skip
    elif part == 2:
        i16_part_10(entry, count, skip, length, at, ahead, totals, targets, column, columns, terms,
                    low, high)  # fmt: skip
    else:
        i16_tile(entry, count, skip, length, at, ahead, totals, targets, column, columns, terms,
                 low, high)  # fmt: skip


@inline
def one_tile(n_rows, tables, segments, depth, weights, ahead, totals, column, columns, chain,
             epilogue):  # fmt: skip
    """One tile from its tables: the results' first, then the inputs'.

    `chain` products at most have sums in int32.
    """
    terms, size, quick, low, high = epilogue
    part, skip_out, rows = i16_part_for(n_rows), size * column, (depth + 1) // 2
    if quick and segments * 2 * rows <= chain:
        one_chain(part, tables + _TABLE, segments, 0, depth, weights, ahead, 0, tables, skip_out,
                  columns, terms, low, high)  # fmt: skip
        return
    clear_totals(totals)
    k_block = max(1, chain // (2 * rows))
    segment = done = 0
    while segment < segments:
        count, length = min(k_block, segments - segment), min(chain, depth - done)
        one_chain(part, tables + (1 + segment) * _TABLE, count, 2 * done, length, weights, ahead,
                  totals, tables, skip_out, columns, terms, low, high)  # fmt: skip
        weights += count * ((length + 1) // 2) * PAIRS
        ahead += count * ((length + 1) // 2) * (PAIRS // 2)
        done += length
        if done >= depth:
            segment += count
            done = 0
    finish(totals, n_rows, tables, columns, column, epilogue)


@inline
def finish(totals, n_rows, targets, columns, column, epilogue):
    """Stores what totals are, or what they give."""
    terms, size, _, low, high = epilogue
    skip = size * column
    if size == 2:
        int16_of_totals(totals, n_rows, targets, skip, columns, terms, low, high)
    elif size == 4:
        int32_of_totals(totals, n_rows, targets, skip, columns, terms, low, high)
    else:
        int64_of_totals(totals, n_rows, targets, skip, columns, terms, low, high)


@inline
def own_terms(epilogue, column):
    """`epilogue` with the terms of the tile that begins at `column`."""
    block = column // CHANNEL_BLOCK
    return (epilogue[0] + 8 * TERMS * block + 4 * (column - CHANNEL_BLOCK * block), *epilogue[1:])


@inline
def tiles(tables, n_rows, segments, depth, panels, panel_bytes, reach, n, column, end, epilogue,
          totals):  # fmt: skip
    """All tiles of `n_rows` rows whose tables follow one another, for columns up to `end`."""
    height, width = i16_rows(), i16_columns()
    while column < end:
        panel = column // PANEL
        weights = panels + panel * panel_bytes + 2 * (column - panel * PANEL)
        coming = weights + panel_bytes if column + PANEL < end else weights
        chain = CHAIN if reach[panel] > _LARGEST else panel_bytes
        own, row, at = own_terms(epilogue, column), 0, tables
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


@inline
def matrix_tiles(tables, n_rows, blocks, pitch, steps, panels, panel_bytes, reach, n, column, end,
                 epilogue, totals):  # fmt: skip
    """What `tiles` does, for rows that lie in blocks, with the registers for matrices."""
    _, _, quick, low, high = epilogue
    sums = _sums()
    while column < end:
        panel = column // PANEL
        own, row, at = own_terms(epilogue, column), 0, tables
        small = quick and reach[panel] <= _LARGEST
        while row < n_rows:
            count, block = min(BLOCK_ROWS, n_rows - row), blocks + 2 * row * pitch
            i16_amx_tile(block, pitch, steps, panels + panel * panel_bytes, sums)
            if small:
                quick_of_matrices(sums, count, at, 2 * column, n - column, own[0], low, high)
            else:
                totals_of_matrices(sums, totals)
                finish(totals, count, at, n - column, column, own)
            row += BLOCK_ROWS
            at += _TABLE
        column += PANEL


@inline
def steps_of(segments, depth):
    """How many steps matrices are multiplied in."""
    return (segments * ((depth + 3) // 4) * 4 + AMX_DEPTH - 1) // AMX_DEPTH


@inline
def ready(entry, segments, depth, block, pitch):
    """Does what comes once for the rows of a tile; gives where the next tile's tables begin."""
    if pitch:
        gather_halves(entry + _TABLE, segments, depth, block, pitch)
        return entry + _TABLE
    return entry + (1 + segments) * _TABLE


@inline
def all_tiles(tables, n_rows, segments, depth, block, pitch, panels, panel_bytes, reach, n, column,
              end, epilogue, totals):  # fmt: skip
    """`tiles`, or `matrix_tiles` where there is a `pitch`."""
    if pitch:
        matrix_tiles(tables, n_rows, block, pitch, steps_of(segments, depth), panels, panel_bytes,
                     reach, n, column, end, epilogue, totals)  # fmt: skip
    else:
        tiles(tables, n_rows, segments, depth, panels, panel_bytes, reach, n, column, end, epilogue,
              totals)  # fmt: skip


@kernel(
    "a:int16[*,m,*] packed:int8[*,panels,*,128] reach:int64[*,panels] terms:int64[*,48] "
    "a_of:int32[batch] b_of:int32[batch] out:T[batch,m,n] depth:i pitch:i rows:i columns:i quick:i "
    "low:i high:i",
    T=_RESULTS,
)
def matmul(
    a, packed, reach, terms, a_of, b_of, out, depth, pitch, rows, columns, quick, low, high,
    first, last, fault,
):  # fmt: skip
    """out[i] = a[a_of[i], :, :depth] @ packed[b_of[i]].

    An item is `rows` rows times `columns` columns, a multiple of the panel.
    """
    height, n, step = out.shape[1], out.shape[2], 2 * a.shape[2]
    panel_bytes, size = packed.shape[2] * _ROW, out.itemsize
    blocks, groups = (height + rows - 1) // rows, (n + columns - 1) // columns
    tables, totals, block, tile, at_once = _tables(), _totals(), _blocks(), i16_rows(), rows
    epilogue, pitch = (address(terms), size, quick, low, high), pitch * has_matrices()
    if pitch:
        tile, at_once = BLOCK_ROWS, BLOCK_BYTES // (2 * pitch) // BLOCK_ROWS * BLOCK_ROWS
        begin_matrices(totals)
    for item in range(first, last):
        place = item // groups
        column = (item - place * groups) * columns
        batch = place // blocks
        row = (place - batch * blocks) * rows
        stop, end = min(row + rows, height), min(column + columns, n)
        panels = address(packed) + b_of[batch] * packed.shape[1] * panel_bytes
        while row < stop:
            count = min(at_once, stop - row)
            begin = address(a) + (a_of[batch] * a.shape[1] + row) * step
            target = address(out) + size * n * (batch * height + row)
            done, entry = 0, tables
            while done < count:
                some = min(tile, count - done)
                point(entry, target + done * size * n, size * n, some)
                point(entry + _TABLE, begin + done * step, step, some)
                entry = ready(entry, 1, depth, block + 2 * done * pitch, pitch)
                done += tile
            all_tiles(tables, count, 1, depth, block, pitch, panels, panel_bytes,
                      reach[b_of[batch]], n, column, end, epilogue, totals)  # fmt: skip
            row += count
    if pitch:
        end_matrices()


@kernel(
    "x:int16[batch,*,*,*] packed:int8[groups,panels,*,128] reach:int64[groups,panels] "
    "terms:int64[groups,*,48] nothing:int16[depth] geometry:int64[6,2] out:T[batch,*,*,*] "
    "taps_h:i taps_w:i n:i pixels:i columns:i pitch:i quick:i low:i high:i",
    T=_RESULTS,
)
def convolution(
    x, packed, reach, terms, nothing, geometry, out, taps_h, taps_w, n, pixels, columns, pitch,
    quick, low, high, first, last, fault,
):  # fmt: skip
    """out = sum of input * weights under the filter.

    `geometry` is as in gemm_f32.convolution; `nothing` are zeros. An item is `pixels` results times
    `columns` of the channels, a multiple of the panel.
    """
    depth, segments, size = nothing.size, taps_h * taps_w, out.itemsize
    total = x.shape[0] * geometry[0, 0] * geometry[0, 1]
    panel_bytes = packed.shape[2] * _ROW
    blocks, shares = (total + pixels - 1) // pixels, (n + columns - 1) // columns
    tables, totals, starts, block = _tables(), _totals(), _pixels(), _blocks()
    tile, pitch = i16_rows(), pitch * has_matrices()
    at_once = max(1, TABLES // (1 + segments)) * tile
    if pitch:
        tile = BLOCK_ROWS
        at_once = min(BLOCK_BYTES // (2 * pitch) // tile, TABLES - segments) * tile
        begin_matrices(totals)
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
                at = entry + _TABLE
                for i in range(taps_h):
                    for j in range(taps_w):
                        down, right = i * geometry[2, 0], j * geometry[2, 1]
                        offset = 2 * (down * x.shape[2] + right) * x.shape[3]
                        point_tap(at, starts, offset, down, right, x.shape[1], x.shape[2],
                                  address(nothing))  # fmt: skip
                        at += _TABLE
                entry = ready(entry, segments, depth, block + 2 * row * pitch, pitch)
                row += tile
            all_tiles(tables, count, segments, depth, block, pitch, panels, panel_bytes,
                      reach[group], n, column, limit, (own, size, quick, low, high),
                      totals)  # fmt: skip
            pixel += count
    if pitch:
        end_matrices()


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


@inline
def put_pairs(weights, segments, depth, target):
    """A panel of pairs of weights, two rows of them in one of `target`."""
    rows = (depth + 1) // 2
    for segment in range(segments):
        for row in range(rows):
            place, at = segment * rows + row, segment * depth + 2 * row
            begin = PAIRS * (place % 2)
            line = target[place // 2, begin : begin + PAIRS]
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
    n, done = weights.shape[0], int64(0)
    for j in range(PANEL):
        if j % columns_turned() == 0:
            done, end = int64(0), j + columns_turned()
            if end <= n:
                done = put_columns(weights[j:end], segments, depth, 0, j, target)
        if j < n:
            put_column(weights[j], segments, depth, 0, j, target, done)
        else:
            for row in range(target.shape[0]):
                for i in range(4):
                    target[row, 4 * j + i] = 0


@kernel(
    "weights:int8[batch,n,k] out:int8[batch,panels,*,128] out_reach:int64[batch,panels] "
    "segments:i matrices:i"
)
def pack(weights, out, out_reach, segments, matrices, first, last, fault):
    """Packs matrices whose columns are contiguous, cut in `segments`. An item is a panel.

    `matrices` says whether they are for matrices where these can be multiplied.
    """
    panels, n, depth = out.shape[1], weights.shape[1], weights.shape[2] // segments
    for item in range(first, last):
        batch = item // panels
        panel = item - batch * panels
        own = weights[batch, panel * PANEL : min(n, (panel + 1) * PANEL)]
        out_reach[batch, panel] = reach_of(own)
        if matrices and has_matrices():
            put_fours(own, segments, depth, out[batch, panel])
        else:
            put_pairs(own, segments, depth, out[batch, panel])
