"""What folds rows of float32, in vectors and always in the same order."""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import BIT, DOUBLE, FLOAT, INT, WORD, Writer

UNROLL = 8  # vectors or rows whose sum is taken in float32 before it goes to the total


def _larger(builder, a, b):
    return builder.select(builder.fcmp_ordered("<", a, b), b, a)


def _smaller(builder, a, b):
    return builder.select(builder.fcmp_ordered(">", a, b), b, a)


def _add(builder, a, b):
    return builder.fadd(a, b)


def _multiply(builder, a, b):
    return builder.fmul(a, b)


def _add_square(builder, a, b):
    return builder.fadd(a, builder.fmul(b, b))


def _tree(builder, values):
    """The sum of vectors: of neighbours, then of their sums."""
    while len(values) > 1:
        values = [builder.fadd(a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
    return values[0]


@microkernel(types.float64(types.int64, types.int64))
def sum_of(builder, simd, x, count):
    """The sum of `count` elements at the address `x`, off by 4e-7 of the sum of sizes at most."""
    w = Writer(builder, simd)
    x, nbytes, float64_vector = w.pointer(x), w.mul(count, 4), ir.VectorType(DOUBLE, w.width)
    begin, w.results = WORD(0), [ir.Constant(float64_vector, None)]
    for n_vectors in (UNROLL, UNROLL // 2):
        step = n_vectors * w.bytes
        end = builder.and_(nbytes, WORD(-step))
        with w.loop(begin, end, step, w.results) as (at, values):
            part = _tree(builder, [w.load(x, w.add(at, i * w.bytes)) for i in range(n_vectors)])
            values[0] = builder.fadd(values[0], builder.fpext(part, float64_vector))
        begin = end
    return _folded(w, x, begin, nbytes, w.results[0], _add, _add)


def _fold_of(name, start_type, step, join):
    """The microkernel that folds `count` elements from a start on: x, count, start."""

    def emit(builder, simd, x, count, start):
        w = Writer(builder, simd)
        kind = ir.VectorType(DOUBLE if start_type is types.float64 else FLOAT, w.width)
        unrolled_end = builder.and_(w.mul(count, 4), WORD(-4 * w.bytes))
        source, begin = w.pointer(x), w.repeat(start)
        with w.loop(0, unrolled_end, 4 * w.bytes, [begin] * 4) as (at, values):
            for i in range(4):
                value = w.load(source, w.add(at, i * w.bytes))
                values[i] = step(builder, values[i], _as(builder, value, kind))
        first, *others = w.results
        for other in others:
            first = join(builder, first, other)
        return _folded(w, source, unrolled_end, w.mul(count, 4), first, step, join)

    emit.__name__, emit.__module__ = name, __name__
    return microkernel(start_type(types.int64, types.int64, start_type))(emit)


def _as(builder, value, kind):
    return value if value.type == kind else builder.fpext(value, kind)


def _folded(w, x, begin, nbytes, value, step, join):
    """The rest of a row from byte `begin` on folded into a vector, and that into a number."""
    builder, kind = w.builder, value.type
    vector_end = builder.and_(nbytes, WORD(-w.bytes))
    with w.loop(begin, vector_end, w.bytes, [value]) as (at, values):
        values[0] = step(builder, values[0], _as(builder, w.load(x, at), kind))
    with w.loop(vector_end, nbytes, w.bytes, w.results) as (at, values):
        mask = w.mask(builder.sdiv(builder.sub(nbytes, at), WORD(4)))
        folded = step(builder, values[0], _as(builder, w.load_masked(x, mask, at), kind))
        values[0] = builder.select(mask, folded, values[0])
    value, n = w.results[0], w.width
    while n > 1:  # halves upon halves
        n //= 2
        front, back = (
            ir.Constant(ir.VectorType(INT, n), [*range(start, start + n)]) for start in (0, n)
        )
        undefined = ir.Constant(value.type, ir.Undefined)
        halves = [builder.shuffle_vector(value, undefined, order) for order in (front, back)]
        value = join(builder, *halves)
    return builder.extract_element(value, INT(0))


largest_of = _fold_of("largest_of", types.float32, _larger, _larger)
smallest_of = _fold_of("smallest_of", types.float32, _smaller, _smaller)
"""The largest, smallest, `start` among them; nan only when the start is."""
product_of = _fold_of("product_of", types.float64, _multiply, _multiply)
squares_of = _fold_of("squares_of", types.float64, _add_square, _add)
"""start times or plus the product, the sum of squares; start is 1 or 0."""


def _each_vector(w, columns, write):
    """Runs `write(offset in elements, mask or None)` for vectors of columns."""
    builder, vector_end = w.builder, w.builder.and_(columns, WORD(-w.width))
    with w.loop(0, vector_end, w.width) as (column, _):
        write(column, None)
    n_columns = builder.sub(columns, vector_end)
    with builder.if_then(builder.icmp_signed(">", n_columns, WORD(0))):
        write(vector_end, w.mask(n_columns))


def _row_loads(w, x, pitch, column, mask, n_rows):
    """The same vector of columns of neighbouring rows, one after another."""
    source = w.move(x, w.mul(column, 4))
    for _ in range(n_rows):
        yield w.load(source) if mask is None else w.load_masked(source, mask)
        source = w.move(source, pitch)


def _adding_rows(n_rows):
    """The microkernel total[j] += sum of x[r, j] over `n_rows` rows: x, pitch, total, columns.

    `total` is of float64 and has room for a multiple of SUM_PADDING.
    """

    def emit(builder, simd, x, pitch, total, columns):
        w = Writer(builder, simd)
        x, total, float64_vector = w.pointer(x), w.pointer(total), ir.VectorType(DOUBLE, w.width)

        def write(column, mask):
            part = _tree(builder, list(_row_loads(w, x, pitch, column, mask, n_rows)))
            at = w.mul(column, 8)
            subtotal = w.load(total, at, float64_vector)
            w.store(builder.fadd(subtotal, builder.fpext(part, float64_vector)), total, at)

        _each_vector(w, columns, write)

    emit.__name__ = f"add_{n_rows}_rows"
    return microkernel(types.void(*[types.int64] * 4))(emit)


def _comparing_rows(name, n_rows, better):
    """The microkernel total[j] = the better of total[j] and x[r, j]: x, pitch, total, columns."""

    def emit(builder, simd, x, pitch, total, columns):
        w = Writer(builder, simd)
        x, total = w.pointer(x), w.pointer(total)

        def write(column, mask):
            at = w.mul(column, 4)
            best = w.load(total, at) if mask is None else w.load_masked(total, mask, at)
            for value in _row_loads(w, x, pitch, column, mask, n_rows):
                best = better(builder, best, value)
            if mask is None:
                w.store(best, total, at)
            else:
                w.store_masked(best, total, mask, at)

        _each_vector(w, columns, write)

    emit.__name__ = f"{name}_of_{n_rows}_rows"
    return microkernel(types.void(*[types.int64] * 4))(emit)


add_rows, add_row = _adding_rows(UNROLL), _adding_rows(1)
LARGEST = [_comparing_rows("largest", n, _larger) for n in (UNROLL, 1)]
SMALLEST = [_comparing_rows("smallest", n, _smaller) for n in (UNROLL, 1)]


@microkernel(types.int64(types.int64, types.int64, types.float32))
def first_equal(builder, simd, x, count, value):
    """The lowest place of the first vector at `x` that holds a value; `width` if none does."""
    w = Writer(builder, simd)
    mask = w.mask(
        builder.select(builder.icmp_signed("<", count, WORD(w.width)), count, WORD(w.width))
    )
    equal = builder.fcmp_ordered("==", w.load_masked(w.pointer(x), mask), w.repeat(value))
    bits = builder.bitcast(builder.and_(equal, mask), ir.IntType(w.width))
    bits = builder.or_(builder.zext(bits, WORD), WORD(1 << w.width))
    return w.call("llvm.cttz.i64", WORD, [bits, BIT(1)])


@microkernel(types.int64(), inline=True)
def width(builder, simd):
    """How many float32 are in a vector."""
    return WORD(simd.width)
