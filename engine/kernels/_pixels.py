"""Where the windows of a convolution begin, for a tile of pixels."""

from ..build.kernel import address, inline
from ..records import BEFORE, COUNTS, HEIGHT, OUT_START, OUT_STRIDE, STRIDE, WIDTH
from ..tiling import BLOCK_ROWS
from .float32._gemm_f32_tile import block_entries, point, put, tile_entries, tile_point

_TABLE = 8 * BLOCK_ROWS
PIXEL_TABLES = 4
"""Tables that those of the pixels may be written over: three and one behind them."""


def pixels_by(point, n_entries):
    """`point_pixels` by a `point` that fills as many entries of a table as `n_entries` gives."""

    def point_line(
        pixels,
        targets,
        first,
        x,
        out,
        position,
        count,
        x_start,
        out_start,
        geometry,
        size,
        out_size,
    ):
        """Entries from `first` on, for `count` pixels of a line: image, row, first column."""
        n, row, column = position
        y = row * geometry[STRIDE, HEIGHT] - geometry[BEFORE, HEIGHT]
        at = column * geometry[STRIDE, WIDTH] - geometry[BEFORE, WIDTH]
        begin = ((n * x.shape[1] + y) * x.shape[2] + at) * x.shape[3] + x_start
        entry = pixels + 8 * first
        step = size * geometry[STRIDE, WIDTH] * x.shape[3]
        point(entry, address(x) + size * begin, step, count)
        point(entry + _TABLE, y, 0, count)
        point(entry + 2 * _TABLE, at, geometry[STRIDE, WIDTH], count)
        y = row * geometry[OUT_STRIDE, HEIGHT] + geometry[OUT_START, HEIGHT]
        at = column * geometry[OUT_STRIDE, WIDTH] + geometry[OUT_START, WIDTH]
        begin = ((n * out.shape[1] + y) * out.shape[2] + at) * out.shape[3] + out_start
        step = out_size * geometry[OUT_STRIDE, WIDTH] * out.shape[3]
        point(targets + 8 * first, address(out) + out_size * begin, step, count)

    fill = inline(point_line)

    def point_pixels(
        pixels, targets, x, out, pixel, end, max_rows, x_start, out_start, geometry, size, out_size
    ):
        """Tables for the tile at `pixel`: input addresses, rows, columns, and result addresses.

        `geometry` is a ConvGeometry as an array; elements have `size` and `out_size` bytes. There
        is room for PIXEL_TABLES, and for a table behind `targets`, whose entries may be written.
        """
        rows, columns = geometry[COUNTS, HEIGHT], geometry[COUNTS, WIDTH]
        line = pixel // columns
        n, column, count = line // rows, pixel - line * columns, min(max_rows, end - pixel)
        row = line - n * rows
        n_first = min(count, columns - column)
        if count - n_first <= columns:
            fill(pixels, targets, 0, x, out, (n, row, column), n_first, x_start, out_start,
                 geometry, size, out_size)  # fmt: skip
            if n_first < count:
                row += 1
                if row == rows:
                    row = 0
                    n += 1
                fill(pixels, targets, n_first, x, out, (n, row, 0), count - n_first, x_start,
                     out_start, geometry, size, out_size)  # fmt: skip
            return
        for m in range(n_entries()):
            y = row * geometry[STRIDE, HEIGHT] - geometry[BEFORE, HEIGHT]
            at = column * geometry[STRIDE, WIDTH] - geometry[BEFORE, WIDTH]
            begin = ((n * x.shape[1] + y) * x.shape[2] + at) * x.shape[3] + x_start
            put(pixels, m, address(x) + size * begin)
            put(pixels, BLOCK_ROWS + m, y)
            put(pixels, 2 * BLOCK_ROWS + m, at)
            y = row * geometry[OUT_STRIDE, HEIGHT] + geometry[OUT_START, HEIGHT]
            at = column * geometry[OUT_STRIDE, WIDTH] + geometry[OUT_START, WIDTH]
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


point_pixels = pixels_by(point, block_entries)
tile_point_pixels = pixels_by(tile_point, tile_entries)
