"""Matrix products and convolutions with packed weights, a tile (_gemm_f32_tile.py) at a time.

An item is a few rows of the result, or pixels, times some panels (_items.py). Sums run over the
products in order, at most CHAIN at a time in float32, and a result does not depend on the tile it
is computed in. The weights of a convolution are packed with the taps of the filter one after the
other.
"""

import numpy as np
from numba import float32

from ...build.kernel import address, choose, inline, kernel, stack_buffer
from ...records import COUNTS, DILATION, HEIGHT, WIDTH, ConvWindow, ItemSize
from ...tiling import BLOCK_ROWS, CHAIN, PANEL, TABLES
from .._items import Panels, even_rows, part_of
from .._pixels import in_tuples, tile_point_pixels
from ._gemm_f32_strip import narrow_strip, part_strip, strip
from ._gemm_f32_tile import (
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
"""Done at once, at most."""
_NEAR = 1 << 14
"""Inputs, or about as many, that a strip of few products reads for one tile of columns after the
other; results of it, too, where all weights are as near."""
_NEAR_ALL_WEIGHTS = 1 << 14
"""Bytes of weights that stay near whatever else is."""
_NEAR_WEIGHTS = 1 << 16
"""Bytes of weights that are read again for each tile of rows, before the next ones are."""
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


@inline
def strips(inputs, n_rows, out, out_step, weights, panels, begin, end, sums, low, high):
    """Rows of results a step apart, for the columns from `begin` to `end`.

    `inputs` are the address of the first row, bytes from row to row, segments, and bytes from one
    to the next; `weights` products in a segment, products skipped before the first, products from
    the first of a segment to that of the next, segments of a chain, and products in all.
    """
    x, x_step, segments, x_pitch = inputs
    depth, skipped, pitch, per_chain, products = weights
    width, column = tile_columns(), begin
    is_near = 4 * products * (end - begin) <= _NEAR_ALL_WEIGHTS
    while column < end:
        panel = column // PANEL
        start, within = panels.start + panel * panels.pitch, column - panel * PANEL
        first = start + _ROW + 4 * (within // width * products + skipped) * width
        columns = panels.n - column
        if columns <= vector_width():
            narrow_strip(x, x_step, segments, x_pitch, depth, per_chain, start + 4 * within, first,
                         4 * pitch * width, sums, out + 4 * column, out_step, n_rows, columns,
                         low, high)  # fmt: skip
            column += width
            continue
        at_once = min(columns, width)
        if is_near:
            at_once = min(columns, end - column)
            at_once -= at_once % width if at_once % width <= vector_width() else 0
        strip(x, x_step, segments, x_pitch, depth, per_chain, start + 4 * within, first,
              4 * pitch * width, sums, out + 4 * column, out_step, n_rows, at_once, low, high,
              panels.pitch, 4 * products * width)  # fmt: skip
        column += (at_once + width - 1) // width * width


@inline
def deep_strips(
    x, x_step, n_rows, out, out_step, depth, chain, panels, begin, end, sums, low, high
):
    """Rows of products of matrices, for the whole tiles of columns from `begin` to `end`.

    Some products at a time are added to all rows, as many as are near when the next rows come.
    """
    width, column, far = tile_columns(), begin, float32(np.inf)
    at_once = max(1, _NEAR_WEIGHTS // (4 * chain * width))
    while column < end:
        panel = column // PANEL
        start, within = panels.start + panel * panels.pitch, column - panel * PANEL
        weights = start + _ROW + 4 * (within // width * depth) * width
        product = 0
        while product < depth:
            segments, count = min(at_once, (depth - product) // chain), chain
            if segments == 0:
                segments, count = 1, depth - product
            stop = product + segments * count
            nearby = 4 * segments * count * width
            part_strip(x + 4 * product, x_step, segments, 4 * chain, count, 1, start + 4 * within,
                       weights, 4 * chain * width, sums, out + 4 * column, out_step, n_rows, width,
                       low if stop == depth else -far, high if stop == depth else far,
                       product, weights + nearby)  # fmt: skip
            product = stop
            weights += nearby
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
    max_rows = ROWS // tile * tile
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
        n_chains = (depth + CHAIN - 1) // CHAIN
        chain = (depth + n_chains - 1) // n_chains
        is_even, nbytes = chain * n_chains == depth, 4 * depth * (end - column)
        if n_chains > 1 and not (is_even and nbytes <= _NEAR_WEIGHTS):
            whole = column + (end - column) // tile_columns() * tile_columns()
            at_once = even_rows(stop - row, max_rows, tile)
            part = row
            while part < stop:
                count = min(at_once, stop - part)
                deep_strips(begin + part * pitch, pitch, count, target + part * 4 * n, 4 * n,
                            depth, chain, panels, column, whole, sums, low, high)  # fmt: skip
                part += count
            column = whole
        if is_even:
            longest = max(depth, end - column) if nbytes <= _NEAR_ALL_WEIGHTS else depth
            at_once = even_rows(stop - row, max(_NEAR // longest, tile), tile)
            while row < stop and column < end:
                count = min(at_once, stop - row)
                strips((begin + row * pitch, pitch, n_chains, 4 * chain), count,
                       target + row * 4 * n, 4 * n, (chain, 0, chain, 1, depth), panels, column,
                       end, sums, low, high)  # fmt: skip
                row += count
        at_once = even_rows(stop - row, max_rows, tile)
        while row < stop and column < end:
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
    sliding = in_tuples(geometry)
    total = x.shape[0] * sliding[COUNTS][HEIGHT] * sliding[COUNTS][WIDTH]
    panel_bytes = packed.shape[2] * _ROW
    blocks, shares = (total + pixels - 1) // pixels, (n + columns - 1) // columns
    tables, sums, starts, tile = _tables(), _sums(), _pixels(), rows_for(n)
    max_rows = min(ROWS // tile, max(1, TABLES // (1 + segments))) * tile
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
                                  group * n, sliding, 4, 4, False)  # fmt: skip
                entry += _TABLE
                for i in range(taps_h):
                    for j in range(taps_w):
                        down = i * sliding[DILATION][HEIGHT]
                        right = j * sliding[DILATION][WIDTH]
                        offset = 4 * (down * x.shape[2] + right) * x.shape[3]
                        tile_point_tap(entry, starts, offset, down, right, x.shape[1],
                                       x.shape[2], address(zeros))  # fmt: skip
                        entry += _TABLE
                row += tile
            tiles(tables, count, segments, depth, panels, column, limit, low, high, sums)
            pixel += count


@kernel(
    "x:float32[batch,*,*,*] packed:float32[1,panels,*,32] out:float32[batch,*,*,*] taps_h:i "
    "taps_w:i window:ConvWindow parts:i low:float32 high:float32",
    ConvWindow=ConvWindow,
)
def lines(x, packed, out, taps_h, taps_w, window, parts, low, high, first, last, fault):
    """`convolution` of one group whose taps in a row lie next to each other.

    These are a segment, or each of them is one, where a single row has more than CHAIN products. An
    item is a line, or one of the `parts` of one.

    Taps outside the input are left out: each line is a strip without its first and last pixels,
    and these are strips from line to line.
    """
    height, channels, n = x.shape[1], x.shape[3], out.shape[3]
    n_lines, n_columns, pitch = out.shape[1], out.shape[2], 4 * x.shape[2] * x.shape[3]
    x_line, out_line, sums = pitch * window.stride_h, 4 * n * n_columns, _sums()
    products = taps_h * taps_w * channels
    by_taps = taps_w * channels > CHAIN
    run, gap = taps_w * channels, pitch * window.dilation_h
    if by_taps:
        run, gap = channels, 4 * channels
    per_chain = max(1, CHAIN // run)
    panels = Panels(address(packed), packed.shape[2] * _ROW, n)
    left = min(n_columns, (window.before_w + window.stride_w - 1) // window.stride_w)
    right = x.shape[2] + window.before_w - taps_w + window.stride_w
    right = min(n_columns, max(left, right // window.stride_w))
    item = first
    while item < last:
        number = item // parts
        part, batch = item - number * parts, number // n_lines
        from_column, to_column = part * n_columns // parts, (part + 1) * n_columns // parts
        line = number - batch * n_lines
        top = line * window.stride_h - window.before_h
        begin, end, count = 0, taps_h, 1
        while begin < end and top + begin * window.dilation_h < 0:
            begin += 1
        while begin < end and top + (end - 1) * window.dilation_h >= height:
            end -= 1
        if end - begin == taps_h and parts == 1:  # go on with the lines that have all taps, too
            n_whole = (height - 1 - top - (taps_h - 1) * window.dilation_h) // window.stride_h + 1
            count = min(n_whole, last - item, n_lines - line)
        source = address(x) + (batch * height + top + begin * window.dilation_h) * pitch
        target, segments = address(out) + number * out_line, end - begin
        whole, stop = max(left, from_column), min(right, to_column)
        for i in range(count if whole < stop else 0):
            at = source + i * x_line + 4 * channels * (whole * window.stride_w - window.before_w)
            n_runs = segments * taps_w if by_taps else segments
            inputs = (at, 4 * channels * window.stride_w, n_runs, gap)
            strips(inputs, stop - whole, target + i * out_line + 4 * n * whole, 4 * n,
                   (run, begin * run, run, per_chain, products), panels, 0, n, sums,
                   low, high)  # fmt: skip
        column = from_column if from_column < left else max(right, from_column)
        while column < to_column:
            tap = column * window.stride_w - window.before_w
            skipped, beyond = max(0, -tap), max(0, tap + taps_w - x.shape[2])
            n_taps = max(0, taps_w - skipped - beyond)
            skipped = min(skipped, taps_w - n_taps)
            n_runs = segments * n_taps if by_taps else segments
            inputs = (source + 4 * channels * (tap + skipped), x_line, n_runs, gap)
            depth = channels if by_taps else n_taps * channels
            strips(inputs, count, target + 4 * n * column, out_line,
                   (depth, begin * run + skipped * channels, run, per_chain, products), panels,
                   0, n, sums, low, high)  # fmt: skip
            column = right if column + 1 == left else column + 1
        item += count


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
