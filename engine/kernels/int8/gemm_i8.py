"""Matrix products and convolutions of signed bytes with packed weights (_gemm_i8_tile.py).

As gemm_f32.py in all but the numbers. Results are bytes, made as `rounding` says (_requantize.py),
or float32 where inputs were float32 that was rounded to int8: each row of a matrix, or an image.

`weights_zero` is taken off the weights. `pitch` is not 0 if matrices are to be multiplied where
they can be (_gemm_i8_amx.py): the bytes between rows of their inputs.
"""

from ...build.declaration import Widths
from ...build.kernel import address, inline, kernel, stack_buffer
from ...tiling import AMX_DEPTH, BLOCK_BYTES, BLOCK_ROWS, CHANNEL_BLOCK, PANEL, TABLES, TILE_HEADERS
from .._items import even, part_of
from .._pixels import point_pixels
from ..float32._gemm_f32_tile import point, point_tap, vector_width
from ._gemm_i8_amx import (
    amx_corrections,
    begin_matrices,
    end_matrices,
    gather_block,
    has_matrices,
    matrix_half_tile,
    matrix_tile,
)
from ._gemm_i8_epilogue import (
    FLOAT32_TERMS,
    float32_of_products,
    float32_of_sums,
    int8_of_products,
    int8_of_sums,
)
from ._gemm_i8_packing import pack as pack_panels
from ._gemm_i8_tile import (
    corrections,
    i8_columns,
    i8_part_4,
    i8_part_7,
    i8_part_10,
    i8_part_for,
    i8_partial_tile,
    i8_rows,
    i8_tile,
)
from ._gemm_i8_widening import block_pitch, fours, run_of, widen_block
from ._gemv_i8 import gemv_i8, gemv_panels
from ._requantize import QUICK, TERMS

ROWS, MATRIX_ROWS = 168, 160
"""Done at once, at most: multiples of what each processor's tiles have."""
_ROW = 4 * PANEL
_TABLE = 8 * BLOCK_ROWS
_PAIR = 2 * BLOCK_ROWS
_BYTE = Widths(("uint8",))
_tables = stack_buffer(TABLES * _TABLE)
_sums = stack_buffer(2 * _PAIR * _ROW)
_blocks = stack_buffer(BLOCK_BYTES)
_pixels = stack_buffer(3 * _TABLE)


@inline
def int8_epilogue(terms, rounding, zero_point, low, high, flip):
    """The epilogue to int8 of `finish`: its arguments `epilogue` and `to_float32`."""
    return (rounding, terms, zero_point, low, high, flip), None


@inline
def float32_epilogue(terms, row_scales, row_zeros, low, high):
    """The epilogue to float32."""
    to_zero = address(row_zeros) - address(row_scales)
    return (-1, terms, 0, 0, 0, 0), (to_zero, low, high)


@inline
def own_terms(epilogue, to_float32, column):
    """The address of the terms of the tile that begins at `column`."""
    block = column // CHANNEL_BLOCK
    size = 8 * TERMS if to_float32 is None else 4 * FLOAT32_TERMS
    return epilogue[1] + size * block + 4 * (column - CHANNEL_BLOCK * block)


@inline
def finish(epilogue, to_float32, sums, n_rows, headers, column, n, start, panel):
    """Turns the sums of `n_rows` rows into results.

    If they are those of a whole `panel`, not of a tile, they lack their zero-point correction. For
    float32 results of matrices there is none, as their weights have no zero point.
    """
    columns, own = n - column, own_terms(epilogue, to_float32, column)
    # numba compiles what follows from one type of `to_float32` only.
    if to_float32 is None:
        rounding, _, zero_point, low, high, flip = epilogue
        if panel:
            int8_of_products(sums, n_rows, headers, column, columns, own, rounding, zero_point, low,
                             high, flip)  # fmt: skip
        else:
            int8_of_sums(sums, n_rows, headers, column, columns, own, rounding, zero_point, low,
                         high, flip)  # fmt: skip
    else:
        to_zero, low_float32, high_float32 = to_float32
        if panel:
            float32_of_products(sums, n_rows, headers, 4 * column, columns, own, start, to_zero,
                                low_float32, high_float32)  # fmt: skip
        else:
            float32_of_sums(sums, n_rows, headers, 4 * column, columns, own, start, to_zero,
                            low_float32, high_float32)  # fmt: skip


@inline
def one_tile(
    part, tables, segments, depth, weights, ahead, raw, column, columns, epilogue, to_float32
):
    """The tile of the form `part`, or the partial one."""
    own = own_terms(epilogue, to_float32, column)
    zero_point, low, high, flip = epilogue[2:]
    if columns <= vector_width() < i8_columns():
        i8_partial_tile(tables, segments, depth, weights, ahead, raw, column, columns, own,
                        zero_point, low, high, flip)  # fmt: skip
    elif part == 0:
        i8_part_4(tables, segments, depth, weights, ahead, raw, column, columns, own, zero_point,
                  low, high, flip)  # fmt: skip
    elif part == 1:
        i8_part_7(tables, segments, depth, weights, ahead, raw, column, columns, own, zero_point,
                  low, high, flip)  # fmt: skip
    elif part == 2:
        i8_part_10(tables, segments, depth, weights, ahead, raw, column, columns, own, zero_point,
                   low, high, flip)  # fmt: skip
    else:
        i8_tile(tables, segments, depth, weights, ahead, raw, column, columns, own, zero_point, low,
                high, flip)  # fmt: skip


@inline
def tiles(tables, n_rows, segments, depth, panels, panel_bytes, n, column, end, epilogue,
          to_float32, sums):  # fmt: skip
    """All tiles of `n_rows` rows whose tables follow one another, for columns up to `end`."""
    height, width = i8_rows(), i8_columns()
    length = (panel_bytes - _ROW) // 2
    raw = 0 if epilogue[0] == QUICK else sums
    while column < end:
        panel = column // PANEL
        weights = panels + panel * panel_bytes + 4 * (column - panel * PANEL)
        coming = weights + panel_bytes if column + PANEL < end else weights
        row = 0
        at = tables
        while row < n_rows:
            count = min(height, n_rows - row)
            one_tile(i8_part_for(count), at, segments, depth, weights, coming, raw, column,
                     n - column, epilogue, to_float32)  # fmt: skip
            if raw:
                finish(epilogue, to_float32, sums, count, at, column, n, weights, False)
            if row <= height:
                coming += length
            if row == height:
                coming = weights
            at += (TILE_HEADERS + segments) * _TABLE
            row += height
        column += width


@inline
def matrix_tiles(tables, n_rows, blocks, pitch, steps, panels, panel_bytes, n, column, end,
                 epilogue, to_float32, sums):  # fmt: skip
    """What `tiles` does, for rows that lie in blocks, with the registers for matrices."""
    # Making results of one tile while the products of the next are added would take less time here,
    # but the processor then slows down, by about 9 %, for all that follows.
    while column < end:
        panel = panels + column // PANEL * panel_bytes
        row = 0
        while row < n_rows:
            at = tables + row // BLOCK_ROWS * TILE_HEADERS * _TABLE
            first = min(BLOCK_ROWS, n_rows - row)
            second = min(BLOCK_ROWS, n_rows - row - first)
            if second:
                matrix_tile(blocks + row * pitch, pitch, steps, panel, sums)
            else:
                matrix_half_tile(blocks + row * pitch, pitch, steps, panel, sums)
            finish(epilogue, to_float32, sums, first, at, column, n, panel, to_float32 is None)
            if second:
                at += TILE_HEADERS * _TABLE
                finish(epilogue, to_float32, sums + BLOCK_ROWS * _ROW, second, at,
                       column, n, panel, to_float32 is None)  # fmt: skip
            row += _PAIR
        column += PANEL


@inline
def gemv(tables, depth, panels, panel_bytes, n, column, end, epilogue, to_float32, sums):
    """What `tiles` does, for one row."""
    n_panels = gemv_panels()
    while column < end:
        panel = panels + column // PANEL * panel_bytes
        left = min(n_panels, (end - column + PANEL - 1) // PANEL)
        gemv_i8(tables, depth, panel, panel_bytes, (left - 1) * panel_bytes, sums)
        for i in range(left):
            finish(epilogue, to_float32, sums + i * _ROW, 1, tables, column, n, panel, True)
            column += PANEL
            panel += panel_bytes


@inline
def ready(headers, n_rows, segments, depth, weights_zero, matrices, pitch, block, sums):
    """Does what comes once for the rows of a tile; gives where the next tile's tables begin.

    `block` has the rows if `matrices` are to be multiplied, and gets them if there is a `pitch`.
    """
    if matrices:
        amx_corrections(headers, block, pitch, steps_of(segments, depth), weights_zero, sums)
        return headers + TILE_HEADERS * _TABLE
    corrections(headers, segments, depth, weights_zero, n_rows)
    if pitch:
        widen_block(headers, segments, depth, block, pitch, n_rows)
    return headers + (TILE_HEADERS + run_of(segments, depth)[0]) * _TABLE


@inline
def steps_of(segments, depth):
    """How many steps matrices are multiplied in."""
    return (fours(segments, depth) + AMX_DEPTH - 1) // AMX_DEPTH


@inline
def rows_at_once(most, tile, pitch):
    """How many rows, at most `most`, there are blocks for: whole tiles, or a part of one."""
    if not pitch:
        return most
    found = min(most, BLOCK_BYTES // pitch)
    return found // tile * tile if found > tile else found


@inline
def products(a, packed, a_of, b_of, out, row_scales, size, depth, pitch, weights_zero, rows,
             columns, epilogue, to_float32, first, last):  # fmt: skip
    """The items of a matrix product whose results have `size` bytes."""
    height, n, width = out.shape[1], out.shape[2], a.shape[2]
    panel_bytes = packed.shape[2] * _ROW
    blocks, shares = (height + rows - 1) // rows, (n + columns - 1) // columns
    tables, sums, block, tile = _tables(), _sums(), _blocks(), i8_rows()
    matrices = pitch * has_matrices()
    pitch = matrices if matrices else block_pitch(1, depth)
    most = rows_at_once(ROWS, tile, pitch)
    step = min(tile, most)
    if matrices:
        tile, step = BLOCK_ROWS, _PAIR if BLOCK_BYTES // pitch >= _PAIR else BLOCK_ROWS
        most = min(MATRIX_ROWS, BLOCK_BYTES // pitch // step * step)
        begin_matrices(sums)
    length = run_of(1, depth)[1]
    item = first
    while item < last:
        batch, share, n_shares, at, n_blocks = part_of(item, last, shares, blocks)
        item += n_shares * n_blocks
        column, row = share * columns, at * rows
        end, stop = min(column + n_shares * columns, n), min(row + n_blocks * rows, height)
        panels = address(packed) + b_of[batch] * packed.shape[1] * panel_bytes
        at_once = even(stop - row, most, step)
        while row < stop:
            count, number = min(at_once, stop - row), a_of[batch] * a.shape[1] + row
            begin, target = address(a) + number * width, batch * height + row
            in_place = matrices > 0 and matrices == width and count % BLOCK_ROWS == 0
            source = begin if in_place else block
            done, entry = 0, tables
            while done < count:
                some = min(tile, count - done)
                point(entry, address(out) + size * n * (target + done), size * n, some)
                if to_float32 is not None:
                    own = address(row_scales) + 4 * (number + done)
                    point(entry + 2 * _TABLE, own, 4, some)
                point(entry + TILE_HEADERS * _TABLE, begin + done * width, width, some)
                own_block = source + done * pitch
                if matrices and not in_place:
                    gather_block(entry, 1, depth, own_block, pitch)
                entry = ready(entry, some, 1, depth, weights_zero, matrices, pitch, own_block,
                              sums)  # fmt: skip
                done += tile
            if matrices:
                matrix_tiles(tables, count, source, pitch, steps_of(1, depth), panels,
                             panel_bytes, n, column, end, epilogue, to_float32, sums)  # fmt: skip
            elif height == 1 and gemv_panels():
                gemv(
                    tables, length, panels, panel_bytes, n, column, end, epilogue, to_float32, sums
                )
            else:
                tiles(tables, count, 1, length, panels, panel_bytes, n, column, end, epilogue,
                      to_float32, sums)  # fmt: skip
            row += count
    if matrices:
        end_matrices()


@kernel(
    "a:int8[*,m,*] packed:int8[*,panels,*,128] terms:int64[*,48] a_of:int32[batch] "
    "b_of:int32[batch] out:T[batch,m,n] depth:i pitch:i weights_zero:i rows:i columns:i "
    "rounding:i zero_point:i low:i high:i flip:i",
    T=_BYTE,
)
def matmul(
    a, packed, terms, a_of, b_of, out, depth, pitch, weights_zero, rows, columns, rounding,
    zero_point, low, high, flip, first, last, fault,
):  # fmt: skip
    """out[i] = a[a_of[i], :, :depth] @ (packed[b_of[i]] - weights_zero) as bytes.

    An item is `rows` rows times `columns` columns, a multiple of the panel.
    """
    epilogue, to_float32 = int8_epilogue(address(terms), rounding, zero_point, low, high, flip)
    products(a, packed, a_of, b_of, out, terms, 1, depth, pitch, weights_zero, rows, columns,
             epilogue, to_float32, first, last)  # fmt: skip


@kernel(
    "a:int8[*,m,*] packed:int8[*,panels,*,128] terms:float32[*,32] row_scales:float32[all] "
    "row_zeros:int32[all] a_of:int32[batch] b_of:int32[batch] out:float32[batch,m,n] depth:i "
    "pitch:i weights_zero:i rows:i columns:i low:float32 high:float32"
)
def matmul_float32(
    a, packed, terms, row_scales, row_zeros, a_of, b_of, out, depth, pitch, weights_zero, rows,
    columns, low, high, first, last, fault,
):  # fmt: skip
    """As `matmul`, with a scale and a zero point for each row of all matrices `a`."""
    epilogue, to_float32 = float32_epilogue(address(terms), row_scales, row_zeros, low, high)
    products(a, packed, a_of, b_of, out, row_scales, 4, depth, pitch, weights_zero, rows, columns,
             epilogue, to_float32, first, last)  # fmt: skip


@inline
def windows(x, packed, row_scales, nothing, geometry, out, size, taps_h, taps_w, n, pixels, columns,
            pitch, weights_zero, group_bytes, epilogue, to_float32, first, last):  # fmt: skip
    """The items of a convolution whose results have `size` bytes."""
    depth, segments = nothing.size, taps_h * taps_w
    total = x.shape[0] * geometry[0, 0] * geometry[0, 1]
    panel_bytes = packed.shape[2] * _ROW
    blocks, shares = (total + pixels - 1) // pixels, (n + columns - 1) // columns
    tables, sums, block, starts, tile = _tables(), _sums(), _blocks(), _pixels(), i8_rows()
    matrices = pitch * has_matrices()
    pitch = matrices if matrices else block_pitch(segments, depth)
    most = min(ROWS, max(1, TABLES // (TILE_HEADERS + segments)) * tile)
    most = rows_at_once(most, tile, pitch)
    step = min(tile, most)
    runs, length = run_of(segments, depth)
    if matrices:
        tile = BLOCK_ROWS
        room_for = min(BLOCK_BYTES // pitch, (TABLES - segments) // TILE_HEADERS * tile)
        step = _PAIR if room_for >= _PAIR else BLOCK_ROWS
        most = min(MATRIX_ROWS, room_for // step * step)
        begin_matrices(sums)
    item = first
    while item < last:
        group, share, n_shares, at, n_blocks = part_of(item, last, shares, blocks)
        item += n_shares * n_blocks
        column, pixel = share * columns, at * pixels
        limit, end = min(column + n_shares * columns, n), min(pixel + n_blocks * pixels, total)
        panels = address(packed) + group * packed.shape[1] * panel_bytes
        own = (epilogue[0], epilogue[1] + group * group_bytes, *epilogue[2:])
        at_once = even(end - pixel, most, step)
        while pixel < end:
            count, row, entry = min(at_once, end - pixel), 0, tables
            while row < count:
                point_pixels(starts, entry, x, out, pixel + row, pixel + count, tile,
                             group * depth, group * n, geometry, 1, size)  # fmt: skip
                if to_float32 is not None:
                    point(entry + 2 * _TABLE, address(row_scales), 0, tile)
                at = entry + TILE_HEADERS * _TABLE
                for i in range(taps_h):
                    for j in range(taps_w):
                        down, right = i * geometry[2, 0], j * geometry[2, 1]
                        offset = (down * x.shape[2] + right) * x.shape[3]
                        point_tap(at, starts, offset, down, right, x.shape[1], x.shape[2],
                                  address(nothing))  # fmt: skip
                        at += _TABLE
                own_block = block + row * pitch
                if matrices:
                    gather_block(entry, segments, depth, own_block, pitch)
                entry = ready(entry, min(tile, count - row), segments, depth, weights_zero,
                              matrices, pitch, own_block, sums)  # fmt: skip
                row += tile
            if matrices:
                matrix_tiles(tables, count, block, pitch, steps_of(segments, depth), panels,
                             panel_bytes, n, column, limit, own, to_float32, sums)  # fmt: skip
            else:
                tiles(tables, count, runs, length, panels, panel_bytes, n, column, limit, own,
                      to_float32, sums)  # fmt: skip
            pixel += count
    if matrices:
        end_matrices()


@kernel(
    "x:int8[batch,*,*,*] packed:int8[groups,panels,*,128] terms:int64[groups,*,48] "
    "nothing:int8[depth] geometry:int64[6,2] out:T[batch,*,*,*] taps_h:i taps_w:i n:i pixels:i "
    "columns:i pitch:i weights_zero:i rounding:i zero_point:i low:i high:i flip:i",
    T=_BYTE,
)
def convolution(
    x, packed, terms, nothing, geometry, out, taps_h, taps_w, n, pixels, columns, pitch,
    weights_zero, rounding, zero_point, low, high, flip, first, last, fault,
):  # fmt: skip
    """out = sum of input * (weights - weights_zero) under the filter, as bytes.

    `geometry` is as in gemm_f32.convolution, `nothing` what counts as zero. An item is `pixels`
    results times `columns` of the channels, a multiple of the panel.
    """
    epilogue, to_float32 = int8_epilogue(address(terms), rounding, zero_point, low, high, flip)
    group_bytes = terms.shape[1] * 8 * TERMS
    windows(x, packed, terms, nothing, geometry, out, 1, taps_h, taps_w, n, pixels, columns, pitch,
            weights_zero, group_bytes, epilogue, to_float32, first, last)  # fmt: skip


@kernel(
    "x:int8[1,*,*,*] packed:int8[groups,panels,*,128] terms:float32[groups,*,32] "
    "scale:float32[1] zero:int32[1] nothing:int8[depth] geometry:int64[6,2] "
    "out:float32[1,*,*,*] taps_h:i taps_w:i n:i pixels:i columns:i pitch:i weights_zero:i "
    "low:float32 high:float32"
)
def convolution_float32(
    x, packed, terms, scale, zero, nothing, geometry, out, taps_h, taps_w, n, pixels, columns,
    pitch, weights_zero, low, high, first, last, fault,
):  # fmt: skip
    """As `convolution`, of one image with a scale and a zero point."""
    epilogue, to_float32 = float32_epilogue(address(terms), scale, zero, low, high)
    group_bytes = terms.shape[1] * 4 * FLOAT32_TERMS
    windows(x, packed, scale, nothing, geometry, out, 4, taps_h, taps_w, n, pixels, columns, pitch,
            weights_zero, group_bytes, epilogue, to_float32, first, last)  # fmt: skip


@kernel(
    "weights:T[batch,n,k] bias:int32[*,n] out:T[batch,panels,*,128] segments:i flip:i "
    "zero_point:i x_zero:i matrices:i",
    T=_BYTE,
)
def pack(weights, bias, out, segments, flip, zero_point, x_zero, matrices, first, last, fault):
    """Packs matrices whose columns are contiguous, cut in `segments`. An item is a panel.

    Sums start from bias - x_zero * sum of (weights - zero_point). `matrices` says whether they
    are for matrices where these can be multiplied. Here, as all that uses the panels must be made
    for the same processor.
    """
    pack_panels(weights, bias, out, segments, flip, zero_point, x_zero, matrices, first, last)
