"""Images of float32 in another size, channels in vectors; resize.py has the plain kernel."""

from numba import float32, types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import FLOAT, WORD, Writer

_SIGNATURE = types.void(*[types.int64] * 7, types.float32)

_BEFORE, _AFTER = range(2)  # the rows of `rows` and `columns` of `bilinear`


@microkernel(_SIGNATURE)
def blend(builder, simd, upper, lower, out, channels, count, offsets, weights, lower_weight):
    """One row of the result: `count` pixels between those of two rows of the input.

    `offsets` has for each pixel the offsets in bytes of the left and the right one, `weights` how
    much the right one counts; `lower_weight` is how much the lower row does.
    """
    w = Writer(builder, simd)
    upper, lower, offsets, weights = (w.pointer(p) for p in (upper, lower, offsets, weights))
    step, one = w.mul(channels, 4), FLOAT(1.0)
    upper_weight = builder.fsub(one, lower_weight)
    vector_end = builder.and_(channels, WORD(-w.width))
    mask, tail = w.mask(builder.sub(channels, vector_end)), w.mul(vector_end, 4)
    with w.loop(0, count, 1, [w.pointer(out)]) as (j, carried):
        left_offset, right_offset = (
            w.load(offsets, w.mul(w.add(j, w.mul(count, i)), 8), WORD) for i in (0, 1)
        )
        right_weight = w.load(weights, w.mul(j, 4), FLOAT)
        left_weight = builder.fsub(one, right_weight)
        corners = [
            (w.move(row, offset), w.repeat(builder.fmul(vertical, horizontal)))
            for row, vertical in ((upper, upper_weight), (lower, lower_weight))
            for offset, horizontal in ((left_offset, left_weight), (right_offset, right_weight))
        ]

        def mean(at, mask, corners=corners):
            values = [
                w.load(source, at) if mask is None else w.load_masked(source, mask, at)
                for source, _ in corners
            ]
            total = w.mul(values[0], corners[0][1])
            for value, (_, weight) in zip(values[1:], corners[1:], strict=True):
                total = w.fma(value, weight, total)
            return total

        target = carried[0]
        with w.loop(0, tail, w.bytes) as (at, _):
            w.store(mean(at, None), target, at)
        with builder.if_then(builder.icmp_signed("<", vector_end, channels)):
            w.store_masked(mean(tail, mask), target, mask, tail)
        carried[0] = w.move(target, step)


@kernel(
    "x:float32[b,*,*,c] rows:int64[2,h] lower_weights:float32[h] columns:int64[2,v] "
    "right_weights:float32[v] out:float32[b,h,v,c]"
)
def bilinear(x, rows, lower_weights, columns, right_weights, out, first, last, fault):
    """The mean of the four pixels around, weighted by nearness; an item is a row of the result.

    `rows` and `columns` have where the pixels before and after begin in their image and their row,
    in bytes; `lower_weights` and `right_weights` how much those after count.
    """
    height, channels = out.shape[1], out.shape[3]
    picture, line = 4 * x.shape[1] * x.shape[2] * channels, 4 * out.shape[2] * channels
    for item in range(first, last):
        b = item // height
        i = item - b * height
        start = address(x) + b * picture
        blend(
            start + rows[_BEFORE, i], start + rows[_AFTER, i], address(out) + item * line,
            channels, out.shape[2], address(columns), address(right_weights),
            float32(lower_weights[i]),
        )  # fmt: skip
