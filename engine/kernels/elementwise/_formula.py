"""Vectors of floats in formulas: `x * x + 1.0` writes the instructions for a vector `x`."""

from __future__ import annotations

import math

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import DOUBLE, FLOAT, INT, WORD, Writer

_POINTS = {FLOAT: INT, DOUBLE: WORD}
_UNROLL = {16: 2, 32: 4}
"""By registers: vectors at a time, as each instruction of a formula waits for the one before."""
_ESTIMATES = 16
"""float32 in the vectors of processors that estimate reciprocals to 14 bits (AVX-512)."""


class FloatVector:
    """A vector of float32 or float64 with the operators of numbers; comparisons give masks."""

    def __init__(self, w, value):
        self.w, self.value, self.builder = w, value, w.builder

    def of(self, number):
        """What is meant by an operand: a vector, or a number for all places."""
        if isinstance(number, FloatVector):
            return number.value
        kind = self.value.type
        return ir.Constant(kind, [number] * kind.count)

    def _with(self, write, a, b):
        return FloatVector(self.w, write(self.of(a), self.of(b)))

    def __add__(self, other):
        return self._with(self.builder.fadd, self, other)

    def __sub__(self, other):
        return self._with(self.builder.fsub, self, other)

    def __rsub__(self, other):
        return self._with(self.builder.fsub, other, self)

    def __mul__(self, other):
        return self._with(self.builder.fmul, self, other)

    def __truediv__(self, other):
        return self._with(self.builder.fdiv, self, other)

    def __rtruediv__(self, other):
        return self._with(self.builder.fdiv, other, self)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return FloatVector(self.w, self.builder.fneg(self.value))

    def compare(self, operator, other):
        """The mask of the places where `self operator other`; none where one is nan."""
        return self.builder.fcmp_ordered(operator, self.value, self.of(other))

    def fma(self, factor, term):
        """self * factor + term, rounded once where the processor can."""
        factor, term = self.of(factor), self.of(term)
        if not self.w.simd.fused:
            return FloatVector(
                self.w, self.builder.fadd(self.builder.fmul(self.value, factor), term)
            )
        kind = self.value.type
        name = f"llvm.fma.v{kind.count}f{32 if kind.element == FLOAT else 64}"
        return FloatVector(self.w, self.w.call(name, kind, [self.value, factor, term]))

    def fms(self, factor, subtrahend):
        """self * factor - whole of float32 that hardly differ: a fused multiply-subtract."""
        if self.w.simd.fused:
            return self.fma(factor, -subtrahend)
        front, (fraction, exponent) = self._front(), math.frexp(factor)
        short = math.ldexp(round(fraction * 2.0**12), exponent - 12)
        return front * short - subtrahend + (front * (factor - short) + (self - front) * factor)

    def approx_div(self, divisor):
        """self / divisor of float32 to a unit in the last place, if all are far from the limits."""
        if self.w.width < _ESTIMATES:
            return self / divisor
        inverse = divisor.estimate("rcp14")
        ratio = self * inverse
        return (-divisor).fma(ratio, self).fma(inverse, ratio)

    def rsqrt(self):
        """1 / sqrt(self) of float32 to a unit in the last place."""
        if self.w.width < _ESTIMATES:
            return 1.0 / self.sqrt()
        estimate = self.estimate("rsqrt14")
        residual = (-(self * estimate)).fma(estimate, 1.0)
        result = (estimate * residual).fma(residual.fma(0.375, 0.5), estimate)
        is_number = residual.compare("==", residual)  # not so of 0 and infinity
        return result.where(is_number, estimate)

    def estimate(self, name):
        """What an instruction of AVX-512 gives to 14 bits."""
        builder, kind = self.builder, ir.VectorType(FLOAT, _ESTIMATES)
        zeros, all_lanes = ir.Constant(kind, None), ir.IntType(16)(-1)
        parts = [
            self.w.call(f"llvm.x86.avx512.{name}.ps.512", kind, [part, zeros, all_lanes])
            for part in self._parts(_ESTIMATES)
        ]
        while len(parts) > 1:
            n = 2 * parts[0].type.count
            order = ir.Constant(ir.VectorType(INT, n), list(range(n)))
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [builder.shuffle_vector(*pair, order) for pair in pairs]
        return FloatVector(self.w, parts[0])

    def _parts(self, n):
        """Vectors of `n` elements each."""
        undefined = ir.Constant(self.value.type, ir.Undefined)
        for start in range(0, self.value.type.count, n):
            order = ir.Constant(ir.VectorType(INT, n), list(range(start, start + n)))
            yield self.builder.shuffle_vector(self.value, undefined, order)

    def polynomial(self, *coefficients):
        """coefficients[0] + self * coefficients[1] + self ** 2 * coefficients[2] + ..."""
        *lower, highest = coefficients
        value = FloatVector(self.w, self.of(highest))
        for coefficient in reversed(lower):
            value = self.fma(value, coefficient)
        return value

    def where(self, mask, other):
        """`self` where the mask is, `other` elsewhere."""
        return FloatVector(self.w, self.builder.select(mask, self.value, self.of(other)))

    def minimum(self, limit):
        """The smaller of both; nan stays nan."""
        return FloatVector(self.w, self.of(limit)).where(self.compare(">", limit), self)

    def maximum(self, limit):
        """The larger of both; nan stays nan."""
        return FloatVector(self.w, self.of(limit)).where(self.compare("<", limit), self)

    def bits(self):
        """The bits as whole numbers: an LLVM vector."""
        kind = self.value.type
        return self.builder.bitcast(self.value, ir.VectorType(_POINTS[kind.element], kind.count))

    def of_bits(self, bits):
        """The numbers of this type with these bits."""
        return FloatVector(self.w, self.builder.bitcast(bits, self.value.type))

    def splat_int(self, number):
        """A whole number in all places, as wide as an element of this."""
        kind = self.bits().type
        return ir.Constant(kind, [number] * kind.count)

    def abs(self):
        """The absolute value."""
        return self.of_bits(self.builder.and_(self.bits(), self.splat_int(self._sign() - 1)))

    def copysign(self, other):
        """A number that is not negative, with the sign of another."""
        sign = self.builder.and_(other.bits(), self.splat_int(-self._sign()))
        return self.of_bits(self.builder.or_(self.bits(), sign))

    def _sign(self):
        return 1 << (31 if self.value.type.element == FLOAT else 63)

    def square(self):
        """The square of a float32, and what it has been rounded by."""
        if self.w.simd.fused:
            product = self * self
            return product, self.fma(self, -product)
        front = self._front()
        return front * front, (self - front) * (self + front)  # 12 bits have an exact square

    def _front(self):
        """The first 12 bits of a float32."""
        return self.of_bits(self.builder.and_(self.bits(), self.splat_int(-1 << 12)))

    def sqrt(self):
        """The square root."""
        kind = self.value.type
        name = f"llvm.sqrt.v{kind.count}f{32 if kind.element == FLOAT else 64}"
        return FloatVector(self.w, self.w.call(name, kind, [self.value]))

    def to_float64(self):
        """As float64."""
        kind = ir.VectorType(DOUBLE, self.value.type.count)
        return FloatVector(self.w, self.builder.fpext(self.value, kind))

    def to_float32(self):
        """As float32."""
        kind = ir.VectorType(FLOAT, self.value.type.count)
        return FloatVector(self.w, self.builder.fptrunc(self.value, kind))


def elementwise(formula, operands=1, numbers=0, total=False):
    """The microkernel out[i] = formula(x[i], ..., number, ...) for `count` float32.

    Its arguments are the addresses x, ... and out, then count, then the numbers, of float32; with
    `total` it gives the sum of `out` in float64. `formula` takes and gives FloatVectors.
    """

    def emit(builder, simd, *arguments):
        w = Writer(builder, simd)
        *sources, out = (w.pointer(p) for p in arguments[: operands + 1])
        count, *scalars = arguments[operands + 1 :]

        def result(vectors):
            n = vectors[0].type.count
            values = [*vectors, *(_repeated(w, number, n) for number in scalars)]
            return formula(*(FloatVector(w, value) for value in values)).value

        unrolled = _UNROLL[simd.registers] * w.width
        vector_end, kind = builder.and_(count, WORD(-unrolled)), ir.VectorType(FLOAT, unrolled)
        float64_vector = ir.VectorType(DOUBLE, w.width)
        sums = [ir.Constant(float64_vector, None)] if total else []
        with w.loop(0, w.mul(vector_end, 4), 4 * unrolled, sums) as (at, carried):
            value = result([w.load(x, at, kind) for x in sources])
            w.store(value, out, at)
            carried[:] = [_added(builder, part, value) for part in carried]
        with w.loop(vector_end, count, w.width, w.results) as (i, carried):
            at, mask = w.mul(i, 4), w.mask(builder.sub(count, i))
            value = result([w.load_masked(x, mask, at) for x in sources])
            w.store_masked(value, out, mask, at)
            value = builder.select(mask, value, w.zero()) if total else value
            carried[:] = [_added(builder, part, value) for part in carried]
        return _halved(builder, w.results[0], 1) if total else None

    emit.__name__ = f"{formula.__name__}_{operands}_{numbers}"
    emit.__module__ = formula.__module__
    words, kinds = [types.int64] * (operands + 2), [types.float32] * numbers
    return microkernel((types.float64 if total else types.void)(*words, *kinds))(emit)


def _added(builder, total, value):
    """The float64 `total` and float32 `value`, which has as many elements or more."""
    value = _halved(builder, value, total.type.count)
    return builder.fadd(total, builder.fpext(value, total.type))


def _halved(builder, value, n):
    """Sums of the elements of a vector, until there are `n`: halves upon halves."""
    undefined = ir.Constant(value.type, ir.Undefined)
    half = value.type.count
    while half > n:
        half //= 2
        orders = (
            ir.Constant(ir.VectorType(INT, half), [*range(start, start + half)])
            for start in (0, half)
        )
        value = builder.fadd(*(builder.shuffle_vector(value, undefined, o) for o in orders))
        undefined = ir.Constant(value.type, ir.Undefined)
    return value if n > 1 else builder.extract_element(value, INT(0))


def _repeated(w, number, n):
    """A vector of `n` times the same number."""
    undefined = ir.Constant(ir.VectorType(number.type, n), ir.Undefined)
    first_lane = w.builder.insert_element(undefined, number, INT(0))
    return w.builder.shuffle_vector(first_lane, undefined, ir.Constant(ir.VectorType(INT, n), None))
