"""Vectors of int32, for the microkernels of kernels that sum products of small integers."""

from llvmlite import ir

from ..build.simd import SIGNED, UNSIGNED
from ..build.vector import BYTE, DOUBLE, INT, WORD, Writer

SHORT = ir.IntType(16)
_PACKS = {
    64: ("llvm.x86.avx512.packssdw.512", "llvm.x86.avx512.packsswb.512"),
    32: ("llvm.x86.avx2.packssdw", "llvm.x86.avx2.packsswb"),
}
"""Bytes of a vector -> what packs two vectors of int32, and two of int16, within 16-byte lanes."""
_DOTS = {
    (16, UNSIGNED): ("llvm.x86.avx512.vpdpbusd.512", "llvm.x86.avx512.vpdpwssd.512"),
    (8, UNSIGNED): ("llvm.x86.avx512.vpdpbusd.256", "llvm.x86.avx512.vpdpwssd.256"),
    (4, UNSIGNED): ("llvm.x86.avx512.vpdpbusd.128", "llvm.x86.avx512.vpdpwssd.128"),
    (4, SIGNED): ("llvm.aarch64.neon.sdot.v4i32.v16i8", ""),
}
"""Width of a vector and the bytes it multiplies -> what adds products of fours and of pairs."""

_PAIRS = {8: "llvm.x86.avx2.pmadd.wd", 4: "llvm.x86.sse2.pmadd.wd"}
"""Width of a vector of AVX2 -> what adds products of pairs."""


class Integers(Writer):
    """A writer for vectors with as many int32 as others have float32.

    Attributes:
        i32_vector: the type of a vector of int32.
        i8_vector: that of as many int8.
        i16_pairs: that of two int16 for each.
    """

    BLOCK = 4
    """Vectors of int32 that are narrowed to bytes together."""

    def __init__(self, builder, simd):
        super().__init__(builder, simd)
        self.i32_vector = ir.VectorType(INT, self.width)
        self.i8_vector = ir.VectorType(BYTE, self.width)
        self.i16_pairs = ir.VectorType(SHORT, 2 * self.width)

    def splat(self, value, kind=INT, count=0):
        """A vector that holds one number in each place: a Python int or a value of `kind`."""
        count = count or self.width
        vector = ir.VectorType(kind, count)
        if isinstance(value, int | float):
            return ir.Constant(vector, [value] * count)
        first_lane = self.builder.insert_element(ir.Constant(vector, ir.Undefined), value, INT(0))
        order = ir.Constant(ir.VectorType(INT, count), None)
        return self.builder.shuffle_vector(first_lane, ir.Constant(vector, ir.Undefined), order)

    def read(self, pointer, offset, kind, align=1):
        """What lies at `offset` from `pointer`, at any address that `align` divides."""
        value = self.builder.load(self.move(pointer, offset), typ=kind)
        value.align = align
        return value

    def read_masked(self, pointer, kind, mask):
        """A vector of integers of which only the lanes of `mask` are read; the others are 0.

        Without a mask all are read.
        """
        if mask is None:
            return self.read(pointer, 0, kind)
        name = f"llvm.masked.load.v{kind.count}i{kind.element.width}.p0"
        return self.call(name, kind, [pointer, INT(1), mask, ir.Constant(kind, None)])

    def write(self, value, pointer, offset=0):
        """Stores a value at any address."""
        self.builder.store(value, self.move(pointer, offset)).align = 1

    def write_masked(self, value, pointer, mask):
        """Stores the lanes of `mask` only, or all without one, at any address."""
        if mask is None:
            self.write(value, pointer)
            return
        name = f"llvm.masked.store.v{value.type.count}i{value.type.element.width}.p0"
        self.call(name, ir.VoidType(), [value, pointer, INT(1), mask])

    def maximum(self, a, b):
        """The greater of a and b, place by place."""
        return self._either("smax", a, b)

    def minimum(self, a, b):
        """The lesser of a and b, place by place."""
        return self._either("smin", a, b)

    def lesser_unsigned(self, a, b):
        """The lesser of a and b as numbers without a sign, place by place."""
        return self._either("umin", a, b)

    def _either(self, name, a, b):
        kind = a.type
        return self.call(f"llvm.{name}.v{kind.count}i{kind.element.width}", kind, [a, b])

    def clamp_int(self, value, low, high):
        """`value` within [low, high]."""
        return self.minimum(self.maximum(value, low), high)

    def shuffle(self, a, b, lanes):
        """The elements of a and then b at `lanes`."""
        order = ir.Constant(ir.VectorType(INT, len(lanes)), lanes)
        return self.builder.shuffle_vector(a, b, order)

    def add_fours(self, total, inputs, weights):
        """total + the sums of four products each of bytes.

        Inputs are unsigned where the processor multiplies unsigned bytes (simd.dots), weights are
        signed.
        """
        dot = _DOTS[self.width, self.simd.dots][0]
        is_signed = self.simd.dots == SIGNED
        kind = ir.VectorType(BYTE, 4 * self.width) if is_signed else self.i32_vector
        inputs, weights = (self.builder.bitcast(x, kind) for x in (inputs, weights))
        return self.call(dot, self.i32_vector, [total, inputs, weights])

    def add_pairs(self, total, a, b):
        """total + the sums of two products each of int16."""
        if self.simd.dots == UNSIGNED:  # a processor that multiplies bytes multiplies these, too
            a, b = (self.builder.bitcast(x, self.i32_vector) for x in (a, b))
            return self.call(_DOTS[self.width, UNSIGNED][1], self.i32_vector, [total, a, b])
        return self.builder.add(total, self.sums_of_pairs(a, b))

    def sums_of_pairs(self, a, b):
        """The sums of two products each of int16."""
        if self.simd.fused and self.simd.registers == 16:  # LLVM may move half of it out of loops
            return self.call(_PAIRS[self.width], self.i32_vector, [a, b])
        builder, kind = self.builder, ir.VectorType(INT, 2 * self.width)
        products = builder.mul(builder.sext(a, kind), builder.sext(b, kind))
        even, odd = (
            self.shuffle(products, products, list(range(i, 2 * self.width, 2))) for i in (0, 1)
        )
        return builder.add(even, odd)

    def saturated_bytes(self, vectors):
        """int32 as signed bytes, the nearest ones: of a vector, or of the four of a block.

        The first four bytes of each 16-byte lane of a block are of the first vector.
        """
        if len(vectors) == 1:
            value = self.clamp_int(vectors[0], self.splat(-128), self.splat(127))
            return self.builder.trunc(value, self.i8_vector)
        n, lane = 4 * self.width, 4
        if n in _PACKS:
            kind = ir.VectorType(SHORT, n // 2)
            pairs = [self.call(_PACKS[n][0], kind, vectors[k : k + 2]) for k in (0, 2)]
            return self.saturated_shorts(*pairs)
        assert self.width == lane  # one lane: the vectors follow each other
        halves = [self.shuffle(*vectors[k : k + 2], list(range(2 * lane))) for k in (0, 2)]
        value = self.shuffle(*halves, list(range(n)))
        value = self.clamp_int(value, self.splat(-128, INT, n), self.splat(127, INT, n))
        return self.builder.trunc(value, ir.VectorType(BYTE, n))

    def saturated_shorts(self, a, b):
        """int16 as the nearest int8: those of `a`, then of `b`, in each 16-byte lane."""
        n = 4 * self.width
        if n in _PACKS:
            return self.call(_PACKS[n][1], ir.VectorType(BYTE, n), [a, b])
        value = self.shuffle(a, b, list(range(n)))
        value = self.clamp_int(value, self.splat(-128, SHORT, n), self.splat(127, SHORT, n))
        return self.builder.trunc(value, ir.VectorType(BYTE, n))

    def upper_halves_as_bytes(self, vectors):
        """The upper halves of the int32 of a block's four vectors as the nearest int8.

        The first four bytes of each 16-byte lane are of the first vector.
        """
        shift, halves = self.splat(16), []
        for even, odd in (vectors[:2], vectors[2:]):
            halves.append(self._alternating(self.builder.lshr(even, shift), odd))
        block = self.saturated_shorts(*halves)
        lane = [2 * (i % 4) + i // 4 % 2 + 8 * (i // 8) for i in range(16)]
        order = [start + i for start in range(0, block.type.count, 16) for i in lane]
        return self.shuffle(block, block, order)

    def _alternating(self, even, odd):
        """The even int16 of a vector of int32, and the odd ones of another."""
        n = 2 * self.width
        kind = ir.VectorType(SHORT, n)
        even, odd = (self.builder.bitcast(x, kind) for x in (even, odd))
        return self.shuffle(even, odd, [i + n * (i % 2) for i in range(n)])

    def no_lower_half_below(self, vectors, limit):
        """Whether of vectors of int32 no lower half is below a limit, all without a sign.

        The limit is a vector of int32, too.
        """
        kind = ir.VectorType(SHORT, 2 * self.width)
        least, *others = (self.builder.bitcast(x, kind) for x in vectors)
        for other in others:
            least = self.lesser_unsigned(least, other)
        name = f"llvm.usub.sat.v{kind.count}i16"
        below = self.call(name, kind, [self.builder.bitcast(limit, kind), least])
        bits = ir.IntType(16 * kind.count)
        return self.builder.icmp_unsigned("==", self.builder.bitcast(below, bits), bits(0))

    def bytes_in_lanes(self, a, b, is_high):
        """The bytes of a and of b in turns, of the lower or upper halves of their 16-byte lanes."""
        n, start = a.type.count, 8 * is_high
        lane = [start + i // 2 + n * (i % 2) for i in range(16)]
        return self.shuffle(a, b, [first + i for first in range(0, n, 16) for i in lane])

    def shorts_in_order(self, a, b):
        """The nearest int16 of two vectors of int32, those of the first one first."""
        n = 2 * self.width
        kind = ir.VectorType(SHORT, n)
        if 2 * n not in _PACKS:
            value = self.shuffle(a, b, list(range(n)))
            low, high = (self.splat(number, INT, n) for number in (-(1 << 15), (1 << 15) - 1))
            return self.builder.trunc(self.clamp_int(value, low, high), kind)
        packed = self.call(_PACKS[2 * n][0], kind, [a, b])
        fours = self.builder.bitcast(packed, self.words())
        order = [*range(0, n // 4, 2), *range(1, n // 4, 2)]
        return self.builder.bitcast(self.shuffle(fours, fours, order), kind)

    def block_in_order(self, block):
        """The bytes of a block, those of the first vector first."""
        n, lanes = self.width, self.width // 4
        order = [lane * 4 + v for v in range(4) for lane in range(lanes)]
        fours = self.builder.bitcast(block, ir.VectorType(INT, n))
        return self.builder.bitcast(self.shuffle(fours, fours, order), block.type)

    def bytes_in_order(self, vectors):
        """The low bytes of four vectors of int32, those of the first vector first."""
        n = self.width
        halves = [self.shuffle(*vectors[k : k + 2], list(range(2 * n))) for k in (0, 2)]
        value = self.shuffle(*halves, list(range(4 * n)))
        return self.builder.trunc(value, ir.VectorType(BYTE, 4 * n))

    def in_lane_order(self, vectors):
        """The lanes of a block's four vectors as four others: all first lanes, all second ones ...

        One vector stays as it is.
        """
        if len(vectors) == 1:
            return vectors
        n, lane = self.width, 4
        halves = [self.shuffle(*vectors[k : k + 2], list(range(2 * n))) for k in (0, 2)]
        order = [
            lane_start + k * n + i
            for lane_start in range(0, n, lane)
            for k in range(4)
            for i in range(lane)
        ]
        return [self.shuffle(*halves, order[k * n : (k + 1) * n]) for k in range(4)]

    def doubles(self):
        """The type of half as many float64."""
        return ir.VectorType(DOUBLE, self.width // 2)

    def words(self):
        """The type of half as many int64."""
        return ir.VectorType(WORD, self.width // 2)

    def low_halves(self, words):
        """The lower 32 bits of int64, with their sign: what LLVM multiplies in one instruction."""
        by = self.splat(32, WORD, words.type.count)
        return self.builder.ashr(self.builder.shl(words, by), by)
