"""Products of one row of bytes with several panels at once (_gemm_i8_tile.py).

One row alone is too little to keep a processor busy with a single panel.
"""

from numba import types

from ...build.kernel import microkernel
from ...build.vector import INT, WORD
from ...tiling import BLOCK_ROWS, PANEL, TILE_HEADERS
from .._int32 import Integers
from ._gemm_i8_tile import Tile

_ROW, _TABLE = 4 * PANEL, 8 * BLOCK_ROWS
_SUMS = 8  # vectors of sums at once


def _panels(simd):
    return max(1, _SUMS * simd.width // PANEL)


@microkernel(types.int64(), inline=True)
def gemv_panels(builder, simd):
    """How many panels are done at once."""
    return WORD(_panels(simd))


@microkernel(types.void(*[types.int64] * 6))
def gemv_i8(builder, simd, headers, depth, panel, pitch, max_offset, sums):
    """The sums of one row, without its correction.

    Arguments: its tables; how many products; the first panel; bytes between panels; how far the
    last panel lies from the first, which stands for those beyond; and where the sums go, one panel
    after the other.
    """
    n_panels = _panels(simd)
    w = Integers(builder, simd)
    tile = Tile(w, n_panels, PANEL // w.width)
    x, sums = w.load_pointer(w.pointer(headers), TILE_HEADERS * _TABLE), w.pointer(sums)
    begins = []
    for i in range(n_panels):
        offset = w.mul(pitch, i)
        offset = builder.select(builder.icmp_signed("<", offset, max_offset), offset, max_offset)
        begins.append(w.move(w.pointer(panel), offset))
    fours_end = builder.and_(depth, WORD(-4))

    starts = [w.read(begin, at, w.i32_vector) for begin in begins for at in range(0, _ROW, w.bytes)]

    def step(values, inputs_of):
        for part in tile.steps:
            rows = [w.move(begin, values[0]) for begin in begins]
            weights = [vector for row in rows for vector in tile.weights(row, part)]
            inputs = tile.inputs(inputs_of(part))
            pairs = zip(values[1:], weights, strict=True)
            values[1:] = [tile.add(value, vector, inputs) for value, vector in pairs]
        values[0] = builder.add(values[0], WORD(_ROW))

    with w.loop(0, fours_end, 4, [WORD(_ROW), *starts]) as (at, values):
        step(values, lambda part, at=at: tile.read(x, at, part))
    if tile.dots:
        with w.loop(fours_end, depth, 4, w.results) as (at, values):
            last = tile.read(x, builder.sub(depth, WORD(4)), 0)
            shift = w.mul(builder.sub(WORD(4), builder.sub(depth, fours_end)), 8)
            last = builder.lshr(last, builder.trunc(shift, INT))
            step(values, lambda _, last=last: last)
    for i, value in enumerate(w.results[1:]):
        w.write(value, sums, i * w.bytes)
