"""What folds rows of float32, in vectors and always in the same order."""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import BIT, DOUBLE, FLOAT, INT, WORD, Writer

UNROLL = 8  # vectors of a row whose sum is taken in float32 before it goes to the total
SEARCHED = 32  # elements that are looked at together for a value
ROWS = 6  # rows of columns, likewise, one after another
COLUMN_VECTORS = 4, 2, 1  # vectors of columns at a time


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


def _row_total(w, x, nbytes):
    """The float64 vector whose sum is that of a row: of UNROLL vectors at a time in float32."""
    builder, float64_vector = w.builder, ir.VectorType(DOUBLE, w.width)
    begin, w.results = WORD(0), [ir.Constant(float64_vector, None)]
    for n_vectors in (UNROLL, UNROLL // 2):
        step = n_vectors * w.bytes
        end = builder.and_(nbytes, WORD(-step))
        with w.loop(begin, end, step, w.results) as (at, values):
            part = _tree(builder, [w.load(x, w.add(at, i * w.bytes)) for i in range(n_vectors)])
            values[0] = builder.fadd(values[0], builder.fpext(part, float64_vector))
        begin = end
    return _by_vectors(w, x, begin, nbytes, w.results[0], _add)


@microkernel(types.float64(types.int64, types.int64))
def sum_of(builder, simd, x, count):
    """The sum of `count` elements at the address `x`, off by 4e-7 of the sum of sizes at most."""
    w = Writer(builder, simd)
    return _joined(w, _row_total(w, w.pointer(x), w.mul(count, 4)), _add)


@microkernel(types.void(*[types.int64] * 4, types.float64))
def average_rows(builder, simd, x, out, n, rows, divisor):
    """out[r] = sum of x[r, i] over the `n` elements of each of `rows`, divided by `divisor`.

    Off as `sum_of` is. As many rows as float64 are in a vector are summed up side by side.
    """
    w, lanes = Writer(builder, simd), simd.width // 2
    pitch, kind = 8 * lanes, ir.VectorType(DOUBLE, lanes)
    totals = w.local(lanes * pitch, pitch)
    x, out, nbytes = w.pointer(x), w.pointer(out), w.mul(n, 4)
    zeros, divisors = ir.Constant(kind, None), _splat(builder, divisor, lanes)
    for lane in range(lanes):
        w.store(zeros, totals, lane * pitch)
    with w.loop(0, rows, lanes, [x, out]) as (row, pointers):
        source, target = pointers
        count = _lesser(builder, builder.sub(rows, row), lanes)
        with w.loop(0, count, 1, [source, totals]) as (_, places):
            total = _halved(builder, _row_total(w, places[0], nbytes), _add)
            w.store(total, places[1])
            places[:] = [w.move(places[0], nbytes), w.move(places[1], pitch)]
        lines = [w.load(totals, lane * pitch, kind) for lane in range(lanes)]
        sums = builder.fdiv(_sums_of_each(builder, lines), divisors)
        _store_first(w, builder.fptrunc(sums, ir.VectorType(FLOAT, lanes)), target, count)
        pointers[:] = [w.move(source, w.mul(nbytes, lanes)), w.move(target, 4 * lanes)]


def _splat(builder, value, n):
    """A vector of `n` times a number."""
    kind = ir.VectorType(value.type, n)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, INT(0))
    order = ir.Constant(ir.VectorType(INT, n), None)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), order)


def _lesser(builder, count, most):
    return builder.select(builder.icmp_signed("<", count, WORD(most)), count, WORD(most))


def _sums_of_each(builder, lines):
    """The vector of the sums of `lines`, as many vectors as elements in one, neighbours first."""
    n = len(lines)
    unit = 1  # elements that belong to one line
    while len(lines) > 1:
        halves = []
        for start in (0, unit):
            order = [
                begin + start + i % unit + n * (i // unit)
                for begin in range(0, n, 2 * unit)
                for i in range(2 * unit)
            ]
            halves.append(ir.Constant(ir.VectorType(INT, n), order))
        lines = [
            builder.fadd(*(builder.shuffle_vector(a, b, order) for order in halves))
            for a, b in zip(lines[::2], lines[1::2], strict=True)
        ]
        unit *= 2
    return lines[0]


def _store_first(w, vector, pointer, count):
    """Writes the first `count` elements of a vector of float32."""
    builder, n = w.builder, vector.type.count
    is_whole = builder.icmp_signed("==", count, WORD(n))
    with builder.if_else(is_whole, likely=True) as (whole, part):
        with whole:
            w.store(vector, pointer)
        with part, w.loop(0, count, 1) as (i, _):
            element = builder.extract_element(vector, builder.trunc(i, INT))
            w.store(element, pointer, w.mul(i, 4))


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


@microkernel(types.void(*[types.int64] * 3))
def extremes_of(builder, simd, x, count, out):
    """The smallest and the largest of `count` elements and 0, to `out`; nan does not count."""
    w, steps = Writer(builder, simd), (_smaller, _larger)
    unrolled_end = builder.and_(w.mul(count, 4), WORD(-4 * w.bytes))
    source, out = w.pointer(x), w.pointer(out)
    with w.loop(0, unrolled_end, 4 * w.bytes, [w.zero()] * 8) as (at, values):
        for i in range(4):
            value = w.load(source, w.add(at, i * w.bytes))
            for k, step in enumerate(steps):
                values[4 * k + i] = step(builder, values[4 * k + i], value)
    results = w.results
    for k, step in enumerate(steps):
        first, *others = results[4 * k : 4 * k + 4]
        for other in others:
            first = step(builder, first, other)
        w.store(_folded(w, source, unrolled_end, w.mul(count, 4), first, step, step), out, 4 * k)


def _as(builder, value, kind):
    return value if value.type == kind else builder.fpext(value, kind)


def _folded(w, x, begin, nbytes, value, step, join):
    """The rest of a row from byte `begin` on folded into a vector, and that into a number."""
    return _joined(w, _by_vectors(w, x, begin, nbytes, value, step), join)


def _by_vectors(w, x, begin, nbytes, value, step):
    """The rest of a row from byte `begin` on folded into a vector."""
    builder, kind = w.builder, value.type
    vector_end = builder.and_(nbytes, WORD(-w.bytes))
    with w.loop(begin, vector_end, w.bytes, [value]) as (at, values):
        values[0] = step(builder, values[0], _as(builder, w.load(x, at), kind))
    with w.loop(vector_end, nbytes, w.bytes, w.results) as (at, values):
        mask = w.mask(builder.sdiv(builder.sub(nbytes, at), WORD(4)))
        folded = step(builder, values[0], _as(builder, w.load_masked(x, mask, at), kind))
        values[0] = builder.select(mask, folded, values[0])
    return w.results[0]


def _joined(w, value, join):
    """A vector folded into a number: halves upon halves."""
    while value.type.count > 1:
        value = _halved(w.builder, value, join)
    return w.builder.extract_element(value, INT(0))


def _halved(builder, value, join):
    """The halves of a vector, joined."""
    n, undefined = value.type.count // 2, ir.Constant(value.type, ir.Undefined)
    orders = (ir.Constant(ir.VectorType(INT, n), [*range(i, i + n)]) for i in (0, n))
    return join(builder, *(builder.shuffle_vector(value, undefined, order) for order in orders))


largest_of = _fold_of("largest_of", types.float32, _larger, _larger)
smallest_of = _fold_of("smallest_of", types.float32, _smaller, _smaller)
"""The largest, smallest, `start` among them; nan only when the start is."""
product_of = _fold_of("product_of", types.float64, _multiply, _multiply)
squares_of = _fold_of("squares_of", types.float64, _add_square, _add)
"""start times or plus the product, the sum of squares; start is 1 or 0."""


def _column_blocks(w, columns, write):
    """Runs `write(column, number of vectors, mask or None)` for blocks of all columns."""
    builder, begin = w.builder, WORD(0)
    for n_vectors in COLUMN_VECTORS:
        end = builder.and_(columns, WORD(-n_vectors * w.width))
        with w.loop(begin, end, n_vectors * w.width) as (column, _):
            write(column, n_vectors, None)
        begin = end
    n_columns = builder.sub(columns, begin)
    with builder.if_then(builder.icmp_signed(">", n_columns, WORD(0))):
        write(begin, 1, w.mask(n_columns))


def _down(w, source, pitch, count, vectors, mask, step):
    """`count` rows of as many `vectors` folded into these; before them, where the rows end.

    A row at a time, as processors read ahead for loops of few loads only.
    """
    with w.loop(0, count, 1, [source, *vectors]) as (_, carried):
        pointer, *folded = carried
        for i, value in enumerate(folded):
            row = w.load(pointer, i * w.bytes) if mask is None else w.load_masked(pointer, mask)
            carried[i + 1] = step(w.builder, value, row)
        carried[0] = w.move(pointer, pitch)
    return w.results


@microkernel(types.void(*[types.int64] * 4, types.float64))
def average_columns(builder, simd, x, out, n, columns, divisor):
    """out[j] = sum of x[r, j] over `n` rows, divided by `divisor`; off as `sum_of` is."""
    w, kind = Writer(builder, simd), ir.VectorType(DOUBLE, simd.width)
    x, out, pitch = w.pointer(x), w.pointer(out), w.mul(columns, 4)
    divisor, zeros = _splat(builder, divisor, w.width), ir.Constant(kind, None)

    def write(column, n_vectors, mask):
        at = w.mul(column, 4)
        with w.loop(0, n, ROWS, [w.move(x, at), *[zeros] * n_vectors]) as (row, carried):
            source, *totals = carried
            count = _lesser(builder, builder.sub(n, row), ROWS)
            source, *sums = _down(w, source, pitch, count, [w.zero()] * n_vectors, mask, _add)
            pairs = zip(totals, sums, strict=True)
            carried[:] = [source, *(builder.fadd(a, builder.fpext(b, kind)) for a, b in pairs)]
        averages = [builder.fdiv(total, divisor) for total in w.results[1:]]
        _write_vectors(w, out, at, [builder.fptrunc(a, w.vector) for a in averages], mask)

    _column_blocks(w, columns, write)


def _best_columns(name, better):
    """The microkernel out[j] = the best of out[j] and x[r, j] over `n` rows: x, out, n, columns."""

    def emit(builder, simd, x, out, n, columns):
        w = Writer(builder, simd)
        x, out, pitch = w.pointer(x), w.pointer(out), w.mul(columns, 4)

        def write(column, n_vectors, mask):
            at = w.mul(column, 4)
            target = w.move(out, at)
            if mask is None:
                best = [w.load(target, i * w.bytes) for i in range(n_vectors)]
            else:
                best = [w.load_masked(target, mask)]
            with w.loop(0, n, ROWS, [w.move(x, at), *best]) as (row, carried):
                count = _lesser(builder, builder.sub(n, row), ROWS)
                carried[:] = _down(w, carried[0], pitch, count, carried[1:], mask, better)
            _write_vectors(w, out, at, w.results[1:], mask)

        _column_blocks(w, columns, write)

    emit.__name__, emit.__module__ = f"{name}_columns", __name__
    return microkernel(types.void(*[types.int64] * 4))(emit)


def _write_vectors(w, out, at, vectors, mask):
    """Stores vectors side by side, or one where `mask` is."""
    for i, vector in enumerate(vectors):
        target = w.move(w.move(out, at), i * w.bytes)
        if mask is None:
            w.store(vector, target)
        else:
            w.store_masked(vector, target, mask)


largest_columns = _best_columns("largest", _larger)
smallest_columns = _best_columns("smallest", _smaller)


@microkernel(types.int64(types.int64, types.int64, types.float32), inline=True)
def first_equal(builder, simd, x, count, value):
    """The lowest place of a value among the first SEARCHED elements at `x`; SEARCHED if none is it.

    They are looked at together: a branch for each vector would be foreseen in one row of two.
    """
    w = Writer(builder, simd)
    x, value, offsets = w.pointer(x), w.repeat(value), range(0, SEARCHED, simd.width)
    bits, are_all_there = ir.IntType(simd.width), builder.icmp_signed(">=", count, WORD(SEARCHED))

    def places(load):
        total = WORD(1 << SEARCHED)
        for offset in offsets:
            equal = builder.bitcast(load(offset), bits)
            total = builder.or_(total, builder.shl(builder.zext(equal, WORD), WORD(offset)))
        return total

    def equal_of(offset):
        return builder.fcmp_ordered("==", w.load(x, 4 * offset), value)

    def equal_within(offset):
        mask = w.mask(builder.sub(count, WORD(offset)))
        elements = w.load_masked(x, mask, 4 * offset)
        return builder.and_(builder.fcmp_ordered("==", elements, value), mask)

    with builder.if_else(are_all_there) as (whole, part):
        with whole:
            those = places(equal_of), builder.block
        with part:
            some = places(equal_within), builder.block
    total = builder.phi(WORD)
    for incoming in (those, some):
        total.add_incoming(*incoming)
    return w.call("llvm.cttz.i64", WORD, [total, BIT(1)])


@microkernel(types.int64(), inline=True)
def width(builder, simd):
    """How many float32 are in a vector."""
    return WORD(simd.width)
