"""Convolution of 3x3 by fewer products: F(2x2, 3x3) of Winograd (Lavin and Gray 2015).

Of each tile of 2x2 results the 4x4 inputs under it, transformed, are multiplied element by element
with transformed filters and summed over the channels: 16 matrix products in the place of 36. The
transforms of inputs and results add and subtract only.

Matrices are [16, tiles, channels]; tiles follow one another as results do, row by row. Here is what
float32 and int8 have in common; `add` and `subtract` write instructions on two vectors.
"""

from ..build.kernel import address, inline, stack_buffer
from ._columns import TABLE, point_columns

_TILES = 7  # next to each other whose 16 columns of inputs are in a table
_tables = stack_buffer(4 * TABLE)


def columns_of(w, tables):
    """The pointers to the 4x4 inputs of a tile, by row, from tables as `tile_inputs` fills them."""
    tables = w.pointer(tables)
    return [[w.load_pointer(tables, TABLE * i + 8 * j) for j in range(4)] for i in range(4)]


def matrices_of(w, first, pitch):
    """Where each of the 16 matrices has the tile that the first has at the address `first`."""
    matrices = [w.pointer(first)]
    for _ in range(15):
        matrices.append(w.move(matrices[-1], pitch))
    return matrices


def transform_tile(row, add, subtract, put):
    """Calls `put(i, values)` for row i of the transformed inputs, `row(i)` gives inputs."""

    def put_row(i, t):
        put(i, [subtract(t[0], t[2]), add(t[1], t[2]), subtract(t[2], t[1]), subtract(t[1], t[3])])

    second, third = row(1), row(2)
    put_row(1, [add(a, b) for a, b in zip(second, third, strict=True)])
    put_row(2, [subtract(b, a) for a, b in zip(second, third, strict=True)])
    put_row(0, [subtract(a, b) for a, b in zip(row(0), third, strict=True)])
    put_row(3, [subtract(a, b) for a, b in zip(second, row(3), strict=True)])


def rows_of_tile(element, add, subtract):
    """What the upper and the lower results of a tile are made of; `element(i, j)` gives a sum."""
    upper, lower = [], []
    for j in range(4):
        m = [element(i, j) for i in range(4)]
        middle, difference = add(m[1], m[2]), subtract(m[1], m[2])
        upper.append(add(m[0], middle))
        lower.append(subtract(difference, m[3]))
    return upper, lower


def left_result(row, add):
    """The left one of two results next to each other."""
    return add(row[0], add(row[1], row[2]))


def right_result(row, subtract):
    """The right one of two results next to each other."""
    return subtract(subtract(row[1], row[2]), row[3])


def tile_inputs(transform):
    """The function of a kernel that transforms the inputs of rows of tiles.

    `transform(tables, channels, zero, target, pitch)` does it for a tile; `zero` is what the kernel
    has. Of x, whose rows and columns of padding are `top` and `left`, elements outside are at the
    address `padding`.
    """
    transform = inline(transform)

    def run(x, padding, zero, out, tiles_h, tiles_w, top, left, begin, first, last):
        height, width, channels = x.shape[1], x.shape[2], x.shape[3]
        source_pixel, pixel = x.itemsize * channels, out.itemsize * channels
        pitch, tables = pixel * out.shape[1], _tables()
        for item in range(first, last):
            n = (begin + item) // tiles_h
            y = 2 * (begin + item - n * tiles_h) - top
            target = address(out) + item * tiles_w * pixel
            tile = 0
            while tile < tiles_w:
                for i in range(4):
                    is_inside = 0 <= y + i < height
                    row = address(x) + (n * height + y + i) * width * source_pixel
                    point_columns(tables + TABLE * i, row, 2 * tile - left, 1,
                                  width if is_inside else 0, source_pixel, padding)  # fmt: skip
                count = min(_TILES, tiles_w - tile)
                for j in range(count):
                    transform(tables + 16 * j, channels, zero, target, pitch)
                    target += pixel
                tile += count

    return inline(run)


def filter_element(kind, end, middle):
    """The function that gives element (i, j) of a transformed filter, in numbers of `kind`.

    The four that three of a row or column (a, b, c) become are `end` times a and c, and `middle`
    times their sum and alternating sum.
    """

    @inline
    def of_three(a, b, c, i):
        if i == 0:
            return end * a
        if i == 3:
            return end * c
        return middle * (a + c + b) if i == 1 else middle * (a + c - b)

    @inline
    def row_of(weights, f, i, column, k):
        return of_three(kind(weights[f, 0, column, k]), kind(weights[f, 1, column, k]),
                        kind(weights[f, 2, column, k]), i)  # fmt: skip

    @inline
    def element_of(weights, f, i, j, k):
        return of_three(
            row_of(weights, f, i, 0, k), row_of(weights, f, i, 1, k), row_of(weights, f, i, 2, k), j
        )

    return element_of
