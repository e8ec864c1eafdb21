"""Sums and products of two int8 operands in the short forms whose numbers others find.

rescaled_sum.py finds those of sums, rescaled_product.py those of products.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import BYTE, FLOAT, INT, WORD
from ...tiling import FORM
from .._int32 import Integers
from ._scaled import Scaled

_WHOLE_BITS = (
    0x4B400000  # of 1.5 * 2 ** 23: what is added to it has its whole number in the low bits
)


def _pairs(emit_totals):
    """The microkernel out[i] = total(a[i], b[i]) within limits, the last two of `numbers`.

    The rows of an operand are `row` elements apart; with the step 0 it has one element for each.
    `emit_totals(w, numbers)` reads the numbers and gives a function of pairs of vectors of int32
    that gives as many.
    """

    def emit(builder, simd, a, b, out, numbers, rows, columns, a_row, b_row, a_step, b_step):
        w = Integers(builder, simd)
        a, b, out, numbers = (w.pointer(p) for p in (a, b, out, numbers))
        totals = emit_totals(w, numbers)
        limits = [w.load(numbers, 8 * i, WORD) for i in (4, 5)]
        limits = [builder.trunc(limit, BYTE) for limit in limits]

        def result(count, operands, at, mask=None):
            """The bytes of `count` vectors at an offset."""
            offsets = [w.add(at, i * w.width) for i in range(count)]
            value = w.saturated_bytes(
                totals([[operand(offset, mask) for operand in operands] for offset in offsets])
            )
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

    emit.__name__ = emit_totals.__name__.strip("_")
    emit.__doc__ = emit_totals.__doc__
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
    return lambda pairs: [b.ashr(b.add(b.add(b.mul(x, p), b.mul(y, q)), c), s) for x, y in pairs]


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

    return lambda pairs: [total(*pair) for pair in pairs]


def _near_lines(w, numbers):
    """The same lines where no pair is next to a half, else as rescaled_simd.py does it.

    Beyond FORM `numbers` have below what a fraction, the upper bits of an int32, is not sure, the
    signs of both operands in the total, as 0 or -1, and the terms of rescaled_simd.py.
    """
    b, terms = w.builder, w.move(numbers, 8 * (FORM + 4))
    scaled = Scaled(b, w.simd, b.ptrtoint(terms, WORD), 1)
    p, q, c, s, *_, unsure, a_sign, b_sign = (
        w.splat(number) for number in _numbers(w, numbers, FORM + 4)
    )
    to_fraction = b.sub(w.splat(32), s)

    def signed(value, sign):
        return b.sub(b.xor(value, sign), sign)

    def exact(x, y):
        x, y = signed(scaled.scale_a(x), a_sign), signed(scaled.scale_b(y), b_sign)
        return scaled.result(b.add(x, y))

    def totals(pairs):
        lines = [b.add(b.add(b.mul(x, p), b.mul(y, q)), c) for x, y in pairs]
        least, *others = (b.shl(line, to_fraction) for line in lines)
        for fraction in others:
            least = w.lesser_unsigned(least, fraction)
        near = b.bitcast(b.icmp_unsigned("<", least, unsure), ir.IntType(w.width))
        before = [b.ashr(line, s) for line in lines]
        quick = b.block
        with b.if_then(b.icmp_unsigned("!=", near, near.type(0)), likely=False):
            after = [exact(*pair) for pair in pairs]
            slow = b.block
        results = [b.phi(w.i32_vector) for _ in pairs]
        for result, *values in zip(results, before, after, strict=True):
            for value, block in zip(values, (quick, slow), strict=True):
                result.add_incoming(value, block)
        return results

    return totals


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

    return lambda pairs: [total(*pair) for pair in pairs]


lines, away_lines, near_lines, products = map(_pairs, (_lines, _away_lines, _near_lines, _products))
