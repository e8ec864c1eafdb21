"""Vectors of int32, for the microkernels of kernels that sum products of small integers."""

from llvmlite import ir

from ..build.vector import BYTE, DOUBLE, INT, WORD, Writer

SHORT = ir.IntType(16)


class Integers(Writer):
    """A writer for vectors with as many int32 as others have float32.

    Attributes:
        i32_vector: the type of a vector of int32.
        i8_vector: that of as many int8.
    """

    def __init__(self, builder, simd):
        super().__init__(builder, simd)
        self.i32_vector = ir.VectorType(INT, self.width)
        self.i8_vector = ir.VectorType(BYTE, self.width)

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
