"""Convolution of 3x3 by fewer products: F(2x2, 3x3) of Winograd (Lavin and Gray 2015).

Of each tile of 2x2 results the 4x4 inputs under it, transformed, are multiplied element by element
with transformed filters and summed over the channels: 16 matrix products in the place of 36. The
transforms of inputs and results add and subtract only.

Matrices are [16, tiles, channels]; tiles follow one another as results do, row by row.
"""

from numba import float64, types

from ...build.kernel import address, inline, kernel, microkernel, stack_buffer
from ...build.vector import WORD, Writer
from .._columns import TABLE, point_columns

TILES = 7
"""Tiles next to each other whose 16 columns of inputs are in a table."""
_tables = stack_buffer(4 * TABLE)


def _sub(w, a, b):
    return w.builder.fsub(a, b)


def _channel_vectors(w, channels, emit):
    """Calls `emit(offset, mask)` for whole vectors of channels, and for what is left."""
    end = w.mul(channels, 4)
    vector_end = w.builder.and_(end, WORD(-w.bytes))
    with w.loop(0, vector_end, w.bytes) as (at, _):
        emit(at, None)
    n_last = w.builder.sub(channels, w.builder.sdiv(vector_end, WORD(4)))
    with w.builder.if_then(w.builder.icmp_signed(">", n_last, WORD(0))):
        emit(vector_end, w.mask(n_last))


@microkernel(types.void(*[types.int64] * 4))
def transform_inputs(builder, simd, tables, channels, out, pitch):
    """The transformed inputs of a tile.

    Arguments: the tables of the four rows, from the tile's first column on; how many channels;
    where the first matrix has the tile, and the bytes from one matrix to the next.
    """
    w = Writer(builder, simd)
    columns = [
        [w.load_pointer(w.pointer(tables), TABLE * i + 8 * j) for j in range(4)] for i in range(4)
    ]
    matrices = [w.pointer(out)]
    for _ in range(15):
        matrices.append(w.move(matrices[-1], pitch))

    def emit(at, mask):
        def row(i):
            pointers = [w.move(pointer, at) for pointer in columns[i]]
            return [w.load(p) if mask is None else w.load_masked(p, mask) for p in pointers]

        def put(i, t):
            values = (_sub(w, t[0], t[2]), w.add(t[1], t[2]), _sub(w, t[2], t[1]),
                      _sub(w, t[1], t[3]))  # fmt: skip
            for j, value in enumerate(values):
                target = w.move(matrices[4 * i + j], at)
                if mask is None:
                    w.store(value, target)
                else:
                    w.store_masked(value, target, mask)

        second, third = row(1), row(2)
        put(1, [w.add(a, b) for a, b in zip(second, third, strict=True)])
        put(2, [_sub(w, b, a) for a, b in zip(second, third, strict=True)])
        put(0, [_sub(w, a, b) for a, b in zip(row(0), third, strict=True)])
        put(3, [_sub(w, a, b) for a, b in zip(second, row(3), strict=True)])

    _channel_vectors(w, channels, emit)


@microkernel(types.void(*[types.int64] * 7, types.float32, types.float32))
def transform_results(builder, simd, sums, pitch, channels, bias, out, right, down, low, high):
    """The results of a tile, with the bias and within the limits.

    Arguments: where the first matrix has the tile, and the bytes from one matrix to the next; how
    many channels; the bias; where the first result goes, and the bytes to the one beside it and to
    the one below: 0 where it is not wanted.
    """
    w = Writer(builder, simd)
    matrices = [w.pointer(sums)]
    for _ in range(15):
        matrices.append(w.move(matrices[-1], pitch))
    target, bias = w.pointer(out), w.pointer(bias)
    below = w.move(target, down)
    low, high = w.repeat(low), w.repeat(high)

    def emit(at, mask):
        def load(pointer):
            pointer = w.move(pointer, at)
            return w.load(pointer) if mask is None else w.load_masked(pointer, mask)

        upper, lower = [], []
        for j in range(4):
            m = [load(matrices[4 * i + j]) for i in range(4)]
            middle, difference = w.add(m[1], m[2]), _sub(w, m[1], m[2])
            upper.append(w.add(m[0], middle))
            lower.append(_sub(w, difference, m[3]))
        start = load(bias)
        # What is not wanted is overwritten by what comes after it.
        for pointer, s in ((below, lower), (target, upper)):
            left = w.add(w.add(s[0], w.add(s[1], s[2])), start)
            other = w.add(_sub(w, _sub(w, s[1], s[2]), s[3]), start)
            for value, place in ((other, w.move(pointer, right)), (left, pointer)):
                value, place = w.clamp(value, low, high), w.move(place, at)
                if mask is None:
                    w.store(value, place)
                else:
                    w.store_masked(value, place, mask)

    _channel_vectors(w, channels, emit)


@kernel(
    "x:float32[batch,*,*,c] zeros:float32[c] out:float32[16,*,c] tiles_h:i tiles_w:i "
    "top:i left:i begin:i"
)
def inputs(x, zeros, out, tiles_h, tiles_w, top, left, begin, first, last, fault):
    """The transformed inputs; `top` and `left` are rows and columns of padding.

    An item is a row of tiles, the first of them row `begin`.
    """
    height, width, channels = x.shape[1], x.shape[2], x.shape[3]
    pixel, pitch = 4 * channels, 4 * channels * out.shape[1]
    tables, padding = _tables(), address(zeros)
    for item in range(first, last):
        n = (begin + item) // tiles_h
        y = 2 * (begin + item - n * tiles_h) - top
        target = address(out) + item * tiles_w * pixel
        tile = 0
        while tile < tiles_w:
            for i in range(4):
                is_inside = 0 <= y + i < height
                row = address(x) + (n * height + y + i) * width * pixel
                point_columns(tables + TABLE * i, row, 2 * tile - left, 1,
                              width if is_inside else 0, pixel, padding)  # fmt: skip
            count = min(TILES, tiles_w - tile)
            for j in range(count):
                transform_inputs(tables + 16 * j, channels, target, pitch)
                target += pixel
            tile += count


@kernel(
    "sums:float32[16,*,n] bias:float32[n] out:float32[batch,*,*,n] low:float32 high:float32 begin:i"
)
def results(sums, bias, out, low, high, begin, first, last, fault):
    """The results of transformed sums. An item is a row of tiles, the first of them `begin`."""
    height, width, channels = out.shape[1], out.shape[2], out.shape[3]
    tiles_h, tiles_w = (height + 1) // 2, (width + 1) // 2
    pixel, pitch = 4 * channels, 4 * channels * sums.shape[1]
    for item in range(first, last):
        n = (begin + item) // tiles_h
        y = 2 * (begin + item - n * tiles_h)
        source = address(sums) + item * tiles_w * pixel
        target = address(out) + (n * height + y) * width * pixel
        down = width * pixel if y + 1 < height else 0
        for tile in range(tiles_w):
            right = pixel if 2 * tile + 1 < width else 0
            transform_results(source, pitch, channels, address(bias), target, right, down, low,
                              high)  # fmt: skip
            source += pixel
            target += 2 * pixel


@inline
def _of_three(a, b, c, i):
    """Element i of the four that the filters of a row or column become."""
    if i == 0:
        return a
    if i == 3:
        return c
    return 0.5 * (a + c + b) if i == 1 else 0.5 * (a + c - b)


@inline
def _row_of(weights, f, i, column, k):
    """Row i of what a column of a filter becomes."""
    return _of_three(float64(weights[f, 0, column, k]), float64(weights[f, 1, column, k]),
                     float64(weights[f, 2, column, k]), i)  # fmt: skip


@kernel("weights:float32[n,3,3,c] out:float32[16,n,c]")
def filters(weights, out, first, last, fault):
    """The transformed filters, rounded once. An item is a filter."""
    for f in range(first, last):
        for i in range(4):
            for j in range(4):
                target = out[4 * i + j, f]
                for k in range(target.size):
                    left = _row_of(weights, f, i, 0, k)
                    middle = _row_of(weights, f, i, 1, k)
                    right = _row_of(weights, f, i, 2, k)
                    target[k] = _of_three(left, middle, right, j)
