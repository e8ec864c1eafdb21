"""Sums and products of two int8 operands in the short forms whose numbers others find.

rescaled_sum.py finds those of sums, rescaled_product.py those of products.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import BYTE, FLOAT, INT, WORD
from ...tiling import FORM
from .._int32 import SHORT, Integers
from ._scaled import Scaled

FLIPS = (0, 128)
"""The bits to turn over of int8, and of uint8."""
_WHOLE_BITS = (
    0x4B400000  # of 1.5 * 2 ** 23: what is added to it has its whole number in the low bits
)
_LOW, _HIGH = 4, 5  # which of the numbers are the limits


def _pairs(emit_totals, flip, emit_block=None):
    """The microkernel out[i] = total(a[i], b[i]) within limits, the last two of `numbers`.

    The rows of an operand are `row` elements apart; with the step 0 it has one element for each.
    `emit_totals(w, numbers, flip)` reads the numbers and gives a function of pairs of vectors of
    int32, `flip` more than an int8, that gives as many. `emit_block(w, numbers, flip)` gives what
    does a whole block instead: a function of operands, the pointer to results and an offset. `flip`
    are the bits of elements to turn over: those that make uint8 an int8 that is 128 less.
    """

    def emit(builder, simd, a, b, out, numbers, rows, columns, a_row, b_row, a_step, b_step):
        w = Integers(builder, simd)
        a, b, out, numbers = (w.pointer(p) for p in (a, b, out, numbers))
        totals = emit_totals(w, numbers, flip)
        limits = [builder.trunc(w.load(numbers, 8 * i, WORD), BYTE) for i in (_LOW, _HIGH)]
        write_block = None if emit_block is None else emit_block(w, numbers, flip)

        def write(count, operands, target, at, mask=None):
            """Writes the bytes of `count` vectors at an offset."""
            if count > 1 and write_block is not None:
                write_block(operands, target, at)
                return
            offsets = [w.add(at, i * w.width) for i in range(count)]
            value = w.saturated_bytes(
                totals([[x.vector(offset, mask) for x in operands] for offset in offsets])
            )
            value = w.block_in_order(value) if count > 1 else value
            value = _limited(w, value, limits, flip)
            w.write_masked(value, w.move(target, at), mask)

        def each_row(*varies):
            with w.loop(0, rows, 1, [a, b, out]) as (_, pointers):
                *sources, target = pointers
                operands = [
                    _Operand(w, p, moves, flip) for p, moves in zip(sources, varies, strict=True)
                ]
                begin = WORD(0)
                for count in (w.BLOCK, 1):
                    n = count * w.width
                    end = builder.and_(columns, WORD(-n))
                    with w.loop(begin, end, n) as (at, _):
                        write(count, operands, target, at)
                    begin = end
                n_columns = builder.sub(columns, begin)
                with builder.if_then(builder.icmp_signed(">", n_columns, WORD(0))):
                    write(1, operands, target, begin, w.mask(n_columns))
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

    emit.__name__ = f"{emit_totals.__name__.strip('_')}_{flip}"
    emit.__doc__ = emit_totals.__doc__
    return microkernel(types.void(*[types.int64] * 10))(emit)


class _Operand:
    """The elements of an operand: those at an offset, or the first one repeated."""

    def __init__(self, w, pointer, moves, flip):
        self.w, self.pointer, self.moves, self._flip = w, pointer, moves, flip
        self._extend = w.builder.zext if flip else w.builder.sext
        if not moves:
            self._element = w.read(pointer, 0, BYTE)
            self._repeated = w.splat(self._extend(self._element, INT))

    def vector(self, at, mask=None):
        """A vector of int32, as large as the elements are."""
        if not self.moves:
            return self._repeated
        elements = self.w.read_masked(self.w.move(self.pointer, at), self.w.i8_vector, mask)
        return self._extend(elements, self.w.i32_vector)

    def block(self, at):
        """A vector of int8."""
        n = 4 * self.w.width
        if self.moves:
            elements = self.w.read(self.pointer, at, ir.VectorType(BYTE, n))
        else:
            elements = self.w.splat(self._element, BYTE, n)
        return _flipped(self.w, elements, self._flip)


def _flipped(w, value, flip):
    return w.builder.xor(value, w.splat(flip, BYTE, value.type.count)) if flip else value


def _limited(w, value, limits, flip):
    """Bytes within the limits, which are of int8; turned over then."""
    low, high = (w.splat(limit, BYTE, value.type.count) for limit in limits)
    return _flipped(w, w.clamp_int(value, low, high), flip)


def _numbers(w, numbers, count):
    """The first `count` of the numbers, as int32."""
    return [w.builder.trunc(w.load(numbers, 8 * i, WORD), INT) for i in range(count)]


def _away_lines(w, numbers, flip):
    """What `_away_blocks` makes of vectors of int32."""
    b = w.builder
    *_, pivot, coarse, fine, c, less = _numbers(w, numbers, FORM + 8)
    factors = [_halves(w, pair) for pair in (coarse, fine)]
    pivot, c, less = map(w.splat, (pivot, c, less))

    def total(*operands):
        x, y = (b.sub(operand, w.splat(flip)) for operand in operands)
        coarse, fine = (b.add(b.mul(x, p), b.mul(y, q)) for p, q in factors)
        value = b.add(b.shl(coarse, w.splat(8)), b.ashr(fine, w.splat(7)))
        return b.ashr(_away(w, b.add(value, c), pivot, less), w.splat(16))

    return lambda pairs: [total(*pair) for pair in pairs]


def _halves(w, pair):
    """The lower and the upper int16 of a number, as vectors of int32."""
    b = w.builder
    return [w.splat(b.ashr(x, INT(16))) for x in (b.shl(pair, INT(16)), pair)]


def _away(w, total, pivot, less):
    """A total, `less` lower where it is below `pivot`."""
    b = w.builder
    below = b.sext(b.icmp_signed("<", total, pivot), w.i32_vector)
    return b.sub(total, b.and_(below, less))


def _away_blocks(w, numbers, flip):
    """(a * p + b * q + c) >> 16 with halves away from 0, by the sums of `_fine_totals`.

    Beyond FORM `numbers` have in the third place the total of what is 0, then both pairs of factors
    and what is added, and what totals below that of 0 have less.
    """
    totals = _fine_totals(w, numbers)
    limits = [w.builder.trunc(n, BYTE) for n in _numbers(w, numbers, FORM)[_LOW:]]
    *_, pivot, _, _, _, less = (w.splat(n) for n in _numbers(w, numbers, FORM + 8))

    def write(operands, target, at):
        values = [_away(w, x, pivot, less) for x in totals(*(x.block(at) for x in operands))]
        w.write(_limited(w, w.upper_halves_as_bytes(values), limits, flip), target, at)

    return write


def _near_lines(w, numbers, flip):
    """(a * p + b * q + c) >> s where no pair is next to a half, else as rescaled_simd.py does it.

    Beyond FORM `numbers` have below what a fraction, the upper bits of an int32, is not sure, and
    what _near_blocks says.
    """
    b = w.builder
    exact = _exact_totals(w, numbers, flip)
    p, q, c, s, *_, unsure = (w.splat(number) for number in _numbers(w, numbers, FORM + 2))
    c = _less_flips(w, c, p, q, flip)
    to_fraction = b.sub(w.splat(32), s)

    def totals(pairs):
        ((x, y),) = pairs
        line = b.add(b.add(b.mul(x, p), b.mul(y, q)), c)
        near = b.icmp_unsigned("<", b.shl(line, to_fraction), unsure)
        near = b.bitcast(near, ir.IntType(w.width))
        before, quick = b.ashr(line, s), b.block
        with b.if_then(b.icmp_unsigned("!=", near, near.type(0)), likely=False):
            after, slow = exact(x, y), b.block
        result = b.phi(w.i32_vector)
        result.add_incoming(before, quick)
        result.add_incoming(after, slow)
        return [result]

    return totals


def _less_flips(w, c, p, q, flip):
    """What is added where both operands are `flip` more than an int8."""
    return w.builder.sub(c, w.builder.mul(w.builder.add(p, q), w.splat(flip)))


def _exact_totals(w, numbers, flip):
    """What rescaled_simd.py makes of two vectors of int32."""
    b, terms = w.builder, w.move(numbers, 8 * (FORM + 8))
    scaled = Scaled(b, w.simd, b.ptrtoint(terms, WORD), 1)
    *_, a_sign, b_sign = (w.splat(number) for number in _numbers(w, numbers, FORM + 4))

    def signed(value, sign):
        return b.sub(b.xor(value, sign), sign)

    def exact(*operands):
        x, y = (b.sub(operand, w.splat(flip)) for operand in operands)
        x, y = signed(scaled.scale_a(x), a_sign), signed(scaled.scale_b(y), b_sign)
        return scaled.result(b.add(x, y))

    return exact


def _fine_totals(w, numbers):
    """What makes of blocks of a and b four vectors of a * p + b * q + c in units of 2 ** -16.

    Pairs of an a and a b are 16 bits each, 256 times as large: multiplied by the factors in units
    of 2 ** -8, and by what these lack in units of 2 ** -23. `numbers` have both pairs of factors
    and what is added in the places FORM + 4 to 6.
    """
    b = w.builder
    coarse, fine, c = (w.splat(n) for n in _numbers(w, numbers, FORM + 7)[-3:])
    shorts = ir.VectorType(SHORT, 2 * w.width)
    coarse, fine = (b.bitcast(factors, shorts) for factors in (coarse, fine))
    zeros = ir.Constant(ir.VectorType(BYTE, 4 * w.width), None)

    def totals(*pair):
        sums = []
        for half in (False, True):
            turns = w.bytes_in_lanes(*pair, half)
            for quarter in (False, True):
                shifted = b.bitcast(w.bytes_in_lanes(zeros, turns, quarter), shorts)
                rest = b.ashr(w.sums_of_pairs(shifted, fine), w.splat(15))
                total = b.add(w.sums_of_pairs(shifted, coarse), rest)
                sums.append(b.add(total, c))
        return sums

    return totals


def _near_blocks(w, numbers, flip):
    """The same for a block, by the sums of `_fine_totals`.

    Beyond FORM and below what lines are not sure `numbers` have the signs of both operands in the
    total, as 0 or -1, both pairs of factors, what is added, and below what a fraction is not sure;
    then the terms of rescaled_simd.py.
    """
    b, lines, fine_totals = w.builder, _near_lines(w, numbers, flip), _fine_totals(w, numbers)
    unsure = w.splat(_numbers(w, numbers, FORM + 8)[-1])
    limits = [b.trunc(n, BYTE) for n in _numbers(w, numbers, FORM)[_LOW:]]

    def write(operands, target, at):
        totals = fine_totals(*(x.block(at) for x in operands))
        is_sure = w.no_lower_half_below(totals, unsure)
        with b.if_else(is_sure, likely=True) as (quick, slow):
            with quick:
                value = w.upper_halves_as_bytes(totals)
                w.write(_limited(w, value, limits, flip), target, at)
            with slow, w.loop(at, w.add(at, w.BLOCK * w.width), w.width) as (one, _):
                value = w.saturated_bytes(lines([[x.vector(one) for x in operands]]))
                w.write(_limited(w, value, limits, flip), target, one)

    return write


def _products(w, numbers, flip):
    """(a - a_zero) * (b - b_zero) * scale + zero, rounded up from a bit below halves.

    `numbers` has the bits of the scale and of zero + 1.5 * 2 ** 23, a_zero, b_zero, the limits, and
    beyond FORM the bits of what goes away from 0 before it is rounded.
    """
    b = w.builder
    scale, offset, a_zero, b_zero, *_, bias = _numbers(w, numbers, FORM + 2)
    scale, offset = (w.splat(b.bitcast(number, FLOAT), FLOAT) for number in (scale, offset))
    a_zero, b_zero = (b.add(zero, INT(flip)) for zero in (a_zero, b_zero))
    a_zero, b_zero, bias = map(w.splat, (a_zero, b_zero, bias))

    def total(x, y):
        product = b.sitofp(b.mul(b.sub(x, a_zero), b.sub(y, b_zero)), w.vector)
        sign = b.and_(b.bitcast(product, w.i32_vector), w.splat(-1 << 31))
        away = b.bitcast(b.or_(sign, bias), w.vector)
        value = b.fadd(w.fma(product, scale, away), offset)
        return b.sub(b.bitcast(value, w.i32_vector), w.splat(_WHOLE_BITS))

    return lambda pairs: [total(*pair) for pair in pairs]


away_lines = {flip: _pairs(_away_lines, flip, _away_blocks) for flip in FLIPS}
near_lines = {flip: _pairs(_near_lines, flip, _near_blocks) for flip in FLIPS}
products = {flip: _pairs(_products, flip) for flip in FLIPS}
