"""What folds one row of float32 into one number, in vectors and always in the same order."""

from llvmlite import ir
from numba import types

from ..kernel import piece
from ..vector import DOUBLE, FLOAT, INT, WORD, Writer

_VECTORS = 4  # folded side by side, as each waits for the one before


@piece(types.float64(types.int64, types.int64))
def sum_of(builder, lanes, x, count):
    """The sum of `count` elements at the address `x`, in float64."""
    w = Writer(builder, lanes)
    wide = ir.VectorType(DOUBLE, w.width)
    start = [ir.Constant(wide, None)] * _VECTORS
    return _fold(w, x, count, start, wide, builder.fadd)


@piece(types.float32(types.int64, types.int64))
def largest_of(builder, lanes, x, count):
    """The largest of `count` elements at the address `x`; nan only when it comes first."""
    w = Writer(builder, lanes)
    first = w.load(w.pointer(x), 0, FLOAT)
    start = [w.repeat(first)] * _VECTORS

    def larger(a, b):
        return builder.select(builder.fcmp_ordered("<", a, b), b, a)

    return _fold(w, x, count, start, w.vector, larger)


def _fold(w, x, count, start, kind, function):
    """All elements folded into vectors of `kind`, these into one and that into a number."""
    builder, x = w.builder, w.pointer(x)

    def widened(value):
        return value if value.type == kind else builder.fpext(value, kind)

    size = w.mul(count, 4)
    several = builder.and_(size, WORD(-_VECTORS * w.bytes))
    with w.loop(0, several, _VECTORS * w.bytes, start) as (at, values):
        for i in range(_VECTORS):
            value = w.load(x, w.add(at, i * w.bytes))
            values[i] = function(values[i], widened(value))
    first, *others = w.results
    for other in others:
        first = function(first, other)
    whole = builder.and_(size, WORD(-w.bytes))
    with w.loop(several, whole, w.bytes, [first]) as (at, values):
        values[0] = function(values[0], widened(w.load(x, at)))
    first = _halved(w, w.results[0], function)
    with w.loop(whole, size, 4, [first]) as (at, values):
        value = w.load(x, at, FLOAT)
        values[0] = function(
            values[0], value if first.type == FLOAT else builder.fpext(value, DOUBLE)
        )
    return w.results[0]


def _halved(w, value, function):
    """A vector's places folded into one: halves upon halves."""
    builder, n = w.builder, w.width
    while n > 1:
        n //= 2
        order = ir.Constant(ir.VectorType(INT, n), [*range(n, 2 * n)])
        front = ir.Constant(ir.VectorType(INT, n), [*range(n)])
        nothing = ir.Constant(value.type, ir.Undefined)
        rest = builder.shuffle_vector(value, nothing, order)
        value = function(builder.shuffle_vector(value, nothing, front), rest)
    return builder.extract_element(value, INT(0))
