"""Where the windows of a convolution begin, for a tile of pixels."""

from ..build.kernel import address, inline
from ..records import BEFORE, COUNTS, HEIGHT, OUT_START, OUT_STRIDE, STRIDE, WIDTH
from ..tiling import BLOCK_ROWS
from .float32._gemm_f32_tile import (
    block_entries,
    point_lines,
    put,
    tile_entries,
    tile_point_lines,
)

_TABLE = 8 * BLOCK_ROWS


@inline
def offset_of(array, n, y, at):
    """The elements before those of a pixel."""
    return ((n * array.shape[1] + y) * array.shape[2] + at) * array.shape[3]


@inline
def in_tuples(geometry):
    """A ConvGeometry that is an array, as tuples: loops then need not read it again."""
    return (
        (geometry[0, 0], geometry[0, 1]),
        (geometry[1, 0], geometry[1, 1]),
        (geometry[2, 0], geometry[2, 1]),
        (geometry[3, 0], geometry[3, 1]),
        (geometry[4, 0], geometry[4, 1]),
        (geometry[5, 0], geometry[5, 1]),
    )


def pixels_by(point_lines, n_entries):
    """`point_pixels` by a `point_lines` for tables of as many entries as `n_entries` gives."""

    def point_pixels(
        pixels, targets, x, out, pixel, end, max_rows, x_start, out_start, geometry, size, out_size,
        inside,
    ):  # fmt: skip
        """Tables for the tile at `pixel`: input addresses, rows, columns, and result addresses.

        `geometry` is of `in_tuples`; elements have `size` and `out_size` bytes. Where
        all windows are `inside` the input, rows and columns may be missing.
        """
        rows, columns = geometry[COUNTS][HEIGHT], geometry[COUNTS][WIDTH]
        line = pixel // columns
        n, column, count = line // rows, pixel - line * columns, min(max_rows, end - pixel)
        row, n_first = line - n * rows, columns - column
        if count <= n_first + columns:  # of a line, or of two
            stride, left = geometry[STRIDE][WIDTH], -geometry[BEFORE][WIDTH]
            y = row * geometry[STRIDE][HEIGHT] - geometry[BEFORE][HEIGHT]
            at = column * stride + left
            below = row + 1 < rows
            next_n, next_row = (n, row + 1) if below else (n + 1, 0)
            next_y = next_row * geometry[STRIDE][HEIGHT] - geometry[BEFORE][HEIGHT]
            begin, step = address(x) + size * x_start, size * stride * x.shape[3]
            point_lines(pixels, begin + size * offset_of(x, n, y, at), step, count, n_first,
                        begin + size * offset_of(x, next_n, next_y, left))  # fmt: skip
            if not inside:
                point_lines(pixels + _TABLE, y, 0, count, n_first, next_y)
                point_lines(pixels + 2 * _TABLE, at, stride, count, n_first, left)
            stride, left = geometry[OUT_STRIDE][WIDTH], geometry[OUT_START][WIDTH]
            y = row * geometry[OUT_STRIDE][HEIGHT] + geometry[OUT_START][HEIGHT]
            next_y = next_row * geometry[OUT_STRIDE][HEIGHT] + geometry[OUT_START][HEIGHT]
            begin, step = address(out) + out_size * out_start, out_size * stride * out.shape[3]
            at = column * stride + left
            point_lines(targets, begin + out_size * offset_of(out, n, y, at), step, count, n_first,
                        begin + out_size * offset_of(out, next_n, next_y, left))  # fmt: skip
            return
        for m in range(n_entries()):
            y = row * geometry[STRIDE][HEIGHT] - geometry[BEFORE][HEIGHT]
            at = column * geometry[STRIDE][WIDTH] - geometry[BEFORE][WIDTH]
            begin = ((n * x.shape[1] + y) * x.shape[2] + at) * x.shape[3] + x_start
            put(pixels, m, address(x) + size * begin)
            put(pixels, BLOCK_ROWS + m, y)
            put(pixels, 2 * BLOCK_ROWS + m, at)
            y = row * geometry[OUT_STRIDE][HEIGHT] + geometry[OUT_START][HEIGHT]
            at = column * geometry[OUT_STRIDE][WIDTH] + geometry[OUT_START][WIDTH]
            begin = ((n * out.shape[1] + y) * out.shape[2] + at) * out.shape[3] + out_start
            put(targets, m, address(out) + out_size * begin)
            column += pixel + m + 1 < end
            if column == columns:
                column = 0
                row += 1
            if row == rows:
                row = 0
                n += 1

    return inline(point_pixels)


point_pixels = pixels_by(point_lines, block_entries)
tile_point_pixels = pixels_by(tile_point_lines, tile_entries)
