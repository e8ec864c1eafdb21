"""Windows over height and width of quantized integers, channels in vectors; pool.py has the others.

An item is one row of the result.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import FLOAT, INT
from ...records import PoolWindow
from .._int32 import Integers
from .._windows import reach

QUANTIZED = {"int8": (1, True), "uint8": (1, False), "int16": (2, True)}
"""Type -> bytes of a number, and whether it has a sign."""
_SIGNATURE = types.void(*[types.int64] * 9)
_MIDDLE = 4  # channels done at once when there are too few for a vector


def window_pool(name, nbytes, signed, largest):
    """The microkernel for one position of the window, all channels: the largest or the mean."""

    def emit(builder, simd, x, out, rows, columns, pitch, channels, count, low, high):
        w = Integers(builder, simd)
        x, out, number = w.pointer(x), w.pointer(out), ir.IntType(8 * nbytes)
        step = w.mul(channels, nbytes)

        def vector(channel, n):
            kind = ir.VectorType(number, n)
            at = w.mul(channel, nbytes)
            limits = [w.splat(builder.trunc(limit, number), number, n) for limit in (low, high)]
            fold = _larger(w, signed) if largest else _add(w, signed, n)
            start = limits[0] if largest else w.splat(0, INT, n)
            with w.loop(0, rows, 1, [w.move(x, at), start]) as (_, outer):
                with w.loop(0, columns, 1, outer) as (_, inner):
                    inner[1] = fold(inner[1], w.read(inner[0], 0, kind))
                    inner[0] = w.move(inner[0], step)
                outer[:] = [w.move(outer[0], pitch), w.results[1]]
            value = w.results[1]
            if not largest:
                value = builder.trunc(_mean(w, value, count, n), kind)
                value = _larger(w, signed)(value, limits[0])
            minimum = _either(w, "smin" if signed else "umin")
            w.write(minimum(value, limits[1]), out, at)

        _each_vector(w, channels, vector, w.bytes // nbytes if largest else w.width)

    emit.__name__ = name
    return microkernel(_SIGNATURE)(emit)


def _each_vector(w, count, vector, n_at_once):
    """Writes `vector(first, n)` for all of `count` channels: `n_at_once` at once, then fewer."""
    start = w.word(0)
    for n in (n_at_once, n_at_once // 2, n_at_once // 4, _MIDDLE, 1):
        end = w.builder.and_(count, w.word(-n))
        with w.loop(start, end, n) as (channel, _):
            vector(channel, n)
        start = end


def _either(w, name):
    def apply(a, b):
        kind = a.type
        return w.call(f"llvm.{name}.v{kind.count}i{kind.element.width}", kind, [a, b])

    return apply


def _larger(w, signed):
    return _either(w, "smax" if signed else "umax")


def _add(w, signed, n):
    widen = w.builder.sext if signed else w.builder.zext
    return lambda total, x: w.builder.add(total, widen(x, ir.VectorType(INT, n)))


def _mean(w, total, count, n):
    """total / count rounded to nearest, halves away from zero.

    Exact in float32, as the numbers have less than 24 bits.
    """
    builder, float32s = w.builder, ir.VectorType(FLOAT, n)
    count = builder.trunc(count, INT)
    sign = builder.ashr(total, w.splat(31, INT, n))
    magnitude = builder.sub(builder.xor(total, sign), sign)
    magnitude = builder.add(magnitude, w.splat(builder.lshr(count, INT(1)), INT, n))
    count = w.splat(builder.sitofp(count, FLOAT), FLOAT, n)
    magnitude = builder.fptosi(builder.fdiv(builder.sitofp(magnitude, float32s), count), total.type)
    return builder.sub(builder.xor(magnitude, sign), sign)


def pool_with(microkernel):
    """The kernel that does a position of its window with the microkernel `microkernel`."""

    def pool(x, out, window, low, high, first, last, fault):
        rows, channels = out.shape[1], out.shape[3]
        step = channels * x.itemsize
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
                    height, width, pitch, channels, max(height * width, 1), low, high,
                )  # fmt: skip

    return pool


for _dtype, (_nbytes, _signed) in QUANTIZED.items():
    for _name, _largest in (("average", False), ("maximum", True)):
        _label = f"{_name}_{_dtype}"
        kernel(
            f"x:{_dtype}[batch,*,*,c] out:{_dtype}[batch,*,*,c] window:PoolWindow low:i high:i",
            name=_label,
            PoolWindow=PoolWindow,
        )(pool_with(window_pool(f"{_label}_window", _nbytes, _signed, _largest)))
