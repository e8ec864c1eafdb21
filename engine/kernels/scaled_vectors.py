"""The arithmetic of scaled.py a vector at a time, where `terms` allows it (families/scaled.py).

Of the operands of a sum or difference `a` has the larger scale: to bring it to the scale of both
is a shift. `terms` are the numbers that NAMES says. The zero points are part of the starts, which
are added to products of 64 bits: what `scaled` rounds is the upper half of these, less one where
the value is negative, shifted right. `short` are the numbers of linear_pairs.py.
"""

from llvmlite import ir
from numba import types

from ..kernel import address, inline, kernel, piece, room
from ..vector import BYTE, INT, WORD
from ._integers import SHORT, Integers
from ._line import line
from ._pairs import starts

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
_SPREAD = 16  # elements of a repeated number
_room = room(2 * _SPREAD)


class _Scaled(Integers):
    """A writer that knows the terms.

    Args:
        terms: their address.
        size: bytes of an element.
    """

    def __init__(self, builder, lanes, terms, size):
        super().__init__(builder, lanes)
        self.size, self._memory = size, self.pointer(terms)
        self._terms = {name: self.load(self._memory, 8 * i, WORD) for i, name in enumerate(NAMES)}

    def term(self, name):
        """A vector of int32 with a term in every place."""
        return self.all(self.builder.trunc(self._terms[name], INT))

    def long_term(self, name):
        """A vector of int64 with a term in every place."""
        return self.all(self._terms[name], WORD, self.width // 2)

    def elements(self, pointer, offset, mask):
        """A vector of elements as int32; with `mask` only its places are read."""
        kind = ir.VectorType(BYTE if self.size == 1 else SHORT, self.width)
        value = self.read_some(self.move(pointer, offset), kind, mask)
        if self.size == 1:
            flip = self.all(self.builder.trunc(self._terms["flip"], BYTE), BYTE)
            value = self.builder.xor(value, flip)
        return self.builder.sext(value, self.ints)

    def put(self, value, pointer, offset, mask):
        """Writes a vector of int32 as elements."""
        kind = ir.VectorType(BYTE if self.size == 1 else SHORT, self.width)
        value = self.builder.trunc(value, kind)
        self.write_some(value, self.move(pointer, offset), mask)

    def upper(self, value, multiplier, start, double=False):
        """The upper 32 bits of value * multiplier + start; of the product twice if `double`.

        The multiplier is read here: LLVM must see that it has 32 bits to take one instruction.
        """
        builder, half = self.builder, self.width // 2
        pairs = builder.bitcast(value, self.words())
        multiplier = self.read(self._memory, 8 * _VECTORS[multiplier], self.words(), 8)
        multiplier = self.low_halves(multiplier)
        start = self.long_term(start)
        odd = builder.ashr(pairs, self.all(32, WORD, half))
        halves = []
        for own in (self.low_halves(pairs), odd):
            product = builder.mul(own, multiplier)
            product = builder.add(product, product) if double else product
            halves.append(builder.bitcast(builder.add(product, start), self.ints))
        places = [i + 1 if i % 2 == 0 else self.width + i for i in range(self.width)]
        return self.chosen(*halves, places)

    def steep(self, a):
        """`a` on the scale of both operands, but for its zero point."""
        return self.builder.shl(a, self.term("a_left"))

    def gentle(self, b):
        """`b` on the scale of both operands."""
        builder = self.builder
        high = self.upper(builder.shl(b, self.term("b_left")), "b_multiplier", "b_start")
        negative = builder.icmp_signed("<", b, self.term("b_zero"))
        less = builder.select(negative, self.term("b_less"), self.all(0))
        return builder.ashr(builder.add(high, less), self.term("b_right"))

    def result(self, total):
        """The result of a total; twice the largest of int16 products needs 64 bits."""
        builder, wide = self.builder, self.size > 1
        high = self.upper(
            total if wide else builder.add(total, total), "multiplier", "start", double=wide
        )
        negative = builder.icmp_signed("<", total, self.term("limit"))
        less = builder.select(negative, self.term("less"), self.all(0))
        value = builder.ashr(builder.add(high, less), self.term("right"))
        return self.hold(value, self.term("low"), self.term("high"))


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


def _first_centred(w, a):
    return w.builder.sub(a, w.term("a_zero"))


def _second_centred(w, b):
    return w.builder.sub(b, w.term("b_zero"))


_LINEAR, _CENTRED = (_first_scaled, _second_scaled), (_first_centred, _second_centred)
FORMS = {
    "sum": (_sum, _LINEAR),
    "difference": (_difference, _LINEAR),
    "reversed": (_reversed, _LINEAR),
    "squared": (_squared, _LINEAR),
    "product": (_product, _CENTRED),
}
"""Name -> what makes a total of two operands, and what is done with each of them before.

The reversed difference is b - a. The number of a form is its place here.
"""


def _both(name, size):
    """The piece out[i] = a[i] with b[i] for `count` elements."""
    total, (first, second) = FORMS[name]

    def emit(builder, lanes, a, b, out, terms, count):
        w = _Scaled(builder, lanes, terms, size)
        a, b, out = (w.pointer(p) for p in (a, b, out))

        def vector(at, mask):
            x, y = first(w, w.elements(a, at, mask)), second(w, w.elements(b, at, mask))
            w.put(w.result(total(w, x, y)), out, at, mask)

        _each_vector(w, count, vector)

    emit.__name__ = f"both_{name}_{size}"
    return piece(types.void(*[types.int64] * 5))(emit)


def _held(name, size, second_held):
    """The piece that does rows of `columns` elements; the operand `held` is the same for each.

    The rows of the other one, `moving`, are `step` elements apart.
    """
    total, makers = FORMS[name]

    def emit(builder, lanes, moving, held, out, terms, rows, columns, step):
        w = _Scaled(builder, lanes, terms, size)
        moving, held, out = (w.pointer(p) for p in (moving, held, out))
        make, make_held = makers if second_held else makers[::-1]
        step, pitch = w.mul(step, size), w.mul(columns, size)

        def vector(at, mask):
            same = make_held(w, w.elements(held, at, mask))
            start = [w.move(moving, at), w.move(out, at)]
            with w.loop(0, rows, 1, start) as (_, carried):
                source, target = carried
                value = make(w, w.elements(source, 0, mask))
                pair = (value, same) if second_held else (same, value)
                w.put(w.result(total(w, *pair)), target, 0, mask)
                carried[:] = [w.move(source, step), w.move(target, pitch)]

        _each_vector(w, columns, vector)

    emit.__name__ = f"held_{name}_{size}_{int(second_held)}"
    return piece(types.void(*[types.int64] * 7))(emit)


def _each_vector(w, count, vector):
    """Writes `vector(byte offset, mask)` for all of `count` elements."""
    builder = w.builder
    whole = builder.and_(count, WORD(-w.width))
    with w.loop(0, w.mul(whole, w.size), w.size * w.width) as (at, _):
        vector(at, None)
    left = builder.sub(count, whole)
    with builder.if_then(builder.icmp_signed(">", left, WORD(0))):
        vector(w.mul(whole, w.size), w.mask(left))


@piece(types.void(*[types.int64] * 3), inline=True)
def spread(builder, lanes, source, target, size):
    """Writes the element of `size` bytes at `source` _SPREAD times."""
    w = Integers(builder, lanes)
    source, target = w.pointer(source), w.pointer(target)
    narrow = builder.icmp_signed("==", size, WORD(1))
    with builder.if_else(narrow) as (one, two):
        for branch, kind in ((one, BYTE), (two, SHORT)):
            with branch:
                w.write(w.all(w.read(source, 0, kind), kind, _SPREAD), target)


def _choice(pieces):
    """A function that calls the piece of the form with the number `form`; None is never called."""
    zero, one, two, three, four = (piece or pieces[0] for piece in pieces)

    @inline
    def both(form, a, b, out, terms, count):
        if form == 0:
            zero(a, b, out, terms, count)
        elif form == 1:
            one(a, b, out, terms, count)
        elif form == 2:
            two(a, b, out, terms, count)
        elif form == 3:
            three(a, b, out, terms, count)
        else:
            four(a, b, out, terms, count)

    @inline
    def held(form, moving, same, out, terms, rows, columns, step):
        if form == 0:
            zero(moving, same, out, terms, rows, columns, step)
        elif form == 1:
            one(moving, same, out, terms, rows, columns, step)
        elif form == 2:
            two(moving, same, out, terms, rows, columns, step)
        elif form == 3:
            three(moving, same, out, terms, rows, columns, step)
        else:
            four(moving, same, out, terms, rows, columns, step)

    return both, held


def pairs_of(size, forms):
    """The kernel for elements of `size` bytes, with the pieces of `forms`."""

    def made(make, *more):
        return [make(name, size, *more) if name in forms else None for name in FORMS]

    both, _ = _choice(made(_both))
    (_, first_held), (_, second_held) = (_choice(made(_held, held)) for held in (False, True))

    def run(a, b, out, geometry, terms, short, form, first, last, fault):
        k = geometry.shape[1] - 1
        columns, a_step, b_step = geometry[0, k], geometry[1, k], geometry[2, k]
        size, numbers, repeated = out.itemsize, address(terms), _room()
        rows = geometry[0, k - 1] if k > 0 else 1
        a_row, b_row = (geometry[1, k - 1], geometry[2, k - 1]) if k > 0 else (0, 0)
        item = first
        while item < last:
            row = item // columns
            start = item - row * columns
            a_start, b_start = starts(geometry, row)
            p = address(a) + size * (a_start + start * a_step)
            q = address(b) + size * (b_start + start * b_step)
            target, count = address(out) + size * item, min(columns - start, last - item)
            n = min((last - item) // columns, rows - row % rows) if start == 0 else 0
            if a_step != b_step:
                held, moving = (q, p) if b_step == 0 else (p, q)
                spread(held, repeated, size)
                lines = count // _SPREAD
                done = size * lines * _SPREAD
                rest = count - lines * _SPREAD
                if b_step == 0:
                    second_held(form, moving, repeated, target, numbers, lines, _SPREAD, _SPREAD)
                    second_held(form, moving + done, repeated, target + done, numbers, 1, rest, 0)
                else:
                    first_held(form, moving, repeated, target, numbers, lines, _SPREAD, _SPREAD)
                    first_held(form, moving + done, repeated, target + done, numbers, 1, rest, 0)
            elif n > 1 and b_row == 0:
                second_held(form, p, q, target, numbers, n, columns, a_row)
                count = n * columns
            elif n > 1 and a_row == 0:
                first_held(form, q, p, target, numbers, n, columns, b_row)
                count = n * columns
            elif short[6] != 0:
                line(p, q, target, address(short), count)
            else:
                both(form, p, q, target, numbers, count)
            item += count

    return run


_WORDS = "a:T1 b:T1 out~a~b:T1 geometry:int64[2] terms:int64[1] short:int64[1] form:i"
kernel(_WORDS, name="pairs_8", T=("int8", "uint8"))(pairs_of(1, FORMS))
kernel(_WORDS, name="pairs_16", T=("int16",))(pairs_of(2, FORMS.keys() - {"squared"}))
