"""Images of float32 in another size, channels in vectors; resize.py has the plain kernel."""

from numba import float32, types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import FLOAT, WORD, Writer

_SIGNATURE = types.void(*[types.int64] * 7, types.float32)


@microkernel(_SIGNATURE)
def blend(builder, simd, upper, lower, out, channels, count, places, weights, below):
    """One row of the result: `count` pixels between those of two rows of the input.

    `places` has for each pixel the offsets in bytes of the left and the right one, `weights` how
    much the right one counts; `below` is how much the lower row does.
    """
    w = Writer(builder, simd)
    upper, lower, places, weights = (w.pointer(p) for p in (upper, lower, places, weights))
    step, one = w.mul(channels, 4), FLOAT(1.0)
    above = builder.fsub(one, below)
    whole = builder.and_(channels, WORD(-w.width))
    mask, rest = w.mask(builder.sub(channels, whole)), w.mul(whole, 4)
    with w.loop(0, count, 1, [w.pointer(out)]) as (j, carried):
        left, right = (w.load(places, w.mul(w.add(j, w.mul(count, i)), 8), WORD) for i in (0, 1))
        near = w.load(weights, w.mul(j, 4), FLOAT)
        far = builder.fsub(one, near)
        corners = [
            (w.move(row, place), w.repeat(builder.fmul(vertical, horizontal)))
            for row, vertical in ((upper, above), (lower, below))
            for place, horizontal in ((left, far), (right, near))
        ]

        def mean(at, mask, corners=corners):
            values = [
                w.load(source, at) if mask is None else w.load_some(source, mask, at)
                for source, _ in corners
            ]
            total = w.mul(values[0], corners[0][1])
            for value, (_, weight) in zip(values[1:], corners[1:], strict=True):
                total = w.fma(value, weight, total)
            return total

        target = carried[0]
        with w.loop(0, rest, w.bytes) as (at, _):
            w.store(mean(at, None), target, at)
        with builder.if_then(builder.icmp_signed("<", whole, channels)):
            w.store_some(mean(rest, mask), target, mask, rest)
        carried[0] = w.move(target, step)


@kernel(
    "x:float32[b,*,*,c] rows:int64[2,h] below:float32[h] columns:int64[2,v] right:float32[v]"
    " out:float32[b,h,v,c]"
)
def bilinear(x, rows, below, columns, right, out, first, last, fault):
    """The mean of the four pixels around, weighted by nearness; an item is a row of the result.

    `rows` and `columns` have where the pixels before and after begin in their image and their row,
    in bytes; `below` and `right` how much those after count.
    """
    height, channels = out.shape[1], out.shape[3]
    picture, line = 4 * x.shape[1] * x.shape[2] * channels, 4 * out.shape[2] * channels
    for item in range(first, last):
        b = item // height
        i = item - b * height
        start = address(x) + b * picture
        blend(
            start + rows[0, i], start + rows[1, i], address(out) + item * line, channels,
            out.shape[2], address(columns), address(right), float32(below[i]),
        )  # fmt: skip
