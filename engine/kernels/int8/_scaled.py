"""A writer of the arithmetic of two quantized operands, as families/rescaled.py prepares it."""

from llvmlite import ir

from ...build.vector import BYTE, INT, WORD
from .._int32 import SHORT, Integers

NAMES = (
    *("flip", "a_zero", "b_zero", "a_left", "b_left"),
    *("b_multiplier", "b_start", "b_right", "b_less"),
    *("limit", "multiplier", "start", "right", "less", "low", "high"),
)
"""What `terms` has, in this order.

    flip                        bits of elements to turn over: makes uint8 an int8 128 less
    a_zero, b_zero              zero points
    a_left, b_left              shifts to the left
    b_multiplier ... b_less     how b is scaled; b_less is -1 where negative b round down by one
    limit                       below it a total is negative
    multiplier ... less         how it is scaled; the start has the zero point of the result
    low, high                   limits of the result, before its bits are turned over

Then come both multipliers, each as often as an int64 vector is wide at most.
"""
_VECTORS = {"b_multiplier": len(NAMES), "multiplier": len(NAMES) + 8}


class Scaled(Integers):
    """A writer that knows the terms.

    Args:
        terms: their address.
        size: bytes of an element.
    """

    def __init__(self, builder, simd, terms, size):
        super().__init__(builder, simd)
        self.size, self._memory = size, self.pointer(terms)
        self._element = BYTE if size == 1 else SHORT
        self._terms = {name: self.load(self._memory, 8 * i, WORD) for i, name in enumerate(NAMES)}

    def term(self, name):
        """A vector of int32 with a term in every place."""
        return self.splat(self.builder.trunc(self._terms[name], INT))

    def long_term(self, name):
        """A vector of int64 with a term in every place."""
        return self.splat(self._terms[name], WORD, self.width // 2)

    def elements(self, pointer, offset, mask):
        """A vector of elements as int32; with `mask` only its places are read."""
        kind = ir.VectorType(self._element, self.width)
        return self._as_int32(self.read_masked(self.move(pointer, offset), kind, mask))

    def repeated(self, pointer):
        """A vector with one element in every place, as int32."""
        return self._as_int32(self.splat(self.read(pointer, 0, self._element), self._element))

    def _as_int32(self, elements):
        if self.size == 1:
            flip = self.splat(self.builder.trunc(self._terms["flip"], BYTE), BYTE)
            elements = self.builder.xor(elements, flip)
        return self.builder.sext(elements, self.i32_vector)

    def put(self, values, pointer, offset, mask=None):
        """Writes vectors of int32 as elements within the limits: one, or four of bytes."""
        if self.size == 1:
            value = self.saturated_bytes(values)
            value = self.block_in_order(value) if len(values) > 1 else value
            low, high, flip = (
                self.splat(self.builder.trunc(self._terms[name], BYTE), BYTE, value.type.count)
                for name in ("low", "high", "flip")
            )
            value = self.builder.xor(self.clamp_int(value, low, high), flip)
        else:
            value = self.clamp_int(values[0], self.term("low"), self.term("high"))
            value = self.builder.trunc(value, ir.VectorType(self._element, self.width))
        self.write_masked(value, self.move(pointer, offset), mask)

    def upper(self, value, multiplier, start, double=False):
        """The upper 32 bits of value * multiplier + start; of the product twice if `double`.

        The multiplier is read here: LLVM must see that it has 32 bits to take one instruction.
        """
        builder, half = self.builder, self.width // 2
        pairs = builder.bitcast(value, self.words())
        multiplier = self.read(self._memory, 8 * _VECTORS[multiplier], self.words(), 8)
        multiplier = self.low_halves(multiplier)
        start = self.long_term(start)
        odd = builder.ashr(pairs, self.splat(32, WORD, half))
        halves = []
        for words in (self.low_halves(pairs), odd):
            product = builder.mul(words, multiplier)
            product = builder.add(product, product) if double else product
            halves.append(builder.bitcast(builder.add(product, start), self.i32_vector))
        lanes = [i + 1 if i % 2 == 0 else self.width + i for i in range(self.width)]
        return self.shuffle(*halves, lanes)

    def scale_a(self, a):
        """`a` on the scale of both operands, but for its zero point."""
        return self.builder.shl(a, self.term("a_left"))

    def scale_b(self, b):
        """`b` on the scale of both operands."""
        builder = self.builder
        high = self.upper(builder.shl(b, self.term("b_left")), "b_multiplier", "b_start")
        negative = builder.icmp_signed("<", b, self.term("b_zero"))
        rounding = builder.select(negative, self.term("b_less"), self.splat(0))
        return builder.ashr(builder.add(high, rounding), self.term("b_right"))

    def result(self, total):
        """The result of a total, before the limits.

        Twice the largest of int16 products needs 64 bits.
        """
        builder, is_int16 = self.builder, self.size > 1
        high = self.upper(
            total if is_int16 else builder.add(total, total), "multiplier", "start", double=is_int16
        )
        negative = builder.icmp_signed("<", total, self.term("limit"))
        rounding = builder.select(negative, self.term("less"), self.splat(0))
        return builder.ashr(builder.add(high, rounding), self.term("right"))
