"""Sums of products as quantized 8-bit integers, a vector at a time, as the scalar code has it.

What a kernel needs: `terms`, int64 [blocks, TERMS] that families/multipliers.py makes, a row for
each CHANNEL_BLOCK channels, and the numbers made with them: `rounding`, `zero_point`, `low`,
`high`, `flip`. In a microkernel, a `Requantizer` for the vector of channels that begins at
`terms_at(...)` turns int32 sums into int8:

    with each_rounding(w, rounding) as roundings:
        for rounding in roundings:
            requantizer = Requantizer(w, rounding, terms, offset, (zero_point, low, high, flip))
            w.write(requantizer.bytes(sums), out)

The kinds of rounding:

    QUICK    fixedpoint.scaled for sums below 2**30 in size and shifts of -20 to -1
    GENERAL  fixedpoint.scaled for any sums and shifts
    EXACT    sums times float64, rounded to nearest, halves away from zero
    RECTIFIED
             as QUICK, where no result is below the zero point: then all negative sums give the
             lowest one, however they are rounded

Results are signed bytes, of which `flip` turns bits over: 0x80 makes them uint8 (the zero point and
the limits are then 128 less).
"""

from contextlib import contextmanager

from llvmlite import ir

from ...build.vector import BYTE, DOUBLE, INT, WORD
from ...tiling import CHANNEL_BLOCK

QUICK, GENERAL, EXACT, RECTIFIED = range(4)
TERMS = 48
"""Words of such terms."""

# Bytes from the start of a block to 64-bit multipliers and constants, those of channels 0, 2, 4 ...
# apart from those of 1, 3, 5 ..., and to 32-bit shifts. The multipliers may be float64.
_EVEN, _ODD, _EVEN_START, _ODD_START, _RIGHT_SHIFT, _LEFT_SHIFT = 0, 64, 128, 192, 256, 320


def terms_at(w, terms, channel):
    """The address of the terms of a vector that begins at `channel`, a multiple of the width."""
    block = w.builder.sdiv(channel, WORD(CHANNEL_BLOCK))
    within = w.builder.sub(channel, w.mul(block, CHANNEL_BLOCK))
    return w.add(w.add(terms, w.mul(block, 8 * TERMS)), w.mul(within, 4))


def offset_of(w, v):
    """How far the terms of the vector after `v` others lie from those of the first.

    The first one's channel must be a multiple of all the channels that are done together.
    """
    block, within = divmod(v * w.width, CHANNEL_BLOCK)
    return block * 8 * TERMS + 4 * within


@contextmanager
def each_rounding(w, rounding):
    """The kinds of rounding, to be gone through: code for each is run when `rounding` is it."""
    after = w.builder.append_basic_block()

    def kinds():
        for kind in (QUICK, RECTIFIED, GENERAL, EXACT):
            body, other = w.builder.append_basic_block(), w.builder.append_basic_block()
            w.builder.cbranch(w.builder.icmp_signed("==", rounding, WORD(kind)), body, other)
            w.builder.position_at_end(body)
            yield kind
            w.builder.branch(after)
            w.builder.position_at_end(other)
        w.builder.branch(after)
        w.builder.position_at_end(after)

    yield kinds()


class Requantizer:
    """The terms of a vector of channels in registers.

    Args:
        w: an integer writer.
        kind: QUICK, GENERAL, EXACT or RECTIFIED.
        terms: the pointer `terms_at` gives.
        offset: bytes from there (`offset_of`).
        limits: zero point, lowest and highest result, and the bits to turn over; int64 values.
    """

    def __init__(self, w, kind, terms, offset, limits):
        self.w, self.kind = w, kind
        zero_point, low, high, flip = limits
        half = w.doubles() if kind == EXACT else w.words()
        self._even, self._odd = (w.read(terms, offset + at, half, 8) for at in (_EVEN, _ODD))
        self._limits = [w.builder.trunc(limit, BYTE) for limit in (low, high, flip)]
        self._is_quick = kind in (QUICK, RECTIFIED)
        if self._is_quick:
            starts = (w.read(terms, offset + at, half, 8) for at in (_EVEN_START, _ODD_START))
            self._even_start, self._odd_start = starts
        else:
            self._zero = w.splat(w.builder.trunc(zero_point, INT))
            self._low, self._high = (
                w.splat(w.builder.trunc(w.builder.sub(limit, zero_point), INT))
                for limit in (low, high)
            )
        if kind != EXACT:
            self._right_shift = w.read(terms, offset + _RIGHT_SHIFT, w.i32_vector, 4)
        if kind == GENERAL:
            self._left_shift = w.read(terms, offset + _LEFT_SHIFT, w.i32_vector, 4)
            power = w.builder.shl(w.splat(1), self._right_shift)
            self._remainder_mask = w.builder.sub(power, w.splat(1))

    def bytes(self, sums):
        """The results of a vector of int32 sums."""
        return self.limited(self.w.saturated_bytes([self.int32(sums)]))

    def int32(self, sums):
        """The results of a vector of int32 sums before they are narrowed, and `limited`."""
        return (self._quick, self._general, self._exact, self._rectified)[self.kind](sums)

    def limited(self, values):
        """The results from what `int32` gives, narrowed to the nearest bytes."""
        w, count = self.w, values.type.count
        low, high, flip = (w.splat(limit, BYTE, count) for limit in self._limits)
        if self._is_quick:  # else it has been done
            values = w.clamp_int(values, low, high)
        return w.builder.xor(values, flip)

    def _quick(self, sums):
        """((2 * sums * multiplier + start) / 2**32 - (sums < 0)) >> right

        With start = 2**31 + 2**32 * (2**(right - 1) + zero_point * 2**right) this rounds twice and
        adds the zero point. The sign of the sums is that of the product, as far as it matters.
        """
        w, b = self.w, self.w.builder
        high = self._high_halves(b.add(sums, sums), self._even_start, self._odd_start)
        return b.ashr(b.add(high, b.ashr(sums, w.splat(31))), self._right_shift)

    def _rectified(self, sums):
        """((sums * multiplier + start) / 2**32) >> (right - 1)

        As the parts below are cut off, not rounded, both roundings can be in the start: 2**30 +
        2**31 * (2**(right - 1) + zero_point * 2**right).
        """
        high = self._high_halves(sums, self._even_start, self._odd_start)
        return self.w.builder.ashr(high, self._right_shift)

    def _high_halves(self, value, even_start, odd_start, double=False):
        """The upper 32 bits of value * multiplier + start, of the doubled product if `double`."""
        w, b = self.w, self.w.builder
        pairs = b.bitcast(value, w.words())
        halves = []
        by = w.splat(32, WORD, w.width // 2)
        for half, multiplier, start in (
            (w.low_halves(pairs), self._even, even_start),
            (b.ashr(pairs, by), self._odd, odd_start),
        ):
            product = b.mul(half, w.low_halves(multiplier))
            product = b.add(product, product) if double else product
            halves.append(b.bitcast(b.add(product, start), w.i32_vector))
        return w.shuffle(*halves, [i + 1 if i % 2 == 0 else w.width + i for i in range(w.width)])

    def _general(self, sums):
        w, b = self.w, self.w.builder
        start = w.splat(1 << 31, WORD, w.width // 2)
        value = self._high_halves(b.shl(sums, self._left_shift), start, start, double=True)
        remainder = b.and_(value, self._remainder_mask)
        threshold = b.sub(b.ashr(self._remainder_mask, w.splat(1)), b.ashr(value, w.splat(31)))
        carry = b.sext(b.icmp_signed(">", remainder, threshold), w.i32_vector)
        return self._shifted(b.sub(b.ashr(value, self._right_shift), carry))

    def _exact(self, sums):
        w, b = self.w, self.w.builder
        undefined, halves = ir.Constant(w.i32_vector, ir.Undefined), []
        for first, scale in ((0, self._even), (1, self._odd)):
            sums_half = w.shuffle(sums, undefined, list(range(first, w.width, 2)))
            value = b.fmul(b.sitofp(sums_half, w.doubles()), scale)
            half = w.call(
                f"llvm.copysign.v{w.width // 2}f64",
                value.type,
                [w.splat(0.5, DOUBLE, w.width // 2), value],
            )
            halves.append(self._truncated(b.fadd(value, half)))
        lanes = [i // 2 if i % 2 == 0 else w.width // 2 + i // 2 for i in range(w.width)]
        return self._shifted(w.shuffle(*halves, lanes))

    def _truncated(self, value):
        """float64 cut to int32; what is beyond is held within 2e9."""
        w, b = self.w, self.w.builder
        low, high = (w.splat(limit, DOUBLE, w.width // 2) for limit in (-2e9, 2e9))
        value = b.select(b.fcmp_unordered("<", value, low), low, value)
        value = b.select(b.fcmp_ordered(">", value, high), high, value)
        return b.fptosi(value, ir.VectorType(INT, w.width // 2))

    def _shifted(self, value):
        """int32 within the limits, with the zero point added."""
        w = self.w
        return w.builder.add(w.clamp_int(value, self._low, self._high), self._zero)
