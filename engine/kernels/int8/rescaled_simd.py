"""The arithmetic of rescaled.py a vector at a time, where `terms` allows it (families/rescaled.py).

Of the operands of a sum or difference `a` has the larger scale: to bring it to the scale of both
is a shift. `terms` are the numbers that NAMES says. The zero points are part of the starts, which
are added to products of 64 bits: what `scaled` rounds is the upper half of these, less one where
the value is negative, shifted right. `short` are the numbers of rescaled_sum.py.
"""

from contextlib import contextmanager

from llvmlite import ir
from numba import types

from ...build.kernel import address, choose, kernel, microkernel
from ...build.vector import BYTE, INT, WORD
from .._int32 import SHORT, Integers
from ..elementwise._broadcast import SHAPE, A, B, row_step, rows_from, start_of
from ._rescaled_sum import lines

NAMES = (
    *("flip", "a_zero", "b_zero", "a_left", "b_left"),
    *("b_multiplier", "b_start", "b_right", "b_less"),
    *("limit", "multiplier", "start", "right", "less", "low", "high"),
)
"""What `terms` has, in this order.

    flip                        bits of an operand to turn over: makes uint8 an int8 128 less
    a_zero, b_zero              zero points
    a_left, b_left              shifts to the left
    b_multiplier ... b_less     how b is scaled; b_less is -1 where negative b round down by one
    limit                       below it a total is negative
    multiplier ... less         how it is scaled; the start has the zero point of the result
    low, high                   limits of the result

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
        return self._wide(self.read_masked(self.move(pointer, offset), kind, mask))

    def repeated(self, pointer):
        """A vector with one element in every place, as int32."""
        return self._wide(self.splat(self.read(pointer, 0, self._element), self._element))

    def _wide(self, elements):
        if self.size == 1:
            flip = self.splat(self.builder.trunc(self._terms["flip"], BYTE), BYTE)
            elements = self.builder.xor(elements, flip)
        return self.builder.sext(elements, self.i32_vector)

    def put(self, value, pointer, offset, mask):
        """Writes a vector of int32 as elements."""
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
        for own in (self.low_halves(pairs), odd):
            product = builder.mul(own, multiplier)
            product = builder.add(product, product) if double else product
            halves.append(builder.bitcast(builder.add(product, start), self.i32_vector))
        places = [i + 1 if i % 2 == 0 else self.width + i for i in range(self.width)]
        return self.shuffle(*halves, places)

    def steep(self, a):
        """`a` on the scale of both operands, but for its zero point."""
        return self.builder.shl(a, self.term("a_left"))

    def gentle(self, b):
        """`b` on the scale of both operands."""
        builder = self.builder
        high = self.upper(builder.shl(b, self.term("b_left")), "b_multiplier", "b_start")
        negative = builder.icmp_signed("<", b, self.term("b_zero"))
        less = builder.select(negative, self.term("b_less"), self.splat(0))
        return builder.ashr(builder.add(high, less), self.term("b_right"))

    def result(self, total):
        """The result of a total; twice the largest of int16 products needs 64 bits."""
        builder, wide = self.builder, self.size > 1
        high = self.upper(
            total if wide else builder.add(total, total), "multiplier", "start", double=wide
        )
        negative = builder.icmp_signed("<", total, self.term("limit"))
        less = builder.select(negative, self.term("less"), self.splat(0))
        value = builder.ashr(builder.add(high, less), self.term("right"))
        return self.clamp_int(value, self.term("low"), self.term("high"))


def _sum(w, a, b):
    return w.builder.add(a, b)


def _difference(w, a, b):
    return w.builder.sub(a, b)


def _reversed(w, a, b):
    return w.builder.sub(b, a)


def _squared(w, a, b):
    """The zero point of a is taken off here: the square is of the exact difference."""
    rest = w.builder.sub(w.builder.sub(a, b), w.steep(w.term("a_zero")))
    return w.builder.mul(rest, rest)


def _product(w, a, b):
    return w.builder.mul(a, b)


def _first_scaled(w, a):
    return w.steep(a)


def _second_scaled(w, b):
    return w.gentle(b)


def _first_minus_zero_point(w, a):
    return w.builder.sub(a, w.term("a_zero"))


def _second_minus_zero_point(w, b):
    return w.builder.sub(b, w.term("b_zero"))


_LINEAR, _MINUS_ZERO_POINT = (
    (_first_scaled, _second_scaled),
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


def _both(name, size):
    """The microkernel that does `rows` rows of `columns` elements; those of a are `a_row` apart."""
    total, (first, second) = FORMS[name]

    def emit(builder, simd, a, b, out, terms, rows, columns, a_row, b_row):
        w = _Scaled(builder, simd, terms, size)
        with _each_row(w, (a, b, out), rows, (a_row, b_row, columns)) as (a, b, out):

            def vector(at, mask):
                x, y = first(w, w.elements(a, at, mask)), second(w, w.elements(b, at, mask))
                w.put(w.result(total(w, x, y)), out, at, mask)

            _each_vector(w, columns, vector)

    return _microkernel(emit, f"both_{name}_{size}")


def _held(name, size, second_held):
    """Like `_both`, where each row of the operand `held` is the same: its `held_row` is 0."""
    make, make_held, joined = _sides(name, second_held)

    def emit(builder, simd, moving, held, out, terms, rows, columns, step, held_row):
        w = _Scaled(builder, simd, terms, size)
        held = w.pointer(held)

        def vector(at, mask):
            same = make_held(w, w.elements(held, at, mask))
            with _each_row(w, (moving, out), rows, (step, columns)) as (source, target):
                value = make(w, w.elements(source, at, mask))
                w.put(joined(w, value, same), target, at, mask)

        _each_vector(w, columns, vector)

    return _microkernel(emit, f"held_{name}_{size}_{int(second_held)}")


def _lone(name, size, second_lone):
    """Like `_both`, where the operand `lone` has one element for each row, `lone_row` apart."""
    make, make_lone, joined = _sides(name, second_lone)

    def emit(builder, simd, moving, lone, out, terms, rows, columns, step, lone_row):
        w = _Scaled(builder, simd, terms, size)
        places, steps = (moving, lone, out), (step, lone_row, columns)
        with _each_row(w, places, rows, steps) as (source, single, target):
            same = make_lone(w, w.repeated(single))

            def vector(at, mask):
                value = make(w, w.elements(source, at, mask))
                w.put(joined(w, value, same), target, at, mask)

            _each_vector(w, columns, vector)

    return _microkernel(emit, f"lone_{name}_{size}_{int(second_lone)}")


def _sides(name, second_still):
    """What is done with the operand that moves, with the one that stays, and with both of them.

    The one that stays is the second or the first.
    """
    total, makers = FORMS[name]

    def joined(w, moving, still):
        return w.result(total(w, moving, still) if second_still else total(w, still, moving))

    return *(makers if second_still else makers[::-1]), joined


def _microkernel(emit, name):
    emit.__name__ = name
    return microkernel(types.void(*[types.int64] * 8))(emit)


@contextmanager
def _each_row(w, addresses, rows, steps):
    """What is written inside runs for each row, with pointers `steps` elements apart."""
    steps = [w.mul(n, w.size) for n in steps]
    with w.loop(0, rows, 1, [w.pointer(p) for p in addresses]) as (_, places):
        yield tuple(places)
        places[:] = [w.move(p, n) for p, n in zip(places, steps, strict=True)]


def _each_vector(w, count, vector):
    """Writes `vector(byte offset, mask)` for all of `count` elements."""
    builder = w.builder
    whole = builder.and_(count, WORD(-w.width))
    with w.loop(0, w.mul(whole, w.size), w.size * w.width) as (at, _):
        vector(at, None)
    left = builder.sub(count, whole)
    with builder.if_then(builder.icmp_signed(">", left, WORD(0))):
        vector(w.mul(whole, w.size), w.mask(left))


def pairs_of(size, forms):
    """The kernel for elements of `size` bytes, with the microkernels of `forms`."""

    def made(make, *more):
        microkernels = [make(name, size, *more) if name in forms else None for name in FORMS]
        return choose(*(one or microkernels[0] for one in microkernels))  # None is never called

    both = made(_both)
    first_held, second_held = (made(_held, second) for second in (False, True))
    first_lone, second_lone = (made(_lone, second) for second in (False, True))

    def run(a, b, out, geometry, terms, short, form, first, last, fault):
        k = geometry.shape[1] - 1
        columns, a_step, b_step = geometry[SHAPE, k], geometry[A, k], geometry[B, k]
        a_row, b_row = row_step(geometry, A), row_step(geometry, B)
        size, numbers = out.itemsize, address(terms)
        row = first // columns
        item, column = first, first - row * columns
        left = a_start = b_start = 0
        while item < last:
            if left == 0:
                left = rows_from(geometry, row)
                a_start, b_start = start_of(geometry, row, A), start_of(geometry, row, B)
            count = min(columns - column, last - item)
            n = min((last - item) // columns, left) if count == columns and left > 1 else 1
            p = address(a) + size * (a_start + column * a_step)
            q = address(b) + size * (b_start + column * b_step)
            target = address(out) + size * item
            if short[6] != 0:
                lines(p, q, target, address(short), n, count, a_row, b_row, a_step, b_step)
            elif a_step == 0:
                first_lone(form, q, p, target, numbers, n, count, b_row, a_row)
            elif b_step == 0:
                second_lone(form, p, q, target, numbers, n, count, a_row, b_row)
            elif b_row == 0 and n > 1:
                second_held(form, p, q, target, numbers, n, count, a_row, b_row)
            elif a_row == 0 and n > 1:
                first_held(form, q, p, target, numbers, n, count, b_row, a_row)
            else:
                both(form, p, q, target, numbers, n, count, a_row, b_row)
            item, row, column, left = item + n * count, row + n, 0, left - n
            a_start, b_start = a_start + n * a_row, b_start + n * b_row

    return run


_WORDS = "a:T1 b:T1 out~a~b:T1 geometry:int64[2] terms:int64[1] short:int64[1] form:i"
kernel(_WORDS, name="pairs_8", T=("int8", "uint8"))(pairs_of(1, FORMS))
kernel(_WORDS, name="pairs_16", T=("int16",))(pairs_of(2, FORMS.keys() - {"squared"}))
