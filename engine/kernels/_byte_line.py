"""Products of one row of bytes with several panels at once (_byte_tile.py).

One row alone is too little to keep a processor busy with a single panel.
"""

from numba import types

from ..kernel import piece
from ..vector import INT, WORD
from ._byte_tile import HEADERS, dot
from ._integers import Integers
from ._tile import PANEL, ROWS_OF_TABLE

_ROW, _TABLE = 4 * PANEL, 8 * ROWS_OF_TABLE
_SUMS = 8  # vectors of sums at once


def _panels(lanes):
    return max(1, _SUMS * lanes.width // PANEL) if lanes.dots else 0


@piece(types.int64(), inline=True)
def line_panels(builder, lanes):
    """How many panels are done at once; 0 where tiles are better."""
    return WORD(_panels(lanes))


@piece(types.void(*[types.int64] * 6))
def byte_line(builder, lanes, headers, depth, panel, pitch, most, sums):
    """The sums of one row, without its excess.

    Arguments: its tables; how many products; the first panel; bytes between panels; how far the
    last panel lies from the first, which stands for those beyond; and where the sums go, one panel
    after the other.
    """
    if not lanes.dots:
        return
    w = Integers(builder, lanes)
    x, sums = w.load_pointer(w.pointer(headers), HEADERS * _TABLE), w.pointer(sums)
    places, begins = range(0, _ROW, w.bytes), []
    for i in range(_panels(lanes)):
        far = w.mul(pitch, i)
        far = builder.select(builder.icmp_signed("<", far, most), far, most)
        begins.append(w.move(w.pointer(panel), far))
    starts = [w.read(begin, at, w.ints) for begin in begins for at in places]
    whole = builder.and_(depth, WORD(-4))

    def step(values, four):
        here = [w.move(begin, values[0]) for begin in begins]
        weights = [w.read(begin, at, w.ints) for begin in here for at in places]
        inputs = w.all(four)
        values[1:] = [dot(w, *pair, inputs) for pair in zip(values[1:], weights, strict=True)]
        values[0] = builder.add(values[0], WORD(_ROW))

    with w.loop(0, whole, 4, [WORD(_ROW), *starts]) as (at, values):
        step(values, w.read(w.move(x, at), 0, INT))
    with w.loop(whole, depth, 4, w.results) as (at, values):
        last = w.read(w.move(x, builder.sub(depth, WORD(4))), 0, INT)
        beyond = w.mul(builder.sub(WORD(4), builder.sub(depth, whole)), 8)
        step(values, builder.lshr(last, builder.trunc(beyond, INT)))
    for i, value in enumerate(w.results[1:]):
        w.write(value, sums, i * w.bytes)
