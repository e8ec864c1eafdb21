"""Products of float32 rows with weights of 4 or 8 bits that have a scale for each block.

    out[r] = clamp(sum over blocks of scale * (q[r] - zero) @ weights * scale of row + bias)

q are bytes, to which `inputs_...` quantizes each row by itself. Weights lie in panels
(_gemm_blockwise_tile.py), those of 4 bits in as many. Where they have a scale for each channel
only, sums are int32 throughout.
"""

from numba import float32, int64

from ...build.kernel import address, inline, kernel, stack_buffer
from ...tiling import BLOCK_ROWS, PANEL
from ..reduction._sums import largest_of, smallest_of
from ._gemm_blockwise_packing import Layout, Source, pack_blocks, pack_channels
from ._gemm_blockwise_tile import (
    ROW,
    finish_blocks,
    finish_channels,
    input_bytes_i4,
    input_bytes_i8,
    max_chunk_i4,
    max_chunk_i8,
    offset_i4,
    offset_i8,
    part_for_i4_blocks,
    part_for_i4_channels,
    part_for_i8_blocks,
    rows_i4_blocks,
    rows_i4_channels,
    rows_i8_blocks,
    tile_i4_blocks,
    tile_i4_channels,
    tile_i8_blocks,
    widen_bytes,
)
from ._row_numbers import asymmetric_numbers, int8_of, symmetric_numbers

_sums = stack_buffer(BLOCK_ROWS * ROW)
_INPUTS = (
    "x:float32[m,k] out:uint8[m,*] out_scales:float32[m] out_zeros:int32[m] "
    "out_starts:int32[m,*] block:i asymmetric:i"
)
_PRODUCTS = (
    "q:uint8[m,*] scales:float32[m] zeros:int32[m] starts:int32[m,*] panels:int16[panels,*] "
    "out:float32[m,n] block:i rows:i low:float32 high:float32"
)
_PACK = (
    "weights:uint8[n,*] scales:float32[*,*] bias:float32[n] out:int16[panels,*] depth:i "
    "stored_bits:i"
)


@inline
def chunk_of(block, max_chunk):
    """How many products are summed before they are scaled."""
    return min(block, max_chunk) if max_chunk else block


@inline
def quantize_inputs(x, out, out_scales, out_zeros, out_starts, block, asymmetric, item_bytes,
                    max_chunk, offset, first, last):  # fmt: skip
    """Quantizes rows, which are the items, to bytes followed by zeros, and sums their chunks.

    A row of `out` has room for as many int16.
    """
    count, padded = x.shape[1], out.shape[1] // 2
    chunk = chunk_of(block, max_chunk)
    for row in range(first, last):
        begin, target = address(x) + 4 * row * count, out[row]
        low = smallest_of(begin, count, float32(0.0))
        high = largest_of(begin, count, float32(0.0))
        # Those that become int16 lie in the second half first.
        values = target[padded:] if item_bytes == 2 else target[:padded]
        if asymmetric and low != high:  # rows of zeros give the bias, to the last bit
            scale, inverse, zero = asymmetric_numbers(low, high)
            int8_of(begin, address(values), count, inverse, zero, -128, 0)
        else:
            scale, inverse, zero = symmetric_numbers(low, high)
            int8_of(begin, address(values), count, inverse, zero, -127, 0)
        out_scales[row], out_zeros[row] = scale, zero
        for i in range(count, padded):
            values[i] = 0
        if offset:
            for i in range(padded // chunk):
                total = int64(0)
                for k in range(i * chunk, (i + 1) * chunk):
                    total += (int64(values[k]) ^ 0x80) - 0x80
                out_starts[row, i] = -offset * total
        if item_bytes == 2:
            widen_bytes(address(values), address(target), padded)


@kernel(_INPUTS)
def inputs_i4(x, out, out_scales, out_zeros, out_starts, block, asymmetric, first, last, fault):
    """Rows of inputs for weights of 4 bits in blocks of `block`."""
    quantize_inputs(x, out, out_scales, out_zeros, out_starts, block, asymmetric,
                    input_bytes_i4(), max_chunk_i4(), offset_i4(), first, last)  # fmt: skip


@kernel(_INPUTS)
def inputs_i8(x, out, out_scales, out_zeros, out_starts, block, asymmetric, first, last, fault):
    """Rows of inputs for weights of 8 bits in blocks of `block`."""
    quantize_inputs(x, out, out_scales, out_zeros, out_starts, block, asymmetric,
                    input_bytes_i8(), max_chunk_i8(), offset_i8(), first, last)  # fmt: skip


@kernel(_PACK + " block:i")
def pack_i4_blocks(weights, scales, bias, out, depth, stored_bits, block, first, last, fault):
    """Packs weights of 4 bits with scales [n, depth / block]."""
    source, layout = Source(depth, stored_bits), Layout(4, offset_i4(), input_bytes_i4() == 2)
    pack_blocks(weights, source, scales, bias, out, block, layout, first, last)


@kernel(_PACK + " block:i")
def pack_i8_blocks(weights, scales, bias, out, depth, stored_bits, block, first, last, fault):
    """Packs weights of 8 bits with scales [n, depth / block]."""
    source, layout = Source(depth, stored_bits), Layout(8, offset_i8(), input_bytes_i8() == 2)
    pack_blocks(weights, source, scales, bias, out, block, layout, first, last)


@kernel(_PACK)
def pack_i4_channels(weights, scales, bias, out, depth, stored_bits, first, last, fault):
    """Packs weights of 4 bits with scales [n, 1] or [1, 1]."""
    source, layout = Source(depth, stored_bits), Layout(4, offset_i4(), input_bytes_i4() == 2)
    pack_channels(weights, source, scales, bias, out, layout, first, last)


@inline
def place(item, panels, rows, height):
    """(panel, first row, end of rows) of an item: some rows of a panel."""
    part = item // panels
    return item - part * panels, part * rows, min(part * rows + rows, height)


def products(tile, part_for, n_rows, max_chunk, finish):
    """The kernel that multiplies by `tile`. An item is `rows` rows of a panel."""

    def multiply(q, scales, zeros, starts, panels, out, block, rows, low, high, first, last, fault):
        sums, step, n = _sums(), n_rows(), out.shape[1]
        depth, chunk = q.shape[1] // 2, chunk_of(block, max_chunk())
        pitch, starts_pitch = q.shape[1], 4 * starts.shape[1]
        for item in range(first, last):
            panel, row, end = place(item, panels.shape[0], rows, out.shape[0])
            begin, column = address(panels[panel]), panel * PANEL
            ahead = 2 * panels.shape[1]  # the next panel, which has int16, for the first tile
            if panel + 1 == panels.shape[0]:
                ahead = 0
            while row < end:
                count, target = min(step, end - row), address(out) + 4 * (row * n + column)
                tile(part_for(count), address(q) + row * pitch, pitch, count,
                     address(starts) + row * starts_pitch, starts_pitch, begin, depth, block,
                     chunk, sums, ahead)  # fmt: skip
                ahead = 0
                finish(sums, count, begin, target, 4 * n, n - column, address(scales) + 4 * row,
                       address(zeros) + 4 * row, low, high)  # fmt: skip
                row += step

    return multiply


for _name, _numbers in (
    ("i4_blocks", (tile_i4_blocks, part_for_i4_blocks, rows_i4_blocks, max_chunk_i4)),
    ("i8_blocks", (tile_i8_blocks, part_for_i8_blocks, rows_i8_blocks, max_chunk_i8)),
    ("i4_channels", (tile_i4_channels, part_for_i4_channels, rows_i4_channels, max_chunk_i4)),
):
    _finish = finish_channels if _name == "i4_channels" else finish_blocks
    kernel(_PRODUCTS, name=_name)(products(*_numbers, _finish))
