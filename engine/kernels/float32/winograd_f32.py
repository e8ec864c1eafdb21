"""Convolution of 3x3 of float32 by fewer products (_winograd.py)."""

from numba import float64, types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import WORD, Writer
from .._winograd import (
    columns_of,
    filter_element,
    left_result,
    matrices_of,
    right_result,
    rows_of_tile,
    tile_inputs,
    transform_tile,
)

_element_of = filter_element(float64, 1.0, 0.5)


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
    columns, matrices = columns_of(w, tables), matrices_of(w, out, pitch)

    def emit(at, mask):
        def row(i):
            pointers = [w.move(pointer, at) for pointer in columns[i]]
            return [w.load(p) if mask is None else w.load_masked(p, mask) for p in pointers]

        def put(i, values):
            for j, value in enumerate(values):
                target = w.move(matrices[4 * i + j], at)
                if mask is None:
                    w.store(value, target)
                else:
                    w.store_masked(value, target, mask)

        transform_tile(row, w.add, builder.fsub, put)

    _channel_vectors(w, channels, emit)


@microkernel(types.void(*[types.int64] * 7, types.float32, types.float32))
def transform_results(builder, simd, sums, pitch, channels, bias, out, right, down, low, high):
    """The results of a tile, with the bias and within the limits.

    Arguments: where the first matrix has the tile, and the bytes from one matrix to the next; how
    many channels; the bias; where the first result goes, and the bytes to the one beside it and to
    the one below: 0 where it is not wanted.
    """
    w = Writer(builder, simd)
    matrices = matrices_of(w, sums, pitch)
    target, bias = w.pointer(out), w.pointer(bias)
    below = w.move(target, down)
    low, high = w.repeat(low), w.repeat(high)

    def emit(at, mask):
        def load(pointer):
            pointer = w.move(pointer, at)
            return w.load(pointer) if mask is None else w.load_masked(pointer, mask)

        def element(i, j):
            return load(matrices[4 * i + j])

        upper, lower = rows_of_tile(element, w.add, builder.fsub)
        start = load(bias)
        # What is not wanted is overwritten by what comes after it.
        for pointer, row in ((below, lower), (target, upper)):
            left = w.add(left_result(row, w.add), start)
            other = w.add(right_result(row, builder.fsub), start)
            for value, place in ((other, w.move(pointer, right)), (left, pointer)):
                value, place = w.clamp(value, low, high), w.move(place, at)
                if mask is None:
                    w.store(value, place)
                else:
                    w.store_masked(value, place, mask)

    _channel_vectors(w, channels, emit)


_inputs = tile_inputs(
    lambda tables, channels, zero, target, pitch: transform_inputs(tables, channels, target, pitch)
)


@kernel(
    "x:float32[batch,*,*,c] zeros:float32[c] out:float32[16,*,c] tiles_h:i tiles_w:i "
    "top:i left:i begin:i"
)
def inputs(x, zeros, out, tiles_h, tiles_w, top, left, begin, first, last, fault):
    """The transformed inputs; `top` and `left` are rows and columns of padding.

    An item is a row of tiles, the first of them row `begin`.
    """
    _inputs(x, address(zeros), 0, out, tiles_h, tiles_w, top, left, begin, first, last)


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


@kernel("weights:float32[n,3,3,c] out:float32[16,n,c]")
def filters(weights, out, first, last, fault):
    """The transformed filters, rounded once. An item is a filter."""
    for f in range(first, last):
        for i in range(4):
            for j in range(4):
                target = out[4 * i + j, f]
                for k in range(target.size):
                    target[k] = _element_of(weights, f, i, j, k)
