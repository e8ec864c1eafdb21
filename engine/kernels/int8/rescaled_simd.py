"""The arithmetic of rescaled.py a vector at a time, where `terms` allows it (families/rescaled.py).

Of the operands of a sum or difference `a` has the larger scale: to bring it to the scale of both
is a shift. `terms` are the numbers that NAMES of _scaled.py says. The zero points are part of the
starts, which are added to products of 64 bits: what `scaled` rounds is the upper half of these,
less one where the value is negative, shifted right. `short` are the numbers of rescaled_sum.py or
rescaled_product.py.
"""

from contextlib import contextmanager

from numba import types

from ...build.kernel import address, choose, kernel, microkernel
from ...build.vector import WORD
from ...tiling import AWAY_SUM_FORM, FORM, NEAR_SUM_FORM, PRODUCT_FORM
from ..elementwise._broadcast import SHAPE, A, B, row_step, rows_from, start_of
from ._rescaled_sum import away_lines, near_lines, products
from ._scaled import Scaled


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
        w = Scaled(builder, simd, terms, size)
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
        w = Scaled(builder, simd, terms, size)
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
        w = Scaled(builder, simd, terms, size)
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


def pairs_of(size, forms, flip=0):
    """The kernel for elements of `size` bytes, with the microkernels of `forms`.

    `flip` are the bits that make bytes int8.
    """
    away, near, product = away_lines[flip], near_lines[flip], products[flip]

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
        size, numbers, brief = out.itemsize, address(terms), address(short)
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
            if short[FORM] == AWAY_SUM_FORM:
                away(p, q, target, brief, n, count, a_row, b_row, a_step, b_step)
            elif short[FORM] == NEAR_SUM_FORM:
                near(p, q, target, brief, n, count, a_row, b_row, a_step, b_step)
            elif short[FORM] == PRODUCT_FORM:
                product(p, q, target, brief, n, count, a_row, b_row, a_step, b_step)
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
kernel(_WORDS, name="pairs_8", T=("int8",))(pairs_of(1, FORMS))
kernel(_WORDS, name="pairs_u8", T=("uint8",))(pairs_of(1, FORMS, flip=128))
kernel(_WORDS, name="pairs_16", T=("int16",))(pairs_of(2, FORMS.keys() - {"squared"}))
