"""What rescaled_sum.py finds the numbers for."""

from numba import types

from ...build.kernel import microkernel
from ...build.vector import BYTE, INT, WORD
from .._int32 import Integers


@microkernel(types.void(*[types.int64] * 10))
def lines(builder, simd, a, b, out, numbers, rows, columns, a_row, b_row, a_step, b_step):
    """out[i] = (a[i] * p + b[i] * q + c) >> s within limits; `numbers` are p, q, c, s and these.

    The rows of an operand are `row` elements apart; with the step 0 it has one element for each.
    """
    w = Integers(builder, simd)
    a, b, out, numbers = (w.pointer(p) for p in (a, b, out, numbers))
    p, q, c, s, low, high = (
        w.splat(builder.trunc(w.load(numbers, 8 * i, WORD), INT)) for i in range(6)
    )

    def elements(varies, operand, at, mask):
        if varies:
            value = w.read_masked(w.move(operand, at), w.i8_vector, mask)
        else:
            value = w.splat(w.read(operand, 0, BYTE), BYTE)
        return builder.sext(value, w.i32_vector)

    def each_row(*varies):
        with w.loop(0, rows, 1, [a, b, out]) as (_, pointers):
            *operands, target = pointers

            def vector(at, mask):
                x, y = (elements(m, o, at, mask) for m, o in zip(varies, operands, strict=True))
                value = builder.add(builder.add(builder.mul(x, p), builder.mul(y, q)), c)
                value = w.clamp_int(builder.ashr(value, s), low, high)
                w.write_masked(builder.trunc(value, w.i8_vector), w.move(target, at), mask)

            vector_end = builder.and_(columns, WORD(-w.width))
            with w.loop(0, vector_end, w.width) as (at, _):
                vector(at, None)
            n_columns = builder.sub(columns, vector_end)
            with builder.if_then(builder.icmp_signed(">", n_columns, WORD(0))):
                vector(vector_end, w.mask(n_columns))
            steps = (a_row, b_row, columns)
            pointers[:] = [w.move(operand, n) for operand, n in zip(pointers, steps, strict=True)]

    a_moves, b_moves = (builder.icmp_signed("!=", step, WORD(0)) for step in (a_step, b_step))
    with builder.if_else(builder.and_(a_moves, b_moves)) as (neither_repeats, one_repeats):
        with neither_repeats:
            each_row(True, True)
        with one_repeats, builder.if_else(a_moves) as (first, second):
            with first:
                each_row(True, False)
            with second:
                each_row(False, True)
