"""What linear_pairs.py finds the numbers for."""

from numba import types

from ..kernel import piece
from ..vector import INT, WORD
from ._integers import Integers


@piece(types.void(*[types.int64] * 5))
def line(builder, lanes, a, b, out, numbers, count):
    """out[i] = (a[i] * p + b[i] * q + c) >> s within limits; `numbers` are p, q, c, s and these."""
    w = Integers(builder, lanes)
    a, b, out, numbers = (w.pointer(p) for p in (a, b, out, numbers))
    p, q, c, s, low, high = (
        w.all(builder.trunc(w.load(numbers, 8 * i, WORD), INT)) for i in range(6)
    )

    def vector(at, mask):
        x, y = (
            builder.sext(w.read_some(w.move(place, at), w.bytes_of_it, mask), w.ints)
            for place in (a, b)
        )
        value = builder.add(builder.add(builder.mul(x, p), builder.mul(y, q)), c)
        value = w.hold(builder.ashr(value, s), low, high)
        w.write_some(builder.trunc(value, w.bytes_of_it), w.move(out, at), mask)

    whole = builder.and_(count, WORD(-w.width))
    with w.loop(0, whole, w.width) as (at, _):
        vector(at, None)
    left = builder.sub(count, whole)
    with builder.if_then(builder.icmp_signed(">", left, WORD(0))):
        vector(whole, w.mask(left))
