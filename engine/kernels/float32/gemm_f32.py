"""Matrix products and convolutions with packed weights, a tile (_gemm_f32_tile.py) at a time.

An item is a few rows of the result, or pixels, times some panels (_items.py). Sums run over the
products in order, at most CHAIN at a time in float32, and a result does not depend on the tile it
is computed in. The weights of a convolution are packed with the taps of the filter one after the
other.
"""

from ...build.kernel import address, choose, inline, kernel, stack_buffer
from ...records import COUNTS, DILATION, HEIGHT, WIDTH, ItemSize
from ...tiling import BLOCK_ROWS, PANEL, TABLES
from .._items import Panels, even_rows, part_of
from .._pixels import tile_point_pixels
from ._gemm_f32_tile import (
    CHAIN,
    narrow_rows,
    narrow_tile,
    part_4,
    part_7,
    part_10,
    part_for,
    partial_tile,
    tile,
    tile_columns,
    tile_point,
    tile_point_tap,
    tile_rows,
    vector_width,
)  # fmt: skip
from ._panels import pack_columns, pack_rows

ROWS = 168
"""Done at once, at most: a multiple of what each processor's tile has."""
_ROW = 4 * PANEL
_TABLE = 8 * BLOCK_ROWS
_tile = choose(part_4, part_7, part_10, tile, partial_tile, narrow_tile)
_PARTIAL, _NARROW = 4, 5
_tables = stack_buffer(TABLES * _TABLE)
_sums = stack_buffer(BLOCK_ROWS * _ROW)
_pixels = stack_buffer(3 * _TABLE)


@inline
def rows_for(n):
    """Rows of the tiles of a product with `n` columns."""
    return narrow_rows() if n <= vector_width() else tile_rows()


@inline
def tiles(tables, n_rows, segments, depth, panels, column, end, low, high, sums):
    """All tiles of `n_rows` rows for columns up to `end`.

    The tables of a tile, the results' first, then the inputs', follow those of another.
    """
    height, width = rows_for(panels.n), tile_columns()
    partial = _NARROW if panels.n <= vector_width() else _PARTIAL
    n_chains = (depth + CHAIN - 1) // CHAIN
    chain, per_chain = (depth + n_chains - 1) // n_chains, max(1, CHAIN // depth)
    tile_bytes = 4 * segments * depth * width
    while column < end:
        panel = column // PANEL
        start, within = panels.start + panel * panels.pitch, column - panel * PANEL
        bias, weights = start + 4 * within, start + _ROW + within // width * tile_bytes
        next_weights = weights + tile_bytes if column + width < panels.n else weights
        columns = panels.n - column
        row = 0
        at = tables
        while row < n_rows:
            part = partial if columns <= vector_width() else part_for(n_rows - row)
            _tile(part, at + _TABLE, segments, depth, chain, per_chain, bias, weights, at,
                  4 * column, columns, sums, low, high, next_weights)  # fmt: skip
            if row <= height:
                next_weights += tile_bytes // 2
            if row == height:
                next_weights = weights
            at += (1 + segments) * _TABLE
            row += height
        column += width


@kernel(
    "a:float32[*,m,*] packed:float32[*,panels,*,32] a_of:int32[batch] b_of:int32[batch] "
    "out:float32[batch,m,n] depth:i item_size:ItemSize low:float32 high:float32",
    ItemSize=ItemSize,
)
def matmul(a, packed, a_of, b_of, out, depth, item_size, low, high, first, last, fault):
    """out[i] = clamp(a[a_of[i], :, :depth] @ b[b_of[i]] + bias), with b and bias packed.

    The columns of an item are a multiple of the panel.
    """
    rows, columns = item_size
    height, n, pitch = out.shape[1], out.shape[2], 4 * a.shape[2]
    panel_bytes = packed.shape[2] * _ROW
    blocks, shares = (height + rows - 1) // rows, (n + columns - 1) // columns
    tables, sums, tile = _tables(), _sums(), rows_for(n)
    item = first
    while item < last:
        batch, share, n_shares, block, n_blocks = part_of(item, last, shares, blocks)
        item += n_shares * n_blocks
        column, row = share * columns, block * rows
        end, stop = min(column + n_shares * columns, n), min(row + n_blocks * rows, height)
        begin = address(a) + a_of[batch] * a.shape[1] * pitch
        target = address(out) + 4 * n * batch * height
        start = address(packed) + b_of[batch] * packed.shape[1] * panel_bytes
        panels = Panels(start, panel_bytes, n)
        at_once = even_rows(stop - row, ROWS, tile)
        while row < stop:
            limit, tile_row, entry = min(row + at_once, stop), row, tables
            while tile_row < limit:
                count = min(tile, limit - tile_row)
                tile_point(entry, target + tile_row * 4 * n, 4 * n, count)
                tile_point(entry + _TABLE, begin + tile_row * pitch, pitch, count)
                tile_row += tile
                entry += 2 * _TABLE
            tiles(tables, limit - row, 1, depth, panels, column, end, low, high, sums)
            row = limit


@kernel(
    "x:float32[batch,*,*,*] packed:float32[groups,panels,*,32] zeros:float32[depth] "
    "geometry:int64[6,2] out:float32[batch,*,*,*] taps_h:i taps_w:i n:i item_size:ItemSize "
    "low:float32 high:float32",
    ItemSize=ItemSize,
)
def convolution(
    x, packed, zeros, geometry, out, taps_h, taps_w, n, item_size, low, high, first, last, fault
):
    """out = clamp(bias + sum of input * weights under the filter), bias and weights packed.

    `geometry` is a ConvGeometry (records.py). Each group of channels makes `n` results out of as
    many inputs as `zeros` has elements. The rows of an item are pixels, its columns channels, a
    multiple of the panel.
    """
    pixels, columns = item_size
    depth, segments = zeros.size, taps_h * taps_w
    total = x.shape[0] * geometry[COUNTS, HEIGHT] * geometry[COUNTS, WIDTH]
    panel_bytes = packed.shape[2] * _ROW
    blocks, shares = (total + pixels - 1) // pixels, (n + columns - 1) // columns
    tables, sums, starts, tile = _tables(), _sums(), _pixels(), rows_for(n)
    max_rows = min(ROWS, max(1, TABLES // (1 + segments)) * tile)
    item = first
    while item < last:
        group, share, n_shares, block, n_blocks = part_of(item, last, shares, blocks)
        item += n_shares * n_blocks
        column, pixel = share * columns, block * pixels
        limit, end = min(column + n_shares * columns, n), min(pixel + n_blocks * pixels, total)
        start = address(packed) + group * packed.shape[1] * panel_bytes
        panels = Panels(start, panel_bytes, n)
        at_once = even_rows(end - pixel, max_rows, tile)
        while pixel < end:
            count = min(at_once, end - pixel)
            entry = tables
            row = 0
            while row < count:
                tile_point_pixels(starts, entry, x, out, pixel + row, end, tile, group * depth,
                                  group * n, geometry, 4, 4)  # fmt: skip
                entry += _TABLE
                for i in range(taps_h):
                    for j in range(taps_w):
                        down = i * geometry[DILATION, HEIGHT]
                        right = j * geometry[DILATION, WIDTH]
                        offset = 4 * (down * x.shape[2] + right) * x.shape[3]
                        tile_point_tap(entry, starts, offset, down, right, x.shape[1],
                                       x.shape[2], address(zeros))  # fmt: skip
                        entry += _TABLE
                row += tile
            tiles(tables, count, segments, depth, panels, column, limit, low, high, sums)
            pixel += count


@kernel("weights:float32[batch,n,k] bias:float32[*,n] out:float32[batch,panels,*]")
def columns(weights, bias, out, first, last, fault):
    """Packs matrices whose columns are contiguous. An item is a panel.

    Here, as all that uses the panels must be made for the same processor.
    """
    pack_columns(weights, bias, out, tile_columns(), first, last)


@kernel("weights:float32[batch,k,n] bias:float32[*,n] out:float32[batch,panels,*]")
def rows(weights, bias, out, first, last, fault):
    """Packs matrices whose rows are contiguous. An item is a panel."""
    pack_rows(weights, bias, out, tile_columns(), first, last)
