"""Softmax of int8: tables in registers give exponentials and, row by row, results.

As the largest element of a row is taken off first, exponentials and results are functions of a
byte. `planes` are the lowest, middle and highest bytes of exponentials in 20 bits, so that a row's
sum is three sums of bytes.
"""

from llvmlite import ir
from numba import int64, types

from ...build.fixedpoint import HIGHEST, reciprocal, rounding_shift
from ...build.kernel import address, inline, kernel, microkernel, stack_buffer
from ...build.vector import BYTE, INT, WORD
from .._int32 import Integers
from ._permute import LOOKUP_BYTES, VALUES, look_up_vectors, tail_mask

_GROUP = 16  # bytes that are results or all the lowest one
_MAX_SHIFT = 30  # of a scaled exponential to the right, for int64 to have room
_AT_ONCE = 8  # look-ups where a processor does one after the other
_table_buffer, _joined_buffer = stack_buffer(VALUES + 8 * 16), stack_buffer(4 * VALUES)


def largest_of(signed):
    """The microkernel that gives the largest of `count` bytes."""

    def emit(builder, simd, x, count):
        w, n = Integers(builder, simd), simd.width * 4
        kind, name = ir.VectorType(BYTE, n), f"{'s' if signed else 'u'}max.v{n}i8"
        x, lowest = w.pointer(x), -128 if signed else 0
        vector_end = builder.and_(count, WORD(-n))
        with w.loop(0, vector_end, n, [w.splat(lowest, BYTE, n)]) as (at, carried):
            carried[0] = w.call(f"llvm.{name}", kind, [carried[0], w.read(x, at, kind)])
        folded = w.call(f"llvm.vector.reduce.{name}", BYTE, w.results)
        widen = builder.sext if signed else builder.zext
        compare = builder.icmp_signed
        with w.loop(vector_end, count, 1, [widen(folded, WORD)]) as (at, carried):
            value = widen(w.read(x, at, BYTE), WORD)
            carried[0] = builder.select(compare(">", value, carried[0]), value, carried[0])
        return w.results[0]

    emit.__name__ = f"largest_{int(signed)}"
    return microkernel(types.int64(types.int64, types.int64))(emit)


largest_signed, largest_unsigned = largest_of(True), largest_of(False)


@microkernel(types.void(*[types.int64] * 2))
def join_planes(builder, simd, planes, joined):
    """What the planes have, as int32, where `sum_of_planes` looks up one after the other."""
    if simd.permutes:
        return
    w = Integers(builder, simd)
    planes, joined = w.pointer(planes), w.pointer(joined)
    with w.loop(0, VALUES, w.width) as (at, _):
        total = w.splat(0)
        for i in range(3):
            part = w.read(w.move(planes, i * VALUES), at, w.i8_vector)
            part = builder.shl(builder.zext(part, w.i32_vector), w.splat(8 * i))
            total = builder.or_(total, part)
        w.write(total, joined, w.mul(at, 4))


def _sum_of_joined(w, x, count, top, joined):
    """`sum_of_planes`, of `joined`."""
    builder, carried, begin = w.builder, [w.word(0)], WORD(0)
    for n in (_AT_ONCE, 1):
        end = builder.and_(count, WORD(-n))
        with w.loop(begin, end, n, carried) as (at, totals):
            for i in range(n):
                value = w.read(x, w.add(at, i), BYTE)
                down = builder.zext(builder.sub(top, value), WORD)
                part = builder.zext(w.read(joined, w.mul(down, 4), INT), WORD)
                totals[0] = builder.add(totals[0], part)
        carried, begin = w.results, end
    return carried[0]


@microkernel(types.int64(*[types.int64] * 5))
def sum_of_planes(builder, simd, x, count, top, planes, joined):
    """The sum over a row of what the planes have for top - x[i]."""
    w = Integers(builder, simd)
    x, planes = w.pointer(x), w.pointer(planes)
    top = builder.trunc(top, BYTE)
    if not simd.permutes:
        return _sum_of_joined(w, x, count, top, w.pointer(joined))
    kind = ir.VectorType(BYTE, LOOKUP_BYTES)
    tables = [
        [w.read(planes, i * VALUES + at, kind) for at in range(0, VALUES, LOOKUP_BYTES)]
        for i in range(3)
    ]
    tops, words = w.splat(top, BYTE, LOOKUP_BYTES), ir.VectorType(WORD, LOOKUP_BYTES // 8)

    def add(totals, value, mask):
        down = builder.sub(tops, value)
        for i, table in enumerate(tables):
            part = look_up_vectors(w, table, down)
            if mask is not None:
                part = builder.select(mask, part, w.splat(0, BYTE, LOOKUP_BYTES))
            sums = w.call(
                "llvm.x86.avx512.psad.bw.512", words, [part, w.splat(0, BYTE, LOOKUP_BYTES)]
            )
            totals[i] = builder.add(totals[i], sums)

    vector_end = builder.and_(count, WORD(-LOOKUP_BYTES))
    with w.loop(0, vector_end, LOOKUP_BYTES, [ir.Constant(words, None)] * 3) as (at, carried):
        add(carried, w.read(x, at, kind), None)
    totals, mask = list(w.results), tail_mask(w, builder.sub(count, vector_end))
    add(totals, w.read_masked(w.move(x, vector_end), kind, mask), mask)
    total = w.word(0)
    for i, part in enumerate(totals):
        part = w.call(f"llvm.vector.reduce.add.v{LOOKUP_BYTES // 8}i64", WORD, [part])
        total = builder.add(total, builder.shl(part, WORD(8 * i)))
    return total


@microkernel(types.void(*[types.int64] * 8))
def scale_exps(builder, simd, exps, out, count, inverse, start, shift, low, high):
    """out[d] = (inverse * exps[d] + start) >> places, plus `low` and at most `high`, as bytes.

    `count` is a multiple of the width. Behind its bytes `out` has room for the inverse, which is
    read from there each time: so LLVM sees that it has 32 bits and takes one instruction for the
    product.
    """
    w = Integers(builder, simd)
    exps, out = w.pointer(exps), w.pointer(out)
    kind = ir.VectorType(INT, w.width)
    words = ir.VectorType(WORD, w.width)
    inverse, start, shift = (w.splat(number, WORD, w.width) for number in (inverse, start, shift))
    low, high = (w.splat(builder.trunc(number, INT)) for number in (low, high))
    w.write(inverse, out, VALUES)
    with w.loop(0, count, w.width) as (at, _):
        value = builder.sext(w.read(exps, w.mul(at, 4), kind), words)
        factor = w.low_halves(w.read(out, VALUES, words, 8))
        value = builder.add(builder.mul(value, factor), start)
        value = builder.trunc(builder.lshr(value, shift), w.i32_vector)
        value = w.minimum(builder.add(value, low), high)
        w.write(builder.trunc(value, w.i8_vector), out, at)


@microkernel(types.void(*[types.int64] * 3))
def fill(builder, simd, out, value, count):
    """out[i] = value, of bytes; `count` is a multiple of 16."""
    w = Integers(builder, simd)
    out, values = w.pointer(out), w.splat(builder.trunc(value, BYTE), BYTE, _GROUP)
    with w.loop(0, count, _GROUP) as (at, _):
        w.write(values, out, at)


@microkernel(types.void(*[types.int64] * 5))
def look_up_down(builder, simd, x, out, count, top, table):
    """out[i] = table[top - x[i]]"""
    w = Integers(builder, simd)
    x, out, table = (w.pointer(p) for p in (x, out, table))
    top = builder.trunc(top, BYTE)
    if not simd.permutes:
        begin = WORD(0)
        for n in (_AT_ONCE, 1):
            end = builder.and_(count, WORD(-n))
            with w.loop(begin, end, n) as (at, _):
                values = [w.read(x, w.add(at, i), BYTE) for i in range(n)]
                downs = [builder.zext(builder.sub(top, value), WORD) for value in values]
                for i, result in enumerate([w.read(table, down, BYTE) for down in downs]):
                    w.write(result, out, w.add(at, i))
            begin = end
        return
    kind = ir.VectorType(BYTE, LOOKUP_BYTES)
    quarters = [w.read(table, at, kind) for at in range(0, VALUES, LOOKUP_BYTES)]
    tops, vector_end = w.splat(top, BYTE, LOOKUP_BYTES), builder.and_(count, WORD(-LOOKUP_BYTES))
    with w.loop(0, vector_end, LOOKUP_BYTES) as (at, _):
        w.write(look_up_vectors(w, quarters, builder.sub(tops, w.read(x, at, kind))), out, at)
    mask = tail_mask(w, builder.sub(count, vector_end))
    down = builder.sub(tops, w.read_masked(w.move(x, vector_end), kind, mask))
    w.write_masked(look_up_vectors(w, quarters, down), w.move(out, vector_end), mask)


@inline
def _result(exp, inverse, shift, low, high):
    """A result, of an exponential and the reciprocal of their sum."""
    value = (inverse * exp + (int64(1) << 30)) >> 31
    return min(rounding_shift(value, shift) + low, high)


@inline
def _n_results(exps, planes, low, high):
    """A multiple of 16 from which on all results are the lowest one, whatever the sum is."""
    least = int64(planes[0, 0]) + (int64(planes[1, 0]) << 8) + (int64(planes[2, 0]) << 16)
    inverse, shift = reciprocal(least)
    first, end = 0, VALUES // _GROUP
    while first < end:
        middle = (first + end) // 2
        if _result(exps[0, middle * _GROUP], inverse, shift + 12 - 8, low, high) > low:
            first = middle + 1
        else:
            end = middle
    return first * _GROUP


def softmax_with(largest):
    """The kernel out[r, i] = exp(x[r, i] - max) / sum of it over i; `largest` is a microkernel."""

    def softmax(x, exps, planes, out, low, high, first, last, fault):
        n, table, joined = x.shape[1], _table_buffer(), _joined_buffer()
        join_planes(address(planes), joined)
        count = _n_results(exps, planes, low, high)
        fill(table + count, low, VALUES - count)
        for r in range(first, last):
            row, target = address(x) + r * n, address(out) + r * n
            top = largest(row, n)
            total = sum_of_planes(row, n, top, address(planes), joined)
            inverse, shift = reciprocal(min(total, HIGHEST))
            shift += 12 - 8
            if shift <= _MAX_SHIFT:
                start = (int64(1) << 30) + (int64(1) << (shift + 30))
                scale_exps(address(exps), table, count, inverse, start, shift + 31, low, high)
                look_up_down(row, target, n, top, table)
            else:
                for i in range(n):
                    out[r, i] = _result(exps[0, top - int64(x[r, i])], inverse, shift, low, high)

    return softmax


for _dtype, _largest in (("int8", largest_signed), ("uint8", largest_unsigned)):
    kernel(
        f"x:{_dtype}[rows,n] exps:int32[1,256] planes:uint8[3,256] out:{_dtype}[rows,n] low:i "
        "high:i",
        name=f"softmax_{_dtype}",
    )(softmax_with(_largest))
