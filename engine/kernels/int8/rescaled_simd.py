"""The arithmetic of rescaled.py a vector at a time, where `terms` allows it (families/rescaled.py).

Of the operands of a sum or difference `a` has the larger scale: to bring it to the scale of both
is a shift. `terms` are the numbers that NAMES says. The zero points are part of the starts, which
are added to products of 64 bits: what `scaled` rounds is the upper half of these, less one where
the value is negative, shifted right. `short` are the numbers of rescaled_sum.py or
rescaled_product.py.
"""

from contextlib import contextmanager

from llvmlite import ir
from numba import types

from ...build.kernel import address, choose, kernel, microkernel
from ...build.vector import BYTE, INT, WORD
from ...tiling import AWAY_SUM_FORM, FORM, PRODUCT_FORM, SUM_FORM
from .._int32 import SHORT, Integers
from ..elementwise._broadcast import SHAPE, A, B, row_step, rows_from, start_of
from ._rescaled_sum import away_lines, lines, products

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


class _Scaled(Integers):
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


def _sum(w, a, b):
    return w.builder.add(a, b)


def _difference(w, a, b):
    return w.builder.sub(a, b)


def _reversed(w, a, b):
    return w.builder.sub(b, a)


def _squared(w, a, b):
    """The zero point of a is taken off here: the square is of the exact difference."""
    difference = w.builder.sub(w.builder.sub(a, b), w.scale_a(w.term("a_zero")))
    return w.builder.mul(difference, difference)


def _product(w, a, b):
    return w.builder.mul(a, b)


def _scale_first(w, a):
    return w.scale_a(a)


def _scale_second(w, b):
    return w.scale_b(b)


def _first_minus_zero_point(w, a):
    return w.builder.sub(a, w.term("a_zero"))


def _second_minus_zero_point(w, b):
    return w.builder.sub(b, w.term("b_zero"))


_LINEAR, _MINUS_ZERO_POINT = (
    (_scale_first, _scale_second),
    (_first_minus_zero_point, _second_minus_zero_point),
)
FORMS = {
    "sum": (_sum, _LINEAR),
    "difference": (_difference, _LINEAR),
    "reversed": (_reversed, _LINEAR),
    "squared": (_squared, _LINEAR),
    "product": (_product, _MINUS_ZERO_POINT),
}
"""Name -> what makes a total of two operands, and what is done with each of them before.

The reversed difference is b - a. The number of a form is its place here.
"""


def _no_repeats(name, size):
    """The microkernel that does `rows` rows of `columns` elements; those of a are `a_row` apart."""
    total, (first, second) = FORMS[name]

    def emit(builder, simd, a, b, out, terms, rows, columns, a_row, b_row):
        w = _Scaled(builder, simd, terms, size)
        with _each_row(w, (a, b, out), rows, (a_row, b_row, columns)) as (a, b, out):

            def vectors(offsets, mask=None):
                pairs = [(w.elements(a, at, mask), w.elements(b, at, mask)) for at in offsets]
                results = [w.result(total(w, first(w, x), second(w, y))) for x, y in pairs]
                w.put(results, out, offsets[0], mask)

            _each_block(w, columns, vectors)

    return _microkernel(emit, f"no_repeats_{name}_{size}")


def _repeated_row(name, size, second_repeats):
    """Like `_no_repeats`, where all rows of the operand `repeated` are the same.

    Its `repeated_step` is 0.
    """
    make, make_repeated, combine = _sides(name, second_repeats)

    def emit(builder, simd, full, repeated, out, terms, rows, columns, step, repeated_step):
        w = _Scaled(builder, simd, terms, size)
        repeated = w.pointer(repeated)

        def vectors(offsets, mask=None):
            others = [make_repeated(w, w.elements(repeated, at, mask)) for at in offsets]
            with _each_row(w, (full, out), rows, (step, columns)) as (source, target):
                values = [make(w, w.elements(source, at, mask)) for at in offsets]
                results = [combine(w, *pair) for pair in zip(values, others, strict=True)]
                w.put(results, target, offsets[0], mask)

        _each_block(w, columns, vectors)

    return _microkernel(emit, f"repeated_row_{name}_{size}_{int(second_repeats)}")


def _repeated_element(name, size, second_repeats):
    """Like `_no_repeats`, where the operand `repeated` has one element for each row.

    They are `repeated_step` apart.
    """
    make, make_repeated, combine = _sides(name, second_repeats)

    def emit(builder, simd, full, repeated, out, terms, rows, columns, step, repeated_step):
        w = _Scaled(builder, simd, terms, size)
        addresses, steps = (full, repeated, out), (step, repeated_step, columns)
        with _each_row(w, addresses, rows, steps) as (source, single, target):
            repeated_value = make_repeated(w, w.repeated(single))

            def vectors(offsets, mask=None):
                values = [make(w, w.elements(source, at, mask)) for at in offsets]
                results = [combine(w, value, repeated_value) for value in values]
                w.put(results, target, offsets[0], mask)

            _each_block(w, columns, vectors)

    return _microkernel(emit, f"repeated_element_{name}_{size}_{int(second_repeats)}")


def _sides(name, second_repeats):
    """What is done with the operand that moves, with the one that stays, and with both of them.

    The one that stays is the second or the first.
    """
    total, makers = FORMS[name]

    def combine(w, full, repeated):
        return w.result(total(w, full, repeated) if second_repeats else total(w, repeated, full))

    return *(makers if second_repeats else makers[::-1]), combine


def _microkernel(emit, name):
    emit.__name__ = name
    return microkernel(types.void(*[types.int64] * 8))(emit)


@contextmanager
def _each_row(w, addresses, rows, steps):
    """What is written inside runs for each row, with pointers `steps` elements apart."""
    steps = [w.mul(n, w.size) for n in steps]
    with w.loop(0, rows, 1, [w.pointer(p) for p in addresses]) as (_, pointers):
        yield tuple(pointers)
        pointers[:] = [w.move(p, n) for p, n in zip(pointers, steps, strict=True)]


def _each_block(w, count, vectors):
    """Writes `vectors(byte offsets, mask)` for all of `count` elements: blocks of bytes, then one.

    The mask is left out where all elements of a vector are there.
    """
    builder, begin = w.builder, WORD(0)
    for n_vectors in (w.BLOCK, 1) if w.size == 1 else (1,):
        n = n_vectors * w.width
        end = builder.and_(count, WORD(-n))
        with w.loop(w.mul(begin, w.size), w.mul(end, w.size), n * w.size) as (at, _):
            vectors([w.add(at, i * w.size * w.width) for i in range(n_vectors)])
        begin = end
    n_columns = builder.sub(count, begin)
    with builder.if_then(builder.icmp_signed(">", n_columns, WORD(0))):
        vectors([w.mul(begin, w.size)], w.mask(n_columns))


def pairs_of(size, forms):
    """The kernel for elements of `size` bytes, with the microkernels of `forms`."""

    def chosen(make, *options):
        microkernels = {name: make(name, size, *options) for name in FORMS if name in forms}
        any_other = next(iter(microkernels.values()))  # never called
        return choose(*(microkernels.get(name, any_other) for name in FORMS))

    no_repeats = chosen(_no_repeats)
    first_row_repeats, second_row_repeats = (
        chosen(_repeated_row, second) for second in (False, True)
    )
    first_element_repeats, second_element_repeats = (
        chosen(_repeated_element, second) for second in (False, True)
    )

    def run(a, b, out, geometry, terms, short, form, first, last, fault):
        k = geometry.shape[1] - 1
        columns, a_step, b_step = geometry[SHAPE, k], geometry[A, k], geometry[B, k]
        a_row, b_row = row_step(geometry, A), row_step(geometry, B)
        size, numbers = out.itemsize, address(terms)
        row = first // columns
        item, column = first, first - row * columns
        n_rows = a_start = b_start = 0
        while item < last:
            if n_rows == 0:
                n_rows = rows_from(geometry, row)
                a_start, b_start = start_of(geometry, row, A), start_of(geometry, row, B)
            count = min(columns - column, last - item)
            n = min((last - item) // columns, n_rows) if count == columns and n_rows > 1 else 1
            p = address(a) + size * (a_start + column * a_step)
            q = address(b) + size * (b_start + column * b_step)
            target = address(out) + size * item
            if short[FORM] == SUM_FORM:
                lines(p, q, target, address(short), n, count, a_row, b_row, a_step, b_step)
            elif short[FORM] == AWAY_SUM_FORM:
                away_lines(p, q, target, address(short), n, count, a_row, b_row, a_step, b_step)
            elif short[FORM] == PRODUCT_FORM:
                products(p, q, target, address(short), n, count, a_row, b_row, a_step, b_step)
            elif a_step == 0:
                first_element_repeats(form, q, p, target, numbers, n, count, b_row, a_row)
            elif b_step == 0:
                second_element_repeats(form, p, q, target, numbers, n, count, a_row, b_row)
            elif b_row == 0 and n > 1:
                second_row_repeats(form, p, q, target, numbers, n, count, a_row, b_row)
            elif a_row == 0 and n > 1:
                first_row_repeats(form, q, p, target, numbers, n, count, b_row, a_row)
            else:
                no_repeats(form, p, q, target, numbers, n, count, a_row, b_row)
            item, row, column, n_rows = item + n * count, row + n, 0, n_rows - n
            a_start, b_start = a_start + n * a_row, b_start + n * b_row

    return run


_WORDS = "a:T1 b:T1 out~a~b:T1 geometry:int64[2] terms:int64[1] short:int64[1] form:i"
kernel(_WORDS, name="pairs_8", T=("int8", "uint8"))(pairs_of(1, FORMS))
kernel(_WORDS, name="pairs_16", T=("int16",))(pairs_of(2, FORMS.keys() - {"squared"}))
