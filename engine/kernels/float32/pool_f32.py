"""Windows over height and width of float32, channels in vectors; pool.py has what they cannot.

An item is one row of the result.
"""

from llvmlite import ir
from numba import float32, types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import FLOAT, INT, WORD, Writer
from ...records import PoolWindow
from .._windows import reach

_UNROLL = 2  # vectors of channels at a time
_SIGNATURE = types.void(*[types.int64] * 6, *[types.float32] * 3)


def _add(w, total, value):
    return w.builder.fadd(total, value)


def _add_square(w, total, value):
    return w.builder.fadd(total, w.builder.fmul(value, value))


def _larger(w, best, value):
    return w.builder.select(w.builder.fcmp_ordered("<", best, value), value, best)


def _mean(w, total, count):
    return w.builder.fdiv(total, count)


def _root_of_mean(w, total, count):
    kind = total.type
    mean = w.builder.fdiv(total, count)
    return w.call(f"llvm.sqrt.v{kind.count}f32", kind, [mean])


def _identity(w, total, count):
    return total


def window_pool(name, step, join, finish, from_low):
    """The microkernel for one position of the window, all channels.

    A row of the window is folded with `step`, rows are folded with `join`: so no sum has more than
    as many terms one after another as the window has rows and columns.
    """

    def emit(builder, simd, x, out, rows, columns, pitch, channels, count, low, high):
        w = Writer(builder, simd)
        x, out, next_pixel = w.pointer(x), w.pointer(out), w.mul(channels, 4)

        def vector(channel, n, mask):
            at, kind = w.mul(channel, 4), ir.VectorType(FLOAT, n)
            lowest, highest, terms = (_repeated(builder, v, n) for v in (low, high, count))
            start = lowest if from_low else ir.Constant(kind, None)
            with w.loop(0, rows, 1, [w.move(x, at), start]) as (_, outer):
                with w.loop(0, columns, 1, [outer[0], start]) as (_, inner):
                    source = inner[0]
                    value = w.load(source, 0, kind) if mask is None else w.load_masked(source, mask)
                    inner[:] = [w.move(source, next_pixel), step(w, inner[1], value)]
                outer[:] = [w.move(outer[0], pitch), join(w, outer[1], w.results[1])]
            value = w.clamp(finish(w, w.results[1], terms), lowest, highest)
            if mask is None:
                w.store(value, out, at)
            else:
                w.store_masked(value, out, mask, at)

        unrolled = _UNROLL * w.width
        vector_end = builder.and_(channels, WORD(-unrolled))
        with w.loop(0, vector_end, unrolled) as (channel, _):
            vector(channel, unrolled, None)
        with w.loop(vector_end, channels, w.width) as (channel, _):
            vector(channel, w.width, w.mask(builder.sub(channels, channel)))

    emit.__name__ = name
    return microkernel(_SIGNATURE)(emit)


def _repeated(builder, number, n):
    undefined = ir.Constant(ir.VectorType(FLOAT, n), ir.Undefined)
    first_lane = builder.insert_element(undefined, number, INT(0))
    return builder.shuffle_vector(first_lane, undefined, ir.Constant(ir.VectorType(INT, n), None))


def pool_with(microkernel):
    """The kernel that does a position of its window with the microkernel `microkernel`."""

    def pool(x, out, window, low, high, first, last, fault):
        rows, channels = out.shape[1], out.shape[3]
        step = 4 * channels
        pitch = step * x.shape[2]
        for item in range(first, last):
            n = item // rows
            top, bottom = reach(
                item - n * rows, window.size_h, window.stride_h, window.before_h, x.shape[1]
            )
            for column in range(out.shape[2]):
                left, right = reach(
                    column, window.size_w, window.stride_w, window.before_w, x.shape[2]
                )
                height, width = max(bottom - top, 0), max(right - left, 0)
                microkernel(
                    address(x) + (n * x.shape[1] + top) * pitch + left * step,
                    address(out) + (item * out.shape[2] + column) * step,
                    height, width, pitch, channels, float32(height * width), low, high,
                )  # fmt: skip

    return pool


_WORDS = (
    "x:float32[batch,*,*,c] out:float32[batch,*,*,c] window:PoolWindow low:float32 high:float32"
)
for _name, *_steps in (
    ("average", _add, _add, _mean, False),
    ("root_mean_square", _add_square, _add, _root_of_mean, False),
    ("maximum", _larger, _larger, _identity, True),
):
    kernel(_WORDS, name=_name, PoolWindow=PoolWindow)(
        pool_with(window_pool(f"{_name}_window", *_steps))
    )
