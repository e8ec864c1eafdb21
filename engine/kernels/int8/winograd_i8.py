"""Convolution of 3x3 of int8 by fewer products: F(2x2, 3x3) of Winograd in int16, exact.

As _winograd.py. Transformed inputs are sums of four int8, less their zero point. Filters are
transformed without fractions, hence four times as large, and so are the sums, whose low 32 bits
are right whatever overflows. For processors that multiply no bytes: they multiply int16 as fast.

A panel of 32 columns has for each `i16_columns()` of them, for each two inputs that lie next to
each other, two weights of each column.
"""

from numba import int16, int64

from ...build.declaration import Widths
from ...build.kernel import address, choose, inline, kernel, stack_buffer
from ...records import Int8Epilogue
from ...tiling import BLOCK_ROWS, PANEL
from .._winograd import filter_element, tile_inputs
from ..float32._gemm_f32_tile import point, put
from ..int16._gemm_i16_tile import i16_columns, i16_part_for, i16_rows
from ._gemm_i8_results import finish, float32_epilogue
from ._winograd_i8 import (
    product,
    product_4,
    product_7,
    product_10,
    transform_inputs,
    transform_sums,
)

_PIXELS = 4  # of a tile
_ROW = 4 * PANEL
_ENTRIES = 8 * BLOCK_ROWS
_BYTE = Widths(("uint8",))
_product = choose(product_4, product_7, product_10, product)
_headers = stack_buffer(3 * _ENTRIES)
_sums = stack_buffer(BLOCK_ROWS * _ROW)
_element_of = filter_element(int64, 2, 1)
_inputs = tile_inputs(
    lambda tables, channels, zero, target, pitch: transform_inputs(
        tables, channels, int64(zero[0]), target, pitch
    )
)


@kernel("weights:int8[n,3,3,c] out:int16[16,panels,*]")
def filters(weights, out, first, last, fault):
    """The transformed filters in panels; what these have beyond the last is 0. An item is one."""
    n, channels, width = weights.shape[0], weights.shape[3], i16_columns()
    for item in range(first, last):
        for column in range(PANEL):
            f, within = item * PANEL + column, column % width
            begin = column // width * width * channels + 2 * within
            for element in range(16):
                target, i, j = out[element, item], element // 4, element % 4
                for k in range(channels):
                    value = int64(0)
                    if f < n:
                        value = _element_of(weights, f, i, j, k)
                    target[begin + k // 2 * 2 * width + k % 2] = int16(value)


@kernel(
    "x:int8[batch,*,*,c] padding:int8[c] zero:int32[1] out:int16[16,*,c] tiles_h:i tiles_w:i "
    "top:i left:i begin:i"
)
def inputs(x, padding, zero, out, tiles_h, tiles_w, top, left, begin, first, last, fault):
    """As winograd_f32.inputs; `padding` is the zero point, which is subtracted."""
    _inputs(x, address(padding), zero, out, tiles_h, tiles_w, top, left, begin, first,
            last)  # fmt: skip


@kernel("a:int16[16,m,*] packed:int16[16,panels,*] out:int32[16,m,*] n:i rows:i")
def products(a, packed, out, n, rows, first, last, fault):
    """out[i] = a[i] @ packed[i], `n` columns. An item is `rows` rows of a matrix."""
    height, depth, width, tile = a.shape[1], a.shape[2], i16_columns(), i16_rows()
    blocks, a_pitch, out_pitch = (height + rows - 1) // rows, 2 * depth, 4 * out.shape[2]
    for item in range(first, last):
        matrix = item // blocks
        begin = (item - matrix * blocks) * rows
        end = min(begin + rows, height)
        weights, column = address(packed) + matrix * 2 * packed.shape[1] * packed.shape[2], 0
        while column < n:
            row = begin
            while row < end:
                count = min(tile, end - row)
                _product(i16_part_for(count), address(a) + (matrix * height + row) * a_pitch,
                         a_pitch, count - 1, depth // 2, weights,
                         address(out) + (matrix * height + row) * out_pitch + 4 * column,
                         out_pitch)  # fmt: skip
                row += count
            column += width
            weights += 2 * depth * width


@inline
def _results(sums, start, scales, out, size, terms, epilogue, to_float32, begin, first, last):
    """The results of `size` bytes, of rows of tiles."""
    height, width, n = out.shape[1], out.shape[2], out.shape[3]
    tiles_h, tiles_w = (height + 1) // 2, (width + 1) // 2
    pixel, source_pixel = size * n, 4 * sums.shape[2]
    pitch = source_pixel * sums.shape[1]
    headers, rows = _headers(), _sums()
    point(headers + _ENTRIES, 0, 0, 1)  # no corrections
    if to_float32 is not None:
        point(headers + 2 * _ENTRIES, address(scales), 0, 1)
    for item in range(first, last):
        batch = (begin + item) // tiles_h
        y = 2 * (begin + item - batch * tiles_h)
        source = address(sums) + item * tiles_w * source_pixel
        target = address(out) + (batch * height + y) * width * pixel
        down, tile = width * pixel if y + 1 < height else 0, 0
        while tile < tiles_w:
            count = min(BLOCK_ROWS // _PIXELS, tiles_w - tile)
            for i in range(count):
                # What is beyond the last is overwritten by what comes after it.
                left = target + 2 * (tile + i) * pixel
                right = left + pixel if 2 * (tile + i) + 1 < width else left
                put(headers, _PIXELS * i, right + down)
                put(headers, _PIXELS * i + 1, left + down)
                put(headers, _PIXELS * i + 2, right)
                put(headers, _PIXELS * i + 3, left)
            column = 0
            while column < n:
                panel_start = address(start) + 4 * column
                for i in range(count):
                    transform_sums(source + (tile + i) * source_pixel + 4 * column, pitch,
                                   panel_start, rows + _PIXELS * i * _ROW)  # fmt: skip
                finish(rows, _PIXELS * count, headers, column, n, panel_start, True, 0, terms,
                       epilogue, to_float32)  # fmt: skip
                column += PANEL
            tile += count


@kernel(
    "sums:int32[16,*,*] start:int32[1] terms:int64[*,48] out:T[batch,*,*,n] epilogue:Int8Epilogue "
    "begin:i",
    T=_BYTE,
    Int8Epilogue=Int8Epilogue,
)
def results(sums, start, terms, out, epilogue, begin, first, last, fault):
    """Bytes of transformed sums and what they start from. An item is a row of tiles."""
    _results(sums, start, start, out, 1, address(terms), epilogue, None, begin, first, last)


@kernel(
    "sums:int32[16,*,*] start:int32[1] terms:float32[*,32] scale:float32[1] zero:int32[1] "
    "out:float32[1,*,*,n] low:float32 high:float32 begin:i"
)
def results_float32(sums, start, terms, scale, zero, out, low, high, begin, first, last, fault):
    """As `results`, of one image with a scale. What sums start from are zeros."""
    epilogue, to_float32 = float32_epilogue(scale, zero, low, high, 0)
    _results(sums, start, scale, out, 4, address(terms), epilogue, to_float32, begin, first, last)
