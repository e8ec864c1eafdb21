"""Sums of small integers along one dimension, in vectors of integers twice as wide."""

from llvmlite import ir
from numba import types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import INT, WORD
from .._int32 import SHORT, Integers

BLOCKS = 4, 2, 1  # vectors of columns at a time
_LANES = 4  # int32 of the smallest vector: rows whose sums are added together
_ROWS_IN_PART = {1: 1 << 8, 2: 1 << 15}
"""Bytes of an element -> rows whose sum integers of twice as many have room for."""


def add_columns(size, signed):
    """The microkernel out[j] += sum of x[r, j] over `n` rows; int64 of integers of `size` bytes.

    The rows are _ROWS_IN_PART at most.
    """

    def emit(builder, simd, x, out, n, columns):
        w = Integers(builder, simd)
        x, out, widen = w.pointer(x), w.pointer(out), builder.sext if signed else builder.zext
        pitch, element, part = w.mul(columns, size), ir.IntType(8 * size), ir.IntType(16 * size)

        def add(column, n_vectors, lanes, mask=None):
            kind, sums, totals = (ir.VectorType(t, lanes) for t in (element, part, WORD))
            start = [w.move(x, w.mul(column, size)), *[w.splat(0, part, lanes)] * n_vectors]
            with w.loop(0, n, 1, start) as (_, carried):
                source, *vectors = carried
                for i in range(n_vectors):
                    row = w.read_masked(w.move(source, i * lanes * size), kind, mask)
                    vectors[i] = builder.add(vectors[i], widen(row, sums))
                carried[:] = [w.move(source, pitch), *vectors]
            target = w.move(out, w.mul(column, 8))
            for i, vector in enumerate(w.results[1:]):
                place = w.move(target, i * lanes * 8)
                total = builder.add(widen(vector, totals), w.read_masked(place, totals, mask))
                w.write_masked(total, place, mask)

        most, begin = w.bytes // (2 * size), WORD(0)
        for n_vectors, lanes in (*((n, most) for n in BLOCKS), (1, w.width)):
            end = builder.and_(columns, WORD(-n_vectors * lanes))
            with w.loop(begin, end, n_vectors * lanes) as (column, _):
                add(column, n_vectors, lanes)
            begin = end
        n_columns = builder.sub(columns, begin)
        with builder.if_then(builder.icmp_signed(">", n_columns, WORD(0))):
            add(begin, 1, w.width, w.mask(n_columns))

    emit.__name__ = f"add_columns_{size}_{int(signed)}"
    return microkernel(types.void(*[types.int64] * 4))(emit)


def add_rows(size, signed):
    """The microkernel out[r] += sum of x[r, i] over i, of `n` in each of `rows`, as `add_columns`.

    `n` is _ROWS_IN_PART at most.
    """

    def emit(builder, simd, x, out, n, rows):
        w = Integers(builder, simd)
        x, out, widen = w.pointer(x), w.pointer(out), builder.sext if signed else builder.zext
        element, part, lanes = ir.IntType(8 * size), ir.IntType(16 * size), w.bytes // (2 * size)
        kind, sums = (ir.VectorType(t, lanes) for t in (element, part))
        end, pitch = builder.and_(n, WORD(-lanes)), w.mul(n, size)

        def add(n_rows, source, target):
            starts = [w.move(source, w.mul(pitch, i)) for i in range(n_rows)]
            with w.loop(0, end, lanes, [w.splat(0, part, lanes)] * n_rows) as (at, carried):
                for i, start in enumerate(starts):
                    row = w.read(w.move(start, w.mul(at, size)), 0, kind)
                    carried[i] = builder.add(carried[i], widen(row, sums))
            totals = _totals(w, [_as_int32(w, v, signed) for v in w.results[:n_rows]])
            words = ir.VectorType(WORD, n_rows)
            w.write(builder.add(builder.sext(totals, words), w.read(target, 0, words)), target)

        begin = WORD(0)
        for n_rows in (_LANES, 1):
            last = builder.and_(rows, WORD(-n_rows))
            starts = [w.move(x, w.mul(pitch, begin)), w.move(out, w.mul(begin, 8))]
            with w.loop(begin, last, n_rows, starts) as (_, pointers):
                add(n_rows, *pointers)
                steps = w.mul(pitch, n_rows), 8 * n_rows
                pointers[:] = [w.move(p, step) for p, step in zip(pointers, steps, strict=True)]
            begin = last
        has_more = builder.icmp_signed("<", end, n)
        with builder.if_then(has_more), w.loop(0, rows, 1, [x, out]) as (_, pointers):
            source, target = pointers
            with w.loop(end, n, 1, [w.read(target, 0, WORD)]) as (at, carried):
                value = w.read(w.move(source, w.mul(at, size)), 0, element)
                carried[0] = builder.add(carried[0], widen(value, WORD))
            w.write(w.results[0], target)
            pointers[:] = [w.move(source, pitch), w.move(target, 8)]

    emit.__name__ = f"add_rows_{size}_{int(signed)}"
    return microkernel(types.void(*[types.int64] * 4))(emit)


def _as_int32(w, vector, signed):
    """The int16 of a vector added in pairs; int32 as they are."""
    builder, n = w.builder, vector.type.count
    if vector.type.element == INT:
        return vector
    if signed:
        return w.sums_of_pairs(vector, w.splat(1, SHORT, n))
    pairs = builder.bitcast(vector, w.i32_vector)
    return builder.add(builder.and_(pairs, w.splat(0xFFFF)), builder.lshr(pairs, w.splat(16)))


def _totals(w, vectors):
    """The sum of the int32 of each of _LANES vectors, or of a single one, side by side."""
    builder = w.builder

    def halved(a, b, *orders):
        return builder.add(*(w.shuffle(a, b, order) for order in orders))

    for i, vector in enumerate(vectors):
        while vector.type.count > _LANES:
            half = vector.type.count // 2
            vector = halved(vector, vector, [*range(half)], [*range(half, 2 * half)])
        vectors[i] = vector
    if len(vectors) == 1:
        total = w.call("llvm.vector.reduce.add.v4i32", INT, vectors)
        return w.splat(total, INT, 1)
    a, b = (halved(*vectors[i : i + 2], [0, 4, 1, 5], [2, 6, 3, 7]) for i in (0, 2))
    return halved(a, b, [0, 1, 4, 5], [2, 3, 6, 7])


def total_with(add, add_alone, rows):
    """The kernel out[o, j] = sum of x[o, r, j] over r.

    `add` and `add_alone` are the microkernels for columns of as many `rows` at most, and for
    columns that are alone.
    """

    def total(x, out, first, last, fault):
        n, inner, size = x.shape[1], x.shape[2], x.itemsize
        begin, end = inner * first, inner * last
        for i in range(begin, end):
            out[0, i] = 0
        if inner == 1 and n <= rows:
            source = address(x) + size * n * first
            add_alone(source, address(out) + 8 * first, n, last - first)
            return
        for o in range(first, last):
            start = 0
            while start < n:
                count = min(rows, n - start)
                source = address(x) + size * inner * (o * n + start)
                if inner == 1:
                    add_alone(source, address(out) + 8 * o, count, 1)
                else:
                    add(source, address(out) + 8 * inner * o, count, inner)
                start += count

    return total


for _name, _size, _signed in (("int8", 1, True), ("uint8", 1, False), ("int16", 2, True)):
    kernel(f"x:{_name}[outer,n,inner] out:int64[outer,inner]", name=f"total_{_name}")(
        total_with(add_columns(_size, _signed), add_rows(_size, _signed), _ROWS_IN_PART[_size])
    )
