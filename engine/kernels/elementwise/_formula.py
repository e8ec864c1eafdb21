"""Vectors of floats in formulas: `x * x + 1.0` writes the instructions for a vector `x`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from ...build.kernel import microkernel
from ...build.simd import Simd
from ...build.vector import DOUBLE, FLOAT, INT, WORD, Writer

_POINTS = {FLOAT: INT, DOUBLE: WORD}
_UNROLL, _FEW_REGISTERS = 4, 16
"""Vectors at a time, as each instruction of a formula waits for the one before."""
_STRETCH = 16
"""Steps of a loop that another microkernel does in one call, where the step before was its own."""
_ESTIMATES = 16
"""float32 in the vectors of processors that estimate roots to 14 bits (AVX-512)."""
_ROUGH_ESTIMATES = {
    8: lambda w, x: w.call("llvm.x86.avx.rsqrt.ps.256", x.type, [x]),
    16: lambda w, x: w.call(
        "llvm.x86.avx512.rsqrt14.ps.512", x.type, [x, ir.Constant(x.type, None), ir.IntType(16)(-1)]
    ),
}
"""float32 in a vector -> what writes its estimate of 1 / sqrt(x), to 11 bits or more."""
_LOOK_UPS = {8: "llvm.x86.avx2.permd", 16: "llvm.x86.avx512.permvar.si.512"}
"""int32 in a vector -> what takes some of them by the low bits of others."""
TO_WHOLE = 1.5 * 2.0**23  # what is added to this is rounded to a whole number in the low bits
_LEAST_NORMAL_BITS, _N_NORMAL = 0x00800000, 0x7F000000

Formula = Callable[..., "FloatVector"]
Condition = Callable[["FloatVector"], ir.Value]
"""What gives a vector of vectors, and what a mask of one."""


def has_pieces(simd: Simd) -> bool:
    """Whether `piecewise` is quick: one instruction looks up a table of 32 float32."""
    return simd.width == _ESTIMATES


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

    def rsqrt(self):
        """1 / sqrt(self) of float32 to a unit in the last place."""
        if self.w.width < _ESTIMATES:
            return 1.0 / self.sqrt()
        estimate = self.estimate("rsqrt14")
        residual = (-(self * estimate)).fma(estimate, 1.0)
        result = (estimate * residual).fma(residual.fma(0.375, 0.5), estimate)
        is_number = residual.compare("==", residual)  # not so of 0 and infinity
        return result.where(is_number, estimate)

    def rsqrt_normal(self):
        """`rsqrt` of positive normal numbers: an estimate and a step of third order."""
        estimate_of = _ROUGH_ESTIMATES.get(self.w.width)
        if estimate_of is None:
            return 1.0 / self.sqrt()
        parts = self._of_parts(lambda part: estimate_of(self.w, part), self.w.width)
        estimate = FloatVector(self.w, parts)
        residual = (-(self * estimate)).fma(estimate, 1.0)
        return (estimate * residual).fma(residual.fma(0.375, 0.5), estimate)

    @property
    def has_tables(self):
        """Whether this can be an index of `look_up`."""
        return self.w.width in _LOOK_UPS

    def look_up(self, table):
        """The number of `table`, of eight int32, that the last three bits say; int32 of LLVM."""
        n = self.w.width
        kind = ir.VectorType(INT, n)
        table = ir.Constant(kind, list(table) * (n // len(table)))

        def looked_up(part):
            index = self.builder.bitcast(part, kind)
            operands = [table, index]
            return self.w.call(_LOOK_UPS[n], kind, operands)

        return self._of_parts(looked_up, n)

    def piecewise(self, scale, table):
        """Polynomials in t = self * scale - k, where k is the nearest whole number, from 0 to 31.

        `table` has their coefficients, the constant ones first, each for all k.
        """
        power = self.fma(scale, TO_WHOLE)
        t = self.fma(scale, TO_WHOLE - power)
        value, *lower = (power.look_up_float(row) for row in reversed(table))
        for coefficient in lower:
            value = value.fma(t, coefficient)
        return value

    def look_up_float(self, table):
        """The number of `table`, of 32 float32, that the last five bits say."""
        n, kind = _ESTIMATES, ir.VectorType(INT, _ESTIMATES)
        halves = [ir.Constant(ir.VectorType(FLOAT, n), list(table[i : i + n])) for i in (0, n)]

        def looked_up(part):
            operands = [halves[0], self.builder.bitcast(part, kind), halves[1]]
            return self.w.call("llvm.x86.avx512.vpermi2var.ps.512", halves[0].type, operands)

        return FloatVector(self.w, self._of_parts(looked_up, n))

    def estimate(self, name):
        """What an instruction of AVX-512 gives to 14 bits."""
        kind = ir.VectorType(FLOAT, _ESTIMATES)
        zeros, all_lanes = ir.Constant(kind, None), ir.IntType(16)(-1)

        def estimate_of(part):
            return self.w.call(f"llvm.x86.avx512.{name}.ps.512", kind, [part, zeros, all_lanes])

        return FloatVector(self.w, self._of_parts(estimate_of, _ESTIMATES))

    def _of_parts(self, make, width):
        """What `make` makes of this, `width` elements at a time."""
        builder, parts = self.builder, [make(part) for part in self._parts(width)]
        while len(parts) > 1:
            n = 2 * parts[0].type.count
            order = ir.Constant(ir.VectorType(INT, n), list(range(n)))
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [builder.shuffle_vector(*pair, order) for pair in pairs]
        return parts[0]

    def _parts(self, n):
        """Vectors of `n` elements each."""
        undefined = ir.Constant(self.value.type, ir.Undefined)
        for start in range(0, self.value.type.count, n):
            order = ir.Constant(ir.VectorType(INT, n), list(range(start, start + n)))
            yield self.builder.shuffle_vector(self.value, undefined, order)

    def polynomial(self, *coefficients):
        """coefficients[0] + self * coefficients[1] + self ** 2 * coefficients[2] + ..."""
        *lower, value = coefficients
        if lower and value == 1.0:
            value = self + lower.pop()
        elif not isinstance(value, FloatVector):
            value = FloatVector(self.w, self.of(value))
        for coefficient in reversed(lower):
            value = self.fma(value, coefficient)
        return value

    def paired(self, *coefficients):
        """The polynomial with fewer steps that wait for each other, which rounds less, too."""
        pairs = [
            self.polynomial(*coefficients[i : i + 2])
            if i + 1 < len(coefficients)
            else coefficients[i]
            for i in range(0, len(coefficients), 2)
        ]
        return (self * self).polynomial(*pairs)

    def where(self, mask, other):
        """`self` where the mask is, `other` elsewhere."""
        return FloatVector(self.w, self.builder.select(mask, self.value, self.of(other)))

    def is_normal(self):
        """The mask of the places with a positive, normal and finite float32."""
        offset = (-_LEAST_NORMAL_BITS + (1 << 31)) & 0xFFFFFFFF  # signed as if it were unsigned
        bits = self.builder.add(self.bits(), self.splat_int(offset))
        return self.builder.icmp_signed("<", bits, self.splat_int(_N_NORMAL - (1 << 31)))

    def is_up_to(self, limit):
        """The mask of the places where |self| <= `limit`; not so of nan."""
        magnitude = self.builder.and_(self.bits(), self.splat_int(self._sign() - 1))
        most = int(np.float32(limit).view(np.int32))
        return self.builder.icmp_signed("<=", magnitude, self.splat_int(most))

    def rectified(self):
        """max(self, 0) of what is no nan."""
        return self._with_bits("smax", 0)

    def negative_part(self):
        """min(self, 0): self - self.negative_part() is max(self, 0), and nan of -infinity."""
        return self._with_bits("smin", 0)

    def limited(self, limit):
        """min(self, `limit`) of what has no sign; of nan, `limit`."""
        return self._with_bits("smin", int(np.float32(limit).view(np.int32)))

    def _with_bits(self, name, number):
        """What LLVM's intrinsic for whole numbers makes of the bits and a number."""
        number = self.splat_int(number)
        kind = number.type
        name = f"llvm.{name}.v{kind.count}i{kind.element.width}"
        return self.of_bits(self.w.call(name, kind, [self.bits(), number]))

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


def elementwise(
    formula: Formula,
    operands: int = 1,
    numbers: int = 0,
    total: bool = False,
    within: Condition | None = None,
    otherwise: types.ExternalFunction | None = None,
    unroll: int = _UNROLL,
    few: int = _UNROLL,
) -> Callable[..., Any]:
    """The microkernel out[i] = formula(x[i], ..., number, ...) for `count` float32.

    Its arguments are the addresses x, ... and out, then count, then the numbers, of float32; with
    `total` it gives the sum of `out` in float64. `formula` takes and gives FloatVectors. With
    `within`, which gives a mask of the first operand, it gives whether that is set everywhere, or
    it calls the microkernel `otherwise`, for the same operands, where it is not and for the last
    elements. Long formulas have no registers
    for as many vectors as others at a time: `unroll`, or `few` where there are but 16. Sums of
    exponentials without tables are that long.
    """

    def emit(builder: ir.IRBuilder, simd: Simd, *arguments: ir.Value) -> ir.Value | None:
        loops = _Loops(Writer(builder, simd), formula, total, within, otherwise)
        *sources, out = (loops.w.pointer(p) for p in arguments[: operands + 1])
        count, *scalars = arguments[operands + 1 :]
        has_room = not total or simd.width in _LOOK_UPS
        most = unroll if simd.registers > _FEW_REGISTERS else min(unroll, few)
        return loops.write(sources, out, count, scalars, most if has_room else min(most, 2))

    emit.__name__ = f"{formula.__name__}_{operands}_{numbers}"
    emit.__module__ = formula.__module__
    words, kinds = [types.int64] * (operands + 2), [types.float32] * numbers
    says_whether = within is not None and otherwise is None
    returns = types.int64 if says_whether else types.float64 if total else types.void
    return microkernel(returns(*words, *kinds))(emit)


class _Loops:
    """Writes what `elementwise` is: loops over some vectors at a time, over one, and the last."""

    def __init__(
        self,
        w: Writer,
        formula: Formula,
        total: bool,
        within: Condition | None,
        otherwise: types.ExternalFunction | None,
    ) -> None:
        self.w, self.formula, self.total = w, formula, total
        self.within, self.otherwise = within, otherwise

    def write(
        self,
        sources: list[ir.Value],
        out: ir.Value,
        count: ir.Value,
        scalars: list[ir.Value],
        unroll: int,
    ) -> ir.Value | None:
        """What the microkernel gives."""
        w, builder = self.w, self.w.builder
        carried, begin = self._at_first(), WORD(0)
        for n in (unroll * w.width, w.width):
            end, kind = builder.and_(count, WORD(-n)), ir.VectorType(FLOAT, n)
            with w.loop(begin, end, n, carried) as (i, values):
                if self.otherwise is None:
                    at = w.mul(i, 4)
                    vectors = [w.load(x, at, kind) for x in sources]
                    value = self._result(vectors, scalars)
                    w.store(value, out, at)
                    values[:] = self._carry_on(values, value, vectors[0])
                else:
                    values[:] = [self._write_either(sources, out, (i, end, n), scalars, values[0])]
            carried, begin = w.results, end
        if self.otherwise is not None:
            with builder.if_then(builder.icmp_signed("<", begin, count)):
                self._call_other(sources, out, w.mul(begin, 4), builder.sub(count, begin), scalars)
            return None
        with w.loop(begin, count, w.width, carried) as (i, values):
            at, mask = w.mul(i, 4), w.mask(builder.sub(count, i))
            vectors = [w.load_masked(x, mask, at) for x in sources]
            value = self._result(vectors, scalars)
            w.store_masked(value, out, mask, at)
            values[:] = self._carry_on(values, value, vectors[0], mask)
        if not w.results:
            return None
        if self.total:
            return _halved(builder, w.results[0], 1)
        return builder.zext(_is_everywhere(builder, w.results[0]), WORD)

    def _at_first(self) -> list[ir.Value]:
        """What the loops carry on, at first: sums, whether all is within, or where a call ended."""
        if self.otherwise is not None:
            return [WORD(-1)]
        if self.total:
            return [ir.Constant(ir.VectorType(DOUBLE, self.w.width), None)]
        if self.within is not None:
            return [self._everywhere()]
        return []

    def _everywhere(self) -> ir.Constant:
        return ir.Constant(ir.VectorType(INT, self.w.width), [-1] * self.w.width)

    def _carry_on(
        self, carried: list[ir.Value], value: ir.Value, x: ir.Value, mask: ir.Value | None = None
    ) -> list[ir.Value]:
        """`carried` after some vectors with results `value`; `mask` has those that count."""
        builder = self.w.builder
        if self.total:
            value = value if mask is None else builder.select(mask, value, self.w.zero())
            return [_added(builder, part, value) for part in carried]
        if self.within is None:
            return []
        is_within = self.within(FloatVector(self.w, x))
        return [_all_within(builder, part, is_within, mask) for part in carried]

    def _result(self, vectors: list[ir.Value], scalars: list[ir.Value]) -> ir.Value:
        n = vectors[0].type.count
        values = [*vectors, *(_repeated(self.w, number, n) for number in scalars)]
        return self.formula(*(FloatVector(self.w, value) for value in values)).value

    def _write_either(
        self,
        sources: list[ir.Value],
        out: ir.Value,
        span: tuple[ir.Value, ir.Value, int],
        scalars: list[ir.Value],
        done: ir.Value,
    ) -> ir.Value:
        """Results of `n` elements from i on, of those up to `end`: `span` is (i, end, n).

        By `otherwise` in a function of its own: it needs all registers. That does many elements
        where those before were its own, too. `done` is where its last call ended, or this one's.
        """
        w, builder, (i, end, n) = self.w, self.w.builder, span
        assert self.within is not None
        ends = [(done, builder.block)]
        with builder.if_then(builder.icmp_signed("<=", done, i), likely=True):
            at, kind = w.mul(i, 4), ir.VectorType(FLOAT, n)
            vectors = [w.load(x, at, kind) for x in sources]
            is_within = self.within(FloatVector(w, vectors[0]))
            mask = _all_within(builder, self._everywhere(), is_within, None)
            with builder.if_else(_is_everywhere(builder, mask), likely=True) as (usual, other):
                with usual:
                    w.store(self._result(vectors, scalars), out, at)
                    branches = [(done, builder.block)]
                with other:
                    follows = builder.icmp_signed("==", done, i)
                    many = builder.select(follows, WORD(_STRETCH * n), WORD(n))
                    left = builder.sub(end, i)
                    count = builder.select(builder.icmp_signed("<", many, left), many, left)
                    self._call_other(sources, out, at, count, scalars)
                    branches.append((builder.add(i, count), builder.block))
            ends.append((_joined(builder, branches), builder.block))
        return _joined(builder, ends)

    def _call_other(
        self,
        sources: list[ir.Value],
        out: ir.Value,
        at: ir.Value,
        count: ir.Value,
        scalars: list[ir.Value],
    ) -> None:
        """`otherwise` of `count` elements from byte `at` on."""
        builder = self.w.builder
        assert self.otherwise is not None
        addresses = [builder.ptrtoint(self.w.move(x, at), WORD) for x in (*sources, out)]
        arguments = [*addresses, count, *scalars]
        kind = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
        function = cgutils.get_or_insert_function(builder.module, kind, self.otherwise.symbol)
        builder.call(function, arguments)


def _joined(builder, branches):
    """The word that the branch taken gives, of pairs of words and last blocks."""
    word = builder.phi(WORD)
    for branch in branches:
        word.add_incoming(*branch)
    return word


def _all_within(builder, so_far, mask, lanes):
    """`so_far`, a vector of -1 and 0, where `mask` is set, too, or `lanes` are not."""
    if lanes is not None:
        mask = builder.or_(mask, builder.not_(lanes))
    kind = ir.VectorType(INT, mask.type.count)
    flags = builder.sext(mask, kind)
    undefined = ir.Constant(kind, ir.Undefined)
    for start in range(0, kind.count, so_far.type.count):
        order = list(range(start, start + so_far.type.count))
        order = ir.Constant(ir.VectorType(INT, len(order)), order)
        so_far = builder.and_(so_far, builder.shuffle_vector(flags, undefined, order))
    return so_far


def _is_everywhere(builder, flags):
    """Whether a vector is -1 in all places, as a bit."""
    bits = builder.icmp_signed("<", flags, ir.Constant(flags.type, None))
    bits = builder.bitcast(bits, ir.IntType(flags.type.count))
    return builder.icmp_unsigned("==", bits, ir.Constant(bits.type, -1))


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
