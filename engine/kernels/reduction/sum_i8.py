"""Sums of small integers along one dimension, in vectors of int32."""

from llvmlite import ir
from numba import int32, types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import WORD
from .._int32 import Integers

ROWS = 1 << 15  # of which int32 has room for the sum


def add_columns(size, signed):
    """The microkernel out[j] += sum of x[r, j] over `n` rows; int64 of integers of `size` bytes."""

    def emit(builder, simd, x, out, n, columns):
        w = Integers(builder, simd)
        x, out, widen = w.pointer(x), w.pointer(out), builder.sext if signed else builder.zext
        kind, i64_vector = (ir.VectorType(ir.IntType(n), w.width) for n in (8 * size, 64))
        pitch = w.mul(columns, size)

        def vector(column, mask):
            start = [w.move(x, w.mul(column, size)), w.splat(0)]
            with w.loop(0, n, 1, start) as (_, carried):
                source, total = carried
                number = widen(w.read_masked(source, kind, mask), w.i32_vector)
                carried[:] = [w.move(source, pitch), builder.add(total, number)]
            target = w.move(out, w.mul(column, 8))
            total = builder.sext(w.results[1], i64_vector)
            w.write_masked(
                builder.add(total, w.read_masked(target, i64_vector, mask)), target, mask
            )

        vector_end = builder.and_(columns, WORD(-w.width))
        with w.loop(0, vector_end, w.width) as (column, _):
            vector(column, None)
        n_columns = builder.sub(columns, vector_end)
        with builder.if_then(builder.icmp_signed(">", n_columns, WORD(0))):
            vector(vector_end, w.mask(n_columns))

    emit.__name__ = f"add_columns_{size}_{int(signed)}"
    return microkernel(types.void(*[types.int64] * 4))(emit)


def total_with(add):
    """The kernel out[o, j] = sum of x[o, r, j] over r; `add` is the microkernel for columns."""

    def total(x, out, first, last, fault):
        n, inner, size = x.shape[1], x.shape[2], x.itemsize
        for o in range(first, last):
            target = out[o]
            for j in range(inner):
                target[j] = 0
            start = 0
            while start < n:
                count = min(ROWS, n - start)
                if inner == 1:
                    part = x[o, start : start + count]
                    subtotal = int32(0)
                    for i in range(count):
                        subtotal = int32(subtotal + part[i, 0])
                    target[0] += subtotal
                else:
                    source = address(x) + size * inner * (o * n + start)
                    add(source, address(out) + 8 * inner * o, count, inner)
                start += count

    return total


for _name, _size, _signed in (("int8", 1, True), ("uint8", 1, False), ("int16", 2, True)):
    kernel(f"x:{_name}[outer,n,inner] out:int64[outer,inner]", name=f"total_{_name}")(
        total_with(add_columns(_size, _signed))
    )
