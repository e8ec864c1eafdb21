"""Tiles of products of 8-bit integers (_gemm_i8_tile.py) whose sums leave the registers as float32.

They are for inputs of one scale and zero point, as an image has, and weights without zero points.
Where sums are short, most of the time of other tiles goes into what becomes of them.
"""

from numba import types

from ...build.kernel import choose, microkernel
from ...build.vector import WORD
from .._int32 import Integers
from ._gemm_i8_epilogue import OneScale, each_limits
from ._gemm_i8_tile import Tile, sums_of_tile, tile_shape

_LINE = 64


@microkernel(types.int64(), inline=True)
def has_float32_tiles(builder, simd):
    """Whether there are such tiles: where the processor multiplies no bytes."""
    return WORD(int(simd.width == 8 and not simd.dots))


_SIGNATURE = types.void(*[types.int64] * 9, types.float32, types.float32)


def _tile(builder, simd, n_vectors, arguments):
    """Writes the tile with `n_vectors` vectors; `i8_float32_tile` says what it does."""
    headers, segments, depth, panel, ahead, out_skip, terms, to_zero, more, *limits = arguments
    w = Integers(builder, simd)
    tile = Tile(w, tile_shape(simd)[0], n_vectors)
    headers, begin = w.pointer(headers), w.pointer(panel)
    numbers = (headers, w.pointer(terms), begin, to_zero, more)
    targets = [w.move(w.load_pointer(headers, 8 * m), out_skip) for m in range(tile.n_rows)]
    for offset in (0, _LINE):
        for target in targets:
            w.prefetch(w.move(target, offset))
    corrected = _vectors(w, tile, *numbers)
    first = [builder.sub(vector.weights, vector.factors()[0]) for vector in corrected]
    sums = sums_of_tile(tile, headers, segments, depth, begin, ahead, first * tile.n_rows)
    for limits_of in each_limits(w, limits):
        vectors = _vectors(w, tile, *numbers, *limits_of)
        for m in range(tile.n_rows):
            for v, vector in enumerate(vectors):
                value = vector.scaled(sums[m * tile.n_vectors + v], vector.factors()[1])
                w.write(value, targets[m], v * w.bytes)


@microkernel(_SIGNATURE)
def i8_float32_tile(builder, simd, *arguments):
    """Stores the results of a tile, whose lines, and those after them, are asked for at first.

    Arguments: those of `i8_tile` but the last; bytes to skip in the results; the numbers of the
    columns; how far the zero point lies from the scale; what is more to take off; and the limits.
    """
    _tile(builder, simd, tile_shape(simd)[1], arguments)


@microkernel(_SIGNATURE)
def i8_float32_partial_tile(builder, simd, *arguments):
    """What `i8_float32_tile` does, for one vector of columns."""
    _tile(builder, simd, 1, arguments)


float32_tile = choose(i8_float32_tile, i8_float32_partial_tile)


def _vectors(w, tile, *numbers):
    """What makes results of each vector of sums."""
    vectors = [OneScale(w, *numbers) for _ in range(tile.n_vectors)]
    for v, vector in enumerate(vectors):
        vector.load(v)
    return vectors
