"""float32 as small integers by one scale, in vectors."""

import numpy as np
from llvmlite import ir
from numba import float32, types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import BYTE, FLOAT, INT, WORD
from .._int32 import Integers

_BLOCKS = 2  # at a time: one test for both
_FRACTION_BITS = 16  # of an int32: the results are its upper half
_MARGIN = 5  # of these fractions: above the error of a product with the inverse, for 9 bits, and 1
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


def _whole_vectors(w, x, out, nbytes, begin, end, make):
    """Writes the integers of `nbytes` bytes that `make` gives for vectors of float32."""
    builder, kind = w.builder, ir.VectorType(ir.IntType(8 * nbytes), w.width)
    with w.loop(begin, end, w.width) as (at, _):
        value = builder.trunc(make(w.load(x, w.mul(at, 4))), kind)
        w.write(value, out, w.mul(at, nbytes))


def _each_vector(w, x, out, nbytes, begin, count, make):
    """The same to the last element."""
    builder, kind = w.builder, ir.VectorType(ir.IntType(8 * nbytes), w.width)
    vector_end = builder.and_(count, WORD(-w.width))
    _whole_vectors(w, x, out, nbytes, begin, vector_end, make)
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
        zero: the zero point.
        dtype: the type of the results.
    """

    def __init__(self, builder, simd, scale, inverse, reach, zero, dtype):
        super().__init__(builder, simd)
        self.scale, self.inverse, self.reach, self.lowest = (
            self.repeat(number) for number in (scale, inverse, reach, builder.fneg(reach))
        )
        limits = np.iinfo(dtype)
        self.low, self.high = int(limits.min), int(limits.max)
        self._zero = builder.trunc(zero, INT)
        self.zero_point = self.splat(self._zero)

    def exact(self, value):
        """The results as int32, within the limits."""
        return self.clamp_int(self.unlimited(value), self.splat(self.low), self.splat(self.high))

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
        return builder.add(_nearest(self, quotient), self.zero_point)

    def quick(self, values):
        """The results of vectors as blocks of bytes in order, and whether `exact` gives the same.

        It does unless one lies so near to a half that the error of a product with the inverse could
        matter: where the fraction of the number and a half, and the margin, is below twice that.
        What is too large for int32, and nan, has no fraction, or is the nearest int32.
        """
        builder, middle = self.builder, self.low + 128  # of the results: bytes are signed
        unit = self.repeat(2.0**_FRACTION_BITS)
        half = self.repeat(0.5 * 2.0**_FRACTION_BITS + _MARGIN)
        offset = self.repeat(builder.sitofp(builder.sub(self._zero, INT(middle)), FLOAT))
        inverse, offset = self.mul(self.inverse, unit), self.fma(offset, unit, half)
        fixed = [
            builder.fptosi(self.fma(value, inverse, offset), self.i32_vector) for value in values
        ]
        blocks = [
            self.block_in_order(self.upper_halves_as_bytes(fixed[i : i + self.BLOCK]))
            for i in range(0, len(fixed), self.BLOCK)
        ]
        middle = self.splat(middle, BYTE, 4 * self.width)
        blocks = [builder.add(block, middle) for block in blocks]
        return blocks, self.no_lower_half_below(fixed, self.splat(2 * _MARGIN))

    def quick_shorts(self, values):
        """The results of vectors as int32, but for the limits, and whether `unlimited` gives them.

        It does unless what is left of a number is so near to half the scale that the error of the
        quotient, or of what is left, could matter; or the number so large that the error is a half.
        """
        builder = self.builder
        offset = builder.sub(self.zero_point, self.splat(_WHOLE_BITS))
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


def _blocks(w, x, out, count):
    """Pairs of blocks of four vectors as bytes; where they end."""
    builder, n_vectors = w.builder, _BLOCKS * w.BLOCK
    n = n_vectors * w.width
    end = builder.and_(count, WORD(-n))
    with w.loop(0, end, n) as (at, _):
        row, target = w.move(x, w.mul(at, 4)), w.move(out, at)
        blocks, is_exact = w.quick([w.load(row, i * w.bytes) for i in range(n_vectors)])
        with builder.if_else(is_exact, likely=True) as (quick, exact):
            with quick:
                for i, block in enumerate(blocks):
                    w.write(block, target, i * w.bytes)
            with exact:
                _whole_vectors(w, row, target, 1, WORD(0), WORD(n), w.exact)
    return end


def _pairs_of_shorts(w, x, out, count):
    """Pairs of two vectors as int16; where they end."""
    builder, n = w.builder, 2 * w.width
    end = builder.and_(count, WORD(-n))
    with w.loop(0, end, n) as (at, _):
        row = w.move(x, w.mul(at, 4))
        values = [w.load(row, i * w.bytes) for i in range(2)]
        target = w.move(out, w.mul(at, 2))

        def write(pair, target=target):
            w.write(w.shorts_in_order(*pair), target)

        results, is_exact = w.quick_shorts(values)
        with builder.if_else(is_exact) as (quick, exact):
            with quick:
                write(results)
            with exact:
                write([w.unlimited(value) for value in values])
    return end


def quantizer_to(dtype):
    """The kernel out = round(x / scale) + zero, as the nearest `dtype` there is."""
    nbytes = np.dtype(dtype).itemsize

    def emit(builder, simd, x, out, count, scale, inverse, reach, zero):
        w = _Rounding(builder, simd, scale, inverse, reach, zero, dtype)
        x, out = w.pointer(x), w.pointer(out)
        begin = (_blocks if nbytes == 1 else _pairs_of_shorts)(w, x, out, count)
        _each_vector(w, x, out, nbytes, begin, count, w.exact)

    emit.__name__ = f"quantized_{dtype}"
    numbers = [types.int64] * 3 + [types.float32] * 3 + [types.int64]
    quantized = microkernel(types.void(*numbers))(emit)

    def apply(x, out, scale, reach, zero, first, last, fault):
        inverse = float32(1.0) / scale
        source, target = address(x) + 4 * first, address(out) + nbytes * first
        quantized(source, target, last - first, scale, inverse, reach, zero)

    return apply


for _dtype in ("int8", "uint8", "int16"):
    _declaration = f"x:float32[1] out~x:{_dtype}[1] scale:float32 reach:float32 zero:i"
    kernel(_declaration, name=f"to_{_dtype}")(quantizer_to(_dtype))
