"""float32 as small integers by one scale, in vectors."""

from llvmlite import ir
from numba import float32, types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import BYTE, FLOAT, INT, WORD
from .._int32 import SHORT, Integers

_FRACTION_BITS = 16  # of an int32: the results are its upper half
_MARGIN = 8  # of these fractions: twice the error of a product with the inverse, for 9 bits
_TO_WHOLE, _WHOLE_BITS = 1.5 * 2.0**23, 0x4B400000  # rounds what is added to it; its bits
_QUOTIENT_ERROR = 1.001 * 2.0**-24  # of a quotient; numbers above 2 ** 23 are never sure by it
_SURE_HALF = 0.5 - 2.0**-20  # of a scale
_LEAST_SCALE = 2.0**-90  # whose error is still a normal number
_BELOW_HALF = 0.49999997  # the largest float32 below it: with a half, numbers below halves go up


def _nearest(w, value):
    """float32 rounded to int32, halves away from zero; they must be within its range."""
    builder = w.builder
    half = w.call(f"llvm.copysign.v{w.width}f32", w.vector, [w.splat(_BELOW_HALF, FLOAT), value])
    return builder.fptosi(builder.fadd(value, half), w.i32_vector)


def _clamped(w, value, low, high):
    """`value` within [low, high]; nan is low."""
    builder = w.builder
    value = builder.select(builder.fcmp_ordered(">", value, low), value, low)
    return builder.select(builder.fcmp_ordered("<", value, high), value, high)


def _each_vector(w, x, out, nbytes, begin, count, make):
    """Writes the integers of `nbytes` bytes that `make` gives for vectors of float32."""
    builder, kind = w.builder, ir.VectorType(ir.IntType(8 * nbytes), w.width)
    vector_end = builder.and_(count, WORD(-w.width))
    with w.loop(begin, vector_end, w.width) as (at, _):
        value = builder.trunc(make(w.load(x, w.mul(at, 4))), kind)
        w.write(value, out, w.mul(at, nbytes))
    n_last = builder.sub(count, vector_end)
    with builder.if_then(builder.icmp_signed(">", n_last, WORD(0))):
        mask = w.mask(n_last)
        value = builder.trunc(make(w.load_masked(w.move(x, w.mul(vector_end, 4)), mask)), kind)
        w.write_masked(value, w.move(out, w.mul(vector_end, nbytes)), mask)


class _Rounding(Integers):
    """A writer for x / scale, rounded.

    Args:
        scale, inverse: as float32.
        reach: what is beyond is clamped to it.
        limits: zero point, lowest and highest result.
    """

    def __init__(self, builder, simd, scale, inverse, reach, limits):
        super().__init__(builder, simd)
        self.scale, self.inverse, self.reach, self.lowest = (
            self.repeat(number) for number in (scale, inverse, reach, builder.fneg(reach))
        )
        self._numbers = [builder.trunc(number, INT) for number in limits]
        self.limits = [self.splat(number) for number in self._numbers]

    def exact(self, value):
        """The results as int32, within the limits."""
        return self.clamp_int(self.unlimited(value), *self.limits[1:])

    def unlimited(self, value):
        """The results as int32, but for the limits.

        The quotient takes no division: a product with the inverse, corrected by its remainder,
        twice.
        """
        builder = self.builder
        value = _clamped(self, value, self.lowest, self.reach)
        if self.simd.fused:
            quotient = self.mul(value, self.inverse)
            for _ in range(2):
                remainder = self.fma(builder.fneg(quotient), self.scale, value)
                quotient = self.fma(remainder, self.inverse, quotient)
        else:
            quotient = builder.fdiv(value, self.scale)
        return builder.add(_nearest(self, quotient), self.limits[0])

    def short_limits(self, count):
        """The limits as vectors of `count` int16, once and for all."""
        shorts = (self.builder.trunc(number, SHORT) for number in self._numbers[1:])
        return [self.splat(number, SHORT, count) for number in shorts]

    def quick(self, values):
        """The results of four vectors as bytes in order, and whether `exact` gives the same.

        It does unless one lies so near to a half that the error of a product with the inverse could
        matter: where the fraction of the number and a half, and the margin, is below twice that.
        What is too large for int32 has no fraction, and nan none or any.
        """
        builder = self.builder
        highest, inverse, offset, first = self._quick_terms()
        shift = self.splat(_FRACTION_BITS)
        results, fractions = [], None
        for pair in (values[:2], values[2:]):
            fixed = []
            for value in pair:
                is_above = builder.fcmp_ordered("<", highest, value)
                value = builder.select(is_above, highest, value)
                fixed.append(builder.fptosi(self.fma(value, inverse, offset), self.i32_vector))
            even, odd = fixed
            results.append(self._alternating(builder.lshr(even, shift), odd))
            for number in fixed:
                number = builder.bitcast(number, results[-1].type)
                fractions = number if fractions is None else self._either("umin", fractions, number)
        is_exact = self._none_below(fractions, 2 * _MARGIN)
        block = self._in_order(self.saturated_shorts(*results))
        first = self.splat(builder.trunc(first, BYTE), BYTE, block.type.count)
        return builder.add(block, first), is_exact

    def _none_below(self, fractions, limit):
        """Whether of pairs of int16 no first one is below a limit, without signs."""
        kind = fractions.type
        limits = ir.Constant(kind, [limit, 0] * (kind.count // 2))
        name = f"llvm.usub.sat.v{kind.count}i{kind.element.width}"
        below = self.call(name, kind, [limits, fractions])
        bits = ir.IntType(kind.count * kind.element.width)
        return self.builder.icmp_unsigned("==", self.builder.bitcast(below, bits), bits(0))

    def quick_shorts(self, values):
        """The results of vectors as int32, but for the limits, and whether `unlimited` gives them.

        It does unless what is left of a number is so near to half the scale that the error of the
        quotient, or of what is left, could matter; or the number so large that the error is a half.
        """
        builder = self.builder
        offset = builder.sub(self.limits[0], self.splat(_WHOLE_BITS))
        whole, results, largest = self.splat(_TO_WHOLE, FLOAT), [], None
        error = _QUOTIENT_ERROR * (1 if self.simd.fused else 2)  # that of what is left as well
        unsure = self.mul(self.scale, self.splat(error, FLOAT))
        for value in values:
            product = self.mul(value, self.inverse)
            shifted = builder.fadd(product, whole)
            rounded = builder.fsub(shifted, whole)
            remainder = self.abs(self.fma(builder.fneg(rounded), self.scale, value))
            bound = self.fma(self.abs(product), unsure, remainder)
            bound = builder.bitcast(bound, self.i32_vector)
            largest = bound if largest is None else self._either("umax", largest, bound)
            results.append(builder.add(builder.bitcast(shifted, self.i32_vector), offset))
        half = self.mul(self.scale, self.splat(_SURE_HALF, FLOAT))
        has_room = builder.fcmp_ordered(">", self.scale, self.splat(_LEAST_SCALE, FLOAT))
        half = builder.select(has_room, half, self.zero())
        near = builder.icmp_unsigned(">=", largest, builder.bitcast(half, self.i32_vector))
        mask = builder.bitcast(near, ir.IntType(self.width))
        return results, builder.icmp_unsigned("==", mask, mask.type(0))

    def abs(self, value):
        """The absolute values of float32."""
        return self.call(f"llvm.fabs.v{self.width}f32", self.vector, [value])

    def _alternating(self, even, odd):
        """The even int16 of a vector of int32, and the odd ones of another."""
        n = 2 * self.width
        kind = ir.VectorType(SHORT, n)
        even, odd = (self.builder.bitcast(x, kind) for x in (even, odd))
        return self.shuffle(even, odd, [i + n * (i % 2) for i in range(n)])

    def _in_order(self, block):
        """The bytes of two pairs of vectors, each pair alternating, one vector after the other."""
        lane = [2 * (i % 4) + i // 4 % 2 + 8 * (i // 8) for i in range(16)]
        order = [start + i for start in range(0, block.type.count, 16) for i in lane]
        return self.block_in_order(self.shuffle(block, block, order))

    def _quick_terms(self):
        """Above what numbers are reduced, what they are multiplied by, what is added to that, and
        what to the bytes.

        The bytes are those of the results less the last, which are signed.
        """
        builder = self.builder
        zero, low, high = self._numbers
        first = builder.add(low, INT(128))
        highest, offset = (
            self.repeat(builder.sitofp(term, FLOAT))
            for term in (builder.sub(high, zero), builder.sub(zero, first))
        )
        unit = self.repeat(2.0**_FRACTION_BITS)
        half = self.repeat(0.5 * 2.0**_FRACTION_BITS + _MARGIN)
        inverse, offset = self.mul(self.inverse, unit), self.fma(offset, unit, half)
        return self.mul(highest, self.scale), inverse, offset, first


def _blocks(w, x, out, count):
    """Blocks of four vectors as bytes; where they end."""
    builder, n = w.builder, 4 * w.width
    end = builder.and_(count, WORD(-n))
    with w.loop(0, end, n) as (at, _):
        row = w.move(x, w.mul(at, 4))
        values = [w.load(row, i * w.bytes) for i in range(4)]
        block, is_exact = w.quick(values)
        with builder.if_else(is_exact) as (quick, exact):
            with quick:
                w.write(block, out, at)
            with exact:
                w.write(w.bytes_in_order([w.exact(value) for value in values]), out, at)
    return end


def _pairs_of_shorts(w, x, out, count):
    """Pairs of two vectors as int16; where they end."""
    builder, n = w.builder, 2 * w.width
    end, (low, high) = builder.and_(count, WORD(-n)), w.short_limits(n)
    with w.loop(0, end, n) as (at, _):
        row = w.move(x, w.mul(at, 4))
        values = [w.load(row, i * w.bytes) for i in range(2)]
        target = w.move(out, w.mul(at, 2))

        def write(pair, target=target):
            w.write(w.clamp_int(w.shorts_in_order(*pair), low, high), target)

        results, is_exact = w.quick_shorts(values)
        with builder.if_else(is_exact) as (quick, exact):
            with quick:
                write(results)
            with exact:
                write([w.unlimited(value) for value in values])
    return end


def quantizer_of(nbytes):
    """The microkernel out[i] = round(x[i] / scale) + zero within [low, high]."""

    def emit(builder, simd, x, out, count, scale, inverse, reach, zero, low, high):
        w = _Rounding(builder, simd, scale, inverse, reach, (zero, low, high))
        x, out = w.pointer(x), w.pointer(out)
        begin = (_blocks if nbytes == 1 else _pairs_of_shorts)(w, x, out, count)
        _each_vector(w, x, out, nbytes, begin, count, w.exact)

    emit.__name__ = f"steps_{nbytes}"
    numbers = [types.int64] * 3 + [types.float32] * 3 + [types.int64] * 3
    return microkernel(types.void(*numbers))(emit)


steps_1, steps_2 = quantizer_of(1), quantizer_of(2)


@kernel(
    "x:float32[1] out~x:T[1] scale:float32 reach:float32 zero:i low:i high:i",
    T=("int8", "uint8", "int16"),
)
def quantize(x, out, scale, reach, zero, low, high, first, last, fault):
    """out = round(x / scale) + zero within [low, high]; beyond `reach` that is one of these"""
    inverse, nbytes = float32(1.0) / scale, out.itemsize
    source, target = address(x) + 4 * first, address(out) + nbytes * first
    if nbytes == 1:
        steps_1(source, target, last - first, scale, inverse, reach, zero, low, high)
    else:
        steps_2(source, target, last - first, scale, inverse, reach, zero, low, high)
