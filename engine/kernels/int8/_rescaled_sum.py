"""Sums and products of two int8 operands in the short forms whose numbers others find.

rescaled_sum.py finds those of sums, rescaled_product.py those of products.
"""

from numba import types

from ...build.kernel import microkernel
from ...build.vector import BYTE, FLOAT, INT, WORD
from ...tiling import FORM
from .._int32 import Integers

_WHOLE_BITS = (
    0x4B400000  # of 1.5 * 2 ** 23: what is added to it has its whole number in the low bits
)


def _pairs(emit_total):
    """The microkernel out[i] = total(a[i], b[i]) within limits, the last two of `numbers`.

    The rows of an operand are `row` elements apart; with the step 0 it has one element for each.
    `emit_total(w, numbers)` reads the numbers and gives a function of vectors of int32.
    """

    def emit(builder, simd, a, b, out, numbers, rows, columns, a_row, b_row, a_step, b_step):
        w = Integers(builder, simd)
        a, b, out, numbers = (w.pointer(p) for p in (a, b, out, numbers))
        total = emit_total(w, numbers)
        limits = [w.load(numbers, 8 * i, WORD) for i in (4, 5)]
        limits = [builder.trunc(limit, BYTE) for limit in limits]

        def result(count, operands, at, mask=None):
            """The bytes of `count` vectors at an offset."""
            totals = []
            for i in range(count):
                x, y = (operand(w.add(at, i * w.width), mask) for operand in operands)
                totals.append(total(x, y))
            value = w.saturated_bytes(totals)
            value = w.block_in_order(value) if count > 1 else value
            low, high = (w.splat(limit, BYTE, value.type.count) for limit in limits)
            return w.clamp_int(value, low, high)

        def each_row(*varies):
            with w.loop(0, rows, 1, [a, b, out]) as (_, pointers):
                *sources, target = pointers
                operands = [_elements(w, m, p) for m, p in zip(varies, sources, strict=True)]
                begin = WORD(0)
                for count in (w.BLOCK, 1):
                    n = count * w.width
                    end = builder.and_(columns, WORD(-n))
                    with w.loop(begin, end, n) as (at, _):
                        w.write(result(count, operands, at), target, at)
                    begin = end
                n_columns = builder.sub(columns, begin)
                with builder.if_then(builder.icmp_signed(">", n_columns, WORD(0))):
                    mask = w.mask(n_columns)
                    value = result(1, operands, begin, mask)
                    w.write_masked(value, w.move(target, begin), mask)
                steps = (a_row, b_row, columns)
                pointers[:] = [w.move(p, n) for p, n in zip(pointers, steps, strict=True)]

        a_moves, b_moves = (builder.icmp_signed("!=", step, WORD(0)) for step in (a_step, b_step))
        with builder.if_else(builder.and_(a_moves, b_moves)) as (neither_repeats, one_repeats):
            with neither_repeats:
                each_row(True, True)
            with one_repeats, builder.if_else(a_moves) as (first, second):
                with first:
                    each_row(True, False)
                with second:
                    each_row(False, True)

    emit.__name__ = emit_total.__name__.strip("_")
    emit.__doc__ = emit_total.__doc__
    return microkernel(types.void(*[types.int64] * 10))(emit)


def _elements(w, varies, pointer):
    """A function of an offset and a mask that gives int32: elements, or the first one repeated."""
    if varies:
        return lambda at, mask: w.builder.sext(
            w.read_masked(w.move(pointer, at), w.i8_vector, mask), w.i32_vector
        )
    repeated = w.splat(w.builder.sext(w.read(pointer, 0, BYTE), INT))
    return lambda at, mask: repeated


def _numbers(w, numbers, count):
    """The first `count` of the numbers, as int32."""
    return [w.builder.trunc(w.load(numbers, 8 * i, WORD), INT) for i in range(count)]


def _lines(w, numbers):
    """(a * p + b * q + c) >> s; `numbers` are p, q, c, s and the limits."""
    b = w.builder
    p, q, c, s = (w.splat(number) for number in _numbers(w, numbers, 4))
    return lambda x, y: b.ashr(b.add(b.add(b.mul(x, p), b.mul(y, q)), c), s)


def _away_lines(w, numbers):
    """The same with halves away from 0.

    Beyond FORM `numbers` have the total of what is 0, and what totals below it have less.
    """
    b = w.builder
    p, q, c, s, *_, pivot, less = (w.splat(number) for number in _numbers(w, numbers, FORM + 3))

    def total(x, y):
        value = b.add(b.add(b.mul(x, p), b.mul(y, q)), c)
        below = b.select(b.icmp_signed("<", value, pivot), less, w.splat(0))
        return b.ashr(b.sub(value, below), s)

    return total


def _products(w, numbers):
    """(a - a_zero) * (b - b_zero) * scale + zero, rounded up from a bit below halves.

    `numbers` has the bits of the scale and of zero + 1.5 * 2 ** 23, a_zero, b_zero, the limits, and
    beyond FORM the bits of what goes away from 0 before it is rounded.
    """
    b = w.builder
    scale, offset, a_zero, b_zero, *_, bias = _numbers(w, numbers, FORM + 2)
    scale, offset = (w.splat(b.bitcast(number, FLOAT), FLOAT) for number in (scale, offset))
    a_zero, b_zero, bias = map(w.splat, (a_zero, b_zero, bias))

    def total(x, y):
        product = b.sitofp(b.mul(b.sub(x, a_zero), b.sub(y, b_zero)), w.vector)
        sign = b.and_(b.bitcast(product, w.i32_vector), w.splat(-1 << 31))
        away = b.bitcast(b.or_(sign, bias), w.vector)
        value = b.fadd(w.fma(product, scale, away), offset)
        return b.sub(b.bitcast(value, w.i32_vector), w.splat(_WHOLE_BITS))

    return total


lines, away_lines, products = (_pairs(total) for total in (_lines, _away_lines, _products))
