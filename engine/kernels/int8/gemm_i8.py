"""Matrix products and convolutions of signed bytes with packed weights (_gemm_i8_tile.py).

As gemm_f32.py in all but the numbers. Results are bytes, made as `rounding` says (_requantize.py),
or float32 where inputs were float32 that was rounded to int8: each row of a matrix, or an image.

`weights_zero` is subtracted from the weights. `pitch` is not 0 if AMX is to be used where there is
any (_gemm_i8_amx.py): the bytes between rows of its inputs. `n_vectors` is not 0 if narrow tiles
are to be used where there are any (_gemm_i8_narrow.py): the vectors of their columns. `item_size`
is the rows or pixels of an item and its columns or channels, a multiple of the panel.
"""

from numba import int64

from ...build.declaration import Widths
from ...build.kernel import address, choose, inline, kernel, stack_buffer
from ...records import COUNTS, DILATION, HEIGHT, WIDTH, Int8Epilogue, Int8Packing, ItemSize
from ...tiling import AMX_DEPTH, BLOCK_BYTES, BLOCK_ROWS, PANEL, TABLES, TILE_HEADERS
from .._items import Panels, even_rows, part_of
from .._pixels import in_tuples, point_pixels
from ..float32._gemm_f32_tile import point, point_shifted, point_tap, vector_width
from ._gemm_i8_amx import (
    amx_corrections,
    begin_amx,
    end_amx,
    gather_block,
    has_amx,
    i8_amx_half_tile,
    i8_amx_tile,
)
from ._gemm_i8_block import (
    as_block,
    as_segments,
    block_item_bytes,
    block_pitch,
    flat_pitch,
    gather_rows,
    padded_depth,
)
from ._gemm_i8_epilogue import FLOAT32_TERMS
from ._gemm_i8_float32_tile import float32_tile, has_float32_tiles
from ._gemm_i8_narrow import has_narrow, i8_narrow_tile, narrow_rows
from ._gemm_i8_packing import pack as pack_panels
from ._gemm_i8_results import finish, float32_epilogue, terms_of_tile
from ._gemm_i8_tile import (
    corrections,
    i8_columns,
    i8_group,
    i8_part_4,
    i8_part_7,
    i8_part_10,
    i8_part_for,
    i8_partial_tile,
    i8_rows,
    i8_tile,
    input_offset,
)
from ._gemv_i8 import gemv_i8, gemv_panels
from ._padding import pad_rows
from ._requantize import TERMS
from ._row_numbers import int8_of

ROWS, AMX_ROWS = 168, 160
"""Done at once, at most: multiples of what each processor's tiles have."""
_ROW = 4 * PANEL
_TILE = BLOCK_ROWS * _ROW
_TABLE = 8 * BLOCK_ROWS
_PAIR = 2 * BLOCK_ROWS
_BYTE = Widths(("uint8",))
_tile = choose(i8_part_4, i8_part_7, i8_part_10, i8_tile, i8_partial_tile)
_PARTIAL = 4
_tables = stack_buffer(TABLES * _TABLE)
_sums = stack_buffer(2 * _PAIR * _ROW)
_blocks = stack_buffer(BLOCK_BYTES + 64)
_pixels = stack_buffer(3 * _TABLE)


@inline
def run_tile(part, tables, segments, depth, weights, ahead, columns, sums):
    """The tile of the form `part`, or the partial one."""
    if columns <= vector_width() < i8_columns():
        part = _PARTIAL
    _tile(part, tables, segments, depth, weights, ahead, sums)


@inline
def makes_float32(n_rows, columns, to_float32):
    """Whether tiles of `n_rows` rows and so many columns store float32 results."""
    if to_float32 is None:
        return False
    return to_float32.in_tile and n_rows == i8_rows() and columns % vector_width() == 0


@inline
def run_float32_tile(
    tables, segments, depth, weights, ahead, column, columns, terms, to_float32
):  # fmt: skip
    """The tile that stores float32 results, or the partial one."""
    if to_float32 is not None:
        to_zero, low, high, _ = to_float32
        float32_tile(int64(columns < i8_columns()), tables, segments, depth, weights, ahead,
                     4 * column, terms_of_tile(terms, to_float32, column), to_zero,
                     1 + input_offset(), low, high)  # fmt: skip


@inline
def finish_tile(tile, panels, terms, epilogue, to_float32):
    """`finish` for a tile: where its sums lie, its rows, their tables, its column and its panel."""
    sums, n_rows, at, column, weights = tile
    if n_rows:
        finish(sums, n_rows, at, column, panels.n, weights, False, input_offset(), terms, epilogue,
               to_float32)  # fmt: skip


# A tile's sums become results after those of the next tile have been added up: instructions for
# both are then under way at once, as none waits for the last product.


@inline
def tiles(tables, n_rows, segments, depth, panels, column, end, terms, epilogue, to_float32, sums):
    """All tiles of `n_rows` rows whose tables follow one another, for columns up to `end`."""
    height, width, group = i8_rows(), i8_columns(), i8_group()
    panel_length = (panels.pitch - _ROW) // 2
    last, other = (sums, 0, tables, column, panels.start), sums + _TILE
    while column < end:
        panel = column // PANEL
        weights = panels.start + panel * panels.pitch + 4 * (column - panel * PANEL)
        next_weights = weights + panels.pitch if column + PANEL < end else weights
        row = 0
        at = tables
        while row < n_rows:
            count, within = min(height, n_rows - row), 0
            part, ahead = i8_part_for(count), next_weights
            columns = min(group, panels.n - column)
            is_finished = makes_float32(count, columns, to_float32)
            while within < columns:
                if is_finished:
                    run_float32_tile(at, segments, depth, weights + 4 * within, ahead,
                                     column + within, columns - within, terms,
                                     to_float32)  # fmt: skip
                else:
                    run_tile(part, at, segments, depth, weights + 4 * within, ahead,
                             panels.n - column - within, other + 4 * within)  # fmt: skip
                within += width
                ahead += panel_length
            if not is_finished:
                finish_tile(last, panels, terms, epilogue, to_float32)
                last, other = (other, count, at, column, weights), last[0]
            if row <= height:
                next_weights += panel_length
            if row == height:
                next_weights = weights
            at += (TILE_HEADERS + segments) * _TABLE
            row += height
        column += group
    finish_tile(last, panels, terms, epilogue, to_float32)


@inline
def narrow_tiles(tables, n_rows, segments, depth, panels, n_vectors, flip, terms, epilogue,
                 to_float32, sums):  # fmt: skip
    """What `tiles` does, for a panel of `n_vectors`; `flip` turns bits of the inputs over."""
    row, height, at = 0, narrow_rows(n_vectors), tables
    last, other = (sums, 0, tables, 0, panels.start), sums + _TILE
    while row < n_rows:
        i8_narrow_tile(n_vectors - 1, at, segments, depth, panels.start, flip, other)
        finish_tile(last, panels, terms, epilogue, to_float32)
        last, other = (other, min(height, n_rows - row), at, 0, panels.start), last[0]
        at += (TILE_HEADERS + segments) * _TABLE
        row += height
    finish_tile(last, panels, terms, epilogue, to_float32)


@inline
def amx_tiles(tables, n_rows, blocks, pitch, steps, panels, column, end, terms, epilogue,
              to_float32, sums):  # fmt: skip
    """What `tiles` does, for rows that lie in blocks, by AMX."""
    # Making results of one tile while the products of the next are added would take less time here,
    # but the processor then slows down, by about 9 %, for all that follows.
    while column < end:
        panel = panels.start + column // PANEL * panels.pitch
        row = 0
        while row < n_rows:
            at = tables + row // BLOCK_ROWS * TILE_HEADERS * _TABLE
            first = min(BLOCK_ROWS, n_rows - row)
            second = min(BLOCK_ROWS, n_rows - row - first)
            if second:
                i8_amx_tile(blocks + row * pitch, pitch, steps, panel, sums)
            else:
                i8_amx_half_tile(blocks + row * pitch, pitch, steps, panel, sums)
            finish(sums, first, at, column, panels.n, panel, to_float32 is None, 0, terms,
                   epilogue, to_float32)  # fmt: skip
            if second:
                at += TILE_HEADERS * _TABLE
                finish(sums + BLOCK_ROWS * _ROW, second, at, column, panels.n, panel,
                       to_float32 is None, 0, terms, epilogue, to_float32)  # fmt: skip
            row += _PAIR
        column += PANEL


@inline
def gemv(tables, depth, panels, column, end, terms, epilogue, to_float32, sums):
    """What `tiles` does, for one row."""
    max_panels = gemv_panels()
    while column < end:
        panel = panels.start + column // PANEL * panels.pitch
        n_panels = min(max_panels, (end - column + PANEL - 1) // PANEL)
        gemv_i8(tables, depth, panel, panels.pitch, (n_panels - 1) * panels.pitch, sums)
        for i in range(n_panels):
            finish(sums + i * _ROW, 1, tables, column, panels.n, panel, True, input_offset(),
                   terms, epilogue, to_float32)  # fmt: skip
            column += PANEL
            panel += panels.pitch


@inline
def prepare_tile(
    headers, n_rows, segments, depth, n_segments, weights_zero, for_amx, pitch, block, sums
):
    """Does what comes once for the rows of a tile; gives where the next tile's tables begin.

    The tile reads `n_segments`.

    `block` has the rows if they are `for_amx`, and gets them if there is a `pitch`.
    """
    if for_amx:
        amx_corrections(headers, block, pitch, amx_steps(segments, depth), weights_zero, sums)
        return headers + TILE_HEADERS * _TABLE
    if weights_zero:
        corrections(headers, segments, depth, weights_zero, n_rows)
    else:
        point(headers + _TABLE, 0, 0, n_rows)
    if pitch:
        gather_rows(headers, segments, depth, block, pitch, n_rows)
    return headers + (TILE_HEADERS + n_segments) * _TABLE


@inline
def tile_rows(n_vectors):
    """How many rows a tile has; a narrow one if there are `n_vectors`."""
    return narrow_rows(n_vectors) if n_vectors else i8_rows()


@inline
def amx_steps(segments, depth):
    """How many steps AMX takes to multiply a row."""
    return (padded_depth(segments, depth) + AMX_DEPTH - 1) // AMX_DEPTH


@inline
def rows_in_blocks(max_rows, tile, pitch):
    """How many rows, at most `max_rows`, there are blocks for: whole tiles, or a part of one."""
    if not pitch:
        return max_rows
    n_rows = min(max_rows, BLOCK_BYTES // pitch)
    return n_rows // tile * tile if n_rows > tile else n_rows


@inline
def products(a, packed, a_of, b_of, out, row_scales, size, depth, packing, item_size, terms,
             epilogue, to_float32, first, last):  # fmt: skip
    """The items of a matrix product whose results have `size` bytes."""
    pitch, n_vectors, weights_zero = packing
    rows, columns = item_size
    height, n, width = out.shape[1], out.shape[2], a.shape[2]
    panel_bytes = packed.shape[2] * _ROW
    blocks, shares = (height + rows - 1) // rows, (n + columns - 1) // columns
    n_vectors *= has_narrow()
    tables, sums, block, tile = _tables(), _sums(), _blocks(), tile_rows(n_vectors)
    amx_pitch = pitch * has_amx()
    pitch = amx_pitch if amx_pitch else block_pitch(1, depth, n_vectors)
    flat = 0 if amx_pitch else flat_pitch(depth, width, pitch)
    pitch, gathered_pitch = flat if flat else pitch, 0 if flat else pitch
    max_rows = rows_in_blocks(ROWS // tile * tile, tile, pitch)
    step = min(tile, max_rows)
    if amx_pitch:
        tile, step = BLOCK_ROWS, _PAIR if BLOCK_BYTES // pitch >= _PAIR else BLOCK_ROWS
        max_rows = min(AMX_ROWS, BLOCK_BYTES // pitch // step * step)
        begin_amx(sums)
    n_segments, length = as_segments(1, depth, n_vectors)
    item = first
    while item < last:
        batch, share, n_shares, at, n_blocks = part_of(item, last, shares, blocks)
        item += n_shares * n_blocks
        column, row = share * columns, at * rows
        end, stop = min(column + n_shares * columns, n), min(row + n_blocks * rows, height)
        start = address(packed) + b_of[batch] * packed.shape[1] * panel_bytes
        panels = Panels(start, panel_bytes, n)
        at_once = even_rows(stop - row, max_rows, step)
        while row < stop:
            count, number = min(at_once, stop - row), a_of[batch] * a.shape[1] + row
            begin, target = address(a) + number * width, batch * height + row
            in_place = amx_pitch > 0 and amx_pitch == width and count % BLOCK_ROWS == 0
            source = begin if in_place else block
            if flat:
                as_block(begin, block, count * depth)
            tile_row, entry = 0, tables
            while tile_row < count:
                n_rows = min(tile, count - tile_row)
                point(entry, address(out) + size * n * (target + tile_row), size * n, n_rows)
                if to_float32 is not None:
                    # One scale for each row, or for all rows of a matrix.
                    per_row = int64(row_scales.size > a.shape[0])
                    scale = per_row * (number + tile_row) + (1 - per_row) * a_of[batch]
                    point(entry + 2 * _TABLE, address(row_scales) + 4 * scale, 4 * per_row, n_rows)
                point(entry + TILE_HEADERS * _TABLE, begin + tile_row * width, width, n_rows)
                tile_block = source + tile_row * pitch
                if amx_pitch and not in_place:
                    gather_block(entry, 1, depth, tile_block, pitch)
                table = entry + TILE_HEADERS * _TABLE
                entry = prepare_tile(entry, n_rows, 1, depth, n_segments, weights_zero, amx_pitch,
                                     gathered_pitch, tile_block, sums)  # fmt: skip
                if flat:
                    point(table, tile_block, flat, n_rows)
                tile_row += tile
            if amx_pitch:
                amx_tiles(tables, count, source, pitch, amx_steps(1, depth), panels, column, end,
                          terms, epilogue, to_float32, sums)  # fmt: skip
            elif n_vectors:
                narrow_tiles(tables, count, 1, depth, panels, n_vectors, input_offset(), terms,
                             epilogue, to_float32, sums)  # fmt: skip
            elif height == 1:
                gemv(tables, length, panels, column, end, terms, epilogue, to_float32, sums)
            else:
                tiles(tables, count, 1, length, panels, column, end, terms, epilogue, to_float32,
                      sums)  # fmt: skip
            row += count
    if amx_pitch:
        end_amx()


@kernel(
    "a:int8[*,m,*] packed:int8[*,panels,*,128] terms:int64[*,48] a_of:int32[batch] "
    "b_of:int32[batch] out:T[batch,m,n] depth:i packing:Int8Packing item_size:ItemSize "
    "epilogue:Int8Epilogue",
    T=_BYTE,
    Int8Packing=Int8Packing,
    ItemSize=ItemSize,
    Int8Epilogue=Int8Epilogue,
)
def matmul(
    a, packed, terms, a_of, b_of, out, depth, packing, item_size, epilogue, first, last, fault,
):  # fmt: skip
    """out[i] = a[a_of[i], :, :depth] @ (packed[b_of[i]] - packing.zero_point) as bytes."""
    products(a, packed, a_of, b_of, out, terms, 1, depth, packing, item_size, address(terms),
             epilogue, None, first, last)  # fmt: skip


@kernel(
    "a:int8[*,m,*] packed:int8[*,panels,*,128] terms:float32[*,32] row_scales:float32[all] "
    "row_zeros:int32[all] a_of:int32[batch] b_of:int32[batch] out:float32[batch,m,n] depth:i "
    "packing:Int8Packing item_size:ItemSize low:float32 high:float32",
    Int8Packing=Int8Packing,
    ItemSize=ItemSize,
)
def matmul_float32(
    a, packed, terms, row_scales, row_zeros, a_of, b_of, out, depth, packing, item_size, low, high,
    first, last, fault,
):  # fmt: skip
    """As `matmul`, with a scale and a zero point for each row of `a`, or for each matrix."""
    has_one_scale = row_scales.size <= a.shape[0] and packing.zero_point == 0
    in_tile = has_float32_tiles() * int64(has_one_scale)
    epilogue, to_float32 = float32_epilogue(row_scales, row_zeros, low, high, in_tile)
    products(a, packed, a_of, b_of, out, row_scales, 4, depth, packing, item_size, address(terms),
             epilogue, to_float32, first, last)  # fmt: skip


@inline
def windows(x, packed, row_scales, padding, geometry, out, size, taps_h, taps_w, n, item_size,
            in_place, packing, terms, group_bytes, epilogue, to_float32, first, last):  # fmt: skip
    """The items of a convolution whose results have `size` bytes.

    The `terms` of a group take `group_bytes`. `in_place` says that x is a copy by `pad`, which
    tiles read where it lies if they read bytes.
    """
    pitch, n_vectors, weights_zero = packing
    pixels, columns = item_size
    depth, segments = padding.size, taps_h * taps_w
    sliding = in_tuples(geometry)
    total = x.shape[0] * sliding[COUNTS][HEIGHT] * sliding[COUNTS][WIDTH]
    panel_bytes = packed.shape[2] * _ROW
    blocks, shares = (total + pixels - 1) // pixels, (n + columns - 1) // columns
    n_vectors *= has_narrow()
    tables, sums, block, starts, tile = (
        _tables(),
        _sums(),
        _blocks(),
        _pixels(),
        tile_rows(n_vectors),
    )
    amx_pitch = pitch * has_amx()
    n_segments, length = as_segments(segments, depth, n_vectors)
    pitch = amx_pitch if amx_pitch else block_pitch(segments, depth, n_vectors)
    if in_place and block_item_bytes() < 2:
        n_segments, length, pitch = segments, depth, 0
    input_flip = 0 if in_place else input_offset()
    max_rows = min(ROWS // tile, max(1, TABLES // (TILE_HEADERS + segments))) * tile
    max_rows = rows_in_blocks(max_rows, tile, pitch)
    step = min(tile, max_rows)
    if amx_pitch:
        tile = BLOCK_ROWS
        n_rows = min(BLOCK_BYTES // pitch, (TABLES - segments) // TILE_HEADERS * tile)
        step = _PAIR if n_rows >= _PAIR else BLOCK_ROWS
        max_rows = min(AMX_ROWS, n_rows // step * step)
        begin_amx(sums)
    item = first
    while item < last:
        group, share, n_shares, at, n_blocks = part_of(item, last, shares, blocks)
        item += n_shares * n_blocks
        column, pixel = share * columns, at * pixels
        limit, end = min(column + n_shares * columns, n), min(pixel + n_blocks * pixels, total)
        panels = Panels(address(packed) + group * packed.shape[1] * panel_bytes, panel_bytes, n)
        group_terms = terms + group * group_bytes
        at_once = even_rows(end - pixel, max_rows, step)
        while pixel < end:
            count, row, entry = min(at_once, end - pixel), 0, tables
            while row < count:
                point_pixels(starts, entry, x, out, pixel + row, pixel + count, tile,
                             group * depth, group * n, sliding, 1, size, in_place)  # fmt: skip
                if to_float32 is not None:
                    point(entry + 2 * _TABLE, address(row_scales), 0, tile)
                at = entry + TILE_HEADERS * _TABLE
                for i in range(taps_h):
                    for j in range(taps_w):
                        down = i * sliding[DILATION][HEIGHT]
                        right = j * sliding[DILATION][WIDTH]
                        offset = (down * x.shape[2] + right) * x.shape[3]
                        if in_place:
                            point_shifted(at, starts, offset)
                        else:
                            point_tap(at, starts, offset, down, right, x.shape[1], x.shape[2],
                                      address(padding))  # fmt: skip
                        at += _TABLE
                tile_block = block + row * pitch
                if amx_pitch:
                    gather_block(entry, segments, depth, tile_block, pitch)
                entry = prepare_tile(entry, min(tile, count - row), segments, depth, n_segments,
                                     weights_zero, amx_pitch, pitch, tile_block,
                                     sums)  # fmt: skip
                row += tile
            if amx_pitch:
                amx_tiles(tables, count, block, pitch, amx_steps(segments, depth), panels, column,
                          limit, group_terms, epilogue, to_float32, sums)  # fmt: skip
            elif n_vectors:
                narrow_tiles(tables, count, segments, depth, panels, n_vectors, input_flip,
                             group_terms, epilogue, to_float32, sums)  # fmt: skip
            else:
                tiles(tables, count, n_segments, length, panels, column, limit, group_terms,
                      epilogue, to_float32, sums)  # fmt: skip
            pixel += count
    if amx_pitch:
        end_amx()


@kernel(
    "x:int8[batch,*,*,*] packed:int8[groups,panels,*,128] terms:int64[groups,*,48] "
    "padding:int8[depth] geometry:int64[6,2] out:T[batch,*,*,*] taps_h:i taps_w:i n:i "
    "item_size:ItemSize in_place:i packing:Int8Packing epilogue:Int8Epilogue",
    T=_BYTE,
    Int8Packing=Int8Packing,
    ItemSize=ItemSize,
    Int8Epilogue=Int8Epilogue,
)
def convolution(
    x, packed, terms, padding, geometry, out, taps_h, taps_w, n, item_size, in_place, packing,
    epilogue, first, last, fault,
):  # fmt: skip
    """out = sum of input * (weights - packing.zero_point) under the filter, as bytes.

    `geometry` is as in gemm_f32.convolution, `padding` what counts as zero. With `in_place`, x is a
    copy by `pad`, pitch and zero point are 0.
    """
    windows(x, packed, terms, padding, geometry, out, 1, taps_h, taps_w, n, item_size, in_place,
            packing, address(terms), terms.shape[1] * 8 * TERMS, epilogue, None, first,
            last)  # fmt: skip


@kernel(
    "x:int8[1,*,*,*] packed:int8[groups,panels,*,128] terms:float32[groups,*,32] "
    "scale:float32[1] zero:int32[1] padding:int8[depth] geometry:int64[6,2] "
    "out:float32[1,*,*,*] taps_h:i taps_w:i n:i item_size:ItemSize in_place:i "
    "packing:Int8Packing low:float32 high:float32",
    Int8Packing=Int8Packing,
    ItemSize=ItemSize,
)
def convolution_float32(
    x, packed, terms, scale, zero, padding, geometry, out, taps_h, taps_w, n, item_size, in_place,
    packing, low, high, first, last, fault,
):  # fmt: skip
    """As `convolution`, of one image with a scale and a zero point."""
    in_tile = has_float32_tiles() * int64(packing.zero_point == 0)
    epilogue, to_float32 = float32_epilogue(scale, zero, low, high, in_tile)
    windows(x, packed, scale, padding, geometry, out, 4, taps_h, taps_w, n, item_size, in_place,
            packing, address(terms), terms.shape[1] * 4 * FLOAT32_TERMS, epilogue, to_float32,
            first, last)  # fmt: skip


@kernel("x:int8[batch,*,*] out:int8[batch,*,*] top:i left:i zero:i")
def pad(x, out, top, left, zero, first, last, fault):
    """gemm_i8_input.pad, with what it gives as tiles read bytes."""
    pad_rows(x, out, top, left, zero, input_offset(), first, last)


@kernel(
    "x:float32[1,*,*] inverse:float32[1] zero:int32[1] out:int8[1,*,*] top:i left:i asymmetric:i"
)
def pad_rounded(x, inverse, zero, out, top, left, asymmetric, first, last, fault):
    """`pad` of an image that is quantized, as quantize_rows.rounded does it, with its numbers."""
    flip, point = input_offset(), int64(zero[0])
    for row in range(first, last):
        target, y, begin, end = out[0, row], row - top, left, left + x.shape[2]
        if y < 0 or y >= x.shape[1]:
            begin = end = 0
        for j in range(begin):
            target[j] = point ^ flip
        if end > begin:
            source, middle = address(x[0, y]), address(target) + begin
            if asymmetric:
                int8_of(source, middle, end - begin, inverse[0], point, -128, flip)
            else:
                int8_of(source, middle, end - begin, inverse[0], point, -127, flip)
        for j in range(end, target.size):
            target[j] = point ^ flip


@kernel(
    "weights:T[batch,n,k] bias:int32[*,n] out:T[batch,panels,*,128] segments:i flip:i "
    "zero_point:i x_zero:i for_amx:i n_vectors:i to_float32:i",
    T=_BYTE,
)
def pack(
    weights, bias, out, segments, flip, zero_point, x_zero, for_amx, n_vectors, to_float32, first,
    last, fault,
):  # fmt: skip
    """Packs matrices whose columns are contiguous, cut in `segments`. An item is a panel.

    Sums start from bias - x_zero * sum of (weights - zero_point). `for_amx` and `n_vectors` say
    whether they are for AMX or narrow tiles where there are any, `to_float32` whether results are
    float32. Here, as all that uses the panels must be made for the same processor.
    """
    pack_panels(weights, bias, out, segments, flip, zero_point, x_zero, for_amx, n_vectors,
                to_float32, first, last)  # fmt: skip
